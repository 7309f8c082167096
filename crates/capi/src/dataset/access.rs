//! Dataset access lists in the form of hyperslab.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use hyperslab::{Dataset, VirtualView};

use crate::ctypes::IdKind;
use crate::error::{Failure, Outcome, codes};
use crate::file::Location;
use crate::id::{self, Entry};
use crate::plist::settings::DatasetAccess;

/// The view of a virtual dataset that ends at the first missing element (`H5D_VDS_FIRST_MISSING`).
const FIRST_MISSING: std::ffi::c_int = 0;

/// Returns the access properties that are in use for a dataset at `location`. The environment
/// variables `HDF5_EXTFILE_PREFIX` and `HDF5_VDS_PREFIX` take precedence over the folders of the
/// list, and the folder of the HDF5 file replaces `${ORIGIN}`.
pub fn in_use(mut access: DatasetAccess, location: &Location) -> DatasetAccess {
    let folders = [
        (&mut access.external_prefix, "HDF5_EXTFILE_PREFIX"),
        (&mut access.virtual_prefix, "HDF5_VDS_PREFIX"),
    ];
    for (folder, variable) in folders {
        let of_environment = std::env::var_os(variable).map(OsString::into_vec);
        let chosen = of_environment.filter(|name| !name.is_empty()).or_else(|| folder.take());
        *folder = chosen.map(|name| without_origin(&name, location));
    }
    access
}

/// Checks that all open handles of a dataset take its external files from the same folder.
///
/// # Errors
/// Fails if the dataset is open with another folder.
pub fn check_folder(dataset: &Dataset, location: &Location, access: &DatasetAccess) -> Outcome<()> {
    if dataset.external_files().is_empty() {
        return Ok(());
    }
    let differs = id::list(IdKind::Dataset as std::ffi::c_int).into_iter().any(|(_, entry)| match entry {
        Entry::Dataset(other) => {
            Arc::ptr_eq(&other.location.shared, &location.shared)
                && other.dataset.token() == dataset.token()
                && other.access.external_prefix != access.external_prefix
        }
        _ => false,
    });
    if differs {
        let text = "the dataset is open with another folder of external files";
        return Err(Failure::new(codes::DATASET, codes::CANTOPENOBJ, text));
    }
    Ok(())
}

/// Converts the access properties of a dataset to the form of hyperslab. Relative folders are
/// folders of the current directory.
pub fn choices(access: &DatasetAccess) -> hyperslab::DatasetAccess {
    let view = if access.virtual_view == FIRST_MISSING {
        VirtualView::FirstMissing
    } else {
        VirtualView::LastAvailable
    };
    let mut choices = hyperslab::DatasetAccess::new().virtual_view(view).virtual_gap(access.virtual_gap);
    if let Some(folder) = &access.virtual_prefix {
        choices = choices.source_folder(OsStr::from_bytes(folder));
    }
    if let Some(folder) = access.external_prefix.as_deref().filter(|folder| *folder != b".") {
        choices = choices.raw_data_folder(OsStr::from_bytes(folder));
    }
    choices
}

/// Returns the folder name `prefix` without `${ORIGIN}` at its start. The folder of the HDF5 file
/// replaces this word.
fn without_origin(prefix: &[u8], location: &Location) -> Vec<u8> {
    let Some(rest) = prefix.strip_prefix(b"${ORIGIN}") else { return prefix.to_vec() };
    let file = Path::new(OsStr::from_bytes(&location.shared.name));
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = absolute.parent().unwrap_or(&absolute);
    [folder.as_os_str().as_bytes(), rest].concat()
}
