//! The limit of the decoded size of a chunk, which depends on its stored size.

use hyperslab_format::codec::Limits;

/// Smallest number of stored bytes for which the limit of a chunk's decoded bytes is computed. A
/// chunk with fewer stored bytes has the same limit as a chunk with this number.
const MIN_STORED_BYTES: u64 = 64;

/// Returns the largest number of bytes to which a chunk of `stored` stored bytes may decode.
pub(in crate::data) fn max_decoded_bytes(stored: u64, limits: &Limits) -> u64 {
    // Saturates because the product is only compared: a limit above 64 bits is no limit.
    stored.max(MIN_STORED_BYTES).saturating_mul(limits.expansion).min(limits.chunk_bytes)
}
