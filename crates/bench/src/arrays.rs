//! Cases that read raw data: whole datasets, strided selections, points, boxes, conversions,
//! strings, a million chunks.

use std::path::Path;

use anyhow::{Context, Result, bail};
use hyperslab::{
    Dataset, File, FileDriver, H5Type, Hyperslab, OpenOptions, Points, Region, RegularHyperslab, Selection,
};

use crate::case::{Case, Limit, Program};
use crate::clock::{Clock, Cost};
use crate::libhdf5::{self, Libhdf5};
use crate::{sum, table};

/// A case as the C program understands it: name, input, request, and the target ratio to libhdf5.
type CaseSpec = (&'static str, &'static str, &'static str, f64);

const WORKLOADS: &[CaseSpec] = &[
    ("contiguous, whole", "contiguous", "whole f32", 1.0),
    ("chunked, whole", "chunked", "whole f32", 0.6),
    ("chunked 64 MiB, whole", "none", "whole f32", 0.6),
    ("gzip, whole", "gzip", "whole f32", 0.35),
    ("shuffle + gzip, whole", "shuffle_gzip", "whole f32", 0.35),
    ("zstd, whole", "zstd", "whole f32", 0.6),
    ("blosc lz4, whole", "blosc_lz4", "whole f32", 1.0),
    ("fletcher32, whole", "fletcher32", "whole f32", 1.0),
    ("bitshuffle lz4, whole", "bitshuffle_lz4", "whole i32", 1.0),
    ("nbit, whole", "nbit", "whole i32", 0.12),
    ("scaleoffset i32, whole", "scaleoffset", "whole i32", 0.3),
    ("scaleoffset f32, whole", "scaleoffset_f32", "whole f32", 0.3),
    ("szip, whole", "szip", "whole i32", 0.6),
    ("chunked, every 2nd column", "chunked", "slab f32 2 0 0 2048 8192 1 2", 0.1),
    ("chunked, every 4th of both", "chunked", "slab f32 2 0 0 2048 4096 4 4", 0.1),
    ("chunked, 64 rows to 1-D", "chunked", "slab f32 2 2730 0 64 16384 1 1", 0.15),
    ("contiguous, 64 rows", "contiguous", "slab f32 2 2730 0 64 16384 1 1", 1.0),
    ("contiguous, 64 columns", "contiguous", "slab f32 2 0 5461 8192 64 1 1", 0.15),
    ("contiguous, every 4th of both", "contiguous", "slab f32 2 0 0 2048 4096 4 4", 1.0),
    ("gzip, every 4th of both", "gzip", "slab f32 2 0 0 1024 1024 4 4", 1.0),
    ("gzip, 1000 boxes 16 x 16", "gzip", "boxes f32 1000 16 6", 0.3),
    ("chunked, 1000 boxes 16 x 16", "chunked", "boxes f32 1000 16 6", 1.0),
    ("contiguous, 1000 boxes 16 x 16", "contiguous", "boxes f32 1000 16 6", 1.0),
    ("gzip, 1000 boxes near each other", "gzip", "near f32 1000 16 6 512", 1.0),
    ("chunked, 1000 boxes near each other", "chunked", "near f32 1000 16 6 512", 1.0),
    ("contiguous, 1000 boxes near each other", "contiguous", "near f32 1000 16 6 512", 1.0),
    ("gzip, 1000 boxes, file cold", "gzip", "boxes f32 1000 16 6", 1.0),
    ("chunked, 1000 boxes, file cold", "chunked", "boxes f32 1000 16 6", 1.0),
    ("contiguous, 1000 boxes, file cold", "contiguous", "boxes f32 1000 16 6", 1.0),
    ("contiguous, 10 000 points", "contiguous", "points f32 10000 5", 0.15),
    ("chunked, 10 000 points", "chunked", "points f32 10000 5", 0.15),
    ("gzip, 10 000 points", "gzip", "points f32 10000 5", 1.0),
    ("i16 to f64", "i16", "whole f64", 0.7),
    ("f64 to f32", "f64", "whole f32", 0.7),
    ("f32 big endian to f32", "f32be", "whole f32", 0.7),
    ("one f64 member of 30 bytes", "records", "field x", 0.5),
    ("one f64 member, chunked", "records_chunked", "field x", 0.5),
    ("2 M records of 30 bytes, as they are", "records", "records", 1.0),
    ("2 M records, chunked, as they are", "records_chunked", "records", 1.0),
    ("1 M variable strings", "strings", "strings", 0.4),
    ("virtual of 1000 sources, whole", "virtual", "whole f32", 1.0),
    ("1 M chunks, B-tree v1, one read", "million_btree1", "rows f32 1 16 4", 1.0),
    ("1 M chunks, fixed array, one read", "million_fixed", "rows f32 1 16 4", 1.0),
    ("1 M chunks, extensible, one read", "million_extensible", "rows f32 1 16 4", 1.0),
    ("1 M chunks, B-tree v1, whole", "million_btree1", "whole f32", 0.05),
    ("1 M chunks, fixed array, whole", "million_fixed", "whole f32", 0.05),
    ("1 M chunks, extensible, whole", "million_extensible", "whole f32", 0.05),
    ("1 M chunks, B-tree v1, 20 000", "million_btree1", "rows f32 20000 16 4", 0.15),
    ("1 M chunks, fixed array, 20 000", "million_fixed", "rows f32 20000 16 4", 0.15),
    ("1 M chunks, extensible, 20 000", "million_extensible", "rows f32 20000 16 4", 0.15),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let rounds = args.first().map_or(Ok(7), |rounds| rounds.parse())?;
    let only = args.get(1).map_or("", String::as_str);
    let library = Libhdf5::find()?;
    let cases: Vec<Case> = cases()?.into_iter().filter(|case| case.name.contains(only)).collect();
    make_inputs(&library, &cases)?;
    if args.get(2).is_some_and(|word| word == "alone") {
        let mut buffers = Buffers::default();
        return cases.iter().try_for_each(|case| {
            let took: Result<Vec<f64>> =
                (0..rounds).map(|_| Ok(read(&case.path, &case.description, &mut buffers)?.0.wall)).collect();
            println!("{}: {:.2} ms", case.name, table::median(&took?) * 1e3);
            Ok(())
        });
    }
    table::compare(library, cases, rounds)
}

/// Returns all cases.
pub(crate) fn cases() -> Result<Vec<Case>> {
    let folder = libhdf5::folder()?;
    let case = |&(name, input, description, aim): &CaseSpec| Case {
        section: "Reading arrays",
        name: name.to_owned(),
        program: Program::Read,
        path: folder.join(format!("array_{input}.h5")),
        description: description.to_owned(),
        aim,
        check: None,
        mapped: false,
        cold: name.contains("cold"),
        limit: limit(name, input, description),
        chunks: None,
        counted: false,
    };
    Ok(WORKLOADS.iter().map(case).collect())
}

/// Returns the cases whose speed depends on the way a file is read, for the programs that map files
/// into memory.
pub(crate) fn mapped() -> Result<Vec<Case>> {
    let matters = ["contiguous", "chunked", "none", "f32be", "virtual"];
    let name = |case: &Case| Some(case.path.file_stem()?.to_str()?.strip_prefix("array_")?.to_owned());
    let mut cases = cases()?;
    cases.retain(|case| name(case).is_some_and(|name| matters.contains(&name.as_str())));
    // `rust-hdf5` cannot run these cases, so a comparison would show nothing.
    cases.retain(|case| !case.cold && !case.name.contains("every"));
    for case in &mut cases {
        (case.section, case.mapped, case.limit) = ("Files mapped into memory", true, Limit::None);
    }
    Ok(cases)
}

/// Returns the lower bound for reading a whole array, strings or a million chunks.
fn limit(name: &str, input: &str, description: &str) -> Limit {
    let conversion = name.contains(" to ") && !name.contains(" rows ");
    match input {
        _ if description == "records" => Limit::Read,
        _ if name.contains("M chunks") || !(name.contains("whole") || conversion) => {
            Limit::model(Program::Read, Path::new(input), description)
        }
        "contiguous" | "chunked" | "none" | "virtual" => Limit::Read,
        "i16" | "f64" | "f32be" => Limit::Convert(if description.ends_with("f64") { 8 } else { 4 }),
        _ => Limit::Decode,
    }
}

/// Writes the missing input files.
pub(crate) fn make_inputs(library: &Libhdf5, cases: &[Case]) -> Result<()> {
    let folder = libhdf5::folder()?;
    let target = folder.to_str().context("a path that is not UTF-8")?;
    let name = |case: &Case| {
        let stem = case.path.file_stem()?.to_str()?;
        Some(stem.strip_prefix("array_")?.to_owned())
    };
    let names: Vec<String> = cases.iter().filter_map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    library.script(include_str!("../make_arrays.py"), &[&[target], names.as_slice()].concat())?;
    Ok(())
}

/// Buffers that are already mapped, so that page faults are not timed.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// True if files are mapped into memory.
    mapped: bool,
    bytes: Vec<u8>,
    f32: Vec<f32>,
    f64: Vec<f64>,
    i32: Vec<i32>,
}

