//! Damaged bytes for tests. For damaged bytes, every decoder must return an error or a value, and
//! never panic.

use proptest::prelude::*;

use crate::codec::checksum;

/// A test mutation of an encoded metadata structure. It consists of changed bytes, as `(position,
/// value)`, and of the fraction of bytes to keep, in units of 1/256.
#[derive(Debug, Clone)]
pub(crate) struct Damage {
    changes: Vec<(usize, u8)>,
    keep: u8,
}

/// Generates small mutations of an encoded metadata structure for tests.
pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop_oneof![Just(0_u8), Just(0xff), any::<u8>()];
    (prop::collection::vec((any::<usize>(), byte), 0..6), prop_oneof![4 => Just(255_u8), 1 => any::<u8>()])
        .prop_map(|(changes, keep)| Damage { changes, keep })
}

impl Damage {
    /// Calls `decode` with three damaged forms of an encoded metadata structure, for tests:
    /// changed, changed with a corrected checksum at the end, and truncated.
    pub(crate) fn inflict(&self, bytes: &[u8], mut decode: impl FnMut(&[u8])) {
        let mut changed = bytes.to_vec();
        for (position, value) in &self.changes {
            let length = changed.len().max(1);
            if let Some(byte) = changed.get_mut(position % length) {
                *byte = *value;
            }
        }
        decode(&changed);
        if let Some(split) = changed.len().checked_sub(4) {
            let sum = checksum(&changed[..split]).to_le_bytes();
            changed[split..].copy_from_slice(&sum);
            decode(&changed);
        }
        let kept = changed.len() * usize::from(self.keep) / 255;
        decode(&changed[..kept.min(changed.len())]);
    }
}
