//! The types of datasets, each once.

use std::collections::HashMap;

use hyperslab::datatype::{CharacterSet, DatatypeClass, ReferenceKind, StringPadding, VariableLengthKind};
use hyperslab::{Dataset, Datatype, Result};

/// What is said of a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) datasets: u64,
    /// Datasets that use a committed one.
    pub(super) named: u64,
    /// Bytes of its description, as programs get it.
    pub(super) description: u64,
    /// Bytes of an element in memory.
    pub(super) element: u64,
}

/// All types, in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct Datatypes {
    places: HashMap<Datatype, usize>,
    pub(super) used: Vec<Used>,
}

/// Bytes that come before the description of a type when the C library hands it out.
const PREFIX: u64 = 2;

impl Datatypes {
    pub(super) fn add(&mut self, dataset: &Dataset) -> Result<()> {
        let named = u64::from(dataset.committed_datatype().is_some());
        let datatype = compared(dataset.datatype());
        let place = self.places.get(&datatype).and_then(|place| self.used.get_mut(*place));
        if let Some(used) = place {
            used.datasets = used.datasets.saturating_add(1);
            used.named = used.named.saturating_add(named);
            return Ok(());
        }
        let description = dataset.datatype_description_size()?.saturating_add(PREFIX);
        let element = size_in_memory(dataset.datatype());
        self.places.insert(datatype, self.used.len());
        self.used.push(Used { datasets: 1, named, description, element });
        Ok(())
    }
}

/// A type without what the C library passes over when it compares types: the character set of strings of variable
/// length, and how they end.
fn compared(datatype: &Datatype) -> Datatype {
    let mut datatype = datatype.clone();
    match &mut datatype.class {
        DatatypeClass::VariableLength(variable) => {
            if let VariableLengthKind::String { padding, charset } = &mut variable.kind {
                (*padding, *charset) = (StringPadding::NullTerminated, CharacterSet::Ascii);
            }
            *variable.base = compared(&variable.base);
        }
        DatatypeClass::Array(array) => *array.base = compared(&array.base),
        DatatypeClass::Compound(compound) => {
            for member in &mut compound.members {
                member.datatype = compared(&member.datatype);
            }
        }
        _ => {}
    }
    datatype
}

/// Bytes of an element in the memory of a C program: what is of variable length is pointers there.
fn size_in_memory(datatype: &Datatype) -> u64 {
    const POINTER: u64 = 8;
    let stored = u64::from(datatype.size);
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { .. } => POINTER,
            // A length comes before it.
            VariableLengthKind::Sequence => POINTER + POINTER,
        },
        DatatypeClass::Reference(reference) => match reference.kind {
            ReferenceKind::Object1 | ReferenceKind::DatasetRegion1 => stored,
            // `H5R_ref_t`
            ReferenceKind::Object2 | ReferenceKind::DatasetRegion2 | ReferenceKind::Attribute => 64,
        },
        DatatypeClass::Array(array) => {
            let count = array.dims.iter().map(|size| u64::from(*size)).fold(1, u64::saturating_mul);
            count.saturating_mul(size_in_memory(&array.base))
        }
        DatatypeClass::Compound(compound) => compound.members.iter().fold(stored, |size, member| {
            let size = size.saturating_add(size_in_memory(&member.datatype));
            size.saturating_sub(member.datatype.size.into())
        }),
        _ => stored,
    }
}

#[cfg(test)]
mod tests {
    use hyperslab::H5Type;
    use hyperslab::datatype::ByteOrder;

    use super::*;

    #[test]
    fn what_is_of_variable_length_is_pointers() {
        let text = Datatype::variable_string(CharacterSet::Utf8, 8);
        let list = Datatype::sequence(i32::datatype(), 8);
        assert_eq!((size_in_memory(&text), size_in_memory(&list)), (8, 16));
        assert_eq!(size_in_memory(&Datatype::integer(3, true, ByteOrder::BigEndian)), 3);
    }
}
