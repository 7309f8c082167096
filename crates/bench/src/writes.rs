//! Cases that write files: large arrays, many objects, attributes and links, chunks appended one by
//! one, strings.
#![expect(
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::arithmetic_side_effects,
    reason = "the workloads are the constants of this file"
)]

use std::path::Path;

use anyhow::{Result, bail, ensure};
use hyperslab::datatype::{ByteOrder, DatatypeClass, Member};
use hyperslab::filter::FilterSpec;
use hyperslab::{
    Datatype, Durability, File, FileOptions, Hyperslab, LibraryVersion, LibverBounds, RegularHyperslab,
    Selection,
};

use crate::case::{Case, Limit, Program};
use crate::clock::{Clock, Cost};
use crate::libhdf5::{self, Libhdf5};
use crate::table;

/// A case: its name, the request to the C program, and the target ratio.
type CaseSpec = (&'static str, &'static str, f64);

const WORKLOADS: &[CaseSpec] = &[
    ("contiguous 256 MiB", "arrays 1 f32 none 8192 8192 0 0", 1.0),
    ("chunked 256 MiB, 1 MiB chunks", "arrays 1 f32 none 8192 8192 512 512", 0.8),
    ("gzip 4, 64 MiB", "arrays 1 f32 gzip 4096 4096 512 512", 0.4),
    ("shuffle + gzip 4, 64 MiB", "arrays 1 f32 shuffle_gzip 4096 4096 512 512", 0.4),
    ("gzip 4, 64 MiB, v110", "arrays 2 f32 gzip 4096 4096 512 512", 0.4),
    ("shuffle + gzip 4, 64 MiB, v110", "arrays 2 f32 shuffle_gzip 4096 4096 512 512", 0.4),
    ("nbit, 64 MiB", "arrays 2 i32 nbit 4096 4096 512 512", 0.1),
    ("f32 to i16, 64 MiB", "arrays 1 f32 i16 4096 4096 0 0", 0.8),
    ("f32 to f64, 64 MiB", "arrays 1 f32 f64 4096 4096 0 0", 0.8),
    ("f32 to big-endian, 64 MiB", "arrays 1 f32 f32be 4096 4096 0 0", 0.8),
    ("f32 to i16, chunked 64 MiB", "arrays 1 f32 i16 4096 4096 512 512", 0.8),
    ("f32 to big-endian, chunked 64 MiB", "arrays 1 f32 f32be 4096 4096 512 512", 0.8),
    ("2 M records, packed", "records 1 2000000", 0.8),
    ("2 M records, as they are", "packed 1 2000000", 1.0),
    ("slabs of rows, contiguous 64 MiB", "slabs 1 4096 4096 0 0 64 4096 1", 1.0),
    ("slabs of 256 x 256, contiguous 64 MiB", "slabs 1 4096 4096 0 0 256 256 1", 1.0),
    ("slabs of 16 x 16, contiguous 4 MiB", "slabs 1 1024 1024 0 0 16 16 1", 1.0),
    ("every fourth column, contiguous 64 MiB", "slabs 1 4096 4096 0 0 1024 4096 4", 0.5),
    ("slabs of 300 x 300, chunks of 512 x 512", "slabs 1 3000 3000 512 512 300 300 1", 1.0),
    ("slabs of 64 rows, chunks of 512 x 512", "slabs 1 4096 4096 512 512 64 4096 1", 1.0),
    ("every fourth column, chunks of 512 x 512", "slabs 1 4096 4096 512 512 1024 4096 4", 0.5),
    ("10 000 datasets, 2 attributes each, earliest", "objects 0 10000", 0.2),
    ("10 000 datasets, 2 attributes each, v18", "objects 1 10000", 0.2),
    ("10 000 attributes of one group", "attributes 1 10000", 0.2),
    ("100 000 links in one group, earliest", "links 0 100000", 0.4),
    ("100 000 links in one group, v18", "links 1 100000", 0.4),
    ("100 000 appends, B-tree v1", "append 1 100000 64 1", 0.2),
    ("100 000 appends, fixed array", "append 2 100000 64 0", 0.2),
    ("100 000 appends, extensible array", "append 2 100000 64 1", 0.2),
    ("100 000 appends, B-tree v2", "append 2 100000 64 2", 0.2),
    ("1 M chunks of 64 bytes, B-tree v1", "arrays 1 f32 none 4096 4096 4 4", 0.05),
    ("1 M chunks of 64 bytes, fixed array", "arrays 2 f32 none 4096 4096 4 4", 0.05),
    ("1 M variable strings", "strings 1 1000000", 0.5),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let rounds = args.first().map_or(Ok(5), |rounds| rounds.parse())?;
    let only = args.get(1).map_or("", String::as_str);
    let cases: Vec<Case> = cases()?.into_iter().filter(|case| case.name.contains(only)).collect();
    if args.get(2).is_some_and(|word| word == "alone") {
        // libhdf5 provides no durability either.
        let mut inputs = Inputs::new(Durability::None);
        return cases.iter().try_for_each(|case| {
            let took: Result<Vec<f64>> =
                (0..rounds).map(|_| Ok(make(&case.path, &case.description, &mut inputs)?.0.wall)).collect();
            println!("{}: {:.2} ms", case.name, table::median(&took?) * 1e3);
            Ok(())
        });
    }
    table::compare(Libhdf5::find()?, cases, rounds)
}

