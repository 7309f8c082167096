//! Reference functions for the older reference types: object references and region references
//! (`H5Rcreate`, `H5Rdereference`, …).

use std::ffi::c_int;
use std::sync::Arc;

use hyperslab::datatype::{Reference as Kind, ReferenceKind};
use hyperslab::{Dataspace, ObjectKind, ReferenceTarget, Selection};

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location, Name};
use crate::file::traverse::{self, Place};
use crate::pointer::{Buffer, Data, Out, Text, TextBuffer};
use crate::space::{self, CSpace};

/// The type number of object references in the form of HDF5 1.10 and earlier (`H5R_OBJECT1`).
const OBJECT: c_int = 0;
/// The type number of region references in the form of HDF5 1.10 and earlier
/// (`H5R_DATASET_REGION1`).
const REGION: c_int = 1;
/// The size in bytes of an object reference (`hobj_ref_t`) in memory.
const OBJECT_BYTES: usize = 8;
/// The size in bytes of a region reference (`hdset_reg_ref_t`) in memory.
const REGION_BYTES: usize = 12;

/// Returns the kind and the size in bytes of references. `number` is the number of the reference
/// type.
fn kind(number: c_int) -> Outcome<(Kind, usize)> {
    let reference = |kind| Kind { kind, version: 0 };
    match number {
        OBJECT => Ok((reference(ReferenceKind::Object1), OBJECT_BYTES)),
        REGION => Ok((reference(ReferenceKind::DatasetRegion1), REGION_BYTES)),
        _ => Err(Failure::bad_value("invalid reference type")),
    }
}

/// Stores a reference in the caller's memory. Its target is the object at the path `name`, or a
/// selection of the object's elements.
fn create(buffer: Buffer, loc: hid_t, name: Text, number: c_int, space_id: hid_t) -> Outcome<()> {
    let (kind, size) = kind(number)?;
    let (object, place) = traverse::open(loc, name.name("name")?, H5P_DEFAULT)?;
    let target = if number == REGION {
        let space = space::copy_of(space_id).because(
            codes::ARGS,
            codes::BADVALUE,
            "a region reference needs a dataspace",
        )?;
        let selection = match space::effective(&space)?.into_owned() {
            Selection::All => match &space.extent {
                Dataspace::Simple(_) => Selection::region(&space.extent.region()),
                _ => Selection::All,
            },
            other => other,
        };
        ReferenceTarget::Region(object.token(), selection)
    } else {
        ReferenceTarget::object(&object)
    };
    if number == OBJECT {
        buffer.put(&object.token().address().to_le_bytes(), size);
        return Ok(());
    }
    let element = place.shared.file.store_reference(kind, size, &target)?;
    buffer.put(&element, size);
    Ok(())
}

/// Decodes the reference in the caller's memory, and returns it with its location. Fails for a null
/// reference.
fn reference(loc: hid_t, number: c_int, data: Data) -> Outcome<(hyperslab::Reference, Location)> {
    let (kind, size) = kind(number)?;
    let (_, place) = location::find(loc)?;
    let element = data.bytes(size, "reference")?;
    let reference = place.shared.file.reference(kind, element)?;
    if reference.is_null() {
        return Err(Failure::new(codes::REFERENCE, codes::BADVALUE, "the reference is null"));
    }
    Ok((reference, place))
}

/// Opens the object to which a reference leads, and returns it with its location.
fn target((reference, place): (hyperslab::Reference, Location)) -> Outcome<Place> {
    let object = reference.object()?;
    if object.link_count()? == 0 {
        return Err(Failure::new(codes::REFERENCE, codes::LINKCOUNT, "dereferencing deleted object"));
    }
    Ok((object, place.with_name(Name::default())))
}

/// Creates a dataspace that selects the target elements of a region reference. Returns the
/// dataspace's identifier.
fn region(loc: hid_t, data: Data) -> Outcome<hid_t> {
    let (reference, _) = reference(loc, REGION, data)?;
    let (dataset, selection) = reference.region()?;
    let space = CSpace { selection, ..CSpace::all(dataset.dataspace()) };
    Ok(space::register(space))
}

