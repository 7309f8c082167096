//! Reference functions for `H5R_ref_t`: references to objects, regions and attributes, possibly in
//! other files.
//!
//! The 64 bytes of a reference in memory contain a number, and a table of the library contains the
//! target for each number. The program releases a reference with `H5Rdestroy`.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::{ObjectKind, ReferenceTarget, Selection};
use parking_lot::Mutex;

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::SharedFile;
use crate::file::location::{Location, Name};
use crate::file::traverse::{self, Place};
use crate::pointer::{In, Out, Text, TextBuffer};
use crate::space::{self, CSpace};

/// A reference to an object, elements or an attribute in the memory of a program (`H5R_ref_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5R_ref_t {
    /// The marked number of the reference in two words, then zeros.
    pub data: [u64; 8],
}

const _: () = assert!(size_of::<H5R_ref_t>() == 64);

/// The target of a reference that a program holds in its memory, with the location of the file.
#[derive(Debug, Clone)]
pub struct Held {
    /// The file that contains the target.
    pub shared: Arc<SharedFile>,
    /// The object, region or attribute to which the reference leads.
    pub target: ReferenceTarget,
}

/// The type number of object references since HDF5 1.12 (`H5R_OBJECT2`).
const OBJECT: c_int = 2;
/// The type number of region references since HDF5 1.12 (`H5R_DATASET_REGION2`).
const REGION: c_int = 3;
/// The type number of attribute references (`H5R_ATTR`).
const ATTRIBUTE: c_int = 4;

/// The table of the targets of all references that programs have in memory, by the number of the
/// reference.
static HELD: Mutex<Option<HashMap<u64, Held>>> = Mutex::new(None);
/// The number of the next reference in memory form that a program creates.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The first word of each reference in memory form. The word distinguishes references from
/// arbitrary bytes.
const MARK: u64 = 0x4852_4546_0000_0000;

impl H5R_ref_t {
    /// Holds the target of a reference for a program: adds the target to the library's table, and
    /// returns a new reference in memory form.
    pub fn hold(held: Held) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        HELD.lock().get_or_insert_default().insert(number, held);
        Self { data: [MARK, number, 0, 0, 0, 0, 0, 0] }
    }

    /// Converts the reference in memory form to the bytes of an element in memory.
    pub fn bytes(self) -> Vec<u8> {
        self.data.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// Decodes a reference in memory form from the bytes of an element in memory.
    #[expect(clippy::host_endian_bytes, reason = "elements in memory have the byte order of the host")]
    pub fn of_bytes(element: &[u8]) -> Self {
        let mut data = [0; 8];
        for (word, bytes) in data.iter_mut().zip(element.as_chunks::<8>().0) {
            *word = hyperslab_exact::to_u64(usize::from_ne_bytes(*bytes));
        }
        Self { data }
    }

    /// Releases a reference that a program holds: removes its target from the library's table. Has
    /// no effect on bytes that the library did not create.
    ///
    /// # Errors
    /// Returns the error of closing the file of the target.
    pub fn release(self) -> Outcome<()> {
        let [mark, number, ..] = self.data;
        if mark == MARK {
            let removed = HELD.lock().get_or_insert_default().remove(&number);
            crate::file::closing(|| drop(removed))?;
        }
        Ok(())
    }

    /// Returns the target of a reference that a program holds in memory, from the library's table
    /// of such targets.
    ///
    /// # Errors
    /// Fails if the library did not create the bytes of the reference.
    pub fn held(self) -> Outcome<Held> {
        let [mark, number, ..] = self.data;
        let found =
            if mark == MARK { HELD.lock().get_or_insert_default().get(&number).cloned() } else { None };
        found.because(codes::ARGS, codes::BADVALUE, "invalid reference pointer")
    }
}

/// Creates a reference in memory form. The function `target` computes the reference target from the
/// object at the path `name`.
fn create(
    loc: hid_t,
    name: Text,
    oapl: hid_t,
    target: impl FnOnce(&Place) -> Outcome<ReferenceTarget>,
) -> Outcome<H5R_ref_t> {
    let _ = oapl;
    let place = traverse::open(loc, name.name("object name")?, H5P_DEFAULT)?;
    let target = target(&place)?;
    Ok(H5R_ref_t::hold(Held { shared: place.1.shared, target }))
}

