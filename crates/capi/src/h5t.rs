//! Datatype functions for all classes (`H5T*`): creation, comparison, class and size.

use std::ffi::{c_char, c_int, c_uint};

use hyperslab::datatype::{ByteOrder, StringPadding, VariableLength, VariableLengthKind};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};

use crate::ctypes::{herr_t, hid_t, htri_t};
use crate::datatype::form::STRING_BYTES;
use crate::datatype::{self, TypeState, class};
use crate::error::{Because, Failure, Outcome, codes};
use crate::id::{self, Entry};
use crate::{export, h5t_atomic};

/// The size argument of datatype functions that stands for variable-length strings
/// (`H5T_VARIABLE`).
pub const VARIABLE: usize = usize::MAX;

/// Converts a size in bytes from `usize` to the 32 bits of a datatype's size.
///
/// # Errors
/// Fails with a bad value if the size is 4 GiB or more.
pub fn size_of(size: usize) -> Outcome<u32> {
    u32::try_from(size).map_err(|_| Failure::bad_value("the datatype is too large"))
}

/// Returns a variable-length string datatype in memory form.
pub fn variable_string(padding: StringPadding, charset: CharacterSet) -> Datatype {
    let kind = VariableLengthKind::String { padding, charset };
    let base = Box::new(Datatype::integer(1, false, ByteOrder::NATIVE));
    Datatype { class: DatatypeClass::VariableLength(VariableLength { kind, base }), size: STRING_BYTES }
}

/// Creates a datatype of the datatype class with the number `number`, with `size` bytes.
fn create(number: c_int, size: usize) -> Outcome<Datatype> {
    let (padding, charset) = (StringPadding::NullTerminated, CharacterSet::Ascii);
    match number {
        class::STRING if size == VARIABLE => Ok(variable_string(padding, charset)),
        class::STRING => Ok(Datatype::fixed_string(size_of(size)?, padding, charset)),
        class::OPAQUE => Ok(Datatype::opaque(size_of(size)?, "")),
        class::COMPOUND => Ok(Datatype::compound(size_of(size)?, Vec::new())),
        class::ENUM => match u16::try_from(size) {
            Ok(bytes @ (1 | 2 | 4 | 8)) => {
                Ok(Datatype::enumeration(Datatype::integer(bytes, true, ByteOrder::NATIVE), Vec::new()))
            }
            _ => Err(Failure::new(codes::DATATYPE, codes::CANTINIT, "no integer has this size")),
        },
        class::INTEGER..class::CLASSES => {
            let text = "datatypes of this class must be copied or derived from another datatype";
            Err(Failure::new(codes::DATATYPE, codes::UNSUPPORTED, text))
        }
        _ => Err(Failure::new(codes::INTERNAL, codes::UNSUPPORTED, "not a datatype class")),
    }
}

/// Sets the size of a datatype. Checks that the datatype's class and members permit the size.
fn set_size(datatype: &mut Datatype, size: usize) -> Outcome<()> {
    match &mut datatype.class {
        DatatypeClass::Enumeration(enumeration) if !enumeration.members.is_empty() => {
            let text = "the enumeration has members";
            return Err(Failure::arguments(codes::CANTINIT, text));
        }
        DatatypeClass::Reference(_) => {
            return Err(Failure::arguments(codes::CANTINIT, "references have a fixed size"));
        }
        _ => {}
    }
    if size == 0 {
        return Err(Failure::bad_value("the size of the datatype must be positive"));
    }
    if size == VARIABLE {
        return match &datatype.class {
            DatatypeClass::String(string) => {
                *datatype = variable_string(string.padding, string.charset);
                Ok(())
            }
            _ if datatype.is_variable_string() => Ok(()),
            _ => Err(Failure::bad_value("only string datatypes can have a variable length")),
        };
    }
    let size = size_of(size)?;
    match &datatype.class {
        DatatypeClass::Compound(compound) => {
            let ends =
                compound.members.iter().map(|member| member.offset.saturating_add(member.datatype.size));
            if ends.max().is_some_and(|end| end > size) {
                return Err(Failure::bad_value("the size cuts off the last member"));
            }
            datatype.size = size;
        }
        DatatypeClass::VariableLength(_) if datatype.is_variable_string() => {}
        DatatypeClass::String(_) | DatatypeClass::Opaque(_) => datatype.size = size,
        _ => h5t_atomic::resize(datatype, size)?,
    }
    Ok(())
}

/// Closes a datatype identifier, unless the datatype is immutable.
fn close(id: hid_t) -> Outcome<herr_t> {
    let handle = datatype::find(id)?;
    if handle.0.read().state == TypeState::Immutable {
        return Err(Failure::bad_value("the datatype is immutable"));
    }
    id::decrement(id);
    Ok(0)
}