impl Buffers {
    /// Returns empty buffers. `mapped` is true if files are mapped into memory.
    pub(crate) fn new(mapped: bool) -> Self {
        Self { mapped, ..Self::default() }
    }
}

/// Reads once, as the C program does. Returns the cost and the same sum.
pub(crate) fn read(path: &Path, description: &str, buffers: &mut Buffers) -> Result<(Cost, u64)> {
    let words: Vec<&str> = description.split_whitespace().collect();
    let driver = if buffers.mapped { FileDriver::Mmap } else { FileDriver::Auto };
    let open = || -> Result<File> { Ok(OpenOptions::new().driver(driver.clone()).open(path)?) };
    match words.as_slice() {
        ["strings"] => strings(open),
        ["records"] => records(open, &mut buffers.bytes),
        ["field", member] => field(open, member, &mut buffers.f64),
        [kind, "f32", rest @ ..] => arrays(open, kind, rest, &mut buffers.f32),
        [kind, "f64", rest @ ..] => arrays(open, kind, rest, &mut buffers.f64),
        [kind, "i32", rest @ ..] => arrays(open, kind, rest, &mut buffers.i32),
        _ => bail!("unknown request `{description}`"),
    }
}

fn strings(open: impl Fn() -> Result<File>) -> Result<(Cost, u64)> {
    let start = Clock::start();
    let file = open()?;
    let all = file.dataset("x")?.read_strings::<hyperslab::IxDyn>(..)?;
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

fn field(open: impl Fn() -> Result<File>, member: &str, buffer: &mut Vec<f64>) -> Result<(Cost, u64)> {
    let start = Clock::start();
    let file = open()?;
    let dataset = file.dataset("x")?;
    let count = usize::try_from(dataset.size()?)?;
    if buffer.len() != count {
        *buffer = vec![1.0; count];
        return field(open, member, buffer);
    }
    dataset.field(member)?.read_into(.., buffer)?;
    drop((dataset, file));
    Ok((start.took(), sum(buffer)))
}

/// Reads whole records as they are stored.
fn records(open: impl Fn() -> Result<File>, buffer: &mut Vec<u8>) -> Result<(Cost, u64)> {
    let dataset = open()?.dataset("x")?;
    let count = dataset.size()? * u64::from(dataset.datatype().size);
    drop(dataset);
    if buffer.len() as u64 != count {
        *buffer = vec![1; usize::try_from(count)?];
    }
    let start = Clock::start();
    let file = open()?;
    let dataset = file.dataset("x")?;
    dataset.read_bytes(.., dataset.datatype(), buffer)?;
    drop((dataset, file));
    Ok((start.took(), sum(buffer)))
}

fn arrays<T: H5Type + Default>(
    open: impl Fn() -> Result<File>,
    kind: &str,
    args: &[&str],
    buffer: &mut Vec<T>,
) -> Result<(Cost, u64)> {
    let numbers: Result<Vec<u64>, _> = args.iter().map(|word| word.parse()).collect();
    let numbers = numbers?;
    let number = |at: usize| numbers.get(at).copied().unwrap_or(1);
    let mut state = 0;
    let (turns, each) = match kind {
        "whole" => (1, open()?.dataset("x")?.size()?),
        "slab" => (
            1,
            numbers.iter().skip(1 + usize::try_from(number(0))?).take(usize::try_from(number(0))?).product(),
        ),
        "points" => {
            state = number(1);
            (1, number(0))
        }
        "boxes" | "near" | "rows" => {
            state = number(2);
            (number(0), if kind == "rows" { number(1) } else { number(1) * number(1) })
        }
        _ => bail!("unknown operation `{kind}`"),
    };
    let (each, turns) = (usize::try_from(each)?, usize::try_from(turns)?);
    if buffer.len() != each * turns {
        *buffer = vec![T::default(); each * turns];
        // Writes the buffer, so that its pages are mapped.
        T::read_slice(buffer, |bytes| {
            bytes.fill(1);
            Ok::<(), hyperslab::Error>(())
        })?;
    }
    let start = Clock::start();
    let file = open()?;
    let dataset = file.dataset("x")?;
    for part in buffer.chunks_exact_mut(each) {
        let selection = select(kind, &numbers, &dataset, &mut state)?;
        dataset.read_into(&selection, part)?;
    }
    drop((dataset, file));
    Ok((start.took(), sum(buffer)))
}

fn select(kind: &str, numbers: &[u64], dataset: &Dataset, state: &mut u64) -> Result<Selection> {
    let dataspace = dataset.dataspace();
    let dims = dataspace.dims();
    let size = |at: usize| dims.get(at).copied().unwrap_or(1);
    let number = |at: usize| numbers.get(at).copied().unwrap_or(1);
    Ok(match kind {
        "whole" => Selection::All,
        "slab" => {
            let rank = usize::try_from(number(0))?;
            let part =
                |from: usize| numbers.iter().skip(1 + from * rank).take(rank).copied().collect::<Vec<u64>>();
            let (start, count, stride) = (part(0), part(1), part(2));
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::strided(&start, &stride, &count)))
        }
        "points" => {
            let point = |_| [next(state) % size(0), next(state) % size(1)];
            Selection::Points(Points { rank: 2, coordinates: (0..number(0)).flat_map(point).collect() })
        }
        "boxes" | "near" => {
            let side = number(1);
            let maximum = |at: usize| if kind == "near" { number(3) } else { size(at) };
            let start = [next(state) % (maximum(0) - side), next(state) % (maximum(1) - side)];
            Selection::region(&Region::new(&start, &[side, side])?)
        }
        _ => {
            let length = number(1);
            let start = next(state) % (size(0) / length) * length;
            Selection::region(&Region::new(&[start], &[length])?)
        }
    })
}

/// Returns the next pseudo-random number.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn sum<T: H5Type>(values: &[T]) -> u64 {
    let bytes = T::to_bytes(values);
    let word = |word: &[u8; 4]| word.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
    sum::over(bytes.len() as u64, bytes.as_chunks::<4>().0, |values, words| {
        words.extend(values.iter().map(word));
    })
}
