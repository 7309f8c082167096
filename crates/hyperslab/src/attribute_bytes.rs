//! Attributes as bytes of any datatype, with names as bytes.

use std::borrow::Cow;

use hyperslab_engine::ops::attributes::{self, NewAttribute};
use hyperslab_engine::{Error, Result};

use crate::datatype::convert::Conversions;
use crate::{Attribute, CharacterSet, CommittedDatatype, Dataspace, Datatype, Object};

/// A value for a new attribute: elements in memory, and the datatype in which the file stores these
/// elements.
#[derive(Debug, Clone, Copy)]
pub struct AttributeElements<'a> {
    /// The bytes of the name.
    pub name: &'a [u8],
    /// The character set of the name.
    pub charset: CharacterSet,
    /// The datatype in the file.
    pub datatype: &'a Datatype,
    /// The committed datatype that the attribute uses.
    pub committed: Option<&'a CommittedDatatype>,
    /// The dataspace.
    pub dataspace: &'a Dataspace,
    /// The datatype of the elements in memory; `None` if the elements are in the stored form.
    pub memory: Option<&'a Datatype>,
    /// The elements.
    pub bytes: &'a [u8],
}

/// The name, datatype and dataspace of a new attribute, without a value.
#[derive(Debug, Clone, Copy)]
pub struct AttributeForm<'a> {
    /// The bytes of the name.
    pub name: &'a [u8],
    /// The character set of the name.
    pub charset: CharacterSet,
    /// The datatype in the file.
    pub datatype: &'a Datatype,
    /// The committed datatype that the attribute uses.
    pub committed: Option<&'a CommittedDatatype>,
    /// The dataspace.
    pub dataspace: &'a Dataspace,
}

impl Object {
    /// Creates an attribute of an object. The elements are zero bytes: numbers are 0, and texts and
    /// sequences are empty.
    ///
    /// ```
    /// use hyperslab::{AttributeForm, CharacterSet, Dataspace, ErrorKind, H5Type, Ix1};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let form = AttributeForm {
    ///     name: b"range",
    ///     charset: CharacterSet::Ascii,
    ///     datatype: &i16::datatype(),
    ///     committed: None,
    ///     dataspace: &Dataspace::simple(&[2]),
    /// };
    /// file.create_attribute(&form)?;
    /// assert_eq!(file.attribute("range")?.read::<i16, Ix1>()?.to_vec(), [0, 0]);
    /// assert_eq!(file.create_attribute(&form).unwrap_err().kind(), ErrorKind::Exists);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](crate::ErrorKind::Exists) if there is an attribute with this
    /// name, and the errors of [`set_attribute`](Self::set_attribute).
    pub fn create_attribute(&self, form: &AttributeForm<'_>) -> Result<()> {
        let (dataspace, size) = (form.dataspace, form.datatype.size as usize);
        let count = dataspace.element_count().map(hyperslab_exact::to_usize);
        let count = count
            .ok_or_else(|| Error::Misuse("the attribute has more elements than memory can hold".into()))??;
        let data = crate::dataset::zeroed_elements(count, size)?;
        let name = String::from_utf8_lossy(form.name);
        self.set(&name, |edit| {
            let attribute = NewAttribute {
                name: form.name,
                charset: form.charset,
                datatype: form.datatype,
                committed: form.committed.map(|committed| committed.address()),
                dataspace,
                data: &data,
            };
            self.file().with_attributes(edit, self.address(), |editor, edit| {
                if editor.contains(edit, form.name)? {
                    return Err(Error::Exists { subject: "attribute", name: name.clone().into_owned() });
                }
                editor.set(edit, &attribute).map(drop)
            })
        })
    }

