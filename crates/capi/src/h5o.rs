//! Functions for objects of any kind (`H5O*`): opening, links, copies and comments.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

use hyperslab::{CopyOptions, LinkTarget, Object, ObjectKind};

use crate::ctypes::{H5O_token_t, H5P_DEFAULT, haddr_t, herr_t, hid_t, hsize_t, htri_t};

use crate::datatype::{CType, TypeHandle, TypeState, form};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location};
use crate::file::traverse::{self, Parent, Place};
use crate::group::links;
use crate::id::{self, Entry};
use crate::plist;
use crate::pointer::{In, Out, Text, TextBuffer};

/// The flag of `H5Ocopy` that copies only one level of a group's links.
const COPY_SHALLOW: c_uint = 0x01;
/// The flag of `H5Ocopy` that replaces soft links by copies of their objects.
const COPY_SOFT: c_uint = 0x02;
/// The flag of `H5Ocopy` that replaces external links by copies of their objects.
const COPY_EXTERNAL: c_uint = 0x04;
/// The flag of `H5Ocopy` that copies the objects to which references lead.
const COPY_REFERENCES: c_uint = 0x08;
/// The flag of `H5Ocopy` that omits the attributes of the copied objects.
const COPY_WITHOUT_ATTRIBUTES: c_uint = 0x10;
/// The flag of `H5Ocopy` that reuses equal committed datatypes of the target file.
const COPY_MERGE: c_uint = 0x40;

/// Registers an open object of any kind (group, dataset or datatype) and returns the object's new
/// identifier.
///
/// # Errors
/// Returns the errors of reading the object.
pub fn register((object, location): Place, access: hid_t) -> Outcome<hid_t> {
    match object.kind() {
        Some(ObjectKind::Group) => Ok(crate::h5g::register(object.into_group()?, location)),
        Some(ObjectKind::Dataset) => {
            let access = plist::dataset_access(access).unwrap_or_default();
            let access = crate::dataset::access::in_use(access, &location);
            let dataset = object.into_dataset_with(&crate::dataset::access::choices(&access))?;
            let handle = crate::dataset::create::handle(&dataset, location, access);
            Ok(id::register(Entry::Dataset(Arc::new(handle))))
        }
        Some(ObjectKind::Datatype) => {
            let committed = object.into_datatype()?;
            let datatype = form::memory(committed.datatype());
            let state = CType {
                datatype,
                state: TypeState::ReadOnly,
                committed: Some((Arc::new(committed), location)),
            };
            Ok(id::register(Entry::Datatype(Arc::new(TypeHandle(state.into())))))
        }
        _ => Err(Failure::new(codes::OHDR, codes::BADTYPE, "the object has an unknown kind")),
    }
}

/// Discards cached metadata of an object and reads the metadata again, as SWMR readers need.
///
/// # Errors
/// Fails if the identifier does not refer to an object in a file. Returns I/O errors.
pub fn refresh(object: hid_t) -> Outcome<herr_t> {
    match id::find(object) {
        Some(Entry::Dataset(dataset)) => dataset.dataset.refresh()?,
        Some(Entry::Group(_) | Entry::Datatype(_)) => {
            let (_, place) = location::find(object)?;
            place.shared.file.refresh()?;
        }
        _ => return Err(Failure::bad_type("not an object")),
    }
    Ok(0)
}

/// Opens an object in the file of `place`. The header of the object is at the address `address`.
fn open_at(place: &Location, address: u64) -> Outcome<Place> {
    let object = place.shared.file.root().object_at_address(address)?;
    let name = crate::file::Name::default();
    Ok((object, place.with_name(name)))
}

/// Opens the object to which a link leads. The link is at position `number` of the group at the
/// path `name`.
fn by_index(
    loc: hid_t,
    name: Text,
    (index, order, number): (c_int, c_int, hsize_t),
    lapl: hid_t,
) -> Outcome<Place> {
    let start = traverse::open(loc, name.name("group name")?, lapl)?;
    let group = start.0.clone().into_group()?;
    let link = links::at(&group, links::index(index)?, links::order(order)?, number)?;
    traverse::follow(start, &link.name, &plist::link_access(lapl)?)
}

