//! The reader of npz files with a sparse matrix: finds the arrays of the matrix and interprets
//! them.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::{product, to_u64};

use super::archive::Archive;
use super::array::Array;
use crate::entries::{Column, Compressed, Compression, Coordinates, Element, Indices, Source};
use crate::formats::npy::descr::ReadDescr;

/// The largest size of the arrays `format` and `shape` of an npz matrix, in bytes.
const MAX_TEXT_BYTES: u64 = 1 << 10;

/// Opens the matrix in an npz archive that SciPy's `save_npz` has made.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Source>> {
    let archive = Archive::open(path)?;
    if !archive.has("format") {
        bail!("the npz archive is not a sparse matrix: it has no array `format`");
    }
    let format = format(Array::open(&archive, "format")?)?;
    let shape = shape(Array::open(&archive, "shape")?)?;
    let data = Array::open(&archive, "data")?;
    let element = Element::of(data.datatype()?).context("`data`")?;
    match format.as_str() {
        "csr" => compressed(&archive, &shape, (element, data), Compression::Rows),
        "csc" => compressed(&archive, &shape, (element, data), Compression::Columns),
        "bsr" => {
            let [_, height, width] = data.shape.as_slice() else {
                bail!("`data` of a matrix of blocks must have three dimensions")
            };
            let compression = Compression::Blocks(*height, *width);
            compressed(&archive, &shape, (element, data), compression)
        }
        "coo" => coordinates(&archive, shape, (element, data)),
        "dia" => {
            bail!("matrices of diagonals are not supported; convert the matrix with `.tocsr()` of SciPy")
        }
        other => bail!("the matrix format `{other}` is unknown; known formats are csr, csc, bsr and coo"),
    }
}

fn format(array: Array) -> Result<String> {
    let text = matches!(array.descr, ReadDescr::Text(..));
    let bytes = array.bytes(MAX_TEXT_BYTES)?;
    // UCS-4 characters of ASCII text have three zero bytes each.
    let letters: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0 || !text).collect();
    let letters = String::from_utf8(letters).context("the array `format` of the npz archive is not text")?;
    Ok(letters.trim_end_matches('\0').to_owned())
}

fn shape(array: Array) -> Result<Vec<u64>> {
    let [rank @ 1..=32] = *array.shape.as_slice() else {
        bail!("the array `shape` of the npz archive is not a list of sizes")
    };
    let mut column = indices("shape", array, None)?;
    let mut shape = Vec::new();
    column.next(usize::try_from(rank)?, u64::MAX, &mut shape)?;
    Ok(shape)
}

fn indices(name: &'static str, array: Array, part: Option<(u64, u64)>) -> Result<Indices> {
    Indices::check_type(name, array.datatype()?)?;
    Ok(Indices::new(name, Box::new(array.column(&Indices::datatype(), part)?)))
}

/// Opens a one-dimensional array of matrix indices in an npz archive.
fn line(archive: &Archive, name: &'static str) -> Result<Indices> {
    let array = Array::open(archive, name)?;
    if array.shape.len() != 1 {
        bail!("the array `{name}` has {} dimensions instead of one", array.shape.len());
    }
    indices(name, array, None)
}

fn compressed(
    archive: &Archive,
    shape: &[u64],
    (element, data): (Element, Array),
    compression: Compression,
) -> Result<Box<dyn Source>> {
    let [rows, columns] = *shape else {
        bail!("a matrix in compressed rows or columns must have two dimensions, not {}", shape.len())
    };
    let blocks = matches!(compression, Compression::Blocks(..));
    if !blocks && data.shape.len() != 1 {
        bail!("the array `data` has {} dimensions instead of one", data.shape.len());
    }
    let (pointers, indices) = (line(archive, "indptr")?, line(archive, "indices")?);
    let data: Box<dyn Column> = Box::new(data.column(&element.datatype(), None)?);
    Ok(Box::new(Compressed::new([rows, columns], element, compression, (pointers, indices, data))?))
}

fn coordinates(
    archive: &Archive,
    shape: Vec<u64>,
    (element, data): (Element, Array),
) -> Result<Box<dyn Source>> {
    let columns = if archive.has("coords") {
        let mut columns = Vec::new();
        for dimension in 0..to_u64(shape.len()) {
            let array = Array::open(archive, "coords")?;
            let [rank, count] = *array.shape.as_slice() else {
                bail!("the array `coords` must have two dimensions")
            };
            if rank != to_u64(shape.len()) {
                bail!("the array `coords` has {rank} rows, but the matrix has {} dimensions", shape.len());
            }
            let start = product("number of coordinates", [dimension, count])?;
            columns.push(indices("coords", array, Some((start, count)))?);
        }
        columns
    } else if shape.len() == 2 {
        vec![line(archive, "row")?, line(archive, "col")?]
    } else {
        bail!("the npz archive has no array `coords`")
    };
    let data: Box<dyn Column> = Box::new(data.column(&element.datatype(), None)?);
    Ok(Box::new(Coordinates::new(shape, element, columns, data)?))
}