/// Returns the token of the object in a reference target. Fails for a null reference.
fn token(target: &ReferenceTarget) -> Outcome<hyperslab::ObjectToken> {
    match target {
        ReferenceTarget::Object(token)
        | ReferenceTarget::Region(token, _)
        | ReferenceTarget::Attribute(token, _) => Ok(*token),
        _ => Err(Failure::new(codes::REFERENCE, codes::BADVALUE, "the reference is null")),
    }
}

/// Opens the object to which a reference in the caller's memory leads.
fn object(reference: In<H5R_ref_t>) -> Outcome<Place> {
    let held = reference.value("reference pointer")?.held()?;
    let object = held.shared.file.root().object_at(token(&held.target)?)?;
    Ok((object, Location { shared: held.shared, name: Name::default(), handle: 0 }))
}

/// Copies a text to the caller's buffer and returns the length of the text.
fn put(text: &[u8], buffer: TextBuffer, size: usize) -> Outcome<isize> {
    buffer.put(text, size);
    crate::text::length(text)
}

/// Returns the type number of references to a target (`H5R_type_t`).
fn kind(target: &ReferenceTarget) -> c_int {
    match target {
        ReferenceTarget::Region(..) => REGION,
        ReferenceTarget::Attribute(..) => ATTRIBUTE,
        _ => OBJECT,
    }
}

