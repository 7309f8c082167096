//! NumPy's npy format, versions 1 to 3.

use std::fs;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::ByteOrder;
use hyperslab::{Dataset, File, Selection};

use super::Storage;
use super::descr::Descr;
use super::python::Literal;
use crate::change::stored_text;

/// Bytes of elements that are in memory at once.
const AT_ONCE: u64 = 16 << 20;

/// The longest header.
const MOST_HEADER: u32 = 16 << 20;

/// What stands before the elements of an npy file.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) descr: Descr,
    pub(crate) shape: Vec<u64>,
    /// Elements along the first dimension lie side by side.
    pub(crate) fortran: bool,
    /// Bytes of the header, behind which the elements stand.
    pub(crate) length: u64,
}

impl Header {
    /// Takes the header from the start of a file.
    pub(crate) fn read(input: &mut impl Read) -> Result<Self> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic).context("too short for an npy file")?;
        let [b'\x93', b'N', b'U', b'M', b'P', b'Y', version, _] = magic else {
            bail!("no npy file: its first bytes are others");
        };
        let (length, prefix) = match version {
            1 => {
                let mut bytes = [0; 2];
                input.read_exact(&mut bytes)?;
                (little(&bytes), 10_u64)
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                input.read_exact(&mut bytes)?;
                (little(&bytes), 12)
            }
            other => bail!("version {other} of the npy format is not known"),
        };
        if length > MOST_HEADER {
            bail!("a header of {length} bytes");
        }
        let mut header = Vec::new();
        input.take(u64::from(length)).read_to_end(&mut header)?;
        if header.len() as u64 != u64::from(length) {
            bail!("the file ends in its header");
        }
        let text = if version == 3 {
            String::from_utf8(header)?
        } else {
            header.into_iter().map(char::from).collect()
        };
        Self::parse(&text, prefix.saturating_add(u64::from(length)))
    }

    fn parse(header: &str, length: u64) -> Result<Self> {
        let header = Literal::parse(header)?;
        let get = |key: &str| header.get(key).with_context(|| format!("the header has no `{key}`"));
        let descr = Descr::of(get("descr")?)?;
        let shape = get("shape")?.numbers().context("the shape is none")?;
        let fortran = *get("fortran_order")? == Literal::Truth(true) && shape.len() > 1;
        Ok(Self { descr, shape, fortran, length })
    }

    /// Bytes of all elements.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let bytes =
            self.shape.iter().try_fold(self.descr.size() as u64, |product, size| product.checked_mul(*size));
        bytes.context("more elements than there can be")
    }
}

/// An npy file whose header is read.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    descr: Descr,
    shape: Vec<u64>,
    fortran: bool,
    start: u64,
    bytes: u64,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self> {
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

    pub(super) fn write(&self, file: &File, path: &str, storage: &Storage<'_>) -> Result<()> {
        let datatype = match &self.descr {
            Descr::Stored(datatype) => datatype.clone(),
            Descr::Text(..) => {
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

    /// The elements of a box, in C order.
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
        let Descr::Text(_, order) = &self.descr else { return Ok(dataset.write_stored(selection, bytes)?) };
        let texts = bytes.chunks_exact(self.descr.size().max(1)).map(|element| text(element, *order));
        Ok(dataset.write_strings_selection(selection, &texts.collect::<Result<Vec<String>>>()?)?)
    }

    /// An error if there is something that is no text, before anything is written.
    fn check_texts(&self) -> Result<()> {
        let Descr::Text(_, order) = &self.descr else { return Ok(()) };
        let mut input = self.elements()?;
        let mut element = vec![0; self.descr.size()];
        for _ in 0..self.bytes / (element.len() as u64).max(1) {
            input.read_exact(&mut element)?;
            text(&element, *order)?;
        }
        Ok(())
    }

    /// All elements in C order, of a file that has them in Fortran's.
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

/// The number that bytes are, the lowest first.
fn little(bytes: &[u8]) -> u32 {
    number(bytes.iter().rev())
}

/// The number that bytes are, the highest first.
fn number<'b>(bytes: impl Iterator<Item = &'b u8>) -> u32 {
    bytes.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Characters of four bytes, without the zeros behind them.
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