export! {
    /// Creates a datatype of a datatype class with `size` bytes and returns the datatype's
    /// identifier.
    fn H5Tcreate(class: c_int, size: usize) -> hid_t {
        if size == 0 {
            return Err(Failure::bad_value("the size of the datatype must be positive"));
        }
        let datatype = create(class, size).because(
            codes::DATATYPE,
            codes::CANTINIT,
            "cannot create the datatype",
        )?;
        Ok(datatype::register(datatype))
    }

    /// Copies a datatype, or the datatype of a dataset, and returns the identifier of the copy.
    fn H5Tcopy(id: hid_t) -> hid_t {
        let datatype = match id::find(id) {
            Some(Entry::Datatype(datatype)) => datatype.datatype(),
            Some(Entry::Dataset(dataset)) => dataset.memory.clone(),
            _ => return Err(Failure::bad_type("not a datatype or dataset")),
        };
        Ok(datatype::register(datatype))
    }

    /// Closes a datatype identifier.
    fn H5Tclose(id: hid_t) -> herr_t {
        close(id)
    }

    /// Closes a datatype identifier before the call returns, and counts the call in `event_set`.
    fn H5Tclose_async(
        file: *const c_char,
        function: *const c_char,
        line: c_uint,
        id: hid_t,
        event_set: hid_t,
    ) -> herr_t {
        let _ = (file, function, line, event_set);
        close(id)
    }

    /// Returns whether two datatypes are equal.
    fn H5Tequal(first: hid_t, second: hid_t) -> htri_t {
        let first = datatype::find(first)?;
        let second = datatype::copy_of(second)?;
        let equal = datatype::equal(&first.0.read().datatype, &second);
        Ok(htri_t::from(equal))
    }

    /// Makes a datatype immutable until the library shuts down.
    fn H5Tlock(id: hid_t) -> herr_t {
        let handle = datatype::find(id)?;
        let mut datatype = handle.0.write();
        if datatype.committed.is_some() {
            return Err(Failure::bad_type("a committed datatype cannot be locked"));
        }
        datatype.state = TypeState::Immutable;
        Ok(0)
    }

    /// Returns the class of a datatype (`H5T_class_t`).
    fn H5Tget_class(id: hid_t) -> c_int {
        datatype::with(id, |datatype| Ok(class::number(datatype)))
    }

    /// Returns whether a datatype or one of its nested datatypes belongs to a class.
    fn H5Tdetect_class(id: hid_t, class: c_int) -> htri_t {
        datatype::with(id, |datatype| {
            if !(0..class::CLASSES).contains(&class) {
                return Err(Failure::bad_type("not a datatype class"));
            }
            Ok(htri_t::from(class::contains(datatype, class)))
        })
    }

    /// Returns whether a datatype is a variable-length string.
    fn H5Tis_variable_str(id: hid_t) -> htri_t {
        datatype::with(id, |datatype| Ok(htri_t::from(datatype.is_variable_string())))
    }

    /// Returns the size of a datatype in bytes.
    fn H5Tget_size(id: hid_t) -> usize {
        datatype::with(id, |datatype| {
            usize::try_from(datatype.size).map_err(|_| Failure::bad_value("the datatype is too large"))
        })
    }

    /// Sets the size of a datatype in bytes.
    fn H5Tset_size(id: hid_t, size: usize) -> herr_t {
        datatype::change(id, |datatype| set_size(datatype, size))?;
        Ok(0)
    }

    /// Returns a new identifier of the base type of an array, an enumeration, a sequence or a
    /// complex datatype.
    fn H5Tget_super(id: hid_t) -> hid_t {
        let base = datatype::with(id, |datatype| {
            class::base(datatype).cloned().ok_or_else(|| Failure::bad_type("not a derived datatype"))
        })?;
        Ok(datatype::register(base))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::error::stack;
    use crate::symbols::datatypes::{H5T_C_S1_g, H5T_NATIVE_INT_g, H5T_STD_I32BE_g};

    fn last() -> (hid_t, hid_t) {
        stack::copy().last().map(|record| (record.major, record.minor)).unwrap()
    }

    #[test]
    fn predefined_datatypes_stay() {
        // SAFETY: no pointers are passed.
        unsafe {
            assert_eq!(H5Tclose(H5T_NATIVE_INT_g), -1);
            assert_eq!(last(), (codes::ARGS, codes::BADVALUE));
            assert_eq!(H5Tset_size(H5T_NATIVE_INT_g, 8), -1);
            assert_eq!(last(), (codes::ARGS, codes::CANTINIT));
            let copy = H5Tcopy(H5T_NATIVE_INT_g);
            assert_eq!((H5Tequal(copy, H5T_NATIVE_INT_g), H5Tequal(copy, H5T_STD_I32BE_g)), (1, 0));
            assert_eq!((H5Tset_size(copy, 8), H5Tget_size(copy)), (0, 8));
            assert_eq!(H5Tequal(copy, H5T_NATIVE_INT_g), 0);
            assert_eq!((H5Tlock(copy), H5Tclose(copy)), (0, -1));
        }
    }

    #[test]
    fn strings_become_variable() {
        // SAFETY: no pointers are passed.
        unsafe {
            let text = H5Tcopy(H5T_C_S1_g);
            assert_eq!((H5Tset_size(text, 0), H5Tis_variable_str(text)), (-1, 0));
            assert_eq!((H5Tset_size(text, VARIABLE), H5Tis_variable_str(text)), (0, 1));
            assert_eq!((H5Tget_class(text), H5Tget_size(text)), (class::STRING, 8));
            assert_eq!((H5Tdetect_class(text, class::VLEN), H5Tdetect_class(text, 99)), (0, -1));
            let number = H5Tcopy(H5T_NATIVE_INT_g);
            assert_eq!(H5Tset_size(number, VARIABLE), -1);
            assert_eq!(H5Tcreate(class::INTEGER, 4), -1);
            assert_eq!(last(), (codes::DATATYPE, codes::CANTINIT));
            assert_eq!(H5Tget_super(number), -1);
        }
    }
}
