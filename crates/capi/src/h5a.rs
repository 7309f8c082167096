//! Attribute functions (`H5A*`): creation, reads and writes, names, and information.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use hyperslab::{AttributeElements, AttributeForm, CharacterSet, Object};

use crate::attribute::{self, AttributeHandle, NewAttribute, list};
use crate::convert::{Rules, references};
use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, hsize_t, htri_t};
use crate::dataset::transfer::needs_old_elements;
use crate::datatype::{self, CType, TypeHandle, TypeState, form};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Name};
use crate::file::traverse::{self, Place};
use crate::id::{self, Entry};
use crate::plist::{self, Settings};
use crate::pointer::{Buffer, Data, Out, Text, TextBuffer};
use crate::space::{self, CSpace};
use crate::symbols;

/// Information about an attribute (`H5A_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5A_info_t {
    /// True if the object tracks the creation order of attributes.
    pub corder_valid: bool,
    /// The creation order value of the attribute.
    pub corder: c_uint,
    /// The character set of the attribute's name.
    pub cset: c_int,
    /// The size of the attribute's value in bytes.
    pub data_size: hsize_t,
}

const _: () = assert!(size_of::<H5A_info_t>() == 24);

/// Opens the attribute `name` of the object `place` and returns the attribute's new identifier.
///
/// # Errors
/// Fails if the object has no attribute with this name.
pub fn register(place: Place, name: &[u8]) -> Outcome<hid_t> {
    let attribute = place.0.attribute_named(name)?;
    Ok(id::register(Entry::Attribute(Arc::new(AttributeHandle::read(place, attribute)))))
}

/// Checks that an identifier refers to an attribute access property list.
fn require_access(aapl: hid_t) -> Outcome<()> {
    plist::require_class(aapl, symbols::CLASS_ATTRIBUTE_ACCESS, "attribute access list")
}

/// Returns the object to which an identifier refers, if objects of its kind can have attributes.
/// The identifier of a file stands for its root group.
fn owner(loc: hid_t) -> Outcome<Place> {
    if matches!(id::find(loc), Some(Entry::Attribute(_))) {
        return Err(Failure::bad_type("location is not valid for an attribute"));
    }
    location::find(loc)
}

/// Creates an attribute of the object `place` and returns the attribute's identifier.
fn create(place: Place, name: &[u8], type_id: hid_t, space_id: hid_t, acpl: hid_t) -> Outcome<hid_t> {
    let charset = match acpl {
        H5P_DEFAULT => CharacterSet::Ascii,
        list => {
            let create = plist::string_create(list)?;
            if create.charset == 1 { CharacterSet::Utf8 } else { CharacterSet::Ascii }
        }
    };
    let ctype = datatype::find(type_id)?.0.read().clone();
    let dataspace = space::copy_of(space_id)?.extent;
    space::require_extent(&dataspace)?;
    let shared = &place.1.shared;
    let datatype = form::file(&ctype.datatype, shared.offset_bytes());
    let committed = match &ctype.committed {
        Some((committed, at)) if Arc::ptr_eq(&at.shared, shared) => Some(Arc::clone(committed)),
        _ => None,
    };
    let new = NewAttribute { name: name.to_vec(), charset, datatype, committed, dataspace };
    let form = AttributeForm {
        name,
        charset,
        datatype: &new.datatype,
        committed: new.committed.as_deref(),
        dataspace: &new.dataspace,
    };
    place.0.create_attribute(&form).map_err(|error| match error.kind() {
        hyperslab::ErrorKind::Exists => {
            Failure::new(codes::ATTR, codes::ALREADYEXISTS, "attribute already exists")
        }
        _ => error.into(),
    })?;
    Ok(id::register(Entry::Attribute(Arc::new(AttributeHandle::created(place, new)))))
}