export! {
    /// Stores in `reference` a reference to the object at the path `name`.
    fn H5Rcreate_object(loc: hid_t, name: Text, oapl: hid_t, reference: Out<H5R_ref_t>) -> herr_t {
        reference.require("reference pointer")?;
        let made = create(loc, name, oapl, |place| Ok(ReferenceTarget::object(&place.0)))
            .because(codes::REFERENCE, codes::CANTCREATE, "unable to create object reference")?;
        reference.put(made);
        Ok(0)
    }

    /// Stores in `reference` a reference to the elements that `space_id` selects in a dataset.
    fn H5Rcreate_region(loc: hid_t, name: Text, space_id: hid_t, oapl: hid_t, reference: Out<H5R_ref_t>) -> herr_t {
        reference.require("reference pointer")?;
        let space = space::copy_of(space_id)?;
        let made = create(loc, name, oapl, |place| {
            let selection = match space::effective(&space)?.into_owned() {
                Selection::All => Selection::region(&space.extent.region()),
                other => other,
            };
            Ok(ReferenceTarget::Region(place.0.token(), selection))
        });
        reference.put(made.because(codes::REFERENCE, codes::CANTCREATE, "unable to create region reference")?);
        Ok(0)
    }

    /// Stores in `reference` a reference to an attribute of the object at the path `name`.
    fn H5Rcreate_attr(loc: hid_t, name: Text, attribute: Text, oapl: hid_t, reference: Out<H5R_ref_t>) -> herr_t {
        reference.require("reference pointer")?;
        let attribute = attribute.name("attribute name")?;
        let made = create(loc, name, oapl, |place| {
            Ok(ReferenceTarget::Attribute(place.0.token(), attribute.to_vec()))
        });
        reference.put(made.because(codes::REFERENCE, codes::CANTCREATE, "unable to create attribute reference")?);
        Ok(0)
    }

    /// Releases a reference and sets its bytes to zero.
    fn H5Rdestroy(reference: Out<H5R_ref_t>) -> herr_t {
        let value = reference.require("reference pointer")?.get().unwrap_or(H5R_ref_t { data: [0; 8] });
        value.release()?;
        reference.put(H5R_ref_t { data: [0; 8] });
        Ok(0)
    }

    /// Returns the type of a reference (`H5R_type_t`).
    fn H5Rget_type(reference: In<H5R_ref_t>) -> c_int {
        Ok(kind(&reference.value("reference pointer")?.held()?.target))
    }

    /// Returns whether two references have the same target.
    fn H5Requal(one: In<H5R_ref_t>, other: In<H5R_ref_t>) -> c_int {
        let (one, other) = (one.value("reference pointer")?.held()?, other.value("reference pointer")?.held()?);
        Ok(i32::from(Arc::ptr_eq(&one.shared, &other.shared) && one.target == other.target))
    }

    /// Stores a copy of a reference in `destination`.
    fn H5Rcopy(source: In<H5R_ref_t>, destination: Out<H5R_ref_t>) -> herr_t {
        let held = source.value("reference pointer")?.held()?;
        destination.require("reference pointer")?.put(H5R_ref_t::hold(held));
        Ok(0)
    }

    /// Opens the object to which a reference leads and returns the object's identifier.
    fn H5Ropen_object(reference: In<H5R_ref_t>, rapl: hid_t, oapl: hid_t) -> hid_t {
        let _ = (rapl, oapl);
        object(reference).and_then(|place| crate::h5o::register(place, H5P_DEFAULT))
            .because(codes::REFERENCE, codes::CANTOPENOBJ, "unable to open object by reference")
    }

    /// Returns the identifier of a new dataspace with the elements that a region reference selects.
    fn H5Ropen_region(reference: In<H5R_ref_t>, rapl: hid_t, oapl: hid_t) -> hid_t {
        let _ = (rapl, oapl);
        let held = reference.value("reference pointer")?.held()?;
        let ReferenceTarget::Region(token, selection) = &held.target else {
            return Err(Failure::new(codes::ARGS, codes::BADVALUE, "not a region reference"));
        };
        let dataset = held.shared.file.root().object_at(*token)?.into_dataset()?;
        let space = CSpace { selection: selection.clone(), ..CSpace::all(dataset.dataspace()) };
        Ok(space::register(space))
    }

    /// Opens the attribute to which a reference leads and returns the attribute's identifier.
    fn H5Ropen_attr(reference: In<H5R_ref_t>, rapl: hid_t, aapl: hid_t) -> hid_t {
        let _ = (rapl, aapl);
        let held = reference.value("reference pointer")?.held()?;
        let ReferenceTarget::Attribute(_, name) = &held.target else {
            return Err(Failure::new(codes::ARGS, codes::BADVALUE, "not an attribute reference"));
        };
        crate::h5a::register(object(reference)?, name)
            .because(codes::REFERENCE, codes::CANTOPENOBJ, "unable to open attribute by reference")
    }

    /// Stores in `result` the kind of the object to which a reference leads (`H5O_type_t`).
    fn H5Rget_obj_type3(reference: In<H5R_ref_t>, rapl: hid_t, result: Out<c_int>) -> herr_t {
        let _ = rapl;
        let (object, _place) = object(reference)
            .because(codes::REFERENCE, codes::CANTGET, "unable to get object type")?;
        result.put(match object.kind() {
            Some(ObjectKind::Group) => 0,
            Some(ObjectKind::Dataset) => 1,
            Some(ObjectKind::Datatype) => 2,
            _ => -1,
        });
        Ok(0)
    }

    /// Copies the name of the file to which a reference leads to `name` and returns its length.
    fn H5Rget_file_name(reference: In<H5R_ref_t>, name: TextBuffer, size: usize) -> isize {
        put(&reference.value("reference pointer")?.held()?.shared.name, name, size)
    }

    /// Copies a path of the object to which a reference leads to `name` and returns its length.
    fn H5Rget_obj_name(reference: In<H5R_ref_t>, rapl: hid_t, name: TextBuffer, size: usize) -> isize {
        let _ = rapl;
        let held = reference.value("reference pointer")?.held()?;
        let path = crate::h5r::path_of(&held.shared, token(&held.target)?.address())?;
        put(&path.unwrap_or_default(), name, size)
    }

    /// Copies the name of the attribute to which a reference leads to `name` and returns its
    /// length.
    fn H5Rget_attr_name(reference: In<H5R_ref_t>, name: TextBuffer, size: usize) -> isize {
        let held = reference.value("reference pointer")?.held()?;
        let ReferenceTarget::Attribute(_, attribute) = &held.target else {
            return Err(Failure::new(codes::ARGS, codes::BADVALUE, "not an attribute reference"));
        };
        put(attribute, name, size)
    }
}
