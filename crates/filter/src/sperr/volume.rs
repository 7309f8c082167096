//! Planes and volumes of SPERR, and their blocks.
//!
//! ```text
//! bytes        | meaning of a volume (numbers are little-endian)
//! -------------+----------------------------------------------------------------------------------
//! 1            | version: 0
//! 1            | bit 7: truncated, 6: a volume, 5: values of 4 bytes, 4: several blocks
//! 4 each       | values in each dimension, the fastest-varying dimension first
//! 2 each       | only for several blocks: values of a block in each dimension
//! 4 per block  | bytes of the block
//! n            | the blocks; a last block of at most half size is merged into the one before
//!
//! bytes        | meaning of a block, or of a plane
//! -------------+----------------------------------------------------------------------------------
//! 1            | bit 0: all values are equal
//! 8            | the mean; if all values are equal, the number of values
//! 8            | the quantisation step; if all values are equal, the value
//! n            | wavelet coefficients, coded by `speck`
//! n            | optional: corrections of values, coded by `speck` as a line
//! ```

use super::speck::{Shape, Stream};
use super::wavelet::Volume;

type Decoded<T> = Result<T, &'static str>;

const TRUNCATED: &str = "the blocks are truncated";

const VOLUME_FLAG: u8 = 1 << 6;
const BLOCKS_FLAG: u8 = 1 << 4;
const CONSTANT_FLAG: u8 = 1;

/// The size of a small SPERR correction (with code 1), in multiples of the error tolerance.
const SMALL_CORRECTION_TOLERANCES: f64 = 1.1;
/// The number by which a SPERR correction, in multiples of the error tolerance, is less than its
/// code. This applies to codes above 1.
const CORRECTION_OFFSET_TOLERANCES: f64 = 0.25;

/// The quantisation step of SPERR in multiples of the error tolerance.
const STEP_TOLERANCES: f64 = 1.5;

pub(super) fn decode_plane(bytes: &[u8], dims: [usize; 3]) -> Decoded<Vec<f64>> {
    decode_block(bytes, Shape::Plane, dims)
}

pub(super) fn decode_volume(bytes: &[u8], dims: [usize; 3]) -> Decoded<Vec<f64>> {
    let [version, flags, rest @ ..] = bytes else { return Err(TRUNCATED) };
    if *version != 0 || flags & VOLUME_FLAG == 0 {
        return Err("the chunk is not a volume, or has an unsupported version");
    }
    let (sizes, mut rest) = rest.split_first_chunk::<12>().ok_or(TRUNCATED)?;
    let same = sizes
        .as_chunks()
        .0
        .iter()
        .zip(dims)
        .all(|(size, length)| usize::try_from(u32::from_le_bytes(*size)) == Ok(length));
    if !same {
        return Err("the dimensions differ from the client data");
    }
    let mut block = dims;
    if flags & BLOCKS_FLAG != 0 {
        let (sizes, after) = rest.split_first_chunk::<6>().ok_or(TRUNCATED)?;
        let sizes = sizes.as_chunks().0.iter().map(|size| usize::from(u16::from_le_bytes(*size)));
        block.iter_mut().zip(sizes).for_each(|(to, size)| *to = size);
        rest = after;
    }
    if block.contains(&0) {
        return Err("a block dimension is 0");
    }
    let mut ends = dims.iter().zip(block).map(|(length, block)| block_ranges(*length, block));
    let (Some(x), Some(y), Some(z)) = (ends.next(), ends.next(), ends.next()) else { return Err(TRUNCATED) };
    let count = x.len().saturating_mul(y.len()).saturating_mul(z.len());
    let (lengths, mut rest) = rest.split_at_checked(count.saturating_mul(4)).ok_or(TRUNCATED)?;
    let mut lengths = lengths.as_chunks().0.iter();
    let mut values = vec![0.0; dims.iter().product()];
    for (z, y, x) in z.iter().flat_map(|z| {
        y.iter().flat_map({
            let x = &x;
            move |y| x.iter().map(move |x| (*z, *y, *x))
        })
    }) {
        let length =
            usize::try_from(u32::from_le_bytes(*lengths.next().ok_or(TRUNCATED)?)).map_err(|_| TRUNCATED)?;
        let (bytes, after) = rest.split_at_checked(length).ok_or(TRUNCATED)?;
        rest = after;
        let decoded = decode_block(bytes, Shape::Volume, [x.1, y.1, z.1])?;
        scatter(&decoded, [x, y, z], dims, &mut values);
    }
    Ok(values)
}

