//! Datatype functions for conversions (`H5Tconvert`, `H5Tregister`, `H5Tfind`, `H5Treclaim`).

use std::ffi::c_int;

use hyperslab::Datatype;

use crate::convert::user::{self, Function, H5T_cdata_t, Registered};
use crate::convert::{Rules, reclaim};
use crate::ctypes::{herr_t, hid_t, htri_t};
use crate::datatype;
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::pointer::{Buffer, Out, Text};
use crate::space;

/// The maximum size in bytes of a block of elements whose datatype is converted in one step.
const BLOCK_BYTES: usize = 512 << 10;

/// Converts `count` elements in a buffer from one datatype to another. The buffer is large enough
/// for both datatypes.
///
/// # Errors
/// Fails if the datatypes have no conversion, or if an element cannot be converted.
pub fn in_place(
    (source, destination): (&Datatype, &Datatype),
    count: usize,
    buffer: Buffer,
    background: Buffer,
    rules: &Rules,
) -> Outcome<()> {
    let plan = rules.plan(source, destination)?;
    let (from, to) = (source.size as usize, destination.size as usize);
    let too_many = || Failure::bad_value("too many elements");
    let largest = from.max(to).max(1);
    count.checked_mul(largest).ok_or_else(too_many)?;
    let per_block = (BLOCK_BYTES / largest).max(1);
    let starts = (0..count).step_by(per_block);
    let convert = |start: usize| {
        let number = per_block.min(count - start);
        let (source, target) = (start * from..(start + number) * from, start * to..(start + number) * to);
        let outside = || Failure::new(codes::INTERNAL, codes::BADRANGE, "a block lies outside of its buffer");
        let elements = buffer.bytes(source.end, "buffer")?.get(source).ok_or_else(outside)?.to_vec();
        let mut converted = if background.is_null() {
            vec![0; target.len()]
        } else {
            let all = background.bytes(target.end, "background buffer")?;
            all.get(target.clone()).ok_or_else(outside)?.to_vec()
        };
        plan.convert(&elements, &mut converted, number).map_err(Failure::from).because(
            codes::DATATYPE,
            codes::CANTCONVERT,
            "can't convert datatypes",
        )?;
        let all = buffer.bytes(target.end, "buffer")?;
        all.get_mut(target).ok_or_else(outside)?.copy_from_slice(&converted);
        Ok(())
    };
    // The conversion of a block must not overwrite elements that are not converted yet.
    if to > from { starts.rev().try_for_each(convert) } else { starts.into_iter().try_for_each(convert) }
}

/// Frees the variable-length data of the elements that a dataspace selects in a memory buffer.
///
/// # Errors
/// Fails with a bad type if an identifier refers to another kind of object.
pub fn reclaim(type_id: hid_t, space_id: hid_t, dxpl: hid_t, buffer: Buffer) -> Outcome<herr_t> {
    let datatype = datatype::copy_of(type_id)?;
    let space = space::copy_of(space_id)?;
    let rules = Rules::of(dxpl)?;
    if buffer.is_null() {
        return Err(Failure::bad_value("no buffer"));
    }
    space::require_extent(&space.extent)?;
    if !reclaim::is_nested(&datatype) {
        return Ok(0);
    }
    let heap = rules.heap();
    crate::dataset::elements::for_each(&space, datatype.size as usize, buffer, &mut |element, _| {
        reclaim::element(&datatype, element, &heap);
        Ok(true)
    })?;
    Ok(0)
}

