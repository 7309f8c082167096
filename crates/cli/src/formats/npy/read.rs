//! The reader of npy files: their elements become a dataset.

use std::fs;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::ByteOrder;
use hyperslab::{Dataset, File, Selection};

use super::descr::ReadDescr;
use super::header::{Header, little, number};
use crate::formats::storage::Storage;
use crate::typed::stored_text;

/// The size of the elements that are read at once, in bytes.
const AT_ONCE: u64 = 16 << 20;

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
        let there = fs::metadata(path)?.len().saturating_sub(header.length);
        if bytes > there {
            bail!("{} bytes of elements are missing", bytes.saturating_sub(there));
        }
        let Header { descr, shape, fortran, length } = header;
        Ok(Self { path: path.to_owned(), descr, shape, fortran, start: length, bytes })
    }

    pub(crate) fn write(&self, file: &File, path: &str, storage: &Storage<'_>) -> Result<()> {
        let datatype = match &self.descr {
            ReadDescr::Stored(datatype) => datatype.clone(),
            ReadDescr::Text(..) => {
                self.check_texts()?;
                stored_text(file)
            }
        };
        let builder = file.new_dataset(path).datatype(datatype).shape(&self.shape);
        let dataset = storage.apply(builder, self.shape.len())?.create()?;
        if self.fortran {
            let turned = self.turned()?;
            return self.put(&dataset, &Selection::All, &turned);
        }
        let size = self.descr.size() as u64;
        let mut input = self.elements()?;
        for region in dataset.blocks(AT_ONCE) {
            let count = region.element_count()?;
            let mut bytes = vec![0; usize::try_from(count.saturating_mul(size))?];
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

    /// Reads the elements of a region, in C order.
    fn read_region(
        &self,
        input: &mut BufReader<fs::File>,
        region: &hyperslab::Region,
        bytes: &mut [u8],
    ) -> Result<()> {
        let size = self.descr.size() as u64;
        if self.shape.is_empty() {
            return Ok(input.read_exact(bytes)?);
        }
        let selection = Selection::region(region);
        let mut rest = bytes;
        for run in selection.linear_runs(&self.shape)? {
            let length = usize::try_from(run.length.saturating_mul(size))?.min(rest.len());
            let (piece, behind) = std::mem::take(&mut rest).split_at_mut(length);
            let at = self.start.saturating_add(run.offset.saturating_mul(size));
            let now = input.stream_position()?;
            input.seek_relative(i64::try_from(at)?.saturating_sub(i64::try_from(now)?))?;
            input.read_exact(piece)?;
            rest = behind;
        }
        Ok(())
    }

    fn put(&self, dataset: &Dataset, selection: &Selection, bytes: &[u8]) -> Result<()> {
        let ReadDescr::Text(_, order) = &self.descr else {
            return Ok(dataset.write_stored(selection, bytes)?);
        };
        let texts = bytes.chunks_exact(self.descr.size().max(1)).map(|element| text(element, *order));
        Ok(dataset.write_strings(selection, &texts.collect::<Result<Vec<String>>>()?)?)
    }

    /// Fails if an element is not valid text. Called before anything is written.
    fn check_texts(&self) -> Result<()> {
        let ReadDescr::Text(_, order) = &self.descr else { return Ok(()) };
        let mut input = self.elements()?;
        let mut element = vec![0; self.descr.size()];
        for _ in 0..self.bytes / (element.len() as u64).max(1) {
            input.read_exact(&mut element)?;
            text(&element, *order)?;
        }
        Ok(())
    }

    /// Reads all elements of a file in Fortran order and returns them in C order.
    fn turned(&self) -> Result<Vec<u8>> {
        let size = self.descr.size();
        let mut bytes = vec![0; usize::try_from(self.bytes)?];
        self.elements()?.read_exact(&mut bytes)?;
        let mut turned = vec![0; bytes.len()];
        let mut at = vec![0_u64; self.shape.len()];
        for to in turned.chunks_exact_mut(size.max(1)) {
            let place = at
                .iter()
                .zip(&self.shape)
                .rev()
                .fold(0_u64, |place, (at, size)| place.saturating_mul(*size).saturating_add(*at));
            let start = usize::try_from(place)?.saturating_mul(size);
            let from = bytes.get(start..start.saturating_add(size)).context("an element is missing")?;
            to.copy_from_slice(from);
            for (at, size) in at.iter_mut().zip(&self.shape).rev() {
                *at = at.saturating_add(1);
                if *at < *size {
                    break;
                }
                *at = 0;
            }
        }
        Ok(turned)
    }
}

/// Decodes a string of UCS-4 characters, without trailing zeros.
fn text(element: &[u8], order: ByteOrder) -> Result<String> {
    let mut text = String::new();
    let (units, _) = element.as_chunks::<4>();
    for unit in units {
        let number = match order {
            ByteOrder::LittleEndian => little(unit),
            ByteOrder::BigEndian => number(unit.iter()),
        };
        text.push(char::from_u32(number).context("a character that Unicode does not have")?);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}
