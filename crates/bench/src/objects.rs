//! The benchmark of many small objects. It visits each link of a group, opens each dataset by name,
//! reads the whole dataset, and reads each attribute.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Attribute, Dataset, Datatype, File, H5Type, IxDyn};

use crate::libhdf5::{self, Libhdf5, Reading, Totals};
use crate::table::{self, Row};

const COUNT: u64 = 10_000;
const ROUNDS: u64 = 15;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let number =
        |position: usize, otherwise: u64| args.get(position).map_or(Ok(otherwise), |arg| arg.parse());
    let (count, rounds) = (number(0, COUNT)?, number(1, ROUNDS)?);
    let library = Libhdf5::find()?;
    println!("{count} datasets with two attributes each; libhdf5 {}; {rounds} rounds\n", library.version);
    let mut rows = Vec::new();
    for bound in ["default", "latest"] {
        let input = make(&library, bound, count)?;
        rows.push(compare(&library, bound, &input, rounds)?);
    }
    table::print(&rows);
    Ok(())
}

fn make(library: &Libhdf5, bound: &str, count: u64) -> Result<PathBuf> {
    let path = libhdf5::folder()?.join(format!("objects_{bound}_{count}.h5"));
    if !path.exists() {
        let name = path.to_str().context("the path is not UTF-8")?;
        library.script(include_str!("../make_objects.py"), &[bound, &count.to_string(), name])?;
    }
    Ok(path)
}

/// Times both implementations in turn, after a first run of each that is not counted.
fn compare(library: &Libhdf5, bound: &str, input: &Path, rounds: u64) -> Result<Row> {
    let mut reader = library.start("read_objects", input)?;
    let expected = reader.read()?.totals;
    let mut row = Row { input: format!("{bound} format"), ..Row::default() };
    read(input)?;
    for _ in 0..rounds {
        let (theirs, ours) = (reader.read()?, read(input)?);
        for (side, got) in [("libhdf5", theirs), ("hyperslab", ours)] {
            ensure!(got.totals == expected, "{side} read {:?} instead of {expected:?}", got.totals);
        }
        row.theirs.push(theirs.seconds);
        row.ours.push(ours.seconds);
    }
    reader.finish()?;
    Ok(row)
}

/// Reads the file once, as the C program does.
fn read(path: &Path) -> Result<Reading> {
    let start = Instant::now();
    let mut totals = Totals::default();
    let file = File::open(path)?;
    for link in file.links()? {
        let name = std::str::from_utf8(&link.name)?;
        let dataset = file.dataset(name)?;
        read_dataset(&dataset, &mut totals)?;
        for attribute in dataset.attributes()? {
            read_attribute(&attribute, &mut totals)?;
        }
    }
    drop(file);
    Ok(Reading { seconds: start.elapsed().as_secs_f64(), totals })
}

fn read_dataset(dataset: &Dataset, totals: &mut Totals) -> Result<()> {
    match Native::of(dataset.datatype())? {
        Native::F64 => count(&dataset.read_raw::<f64>(..)?, f64::to_ne_bytes, totals),
        Native::I32 => count(&dataset.read_raw::<i32>(..)?, i32::to_ne_bytes, totals),
    }
    totals.datasets += 1;
    Ok(())
}

fn read_attribute(attribute: &Attribute, totals: &mut Totals) -> Result<()> {
    match Native::of(&attribute.datatype()?)? {
        Native::F64 => count(&attribute.read::<f64, IxDyn>()?, f64::to_ne_bytes, totals),
        Native::I32 => count(&attribute.read::<i32, IxDyn>()?, i32::to_ne_bytes, totals),
    }
    totals.attributes += 1;
    Ok(())
}

/// Adds the bytes of the values in memory to the totals.
fn count<'a, T: H5Type + 'a, const N: usize>(
    values: impl IntoIterator<Item = &'a T>,
    bytes: impl Fn(T) -> [u8; N],
    totals: &mut Totals,
) {
    for value in values {
        totals.add(&bytes(*value));
    }
}

/// The native type for reading a stored type.
enum Native {
    F64,
    I32,
}

impl Native {
    fn of(datatype: &Datatype) -> Result<Self> {
        match (&datatype.class, datatype.size) {
            (DatatypeClass::FloatingPoint(_), 8) => Ok(Self::F64),
            (DatatypeClass::FixedPoint(_), 4) => Ok(Self::I32),
            _ => bail!("no native type for {datatype}"),
        }
    }
}
