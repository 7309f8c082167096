//! Changes of attributes and comments.

use std::borrow::Cow;
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::ops::attributes::{self, NewAttribute};
use hyperslab_engine::ops::objects;
use hyperslab_engine::store::Edit;
#[cfg(feature = "ndarray")]
use ndarray::{ArrayBase, Data, Dimension};

use crate::datatype::convert::VariableArena;
use crate::dynamic::Encoder;
use crate::group_edit::charset;
use crate::{ArrayData, CharacterSet, Dataspace, Datatype, H5Type, Object, Value, conversion};

/// A value for an attribute: a number, a text, a slice, a vector or an array. [`Scalar`] wraps any
/// other [`H5Type`].
///
/// ```
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// file.set_attribute("units", "K")?;
/// file.set_attribute("offset", 273.15)?;
/// file.set_attribute("range", [0_u16, 500])?;
/// file.set_attribute("names", ["a", "bcd"])?;
/// assert_eq!(file.attribute("units")?.read_string()?, "K");
/// assert_eq!(file.attribute("range")?.read::<i32, hyperslab::IxDyn>()?.into_raw_vec_and_offset().0, [0, 500]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub trait AttributeValue {
    /// Returns the attribute value in the form that the file stores.
    fn content(&self) -> AttributeContent<'_>;
}

/// The value of a new attribute in the form that the file stores.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AttributeContent<'a> {
    /// Elements of a datatype.
    Elements {
        /// The datatype.
        datatype: Datatype,
        /// The dataspace.
        dataspace: Dataspace,
        /// The bytes of the elements.
        bytes: Cow<'a, [u8]>,
    },
    /// Texts, stored as variable-length strings.
    Strings {
        /// The dataspace.
        dataspace: Dataspace,
        /// The texts.
        texts: Vec<&'a str>,
    },
}

/// A wrapper that makes a single element of any type the value of a scalar attribute.
///
/// ```
/// use hyperslab::{FixedText, Scalar};
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// file.set_attribute("unit", Scalar(FixedText::<4>::new("mm").unwrap()))?;
/// assert_eq!(file.attribute("unit")?.read_scalar::<FixedText<4>>()?.as_str(), "mm");
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar<T>(pub T);

fn one<T: H5Type>(value: &T) -> AttributeContent<'_> {
    let bytes = T::to_bytes(std::slice::from_ref(value));
    AttributeContent::Elements { datatype: T::datatype(), dataspace: Dataspace::Scalar, bytes }
}

fn many<'a, A: ArrayData + ?Sized>(array: &'a A) -> AttributeContent<'a> {
    let bytes = match array.elements() {
        Cow::Borrowed(elements) => <A::Element as H5Type>::to_bytes(elements),
        Cow::Owned(elements) => Cow::Owned(<A::Element as H5Type>::to_bytes(&elements).into_owned()),
    };
    let dims = array.dims();
    let dataspace = if dims.is_empty() { Dataspace::Scalar } else { Dataspace::simple(&dims) };
    AttributeContent::Elements { datatype: <A::Element as H5Type>::datatype(), dataspace, bytes }
}

impl<T: H5Type> AttributeValue for Scalar<T> {
    fn content(&self) -> AttributeContent<'_> {
        one(&self.0)
    }
}

macro_rules! scalars {
    ($($type:ty)*) => {$(
        impl AttributeValue for $type {
            fn content(&self) -> AttributeContent<'_> {
                one(self)
            }
        }

        impl AttributeValue for [$type] {
            fn content(&self) -> AttributeContent<'_> {
                many(self)
            }
        }

        impl<const N: usize> AttributeValue for [$type; N] {
            fn content(&self) -> AttributeContent<'_> {
                many(self)
            }
        }

        impl AttributeValue for Vec<$type> {
            fn content(&self) -> AttributeContent<'_> {
                many(self)
            }
        }
    )*};
}

scalars!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool);

#[cfg(feature = "ndarray")]
impl<T: H5Type, S: Data<Elem = T>, D: Dimension> AttributeValue for ArrayBase<S, D> {
    fn content(&self) -> AttributeContent<'_> {
        many(self)
    }
}