/// Returns the kind of the object to which a reference leads, in the numbering of HDF5 1.6
/// (`H5G_obj_t`).
fn object_kind(loc: hid_t, number: c_int, data: Data) -> Outcome<c_int> {
    let (object, _place) = target(reference(loc, number, data)?)?;
    Ok(match object.kind() {
        Some(ObjectKind::Group) => 0,
        Some(ObjectKind::Dataset) => 1,
        Some(ObjectKind::Datatype) => 2,
        _ => -1,
    })
}

/// Searches the object with the given header address by a walk over the file, and returns the first
/// path to it. Returns `None` if no path exists.
///
/// # Errors
/// Returns the errors of reading the file.
pub fn path_of(shared: &Arc<crate::file::SharedFile>, address: u64) -> Outcome<Option<Vec<u8>>> {
    if shared.file.root().token().address() == address {
        return Ok(Some(b"/".to_vec()));
    }
    for visited in shared.file.walk() {
        if visited.token.address() == address {
            let path = visited.path;
            return Ok(Some(if path.starts_with(b"/") { path } else { [b"/".as_slice(), &path].concat() }));
        }
    }
    Ok(None)
}

export! {
    /// Stores a reference to the object at the path `name`, or to a selection of its elements, in
    /// `buffer`.
    fn H5Rcreate(buffer: Buffer, loc: hid_t, name: Text, number: c_int, space_id: hid_t) -> herr_t {
        if buffer.is_null() {
            return Err(Failure::bad_value("no buffer"));
        }
        if number == REGION && space_id == H5P_DEFAULT {
            return Err(Failure::bad_value("a region reference needs a dataspace"));
        }
        create(buffer, loc, name, number, space_id)
            .because(codes::REFERENCE, codes::CANTCREATE, "unable to create reference")?;
        Ok(0)
    }

    /// Opens the object to which a reference leads and returns the object's identifier.
    fn H5Rdereference2(loc: hid_t, oapl: hid_t, number: c_int, data: Data) -> hid_t {
        let _ = oapl;
        reference(loc, number, data).and_then(target)
            .and_then(|place| crate::h5o::register(place, H5P_DEFAULT))
            .because(codes::REFERENCE, codes::CANTOPENOBJ, "unable to dereference object")
    }

    /// Opens the object to which a reference leads with default properties and returns the object's
    /// identifier.
    fn H5Rdereference1(loc: hid_t, number: c_int, data: Data) -> hid_t {
        reference(loc, number, data).and_then(target)
            .and_then(|place| crate::h5o::register(place, H5P_DEFAULT))
            .because(codes::REFERENCE, codes::CANTOPENOBJ, "unable to dereference object")
    }

    /// Returns the identifier of a new dataspace with the elements that a region reference selects.
    fn H5Rget_region(loc: hid_t, number: c_int, data: Data) -> hid_t {
        if number != REGION {
            return Err(Failure::bad_value("invalid reference type"));
        }
        region(loc, data).because(codes::REFERENCE, codes::CANTGET, "unable to get dataspace from region reference")
    }

    /// Stores in `kind` the kind of the object to which a reference leads (`H5O_type_t`).
    fn H5Rget_obj_type2(loc: hid_t, number: c_int, data: Data, kind: Out<c_int>) -> herr_t {
        let found = object_kind(loc, number, data)
            .because(codes::REFERENCE, codes::CANTGET, "unable to determine object type")?;
        kind.put(found);
        Ok(0)
    }

    /// Returns the kind of the object to which a reference leads, in the numbering of HDF5 1.6.
    fn H5Rget_obj_type1(loc: hid_t, number: c_int, data: Data) -> c_int {
        object_kind(loc, number, data)
            .because(codes::REFERENCE, codes::CANTGET, "unable to determine object type")
    }

    /// Copies a path of the object to which a reference leads to `name` and returns the path's
    /// length.
    fn H5Rget_name(loc: hid_t, number: c_int, data: Data, name: TextBuffer, size: usize) -> isize {
        let (found, place) = reference(loc, number, data)
            .because(codes::REFERENCE, codes::CANTGET, "unable to get name for object reference")?;
        let address = found.object()?.token().address();
        let path = path_of(&place.shared, address)?.unwrap_or_default();
        name.put(&path, size);
        crate::text::length(&path)
    }
}
