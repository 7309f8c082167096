//! The canonical bytes of elements (independent of addresses in the file), and their hash in a
//! digest.

use hyperslab::datatype::{Reference, VariableLengthKind};
use hyperslab::{Datatype, DatatypeClass, Error, Points, ReferenceTarget, Result, Stored};
use hyperslab_exact::to_u64;
use sha2::{Digest as _, Sha256};

use super::walk::Objects;
use super::{hex, path_of, selection, text};

/// The number of bytes that a digest prints from the start of the canonical bytes (the bytes of
/// elements in a form that is independent of addresses in the file).
const HEAD_BYTES: usize = 32;

/// The number of canonical bytes of elements that a digest collects before each update of the hash.
const BATCH_BYTES: usize = 1 << 16;

/// A hash of the canonical bytes of elements, with the total number of bytes and the first bytes.
/// Canonical bytes are independent of addresses in the file.
#[derive(Debug, Default)]
pub(super) struct Hashed {
    hash: Sha256,
    length: u64,
    head: Vec<u8>,
}

impl Hashed {
    fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.length += to_u64(bytes.len());
        let missing = HEAD_BYTES - self.head.len();
        self.head.extend(bytes.iter().take(missing));
    }

    /// Returns the hash of elements, the number of their canonical bytes, and the first of these
    /// bytes.
    pub(super) fn finish(self) -> (String, u64, String) {
        (hex(&self.hash.finalize()), self.length, hex(&self.head))
    }
}

/// Hashes the canonical bytes (independent of addresses in the file) of all elements of a dataset
/// or attribute.
pub(super) fn hash(objects: &Objects, stored: &Stored) -> Result<Hashed> {
    let mut hashed = Hashed::default();
    let datatype = stored.datatype();
    if is_plain(datatype) {
        hashed.add(stored.bytes());
        return Ok(hashed);
    }
    let mut encoder = Encoder { objects, stored, out: Vec::new() };
    for element in stored.elements() {
        encoder.element(datatype, element)?;
        if encoder.out.len() > BATCH_BYTES {
            hashed.add(&encoder.out);
            encoder.out.clear();
        }
    }
    hashed.add(&encoder.out);
    Ok(hashed)
}

/// Adds defined elements to a hash: the coordinates, and then the canonical bytes of each element.
/// A coordinate has 8 bytes in little-endian order.
pub(super) fn add_defined(
    hashed: &mut Hashed,
    objects: &Objects,
    points: &Points,
    stored: &Stored,
) -> Result<()> {
    let plain = is_plain(stored.datatype());
    let mut encoder = Encoder { objects, stored, out: Vec::new() };
    let coordinates = points.coordinates.chunks(points.rank.max(1));
    for (point, element) in coordinates.zip(stored.elements()) {
        point.iter().for_each(|coordinate| encoder.out.extend(coordinate.to_le_bytes()));
        if plain {
            encoder.out.extend_from_slice(element);
        } else {
            encoder.element(stored.datatype(), element)?;
        }
        if encoder.out.len() > BATCH_BYTES {
            hashed.add(&encoder.out);
            encoder.out.clear();
        }
    }
    hashed.add(&encoder.out);
    Ok(())
}

/// Returns the canonical bytes (independent of addresses in the file) of all elements of a dataset
/// or attribute.
pub(super) fn bytes(objects: &Objects, stored: &Stored) -> Result<Vec<u8>> {
    let mut encoder = Encoder { objects, stored, out: Vec::new() };
    for element in stored.elements() {
        encoder.element(stored.datatype(), element)?;
    }
    Ok(encoder.out)
}

/// Returns true if the canonical bytes of elements (the bytes that a digest hashes) are equal to
/// their stored bytes.
fn is_plain(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Compound(_) | DatatypeClass::VariableLength(_) | DatatypeClass::Reference(_) => false,
        DatatypeClass::Array(array) => {
            is_plain(&array.base) && array_bytes(&array.dims, &array.base) == Some(datatype.size as usize)
        }
        _ => true,
    }
}

