//! The limit of the decoded size of stored bytes.

use hyperslab_format::codec::Limits;

/// Number of stored bytes up to which the limit of decoded bytes is constant.
const MIN_STORED_BYTES: u64 = 64;

/// Returns the largest number of bytes that `stored` bytes may decode to.
pub(in crate::data) fn max_decoded_bytes(stored: u64, limits: &Limits) -> u64 {
    // Saturates because the product is only compared: a limit above 64 bits is no limit.
    stored.max(MIN_STORED_BYTES).saturating_mul(limits.expansion).min(limits.chunk_bytes)
}
