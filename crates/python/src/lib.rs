//! The compiled core of the Python package hyperslab: handles of open files and their objects.
//!
//! `python/hyperslab/_hyperslab.pyi` describes the classes of this module. The public classes of
//! the package are written in Python, in `python/hyperslab/`.
#![deny(unsafe_code)]

mod attribute;
mod dataset;
mod elements;
mod ending;
mod errors;
mod file;
mod group;
mod object;
mod process;
mod progress;
mod reference;
mod references;
#[cfg(feature = "cloud")]
mod remote;
mod selection;
#[cfg(feature = "serve")]
mod server;
mod types;

use pyo3::prelude::*;

#[pymodule]
mod _hyperslab {
    #[pymodule_export]
    use crate::attribute::Attribute;
    #[pymodule_export]
    use crate::dataset::Dataset;
    #[pymodule_export]
    use crate::errors::ErrorInfo;
    #[pymodule_export]
    use crate::file::File;
    #[pymodule_export]
    use crate::group::Group;
    #[pymodule_export]
    use crate::object::Object;
    #[pymodule_export]
    use crate::process::{after_fork, end, filters_available, is_hdf5, open_files};
    #[pymodule_export]
    use crate::progress::set_progress;
    #[pymodule_export]
    use crate::reference::{Reference, RegionReference};
    #[pymodule_export]
    use crate::references::references;
    #[cfg(feature = "cloud")]
    #[pymodule_export]
    use crate::remote::{AsyncFile, Remote, Task, without_credentials};
    #[pymodule_export]
    use crate::selection::Selection;
    #[pymodule_export]
    use crate::selection::parse::set_strict;
    #[cfg(feature = "serve")]
    #[pymodule_export]
    use crate::server::serve;
    #[pymodule_export]
    use crate::types::Type;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