/// Returns the size of an array of elements in bytes, or `None` if the size does not fit in
/// `usize`.
fn array_bytes(dims: &[u32], base: &Datatype) -> Option<usize> {
    dims.iter().try_fold(base.size as usize, |bytes, dim| bytes.checked_mul(*dim as usize))
}

struct Encoder<'a> {
    objects: &'a Objects,
    stored: &'a Stored,
    out: Vec<u8>,
}

impl Encoder<'_> {
    fn element(&mut self, datatype: &Datatype, element: &[u8]) -> Result<()> {
        match &datatype.class {
            DatatypeClass::Compound(compound) => {
                let mut members: Vec<_> = compound.members.iter().collect();
                members.sort_by_key(|member| member.offset);
                for member in members {
                    let part = part(element, member.offset as usize, member.datatype.size as usize)?;
                    self.element(&member.datatype, part)?;
                }
            }
            DatatypeClass::Array(array) => {
                let size = array.base.size as usize;
                let length = array_bytes(&array.dims, &array.base).ok_or_else(too_large)?;
                let bytes = part(element, 0, length)?;
                for item in bytes.chunks_exact(size.max(1)) {
                    self.element(&array.base, item)?;
                }
            }
            DatatypeClass::VariableLength(variable) => {
                let value = self.stored.variable_length(element)?;
                if let VariableLengthKind::String { .. } = variable.kind {
                    let bytes = value.items(1)?;
                    let string = bytes.split(|byte| *byte == 0).next().unwrap_or(bytes);
                    self.counted(string);
                    return Ok(());
                }
                let size = variable.base.size as usize;
                self.out.extend(value.count().to_le_bytes());
                for item in value.items(size)?.chunks_exact(size.max(1)) {
                    self.element(&variable.base, item)?;
                }
            }
            DatatypeClass::Reference(reference) => {
                let words = self.reference(*reference, element);
                self.counted(words.as_bytes());
            }
            _ => self.out.extend_from_slice(element),
        }
        Ok(())
    }

    /// Appends a byte string to the bytes that a digest hashes: its length, then its bytes.
    fn counted(&mut self, bytes: &[u8]) {
        self.out.extend((bytes.len() as u64).to_le_bytes());
        self.out.extend_from_slice(bytes);
    }

    fn reference(&self, kind: Reference, element: &[u8]) -> String {
        let known = |token| path_of(self.objects, token);
        match self.stored.reference(kind, element) {
            Ok(ReferenceTarget::Null) => "null".into(),
            Ok(ReferenceTarget::Object(token)) => match self.objects.path(token) {
                Some(path) => format!("obj:{path}"),
                None if self.objects.exists(token) => "unlinked".into(),
                None => "bad".into(),
            },
            Ok(ReferenceTarget::Region(token, selected)) => match selection::describe(&selected) {
                Ok(words) if self.objects.exists(token) => format!("reg:{}:{words}", known(token)),
                _ => "bad".into(),
            },
            Ok(ReferenceTarget::Attribute(token, name)) => format!("attr:{}:{}", known(token), text(&name)),
            Ok(ReferenceTarget::External { file, .. }) => format!("ext:{}", text(&file)),
            _ => "bad".into(),
        }
    }
}

/// Creates an error about an array that is larger than the address space.
fn too_large() -> Error {
    Error::corrupt("array datatype", "dimensions", "a size that fits in memory", "a larger size")
}

fn part(element: &[u8], start: usize, length: usize) -> Result<&[u8]> {
    start.checked_add(length).and_then(|end| element.get(start..end)).ok_or_else(|| {
        Error::Misuse(format!(
            "a part of {length} bytes at offset {start} does not lie in an element of {} bytes",
            element.len()
        ))
    })
}
