//! Attributes.

use std::fmt;
use std::sync::Arc;

use hyperslab_engine::ops::attributes::{self, Attribute as EngineAttribute, DecodedAttribute};
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, Dimension};
use parking_lot::RwLock;

#[cfg(feature = "ndarray")]
use crate::Reference;
#[cfg(feature = "ndarray")]
use crate::dataset::array;
use crate::dataset::shape;
use crate::{CharacterSet, Dataspace, Datatype, DynArray, H5Type, Object, ObjectToken, Stored};

/// A handle of an attribute: a named value of an object.
///
/// Each method decodes the current datatype, shape and elements. If the attribute was set again
/// after the handle was opened, the method returns the new value. If the attribute was removed or
/// renamed, the method returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound). The handle
/// keeps the object open: see [`Group::remove`](crate::Group::remove).
pub struct Attribute {
    owner: Arc<Object>,
    attribute: EngineAttribute,
    /// The generation of the file in which the attribute was found.
    found: u64,
    /// The decoded value in a box, because lists of attributes are sorted before any value is
    /// decoded.
    value: RwLock<Option<Box<Decoded>>>,
}

/// The cached, decoded value of an attribute. The file's generation (a number that each change of
/// the file increases) shows whether the value is still current.
#[derive(Debug, Clone)]
struct Decoded {
    generation: u64,
    value: Arc<DecodedAttribute>,
}

impl Clone for Attribute {
    fn clone(&self) -> Self {
        let value = RwLock::new(self.value.read().clone());
        Self { owner: Arc::clone(&self.owner), attribute: self.attribute.clone(), found: self.found, value }
    }
}

impl Attribute {
    /// Returns the handle of an attribute that was just found in the object `owner`. The caller
    /// holds shared access to the structure of the file ([`Reading`]).
    pub(crate) fn new(owner: Arc<Object>, attribute: EngineAttribute) -> Self {
        let found = owner.file().container.store.generation();
        Self { owner, attribute, found, value: RwLock::default() }
    }

