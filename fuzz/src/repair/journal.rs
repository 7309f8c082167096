//! Journals: the sum of the header, and the chain of the records.

use std::hash::Hasher as _;

use hyperslab_format::journal::{JournalHeader, JournalRecord};
use twox_hash::xxhash3_64;

/// Where the header's sequence number and sum lie.
const SEQUENCE: usize = 16;
const HEADER_SUM: usize = 40;
/// Where a record's checksum lies.
const RECORD_SUM: usize = 24;

/// Makes the checksums of a journal right, as far as its records can be told apart; returns the number of records.
pub fn journal(bytes: &mut [u8]) -> usize {
    let Some(mut last) = bytes.get(SEQUENCE..).and_then(word) else { return 0 };
    let Some((head, sum)) = bytes.split_at_mut_checked(HEADER_SUM) else { return 0 };
    let Some(sum) = sum.first_chunk_mut::<8>() else { return 0 };
    *sum = xxhash3_64::Hasher::oneshot_with_seed(last, head).to_le_bytes();
    let (mut start, mut count) = (JournalHeader::SIZE, 0);
    while let Some(head) = bytes.get(start..).and_then(|rest| rest.first_chunk::<{ JournalRecord::SIZE }>()) {
        let Ok(record) = JournalRecord::decode(head) else { break };
        let behind = start + JournalRecord::SIZE;
        let end = usize::try_from(record.body_size()).ok().and_then(|rest| behind.checked_add(rest));
        let Some((end, rest)) = end.and_then(|end| Some((end, bytes.get(behind..end)?))) else { break };
        let mut hasher = xxhash3_64::Hasher::with_seed(last);
        hasher.write(&head[..RECORD_SUM]);
        hasher.write(rest);
        last = hasher.finish();
        bytes[start + RECORD_SUM..behind].copy_from_slice(&last.to_le_bytes());
        (start, count) = (end, count + 1);
    }
    count
}

fn word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk::<8>().map(|word| u64::from_le_bytes(*word))
}
