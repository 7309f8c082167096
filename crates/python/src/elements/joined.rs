//! Texts one after the other, in the form of Arrow.

use std::sync::Arc;

use hyperslab::Stored;
use hyperslab::datatype::convert::Conversions;
use rayon::prelude::*;

use super::{Arena, Form, arena, part_size, too_large};

/// The number of texts whose descriptors are in memory at the same time, for each thread.
const BLOCK_TEXTS: usize = 4096;

/// Texts one after the other.
#[derive(Default)]
struct Joined {
    /// The end of each text.
    ends: Vec<i64>,
    bytes: Vec<u8>,
}

impl Form {
    /// Converts stored texts to the positions of the texts and the bytes of all texts, which are
    /// UTF-8.
    pub(crate) fn joined_texts(&self, stored: &Stored) -> hyperslab::Result<(Vec<i64>, Vec<u8>)> {
        let (size, part_bytes) = part_size(stored)?;
        let parts = stored.bytes().par_chunks(part_bytes).map(|part| self.joined(stored, part, size));
        let parts: Vec<Joined> = parts.collect::<hyperslab::Result<_>>()?;
        let mut offsets = Vec::with_capacity(stored.len() + 1);
        offsets.push(0);
        let length: usize = parts.iter().map(|part| part.bytes.len()).sum();
        let mut bytes = Vec::new();
        for part in parts {
            let start = i64::try_from(bytes.len()).map_err(|_| too_large())?;
            offsets.extend(part.ends.iter().map(|end| start + end));
            if bytes.is_empty() {
                bytes = part.bytes;
                bytes.try_reserve_exact(length - bytes.len()).map_err(|_| too_large())?;
            } else {
                bytes.extend_from_slice(&part.bytes);
            }
        }
        check_utf8(&offsets, &bytes)?;
        Ok((offsets, bytes))
    }

    /// Converts a part of stored texts, of `size` bytes each.
    fn joined(&self, stored: &Stored, part: &[u8], size: usize) -> hyperslab::Result<Joined> {
        let arena = Arc::new(Arena::default());
        let conversions =
            Conversions::default().across_charsets().with_destination_heap(Arc::clone(&arena) as _);
        let plan = stored.plan(&self.memory, &conversions)?;
        let mut descriptors = vec![0; BLOCK_TEXTS * arena::DESCRIPTOR_BYTES];
        let mut joined = Joined::default();
        joined.ends.try_reserve_exact(part.len() / size).map_err(|_| too_large())?;
        let mut end = 0;
        for block in part.chunks(BLOCK_TEXTS.checked_mul(size).ok_or_else(too_large)?) {
            let count = block.len() / size;
            let descriptors = descriptors.split_at_mut(count * arena::DESCRIPTOR_BYTES).0;
            plan.convert(block, descriptors, count)?;
            for descriptor in descriptors.chunks_exact(arena::DESCRIPTOR_BYTES) {
                // The conversion stores the texts in their order.
                end = arena::end_of(descriptor).unwrap_or(end);
                joined.ends.push(i64::try_from(end).map_err(|_| too_large())?);
            }
        }
        joined.bytes = arena.take();
        Ok(joined)
    }
}

/// Returns an error if one of the texts in `bytes` is not UTF-8. The texts lie between `offsets`.
fn check_utf8(offsets: &[i64], bytes: &[u8]) -> hyperslab::Result<()> {
    if bytes.is_ascii() {
        return Ok(());
    }
    let all = std::str::from_utf8(bytes);
    let is_boundary =
        |all: &str, offset: i64| usize::try_from(offset).is_ok_and(|at| all.is_char_boundary(at));
    if all.is_ok_and(|all| offsets.iter().all(|offset| is_boundary(all, *offset))) {
        return Ok(());
    }
    Err(hyperslab::Error::Misuse("a text is not UTF-8: Arrow cannot hold it".into()))
}