/// Writes a buffer with elements of the datatype `type_id` to all elements of an attribute.
fn write(attribute_id: hid_t, type_id: hid_t, buffer: Data) -> Outcome<()> {
    let handle = attribute::find(attribute_id)?;
    let memory = datatype::copy_of(type_id)?;
    let form = handle.form()?;
    let in_file = &form.datatype;
    let count = hyperslab_exact::to_usize(form.dataspace.element_count().unwrap_or(0))?; // It was stored.
    if count == 0 {
        // Without elements, no conversion is needed: the datatypes may be any.
        return Ok(());
    }
    let bytes = buffer.bytes(crate::dataset::elements::bytes(count, memory.size as usize)?, "buffer")?;
    let rules = Rules::of(H5P_DEFAULT)?.in_file(&handle.location.shared);
    let in_memory = match references::apply(&memory, in_file) {
        true => in_file.clone(),
        false => form::memory(in_file),
    };
    let converted;
    let partial = needs_old_elements(&memory, &in_memory);
    let converts = rules.call_user(&memory, &in_memory) || references::apply(&memory, &in_memory);
    let (memory, bytes) = if partial || converts {
        let plan = rules.plan(&memory, &in_memory)?;
        let mut out = vec![0; count * in_memory.size as usize];
        if partial {
            let conversions = crate::convert::defaults().with_destination_heap(rules.heap());
            handle.attribute()?.read_bytes(&in_memory, &conversions, &mut out)?;
        }
        plan.convert(bytes, &mut out, count)?;
        converted = out;
        (in_memory, converted.as_slice())
    } else {
        (memory, bytes)
    };
    let elements = AttributeElements {
        name: &form.name,
        charset: form.charset,
        datatype: in_file,
        committed: form.committed.as_deref(),
        dataspace: &form.dataspace,
        memory: Some(&memory),
        bytes,
    };
    let conversions = crate::convert::defaults().with_source_heap(rules.heap());
    handle.owner.set_attribute_elements(&elements, &conversions).map_err(conversion)
}

/// Converts an error of an attribute read or write to a failure. If no conversion between the
/// datatypes exists, the failure has a separate code.
fn conversion(error: hyperslab::Error) -> Failure {
    let missing = matches!(error.without_context(), hyperslab::Error::Convert(_));
    let failure = Failure::from(error);
    if missing {
        failure.then(codes::ATTR, codes::UNSUPPORTED, "unable to convert between datatypes")
    } else {
        failure
    }
}

/// Reads all elements of an attribute into the caller's buffer as elements of the datatype
/// `type_id`.
fn read(attribute_id: hid_t, type_id: hid_t, buffer: Buffer) -> Outcome<()> {
    let handle = attribute::find(attribute_id)?;
    let memory = datatype::copy_of(type_id)?;
    let attribute = handle.attribute()?;
    let (in_file, extent) = (attribute.datatype()?, attribute.dataspace()?);
    let count = hyperslab_exact::to_usize(extent.element_count().unwrap_or(0))?; // It was stored.
    if count == 0 {
        return Ok(());
    }
    let target = buffer.bytes(crate::dataset::elements::bytes(count, memory.size as usize)?, "buffer")?;
    let rules = Rules::of(H5P_DEFAULT)?.in_file(&handle.location.shared);
    let conversions = crate::convert::defaults().with_destination_heap(rules.heap());
    let in_memory = form::memory(&in_file);
    if references::apply(&in_file, &memory) {
        let mut stored = vec![0; count * in_file.size as usize];
        attribute.read_bytes(&in_file, &conversions, &mut stored)?;
        return Ok(rules.plan(&in_file, &memory)?.convert(&stored, target, count)?);
    }
    if !rules.call_user(&in_memory, &memory) {
        return attribute.read_bytes(&memory, &conversions, target).map_err(conversion);
    }
    let mut stored = vec![0; count * in_memory.size as usize];
    attribute.read_bytes(&in_memory, &conversions, &mut stored)?;
    Ok(rules.plan(&in_memory, &memory)?.convert(&stored, target, count)?)
}

/// Returns a new identifier of the attribute's datatype in memory form.
fn datatype_of(attribute_id: hid_t) -> Outcome<hid_t> {
    let handle = attribute::find(attribute_id)?;
    let form = handle.form()?;
    let place = handle.location.with_name(Name::default());
    let committed = form.committed.as_ref().map(|committed| (Arc::clone(committed), place));
    let datatype = form::memory(&form.datatype);
    let state = CType { datatype, state: TypeState::ReadOnly, committed };
    Ok(id::register(Entry::Datatype(Arc::new(TypeHandle(state.into())))))
}

