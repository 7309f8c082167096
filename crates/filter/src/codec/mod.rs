//! Codecs that more than one filter uses. Errors name the filter that asked.

pub(crate) mod bit_planes;
pub(crate) mod blosclz;
pub(crate) mod choice;
pub(crate) mod inflate;
pub(crate) mod lz4;
pub(crate) mod lz77;
pub(crate) mod snappy;
pub(crate) mod zlib;
pub(crate) mod zstd;

use crate::{FilterError, FilterId, Result};

/// Runs a decoder with a buffer that is larger each time, until the decoder tells how many bytes it has made of it:
/// first with room for `guess` bytes, at last for one more than `limit`, so that it is seen if there are more.
pub(crate) fn grow(
    id: FilterId,
    guess: usize,
    limit: usize,
    output: &mut Vec<u8>,
    mut decode: impl FnMut(&mut [u8]) -> Result<Option<usize>>,
) -> Result<()> {
    let most = limit.saturating_add(1);
    let mut room = guess.max(64).min(most);
    loop {
        output.resize(room, 0);
        match decode(output)? {
            Some(length) if length <= limit => {
                output.truncate(length);
                return Ok(());
            }
            None if room < most => room = room.saturating_mul(2).min(most),
            _ => return Err(FilterError::Limit { id, limit }),
        }
    }
}
