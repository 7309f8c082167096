//! The arrays of an npz archive, read from start to end.

use std::io::{self, Read as _};

use anyhow::{Context as _, Result, bail};
use hyperslab::Datatype;
use hyperslab::datatype::convert::Conversion;
use hyperslab_exact::{product, sum, to_u64};

use super::archive::{Archive, MemberReader};
use crate::entries::Column;
use crate::formats::npy::descr::ReadDescr;
use crate::formats::npy::header::Header;

/// The number of elements that the program reads at once from an array of an npz archive.
const READ_ELEMENTS: usize = 1 << 16;

/// An array of an npz archive with its decoded header.
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
                bail!("arrays in Fortran order are not supported");
            }
            if sum("size of a member", [header.bytes()?, header.length])? != size {
                bail!(
                    "the npz member has {size} bytes, which do not fit an array of the shape {:?}",
                    header.shape
                );
            }
            Ok(header)
        };
        let header = opened().with_context(|| format!("`{name}`"))?;
        Ok(Self { name: name.to_owned(), descr: header.descr, shape: header.shape, reader })
    }

    /// Returns the datatype of the array elements in an npz archive. Returns an error for text.
    pub(super) fn datatype(&self) -> Result<&Datatype> {
        match &self.descr {
            ReadDescr::Stored(datatype) => Ok(datatype),
            ReadDescr::Text(..) => bail!("the elements of `{}` are text, not numbers", self.name),
            ReadDescr::Time(..) => bail!("the elements of `{}` are times, not numbers", self.name),
        }
    }

    /// Reads the bytes of a small array of an npz archive. Returns an error if the array has more
    /// than `most` bytes.
    pub(super) fn bytes(mut self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(most + 1).read_to_end(&mut bytes);
        read.with_context(|| format!("`{}`", self.name))?;
        if to_u64(bytes.len()) > most {
            bail!("the npz member `{}` has more than {most} bytes", self.name);
        }
        Ok(bytes)
    }

    /// Returns the npz array as a column of elements that are converted to a datatype. `part`
    /// states the number of the first element and the number of elements. `None` means all
    /// elements.
    pub(super) fn column(mut self, to: &Datatype, part: Option<(u64, u64)>) -> Result<ArrayColumn> {
        let conversion = Conversion::new(self.datatype()?, to)?;
        let all = product("number of elements", self.shape.iter().copied())?;
        let (start, left) = part.unwrap_or((0, all));
        let skipped = product("offset of the elements", [start, to_u64(conversion.source_size())])?;
        io::copy(&mut (&mut self.reader).take(skipped), &mut io::sink())?;
        Ok(ArrayColumn { reader: self.reader, conversion, len: left, left, stored: Vec::new() })
    }
}

/// A column of the elements of an npz array.
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
        let rest = self.left.checked_sub(to_u64(count));
        self.left = rest.with_context(|| {
            format!("the npz array has fewer than {count} elements after the elements that were read")
        })?;
        let (from, to) = (self.conversion.source_size(), self.conversion.destination_size());
        let too_large = || "the elements do not fit in memory";
        let mut wanted = count;
        while wanted > 0 {
            let piece = wanted.min(READ_ELEMENTS);
            wanted -= piece;
            self.stored.resize(piece.checked_mul(from).with_context(too_large)?, 0);
            self.reader.read_exact(&mut self.stored)?;
            let start = bytes.len();
            let end = piece.checked_mul(to).and_then(|size| start.checked_add(size));
            bytes.resize(end.with_context(too_large)?, 0);
            let converted = bytes.get_mut(start..).context("the elements of the npz member are missing")?;
            self.conversion.convert(&self.stored, converted, piece)?;
        }
        Ok(())
    }
}
