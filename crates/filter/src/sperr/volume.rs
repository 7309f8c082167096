//! Planes and volumes of SPERR.
//!
//! ```text
//! bytes        | meaning of a volume (numbers are little-endian)
//! -------------+------------------------------------------------------------------------------------
//! 1            | version: 0
//! 1            | bit 7: it was cut, 6: a volume, 5: values of 4 bytes, 4: several blocks
//! 4 each       | values in each dimension, the one that varies fastest first
//! 2 each       | only for several blocks: values of a block in each dimension
//! 4 per block  | bytes of the block
//! n            | the blocks; a last one of less than half is part of the one before
//!
//! bytes        | meaning of a block, or of a plane
//! -------------+------------------------------------------------------------------------------------
//! 1            | bit 0: all values are the same
//! 8            | the mean; if all are the same, how many there are
//! 8            | the step of quantisation; if all are the same, the value
//! n            | coefficients of the transform by `speck`
//! n            | perhaps: corrections of values by `speck`, in a line
//! ```

use super::speck::{Shape, Stream};
use super::wavelet::Volume;

type Decoded<T> = Result<T, &'static str>;

const CUT: &str = "its blocks are cut off";

const IS_VOLUME: u8 = 1 << 6;
const HAS_BLOCKS: u8 = 1 << 4;
const ALL_SAME: u8 = 1;

/// Corrections of 1 and of more, in tolerances.
const SMALL_CORRECTION: f64 = 1.1;
const LESS: f64 = 0.25;

/// How many tolerances a step of quantisation is.
const STEP: f64 = 1.5;

pub(super) fn decode_plane(bytes: &[u8], dims: [usize; 3]) -> Decoded<Vec<f64>> {
    decode_block(bytes, Shape::Plane, dims)
}

pub(super) fn decode_volume(bytes: &[u8], dims: [usize; 3]) -> Decoded<Vec<f64>> {
    let [version, flags, rest @ ..] = bytes else { return Err(CUT) };
    if *version != 0 || flags & IS_VOLUME == 0 {
        return Err("it is no volume, or of no known version");
    }
    let (sizes, mut rest) = rest.split_first_chunk::<12>().ok_or(CUT)?;
    let same = sizes
        .as_chunks()
        .0
        .iter()
        .zip(dims)
        .all(|(size, length)| usize::try_from(u32::from_le_bytes(*size)) == Ok(length));
    if !same {
        return Err("it has other dimensions than its client data");
    }
    let mut block = dims;
    if flags & HAS_BLOCKS != 0 {
        let (sizes, after) = rest.split_first_chunk::<6>().ok_or(CUT)?;
        let sizes = sizes.as_chunks().0.iter().map(|size| usize::from(u16::from_le_bytes(*size)));
        block.iter_mut().zip(sizes).for_each(|(to, size)| *to = size);
        rest = after;
    }
    if block.contains(&0) {
        return Err("blocks of no values");
    }
    let mut ends = dims.iter().zip(block).map(|(length, block)| places(*length, block));
    let (Some(x), Some(y), Some(z)) = (ends.next(), ends.next(), ends.next()) else { return Err(CUT) };
    let count = x.len().saturating_mul(y.len()).saturating_mul(z.len());
    let (lengths, mut rest) = rest.split_at_checked(count.saturating_mul(4)).ok_or(CUT)?;
    let mut lengths = lengths.as_chunks().0.iter();
    let mut values = vec![0.0; dims.iter().product()];
    for (z, y, x) in z.iter().flat_map(|z| {
        y.iter().flat_map({
            let x = &x;
            move |y| x.iter().map(move |x| (*z, *y, *x))
        })
    }) {
        let length = usize::try_from(u32::from_le_bytes(*lengths.next().ok_or(CUT)?)).map_err(|_| CUT)?;
        let (bytes, after) = rest.split_at_checked(length).ok_or(CUT)?;
        rest = after;
        let decoded = decode_block(bytes, Shape::Volume, [x.1, y.1, z.1])?;
        scatter(&decoded, [x, y, z], dims, &mut values);
    }
    Ok(values)
}

/// Where the blocks of a dimension begin, and how many values they have: a last one of half a block or less is part of
/// the one before.
fn places(length: usize, block: usize) -> Vec<(usize, usize)> {
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
    let places = (z.0..z.0 + z.1).flat_map(|z| (y.0..y.0 + y.1).map(move |y| (z, y)));
    for (row, (z, y)) in block.chunks_exact(x.1.max(1)).zip(places) {
        let to = values.get_mut((z * height + y) * width + x.0..).and_then(|rest| rest.get_mut(..row.len()));
        to.unwrap_or_default().copy_from_slice(row);
    }
}

fn decode_block(bytes: &[u8], shape: Shape, dims: [usize; 3]) -> Decoded<Vec<f64>> {
    let count = dims.iter().product();
    let ([flags, numbers @ ..], rest) = bytes.split_first_chunk::<17>().ok_or(CUT)?;
    let [first, second] = numbers.as_chunks::<8>().0 else { return Err(CUT) };
    if flags & ALL_SAME != 0 {
        let is_whole = usize::try_from(u64::from_le_bytes(*first)) == Ok(count);
        let value = f64::from_le_bytes(*second);
        return is_whole.then(|| vec![value; count]).ok_or("it has another number of values");
    }
    let (mean, step) = (f64::from_le_bytes(*first), f64::from_le_bytes(*second));
    let stream = Stream::parse(rest).ok_or(CUT)?;
    let behind = rest.get(stream.length..).unwrap_or_default();
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
        Shape::Volume => volume.undo_volume(),
        Shape::Plane | Shape::Line => volume.undo_plane(),
    }
    if let Some(stream) = Stream::parse(behind).filter(|stream| stream.length == behind.len()) {
        let corrections = stream.decode(Shape::Line, [count, 1, 1]);
        let tolerance = step / STEP;
        for (at, (value, size)) in values.iter_mut().zip(&corrections.sizes).enumerate() {
            let factor = match size {
                0 => continue,
                1 => SMALL_CORRECTION,
                size => wide(*size) - LESS,
            };
            *value += factor * (tolerance * if corrections.positive.has(at) { 1.0 } else { -1.0 });
        }
    }
    values.iter_mut().for_each(|value| *value += mean);
    Ok(values)
}

#[expect(clippy::cast_precision_loss, reason = "it is to be rounded to the nearest")]
fn wide(size: u64) -> f64 {
    size as f64
}
