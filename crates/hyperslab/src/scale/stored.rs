//! The attributes that describe dimension scales (HDF5 Dimension Scale Specification):
//!
//! | attribute | object | value |
//! |---|---|---|
//! | `CLASS` | scale | the text `DIMENSION_SCALE`, null-terminated, of 16 bytes |
//! | `NAME` | scale | the name, a null-terminated string |
//! | `REFERENCE_LIST` | scale | compounds of a dataset and the number of its dimension |
//! | `DIMENSION_LIST` | dataset | for each dimension, a sequence of references to scales |
//! | `DIMENSION_LABELS` | dataset | for each dimension, a variable-length string |

use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::attributes::{self, NewAttribute};
use hyperslab_engine::ops::elements::ReferenceTarget;
use hyperslab_engine::ops::objects::ObjectHeader;
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Address, Error, Result};
use hyperslab_exact::to_u64;

use crate::attribute::stored_bytes;
use crate::datatype::convert::{VariableArena, VariableSink as _};
use crate::datatype::{Member, Reference, ReferenceKind, StringPadding};
use crate::dynamic::DESCRIPTOR_BYTES;
use crate::{CharacterSet, Dataspace, Datatype, DatatypeClass, Stored, conversion};

const CLASS: &str = "CLASS";
const NAME: &str = "NAME";
const SCALES: &str = "DIMENSION_LIST";
const USERS: &str = "REFERENCE_LIST";
const LABELS: &str = "DIMENSION_LABELS";

/// The value of the attribute `CLASS` of a dimension scale.
const SCALE: &[u8] = b"DIMENSION_SCALE";

/// The size of an object reference in the attributes of dimension scales, in bytes.
const REFERENCE_BYTES: u8 = 8;

/// The size of an element of `REFERENCE_LIST` in bytes: a reference, a 32-bit integer, and 4 bytes
/// of padding, as libhdf5 writes it on all machines of today.
const USER_BYTES: u32 = 16;

const KIND: Reference = Reference { kind: ReferenceKind::Object1, version: 0 };

/// A dimension of a dataset to which a dimension scale is attached.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct User {
    dataset: ReferenceTarget,
    axis: u32,
}

/// The attributes of one dataset that describe dimension scales. The caller holds shared or
/// exclusive access to the structure of the file.
pub(super) struct Parts<'a> {
    pub(super) file: &'a Arc<OpenFile>,
    /// The number of dimensions of the dataset that has scales.
    pub(super) rank: usize,
    pub(super) header: &'a ObjectHeader,
}

/// Returns the stored form of a reference to the object at `address`.
pub(super) fn object(address: Address) -> ReferenceTarget {
    ReferenceTarget::Object(address)
}

/// Returns the user of a dimension scale: the dimension `axis` of the dataset at `dataset`.
pub(super) fn user(dataset: Address, axis: usize) -> Result<User> {
    let axis = u32::try_from(axis).map_err(|_| Error::internal("dataspace", "at most 32 dimensions"))?;
    Ok(User { dataset: object(dataset), axis })
}

/// Returns the position of the scale at `address` in a list of dimension scales.
pub(super) fn position(list: &[ReferenceTarget], address: Address) -> Option<usize> {
    list.iter().position(|target| *target == object(address))
}