/// Returns all cases.
pub(crate) fn cases() -> Result<Vec<Case>> {
    let path = libhdf5::folder()?.join("written.h5");
    let case = |&(name, description, aim): &CaseSpec| Case {
        section: "Writing",
        name: name.to_owned(),
        program: Program::Write,
        path: path.clone(),
        description: description.to_owned(),
        aim,
        check: check(description),
        mapped: false,
        cold: false,
        limit: limit(name, &path, description),
        chunks: None,
        counted: ["objects", "attributes", "links", "append"]
            .iter()
            .any(|kind| description.starts_with(kind)),
    };
    Ok(WORKLOADS.iter().map(case).collect())
}

/// Returns the request with which libhdf5 reads the file back.
pub(crate) fn check(description: &str) -> Option<(Program, String)> {
    let words: Vec<&str> = description.split_whitespace().collect();
    let (program, reading) = match words.as_slice() {
        ["arrays", _, "i32", ..] => (Program::Read, "whole i32"),
        ["arrays" | "slabs", ..] => (Program::Read, "whole f32"),
        ["append" | "insert", ..] => (Program::Read, "whole f64"),
        ["records" | "packed", ..] => (Program::Read, "field value"),
        ["strings", ..] => (Program::Read, "strings"),
        ["objects", ..] => (Program::Metadata, "objects"),
        ["attributes", ..] => (Program::Metadata, "attributes"),
        ["links", ..] => (Program::Metadata, "links"),
        _ => return None,
    };
    Some((program, reading.to_owned()))
}

/// Returns the lower bound for writing a whole array, and for metadata cases.
fn limit(name: &str, path: &Path, description: &str) -> Limit {
    let encoded = ["gzip", "nbit"].iter().any(|filter| description.contains(filter));
    match description.split(' ').next() {
        Some("arrays") if encoded => Limit::Encode,
        Some("arrays" | "records" | "packed") if !name.contains("M chunks") => Limit::Write,
        _ => Limit::model(Program::Write, path, description),
    }
}

/// Data to write, made before the clock starts.
#[derive(Default)]
pub(crate) struct Inputs {
    /// The durability of the commits.
    pub(crate) durability: Durability,
    f32: Vec<f32>,
    i32: Vec<i32>,
    texts: Vec<String>,
    records: Vec<u8>,
    packed: Vec<u8>,
}

impl Inputs {
    /// Returns inputs without data.
    pub(crate) fn new(durability: Durability) -> Self {
        Self { durability, ..Self::default() }
    }

    fn f32(&mut self, count: usize) -> &[f32] {
        if self.f32.len() != count {
            let noise = |at: u64| (at.wrapping_mul(2_654_435_761) >> 7) % 16;
            self.f32 = (0..count as u64).map(|at| (at % 1000) as f32 * 0.25 + noise(at) as f32).collect();
        }
        &self.f32
    }

    fn i32(&mut self, count: usize) -> &[i32] {
        if self.i32.len() != count {
            let noise = |at: u64| (at.wrapping_mul(2_654_435_761) >> 9) % 64;
            self.i32 = (0..count as u64).map(|at| ((at / 7 + noise(at)) % 4096) as i32).collect();
        }
        &self.i32
    }

    /// Returns records with the member offsets of the C program's compiler.
    fn records(&mut self, count: u64) -> &[u8] {
        if self.records.len() as u64 != count * 24 {
            let record = |at: u64| {
                let mut record = [0; 24];
                record[..4].copy_from_slice(&(at as u32).to_le_bytes());
                record[8..16].copy_from_slice(&(at as f64 * 0.5).to_le_bytes());
                record[16..18].copy_from_slice(&((at % 100) as u16).to_le_bytes());
                record
            };
            self.records = (0..count).flat_map(record).collect();
        }
        &self.records
    }