impl AttributeValue for str {
    fn content(&self) -> AttributeContent<'_> {
        AttributeContent::Strings { dataspace: Dataspace::Scalar, texts: vec![self] }
    }
}

impl AttributeValue for String {
    fn content(&self) -> AttributeContent<'_> {
        self.as_str().content()
    }
}

fn texts<'a, S: AsRef<str>>(texts: &'a [S]) -> AttributeContent<'a> {
    let dataspace = Dataspace::simple(&[texts.len() as u64]);
    AttributeContent::Strings { dataspace, texts: texts.iter().map(AsRef::as_ref).collect() }
}

macro_rules! strings {
    ($($type:ty)*) => {$(
        impl AttributeValue for [$type] {
            fn content(&self) -> AttributeContent<'_> {
                texts(self)
            }
        }

        impl<const N: usize> AttributeValue for [$type; N] {
            fn content(&self) -> AttributeContent<'_> {
                texts(self)
            }
        }

        impl AttributeValue for Vec<$type> {
            fn content(&self) -> AttributeContent<'_> {
                texts(self)
            }
        }
    )*};
}

strings!(&str String);

impl<V: AttributeValue + ?Sized> AttributeValue for &V {
    fn content(&self) -> AttributeContent<'_> {
        (**self).content()
    }
}

impl Object {
    /// Changes the file of the object: runs `work` with exclusive access to the file. `subject`
    /// returns the context of errors.
    pub(crate) fn change<T>(
        &self,
        subject: impl FnOnce() -> String,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.file()
            .container
            .store
            .check_not_swmr_writer("no attribute can be created, deleted or changed")?;
        let mut edit = self.file().edit()?;
        let outcome = work(&mut edit).map_err(|error| error.context(subject()))?;
        self.file().finish(edit)?;
        Ok(outcome)
    }

    /// Changes the object's attribute `name` in memory by a call of the function `set`. The object
    /// header is written to the file later.
    pub(crate) fn set<'a>(
        &self,
        name: &str,
        set: impl FnOnce(&mut Edit<'_>) -> Result<()> + 'a,
    ) -> Result<()> {
        self.change_deferred(|| format!("cannot set the attribute `{name}` of `{}`", self.name()), set)
    }

    /// Removes the object's attribute whose name consists of the bytes `name`. The object header is
    /// written to the file later.
    pub(crate) fn remove(&self, name: &[u8]) -> Result<()> {
        let subject =
            || format!("cannot remove the attribute `{}` of `{}`", objects::lossy(name), self.name());
        self.change_deferred(subject, |edit| self.file().remove_attribute(edit, self.address(), name))
    }

    /// Changes the object in memory: runs `work` with exclusive access to the file. The object
    /// header is written to the file later. `subject` returns the context of errors.
    fn change_deferred(
        &self,
        subject: impl FnOnce() -> String,
        work: impl FnOnce(&mut Edit<'_>) -> Result<()>,
    ) -> Result<()> {
        self.file()
            .container
            .store
            .check_not_swmr_writer("no attribute can be created, deleted or changed")?;
        let mut edit = self.file().edit_deferred()?;
        work(&mut edit).map_err(|error| error.context(subject()))?;
        self.file().finish(edit)
    }

    /// Sets an attribute of the object: creates the attribute, or replaces its value, datatype and
    /// shape. See [`AttributeValue`] for an example.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading
    /// only, or if the value is too large for the object header of an object without dense storage.
    pub fn set_attribute(&self, name: &str, value: impl AttributeValue) -> Result<()> {
        self.set_content(name, value.content())
    }

    /// Sets an attribute of the object to elements in the stored form, which are written without
    /// conversion.
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute), and an error unless `bytes`
    /// has the length of all elements.
    pub fn set_attribute_stored(
        &self,
        name: &str,
        datatype: &Datatype,
        dataspace: &Dataspace,
        bytes: &[u8],
    ) -> Result<()> {
        self.set(name, |edit| {
            let attribute = NewAttribute {
                name: name.as_bytes(),
                charset: charset(name),
                datatype,
                committed: None,
                dataspace,
                data: bytes,
            };
            self.file().set_attribute(edit, self.address(), &attribute)
        })
    }