export! {
    /// Registers a user's conversion function for two datatypes or for their datatype classes.
    fn H5Tregister(kind: c_int, name: Text, source: hid_t, destination: hid_t, function: Option<Function>) -> herr_t {
        if !(0..=1).contains(&kind) {
            return Err(Failure::bad_value("invalid function persistence"));
        }
        let name = name.name("conversion name")?.to_vec();
        let (source, destination) = (datatype::copy_of(source)?, datatype::copy_of(destination)?);
        let function = function.ok_or_else(|| Failure::bad_value("no conversion function"))?;
        user::register(Registered { name, soft: kind == 1, source, destination, function });
        Ok(0)
    }

    /// Removes the user's datatype conversions that match all given arguments.
    fn H5Tunregister(kind: c_int, name: Text, source: hid_t, destination: hid_t, function: Option<Function>) -> herr_t {
        let soft = match kind {
            -1 => None,
            kind => Some(kind == 1),
        };
        let types = |id: hid_t| if id < 0 { Ok(None) } else { datatype::copy_of(id).map(Some) };
        let (source, destination) = (types(source)?, types(destination)?);
        user::unregister(soft, name.get().unwrap_or_default(), source.as_ref(), destination.as_ref(), function);
        Ok(0)
    }

    /// Returns the function that converts between two datatypes, and stores the function's state in
    /// `state`.
    fn H5Tfind(source: hid_t, destination: hid_t, state: Out<*mut H5T_cdata_t>) -> Option<Function> {
        let (source, destination) = (datatype::copy_of(source)?, datatype::copy_of(destination)?);
        state.require("state")?;
        let rules = Rules::of(crate::ctypes::H5P_DEFAULT)?;
        rules.plan(&source, &destination)
            .because(codes::DATATYPE, codes::NOTFOUND, "no conversion function between the types")?;
        let (function, data) = match user::find(&source, &destination, rules.list) {
            Some(kernel) => kernel.state(),
            None => (library as Function, background_of(&source, &destination)),
        };
        state.put(crate::memory::keep(data));
        Ok(Some(function))
    }

    /// Returns false: hyperslab's own code, and not the compiler, converts all datatypes. Checks
    /// first that the conversion exists.
    fn H5Tcompiler_conv(source: hid_t, destination: hid_t) -> htri_t {
        let (source, destination) = (datatype::copy_of(source)?, datatype::copy_of(destination)?);
        Rules::of(crate::ctypes::H5P_DEFAULT)?.plan(&source, &destination)
            .because(codes::DATATYPE, codes::NOTFOUND, "no conversion function between the types")?;
        Ok(htri_t::from(is_number(&source) && is_number(&destination)))
    }

    /// Converts `count` elements in `buffer` from the datatype `source` to the datatype
    /// `destination`.
    fn H5Tconvert(source: hid_t, destination: hid_t, count: usize, buffer: Buffer, background: Buffer, dxpl: hid_t) -> herr_t {
        let types = (datatype::copy_of(source)?, datatype::copy_of(destination)?);
        let rules = Rules::of(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
        in_place((&types.0, &types.1), count, buffer, background, &rules)?;
        Ok(0)
    }

    /// Frees the variable-length data of the elements that a dataspace selects in a memory buffer.
    fn H5Treclaim(type_id: hid_t, space_id: hid_t, dxpl: hid_t, buffer: Buffer) -> herr_t {
        reclaim(type_id, space_id, dxpl, buffer)
    }
}

/// Returns true if a datatype is an integer or a floating-point number.
fn is_number(datatype: &Datatype) -> bool {
    matches!(user::class(datatype), 0 | 1)
}

/// Returns the state of a library conversion between two datatypes. The state tells programs if the
/// conversion needs the old elements as background.
fn background_of(source: &Datatype, destination: &Datatype) -> H5T_cdata_t {
    let compound = user::class(source) == 6 && user::class(destination) == 6;
    H5T_cdata_t { command: 1, need_bkg: i32::from(compound), recalc: false, private: std::ptr::null_mut() }
}

/// Converts elements between two datatypes by the library's conversions. `H5Tfind` returns this
/// function to programs.
extern "C" fn library(
    source: hid_t,
    destination: hid_t,
    state: *mut H5T_cdata_t,
    count: usize,
    stride: usize,
    background_stride: usize,
    buffer: *mut std::ffi::c_void,
    background: *mut std::ffi::c_void,
    dxpl: hid_t,
) -> herr_t {
    let _ = (state, stride, background_stride);
    let run = || -> Outcome<()> {
        let types = (datatype::copy_of(source)?, datatype::copy_of(destination)?);
        let (buffer, background) = (Buffer::of(buffer), Buffer::of(background));
        in_place((&types.0, &types.1), count, buffer, background, &Rules::of(dxpl)?)
    };
    match run() {
        Ok(()) => 0,
        Err(failure) => {
            crate::error::stack::push("H5Tfind", failure);
            -1
        }
    }
}
