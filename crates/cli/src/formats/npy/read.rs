//! The reader of npy files, which writes their elements to a dataset.

use std::fs;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::ByteOrder;
use hyperslab::{Dataset, DatasetBuilder, Datatype, File, Selection};
use hyperslab_exact::{product, sum, to_usize};

use super::descr::ReadDescr;
use super::header::{Header, little, number};
use super::time::UNITS;
use crate::formats::storage::Storage;
use crate::typed::stored_text;

/// The number of bytes of elements that the program reads at once from an npy file.
const READ_BYTES: u64 = 16 << 20;

/// An open npy file with its decoded header.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    descr: ReadDescr,
    shape: Vec<u64>,
    fortran: bool,
    start: u64,
    bytes: u64,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file = BufReader::new(fs::File::open(path)?);
        let header = Header::read(&mut file)?;
        let bytes = header.bytes()?;
        let expected = sum("size of the file", [header.length, bytes])?;
        let length = fs::metadata(path)?.len();
        if length < expected {
            bail!("the npy file ends {} bytes before the end of its elements", expected - length);
        }
        let Header { descr, shape, fortran, length } = header;
        Ok(Self { path: path.to_owned(), descr, shape, fortran, start: length, bytes })
    }

    /// Copies all elements of the npy file to a new dataset.
    pub(crate) fn write(&self, file: &File, new: DatasetBuilder, storage: &Storage<'_>) -> Result<()> {
        let datatype = match &self.descr {
            ReadDescr::Stored(datatype) => datatype.clone(),
            ReadDescr::Text(..) => {
                self.check_texts()?;
                stored_text(file)
            }
            ReadDescr::Time(order, _) => Datatype::i64(*order),
        };
        let builder = new.datatype(datatype).shape(&self.shape);
        let dataset = storage.apply(builder, self.shape.len())?.create()?;
        if let ReadDescr::Time(_, units) = &self.descr {
            dataset.set_attribute(UNITS, units.as_str())?;
        }
        if self.fortran {
            let elements = self.in_c_order()?;
            return self.put(&dataset, &Selection::All, &elements);
        }
        let size = u64::from(self.descr.size());
        let mut input = self.elements()?;
        for region in dataset.blocks(READ_BYTES) {
            let count = region.element_count()?;
            let mut bytes = vec![0; to_usize(product("size of a region", [count, size])?)?];
            self.read_region(&mut input, &region, &mut bytes)?;
            let whole = self.shape.is_empty();
            let selection = if whole { Selection::All } else { Selection::region(&region) };
            self.put(&dataset, &selection, &bytes)?;
        }
        Ok(())
    }

    fn elements(&self) -> Result<BufReader<fs::File>> {
        let mut file = fs::File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(BufReader::with_capacity(1 << 20, file))
    }

    /// Reads the elements of a region of the npy file, in C order.
    fn read_region(
        &self,
        input: &mut BufReader<fs::File>,
        region: &hyperslab::Region,
        bytes: &mut [u8],
    ) -> Result<()> {
        let size = u64::from(self.descr.size());
        if self.shape.is_empty() {
            return Ok(input.read_exact(bytes)?);
        }
        let selection = Selection::region(region);
        let mut rest = bytes;
        for run in selection.linear_runs(&self.shape)? {
            let length = to_usize(product("length of a run", [run.length, size])?)?;
            let (piece, after) = std::mem::take(&mut rest)
                .split_at_mut_checked(length)
                .context("the selected elements exceed the npy array")?;
            let offset = product("offset of a run", [run.offset, size])?;
            let at = i64::try_from(sum("offset of a run", [self.start, offset])?)?;
            // Both offsets are not negative.
            let now = i64::try_from(input.stream_position()?)?;
            input.seek_relative(at - now)?;
            input.read_exact(piece)?;
            rest = after;
        }
        if !rest.is_empty() {
            bail!("{} bytes of the requested elements are missing", rest.len());
        }
        Ok(())
    }

    fn put(&self, dataset: &Dataset, selection: &Selection, bytes: &[u8]) -> Result<()> {
        let ReadDescr::Text(_, order) = &self.descr else {
            return Ok(dataset.write_stored(selection, bytes)?);
        };
        let texts = bytes.chunks_exact(self.element_size()?.max(1)).map(|element| text(element, *order));
        Ok(dataset.write_strings(selection, &texts.collect::<Result<Vec<String>>>()?)?)
    }

    /// Returns the size in bytes of an npy element in memory.
    fn element_size(&self) -> Result<usize> {
        Ok(to_usize(self.descr.size().into())?)
    }

    /// Checks that all text elements of the npy file are valid. The check precedes the creation of
    /// the dataset.
    fn check_texts(&self) -> Result<()> {
        let ReadDescr::Text(_, order) = &self.descr else { return Ok(()) };
        let mut input = self.elements()?;
        let mut element = vec![0; self.element_size()?];
        for _ in 0..self.bytes / u64::from(self.descr.size()).max(1) {
            input.read_exact(&mut element)?;
            text(&element, *order)?;
        }
        Ok(())
    }

    /// Reads all elements of an npy file in Fortran order. Returns the elements in C order.
    fn in_c_order(&self) -> Result<Vec<u8>> {
        let size = self.element_size()?;
        let mut bytes = vec![0; to_usize(self.bytes)?];
        self.elements()?.read_exact(&mut bytes)?;
        let mut elements = vec![0; bytes.len()];
        let mut at = vec![0_u64; self.shape.len()];
        for to in elements.chunks_exact_mut(size.max(1)) {
            // No overflow: `bytes` has all elements, and this is the number of one of them.
            let number = at.iter().zip(&self.shape).rev().fold(0, |number, (at, size)| number * size + at);
            let start = to_usize(number)? * size;
            let from = bytes.get(start..start + size).context("an element of the npy array is missing")?;
            to.copy_from_slice(from);
            for (at, size) in at.iter_mut().zip(&self.shape).rev() {
                *at += 1;
                if *at < *size {
                    break;
                }
                *at = 0;
            }
        }
        Ok(elements)
    }
}

/// Decodes a string of UCS-4 characters of an npy file, without trailing zeros.
fn text(element: &[u8], order: ByteOrder) -> Result<String> {
    let mut text = String::new();
    let (units, _) = element.as_chunks::<4>();
    for unit in units {
        let number = match order {
            ByteOrder::LittleEndian => little(unit),
            ByteOrder::BigEndian => number(unit.iter()),
        };
        text.push(char::from_u32(number).with_context(|| format!("Unicode has no character {number:#x}"))?);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}