/// Returns information about an attribute of the object `owner` in the C form (`H5A_info_t`).
///
/// # Errors
/// Returns the errors of reading the attribute.
pub fn info(owner: &Object, attribute: &hyperslab::Attribute) -> Outcome<H5A_info_t> {
    info_of(attribute, tracks_order(owner)?)
}

/// Returns whether an object tracks the creation order of its attributes.
///
/// # Errors
/// Returns the errors of reading the object.
pub fn tracks_order(owner: &Object) -> Outcome<bool> {
    Ok(owner.attribute_order()? != hyperslab::CreationOrder::Untracked)
}

/// Returns information about an attribute. `tracked` is true if the object of the attribute tracks
/// the creation order.
///
/// # Errors
/// Returns the errors of reading the attribute.
pub fn info_of(attribute: &hyperslab::Attribute, tracked: bool) -> Outcome<H5A_info_t> {
    let elements = attribute.dataspace()?.element_count().unwrap_or(0); // It was stored.
    Ok(H5A_info_t {
        corder_valid: tracked && attribute.creation_order().is_some(),
        corder: attribute.creation_order().unwrap_or(0),
        cset: i32::from(attribute.charset() == CharacterSet::Utf8),
        data_size: elements * u64::from(attribute.datatype()?.size),
    })
}

/// Renames an attribute of the object `owner` and updates the open handles of the attribute.
fn rename(owner: &Object, from: &[u8], to: &[u8]) -> Outcome<()> {
    if from == to {
        return Ok(());
    }
    let charset = owner.attribute_named(from)?.charset();
    owner.rename_attribute_named(from, to, charset)?;
    for (_, entry) in id::list(crate::ctypes::IdKind::Attribute as c_int) {
        let Entry::Attribute(handle) = entry else { continue };
        if handle.owner.token() == owner.token() && handle.name() == from {
            handle.replace(handle.owner.attribute_named(to)?);
        }
    }
    Ok(())
}

/// Returns whether an object has an attribute with the given name.
fn exists(owner: &Object, name: &[u8]) -> Outcome<htri_t> {
    Ok(htri_t::from(owner.has_attribute_named(name)?))
}

/// The text of the error record for a failed creation of an attribute.
const NO_CREATE: &str = "unable to synchronously create attribute";
/// The text of the error record for a failed open of an attribute.
const NO_OPEN: &str = "unable to synchronously open attribute";

