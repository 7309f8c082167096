//! Cases that write files: arrays, hyperslabs, records, objects, attributes, links, appends,
//! chunks, strings.

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail};
use rust_hdf5::{
    ByteOrder, CompoundType, DatatypeMessage, FilterPipeline, H5Dataset, H5File, H5Type, LibverBound,
};

use crate::clock::{Clock, Cost};

/// Data to write, made before the clock starts.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    f32: Vec<f32>,
    i32: Vec<i32>,
    texts: Vec<String>,
    records: Vec<u8>,
    packed: Vec<u8>,
}

impl Inputs {
    fn prepare(&mut self, kind: &str, words: &[&str], numbers: &[usize]) -> Result<()> {
        let number = |at: usize| numbers.get(at).copied().context("too few numbers");
        match kind {
            "arrays" if words.first() == Some(&"f32") => self.make_f32(number(0)? * number(1)?),
            "arrays" => self.make_i32(number(0)? * number(1)?),
            "slabs" => self.make_f32(number(4)? * number(5)? / number(6)?),
            "strings" if self.texts.len() != number(0)? => {
                let count = number(0)?;
                self.texts = (0..count).map(|at| format!("string number {}", at * 7919 % count)).collect();
            }
            "packed" if self.packed.len() != number(0)? * 14 => {
                self.make_records(number(0)?);
                self.packed = packed(&self.records);
            }
            "records" if self.records.len() != number(0)? * 24 => self.make_records(number(0)?),
            _ => {}
        }
        Ok(())
    }

    fn make_f32(&mut self, count: usize) {
        if self.f32.len() != count {
            let noise = |at: u64| (at.wrapping_mul(2_654_435_761) >> 7) % 16;
            self.f32 = (0..count as u64).map(|at| (at % 1000) as f32 * 0.25 + noise(at) as f32).collect();
        }
    }

    fn make_i32(&mut self, count: usize) {
        if self.i32.len() != count {
            let noise = |at: u64| (at.wrapping_mul(2_654_435_761) >> 9) % 64;
            self.i32 = (0..count as u64).map(|at| ((at / 7 + noise(at)) % 4096) as i32).collect();
        }
    }

    /// Fills records with the member offsets of the C program's compiler.
    fn make_records(&mut self, count: usize) {
        self.records = Vec::with_capacity(count * 24);
        for at in 0..count {
            self.records.extend((at as u32).to_le_bytes());
            self.records.extend([0; 4]);
            self.records.extend((at as f64 * 0.5).to_le_bytes());
            self.records.extend(((at % 100) as u16).to_le_bytes());
            self.records.extend([0; 6]);
        }
    }
}

pub(crate) fn write(kind: &str, path: &str, words: &[&str], inputs: &mut Inputs) -> Result<(Cost, u64)> {
    let [low, words @ ..] = words else { bail!("no bound") };
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    inputs.prepare(kind, words, &numbers)?;
    let texts: Vec<&str> = inputs.texts.iter().map(String::as_str).collect();
    let low = match *low {
        "0" => LibverBound::Earliest,
        "1" => LibverBound::V18,
        _ => LibverBound::V110,
    };
    if std::fs::exists(path)? {
        std::fs::remove_file(path)?;
    }
    let start = Clock::start();
    let file = H5File::options().libver(low).create(path)?;
    match kind {
        "arrays" => array(&file, words, &numbers, inputs)?,
        "slabs" => slabs(&file, &numbers, &inputs.f32)?,
        "records" => records(&file, numbers.first(), || packed(&inputs.records).into())?,
        "packed" => records(&file, numbers.first(), || inputs.packed.as_slice().into())?,
        "objects" => objects(&file, &numbers)?,
        "attributes" => attributes(&file, &numbers)?,
        "links" => links(&file, &numbers)?,
        "append" => append(&file, &numbers)?,
        "insert" => insert(&file, &numbers)?,
        "strings" => drop(file.write_vlen_strings("x", &texts)?),
        other => bail!("`{other}` is not done"),
    }
    // libhdf5 does not sync the file either.
    file.close_no_sync()?;
    let took = start.took();
    Ok((took, std::fs::metadata(path)?.len()))
}

/// Prepares the dataset `x` with the given dimensions, and with chunks if `chunk` is not empty.
fn make<T: H5Type>(file: &H5File, dims: &[usize], chunk: &[usize]) -> rust_hdf5::dataset::DatasetBuilder<T> {
    let builder = file.new_dataset::<T>().shape(dims);
    if chunk.contains(&0) { builder } else { builder.chunk(chunk) }
}

fn array(file: &H5File, words: &[&str], numbers: &[usize], inputs: &Inputs) -> Result<()> {
    let (&[rows, columns, chunk_rows, chunk_columns], [kind, filter, ..]) = (numbers, words) else {
        bail!("not four numbers")
    };
    let (dims, chunk) = ([rows, columns], [chunk_rows, chunk_columns]);
    if *kind == "f32" {
        let builder = make::<f32>(file, &dims, &chunk);
        let builder = match *filter {
            "none" => builder,
            "gzip" => builder.deflate(4),
            "shuffle_gzip" => builder.shuffle_deflate(4),
            "f32be" => builder.datatype(big_endian()),
            other => bail!("rust-hdf5 does not convert elements to {other} when it writes them"),
        };
        return Ok(builder.create("x")?.write_raw(&inputs.f32)?);
    }
    let builder = make::<i32>(file, &dims, &chunk);
    let builder = if *filter == "nbit" {
        let mut datatype = DatatypeMessage::i32_type();
        if let DatatypeMessage::FixedPoint { bit_precision, .. } = &mut datatype {
            *bit_precision = 12;
        }
        builder
            .filter_pipeline(FilterPipeline::nbit(&datatype, chunk_rows * chunk_columns))
            .datatype(datatype)
    } else {
        builder
    };
    Ok(builder.create("x")?.write_raw(&inputs.i32)?)
}