    /// Returns records without padding between the members.
    fn packed(&mut self, count: u64) -> &[u8] {
        if self.packed.len() as u64 != count * 14 {
            let records = self.records(count);
            self.packed = records.chunks(24).flat_map(|one| [&one[..4], &one[8..18]].concat()).collect();
        }
        &self.packed
    }

    fn texts(&mut self, count: u64) -> &[String] {
        if self.texts.len() as u64 != count {
            self.texts = (0..count).map(|at| format!("string number {}", at * 7919 % count)).collect();
        }
        &self.texts
    }
}

/// Writes the file once, as the C program does.
pub(crate) fn make(path: &Path, description: &str, inputs: &mut Inputs) -> Result<(Cost, u64)> {
    let words: Vec<&str> = description.split_whitespace().collect();
    let [kind, low, rest @ ..] = words.as_slice() else { bail!("cannot parse the request `{description}`") };
    let low = match *low {
        "0" => LibraryVersion::Earliest,
        "1" => LibraryVersion::V18,
        _ => LibraryVersion::V110,
    };
    let bounds = LibverBounds::new(low, LibraryVersion::V110)?;
    let options = FileOptions::new().libver(bounds).durability(inputs.durability);
    let numbers: Vec<u64> = rest.iter().filter_map(|word| word.parse().ok()).collect();
    let count = numbers.first().copied().unwrap_or(0);
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    match (*kind, rest) {
        ("arrays", ["f32", ..]) => drop(inputs.f32(usize::try_from(count * numbers[1])?)),
        ("arrays", _) => drop(inputs.i32(usize::try_from(count * numbers[1])?)),
        ("strings", _) => drop(inputs.texts(count)),
        ("records", _) => drop(inputs.records(count)),
        ("packed", _) => drop(inputs.packed(count)),
        ("slabs", _) => drop(inputs.f32(usize::try_from(numbers[4] * numbers[5] / numbers[6])?)),
        _ => {}
    }
    let start = Clock::start();
    let file = options.create(path)?;
    match *kind {
        "arrays" => array(&file, rest, &numbers, inputs)?,
        "slabs" => slabs(&file, &numbers, inputs)?,
        "records" | "packed" => records(&file, count, *kind == "packed", inputs)?,
        "objects" => objects(&file, count)?,
        "attributes" => attributes(&file, count)?,
        "links" => links(&file, count)?,
        "append" => append(&file, count, numbers[1], numbers[2], false)?,
        "insert" => insert(&file, &numbers)?,
        "flushes" => append(&file, count, numbers[1], 1, true)?,
        "strings" => {
            file.new_dataset("x").write_strings(inputs.texts(count))?;
        }
        other => bail!("unknown operation `{other}`"),
    }
    file.close()?;
    let took = start.took();
    let bytes = std::fs::metadata(path)?.len();
    ensure!(bytes > 0, "the file is empty");
    Ok((took, bytes))
}

fn array(file: &File, words: &[&str], numbers: &[u64], inputs: &mut Inputs) -> Result<()> {
    let &[rows, columns, chunk_rows, chunk_columns] = numbers else { bail!("expected four numbers") };
    let count = usize::try_from(rows * columns)?;
    let mut builder = file.new_dataset("x").shape(&[rows, columns]);
    if chunk_rows > 0 {
        builder = builder.chunks(&[chunk_rows, chunk_columns]);
    }
    builder = match words[1] {
        "gzip" => builder.deflate(4),
        "shuffle_gzip" => builder.shuffle().deflate(4),
        "nbit" => builder.filter(FilterSpec::nbit()),
        _ => builder,
    };
    if words[0] == "f32" {
        let builder = match words[1] {
            "i16" => builder.datatype(Datatype::i16(ByteOrder::LittleEndian)),
            "f64" => builder.datatype(Datatype::f64(ByteOrder::LittleEndian)),
            "f32be" => builder.datatype(Datatype::f32(ByteOrder::BigEndian)),
            _ => builder.of::<f32>(),
        };
        builder.create()?.write(.., inputs.f32(count))?;
        return Ok(());
    }
    let mut datatype = Datatype::i32(ByteOrder::LittleEndian);
    if let DatatypeClass::FixedPoint(fixed) = &mut datatype.class
        && words[1] == "nbit"
    {
        fixed.precision = 12;
    }
    builder.datatype(datatype).create()?.write(.., inputs.i32(count))?;
    Ok(())
}

