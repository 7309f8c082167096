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

/// Returns the bytes of a product, as a limit or an estimate. Saturates: no buffer is larger.
pub(crate) fn times(length: usize, factor: usize) -> usize {
    length.saturating_mul(factor)
}

/// Returns a length that is stored in 32 bits.
pub(crate) fn length_u32(id: FilterId, length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|_| FilterError::failed(id, format!("{length} bytes are more than 4 GiB")))
}

/// Returns the bytes of `input` behind those that a codec has taken.
pub(crate) fn behind(id: FilterId, input: &[u8], taken: u64) -> Result<&[u8]> {
    let rest = usize::try_from(taken).ok().and_then(|taken| input.get(taken..));
    rest.ok_or(FilterError::Internal { id, invariant: "a codec takes no more bytes than there are" })
}

/// Makes a buffer so many bytes long, if memory has room for them.
pub(crate) fn resize(id: FilterId, output: &mut Vec<u8>, length: usize) -> Result<()> {
    reserve(id, output, length.max(output.len()) - output.len())?;
    output.resize(length, 0);
    Ok(())
}

/// Makes room for so many more bytes behind those of a buffer, if memory has it.
pub(crate) fn reserve(id: FilterId, output: &mut Vec<u8>, more: usize) -> Result<()> {
    // Saturates: the number stands in a message.
    let bytes = output.len().saturating_add(more);
    output.try_reserve_exact(more).map_err(|_| FilterError::Memory { id, bytes })
}

/// Returns so many equal values, if memory has room for them.
pub(crate) fn filled<T: Clone>(id: FilterId, value: T, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = times(count, size_of::<T>());
    values.try_reserve_exact(count).map_err(|_| FilterError::Memory { id, bytes })?;
    values.resize(count, value);
    Ok(values)
}

/// Runs a decoder with a buffer that is larger each time, until the decoder tells how many bytes it has made of it:
/// first with room for `guess` bytes, at last for one more than `limit`, so that it is seen if there are more.
pub(crate) fn grow(
    id: FilterId,
    guess: usize,
    limit: usize,
    output: &mut Vec<u8>,
    mut decode: impl FnMut(&mut [u8]) -> Result<Option<usize>>,
) -> Result<()> {
    // Saturates: no output passes the largest limit.
    let most = limit.saturating_add(1);
    let mut room = guess.max(64).min(most);
    loop {
        resize(id, output, room)?;
        match decode(output)? {
            Some(length) if length <= limit => {
                output.truncate(length);
                return Ok(());
            }
            None if room < most => room = times(room, 2).min(most),
            _ => return Err(FilterError::Limit { id, limit }),
        }
    }
}
