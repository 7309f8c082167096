//! Numbers as a TIFF image: uncompressed, one strip for each page. The last two dimensions are the
//! rows and columns of a page.

use hyperslab::datatype::ByteOrder;
use hyperslab_exact::to_u64;

use super::super::numpy::{Dtype, Form};
use super::super::selection::Block;
use super::super::{Answer, AnswerLimits, Failure};
use super::stream::{self, Encoder, Source};
use super::total_bytes;

/// The encoder of an image: directories of all pages, and the elements as bytes.
struct Tiff {
    header: Vec<u8>,
    form: Form,
    total: u64,
}

/// The largest number of pages.
const MAX_PAGES: u64 = 1 << 16;

/// The types of values in a directory.
const SHORT: u16 = 3;
const LONG: u16 = 4;

/// The number of entries of a directory, and its size in bytes.
const ENTRIES: u16 = 10;
const DIRECTORY_BYTES: u32 = 2 + 12 * ENTRIES as u32 + 4;

/// The size of the file header in bytes.
const FILE_HEADER_BYTES: u32 = 8;

pub(super) fn answer(
    source: Source,
    form: Form,
    shape: &[u64],
    limits: &AnswerLimits,
) -> Result<Answer, Failure> {
    let total = total_bytes(&source, &form)?;
    let header = header(form.dtype.item(), shape)?;
    let encoder = Tiff { header, form, total };
    stream::answer(source, encoder, limits, "image/tiff", Some("attachment; filename=\"data.tiff\""))
}

impl Encoder for Tiff {
    fn length(&self) -> Option<u64> {
        stream::sum(self.header.len(), self.total)
    }

    fn start(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.append(&mut self.header);
        Ok(())
    }

    fn block(&mut self, source: &Source, block: &Block, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.extend_from_slice(&source.read_as(block, &self.form)?);
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}

/// Numbers in the byte order of the file.
struct Writer {
    order: ByteOrder,
    bytes: Vec<u8>,
}

impl Writer {
    fn short(&mut self, value: u16) {
        match self.order {
            ByteOrder::LittleEndian => self.bytes.extend(value.to_le_bytes()),
            ByteOrder::BigEndian => self.bytes.extend(value.to_be_bytes()),
        }
    }

    fn long(&mut self, value: u32) {
        match self.order {
            ByteOrder::LittleEndian => self.bytes.extend(value.to_le_bytes()),
            ByteOrder::BigEndian => self.bytes.extend(value.to_be_bytes()),
        }
    }

    /// Writes an entry of a directory with one value of 16 bits.
    fn entry_short(&mut self, tag: u16, value: u16) {
        self.short(tag);
        self.short(SHORT);
        self.long(1);
        self.short(value);
        self.short(0);
    }

    /// Writes an entry of a directory with one value of 32 bits.
    fn entry_long(&mut self, tag: u16, value: u32) {
        self.short(tag);
        self.short(LONG);
        self.long(1);
        self.long(value);
    }
}

/// The properties that all pages share.
struct Page {
    width: u32,
    height: u32,
    bits: u16,
    format: u16,
    bytes: u32,
}

/// Returns the header and the directories of all pages.
fn header(dtype: &Dtype, shape: &[u64]) -> Result<Vec<u8>, Failure> {
    let too_large = || Failure::refused("the array is too large for a TIFF image");
    let (page, order) = page(dtype, shape)?;
    let outer = shape.len().checked_sub(2).and_then(|end| shape.get(..end)).unwrap_or(&[]);
    let pages = outer.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
    let pages = pages.filter(|pages| *pages <= MAX_PAGES).and_then(|pages| u32::try_from(pages).ok());
    let pages = pages.ok_or_else(too_large)?;
    if pages == 0 || page.bytes == 0 {
        return Err(Failure::refused("an array without elements is no image"));
    }
    let start = FILE_HEADER_BYTES + pages * DIRECTORY_BYTES;
    let mut writer = Writer { order, bytes: Vec::new() };
    writer.bytes.extend(match order {
        ByteOrder::LittleEndian => b"II",
        ByteOrder::BigEndian => b"MM",
    });
    writer.short(42);
    writer.long(FILE_HEADER_BYTES);
    for number in 0..pages {
        let offset = number.checked_mul(page.bytes).and_then(|offset| offset.checked_add(start));
        let end = offset.and_then(|offset| offset.checked_add(page.bytes));
        let offset = offset.filter(|_| end.is_some()).ok_or_else(too_large)?;
        let is_last = number + 1 == pages;
        let next = if is_last { 0 } else { FILE_HEADER_BYTES + (number + 1) * DIRECTORY_BYTES };
        write_directory(&mut writer, &page, offset, next);
    }
    Ok(writer.bytes)
}

fn page(dtype: &Dtype, shape: &[u64]) -> Result<(Page, ByteOrder), Failure> {
    let little = ByteOrder::LittleEndian;
    let (format, order) = match dtype {
        Dtype::Integer { signed, order, .. } => (if *signed { 2 } else { 1 }, *order),
        Dtype::Float { order, .. } => (3, *order),
        Dtype::Complex { order, .. } => (6, *order),
        _ => (1, little),
    };
    let (height, width) = match shape {
        [.., height, width] => (*height, *width),
        [width] => (1, *width),
        [] => (1, 1),
    };
    let too_large = || Failure::refused("the array is too large for a TIFF image");
    let bytes = width.checked_mul(height).and_then(|count| count.checked_mul(u64::from(dtype.bytes())));
    let to_u32 = |size: u64| u32::try_from(size).map_err(|_| too_large());
    let bits = u16::try_from(to_u64(dtype.bytes() as usize * 8)).map_err(|_| too_large())?;
    let bytes = to_u32(bytes.ok_or_else(too_large)?)?;
    Ok((Page { width: to_u32(width)?, height: to_u32(height)?, bits, format, bytes }, order))
}

/// Writes the directory of a page whose elements are at `offset`. The next directory is at `next`.
fn write_directory(writer: &mut Writer, page: &Page, offset: u32, next: u32) {
    writer.short(ENTRIES);
    writer.entry_long(256, page.width);
    writer.entry_long(257, page.height);
    writer.entry_short(258, page.bits);
    // No compression.
    writer.entry_short(259, 1);
    // Zero is black.
    writer.entry_short(262, 1);
    writer.entry_long(273, offset);
    // One number for each pixel.
    writer.entry_short(277, 1);
    writer.entry_long(278, page.height);
    writer.entry_long(279, page.bytes);
    writer.entry_short(339, page.format);
    writer.long(next);
}
