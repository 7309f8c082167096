//! Names and paths (`H5LTfind_*`, `H5LTpath_valid`).

use std::ffi::CStr;

use crate::ctypes::{H5I_BADID, H5P_DEFAULT, herr_t, hid_t, htri_t};
use crate::failure::{Failure, Outcome, check, truth};
use crate::pointer::Text;
use crate::{export, object, sys};

export! {
    /// Returns 1 if the location has a link of the name, and 0 if not. A name with a slash is no
    /// name of a link.
    fn H5LTfind_dataset(loc_id: hid_t, name: Text) -> herr_t {
        let name = name.value("name")?;
        if name.is_empty() || name.to_bytes().contains(&b'/') {
            return Ok(0);
        }
        Ok(i32::from(truth(sys::H5Lexists(loc_id, Text::of(&name), H5P_DEFAULT))?))
    }

    /// Returns 1 if the object has an attribute of the name, and 0 if not.
    fn H5LTfind_attribute(loc_id: hid_t, name: Text) -> herr_t {
        Ok(i32::from(object::has_attribute(loc_id, &name.value("name")?)?))
    }

    /// Returns 1 if all links of a path exist and the links before the last one lead to objects.
    /// With `check_object_valid`, the last link must also lead to an object.
    fn H5LTpath_valid(loc_id: hid_t, path: Text, check_object_valid: bool) -> htri_t {
        let path = path.value("path")?;
        if sys::H5Iget_type(loc_id) == H5I_BADID {
            return Err(Failure::bad_type("not a location"));
        }
        if path.is_empty() {
            return Err(Failure::bad_value("an empty path"));
        }
        Ok(i32::from(is_valid(loc_id, &path, check_object_valid)?))
    }
}

fn is_valid(location: hid_t, path: &CStr, check_object: bool) -> Outcome<bool> {
    let text = path.to_bytes();
    // The location itself, or the root group.
    let own = text.split(|byte| *byte == b'/').all(|name| name.is_empty() || name == b".");
    if own {
        return Ok(true);
    }
    let mut reached = if text.starts_with(b"/") { b"/".to_vec() } else { Vec::new() };
    let is_name = |name: &&[u8]| !name.is_empty() && *name != b".";
    let mut names = text.split(|byte| *byte == b'/').filter(is_name).peekable();
    while let Some(name) = names.next() {
        if !reached.is_empty() && reached != b"/" {
            reached.push(b'/');
        }
        reached.extend_from_slice(name);
        let path = object::c_text(reached.clone())?;
        if !truth(sys::H5Lexists(location, Text::of(&path), H5P_DEFAULT))? {
            return Ok(false);
        }
        let is_last = names.peek().is_none();
        if is_last && !check_object {
            return Ok(true);
        }
        if !is_last || check_object {
            let leads = check(sys::H5Oexists_by_name(location, Text::of(&path), H5P_DEFAULT))? > 0;
            if !leads || is_last {
                return Ok(leads);
            }
        }
    }
    Ok(true)
}
