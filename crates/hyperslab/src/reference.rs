//! References: elements that point to objects, regions of datasets, or attributes.

use std::fmt;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::elements::ReferenceTarget as EngineTarget;
use hyperslab_engine::store::Store;
use hyperslab_engine::{Address, Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, Dimension};

#[cfg(feature = "ndarray")]
use crate::H5Type;
use crate::{Attribute, Dataset, File, Object, ObjectToken, Selection};

/// The target of a reference: an object, a selection of elements of a dataset, or an attribute.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReferenceTarget {
    /// Nothing.
    Null,
    /// An object of this file.
    Object(ObjectToken),
    /// Selected elements of a dataset of this file.
    Region(ObjectToken, Selection),
    /// An attribute of an object of this file, named by the bytes of the attribute name.
    Attribute(ObjectToken, Vec<u8>),
    /// A target in another file.
    External {
        /// The bytes of the file's name.
        file: Vec<u8>,
        /// The target in that file.
        target: Box<Self>,
    },
}

impl ReferenceTarget {
    /// Returns a reference target that is the object `object`.
    pub fn object(object: &Object) -> Self {
        Self::Object(object.token())
    }

    /// Converts the reference target to its stored form, with the addresses of objects in place of
    /// tokens. `store` is the file that will contain the reference.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind) if the object was deleted.
    pub(crate) fn stored(&self, store: &Store) -> Result<EngineTarget> {
        Ok(match self {
            Self::Null => EngineTarget::Null,
            Self::Object(token) => EngineTarget::Object(token.check(store)?),
            Self::Region(token, selection) => EngineTarget::Region(token.check(store)?, selection.clone()),
            Self::Attribute(token, name) => EngineTarget::Attribute(token.check(store)?, name.clone()),
            Self::External { file, target } => {
                EngineTarget::External { file: file.clone(), target: Box::new(target.in_other_file()) }
            }
        })
    }

    /// Converts a reference target in another file to its stored form, with the addresses of
    /// objects in place of tokens. The existence of the object is not checked.
    fn in_other_file(&self) -> EngineTarget {
        let address = |token: &ObjectToken| Address::new(token.address());
        match self {
            Self::Null => EngineTarget::Null,
            Self::Object(token) => EngineTarget::Object(address(token)),
            Self::Region(token, selection) => EngineTarget::Region(address(token), selection.clone()),
            Self::Attribute(token, name) => EngineTarget::Attribute(address(token), name.clone()),
            Self::External { file, target } => {
                EngineTarget::External { file: file.clone(), target: Box::new(target.in_other_file()) }
            }
        }
    }

    /// Creates a reference target from its stored form, with the tokens of objects in place of
    /// addresses. `store` is the file that contains the reference.
    pub(crate) fn new(store: &Store, target: EngineTarget) -> Self {
        Self::with(&|address| ObjectToken::of(store, address), target)
    }

    fn with(token: &dyn Fn(Address) -> ObjectToken, target: EngineTarget) -> Self {
        match target {
            EngineTarget::Null => Self::Null,
            EngineTarget::Object(address) => Self::Object(token(address)),
            EngineTarget::Region(address, selection) => Self::Region(token(address), selection),
            EngineTarget::Attribute(address, name) => Self::Attribute(token(address), name),
            EngineTarget::External { file, target } => {
                Self::External { file, target: Box::new(Self::with(&ObjectToken::in_other_file, *target)) }
            }
        }
    }
}

/// A reference to an object, elements or an attribute, together with the file from which the
/// reference was read.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/references_latest.h5");
/// # let file = hyperslab::File::open(path)?;
/// for reference in file.dataset("regions")?.read_references::<hyperslab::IxDyn>(..)? {
///     if !reference.is_null() {
///         let (dataset, selection) = reference.region()?;
///         let values = reference.read::<f64, hyperslab::IxDyn>()?;
///         println!("{selection:?} of {}: {values}", dataset.name());
///     }
/// }
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Reference {
    file: Arc<OpenFile>,
    target: ReferenceTarget,
}

impl Reference {
    pub(crate) fn new(file: Arc<OpenFile>, target: ReferenceTarget) -> Self {
        Self { file, target }
    }

    /// Returns `true` if the reference is null.
    pub fn is_null(&self) -> bool {
        self.target == ReferenceTarget::Null
    }

    /// Returns the target of the reference: an object, elements of a dataset, or an attribute.
    pub fn target(&self) -> &ReferenceTarget {
        &self.target
    }

    /// Resolves the reference to the file that contains its target. Returns this file, and the
    /// target within this file.
    fn resolved(&self) -> Result<(Arc<OpenFile>, &ReferenceTarget)> {
        match &self.target {
            ReferenceTarget::External { file, target } => {
                let name = String::from_utf8_lossy(file);
                let context = |error: Error| error.context(format!("reference into `{name}`"));
                Ok((self.file.other(file).map_err(context)?, target))
            }
            target => Ok((Arc::clone(&self.file), target)),
        }
    }

    fn misuse(&self, reason: &str) -> Error {
        Error::Misuse(format!("a reference to {} {reason}", TargetText(&self.target)))
    }

