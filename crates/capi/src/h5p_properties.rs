//! Functions for properties by name (`H5Pregister2`, `H5Pget`, `H5Piterate`, …).

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use crate::ctypes::{counted, herr_t, hid_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::h5p::{ListOrClass, find_class, list_or_class};
use crate::plist::names;
use crate::plist::user::{CompareFunction, ListValueFunction, Property, PropertyCallbacks, ValueFunction};
use crate::plist::{self, PropertyList};
use crate::pointer::{Buffer, Data, Out, Text};
use crate::{call_user, export};

/// The C type of a user's function that visits a property of a property list or class.
pub type IterateFunction = unsafe extern "C" fn(hid_t, *const c_char, *mut c_void) -> c_int;

/// Returns a user's property with the name, value and functions that the caller passes.
fn property(name: Text, size: usize, value: Data, callbacks: PropertyCallbacks) -> Outcome<Property> {
    let name = name.name("name")?.to_vec();
    let value = value.bytes(size, "value of the property")?.to_vec();
    Ok(Property { name, value, callbacks })
}

/// Adds a user's property to a property list class.
fn add_to_class(class: hid_t, property: Property) -> Outcome<herr_t> {
    let class = find_class(class)?;
    let mut properties = class.user.write();
    if properties.find(&property.name).is_some() || names::find(class.library, &property.name).is_some() {
        return Err(Failure::new(codes::PLIST, codes::EXISTS, "the class has a property with this name"));
    }
    properties.put(property);
    Ok(0)
}

/// Adds a user's property to a property list.
fn add_to_list(list: hid_t, property: Property) -> Outcome<herr_t> {
    let list = plist::find(list)?;
    let mut properties = list.user.write();
    if properties.find(&property.name).is_some() || names::find(list.class.library, &property.name).is_some()
    {
        return Err(Failure::new(codes::PLIST, codes::EXISTS, "the list has a property with this name"));
    }
    properties.put(property);
    Ok(0)
}

/// Returns the failure for a property name that the property list or class does not contain.
fn missing() -> Failure {
    Failure::new(codes::PLIST, codes::NOTFOUND, "there is no property with this name")
}

/// Returns a copy of the user's property with the given name in a property list.
fn user_property(list: &PropertyList, name: &[u8]) -> Option<Property> {
    list.user.read().find(name).cloned()
}

/// Returns the names of all properties of a property list or class. The library's properties come
/// before the user's properties.
fn all_names(id: hid_t, parents: bool) -> Outcome<Vec<Vec<u8>>> {
    let (library, user) = match list_or_class(id)? {
        ListOrClass::List(list) => (names::all(list.class.library), list.user.read().clone()),
        ListOrClass::Class(class) if parents => (names::all(class.library), class.inherited()),
        ListOrClass::Class(class) => {
            let mut library = names::all(class.library);
            if let Some(parent) = &class.parent {
                let inherited = names::all(parent.library);
                library.retain(|name| !inherited.contains(name));
            }
            (library, class.user.read().clone())
        }
    };
    let library = library.into_iter().map(|name| name.as_bytes().to_vec());
    Ok(library.chain(user.list.into_iter().map(|property| property.name)).collect())
}

export! {
    /// Adds a user's property to a property list class. Existing lists of the class do not get the
    /// property.
    fn H5Pregister2(
        cls_id: hid_t,
        name: Text,
        size: usize,
        def_value: Data,
        create: Option<ValueFunction>,
        set: Option<ListValueFunction>,
        get: Option<ListValueFunction>,
        prp_del: Option<ListValueFunction>,
        copy: Option<ValueFunction>,
        compare: Option<CompareFunction>,
        close: Option<ValueFunction>,
    ) -> herr_t {
        let callbacks = PropertyCallbacks { create, set, get, delete: prp_del, copy, compare, close };
        find_class(cls_id)?;
        add_to_class(cls_id, property(name, size, def_value, callbacks)?)
    }

    /// Adds a user's property to a property list class (HDF5 1.6 form without a comparison
    /// function).
    fn H5Pregister1(
        cls_id: hid_t,
        name: Text,
        size: usize,
        def_value: Data,
        prp_create: Option<ValueFunction>,
        prp_set: Option<ListValueFunction>,
        prp_get: Option<ListValueFunction>,
        prp_del: Option<ListValueFunction>,
        prp_copy: Option<ValueFunction>,
        prp_close: Option<ValueFunction>,
    ) -> herr_t {
        let callbacks = PropertyCallbacks {
            create: prp_create,
            set: prp_set,
            get: prp_get,
            delete: prp_del,
            copy: prp_copy,
            compare: None,
            close: prp_close,
        };
        find_class(cls_id)?;
        add_to_class(cls_id, property(name, size, def_value, callbacks)?)
    }

    /// Adds a user's property to a property list.
    fn H5Pinsert2(
        plist_id: hid_t,
        name: Text,
        size: usize,
        value: Data,
        set: Option<ListValueFunction>,
        get: Option<ListValueFunction>,
        prp_del: Option<ListValueFunction>,
        copy: Option<ValueFunction>,
        compare: Option<CompareFunction>,
        close: Option<ValueFunction>,
    ) -> herr_t {
        let callbacks = PropertyCallbacks { create: None, set, get, delete: prp_del, copy, compare, close };
        plist::find(plist_id)?;
        add_to_list(plist_id, property(name, size, value, callbacks)?)
    }

    /// Adds a user's property to a property list (HDF5 1.6 form without a comparison function).
    fn H5Pinsert1(
        plist_id: hid_t,
        name: Text,
        size: usize,
        value: Data,
        prp_set: Option<ListValueFunction>,
        prp_get: Option<ListValueFunction>,
        prp_delete: Option<ListValueFunction>,
        prp_copy: Option<ValueFunction>,
        prp_close: Option<ValueFunction>,
    ) -> herr_t {
        let callbacks = PropertyCallbacks {
            create: None,
            set: prp_set,
            get: prp_get,
            delete: prp_delete,
            copy: prp_copy,
            compare: None,
            close: prp_close,
        };
        plist::find(plist_id)?;
        add_to_list(plist_id, property(name, size, value, callbacks)?)
    }

    /// Removes a user's property from a property list class.
    fn H5Punregister(pclass_id: hid_t, name: Text) -> herr_t {
        let class = find_class(pclass_id)?;
        let name = name.name("name")?;
        let removed = class.user.write().take(name);
        removed.map(|_| 0).ok_or_else(missing)
    }

    /// Removes a user's property from a property list.
    fn H5Premove(plist_id: hid_t, name: Text) -> herr_t {
        let list = plist::find(plist_id)?;
        let name = name.name("name")?;
        if name == b"file_image_info" && plist::file_access(plist_id).is_ok() {
            let (mut image, mut functions) = (None, Arc::default());
            return plist::change_file_access(plist_id, |it| {
                // Both values are freed after the call, because the list is locked here.
                std::mem::swap(&mut it.image, &mut image);
                std::mem::swap(&mut it.image_callbacks, &mut functions);
                Ok(0)
            });
        }
        let mut property = user_property(&list, name).ok_or_else(missing)?;
        property
            .call_in(plist_id, property.callbacks.delete, "the property's delete function failed")
            .because(codes::PLIST, codes::CANTDELETE, "cannot remove the property")?;
        list.user.write().take(name);
        Ok(0)
    }

    /// Sets the value of a property list's property with the given name.
    fn H5Pset(plist_id: hid_t, name: Text, value: Data) -> herr_t {
        let list = plist::find(plist_id)?;
        let name = name.name("name")?;
        if value.pointer().is_null() {
            return Err(Failure::bad_value("no value"));
        }
        let Some(mut old) = user_property(&list, name) else {
            let known = names::find(list.class.library, name).ok_or_else(missing)?;
            return known.set(&mut list.settings.write(), value.bytes(known.size, "value")?);
        };
        if old.value.is_empty() {
            return Err(Failure::new(codes::PLIST, codes::BADVALUE, "the size of the property is 0, so it has no value"));
        }
        let mut new = old.clone();
        new.value = value.bytes(old.value.len(), "value")?.to_vec();
        new.call_in(plist_id, new.callbacks.set, "the property's set function failed")
            .because(codes::PLIST, codes::CANTSET, "cannot set the value")?;
        old.call_in(plist_id, old.callbacks.delete, "the property's delete function failed")
            .because(codes::PLIST, codes::CANTSET, "cannot set the value")?;
        list.user.write().put(new);
        Ok(0)
    }

    /// Copies the value of a property list's property with the given name to `value`.
    fn H5Pget(plist_id: hid_t, name: Text, value: Buffer) -> herr_t {
        let list = plist::find(plist_id)?;
        let name = name.name("name")?;
        if value.is_null() {
            return Err(Failure::bad_value("no buffer"));
        }
        let Some(mut property) = user_property(&list, name) else {
            let known = names::find(list.class.library, name).ok_or_else(missing)?;
            let bytes = known.get(&list.settings.read())?;
            value.put(&bytes, bytes.len());
            return Ok(0);
        };
        if property.value.is_empty() {
            return Err(Failure::new(codes::PLIST, codes::BADVALUE, "the size of the property is 0, so it has no value"));
        }
        property
            .call_in(plist_id, property.callbacks.get, "the property's get function failed")
            .because(codes::PLIST, codes::CANTGET, "cannot return the value")?;
        value.put(&property.value, property.value.len());
        Ok(0)
    }
}

export! {
    /// Returns whether a property list or class has a property with the given name.
    fn H5Pexist(plist_id: hid_t, name: Text) -> htri_t {
        let name = name.name("name")?;
        Ok(htri_t::from(match list_or_class(plist_id)? {
            ListOrClass::List(list) => {
                list.user.read().find(name).is_some() || names::find(list.class.library, name).is_some()
            }
            ListOrClass::Class(class) => {
                class.inherited().find(name).is_some() || names::find(class.library, name).is_some()
            }
        }))
    }

    /// Stores in `size` the size in bytes of a property's value. The property belongs to a property
    /// list or class.
    fn H5Pget_size(id: hid_t, name: Text, size: Out<usize>) -> herr_t {
        let name = name.name("name")?;
        let (user, library) = match list_or_class(id)? {
            ListOrClass::List(list) => (user_property(&list, name), list.class.library),
            ListOrClass::Class(class) => (class.inherited().find(name).cloned(), class.library),
        };
        let size = size.require("result")?;
        match (user, names::find(library, name)) {
            (Some(property), _) => size.put(property.value.len()),
            (None, Some(known)) => size.put(known.size),
            (None, None) => return Err(missing()),
        }
        Ok(0)
    }

    /// Stores in `nprops` the number of properties of a property list or class. For a class,
    /// inherited properties do not count.
    fn H5Pget_nprops(id: hid_t, nprops: Out<usize>) -> herr_t {
        nprops.require("result")?.put(all_names(id, false)?.len());
        Ok(0)
    }

    /// Calls the user's function `iter_func` for each property of a list or class, from index `idx`
    /// on. Stops when the function returns a nonzero value.
    fn H5Piterate(id: hid_t, idx: Out<c_int>, iter_func: Option<IterateFunction>, iter_data: *mut c_void) -> c_int {
        let names = all_names(id, true)?;
        let function = iter_func.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        let start = usize::try_from(idx.get().unwrap_or(0)).map_err(|_| Failure::bad_value("the start index is negative"))?;
        let mut result = 0;
        let mut next = start;
        for name in names.iter().skip(start) {
            let name = crate::error::stack::text(name);
            result = call_user!(function, id, name.as_ptr(), iter_data);
            if result != 0 {
                break;
            }
            next += 1;
        }
        idx.put(counted(next)?);
        Ok(result)
    }

    /// Copies a property to another property list or class, in place of a property with the same
    /// name.
    fn H5Pcopy_prop(dst_id: hid_t, src_id: hid_t, name: Text) -> herr_t {
        let name = name.name("name")?;
        match (list_or_class(dst_id)?, list_or_class(src_id)?) {
            (ListOrClass::Class(to), ListOrClass::Class(from)) => {
                let property = from.inherited().find(name).cloned().ok_or_else(missing)?;
                to.user.write().put(property);
            }
            (ListOrClass::List(to), ListOrClass::List(from)) => {
                let Some(mut property) = user_property(&from, name) else {
                    let known = names::find(from.class.library, name).ok_or_else(missing)?;
                    let bytes = known.get(&from.settings.read())?;
                    names::find(to.class.library, name).ok_or_else(missing)?;
                    return known.set(&mut to.settings.write(), &bytes);
                };
                if let Some(mut old) = user_property(&to, name) {
                    old.call_in(dst_id, old.callbacks.delete, "a function of the property failed")?;
                    property.call(property.callbacks.copy, "the property's copy function failed")?;
                } else {
                    property.call(property.callbacks.create, "a function of the property failed")?;
                }
                to.user.write().put(property);
            }
            _ => return Err(Failure::bad_type("one identifier is a property list and the other is a class")),
        }
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::{H5Pcopy, H5Pcreate, H5Pcreate_class, H5Pequal};

    /// Doubles the value of a property. The function is a callback for tests.
    ///
    /// # Safety
    /// The value is a number of four bytes.
    unsafe extern "C" fn double(_: hid_t, _: *const c_char, _: usize, value: *mut c_void) -> herr_t {
        // SAFETY: the property has four bytes.
        unsafe { value.cast::<u32>().write_unaligned(value.cast::<u32>().read_unaligned() * 2) };
        0
    }

    #[test]
    fn properties_of_users_have_functions() {
        let none = std::ptr::null_mut();
        let name = Text::of(c"x".as_ptr());
        let mut value = 7_u32;
        // SAFETY: all pointers lead to values of the stated sizes.
        unsafe {
            let data = |value: &u32| std::mem::transmute::<*const u32, Data>(value);
            let class = H5Pcreate_class(0, Text::of(c"own".as_ptr()), None, none, None, none, None, none);
            let old = H5Pcreate(class);
            let set: ListValueFunction = double;
            let (a, b) = (Some(set), None);
            assert_eq!(H5Pregister2(class, name, 4, data(&value), None, a, b, b, None, None, None), 0);
            assert_eq!(H5Pregister2(class, name, 4, data(&value), None, a, b, b, None, None, None), -1);
            let list = H5Pcreate(class);
            assert_eq!((H5Pexist(old, name), H5Pexist(list, name)), (0, 1));
            assert_eq!(H5Pset(list, name, data(&21)), 0);
            assert_eq!(H5Pget(list, name, Buffer::of((&raw mut value).cast())), 0);
            assert_eq!(value, 42);
            let copy = H5Pcopy(list);
            assert_eq!(H5Pequal(list, copy), 1);
            assert_eq!(H5Premove(copy, name), 0);
            assert_eq!((H5Pequal(list, copy), H5Pexist(copy, name)), (0, 0));
        }
    }

    #[test]
    fn properties_of_the_library_have_names() {
        let name = Text::of(c"max_temp_buf".as_ptr());
        let mut size = 0_usize;
        // SAFETY: the pointer leads to a value of the property's size.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_DATASET_XFER);
            assert_eq!(H5Pget(list, name, Buffer::of((&raw mut size).cast())), 0);
            assert_eq!(size, 1 << 20);
        }
    }
}
