//! The canonical bytes of elements, and their hash.

use hyperslab::datatype::{Reference, VariableLengthKind};
use hyperslab::{Datatype, DatatypeClass, Error, Points, ReferenceTarget, Result, Stored};
use sha2::{Digest as _, Sha256};

use super::walk::Objects;
use super::{hex, path_of, selection, text};

/// Bytes shown of the encoding's start.
const HEAD: usize = 32;

/// Takes canonical bytes as they come.
#[derive(Debug, Default)]
pub(super) struct Hashed {
    hash: Sha256,
    length: u64,
    head: Vec<u8>,
}

impl Hashed {
    fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.length = self.length.saturating_add(bytes.len() as u64);
        let room = HEAD.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(room));
    }

    /// Hash, length and start of all bytes.
    pub(super) fn finish(self) -> (String, u64, String) {
        (hex(&self.hash.finalize()), self.length, hex(&self.head))
    }
}

/// Hashes all elements.
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
        if encoder.out.len() > 1 << 16 {
            hashed.add(&encoder.out);
            encoder.out.clear();
        }
    }
    hashed.add(&encoder.out);
    Ok(hashed)
}

/// Adds defined elements, each behind its coordinates, which are 8 bytes each, least significant first.
pub(super) fn add_defined(
    hashed: &mut Hashed,
    objects: &Objects,
    points: &Points,
    stored: &Stored,
) -> Result<()> {
    let plain = is_plain(stored.datatype());
    let mut encoder = Encoder { objects, stored, out: Vec::new() };
    let places = points.coordinates.chunks(points.rank.max(1));
    for (place, element) in places.zip(stored.elements()) {
        place.iter().for_each(|coordinate| encoder.out.extend(coordinate.to_le_bytes()));
        if plain {
            encoder.out.extend_from_slice(element);
        } else {
            encoder.element(stored.datatype(), element)?;
        }
        if encoder.out.len() > 1 << 16 {
            hashed.add(&encoder.out);
            encoder.out.clear();
        }
    }
    hashed.add(&encoder.out);
    Ok(())
}

/// The canonical bytes of all elements.
pub(super) fn bytes(objects: &Objects, stored: &Stored) -> Result<Vec<u8>> {
    let mut encoder = Encoder { objects, stored, out: Vec::new() };
    for element in stored.elements() {
        encoder.element(stored.datatype(), element)?;
    }
    Ok(encoder.out)
}

/// Returns whether elements are encoded as they are stored.
fn is_plain(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Compound(_) | DatatypeClass::VariableLength(_) | DatatypeClass::Reference(_) => false,
        DatatypeClass::Array(array) => {
            is_plain(&array.base) && array_bytes(&array.dims, &array.base) == datatype.size as usize
        }
        _ => true,
    }
}

fn array_bytes(dims: &[u32], base: &Datatype) -> usize {
    dims.iter().fold(base.size as usize, |bytes, dim| bytes.saturating_mul(*dim as usize))
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
                let bytes = part(element, 0, array_bytes(&array.dims, &array.base))?;
                for item in bytes.chunks_exact(size.max(1)) {
                    self.element(&array.base, item)?;
                }
            }
            DatatypeClass::VariableLength(variable) => {
                let value = self.stored.variable_length(element)?;
                if let VariableLengthKind::String { .. } = variable.kind {
                    let bytes = value.items(1)?;
                    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                    self.counted(bytes.get(..end).unwrap_or_default());
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

fn part(element: &[u8], start: usize, length: usize) -> Result<&[u8]> {
    start.checked_add(length).and_then(|end| element.get(start..end)).ok_or_else(|| {
        Error::Misuse(format!("a part of {length} bytes at {start} of an element of {} bytes", element.len()))
    })
}
