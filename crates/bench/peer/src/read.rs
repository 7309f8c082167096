//! Cases of raw data: whole datasets, strided selections, points, boxes, one member, strings.

use anyhow::{Context as _, Result, bail};
use rust_hdf5::{DatatypeMessage, H5Dataset, H5File, H5Type};

use crate::clock::{Clock, Cost};

/// Buffers that are already mapped, so that page faults are not timed.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    f32: Vec<f32>,
    f64: Vec<f64>,
    i32: Vec<i32>,
}

/// A type of elements, whose bytes are summed.
trait Element: H5Type + Default {
    const ONE: Self;
    fn words(values: &[Self], words: &mut Vec<u32>);
}

impl Element for f32 {
    const ONE: Self = 1.0;
    fn words(values: &[Self], words: &mut Vec<u32>) {
        words.extend(values.iter().map(|value| value.to_bits()));
    }
}

impl Element for i32 {
    const ONE: Self = 1;
    fn words(values: &[Self], words: &mut Vec<u32>) {
        words.extend(values.iter().map(|value| value.cast_unsigned()));
    }
}

impl Element for f64 {
    const ONE: Self = 1.0;
    fn words(values: &[Self], words: &mut Vec<u32>) {
        words
            .extend(values.iter().flat_map(|value| [value.to_bits() as u32, (value.to_bits() >> 32) as u32]));
    }
}

pub(crate) fn read(kind: &str, path: &str, words: &[&str], buffers: &mut Buffers) -> Result<(Cost, u64)> {
    match (kind, words) {
        ("strings", []) => strings(path),
        ("records", []) => records(path),
        ("field", [member]) => field(path, member, &mut buffers.f64),
        (_, ["f32", rest @ ..]) => arrays(path, kind, rest, &mut buffers.f32),
        (_, ["f64", rest @ ..]) => arrays(path, kind, rest, &mut buffers.f64),
        (_, ["i32", rest @ ..]) => arrays(path, kind, rest, &mut buffers.i32),
        _ => bail!("unknown operation `{kind}`"),
    }
}

fn strings(path: &str) -> Result<(Cost, u64)> {
    let start = Clock::start();
    let file = H5File::open(path)?;
    let all = file.dataset("x")?.read_vlen_strings()?;
    drop(file);
    let took = start.took();
    let sum = all.iter().fold(all.len() as u64, |sum, text| {
        let first = text.bytes().next().unwrap_or(0);
        sum.wrapping_mul(31).wrapping_add(text.len() as u64).wrapping_add(u64::from(first))
    });
    let start = Clock::start();
    drop(all);
    Ok((took + start.took(), sum))
}

/// Reads whole records and picks one member, as the crate's documentation recommends.
fn field(path: &str, member: &str, buffer: &mut Vec<f64>) -> Result<(Cost, u64)> {
    let count = H5File::open(path)?.dataset("x")?.total_elements();
    prepare(buffer, count);
    let start = Clock::start();
    let file = H5File::open(path)?;
    let dataset = file.dataset("x")?;
    let DatatypeMessage::Compound { size, members } = dataset.datatype()? else { bail!("no compound") };
    let member = members.iter().find(|one| one.name == member).context("no such member")?;
    let bytes = dataset.read_raw_bytes()?;
    let offset = member.offset as usize;
    for (value, record) in buffer.iter_mut().zip(bytes.chunks_exact(size as usize)) {
        let bytes = record.get(offset..offset + 8).context("a short record")?;
        *value = f64::from_le_bytes(bytes.try_into()?);
    }
    drop((bytes, dataset, file));
    Ok((start.took(), sum(buffer)))
}

/// Reads records. The crate allocates the memory for them.
fn records(path: &str) -> Result<(Cost, u64)> {
    let start = Clock::start();
    let file = H5File::open(path)?;
    let bytes = file.dataset("x")?.read_raw_bytes()?;
    drop(file);
    let took = start.took();
    let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let sum = crate::sum::over(bytes.len() as u64, bytes.as_chunks::<4>().0, |values, words| {
        words.extend(values.iter().map(word));
    });
    Ok((took, sum))
}

