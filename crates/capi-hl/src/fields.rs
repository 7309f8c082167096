//! Lists of fields of compound datatypes: `a,b.c` names the field `a`, and the field `c` of `b`.

use std::ffi::CString;

use crate::ctypes::{class, hid_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::object;
use crate::pointer::Text;
use crate::sys;

/// Returns the paths of a list. A backslash before a comma, point or backslash makes it a part of
/// the name.
///
/// # Errors
/// Fails if a name is empty.
pub fn parse(list: &[u8]) -> Outcome<Vec<Vec<CString>>> {
    let mut paths = Vec::new();
    let (mut path, mut name) = (Vec::new(), Vec::new());
    let mut bytes = list.iter().copied();
    let ended = |name: &mut Vec<u8>| match std::mem::take(name) {
        empty if empty.is_empty() => Err(Failure::bad_value("an empty name of a field")),
        name => object::c_text(name),
    };
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => name.push(bytes.next().ok_or_else(|| Failure::bad_value("a backslash at the end"))?),
            b'.' => path.push(ended(&mut name)?),
            b',' => {
                path.push(ended(&mut name)?);
                paths.push(std::mem::take(&mut path));
            }
            byte => name.push(byte),
        }
    }
    path.push(ended(&mut name)?);
    paths.push(path);
    Ok(paths)
}

/// Returns the datatype of the field that a path names.
///
/// # Errors
/// Fails if the datatype has no such field.
pub fn member(datatype: hid_t, path: &[CString]) -> Outcome<Id> {
    let mut at = Id::own(sys::H5Tcopy(datatype))?;
    for name in path {
        if check(sys::H5Tget_class(at.get()))? != class::COMPOUND {
            return Err(Failure::bad_type(format!("no compound datatype with {name:?}")));
        }
        let index = check(sys::H5Tget_member_index(at.get(), Text::of(name)))?;
        at = Id::own(sys::H5Tget_member_type(at.get(), index.cast_unsigned()))?;
    }
    Ok(at)
}

/// Returns a compound datatype with the fields that the paths name, one after another. A field of
/// an inner compound datatype is wrapped in compound datatypes of the same names.
///
/// # Errors
/// Fails if the datatype has no such field.
pub fn packed(datatype: hid_t, paths: &[Vec<CString>]) -> Outcome<Id> {
    let mut fields = Vec::new();
    for path in paths {
        let (first, inner) = path.split_first().ok_or_else(|| Failure::bad_value("an empty path"))?;
        let mut field = member(datatype, path)?;
        for name in inner.iter().rev() {
            let size = object::size(field.get())?;
            let wrapped = Id::own(sys::H5Tcreate(class::COMPOUND, size))?;
            check(sys::H5Tinsert(wrapped.get(), Text::of(name), 0, field.get()))?;
            field = wrapped;
        }
        fields.push((first, field));
    }
    let sizes = fields.iter().map(|(_, field)| object::size(field.get()));
    let sizes = sizes.collect::<Outcome<Vec<usize>>>()?;
    let total = sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(*size));
    let total = total.ok_or_else(|| Failure::bad_range("the fields are too large"))?;
    let whole = Id::own(sys::H5Tcreate(class::COMPOUND, total))?;
    let mut offset = 0;
    for ((name, field), size) in fields.iter().zip(sizes) {
        check(sys::H5Tinsert(whole.get(), Text::of(name), offset, field.get()))?;
        offset += size;
    }
    Ok(whole)
}
