//! The page headers of Parquet files, in Thrift's compact protocol. Only the sizes of a page are
//! decoded; the other fields are copied.

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::to_usize;

/// The largest nesting depth of structures in a Parquet page header.
const MAX_LEVELS: usize = 16;

/// The first byte of each of the fields 1 to 3 of a Parquet page header. These fields are 32-bit
/// integers.
const INTEGER_FIELD: u8 = 0x15;

/// The type code that ends a structure in Thrift's compact protocol.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCTURE: u8 = 12;

/// The decoded header of a Parquet page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageHeader<'b> {
    /// The kind of the page, as stored.
    pub(super) kind: u64,
    /// The size of the page without compression, in bytes.
    pub(super) size: usize,
    /// The size of the compressed page, in bytes.
    pub(super) stored_size: usize,
    /// The bytes of the later fields.
    pub(super) rest: &'b [u8],
    /// The number of bytes of repetition and definition levels before the compressed bytes. `None`
    /// if the page is not compressed.
    pub(super) levels: Option<usize>,
}

/// The number, in zigzag encoding, of the Parquet page type for data pages of version 2.
const DATA_PAGE_V2: u64 = 3 << 1;

/// The number of the field that describes a data page of version 2 in a Parquet page header.
const V2_FIELD: i64 = 8;

impl<'b> PageHeader<'b> {
    /// Decodes a Parquet page header. Returns the header and the bytes that follow the header.
    pub(super) fn decode(bytes: &'b [u8]) -> Result<(Self, &'b [u8])> {
        let mut reader = Reader(bytes);
        let kind = reader.integer_field()?;
        let size = to_usize(zigzag_size(reader.integer_field()?)?)?;
        let stored_size = to_usize(zigzag_size(reader.integer_field()?)?)?;
        let start = reader.0;
        let levels = reader.fields_after_sizes()?;
        let length = start
            .len()
            .checked_sub(reader.0.len())
            .context("the end of a Parquet page header lies before the start of the header")?;
        let (rest, after) =
            start.split_at_checked(length).context("the header of a Parquet page is incomplete")?;
        let levels = if kind == DATA_PAGE_V2 { levels.value() } else { Some(0) };
        Ok((Self { kind, size, stored_size, rest, levels }, after))
    }

    /// Appends the header of the same Parquet page without compression.
    pub(super) fn encode_plain(&self, to: &mut Vec<u8>) {
        for value in [self.kind, zigzag(self.size), zigzag(self.size)] {
            to.push(INTEGER_FIELD);
            write_varint(value, to);
        }
        to.extend(self.rest);
    }
}

/// The sizes of the level data in a Parquet data page of version 2, and a flag that is true for
/// uncompressed values.
#[derive(Debug, Default)]
struct Levels {
    definition: u64,
    repetition: u64,
    is_plain: bool,
}