export! {
    /// Creates an attribute of the object `loc` and returns the attribute's identifier.
    fn H5Acreate2(loc: hid_t, name: Text, type_id: hid_t, space_id: hid_t, acpl: hid_t, aapl: hid_t) -> hid_t {
        require_access(aapl)?;
        let name = name.name("attribute name")?;
        create(owner(loc)?, name, type_id, space_id, acpl).because(codes::ATTR, codes::CANTCREATE, NO_CREATE)
    }

    /// Creates an attribute of the object `loc` and returns the attribute's identifier (HDF5 1.6
    /// form).
    fn H5Acreate1(loc: hid_t, name: Text, type_id: hid_t, space_id: hid_t, acpl: hid_t) -> hid_t {
        let name = name.name("attribute name")?;
        create(owner(loc)?, name, type_id, space_id, acpl).because(codes::ATTR, codes::CANTINIT, NO_CREATE)
    }

    /// Creates an attribute of the object at path `object` and returns the attribute's identifier.
    fn H5Acreate_by_name(
        loc: hid_t, object: Text, name: Text, type_id: hid_t, space_id: hid_t, acpl: hid_t, aapl: hid_t, lapl: hid_t,
    ) -> hid_t {
        require_access(aapl)?;
        let (object, name) = (object.name("object name")?, name.name("attribute name")?);
        traverse::open(loc, object, lapl)
            .and_then(|place| create(place, name, type_id, space_id, acpl))
            .because(codes::ATTR, codes::CANTCREATE, NO_CREATE)
    }

    /// Opens the attribute `name` of the object `loc` and returns the attribute's identifier.
    fn H5Aopen(loc: hid_t, name: Text, aapl: hid_t) -> hid_t {
        require_access(aapl)?;
        register(owner(loc)?, name.name("attribute name")?).because(codes::ATTR, codes::CANTOPENOBJ, NO_OPEN)
    }

    /// Opens the attribute `name` of the object `loc` with default properties and returns its
    /// identifier.
    fn H5Aopen_name(loc: hid_t, name: Text) -> hid_t {
        register(owner(loc)?, name.name("attribute name")?).because(codes::ATTR, codes::CANTOPENOBJ, NO_OPEN)
    }

    /// Opens the attribute of an object at position `number`. The position counts in creation order
    /// if an index of this order exists, or else in name order.
    fn H5Aopen_idx(loc: hid_t, number: c_uint) -> hid_t {
        let place = owner(loc)?;
        let name = list::at(&place.0, (1, 0), number.into()).or_else(|_| list::at(&place.0, (0, 0), number.into()))
            .because(codes::ATTR, codes::CANTOPENOBJ, NO_OPEN)?;
        register(place, &name).because(codes::ATTR, codes::CANTOPENOBJ, NO_OPEN)
    }

    /// Opens the attribute `name` of the object at path `object` and returns the attribute's
    /// identifier.
    fn H5Aopen_by_name(loc: hid_t, object: Text, name: Text, aapl: hid_t, lapl: hid_t) -> hid_t {
        require_access(aapl)?;
        let (object, name) = (object.name("object name")?, name.name("attribute name")?);
        traverse::open(loc, object, lapl)
            .and_then(|place| register(place, name))
            .because(codes::ATTR, codes::CANTOPENOBJ, NO_OPEN)
    }

    /// Opens the attribute of an object at position `number` in an index and order. Returns the
    /// attribute's identifier.
    fn H5Aopen_by_idx(
        loc: hid_t, object: Text, index: c_int, order: c_int, number: hsize_t, aapl: hid_t, lapl: hid_t,
    ) -> hid_t {
        require_access(aapl)?;
        let object = object.name("object name")?;
        traverse::open(loc, object, lapl)
            .and_then(|place| {
                let name = list::at(&place.0, (index, order), number)?;
                register(place, &name)
            })
            .because(codes::ATTR, codes::CANTOPENOBJ, NO_OPEN)
    }

    /// Writes `buffer`, whose elements have the datatype `type_id`, to all elements of an
    /// attribute.
    fn H5Awrite(attribute_id: hid_t, type_id: hid_t, buffer: Data) -> herr_t {
        write(attribute_id, type_id, buffer)
            .because(codes::ATTR, codes::WRITEERROR, "unable to synchronously write attribute")?;
        Ok(0)
    }

    /// Reads all elements of an attribute into `buffer` as elements of the datatype `type_id`.
    fn H5Aread(attribute_id: hid_t, type_id: hid_t, buffer: Buffer) -> herr_t {
        read(attribute_id, type_id, buffer)
            .because(codes::ATTR, codes::READERROR, "unable to synchronously read attribute")?;
        Ok(0)
    }

    /// Closes an attribute identifier.
    fn H5Aclose(attribute_id: hid_t) -> herr_t {
        attribute::find(attribute_id)?;
        crate::h5i::release(attribute_id).because(codes::ATTR, codes::CANTDEC, "unable to close attribute")?;
        Ok(0)
    }

    /// Copies the dataspace of an attribute and returns the identifier of the copy.
    fn H5Aget_space(attribute_id: hid_t) -> hid_t {
        let handle = attribute::find(attribute_id)?;
        Ok(space::register(CSpace::all(handle.form()?.dataspace.clone())))
    }

    /// Returns a new identifier of the datatype of an attribute.
    fn H5Aget_type(attribute_id: hid_t) -> hid_t {
        datatype_of(attribute_id).because(codes::ATTR, codes::CANTGET, "can't get datatype ID of attribute")
    }

    /// Returns the identifier of a new attribute creation list with the attribute's creation
    /// properties.
    fn H5Aget_create_plist(attribute_id: hid_t) -> hid_t {
        let handle = attribute::find(attribute_id)?;
        let charset = i32::from(handle.form()?.charset == CharacterSet::Utf8);
        let create = plist::settings::StringCreate { charset };
        plist::make::register(symbols::CLASS_ATTRIBUTE_CREATE, Settings::StringCreate(create))
    }

    /// Copies the attribute's name to `buffer` and returns the length of the name.
    fn H5Aget_name(attribute_id: hid_t, size: usize, buffer: TextBuffer) -> isize {
        let handle = attribute::find(attribute_id)?;
        buffer.require(size, "buffer for the name")?;
        let name = handle.name();
        buffer.put(&name, size);
        crate::text::length(&name)
    }

    /// Copies the name of an object's attribute at position `number` to `buffer` and returns its
    /// length.
    fn H5Aget_name_by_idx(
        loc: hid_t, object: Text, index: c_int, order: c_int, number: hsize_t, buffer: TextBuffer, size: usize,
        lapl: hid_t,
    ) -> isize {
        buffer.require(size, "buffer for the name")?;
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        let name = list::at(&object, (index, order), number).because(codes::ATTR, codes::CANTGET, "can't get name")?;
        buffer.put(&name, size);
        crate::text::length(&name)
    }

    /// Returns the number of bytes that the attribute's elements occupy in the file.
    fn H5Aget_storage_size(attribute_id: hid_t) -> hsize_t {
        let handle = attribute::find(attribute_id)?;
        let attribute = handle.attribute()?;
        Ok(info(&handle.owner, &attribute)?.data_size)
    }

    /// Stores information about an attribute in `result`.
    fn H5Aget_info(attribute_id: hid_t, result: Out<H5A_info_t>) -> herr_t {
        let handle = attribute::find(attribute_id)?;
        let attribute = handle.attribute()?;
        result.require("info")?.put(info(&handle.owner, &attribute)?);
        Ok(0)
    }

    /// Stores information about the attribute `name` of the object at path `object` in `result`.
    fn H5Aget_info_by_name(loc: hid_t, object: Text, name: Text, result: Out<H5A_info_t>, lapl: hid_t) -> herr_t {
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        let attribute = object.attribute_named(name.name("attribute name")?)
            .because(codes::ATTR, codes::CANTGET, "unable to get attribute info")?;
        result.require("info")?.put(info(&object, &attribute)?);
        Ok(0)
    }

    /// Stores information about an object's attribute at position `number` in `result`.
    fn H5Aget_info_by_idx(
        loc: hid_t, object: Text, index: c_int, order: c_int, number: hsize_t, result: Out<H5A_info_t>, lapl: hid_t,
    ) -> herr_t {
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        let name = list::at(&object, (index, order), number)
            .because(codes::ATTR, codes::CANTGET, "unable to get attribute info")?;
        result.require("info")?.put(info(&object, &object.attribute_named(&name)?)?);
        Ok(0)
    }

    /// Returns the number of attributes of the object `loc`.
    fn H5Aget_num_attrs(loc: hid_t) -> c_int {
        let (object, _place) = owner(loc)?;
        let count = object.attribute_count()?;
        c_int::try_from(count).map_err(|_| Failure::new(codes::ATTR, codes::CANTCOUNT, "too many attributes"))
    }

    /// Renames an attribute of the object `loc` from the name `from` to the name `to`.
    fn H5Arename(loc: hid_t, from: Text, to: Text) -> herr_t {
        let (object, _place) = owner(loc)?;
        rename(&object, from.name("old attribute name")?, to.name("new attribute name")?)
            .because(codes::ATTR, codes::CANTRENAME, "can't synchronously rename attribute")?;
        Ok(0)
    }

    /// Renames an attribute of the object at path `object` from `from` to `to`.
    fn H5Arename_by_name(loc: hid_t, object: Text, from: Text, to: Text, lapl: hid_t) -> herr_t {
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        rename(&object, from.name("old attribute name")?, to.name("new attribute name")?)
            .because(codes::ATTR, codes::CANTRENAME, "can't synchronously rename attribute")?;
        Ok(0)
    }

    /// Removes the attribute `name` from the object `loc`.
    fn H5Adelete(loc: hid_t, name: Text) -> herr_t {
        let (object, _place) = owner(loc)?;
        object.remove_attribute_named(name.name("attribute name")?)
            .because(codes::ATTR, codes::CANTDELETE, "unable to delete attribute")?;
        Ok(0)
    }

    /// Removes the attribute `name` from the object at path `object`.
    fn H5Adelete_by_name(loc: hid_t, object: Text, name: Text, lapl: hid_t) -> herr_t {
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        object.remove_attribute_named(name.name("attribute name")?)
            .because(codes::ATTR, codes::CANTDELETE, "unable to delete attribute")?;
        Ok(0)
    }

    /// Removes the attribute of an object at position `number` in the given index and order.
    fn H5Adelete_by_idx(loc: hid_t, object: Text, index: c_int, order: c_int, number: hsize_t, lapl: hid_t) -> herr_t {
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        let name = list::at(&object, (index, order), number)
            .because(codes::ATTR, codes::CANTDELETE, "unable to delete attribute")?;
        object.remove_attribute_named(&name)
            .because(codes::ATTR, codes::CANTDELETE, "unable to delete attribute")?;
        Ok(0)
    }

    /// Returns whether an object has an attribute with the given name.
    fn H5Aexists(object: hid_t, name: Text) -> htri_t {
        let (object, _place) = owner(object)?;
        exists(&object, name.name("attribute name")?)
            .because(codes::ATTR, codes::CANTGET, "unable to determine if attribute exists")
    }

    /// Returns whether the object at path `object` has an attribute with the given name.
    fn H5Aexists_by_name(loc: hid_t, object: Text, name: Text, lapl: hid_t) -> htri_t {
        let (object, _place) = traverse::open(loc, object.name("object name")?, lapl)?;
        exists(&object, name.name("attribute name")?)
            .because(codes::ATTR, codes::CANTGET, "unable to determine if attribute exists")
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5f::{H5Fclose, H5Fcreate};
    use crate::h5s::H5Screate;
    use crate::h5t::H5Tcreate;
    use crate::h5t_compound::H5Tinsert;
    use crate::symbols::datatypes::H5T_NATIVE_INT_g;

    #[test]
    fn a_write_of_one_member_keeps_the_others() {
        let folder = tempfile::tempdir().expect("folder");
        let path = crate::error::stack::text(folder.path().join("a.h5").as_os_str().as_encoded_bytes());
        let text = |text: &std::ffi::CStr| Text::of(text.as_ptr());
        let (first, second, mut read) = ([1_i32, 2], [8_i32, 9], [0_i32; 2]);
        // SAFETY: the pointers lead to values of the right types.
        unsafe {
            let file = H5Fcreate(text(&path), 2, H5P_DEFAULT, H5P_DEFAULT);
            let (whole, part) = (H5Tcreate(6, 8), H5Tcreate(6, 8));
            for (list, name, at) in [(whole, c"a", 0), (whole, c"b", 4), (part, c"b", 4)] {
                assert_eq!(H5Tinsert(list, text(name), at, H5T_NATIVE_INT_g), 0);
            }
            let space = H5Screate(0);
            let name = text(c"pair");
            assert_eq!(H5Acreate2(file, name, whole, space, H5P_DEFAULT, file), -1);
            let attribute = H5Acreate2(file, name, whole, space, H5P_DEFAULT, H5P_DEFAULT);
            assert_eq!(H5Awrite(attribute, whole, Data::of(first.as_ptr().cast())), 0);
            assert_eq!(H5Awrite(attribute, part, Data::of(second.as_ptr().cast())), 0);
            assert_eq!(H5Aread(attribute, whole, Buffer::of(read.as_mut_ptr().cast())), 0);
            assert_eq!(read, [1, 9]);
            let none = TextBuffer::of(std::ptr::null_mut());
            assert_eq!((H5Aget_name(attribute, 8, none), H5Aget_name(attribute, 0, none)), (-1, 4));
            assert_eq!((H5Aclose(attribute), H5Fclose(file)), (0, 0));
        }
    }
}
