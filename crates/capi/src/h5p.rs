//! Property list and property list class functions (`H5P*`).

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use parking_lot::RwLock;

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::id::{self, Entry, register};
use crate::plist::classes::{ClassCallbacks, CopyFunction, ListFunction, PropertyClass};
use crate::plist::{self, PropertyList};
use crate::pointer::{Text, TextBuffer};
use crate::{call_user, export, export_keeping_errors, memory};

/// Copies a text to the caller's buffer and returns the length of the text.
///
/// # Errors
/// Fails if the length does not fit in the return type.
pub fn copy_text(text: &[u8], buffer: TextBuffer, size: usize) -> Outcome<isize> {
    buffer.put(text, size);
    isize::try_from(text.len()).map_err(|_| Failure::bad_value("the text is too long"))
}

/// Copies an optional text to the caller's buffer and returns the length of the text, or 0 without
/// a text.
///
/// # Errors
/// Fails if the length does not fit in the return type.
pub fn copy_optional_text(text: Option<&[u8]>, buffer: TextBuffer, size: usize) -> Outcome<isize> {
    copy_text(text.unwrap_or_default(), buffer, size)
}

/// Returns a copy of the caller's C string, or `None` for a null pointer.
pub fn optional_text(text: Text) -> Option<Vec<u8>> {
    text.get().map(<[u8]>::to_vec)
}

/// The property list, or the property list class, to which an identifier refers.
#[derive(Debug)]
pub enum ListOrClass {
    /// The property list.
    List(Arc<PropertyList>),
    /// The property list class.
    Class(Arc<PropertyClass>),
}

/// Returns the property list or the property list class to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier refers to neither.
pub fn list_or_class(id: hid_t) -> Outcome<ListOrClass> {
    match id::find(id) {
        Some(Entry::PropertyList(list)) => Ok(ListOrClass::List(list)),
        Some(Entry::PropertyClass(class)) => Ok(ListOrClass::Class(class)),
        _ => Err(Failure::bad_type("not a property list or a property list class")),
    }
}

/// Returns the property list class to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a property list class.
pub fn find_class(id: hid_t) -> Outcome<Arc<PropertyClass>> {
    match id::find(id) {
        Some(Entry::PropertyClass(class)) => Ok(class),
        _ => Err(Failure::bad_type("not a property list class")),
    }
}

/// Returns the user's functions of a property list class and of its ancestors. The class itself
/// comes first.
fn callbacks(class: &Arc<PropertyClass>) -> Vec<ClassCallbacks> {
    let mut found = Vec::new();
    let mut next = Some(class);
    while let Some(class) = next {
        found.push(class.callbacks);
        next = class.parent.as_ref();
    }
    found
}

/// Creates a property list of a class, calls the class's creation functions, and returns the list's
/// identifier.
fn create_list(class: &Arc<PropertyClass>) -> Outcome<hid_t> {
    let list = PropertyList::create(Arc::clone(class)).because(
        codes::PLIST,
        codes::CANTCREATE,
        "cannot create the property list",
    )?;
    let id = register(Entry::PropertyList(Arc::new(list)));
    for functions in callbacks(class) {
        if let (Some(function), data) = functions.create
            && call_user!(function, id, data) < 0
        {
            id::take(id);
            return Err(Failure::new(
                codes::PLIST,
                codes::CANTINIT,
                "a function of the property list class failed",
            ));
        }
    }
    Ok(id)
}

/// Copies a property list, calls the class's copy functions, and returns the identifier of the
/// copy.
fn copy_list(from: hid_t, list: &PropertyList) -> Outcome<hid_t> {
    let copy = list.copied().because(codes::PLIST, codes::CANTCOPY, "cannot copy the property list")?;
    let class = Arc::clone(&copy.class);
    let id = register(Entry::PropertyList(Arc::new(copy)));
    for functions in callbacks(&class) {
        if let (Some(function), data) = functions.copy
            && call_user!(function, id, from, data) < 0
        {
            id::take(id);
            return Err(Failure::new(
                codes::PLIST,
                codes::CANTINIT,
                "a function of the property list class failed",
            ));
        }
    }
    Ok(id)
}

/// Calls the close functions of a property list's classes if the program has the last reference to
/// the list. During these calls, the identifier of the list is still valid.
pub fn before_close(id: hid_t) {
    let Some(Entry::PropertyList(list)) = id::find(id) else { return };
    if id::references(id) != Some(1) {
        return;
    }
    for functions in callbacks(&list.class) {
        if let (Some(function), data) = functions.close {
            call_user!(function, id, data);
        }
    }
}

/// Returns whether two property list classes are equal.
fn equal_classes(one: &Arc<PropertyClass>, two: &Arc<PropertyClass>) -> bool {
    let same_parent = match (&one.parent, &two.parent) {
        (Some(one), Some(two)) => Arc::ptr_eq(one, two),
        (None, None) => true,
        _ => false,
    };
    let functions = |class: &PropertyClass| format!("{:?}", class.callbacks);
    Arc::ptr_eq(one, two)
        || (one.name == two.name
            && same_parent
            && functions(one) == functions(two)
            && one.user.read().clone().equals(&two.user.read().clone()))
}

