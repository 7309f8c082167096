//! Cases of objects, attributes and links: listing all, and opening many by name.

use anyhow::{Result, bail};
use rust_hdf5::H5File;

use crate::clock::{Clock, Cost};
use crate::read::below;

pub(crate) fn read(kind: &str, path: &str, words: &[&str]) -> Result<(Cost, u64)> {
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let start = Clock::start();
    let file = H5File::open(path)?;
    let sum = match kind {
        "list" => list(&file)?,
        "objects" => objects(&file)?,
        "visit" => bail!("rust-hdf5 has no function that visits the objects of a file"),
        "links" => links(&file)?,
        "lookup" => lookup(&file, &numbers)?,
        "chunks" => chunks(&file, &numbers)?,
        "attributes" => bail!("rust-hdf5 does not read numeric attributes of groups"),
        "sizes" | "walk" => bail!("rust-hdf5 does not return the addresses of chunks"),
        other => bail!("unknown operation `{other}`"),
    };
    drop(file);
    Ok((start.took(), sum))
}

fn add(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)))
}

fn list(file: &H5File) -> Result<u64> {
    let mut sum = 0;
    for name in file.root_group().link_names()? {
        let dataset = file.dataset(&name)?;
        let dims: u64 = dataset.shape().iter().map(|dim| *dim as u64).sum();
        sum = add(sum, name.as_bytes()) + dims + dataset.element_size() as u64;
        for attribute in dataset.attr_names()? {
            sum = add(sum, attribute.as_bytes());
        }
    }
    Ok(sum)
}

fn objects(file: &H5File) -> Result<u64> {
    let mut sum = 0;
    for name in file.root_group().link_names()? {
        let dataset = file.dataset(&name)?;
        for value in dataset.read_raw::<f64>()? {
            sum = add(sum, &value.to_ne_bytes());
        }
        for attribute in dataset.attr_names()? {
            sum = add(sum, &dataset.attr(&attribute)?.read_raw()?);
        }
    }
    Ok(sum)
}

fn links(file: &H5File) -> Result<u64> {
    let names = file.root_group().group("g")?.link_names()?;
    Ok(names.iter().fold(0, |sum, name| add(sum, name.as_bytes())))
}

fn lookup(file: &H5File, numbers: &[usize]) -> Result<u64> {
    let &[count, of, seed] = numbers else { bail!("not three numbers") };
    let group = file.root_group().group("g")?;
    let mut state = seed as u64;
    for _ in 0..count {
        group.group(&format!("link_{:06}", below(&mut state, of)))?;
    }
    Ok(count as u64)
}

fn chunks(file: &H5File, numbers: &[usize]) -> Result<u64> {
    let &[count, seed] = numbers else { bail!("not two numbers") };
    let dataset = file.dataset("x")?;
    let rows = dataset.shape().first().copied().unwrap_or(1);
    let (mut state, mut sum) = (seed as u64, 0);
    for _ in 0..count {
        let (bytes, _) = dataset.read_chunk_raw_at(&[below(&mut state, rows), 0])?;
        sum = add(sum, &bytes) + bytes.len() as u64;
    }
    Ok(sum)
}
