//! Attributes.

use std::fmt;
use std::sync::Arc;

use hyperslab_engine::ops::attributes::{self, Attribute as EngineAttribute, AttributeValue};
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, ArrayD, Dimension};
use parking_lot::RwLock;

#[cfg(feature = "ndarray")]
use crate::Reference;
#[cfg(feature = "ndarray")]
use crate::dataset::array;
use crate::dataset::shape;
use crate::{CharacterSet, Dataspace, Datatype, DynArray, H5Type, Object, ObjectToken, Stored};

/// A named value beside an object. Its type, shape and elements are decoded when they are asked for, as they are then: of an
/// attribute that was set again the new ones. An attribute that was removed, or has another name by now, is not found any
/// more. The handle keeps the object in the file: see [`Group::remove`](crate::Group::remove).
pub struct Attribute {
    owner: Arc<Object>,
    attribute: EngineAttribute,
    /// The generation of the file in which the attribute was found.
    found: u64,
    /// Behind a pointer: many attributes are put in order before anybody asks for a value.
    value: RwLock<Option<Box<Decoded>>>,
}

/// A value, and the generation of the file in which it was that.
#[derive(Debug, Clone)]
struct Decoded {
    generation: u64,
    value: Arc<AttributeValue>,
}

impl Clone for Attribute {
    fn clone(&self) -> Self {
        let value = RwLock::new(self.value.read().clone());
        Self { owner: Arc::clone(&self.owner), attribute: self.attribute.clone(), found: self.found, value }
    }
}

impl Attribute {
    /// An attribute of `owner` as it was found just now; the caller holds the file.
    pub(crate) fn new(owner: Arc<Object>, attribute: EngineAttribute) -> Self {
        let found = owner.file().container.store.generation();
        Self { owner, attribute, found, value: RwLock::default() }
    }

