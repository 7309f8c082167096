//! References to objects and to selections of elements.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hyperslab::datatype::ReferenceKind;
use hyperslab::{Object, ReferenceTarget, Selection};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A reference to an object.
#[pyclass(frozen, subclass, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Reference {
    /// The reference with its file, if the target is in another file. Other references hold no
    /// file, because a file can be closed while they exist.
    pub(crate) facade: Option<hyperslab::Reference>,
    pub(crate) target: ReferenceTarget,
}

/// A reference to a selection of elements of a dataset.
#[pyclass(frozen, subclass, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct RegionReference {
    /// The reference with its file, if the target is in another file. Other references hold no
    /// file, because a file can be closed while they exist.
    pub(crate) facade: Option<hyperslab::Reference>,
    pub(crate) target: ReferenceTarget,
}

impl Reference {
    /// Returns a reference to an object.
    pub(crate) fn to(object: &Object) -> Self {
        Self { facade: None, target: ReferenceTarget::object(object) }
    }
}

impl RegionReference {
    /// Returns a reference to selected elements of a dataset.
    pub(crate) fn new(dataset: &hyperslab::Dataset, selection: Selection) -> PyResult<Self> {
        Ok(Self { facade: None, target: ReferenceTarget::Region(dataset.token(), selection) })
    }
}

/// Makes the Python object of a reference that was read from a file.
pub(crate) fn wrap<'py>(
    py: Python<'py>,
    kind: hyperslab::datatype::Reference,
    reference: hyperslab::Reference,
) -> PyResult<Bound<'py, PyAny>> {
    let target = reference.target().clone();
    let facade = Some(reference).filter(|_| matches!(target, ReferenceTarget::External { .. }));
    match kind.kind {
        ReferenceKind::DatasetRegion1 | ReferenceKind::DatasetRegion2 => {
            Ok(Bound::new(py, RegionReference { facade, target })?.into_any())
        }
        _ => Ok(Bound::new(py, Reference { facade, target })?.into_any()),
    }
}

/// Returns the target of a reference or of an object with the attribute `ref`.
pub(crate) fn target(object: &Bound<'_, PyAny>) -> PyResult<ReferenceTarget> {
    if let Ok(reference) = object.cast::<Reference>() {
        return Ok(reference.get().target.clone());
    }
    if let Ok(reference) = object.cast::<RegionReference>() {
        return Ok(reference.get().target.clone());
    }
    match object.getattr_opt("ref")? {
        Some(reference) => target(&reference),
        None => Err(PyTypeError::new_err("Can't convert incompatible object to HDF5 object reference")),
    }
}

/// Returns a hash of a target: equal targets have equal hashes.
fn hash(target: &ReferenceTarget) -> u64 {
    let mut hasher = DefaultHasher::new();
    match target {
        ReferenceTarget::Object(token)
        | ReferenceTarget::Region(token, _)
        | ReferenceTarget::Attribute(token, _) => {
            token.hash(&mut hasher);
        }
        _ => {}
    }
    hasher.finish()
}

#[pymethods]
impl Reference {
    #[new]
    fn empty() -> Self {
        Self { facade: None, target: ReferenceTarget::Null }
    }

    fn __bool__(&self) -> bool {
        self.target != ReferenceTarget::Null
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().target == self.target)
    }

    fn __hash__(&self) -> u64 {
        hash(&self.target)
    }

    fn __repr__(&self) -> String {
        format!("<HDF5 object reference{}>", if self.__bool__() { "" } else { " (null)" })
    }
}

#[pymethods]
impl RegionReference {
    #[new]
    fn empty() -> Self {
        Self { facade: None, target: ReferenceTarget::Null }
    }

    fn __bool__(&self) -> bool {
        self.target != ReferenceTarget::Null
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().target == self.target)
    }

    fn __hash__(&self) -> u64 {
        hash(&self.target)
    }

    fn __repr__(&self) -> String {
        format!("<HDF5 region reference{}>", if self.__bool__() { "" } else { " (null)" })
    }
}