fn slabs(file: &File, numbers: &[u64], inputs: &mut Inputs) -> Result<()> {
    let &[rows, columns, chunk_rows, chunk_columns, slab_rows, slab_columns, stride] = numbers else {
        bail!("expected seven numbers")
    };
    let mut builder = file.new_dataset("x").of::<f32>().shape(&[rows, columns]);
    if chunk_rows > 0 {
        builder = builder.chunks(&[chunk_rows, chunk_columns]);
    }
    let dataset = builder.create()?;
    let values = inputs.f32(usize::try_from(slab_rows * slab_columns / stride)?);
    for row in (0..rows).step_by(usize::try_from(slab_rows)?) {
        for column in (0..columns).step_by(usize::try_from(slab_columns)?) {
            let slab = RegularHyperslab {
                start: [row, column].as_slice().into(),
                stride: [1, stride].as_slice().into(),
                count: [slab_rows, slab_columns / stride].as_slice().into(),
                block: [1, 1].as_slice().into(),
            };
            dataset.write(Selection::Hyperslab(Hyperslab::Regular(slab)), values)?;
        }
    }
    Ok(())
}

fn records(file: &File, count: u64, packed: bool, inputs: &mut Inputs) -> Result<()> {
    let types = || {
        let little = ByteOrder::LittleEndian;
        [
            ("number", 0, Datatype::i32(little)),
            ("value", 8, Datatype::f64(little)),
            ("kind", 16, Datatype::i16(little)),
        ]
    };
    let member =
        |(name, offset, datatype): (&str, u32, Datatype)| Member { name: name.into(), offset, datatype };
    let memory = Datatype::compound(24, types().map(member).to_vec());
    let stored = Datatype::packed(types().map(|(name, _, datatype)| (name, datatype)));
    let dataset = file.new_dataset("x").datatype(stored.clone()).shape(&[count]).create()?;
    if packed {
        return Ok(dataset.write_bytes(.., &stored, inputs.packed(count))?);
    }
    Ok(dataset.write_bytes(.., &memory, inputs.records(count))?)
}

fn objects(file: &File, count: u64) -> Result<()> {
    for number in 0..count {
        let values: Vec<f64> = (0..12).map(|k| number as f64 + f64::from(k)).collect();
        let dataset =
            file.new_dataset(&format!("dataset_{number:05}")).of::<f64>().shape(&[3, 4]).create()?;
        dataset.write(.., &values)?;
        dataset.set_attribute("scale", 0.5)?;
        dataset.set_attribute("number", number as i32)?;
    }
    Ok(())
}

fn attributes(file: &File, count: u64) -> Result<()> {
    let group = file.create_group("g")?;
    (0..count).try_for_each(|number| Ok(group.set_attribute(&format!("attr_{number:05}"), number as f64)?))
}

fn links(file: &File, count: u64) -> Result<()> {
    let (target, group) = (file.create_group("t")?, file.create_group("g")?);
    (0..count)
        .try_for_each(|number| Ok(group.link_hard(&format!("link_{:06}", number * 7919 % count), &target)?))
}

fn append(file: &File, count: u64, size: u64, unlimited: u64, flushed: bool) -> Result<()> {
    let maximum = [(unlimited == 0).then_some(count), (unlimited < 2).then_some(size)];
    let builder = file.new_dataset("x").of::<f64>().shape(&[0, size]).max_shape(&maximum);
    let dataset = builder.chunks(&[1, size]).create()?;
    let mut values = vec![0.0; usize::try_from(size)?];
    for number in 0..count {
        values.iter_mut().zip(number..).for_each(|(value, at)| *value = at as f64);
        dataset.append(0, &values)?;
        if flushed {
            file.flush()?;
        }
    }
    Ok(())
}

/// Inserts stored chunks into a dataset, `step` chunks at a time. The dataset has its final
/// dimensions.
fn insert(file: &File, numbers: &[u64]) -> Result<()> {
    let &[count, size, unlimited, step] = numbers else { bail!("expected four numbers") };
    let maximum = [(unlimited == 0).then_some(count), (unlimited < 2).then_some(size)];
    let builder = file.new_dataset("x").of::<f64>().shape(&[count, size]).max_shape(&maximum);
    let dataset = builder.chunks(&[1, size]).create()?;
    let chunk = vec![7; usize::try_from(size * 8)?];
    (0..count).try_for_each(|number| Ok(dataset.chunks().write(&[number * step % count, 0], &chunk, 0)?))
}