impl Levels {
    fn value(&self) -> Option<usize> {
        let total = self.definition.checked_add(self.repetition)?;
        if self.is_plain { None } else { usize::try_from(total).ok() }
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8> {
        let (byte, rest) = self.0.split_first().context("the header of a Parquet page is incomplete")?;
        self.0 = rest;
        Ok(*byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        bail!("an integer in the header of a Parquet page has more than 64 bits")
    }

    /// Reads the next field of a Parquet page header. The field must be an integer, and its number
    /// one more than the number of the last field.
    fn integer_field(&mut self) -> Result<u64> {
        if self.byte()? != INTEGER_FIELD {
            bail!("the header of a Parquet page does not begin with its kind and sizes");
        }
        self.varint()
    }

    fn skip_bytes(&mut self, count: u64) -> Result<()> {
        self.0 = self.0.get(to_usize(count)?..).context("the header of a Parquet page is incomplete")?;
        Ok(())
    }

    /// Returns the number and the type of the next field of a structure in a Parquet page header.
    fn field(&mut self, last: i64) -> Result<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == STOP {
            return Ok(None);
        }
        let number = match head >> 4 {
            0 => {
                let number = self.varint()?;
                i64::try_from(number >> 1)? ^ -i64::try_from(number & 1)?
            }
            delta => last
                .checked_add(delta.into())
                .context("a field in the header of a Parquet page has no number")?,
        };
        Ok(Some((number, head & 0xf)))
    }

    /// Reads the fields of a Parquet page header after the page kind and the two page sizes.
    /// Returns the sizes of the level data.
    fn fields_after_sizes(&mut self) -> Result<Levels> {
        let (mut last, mut levels) = (3, Levels::default());
        while let Some((number, kind)) = self.field(last)? {
            if (number, kind) == (V2_FIELD, STRUCTURE) {
                levels = self.levels()?;
            } else {
                self.skip(kind, 0)?;
            }
            last = number;
        }
        Ok(levels)
    }

    /// Reads the header of a Parquet data page of version 2. Returns the sizes of the level data.
    fn levels(&mut self) -> Result<Levels> {
        let (mut last, mut levels) = (0, Levels::default());
        while let Some((number, kind)) = self.field(last)? {
            match (number, kind) {
                (5, 5) => levels.definition = zigzag_size(self.varint()?)?,
                (6, 5) => levels.repetition = zigzag_size(self.varint()?)?,
                (7, FALSE) => levels.is_plain = true,
                _ => self.skip(kind, 1)?,
            }
            last = number;
        }
        Ok(levels)
    }

    fn skip(&mut self, kind: u8, level: usize) -> Result<()> {
        if level > MAX_LEVELS {
            bail!("the header of a Parquet page is nested too deeply");
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.skip_bytes(1),
            4..=6 => self.varint().map(drop),
            DOUBLE => self.skip_bytes(8),
            BINARY => {
                let length = self.varint()?;
                self.skip_bytes(length)
            }
            LIST | SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                let item = head & 0xf;
                // In a list, each truth value takes one byte.
                let item = if matches!(item, TRUE | FALSE) { BYTE } else { item };
                (0..count).try_for_each(|_| self.skip(item, level + 1))
            }
            STRUCTURE => {
                let mut last = 0;
                while let Some((number, kind)) = self.field(last)? {
                    self.skip(kind, level + 1)?;
                    last = number;
                }
                Ok(())
            }
            other => bail!("the header of a Parquet page has a field of the type {other}"),
        }
    }
}

/// Decodes a size in zigzag encoding from a Parquet page header. The size must not be negative.
fn zigzag_size(value: u64) -> Result<u64> {
    if value & 1 == 1 {
        bail!("a size in the header of a Parquet page is negative");
    }
    Ok(value >> 1)
}

fn zigzag(value: usize) -> u64 {
    // `usize` has at most 64 bits, and the sizes of pages at most 31.
    (value as u64) << 1
}

fn write_varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.extend((value & 0x7f | 0x80).to_le_bytes().first());
        value >>= 7;
    }
    to.extend(value.to_le_bytes().first());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        // A data page of version 1: kind 0, sizes 300 and 200, and a structure with two fields.
        let bytes = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0x90, 3, 0x2c, 0x15, 6, 0x15, 0, 0, 0, 9, 9];
        let (header, after) = PageHeader::decode(&bytes).unwrap();
        assert_eq!((header.size, header.stored_size, header.levels), (300, 200, Some(0)));
        assert_eq!(after, [9, 9]);
        let mut plain = Vec::new();
        header.encode_plain(&mut plain);
        let (again, _) = PageHeader::decode(&plain).unwrap();
        assert_eq!((again.size, again.stored_size, again.rest), (300, 300, header.rest));
        for length in 0..15 {
            assert!(PageHeader::decode(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn levels_of_version_2_are_read() {
        // Fields 5 and 6 of the structure in field 8 are 4 and 2; field 7 is false in the second.
        let page =
            |compressed: u8| [0x15, 6, 0x15, 40, 0x15, 40, 0x5c, 0x55, 8, 0x15, 4, 0x10 | compressed, 0, 0];
        assert_eq!(PageHeader::decode(&page(TRUE)).unwrap().0.levels, Some(6));
        assert_eq!(PageHeader::decode(&page(FALSE)).unwrap().0.levels, None);
    }
}
