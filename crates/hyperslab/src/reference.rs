//! References: elements that point at objects, regions of datasets and attributes.

use std::fmt;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::elements::ReferenceTarget as EngineTarget;
use hyperslab_engine::store::Store;
use hyperslab_engine::{Address, Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, Dimension};

use crate::{Attribute, Dataset, H5Type, Object, ObjectToken, Selection};

/// What a reference points at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReferenceTarget {
    /// Nothing.
    Null,
    /// An object of this file.
    Object(ObjectToken),
    /// Elements of a dataset of this file.
    Region(ObjectToken, Selection),
    /// An attribute of an object of this file, by the bytes of its name.
    Attribute(ObjectToken, Vec<u8>),
    /// Something in another file.
    External {
        /// The bytes of the file's name.
        file: Vec<u8>,
        /// What is meant of that file.
        target: Box<Self>,
    },
}

impl ReferenceTarget {
    /// An object as the target of a reference.
    pub fn object(object: &Object) -> Self {
        Self::Object(object.token())
    }

    /// As the engine has it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind) if it is an object that was deleted.
    pub(crate) fn stored(&self, store: &Store) -> Result<EngineTarget> {
        Ok(match self {
            Self::Null => EngineTarget::Null,
            Self::Object(token) => EngineTarget::Object(token.check(store)?),
            Self::Region(token, selection) => EngineTarget::Region(token.check(store)?, selection.clone()),
            Self::Attribute(token, name) => EngineTarget::Attribute(token.check(store)?, name.clone()),
            Self::External { file, target } => {
                EngineTarget::External { file: file.clone(), target: Box::new(target.elsewhere()) }
            }
        })
    }

    /// The same of a target in another file, about which this one knows nothing.
    fn elsewhere(&self) -> EngineTarget {
        let address = |token: &ObjectToken| Address::new(token.address());
        match self {
            Self::Null => EngineTarget::Null,
            Self::Object(token) => EngineTarget::Object(address(token)),
            Self::Region(token, selection) => EngineTarget::Region(address(token), selection.clone()),
            Self::Attribute(token, name) => EngineTarget::Attribute(address(token), name.clone()),
            Self::External { file, target } => {
                EngineTarget::External { file: file.clone(), target: Box::new(target.elsewhere()) }
            }
        }
    }

    /// What an element of that file says.
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
                Self::External { file, target: Box::new(Self::with(&ObjectToken::elsewhere, *target)) }
            }
        }
    }
}

/// A reference that can be followed.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/references_latest.h5");
/// # let file = hyperslab::File::open(path)?;
/// for reference in file.dataset("regions")?.read_references(..)? {
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

    /// Returns whether it points at nothing.
    pub fn is_null(&self) -> bool {
        self.target == ReferenceTarget::Null
    }

    /// What it points at.
    pub fn target(&self) -> &ReferenceTarget {
        &self.target
    }

    /// The file with the target, and the target in it.
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

    fn misuse(&self, what: &str) -> Error {
        Error::Misuse(format!("a reference to {} {what}", Words(&self.target)))
    }

    /// The object: the one that is meant, the dataset of a region, or the object with an attribute. A target in
    /// another file is looked for as external links are, under the same
    /// [`ExternalFiles`](crate::ExternalFiles) policy.
    ///
    /// # Errors
    /// If it points at nothing, or the object or its file cannot be opened.
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

    /// The dataset of a region, and the elements that are meant.
    ///
    /// # Errors
    /// If it is no region, and as [`object`](Self::object).
    pub fn region(&self) -> Result<(Dataset, Selection)> {
        let selection = match &self.target {
            ReferenceTarget::Region(_, selection) => selection,
            ReferenceTarget::External { target, .. } => match &**target {
                ReferenceTarget::Region(_, selection) => selection,
                _ => return Err(self.misuse("is no region")),
            },
            _ => return Err(self.misuse("is no region")),
        };
        // The old form lists the blocks of any selection; `simplified` finds the regular one again.
        let dataset = self.object()?.into_dataset()?;
        Ok((dataset, selection.clone().simplified().map_err(Error::from)?))
    }

    /// The elements that are meant: of a region in its own shape, if it has one (a box, or blocks at equal
    /// distances), else one after the other; of a dataset all.
    ///
    /// # Errors
    /// If there is no dataset, and as [`Dataset::read`].
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self) -> Result<Array<T, D>> {
        let (_, target) = self.resolved()?;
        if let ReferenceTarget::Object(_) = target {
            return self.object()?.into_dataset()?.read(..);
        }
        let (dataset, selection) = self.region()?;
        dataset.read(&selection)
    }

    /// The attribute that is meant.
    ///
    /// # Errors
    /// If it is no reference to an attribute, the attribute is not there, and as [`object`](Self::object).
    pub fn attribute(&self) -> Result<Attribute> {
        match self.resolved()?.1 {
            ReferenceTarget::Attribute(_, name) => self.object()?.attribute_of_bytes(name),
            _ => Err(self.misuse("is no attribute")),
        }
    }
}

/// The target in words.
struct Words<'a>(&'a ReferenceTarget);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ReferenceTarget::Null => f.write_str("nothing"),
            ReferenceTarget::Object(token) => write!(f, "the {token}"),
            ReferenceTarget::Region(token, _) => write!(f, "a region of the {token}"),
            ReferenceTarget::Attribute(token, name) => {
                write!(f, "the attribute `{}` of the {token}", String::from_utf8_lossy(name))
            }
            ReferenceTarget::External { file, target } => {
                write!(f, "{} in `{}`", Words(target), String::from_utf8_lossy(file))
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
        write!(f, "Reference(to {})", Words(&self.target))
    }
}