    /// Returns the name of the attribute. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(self.name_bytes()).into_owned()
    }

    /// Returns the bytes of the attribute's name.
    pub fn name_bytes(&self) -> &[u8] {
        self.attribute.name()
    }

    /// Returns the character set of the attribute's name.
    pub fn charset(&self) -> CharacterSet {
        self.attribute.charset
    }

    /// Returns the position of the attribute in the order of creation. If the object does not track
    /// this order, returns the position in the object header, or `None` for an attribute in dense
    /// storage.
    pub fn creation_order(&self) -> Option<u32> {
        self.attribute.creation_order
    }

    /// Returns the current decoded value of the attribute, and a lock that keeps the value and its
    /// variable-length data unchanged.
    fn value(&self) -> Result<(Arc<DecodedAttribute>, Reading<'_>)> {
        let reading = self.owner.file().reading()?;
        let value = self.decoded().map_err(|error| error.context(format!("attribute `{}`", self.name())))?;
        Ok((value, reading))
    }

    /// Returns the current decoded value of the attribute. The caller holds shared access to the
    /// structure of the file ([`Reading`]).
    fn decoded(&self) -> Result<Arc<DecodedAttribute>> {
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
            let now = now.ok_or_else(|| Error::NotFound { subject: "attribute", name: self.name() })?;
            now.value(container)?
        };
        let value = Arc::new(value);
        *self.value.write() = Some(Box::new(Decoded { generation, value: Arc::clone(&value) }));
        Ok(value)
    }

    /// Returns the datatype of the attribute's elements.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the attribute message is damaged.
    pub fn datatype(&self) -> Result<Datatype> {
        Ok(self.value()?.0.datatype.clone())
    }

    /// Returns the token of the committed datatype that the attribute uses, or `None` if the
    /// attribute has its own datatype.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the attribute message is damaged.
    pub fn committed_datatype(&self) -> Result<Option<ObjectToken>> {
        let (value, _reading) = self.value()?;
        let store = &self.owner.file().container.store;
        Ok(value.committed.map(|address| ObjectToken::of(store, address)))
    }

    /// Returns the dataspace of the attribute.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the attribute message is damaged.
    pub fn dataspace(&self) -> Result<Dataspace> {
        Ok(self.value()?.0.dataspace.clone())
    }

    /// Reads all elements of the attribute in the stored form. Elements that were never written are
    /// zero bytes.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_attribute("names", ["a", "bcd"])?;
    /// assert_eq!(file.attribute("names")?.read_stored()?.strings()?, ["a", "bcd"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the attribute message is damaged.
    pub fn read_stored(&self) -> Result<Stored> {
        let (value, _reading) = self.value()?;
        let bytes =
            stored_bytes(&value).map_err(|error| error.context(format!("attribute `{}`", self.name())))?;
        Ok(Stored::new(Arc::clone(self.owner.file()), value.datatype.clone(), bytes))
    }

    /// Reads all elements of the attribute into an array that has the shape of the attribute.
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
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the attribute has a number of
    /// dimensions other than `D`, and an error if the datatype cannot be converted to `T`.
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self) -> Result<Array<T, D>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.convert()?)
    }

    /// Reads the single element of a scalar attribute as a value of the type `T`.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_attribute("offset", 273.15)?;
    /// assert_eq!(file.attribute("offset")?.read_scalar::<f64>()?, 273.15);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) unless the attribute has one
    /// element, and an error if the datatype cannot be converted to `T`.
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

    /// Reads all elements of the attribute as an array of dynamic values, whatever the datatype is.
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
    /// Returns an error if the elements, or the variable-length data that they refer to, cannot be
    /// read.
    pub fn read_dyn(&self) -> Result<DynArray> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        Ok(DynArray::new(shape, self.read_stored()?.column()?))
    }

    /// Reads all elements of the attribute as references.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not references
    /// or the attribute has another number of dimensions than `D`, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind) if an element refers to no object of its heap.
    #[cfg(feature = "ndarray")]
    pub fn read_references<D: Dimension>(&self) -> Result<Array<Reference, D>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.references()?)
    }

    /// Reads all elements of an attribute of variable-length sequences. Each sequence becomes a
    /// vector.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not sequences
    /// or the attribute has another number of dimensions than `D`, and
    /// an error if the items cannot be converted to `T`.
    #[cfg(feature = "ndarray")]
    pub fn read_sequences<T: H5Type, D: Dimension>(&self) -> Result<Array<Vec<T>, D>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.sequences()?)
    }

    /// Reads all elements of an attribute of strings as an array of texts.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not strings
    /// or the attribute has another number of dimensions than `D`.
    #[cfg(feature = "ndarray")]
    pub fn read_strings<D: Dimension>(&self) -> Result<Array<String, D>> {
        let (value, _reading) = self.value()?;
        let shape = shape(&value.dataspace)?;
        array(&shape, self.read_stored()?.strings()?)
    }

    /// Reads the single element of a scalar attribute of strings as text.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_attribute("units", "K")?;
    /// assert_eq!(file.attribute("units")?.read_string()?, "K");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) unless the attribute has one
    /// element, and the element is a string.
    pub fn read_string(&self) -> Result<String> {
        let (_, _reading) = self.value()?;
        let strings = self.read_stored()?.strings()?;
        <[String; 1]>::try_from(strings).map(|[string]| string).map_err(|strings| {
            Error::Misuse(format!(
                "attribute `{}` has {} elements instead of one",
                self.name(),
                strings.len()
            ))
        })
    }
}

/// Returns the bytes of all elements in an attribute message. If the message has no data, returns
/// zero bytes.
pub(crate) fn stored_bytes(value: &DecodedAttribute) -> Result<Vec<u8>> {
    let bytes = value
        .dataspace
        .element_count()
        .and_then(|count| count.checked_mul(u64::from(value.datatype.size)))
        .and_then(|bytes| usize::try_from(bytes).ok());
    let expected = bytes.ok_or_else(|| {
        Error::corrupt("attribute message", "dataspace", "elements that fit into memory", "more")
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