/// Returns the start and the length of each SPERR block along a dimension of the chunk. If the last
/// block has at most half the size, it is merged into the block before it.
fn block_ranges(length: usize, block: usize) -> Vec<(usize, usize)> {
    let count = (length / block + usize::from(length % block > block / 2)).max(1);
    let start = |at: usize| if at == count { length } else { at * block };
    (0..count).map(|at| (start(at), start(at + 1) - start(at))).collect()
}

fn scatter(
    block: &[f64],
    [x, y, z]: [(usize, usize); 3],
    [width, height, _]: [usize; 3],
    values: &mut [f64],
) {
    let rows = (z.0..z.0 + z.1).flat_map(|z| (y.0..y.0 + y.1).map(move |y| (z, y)));
    for (row, (z, y)) in block.chunks_exact(x.1.max(1)).zip(rows) {
        let to = values.get_mut((z * height + y) * width + x.0..).and_then(|rest| rest.get_mut(..row.len()));
        to.unwrap_or_default().copy_from_slice(row);
    }
}

fn decode_block(bytes: &[u8], shape: Shape, dims: [usize; 3]) -> Decoded<Vec<f64>> {
    let count = dims.iter().product();
    let ([flags, numbers @ ..], rest) = bytes.split_first_chunk::<17>().ok_or(TRUNCATED)?;
    let [first, second] = numbers.as_chunks::<8>().0 else { return Err(TRUNCATED) };
    if flags & CONSTANT_FLAG != 0 {
        let is_whole = usize::try_from(u64::from_le_bytes(*first)) == Ok(count);
        let value = f64::from_le_bytes(*second);
        return is_whole
            .then(|| vec![value; count])
            .ok_or("the number of values in a block differs from the block size");
    }
    let (mean, step) = (f64::from_le_bytes(*first), f64::from_le_bytes(*second));
    let stream = Stream::parse(rest).ok_or(TRUNCATED)?;
    let after = rest.get(stream.length..).unwrap_or_default();
    let integers = stream.decode(shape, dims);
    let mut values: Vec<f64> = Vec::with_capacity(count);
    values.extend(
        integers
            .sizes
            .iter()
            .enumerate()
            .map(|(at, size)| step * wide(*size) * if integers.positive.has(at) { 1.0 } else { -1.0 }),
    );
    let mut volume = Volume::new(&mut values, dims);
    match shape {
        Shape::Volume => volume.invert_volume(),
        Shape::Plane | Shape::Line => volume.invert_plane(),
    }
    if let Some(stream) = Stream::parse(after).filter(|stream| stream.length == after.len()) {
        let corrections = stream.decode(Shape::Line, [count, 1, 1]);
        let tolerance = step / STEP_TOLERANCES;
        for (at, (value, size)) in values.iter_mut().zip(&corrections.sizes).enumerate() {
            let factor = match size {
                0 => continue,
                1 => SMALL_CORRECTION_TOLERANCES,
                size => wide(*size) - CORRECTION_OFFSET_TOLERANCES,
            };
            *value += factor * (tolerance * if corrections.positive.has(at) { 1.0 } else { -1.0 });
        }
    }
    values.iter_mut().for_each(|value| *value += mean);
    Ok(values)
}

#[expect(clippy::cast_precision_loss, reason = "the value is rounded to the nearest number")]
fn wide(size: u64) -> f64 {
    size as f64
}