impl Parts<'_> {
    /// Returns the stored elements of an attribute. Returns `None` if the attribute does not exist.
    fn stored(&self, name: &'static str) -> Result<Option<Stored>> {
        let container = &self.file.container;
        let Some(found) = attributes::find(container, self.header, name.as_bytes())? else {
            return Ok(None);
        };
        let read = || {
            let value = found.value(container)?;
            let bytes = stored_bytes(&value)?;
            Ok(Stored::new(Arc::clone(self.file), value.datatype.clone(), bytes))
        };
        read().map(Some).map_err(|error: Error| error.context(format!("attribute `{name}`")))
    }

    /// Returns `true` if the dataset is a dimension scale.
    pub(super) fn is_scale(&self) -> Result<bool> {
        let Some(class) = self.stored(CLASS)? else { return Ok(false) };
        Ok(match &class.datatype().class {
            DatatypeClass::String(text) if text.padding == StringPadding::NullTerminated => {
                class.text_of(class.datatype(), class.bytes())? == SCALE
            }
            _ => false,
        })
    }

    /// Returns `true` if the dataset has an attribute with dimension scales.
    pub(super) fn has_scales(&self) -> Result<bool> {
        Ok(attributes::find(&self.file.container, self.header, SCALES.as_bytes())?.is_some())
    }

    /// Returns the name of the dimension scale.
    pub(super) fn name(&self) -> Result<Option<String>> {
        let Some(name) = self.stored(NAME)? else { return Ok(None) };
        Ok(name.strings()?.into_iter().next())
    }

    /// Returns the labels of all dimensions.
    pub(super) fn labels(&self) -> Result<Vec<Vec<u8>>> {
        let Some(labels) = self.stored(LABELS)? else { return Ok(vec![Vec::new(); self.rank]) };
        self.check_count(LABELS, labels.len())?;
        labels.elements().map(|element| labels.text_of(labels.datatype(), element)).collect()
    }

    /// Returns the dimension scales of all dimensions.
    pub(super) fn scales(&self) -> Result<Vec<Vec<ReferenceTarget>>> {
        let Some(lists) = self.stored(SCALES)? else { return Ok(vec![Vec::new(); self.rank]) };
        self.check_count(SCALES, lists.len())?;
        let DatatypeClass::VariableLength(variable) = &lists.datatype().class else {
            return Err(unexpected(SCALES, "sequences of references", lists.datatype()));
        };
        let DatatypeClass::Reference(kind) = variable.base.class else {
            return Err(unexpected(SCALES, "sequences of references", lists.datatype()));
        };
        let size = (variable.base.size as usize).max(1);
        let targets = |element: &[u8]| {
            let list = lists.variable_length(element)?;
            list.items(size)?.chunks_exact(size).map(|item| self.target(kind, item)).collect()
        };
        lists.elements().map(targets).collect()
    }

    /// Returns the dimensions to which the dimension scale is attached.
    pub(super) fn users(&self) -> Result<Vec<User>> {
        let Some(list) = self.stored(USERS)? else { return Ok(Vec::new()) };
        let wrong = || unexpected(USERS, "compounds of a reference and an integer", list.datatype());
        let DatatypeClass::Compound(compound) = &list.datatype().class else { return Err(wrong()) };
        let [dataset, axis] = compound.members.as_slice() else { return Err(wrong()) };
        let DatatypeClass::Reference(kind) = dataset.datatype.class else { return Err(wrong()) };
        let user = |element: &[u8]| {
            let member = |member: &Member| {
                let bytes = element
                    .get(member.offset as usize..)
                    .and_then(|rest| rest.get(..member.datatype.size as usize));
                bytes.ok_or_else(|| Error::internal("compound", "members lie in the element"))
            };
            let number = Stored::new(Arc::clone(self.file), axis.datatype.clone(), member(axis)?.to_vec());
            let [axis] = number.convert::<u32>()?[..] else { return Err(wrong()) };
            Ok(User { dataset: self.target(kind, member(dataset)?)?, axis })
        };
        list.elements().map(user).collect()
    }

    fn target(&self, kind: Reference, bytes: &[u8]) -> Result<ReferenceTarget> {
        let container = &self.file.container;
        ReferenceTarget::read(&container.store, &container.heap, kind, bytes)
    }

    /// Checks that an attribute has one element for each dimension.
    fn check_count(&self, name: &'static str, count: usize) -> Result<()> {
        if count == self.rank {
            return Ok(());
        }
        Err(Error::corrupt(name, "number of elements", self.rank.to_string(), count))
    }

    /// Makes the dataset a dimension scale.
    pub(super) fn set_class(&self, edit: &mut Edit<'_>) -> Result<()> {
        if self.is_scale()? {
            return Ok(());
        }
        if attributes::find(&self.file.container, self.header, CLASS.as_bytes())?.is_some() {
            let message = "the dataset has an attribute `CLASS` that does not state a dimension scale";
            return Err(Error::Misuse(message.into()));
        }
        self.set_text(edit, CLASS, SCALE)
    }

    /// Sets the name of the dimension scale.
    pub(super) fn set_name(&self, edit: &mut Edit<'_>, name: &str) -> Result<()> {
        if name.contains('\0') {
            return Err(Error::Misuse("the name of a dimension scale cannot have a null character".into()));
        }
        self.set_text(edit, NAME, name.as_bytes())
    }

    /// Sets an attribute to a null-terminated text.
    fn set_text(&self, edit: &mut Edit<'_>, name: &'static str, text: &[u8]) -> Result<()> {
        let bytes = [text, &[0]].concat();
        let size = u32::try_from(bytes.len()).map_err(|_| Error::Misuse(format!("a `{name}` of 4 GiB")))?;
        let datatype = Datatype::fixed_string(size, StringPadding::NullTerminated, CharacterSet::Ascii);
        self.set(edit, name, &datatype, &Dataspace::Scalar, &bytes)
    }

    /// Sets the labels of all dimensions.
    pub(super) fn set_labels(&self, edit: &mut Edit<'_>, labels: &[Vec<u8>]) -> Result<()> {
        if labels.iter().any(|label| label.contains(&0)) {
            return Err(Error::Misuse("the label of a dimension cannot have a null character".into()));
        }
        let texts: Vec<&[u8]> = labels.iter().map(Vec::as_slice).collect();
        let data = self.file.store_texts(edit, &texts)?;
        let datatype = Datatype::variable_string(CharacterSet::Ascii, self.width());
        self.set(edit, LABELS, &datatype, &Dataspace::simple(&[to_u64(labels.len())]), &data)
    }

    /// Sets the dimension scales of all dimensions. Removes the attribute if no dimension has a
    /// scale.
    pub(super) fn set_scales(&self, edit: &mut Edit<'_>, lists: &[Vec<ReferenceTarget>]) -> Result<()> {
        if lists.iter().all(Vec::is_empty) {
            return self.file.remove_attribute(edit, self.header.address(), SCALES.as_bytes());
        }
        let arena = Arc::new(VariableArena::default());
        let mut descriptors = crate::dataset::zeroed_elements(lists.len(), DESCRIPTOR_BYTES)?;
        for (list, descriptor) in lists.iter().zip(descriptors.chunks_exact_mut(DESCRIPTOR_BYTES)) {
            let references = list.iter().map(|target| self.reference(edit, target));
            let references = references.collect::<Result<Vec<Vec<u8>>>>()?.concat();
            arena.store(&references, list.len(), descriptor)?;
        }
        let base = Datatype::object_reference(REFERENCE_BYTES);
        let memory = Datatype::sequence(base.clone(), 8);
        let datatype = Datatype::sequence(base, self.width());
        let conversions = conversion::defaults().with_source_heap(arena);
        let data = self.file.store_converted(edit, &conversions, (&memory, &datatype), &descriptors)?;
        self.set(edit, SCALES, &datatype, &Dataspace::simple(&[to_u64(lists.len())]), &data)
    }

    /// Sets the dimensions to which the dimension scale is attached. Removes the attribute if there
    /// are none.
    pub(super) fn set_users(&self, edit: &mut Edit<'_>, users: &[User]) -> Result<()> {
        if users.is_empty() {
            if attributes::find(&self.file.container, self.header, USERS.as_bytes())?.is_none() {
                return Ok(());
            }
            return self.file.remove_attribute(edit, self.header.address(), USERS.as_bytes());
        }
        let member =
            |name: &str, offset, datatype| Member { name: name.as_bytes().to_vec(), offset, datatype };
        let datatype = Datatype::compound(
            USER_BYTES,
            vec![
                member("dataset", 0, Datatype::object_reference(REFERENCE_BYTES)),
                member("dimension", u32::from(REFERENCE_BYTES), Datatype::u32(LITTLE)),
            ],
        );
        let mut data = Vec::new();
        for user in users {
            data.extend(self.reference(edit, &user.dataset)?);
            data.extend(user.axis.to_le_bytes());
            data.resize(data.len().next_multiple_of(USER_BYTES as usize), 0);
        }
        self.set(edit, USERS, &datatype, &Dataspace::simple(&[to_u64(users.len())]), &data)
    }

    fn reference(&self, edit: &mut Edit<'_>, target: &ReferenceTarget) -> Result<Vec<u8>> {
        self.file.store_reference(edit, KIND, usize::from(REFERENCE_BYTES), target)
    }

    /// Returns the size of addresses in the file in bytes.
    fn width(&self) -> u8 {
        self.file.container.params().size_of_offsets
    }

    fn set(
        &self,
        edit: &mut Edit<'_>,
        name: &'static str,
        datatype: &Datatype,
        dataspace: &Dataspace,
        data: &[u8],
    ) -> Result<()> {
        let name = name.as_bytes();
        let attribute =
            NewAttribute { name, charset: CharacterSet::Ascii, datatype, committed: None, dataspace, data };
        self.file.set_attribute(edit, self.header.address(), &attribute)
    }
}

const LITTLE: crate::datatype::ByteOrder = crate::datatype::ByteOrder::LittleEndian;

/// Returns the error for an attribute of another datatype.
fn unexpected(name: &'static str, expected: &str, got: &Datatype) -> Error {
    Error::corrupt(name, "datatype", expected, got)
}
