//! Cases of objects, attributes, links and chunk indexes. Like the C program, they list all objects
//! and open many objects by name.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, bail};
use hyperslab::{Datatype, DatatypeClass, File, H5Type, IxDyn};

use crate::arrays::next;
use crate::clock::{Clock, Cost};

/// Reads the file once. Returns the cost and the same sum as the C program.
pub(crate) fn read(path: &Path, description: &str) -> Result<(Cost, u64)> {
    let words: Vec<&str> = description.split_whitespace().collect();
    let numbers: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let start = Clock::start();
    let file = File::open(path)?;
    let sum = match (words.first().copied().unwrap_or_default(), numbers.as_slice()) {
        ("list", _) => list(&file)?,
        ("objects", _) => objects(&file)?,
        // The path of the root group is a slash alone.
        ("visit", _) => file.walk().fold(0, |sum, one| add(sum, one.path.get(1..).unwrap_or_default())),
        ("attributes", _) => {
            let mut sum = 0;
            for attribute in file.group("g")?.attributes()? {
                sum = value(&attribute, add(sum, attribute.name_bytes()))?;
            }
            sum
        }
        ("links", _) => {
            let mut sum = 0;
            file.group("g")?.visit_links(|link| {
                sum = add(sum, link.name());
                ControlFlow::Continue(())
            })?;
            sum
        }
        ("lookup", &[count, of, seed]) => lookup(&file, count, of, seed)?,
        ("sizes", &[count, seed]) => chunks(&file, count, seed, false)?,
        ("chunks", &[count, seed]) => chunks(&file, count, seed, true)?,
        ("walk", _) => walk(&file)?,
        (other, _) => bail!("unknown operation `{other}`"),
    };
    drop(file);
    Ok((start.took(), sum))
}

fn add(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)))
}

fn list(file: &File) -> Result<u64> {
    let mut sum = 0_u64;
    for link in file.links()? {
        let dataset = file.dataset(std::str::from_utf8(&link.name)?)?;
        let dims = dataset.dataspace().dims().iter().fold(0_u64, |sum, dim| sum.wrapping_add(*dim));
        sum = add(sum, &link.name).wrapping_add(dims).wrapping_add(u64::from(dataset.datatype().size));
        for name in dataset.attribute_names()? {
            sum = add(sum, name.as_bytes());
        }
    }
    Ok(sum)
}

fn objects(file: &File) -> Result<u64> {
    let mut sum = 0;
    for link in file.links()? {
        let dataset = file.dataset(std::str::from_utf8(&link.name)?)?;
        sum = add(sum, &f64::to_bytes(&dataset.read_raw::<f64>(..)?));
        for attribute in dataset.attributes()? {
            sum = value(&attribute, sum)?;
        }
    }
    Ok(sum)
}

/// Adds the bytes of an attribute's value in memory to the sum.
fn value(attribute: &hyperslab::Attribute, sum: u64) -> Result<u64> {
    let Datatype { class, size } = attribute.datatype()?;
    Ok(match (class, size) {
        (DatatypeClass::FloatingPoint(_), 8) => {
            attribute.read::<f64, IxDyn>()?.iter().fold(sum, |sum, value| add(sum, &f64::to_bytes(&[*value])))
        }
        (DatatypeClass::FixedPoint(_), 4) => {
            attribute.read::<i32, IxDyn>()?.iter().fold(sum, |sum, value| add(sum, &i32::to_bytes(&[*value])))
        }
        (class, size) => bail!("no native type for {class:?} of {size} bytes"),
    })
}

fn lookup(file: &File, count: u64, of: u64, seed: u64) -> Result<u64> {
    let group = file.group("g")?;
    let mut state = seed;
    for _ in 0..count {
        let number = next(&mut state).checked_rem(of).unwrap_or(0);
        group.group(&format!("link_{number:06}"))?;
    }
    Ok(count)
}

fn chunks(file: &File, count: u64, seed: u64, whole: bool) -> Result<u64> {
    let dataset = file.dataset("x")?;
    let rows = dataset.dataspace().dims().first().copied().unwrap_or(0);
    let (mut state, mut sum) = (seed, 0_u64);
    for _ in 0..count {
        let row = next(&mut state).checked_rem(rows).unwrap_or(0);
        let size = if whole {
            let chunk = dataset.chunks().read(&[row, 0])?;
            sum = chunk.as_ref().map_or(sum, |chunk| add(sum, &chunk.bytes));
            chunk.map(|chunk| chunk.info.size)
        } else {
            dataset.chunks().at(&[row, 0])?.map(|chunk| chunk.size)
        };
        sum = sum.wrapping_add(size.unwrap_or(0));
    }
    Ok(sum)
}

fn walk(file: &File) -> Result<u64> {
    let mut sum = 0_u64;
    file.dataset("x")?.chunks().visit(|chunk| {
        let row = chunk.offset.first().copied().unwrap_or(0);
        sum = sum.wrapping_add(row).wrapping_add(chunk.address).wrapping_add(chunk.size);
        ControlFlow::Continue(())
    })?;
    Ok(sum)
}
