//! Functions for the durability of files, which only hyperslab has.

use std::ffi::c_int;

use hyperslab::Durability;

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Failure, Outcome};
use crate::export;
use crate::plist::{change_file_access, file_access};
use crate::pointer::Out;

/// The environment variable with the durability of files whose access lists contain no choice.
const VARIABLE: &str = "HYPERSLAB_DURABILITY";

/// The durabilities in the order of `H5F_durability_t`, with their names in the environment
/// variable.
const ALL: [(&str, Durability); 3] =
    [("full", Durability::Full), ("ordered", Durability::Ordered), ("none", Durability::None)];

/// Returns the number of the durability that applies to a list with the given choice.
///
/// # Errors
/// Fails if the environment variable contains an unknown name.
fn number(choice: Option<c_int>) -> Outcome<c_int> {
    if let Some(number) = choice {
        return Ok(number);
    }
    let Some(name) = std::env::var_os(VARIABLE) else { return Ok(2) };
    let found = (0..).zip(ALL).find(|(_, (known, _))| name == *known);
    found.map(|(number, _)| number).ok_or_else(|| {
        let name = name.display();
        Failure::bad_value(format!("{VARIABLE} is `{name}`; it must be full, ordered or none"))
    })
}

/// Returns the durability of a file from the choice of its access list.
///
/// # Errors
/// Fails if the environment variable contains an unknown name.
pub fn of(choice: Option<c_int>) -> Outcome<Durability> {
    let number = number(choice)?;
    let found = usize::try_from(number).ok().and_then(|number| ALL.get(number));
    found.map(|(_, durability)| *durability).ok_or_else(|| Failure::bad_value("unknown durability"))
}

export! {
    /// Sets the durability of files in a file access list.
    fn H5Pset_fapl_durability(fapl_id: hid_t, durability: c_int) -> herr_t {
        of(Some(durability))?;
        change_file_access(fapl_id, |it| {
            it.durability = Some(durability);
            Ok(0)
        })
    }

    /// Stores the durability of files from a file access list in `durability`.
    fn H5Pget_fapl_durability(fapl_id: hid_t, durability: Out<c_int>) -> herr_t {
        let choice = file_access(fapl_id)?.durability;
        durability.require("durability")?.put(number(choice)?);
        Ok(0)
    }
}
