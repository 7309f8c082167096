//! Arrays of an archive, read in order.

use std::io::{self, Read as _};

use anyhow::{Context as _, Result, bail};
use hyperslab::Datatype;
use hyperslab::datatype::convert::Conversion;

use super::archive::{Archive, MemberReader};
use crate::entries::Column;
use crate::formats::npy::descr::ReadDescr;
use crate::formats::npy::header::Header;

/// The number of elements that are read at once.
const AT_ONCE: usize = 1 << 16;

/// An array with its decoded header.
pub(super) struct Array {
    name: String,
    pub(super) descr: ReadDescr,
    pub(super) shape: Vec<u64>,
    reader: MemberReader,
}

impl Array {
    pub(super) fn open(archive: &Archive, name: &str) -> Result<Self> {
        let (mut reader, size) = archive.member(name)?;
        let mut opened = || {
            let header = Header::read(&mut reader)?;
            if header.fortran {
                bail!("its elements are in Fortran's order");
            }
            let wanted = header.bytes()?.checked_add(header.length);
            if wanted != Some(size) {
                bail!("a member of {size} bytes for an array of the shape {:?}", header.shape);
            }
            Ok(header)
        };
        let header = opened().with_context(|| format!("`{name}`"))?;
        Ok(Self { name: name.to_owned(), descr: header.descr, shape: header.shape, reader })
    }

    /// Returns the datatype of the elements. Fails for text.
    pub(super) fn datatype(&self) -> Result<&Datatype> {
        match &self.descr {
            ReadDescr::Stored(datatype) => Ok(datatype),
            ReadDescr::Text(..) => bail!("`{}` holds text", self.name),
        }
    }

    /// Reads a small array. Fails if it has more than `most` bytes.
    pub(super) fn bytes(mut self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.with_context(|| format!("`{}`", self.name))?;
        if bytes.len() as u64 > most {
            bail!("`{}` has more than {most} bytes", self.name);
        }
        Ok(bytes)
    }

    /// Returns the elements as a column, converted to a datatype. `part` is the first element and the number of elements;
    /// without it, the column has all elements.
    pub(super) fn column(mut self, to: &Datatype, part: Option<(u64, u64)>) -> Result<ArrayColumn> {
        let conversion = Conversion::new(self.datatype()?, to)?;
        // The header has checked that the size of all elements does not overflow.
        let all = self.shape.iter().fold(1_u64, |count, size| count.saturating_mul(*size));
        let (start, left) = part.unwrap_or((0, all));
        let skipped = start.saturating_mul(conversion.source_size() as u64);
        io::copy(&mut (&mut self.reader).take(skipped), &mut io::sink())?;
        Ok(ArrayColumn { reader: self.reader, conversion, len: left, left, stored: Vec::new() })
    }
}

/// The column of the elements of an array.
pub(super) struct ArrayColumn {
    reader: MemberReader,
    conversion: Conversion,
    len: u64,
    left: u64,
    stored: Vec<u8>,
}

impl Column for ArrayColumn {
    fn len(&self) -> u64 {
        self.len
    }

    fn next(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let rest = self.left.checked_sub(count as u64);
        self.left = rest.with_context(|| format!("there are no {count} more elements"))?;
        let (from, to) = (self.conversion.source_size(), self.conversion.destination_size());
        let mut wanted = count;
        while wanted > 0 {
            let piece = wanted.min(AT_ONCE);
            wanted = wanted.saturating_sub(piece);
            self.stored.resize(piece.saturating_mul(from), 0);
            self.reader.read_exact(&mut self.stored)?;
            let start = bytes.len();
            bytes.resize(start.saturating_add(piece.saturating_mul(to)), 0);
            let converted = bytes.get_mut(start..).unwrap_or_default();
            self.conversion.convert(&self.stored, converted, piece)?;
        }
        Ok(())
    }
}