export! {
    /// Creates a property list of the class `cls_id` and returns the list's identifier.
    fn H5Pcreate(cls_id: hid_t) -> hid_t {
        create_list(&find_class(cls_id)?)
    }

    /// Copies a property list or a property list class and returns the identifier of the copy. The
    /// copy of `H5P_DEFAULT` is `H5P_DEFAULT`.
    fn H5Pcopy(plist_id: hid_t) -> hid_t {
        if plist_id == H5P_DEFAULT {
            return Ok(H5P_DEFAULT);
        }
        match list_or_class(plist_id)? {
            ListOrClass::List(list) => copy_list(plist_id, &list),
            ListOrClass::Class(class) => {
                let user = RwLock::new(class.user.read().clone());
                let (name, parent) = (class.name.clone(), class.parent.clone());
                let (library, callbacks) = (class.library, class.callbacks);
                let copy = PropertyClass { name, parent, library, user, callbacks };
                Ok(register(Entry::PropertyClass(Arc::new(copy))))
            }
        }
    }

    /// Returns whether two property lists or two property list classes are equal.
    fn H5Pequal(id1: hid_t, id2: hid_t) -> htri_t {
        match (list_or_class(id1)?, list_or_class(id2)?) {
            (ListOrClass::List(one), ListOrClass::List(two)) => {
                Ok(htri_t::from(Arc::ptr_eq(&one, &two) || one.equals(&two)))
            }
            (ListOrClass::Class(one), ListOrClass::Class(two)) => Ok(htri_t::from(equal_classes(&one, &two))),
            _ => Err(Failure::bad_type("a list and a class cannot be compared")),
        }
    }

    /// Returns a new identifier of the class of a property list.
    fn H5Pget_class(plist_id: hid_t) -> hid_t {
        Ok(register(Entry::PropertyClass(Arc::clone(&plist::find(plist_id)?.class))))
    }

    /// Returns a copy of the name of a property list class, which the program frees.
    fn H5Pget_class_name(pclass_id: hid_t) -> *mut c_char {
        Ok(memory::text(&find_class(pclass_id)?.name))
    }

    /// Returns a new identifier of the parent of a property list class.
    fn H5Pget_class_parent(pclass_id: hid_t) -> hid_t {
        let class = find_class(pclass_id)?;
        let parent = class.parent.as_ref();
        let parent = parent.because(codes::PLIST, codes::CANTGET, "the class has no parent")?;
        Ok(register(Entry::PropertyClass(Arc::clone(parent))))
    }

    /// Returns whether the class of a property list equals the class `pclass_id` or descends from
    /// it.
    fn H5Pisa_class(plist_id: hid_t, pclass_id: hid_t) -> htri_t {
        Ok(htri_t::from(plist::find(plist_id)?.class.is_a(&find_class(pclass_id)?)))
    }

    /// Creates a property list class with the given parent, name and functions, and returns its
    /// identifier.
    fn H5Pcreate_class(
        parent: hid_t,
        name: Text,
        create: Option<ListFunction>,
        create_data: *mut c_void,
        copy: Option<CopyFunction>,
        copy_data: *mut c_void,
        close: Option<ListFunction>,
        close_data: *mut c_void,
    ) -> hid_t {
        let root = crate::symbols::CLASS_ROOT;
        let parent = find_class(if parent == H5P_DEFAULT { root } else { parent })?;
        let name = name.name("name")?.to_vec();
        let unused = [
            create.is_none() && !create_data.is_null(),
            copy.is_none() && !copy_data.is_null(),
            close.is_none() && !close_data.is_null(),
        ];
        if unused.contains(&true) {
            return Err(Failure::bad_value("callback data was passed without a callback function"));
        }
        let callbacks =
            ClassCallbacks { create: (create, create_data), copy: (copy, copy_data), close: (close, close_data) };
        let library = parent.library;
        let class = PropertyClass { name, parent: Some(parent), library, user: RwLock::default(), callbacks };
        Ok(register(Entry::PropertyClass(Arc::new(class))))
    }
}

export_keeping_errors! {
    /// Closes a property list after the close functions of its class have run. `H5P_DEFAULT` has no
    /// effect.
    fn H5Pclose(plist_id: hid_t) -> herr_t {
        if plist_id == H5P_DEFAULT {
            return Ok(0);
        }
        plist::find(plist_id)?;
        before_close(plist_id);
        drop(id::decrement(plist_id));
        Ok(0)
    }

    /// Closes the identifier of a property list class.
    fn H5Pclose_class(plist_id: hid_t) -> herr_t {
        find_class(plist_id)?;
        drop(id::decrement(plist_id));
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::symbols as s;

    #[test]
    fn lists_are_copied_and_compared() {
        // SAFETY: the calls have no pointers.
        unsafe {
            let list = H5Pcreate(s::CLASS_FILE_CREATE);
            let copy = H5Pcopy(list);
            assert_eq!(H5Pequal(list, copy), 1);
            assert_eq!(crate::h5p_file_create::H5Pset_userblock(copy, 512), 0);
            assert_eq!(H5Pequal(list, copy), 0);
            assert_eq!(H5Pisa_class(list, s::CLASS_OBJECT_CREATE), 1);
            assert_eq!(H5Pisa_class(list, s::CLASS_FILE_ACCESS), 0);
            let class = H5Pget_class(list);
            assert_eq!(H5Pequal(class, s::CLASS_FILE_CREATE), 1);
            assert_eq!(H5Pequal(class, list), -1);
            assert_eq!((H5Pclose(list), H5Pclose(list)), (0, -1));
        }
    }
}
