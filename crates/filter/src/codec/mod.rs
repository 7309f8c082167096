//! Codecs that several filters share. Errors name the filter that called the codec.

pub(crate) mod bit_planes;
pub(crate) mod blosc_codec;
pub(crate) mod blosclz;
pub(crate) mod inflate;
pub(crate) mod lz4;
pub(crate) mod lz77;
pub(crate) mod snappy;
pub(crate) mod zlib;
pub(crate) mod zstd;

use crate::{FilterError, FilterId, Result};

/// Returns `length` times `factor`, for a limit or an estimate of the number of output bytes of a
/// filter. On overflow, returns `usize::MAX`.
pub(crate) fn times(length: usize, factor: usize) -> usize {
    length.saturating_mul(factor)
}

/// Converts a length to 32 bits, because the format of a filter's output stores it in this width.
pub(crate) fn length_u32(id: FilterId, length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|_| FilterError::failed(id, format!("{length} bytes exceed 4 GiB")))
}

/// Returns the end of a filter's `input`: the bytes after the `taken` bytes that a codec has read.
pub(crate) fn remaining_input(id: FilterId, input: &[u8], taken: u64) -> Result<&[u8]> {
    let rest = usize::try_from(taken).ok().and_then(|taken| input.get(taken..));
    rest.ok_or(FilterError::Internal { id, invariant: "a codec consumes no more bytes than the input has" })
}

/// Resizes the output buffer of a filter to `length` bytes. Returns an error if the allocation
/// fails.
pub(crate) fn resize(id: FilterId, output: &mut Vec<u8>, length: usize) -> Result<()> {
    reserve(id, output, length.max(output.len()) - output.len())?;
    output.resize(length, 0);
    Ok(())
}

/// Reserves memory for `more` bytes in the output buffer of a filter. Returns an error if the
/// allocation fails.
pub(crate) fn reserve(id: FilterId, output: &mut Vec<u8>, more: usize) -> Result<()> {
    // The sum saturates: the number is only part of a message.
    let bytes = output.len().saturating_add(more);
    output.try_reserve_exact(more).map_err(|_| FilterError::Memory { id, bytes })
}

/// Returns a vector of `count` copies of `value`, for a filter. Returns an error if the allocation
/// fails.
pub(crate) fn filled<T: Clone>(id: FilterId, value: T, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = times(count, size_of::<T>());
    values.try_reserve_exact(count).map_err(|_| FilterError::Memory { id, bytes })?;
    values.resize(count, value);
    Ok(values)
}

/// Runs a codec's decoder with larger and larger output buffers, until the decoder returns the
/// number of decoded bytes. The first buffer has `guess` bytes. The last buffer has one byte more
/// than `limit`, to detect output beyond the limit.
pub(crate) fn grow(
    id: FilterId,
    guess: usize,
    limit: usize,
    output: &mut Vec<u8>,
    mut decode: impl FnMut(&mut [u8]) -> Result<Option<usize>>,
) -> Result<()> {
    // The addition saturates: no output is larger than `usize::MAX`.
    let maximum = limit.saturating_add(1);
    let mut size = guess.max(64).min(maximum);
    loop {
        resize(id, output, size)?;
        match decode(output)? {
            Some(length) if length <= limit => {
                output.truncate(length);
                return Ok(());
            }
            None if size < maximum => size = times(size, 2).min(maximum),
            _ => return Err(FilterError::Limit { id, limit }),
        }
    }
}