    /// Opens the object to which the reference refers. For a region reference, this is the dataset;
    /// for an attribute reference, the object with the attribute.
    ///
    /// A target in another file is searched like the target of an external link, under the same
    /// [`ExternalFiles`](crate::ExternalFiles) policy.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) for a null reference, and the errors
    /// of opening the object and its file.
    pub fn object(&self) -> Result<Object> {
        let (file, target) = self.resolved()?;
        let token = match target {
            ReferenceTarget::Object(token)
            | ReferenceTarget::Region(token, _)
            | ReferenceTarget::Attribute(token, _) => *token,
            ReferenceTarget::Null | ReferenceTarget::External { .. } => {
                return Err(self.misuse("leads to no object"));
            }
        };
        let name = token.to_string();
        Object::open_token(file, token, &name).map_err(|error| error.context(name))
    }

    /// Returns the dataset to which a region reference refers, and the selection of elements.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the target is not a region, and
    /// the errors of [`object`](Self::object).
    pub fn region(&self) -> Result<(Dataset, Selection)> {
        let selection = match &self.target {
            ReferenceTarget::Region(_, selection) => selection,
            ReferenceTarget::External { target, .. } => match &**target {
                ReferenceTarget::Region(_, selection) => selection,
                _ => return Err(self.misuse("is not a region")),
            },
            _ => return Err(self.misuse("is not a region")),
        };
        // The old encoding lists the blocks of every selection; `simplified` restores a regular
        // hyperslab.
        let dataset = self.object()?.into_dataset()?;
        Ok((dataset, selection.clone().simplified().map_err(Error::from)?))
    }

    /// Reads the elements to which the reference refers: the selected elements of a region
    /// reference, or all elements of a referenced dataset. A region that is a regular hyperslab has
    /// its own shape; the elements of other regions have one dimension.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the target is neither a dataset
    /// nor a region, and the errors of [`Dataset::read`].
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self) -> Result<Array<T, D>> {
        let (_, target) = self.resolved()?;
        if let ReferenceTarget::Object(_) = target {
            return self.object()?.into_dataset()?.read(..);
        }
        let (dataset, selection) = self.region()?;
        dataset.read(&selection)
    }

    /// Opens the attribute to which the reference refers.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the target is not an attribute,
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the attribute does not exist, and the
    /// errors of [`object`](Self::object).
    pub fn attribute(&self) -> Result<Attribute> {
        match self.resolved()?.1 {
            ReferenceTarget::Attribute(_, name) => self.object()?.attribute_of_bytes(name),
            _ => Err(self.misuse("is not an attribute")),
        }
    }
}

/// The text that names a target in messages.
impl File {
    /// Stores a reference to `target` in this file, and returns the `size` bytes of an element with
    /// this reference. The element has the form of the reference kind `kind`. If a part of the
    /// reference does not fit into the element, the file stores this part separately.
    ///
    /// ```
    /// use hyperslab::datatype::{Datatype, DatatypeClass};
    /// use hyperslab::ReferenceTarget;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let group = file.create_group("group")?;
    /// let DatatypeClass::Reference(kind) = Datatype::object_reference(8).class else { return Ok(()) };
    /// let element = file.store_reference(kind, 8, &ReferenceTarget::object(&group))?;
    /// assert_eq!(file.reference(kind, &element)?.object()?.token(), group.token());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a reference of this kind cannot
    /// refer to `target`, or if the file is open for reading only.
    pub fn store_reference(
        &self,
        kind: crate::datatype::Reference,
        size: usize,
        target: &ReferenceTarget,
    ) -> Result<Vec<u8>> {
        let file = self.root().file();
        let mut edit = file.edit()?;
        let stored = target.stored(&file.container.store)?;
        let element = file.store_reference(&mut edit, kind, size, &stored)?;
        file.finish(edit)?;
        Ok(element)
    }

    /// Decodes the stored bytes `element` of an element of this file as a reference of the kind
    /// `kind`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the element is damaged or the
    /// heap has no such data.
    pub fn reference(&self, kind: crate::datatype::Reference, element: &[u8]) -> Result<Reference> {
        let file = self.root().file();
        let _reading = file.reading()?;
        let container = &file.container;
        let target = EngineTarget::read(&container.store, &container.heap, kind, element)?;
        Ok(Reference::new(Arc::clone(file), ReferenceTarget::new(&container.store, target)))
    }
}

struct TargetText<'a>(&'a ReferenceTarget);

impl fmt::Display for TargetText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ReferenceTarget::Null => f.write_str("nothing"),
            ReferenceTarget::Object(token) => write!(f, "the {token}"),
            ReferenceTarget::Region(token, _) => write!(f, "a region of the {token}"),
            ReferenceTarget::Attribute(token, name) => {
                write!(f, "the attribute `{}` of the {token}", String::from_utf8_lossy(name))
            }
            ReferenceTarget::External { file, target } => {
                write!(f, "{} in `{}`", TargetText(target), String::from_utf8_lossy(file))
            }
        }
    }
}

impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && self.target == other.target
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reference(to {})", TargetText(&self.target))
    }
}