fn big_endian() -> DatatypeMessage {
    let mut datatype = DatatypeMessage::f32_type();
    if let DatatypeMessage::FloatingPoint { byte_order, .. } = &mut datatype {
        *byte_order = ByteOrder::BigEndian;
    }
    datatype
}

fn slabs(file: &H5File, numbers: &[usize], values: &[f32]) -> Result<()> {
    let &[rows, columns, chunk_rows, chunk_columns, slab_rows, slab_columns, stride] = numbers else {
        bail!("not seven numbers")
    };
    if stride != 1 {
        bail!("rust-hdf5 does not write strided selections");
    }
    let dataset = make::<f32>(file, &[rows, columns], &[chunk_rows, chunk_columns]).create("x")?;
    for row in (0..rows).step_by(slab_rows) {
        for column in (0..columns).step_by(slab_columns) {
            dataset.write_slice(&[row, column], &[slab_rows, slab_columns], values)?;
        }
    }
    Ok(())
}

/// Packs the members of records without padding, which the crate requires of its caller.
fn packed(records: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(records.len() / 24 * 14);
    for record in records.as_chunks::<24>().0 {
        packed.extend_from_slice(&record[..4]);
        packed.extend_from_slice(&record[8..18]);
    }
    packed
}

fn records<'a>(file: &H5File, count: Option<&usize>, packed: impl Fn() -> Cow<'a, [u8]>) -> Result<()> {
    let members = vec![
        ("number".to_owned(), i32::hdf5_type(), 0),
        ("value".to_owned(), f64::hdf5_type(), 4),
        ("kind".to_owned(), i16::hdf5_type(), 12),
    ];
    let compound = CompoundType { members, total_size: 14 };
    let count = *count.context("no count")?;
    let dataset = file.new_dataset::<u8>().datatype(compound.to_datatype()).shape([count]).create("x")?;
    Ok(dataset.write_raw_bytes(&packed())?)
}

fn objects(file: &H5File, numbers: &[usize]) -> Result<()> {
    for number in 0..*numbers.first().context("no count")? {
        let values: Vec<f64> = (0..12).map(|k| number as f64 + f64::from(k)).collect();
        let dataset = file.new_dataset::<f64>().shape([3, 4]).create(&format!("dataset_{number:05}"))?;
        dataset.write_raw(&values)?;
        dataset.new_attr::<f64>().shape(()).create("scale")?.write_numeric(&0.5)?;
        dataset.new_attr::<i32>().shape(()).create("number")?.write_numeric(&(number as i32))?;
    }
    Ok(())
}

fn attributes(file: &H5File, numbers: &[usize]) -> Result<()> {
    let group = file.create_group("g")?;
    for number in 0..*numbers.first().context("no count")? {
        group.set_attr_numeric(&format!("attr_{number:05}"), &(number as f64))?;
    }
    Ok(())
}

fn links(file: &H5File, numbers: &[usize]) -> Result<()> {
    let count = *numbers.first().context("no count")?;
    file.create_group("t")?;
    let group = file.create_group("g")?;
    for number in 0..count {
        group.link(&format!("link_{:06}", number * 7919 % count), "/t")?;
    }
    Ok(())
}

/// Creates the dataset `x` with chunks of one row, and with 0, 1 or 2 unlimited dimensions.
fn rows(file: &H5File, now: usize, numbers: &[usize]) -> Result<H5Dataset> {
    let &[count, size, unlimited, ..] = numbers else { bail!("not three numbers") };
    let most = [(unlimited == 0).then_some(count), (unlimited < 2).then_some(size)];
    let builder = file.new_dataset::<f64>().shape([now, size]).chunk(&[1, size]).max_shape(&most);
    Ok(builder.create("x")?)
}

fn append(file: &H5File, numbers: &[usize]) -> Result<()> {
    let &[count, size, ..] = numbers else { bail!("not two numbers") };
    let dataset = rows(file, 0, numbers)?;
    let mut values = vec![0.0; size];
    for number in 0..count {
        values.iter_mut().zip(number..).for_each(|(value, at)| *value = at as f64);
        dataset.append(&values)?;
    }
    Ok(())
}

fn insert(file: &H5File, numbers: &[usize]) -> Result<()> {
    let &[count, size, unlimited, step] = numbers else { bail!("not four numbers") };
    let dataset = rows(file, count, numbers)?;
    let chunk = vec![7; size * 8];
    for number in 0..count {
        let row = number * step % count;
        if unlimited == 2 {
            dataset.write_chunk_at(&[row, 0], &chunk)?;
        } else {
            dataset.write_chunk(row, &chunk)?;
        }
    }
    Ok(())
}