    /// Sets an attribute of the object to dynamic values of any datatype: compounds with
    /// variable-length members, sequences, arrays.
    ///
    /// ```
    /// use hyperslab::{CharacterSet, Dataspace, Datatype, Value};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let person = Datatype::packed([("name", Datatype::variable_string(CharacterSet::Utf8, 8)), ("age", Datatype::u8())]);
    /// let ada = Value::Compound(vec![("name".into(), Value::Text("Ada".into())), ("age".into(), Value::Integer(36))]);
    /// file.root().set_attribute_values("operator", &person, &Dataspace::Scalar, &[ada.clone()])?;
    /// assert_eq!(file.attribute("operator")?.read_dyn()?.get(&[]), Some(ada));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute),
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a value does not fit the datatype or the
    /// number of values is not the number of elements, and
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for references and times.
    pub fn set_attribute_values(
        &self,
        name: &str,
        datatype: &Datatype,
        dataspace: &Dataspace,
        values: &[Value],
    ) -> Result<()> {
        let file = self.file();
        let arena = VariableArena::default();
        let encoder = Encoder::new(datatype)?;
        let bytes = encoder.encode(values, &arena)?;
        let conversions = conversion::defaults().with_source_heap(Arc::new(arena));
        self.set(name, |edit| {
            let data = file.store_converted(edit, &conversions, (encoder.memory(), datatype), &bytes)?;
            let attribute = NewAttribute {
                name: name.as_bytes(),
                charset: charset(name),
                datatype,
                committed: None,
                dataspace,
                data: &data,
            };
            file.set_attribute(edit, self.address(), &attribute)
        })
    }

    fn set_content(&self, name: &str, content: AttributeContent<'_>) -> Result<()> {
        match content {
            AttributeContent::Elements { datatype, dataspace, bytes } => {
                self.set_attribute_stored(name, &datatype, &dataspace, &bytes)
            }
            AttributeContent::Strings { dataspace, texts } => self.set_texts(name, &dataspace, &texts),
        }
    }

    /// Sets an attribute of the object to texts. The texts are stored as variable-length strings,
    /// as h5py does.
    fn set_texts(&self, name: &str, dataspace: &Dataspace, texts: &[&str]) -> Result<()> {
        let file = self.file();
        let width = file.container.params().size_of_offsets;
        let datatype = Datatype::variable_string(CharacterSet::Utf8, width);
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        self.set(name, |edit| {
            let data = file.store_texts(edit, &texts)?;
            let attribute = NewAttribute {
                name: name.as_bytes(),
                charset: charset(name),
                datatype: &datatype,
                committed: None,
                dataspace,
                data: &data,
            };
            self.file().set_attribute(edit, self.address(), &attribute)
        })
    }

    /// Sets the comment of the object. An empty text removes the comment.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let group = file.create_group("a")?;
    /// group.set_comment("measured on Monday")?;
    /// assert_eq!(group.comment()?.as_deref(), Some(&b"measured on Monday"[..]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading
    /// only.
    pub fn set_comment(&self, text: &str) -> Result<()> {
        self.set_comment_bytes(text.as_bytes())
    }

    /// Sets the comment of the object to bytes of any encoding. No bytes remove the comment.
    ///
    /// # Errors
    /// As [`set_comment`](Self::set_comment).
    pub fn set_comment_bytes(&self, text: &[u8]) -> Result<()> {
        let subject = || format!("cannot comment on `{}`", self.name());
        self.change(subject, |edit| objects::set_comment(edit, self.address(), text))
    }

    /// Removes an attribute of the object.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the attribute does not exist.
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.remove(name.as_bytes())
    }

    /// Renames an attribute of the object from `from` to `to`.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.set_attribute("unit", "K")?;
    /// file.rename_attribute("unit", "units")?;
    /// assert_eq!(file.attribute_names()?, ["units"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the attribute `from` does not
    /// exist, and [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the attribute `to` exists.
    pub fn rename_attribute(&self, from: &str, to: &str) -> Result<()> {
        let subject = || format!("cannot rename the attribute `{from}` of `{}`", self.name());
        self.change(subject, |edit| {
            let container = &self.file().container;
            attributes::rename(container, edit, self.address(), from.as_bytes(), (to.as_bytes(), charset(to)))
        })
    }
}