    /// The name; bytes that are not UTF-8 are replaced.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(self.name_bytes()).into_owned()
    }

    /// The name, as the bytes in the file.
    pub fn name_bytes(&self) -> &[u8] {
        self.attribute.name()
    }

    /// How the name is encoded.
    pub fn charset(&self) -> CharacterSet {
        self.attribute.charset
    }

    /// When it was created among the attributes of its object. Where that is not tracked, attributes in the
    /// object header have their place in it instead, and others have none.
    pub fn creation_order(&self) -> Option<u32> {
        self.attribute.creation_order
    }

    /// The value as it is, and stays, with what it leads to, while the second value lives.
    fn value(&self) -> Result<(Arc<AttributeValue>, Reading<'_>)> {
        let reading = self.owner.file().reading()?;
        let value = self.decoded().map_err(|error| error.context(format!("attribute `{}`", self.name())))?;
        Ok((value, reading))
    }

    /// The value as it is; the caller holds the file.
    fn decoded(&self) -> Result<Arc<AttributeValue>> {
        let container = &self.owner.file().container;
        let generation = container.store.generation();
        if let Some(known) = &*self.value.read()
            && known.generation == generation
        {
            return Ok(Arc::clone(&known.value));
        }
        let value = if generation == self.found {
            self.attribute.value(container)?
        } else {
            let name = self.name_bytes();
            let now = attributes::find(container, &*self.owner.header()?, name)?;
            let now = now.ok_or_else(|| Error::NotFound { what: "attribute", name: self.name() })?;
            now.value(container)?
        };
        let value = Arc::new(value);
        *self.value.write() = Some(Box::new(Decoded { generation, value: Arc::clone(&value) }));
        Ok(value)
    }

    /// The type of the elements.
    ///
    /// # Errors
    /// If the attribute's message is damaged.
    pub fn datatype(&self) -> Result<Datatype> {
        Ok(self.value()?.0.datatype.clone())
    }

    /// The committed datatype that is used, if one is.
    ///
    /// # Errors
    /// If the attribute's message is damaged.
    pub fn committed_datatype(&self) -> Result<Option<ObjectToken>> {
        let (value, _reading) = self.value()?;
        let store = &self.owner.file().container.store;
        Ok(value.committed.map(|address| ObjectToken::of(store, address)))
    }

    /// How many elements there are.
    ///
    /// # Errors
    /// If the attribute's message is damaged.
    pub fn dataspace(&self) -> Result<Dataspace> {
        Ok(self.value()?.0.dataspace.clone())
    }

    /// The elements as stored; those never written are zero bytes.
    ///
    /// # Errors
    /// If the attribute's message is damaged.
    pub fn read_stored(&self) -> Result<Stored> {
        let (value, _reading) = self.value()?;
        let bytes =
            stored_bytes(&value).map_err(|error| error.context(format!("attribute `{}`", self.name())))?;
        Ok(Stored::new(Arc::clone(self.owner.file()), value.datatype.clone(), bytes))
    }

    /// All elements as an array of the attribute's shape.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/attributes_latest.h5");
    /// # let file = hyperslab::File::open(path)?;
    /// for attribute in file.attributes()? {
    ///     if attribute.datatype()?.is_number() {
    ///         println!("{} = {}", attribute.name(), attribute.read::<f64, hyperslab::IxDyn>()?);
    ///     }
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error if the type of the elements cannot be converted to `T`, or the attribute has another number of dimensions
    /// than `D`.
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self) -> Result<Array<T, D>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.convert()?)
    }

    /// The only element.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if there is another number of elements than one.
    pub fn read_scalar<T: H5Type>(&self) -> Result<T> {
        let (_, _reading) = self.value()?;
        match self.read_stored()?.convert::<T>()?.as_slice() {
            [value] => Ok(*value),
            values => Err(Error::Misuse(format!(
                "attribute `{}` has {} elements instead of one",
                self.name(),
                values.len()
            ))),
        }
    }

    /// All elements, whatever their type.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/attributes_latest.h5");
    /// # let file = hyperslab::File::open(path)?;
    /// for attribute in file.attributes()? {
    ///     println!("{} = {:?}", attribute.name(), attribute.read_dyn()?.column().get(0));
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the elements cannot be read, or what they point at.
    pub fn read_dyn(&self) -> Result<DynArray> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        Ok(DynArray::new(shape, self.read_stored()?.column()?))
    }

    /// All elements as references, to be followed.
    ///
    /// # Errors
    /// If they are no references, or lead out of their heap.
    #[cfg(feature = "ndarray")]
    pub fn read_references(&self) -> Result<ArrayD<Reference>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.references()?)
    }

    /// All elements as vectors, for sequences of variable length.
    ///
    /// # Errors
    /// If they are no sequences, or their items cannot be converted to `T`.
    #[cfg(feature = "ndarray")]
    pub fn read_sequences<T: H5Type>(&self) -> Result<ArrayD<Vec<T>>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.sequences()?)
    }

    /// All elements as text.
    ///
    /// # Errors
    /// If they are no strings.
    #[cfg(feature = "ndarray")]
    pub fn read_strings(&self) -> Result<ArrayD<String>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.strings()?)
    }

    /// The only element as text.
    ///
    /// # Errors
    /// As [`read_strings`](Self::read_strings), and if there is another number of elements than one.
    pub fn read_string(&self) -> Result<String> {
        let (_, _reading) = self.value()?;
        let mut strings = self.read_stored()?.strings()?;
        match (strings.pop(), strings.len()) {
            (Some(string), 0) => Ok(string),
            (_, rest) => Err(Error::Misuse(format!(
                "attribute `{}` has {rest} elements beside the last instead of one",
                self.name()
            ))),
        }
    }
}

/// The bytes of all elements, zeros where the message holds none.
fn stored_bytes(value: &AttributeValue) -> Result<Vec<u8>> {
    let bytes = value
        .dataspace
        .element_count()
        .and_then(|count| count.checked_mul(u64::from(value.datatype.size)))
        .and_then(|bytes| usize::try_from(bytes).ok());
    let expected = bytes.ok_or_else(|| {
        Error::corrupt("attribute message", "dataspace", "elements that memory can hold", "more")
    })?;
    if value.data.is_empty() && expected <= 1 << 16 {
        return Ok(vec![0; expected]);
    }
    match value.data.get(..expected) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(Error::corrupt(
            "attribute message",
            "data",
            format!("{expected} bytes"),
            format_args!("{} bytes", value.data.len()),
        )),
    }
}

impl fmt::Debug for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attribute({:?})", self.name())
    }
}