/// Converts copy flags (`H5O_COPY_*`) to the copy options of hyperslab.
fn copy_options(flags: c_uint) -> CopyOptions {
    CopyOptions {
        shallow: flags & COPY_SHALLOW != 0,
        expand_soft_links: flags & COPY_SOFT != 0,
        expand_external_links: flags & COPY_EXTERNAL != 0,
        expand_references: flags & COPY_REFERENCES != 0,
        without_attributes: flags & COPY_WITHOUT_ATTRIBUTES != 0,
        merge_committed_datatypes: flags & COPY_MERGE != 0,
    }
}

/// Copies the object at the path `name` to the path `new`, with the properties of an object copy
/// list.
fn copy(source: hid_t, name: Text, target: hid_t, new: Text, ocpypl: hid_t, lcpl: hid_t) -> Outcome<()> {
    let options =
        plist::object_copy(ocpypl).because(codes::ARGS, codes::BADTYPE, "not an object copy list")?;
    let (_, intermediate) = traverse::link_creation(lcpl)?;
    let (object, _place) = traverse::open(source, name.name("source name")?, H5P_DEFAULT).because(
        codes::SYM,
        codes::NOTFOUND,
        "the source object does not exist",
    )?;
    let Parent { group, last, .. } =
        traverse::parent(target, new.name("destination name")?, H5P_DEFAULT, intermediate)?;
    let last = std::str::from_utf8(last)
        .map_err(|_| Failure::unsupported("a copy with a name that is not UTF-8 is not supported"))?;
    if group.by_bytes().link(last.as_bytes())?.is_some() {
        return Err(Failure::new(codes::OHDR, codes::EXISTS, "the destination object exists"));
    }
    group.copy_with(&object, last, copy_options(options.flags))?;
    Ok(())
}

