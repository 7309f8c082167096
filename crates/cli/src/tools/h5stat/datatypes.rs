//! The distinct datatypes of a file's datasets, which h5stat counts.

use std::collections::HashMap;

use hyperslab::datatype::{CharacterSet, DatatypeClass, ReferenceKind, StringPadding, VariableLengthKind};
use hyperslab::{Dataset, Datatype, Error, Result};
use hyperslab_exact::product;

/// The number of datasets that use a datatype, and the sizes of the datatype.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) datasets: u64,
    /// The number of datasets that use a committed datatype.
    pub(super) named: u64,
    /// The size of the encoded datatype, as the C library returns it to programs.
    pub(super) description: u64,
    /// The size of an element in memory.
    pub(super) element: u64,
}

/// The datatypes of all datasets, in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct Datatypes {
    indexes: HashMap<Datatype, usize>,
    pub(super) used: Vec<Used>,
}

/// The size of the prefix that the C library puts before an encoded datatype, in bytes.
const PREFIX_BYTES: u64 = 2;

impl Datatypes {
    pub(super) fn add(&mut self, dataset: &Dataset) -> Result<()> {
        let named = u64::from(dataset.committed_datatype().is_some());
        let datatype = compared(dataset.datatype());
        let known = self.indexes.get(&datatype).and_then(|index| self.used.get_mut(*index));
        if let Some(used) = known {
            used.datasets += 1;
            used.named += named;
            return Ok(());
        }
        let description = dataset.datatype_description_size()? + PREFIX_BYTES;
        let element = size_in_memory(dataset.datatype()).ok_or_else(|| {
            Error::corrupt("datatype", "size", "a size in memory of at most 64 bits", "another size")
        })?;
        self.indexes.insert(datatype, self.used.len());
        self.used.push(Used { datasets: 1, named, description, element });
        Ok(())
    }
}

/// Returns a datatype without properties that the C library ignores in comparisons: the character
/// set and the padding of variable-length strings.
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

/// Returns the size of an element in the memory of a C program. There, variable-length data are
/// pointers. Returns `None` if the size does not fit in 64 bits.
fn size_in_memory(datatype: &Datatype) -> Option<u64> {
    const POINTER_BYTES: u64 = 8;
    let stored = u64::from(datatype.size);
    Some(match &datatype.class {
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { .. } => POINTER_BYTES,
            // A length precedes the pointer.
            VariableLengthKind::Sequence => POINTER_BYTES + POINTER_BYTES,
        },
        DatatypeClass::Reference(reference) => match reference.kind {
            ReferenceKind::Object1 | ReferenceKind::DatasetRegion1 => stored,
            // `H5R_ref_t`
            ReferenceKind::Object2 | ReferenceKind::DatasetRegion2 | ReferenceKind::Attribute => 64,
        },
        DatatypeClass::Array(array) => {
            let sizes = array.dims.iter().map(|size| u64::from(*size));
            product("size of an array", sizes.chain([size_in_memory(&array.base)?])).ok()?
        }
        DatatypeClass::Compound(compound) => {
            // A member may be larger or smaller in memory than in the file.
            let mut size = i128::from(stored);
            for member in &compound.members {
                size += i128::from(size_in_memory(&member.datatype)?) - i128::from(member.datatype.size);
            }
            u64::try_from(size).ok()?
        }
        _ => stored,
    })
}

#[cfg(test)]
mod tests {
    use hyperslab::H5Type;
    use hyperslab::datatype::ByteOrder;

    use super::*;

    #[test]
    fn variable_length_data_are_pointers() {
        let text = Datatype::variable_string(CharacterSet::Utf8, 8);
        let list = Datatype::sequence(i32::datatype(), 8);
        assert_eq!((size_in_memory(&text), size_in_memory(&list)), (Some(8), Some(16)));
        assert_eq!(size_in_memory(&Datatype::integer(3, true, ByteOrder::BigEndian)), Some(3));
    }
}