fn prepare<T: Element>(buffer: &mut Vec<T>, count: usize) {
    if buffer.len() != count {
        *buffer = vec![T::ONE; count];
    }
}

fn arrays<T: Element>(path: &str, kind: &str, args: &[&str], buffer: &mut Vec<T>) -> Result<(Cost, u64)> {
    let numbers = args.iter().map(|word| word.parse()).collect::<Result<Vec<usize>, _>>()?;
    let number = |at: usize| numbers.get(at).copied().unwrap_or(1);
    let mut state = 0;
    let (turns, each) = match kind {
        "whole" => (1, H5File::open(path)?.dataset("x")?.total_elements()),
        "slab" => (1, numbers.iter().skip(1 + number(0)).take(number(0)).product()),
        "points" => {
            state = number(1) as u64;
            (1, number(0))
        }
        "boxes" | "near" | "rows" => {
            state = number(2) as u64;
            (number(0), if kind == "rows" { number(1) } else { number(1) * number(1) })
        }
        _ => bail!("unknown operation `{kind}`"),
    };
    prepare(buffer, each * turns);
    let start = Clock::start();
    let file = H5File::open(path)?;
    let dataset = file.dataset("x")?;
    if kind == "whole" {
        dataset.read_raw_into(buffer)?;
        drop((dataset, file));
        return Ok((start.took(), sum(buffer)));
    }
    let dims = dataset.shape();
    let mut fresh = Vec::new();
    for part in buffer.chunks_exact_mut(each) {
        fresh = select(kind, &numbers, &dataset, &dims, &mut state, part)?;
    }
    drop((dataset, file));
    let took = start.took();
    let sum = if fresh.is_empty() { sum(buffer) } else { sum(&fresh) };
    Ok((took, sum))
}

/// Reads one selection into `part` if the crate can; otherwise returns the elements read.
fn select<T: Element>(
    kind: &str,
    numbers: &[usize],
    dataset: &H5Dataset,
    dims: &[usize],
    state: &mut u64,
    part: &mut [T],
) -> Result<Vec<T>> {
    let size = |at: usize| dims.get(at).copied().unwrap_or(1);
    let number = |at: usize| numbers.get(at).copied().unwrap_or(1);
    let side = number(1);
    match kind {
        "slab" => {
            let rank = number(0);
            let group =
                |at: usize| numbers.get(1 + at * rank..1 + (at + 1) * rank).context("too few numbers");
            let (start, count, stride) = (group(0)?, group(1)?, group(2)?);
            if stride.iter().any(|stride| *stride != 1) {
                return Ok(dataset.read_hyperslab(start, stride, count, &vec![1; rank])?);
            }
            dataset.read_slice_into(part, start, count)?;
        }
        "points" => {
            let point = |_| vec![below(state, size(0)), below(state, size(1))];
            let points: Vec<Vec<usize>> = (0..number(0)).map(point).collect();
            return Ok(dataset.read_points(&points)?);
        }
        "rows" => {
            let start = below(state, size(0) / side) * side;
            dataset.read_slice_into(part, &[start], &[side])?;
        }
        _ => {
            let most = |at: usize| if kind == "near" { number(3) } else { size(at) };
            let start = [below(state, most(0) - side), below(state, most(1) - side)];
            dataset.read_slice_into(part, &start, &[side, side])?;
        }
    }
    Ok(Vec::new())
}

/// Returns the next pseudo-random number below `end`.
pub(crate) fn below(state: &mut u64, end: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % end as u64) as usize
}

fn sum<T: Element>(values: &[T]) -> u64 {
    crate::sum::over(size_of_val(values) as u64, values, T::words)
}