/// Creates a hard link at the path `name` to an open object.
fn link(object: hid_t, loc: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> Outcome<()> {
    let (target, place) = location::find(object)?;
    let (charset, intermediate) = traverse::link_creation(lcpl)?;
    let at = name.name("link name")?;
    let Parent { group, place: parent, last } = traverse::parent(loc, at, lapl, intermediate)?;
    if !Arc::ptr_eq(&parent.shared, &place.shared) {
        return Err(Failure::new(
            codes::LINK,
            codes::CANTINIT,
            "the link is in another file than the object",
        ));
    }
    group.by_bytes().insert(last, charset, LinkTarget::Hard(target.token()))?;
    if place.name.get().is_none() {
        place.name.set(parent.name.join(last).get());
    }
    Ok(())
}

/// Copies the comment of an object to the caller's buffer and returns the length of the comment.
fn comment_of(object: &Object, buffer: TextBuffer, size: usize) -> Outcome<isize> {
    let comment = object.comment()?.unwrap_or_default();
    buffer.put_cut(&comment, size);
    crate::text::length(&comment)
}

/// Sets the comment of an object. Removes the comment if the text is a null pointer.
fn set_comment(object: &Object, comment: Text) -> Outcome<herr_t> {
    let text = comment.get().unwrap_or_default();
    object.set_comment_bytes(text)?;
    Ok(0)
}

/// Returns the object to which an identifier refers, and its location. Other identifiers cause a
/// failure with the text that the identifier is not an object.
fn object_of(id: hid_t) -> Outcome<Place> {
    location::find(id).because(codes::ARGS, codes::BADTYPE, "not an object")
}

export! {
    /// Opens the object at the path `name` and returns the object's identifier.
    fn H5Oopen(loc: hid_t, name: Text, lapl: hid_t) -> hid_t {
        traverse::open(loc, name.name("object name")?, lapl)
            .and_then(|place| register(place, H5P_DEFAULT))
            .because(codes::OHDR, codes::CANTOPENOBJ, "unable to synchronously open object")
    }

    /// Opens the object with the given object token and returns the object's identifier.
    fn H5Oopen_by_token(loc: hid_t, token: H5O_token_t) -> hid_t {
        let (_, place) = location::find(loc)?;
        if token == H5O_token_t::UNDEFINED {
            return Err(Failure::bad_value("the token is undefined"));
        }
        open_at(&place, token.address())
            .and_then(|place| register(place, H5P_DEFAULT))
            .because(codes::OHDR, codes::CANTOPENOBJ, "unable to open object by token")
    }

    /// Opens the object whose header is at `address` and returns the object's identifier.
    fn H5Oopen_by_addr(loc: hid_t, address: haddr_t) -> hid_t {
        let (_, place) = location::find(loc)?;
        if address == haddr_t::MAX {
            return Err(Failure::bad_value("the address is undefined"));
        }
        open_at(&place, address)
            .and_then(|place| register(place, H5P_DEFAULT))
            .because(codes::OHDR, codes::CANTOPENOBJ, "unable to open object by address")
    }

    /// Opens the object to which the link at position `number` of a group leads and returns the
    /// object's identifier.
    fn H5Oopen_by_idx(loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t, lapl: hid_t) -> hid_t {
        by_index(loc, name, (index, order, number), lapl)
            .and_then(|place| register(place, H5P_DEFAULT))
            .because(codes::OHDR, codes::CANTOPENOBJ, "unable to open object by index")
    }

    /// Returns whether the object at the path `name` exists. The result is false for a link without
    /// a target.
    fn H5Oexists_by_name(loc: hid_t, name: Text, lapl: hid_t) -> htri_t {
        let name = name.name("object name")?;
        location::find(loc)?;
        match traverse::open(loc, name, lapl) {
            Ok(_) => Ok(1),
            Err(failure) if crate::h5l::is_last_missing(loc, name, lapl) => {
                let _ = failure;
                Ok(0)
            }
            Err(failure) => Err(failure.then(codes::OHDR, codes::CANTGET, "unable to determine if object exists")),
        }
    }

    /// Creates a hard link at the path `name` to the object `object`.
    fn H5Olink(object: hid_t, loc: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t {
        link(object, loc, name, lcpl, lapl).because(codes::LINK, codes::CANTCREATE, "unable to create link")?;
        Ok(0)
    }

    /// Increases the stored number of hard links of an object by one.
    fn H5Oincr_refcount(object: hid_t) -> herr_t {
        object_of(object)?.0.add_reference()
            .because(codes::OHDR, codes::LINKCOUNT, "unable to increment reference count")?;
        Ok(0)
    }

    /// Decreases the stored number of hard links of an object by one.
    fn H5Odecr_refcount(object: hid_t) -> herr_t {
        object_of(object)?.0.drop_reference()
            .because(codes::OHDR, codes::LINKCOUNT, "unable to decrement reference count")?;
        Ok(0)
    }

    /// Copies the object at the path `name` of `source` to the path `new` of `target`.
    fn H5Ocopy(source: hid_t, name: Text, target: hid_t, new: Text, ocpypl: hid_t, lcpl: hid_t) -> herr_t {
        copy(source, name, target, new, ocpypl, lcpl)
            .because(codes::OHDR, codes::CANTCOPY, "unable to synchronously copy object")?;
        Ok(0)
    }

    /// Sets the comment of an object.
    fn H5Oset_comment(object: hid_t, comment: Text) -> herr_t {
        set_comment(&object_of(object)?.0, comment)
            .because(codes::OHDR, codes::CANTSET, "unable to set comment")
    }

    /// Sets the comment of the object at the path `name`.
    fn H5Oset_comment_by_name(loc: hid_t, name: Text, comment: Text, lapl: hid_t) -> herr_t {
        let (object, _place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::NOTFOUND, "the object does not exist")?;
        set_comment(&object, comment).because(codes::OHDR, codes::CANTSET, "unable to set comment")
    }

    /// Copies the comment of an object to `comment` and returns the length of the comment.
    fn H5Oget_comment(object: hid_t, comment: TextBuffer, size: usize) -> isize {
        comment_of(&object_of(object)?.0, comment, size)
            .because(codes::OHDR, codes::CANTGET, "unable to get comment")
    }

    /// Copies the comment of the object at the path `name` to `comment` and returns the comment's
    /// length.
    fn H5Oget_comment_by_name(loc: hid_t, name: Text, comment: TextBuffer, size: usize, lapl: hid_t) -> isize {
        let (object, _place) = traverse::open(loc, name.name("object name")?, lapl)
            .because(codes::OHDR, codes::NOTFOUND, "the object does not exist")?;
        comment_of(&object, comment, size).because(codes::OHDR, codes::CANTGET, "unable to get comment")
    }

    /// Closes the identifier of a group, dataset or datatype.
    fn H5Oclose(object: hid_t) -> herr_t {
        match id::find(object) {
            Some(Entry::Group(_) | Entry::Dataset(_)) => {}
            Some(Entry::Datatype(datatype)) if datatype.0.read().committed.is_some() => {}
            _ => return Err(Failure::bad_type("not an object")),
        }
        crate::h5i::release(object).because(codes::OHDR, codes::CANTRELEASE, "unable to close object")?;
        Ok(0)
    }

    /// Writes the dirty data of the file that contains the object.
    fn H5Oflush(object: hid_t) -> herr_t {
        object_of(object)?;
        crate::h5f::flush_object(object).because(codes::OHDR, codes::CANTFLUSH, "unable to flush object")
    }

    /// Discards cached metadata of an object and reads the metadata again from the file.
    fn H5Orefresh(object: hid_t) -> herr_t {
        refresh(object).because(codes::OHDR, codes::CANTLOAD, "unable to refresh object")
    }

    /// Records the request to keep an object's dirty metadata in the cache. The next flush of the
    /// file still writes the metadata.
    fn H5Odisable_mdc_flushes(object: hid_t) -> herr_t {
        let (found, place) = object_of(object)?;
        if !place.shared.kept_metadata.lock().insert(found.token().address()) {
            return Err(Failure::new(codes::OHDR, codes::CANTCORK, "the object is already kept"));
        }
        Ok(0)
    }

    /// Ends the request to keep an object's dirty metadata in the cache.
    fn H5Oenable_mdc_flushes(object: hid_t) -> herr_t {
        let (found, place) = object_of(object)?;
        if !place.shared.kept_metadata.lock().remove(&found.token().address()) {
            return Err(Failure::new(codes::OHDR, codes::CANTUNCORK, "the object is not kept"));
        }
        Ok(0)
    }

    /// Stores in `disabled` whether the program requested to keep an object's dirty metadata.
    fn H5Oare_mdc_flushes_disabled(object: hid_t, disabled: Out<bool>) -> herr_t {
        let (found, place) = object_of(object)?;
        let kept = place.shared.kept_metadata.lock().contains(&found.token().address());
        disabled.require("result")?.put(kept);
        Ok(0)
    }

    /// Compares two object tokens and stores a negative, zero or positive result.
    fn H5Otoken_cmp(loc: hid_t, one: In<H5O_token_t>, other: In<H5O_token_t>, result: Out<c_int>) -> herr_t {
        location::find(loc)?;
        let ordering = match (one.get(), other.get()) {
            (Some(one), Some(other)) => one.bytes.iter().rev().cmp(other.bytes.iter().rev()),
            (one, other) => one.is_some().cmp(&other.is_some()),
        };
        result.require("result")?.put(ordering as c_int);
        Ok(0)
    }

    /// Stores a new text form of an object token in `text`, which the program frees.
    fn H5Otoken_to_str(loc: hid_t, token: In<H5O_token_t>, text: Out<*mut c_char>) -> herr_t {
        location::find(loc)?;
        let address = token.value("token")?.address();
        text.require("text")?.put(crate::memory::text(address.to_string().as_bytes()));
        Ok(0)
    }

    /// Stores in `token` the object token that a text form describes.
    fn H5Otoken_from_str(loc: hid_t, text: Text, token: Out<H5O_token_t>) -> herr_t {
        location::find(loc)?;
        let address = text.utf8("text")?.parse();
        let address = address.map_err(|_| Failure::bad_value("the text is not a token"))?;
        token.require("token")?.put(H5O_token_t::of(address));
        Ok(0)
    }
}