    /// Returns true if the object has an attribute whose name consists of the bytes `name`.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// assert!(!file.has_attribute_named(b"units")?);
    /// file.set_attribute("units", "K")?;
    /// assert!(file.has_attribute_named(b"units")?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn has_attribute_named(&self, name: &[u8]) -> Result<bool> {
        let file = self.file();
        if file.has_open_editor(self.address()) {
            // The editor knows the answer, and a read would write its changes first.
            let mut edit = file.edit_deferred()?;
            if file.has_open_editor(self.address()) {
                let found = file
                    .with_attributes(&mut edit, self.address(), |editor, edit| editor.contains(edit, name));
                return found.map_err(|error| error.context(format!("attributes of `{}`", self.name())));
            }
        }
        let (header, _reading) = self.header_held()?;
        Ok(attributes::find(&file.container, &header, name)?.is_some())
    }

    /// Sets an attribute of an object to elements in memory. `conversions` converts the elements to
    /// the datatype in the file. Its source heap contains the variable-length data of the elements
    /// in memory.
    ///
    /// ```
    /// use hyperslab::{AttributeElements, CharacterSet, Dataspace, H5Type};
    /// use hyperslab::datatype::{ByteOrder, Datatype, convert::Conversions};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let elements = AttributeElements {
    ///     name: b"range",
    ///     charset: CharacterSet::Ascii,
    ///     datatype: &Datatype::i64(ByteOrder::BigEndian),
    ///     committed: None,
    ///     dataspace: &Dataspace::simple(&[2]),
    ///     memory: Some(&u8::datatype()),
    ///     bytes: &[3, 200],
    /// };
    /// file.set_attribute_elements(&elements, &Conversions::default())?;
    /// assert_eq!(file.attribute("range")?.read::<i16, hyperslab::Ix1>()?.to_vec(), [3, 200]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute), and of the conversion.
    pub fn set_attribute_elements(
        &self,
        elements: &AttributeElements<'_>,
        conversions: &Conversions,
    ) -> Result<()> {
        let name = String::from_utf8_lossy(elements.name);
        self.set(&name, |edit| {
            let datatype = elements.datatype;
            let data = match elements.memory {
                None => Cow::Borrowed(elements.bytes),
                Some(memory) if datatype.is_variable_length() => {
                    let types = (memory, datatype);
                    Cow::Owned(self.file().store_converted(edit, conversions, types, elements.bytes)?)
                }
                Some(memory) => Cow::Owned(convert(conversions, (memory, datatype), elements.bytes)?),
            };
            let attribute = NewAttribute {
                name: elements.name,
                charset: elements.charset,
                datatype,
                committed: elements.committed.map(|committed| committed.address()),
                dataspace: elements.dataspace,
                data: &data,
            };
            self.file().set_attribute(edit, self.address(), &attribute)
        })
    }

    /// Returns the number of attributes of the object.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_attribute("units", "K")?;
    /// assert_eq!(file.attribute_count()?, 1);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`attributes`](Self::attributes).
    pub fn attribute_count(&self) -> Result<u64> {
        let (header, _reading) = self.header_held()?;
        let mut count = 0;
        attributes::for_each(&self.file().container, &header, &mut |_| {
            count += 1;
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Returns the object's attribute whose name consists of the bytes `name`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the attribute does not exist.
    pub fn attribute_named(&self, name: &[u8]) -> Result<Attribute> {
        self.attribute_of_bytes(name)
    }

    /// Removes the object's attribute whose name consists of the bytes `name`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the attribute does not exist.
    pub fn remove_attribute_named(&self, name: &[u8]) -> Result<()> {
        self.remove(name)
    }

    /// Renames the object's attribute whose name consists of the bytes `from`. The new name
    /// consists of the bytes `to`.
    ///
    /// # Errors
    /// Returns the errors of [`rename_attribute`](Self::rename_attribute).
    pub fn rename_attribute_named(&self, from: &[u8], to: &[u8], charset: CharacterSet) -> Result<()> {
        let subject = || format!("cannot rename the attribute `{}`", from.escape_ascii());
        self.change(subject, |edit| {
            attributes::rename(&self.file().container, edit, self.address(), from, (to, charset))
        })
    }
}

impl Attribute {
    /// Reads all elements of the attribute into the caller's buffer `bytes`, as elements of the
    /// datatype `memory`. The destination heap of `conversions` gets the variable-length data.
    ///
    /// ```
    /// use hyperslab::{H5Type, datatype::convert::Conversions};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_attribute("range", [3_i32, 200])?;
    /// let mut bytes = [0; 2];
    /// file.attribute("range")?.read_bytes(&u8::datatype(), &Conversions::default(), &mut bytes)?;
    /// assert_eq!(bytes, [3, 200]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the buffer has another size than
    /// the elements. Returns the errors of the conversion, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind) if the attribute message is damaged.
    pub fn read_bytes(&self, memory: &Datatype, conversions: &Conversions, bytes: &mut [u8]) -> Result<()> {
        let stored = self.read_stored()?;
        let plan = stored.conversions(conversions.clone()).plan(stored.datatype(), memory)?;
        if stored.len().checked_mul(plan.destination_size()) != Some(bytes.len()) {
            let message = format!("{} elements of {memory} do not have {} bytes", stored.len(), bytes.len());
            return Err(Error::Misuse(message));
        }
        Ok(plan.convert(stored.bytes(), bytes, stored.len())?)
    }
}

fn convert(conversions: &Conversions, types: (&Datatype, &Datatype), bytes: &[u8]) -> Result<Vec<u8>> {
    let plan = conversions.plan(types.0, types.1)?;
    let count = bytes.len().checked_div(plan.source_size()).unwrap_or(0);
    let mut data = crate::dataset::zeroed_elements(count, plan.destination_size())?;
    plan.convert(bytes, &mut data, count)?;
    Ok(data)
}
