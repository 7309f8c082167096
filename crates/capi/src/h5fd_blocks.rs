//! Functions of drivers for space, several blocks, and selections (`H5FD*`).

use std::ffi::{c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hyperslab::vfd::FamilyPattern;

use crate::call_user;
use crate::ctypes::{haddr_t, herr_t, hid_t, hsize_t};
use crate::dataset::elements;
use crate::driver::DriverHandle;
use crate::driver::class::{H5FD_class_t, H5FD_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::h5fd::class_of;
use crate::plist::driver_choice::DriverChoice;
use crate::plist::settings::FileAccess;
use crate::plist::{Settings, make};
use crate::pointer::{In, Out, Text};
use crate::symbols::CLASS_FILE_ACCESS;
use crate::{export, file, plist, space};

/// The flag of `H5FDctl` that makes an unknown operation an error.
const FAIL_IF_UNKNOWN: u64 = 1;

/// One contiguous block of a transfer: kind of memory, address, size, and buffer.
type Block = (c_int, haddr_t, usize, *mut c_void);

/// The direction of a transfer between a file and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

/// Returns the failure for a driver without a function.
fn missing() -> Failure {
    Failure::new(codes::VFL, codes::UNSUPPORTED, "the driver has no such function")
}

/// Transfers blocks one after another with the functions of a driver for one block.
fn transfer(
    file: In<H5FD_t>,
    class: &H5FD_class_t,
    dxpl: hid_t,
    to: Direction,
    blocks: &[Block],
) -> Outcome<herr_t> {
    let target = file.pointer().cast_mut();
    for (kind, address, size, buffer) in blocks {
        if buffer.is_null() && *size > 0 {
            return Err(Failure::bad_value("a buffer is null"));
        }
        let outcome = match to {
            Direction::Read => {
                let read = class.read.ok_or_else(missing)?;
                call_user!(read, target, *kind, dxpl, *address, *size, *buffer)
            }
            Direction::Write => {
                let write = class.write.ok_or_else(missing)?;
                call_user!(write, target, *kind, dxpl, *address, *size, buffer.cast_const())
            }
        };
        if outcome < 0 {
            return Err(Failure::new(codes::VFL, codes::READERROR, "the driver failed"));
        }
    }
    Ok(0)
}

/// A short array of the program. A value that ends the array repeats the value before it for all
/// later entries.
#[derive(Debug)]
struct Repeated<T> {
    array: In<T>,
    last: Option<T>,
    ended: bool,
}

impl<T: Copy> Repeated<T> {
    /// Returns the values of an array of the program.
    fn of(array: In<T>) -> Self {
        Self { array, last: None, ended: false }
    }

    /// Returns the next value, which has the given number. Only the values before the end exist.
    fn next(&mut self, number: usize, ends: impl Fn(T) -> bool) -> Outcome<T> {
        if !self.ended {
            let value = value(self.array, number)?;
            self.ended = ends(value);
            self.last = if self.ended { self.last } else { Some(value) };
        }
        self.last.ok_or_else(|| Failure::bad_value("an array has no first value"))
    }
}

/// Returns the value with the given number of an array of the program.
fn value<T: Copy>(array: In<T>, number: usize) -> Outcome<T> {
    let values = array.array(number + 1, "array of the driver's function")?;
    values.get(number).copied().ok_or_else(|| Failure::bad_value("an array is too short"))
}

/// Transfers several blocks.
fn vector(
    file: In<H5FD_t>,
    dxpl: hid_t,
    (count, kinds): (u32, In<c_int>),
    (addresses, sizes): (In<haddr_t>, In<usize>),
    (buffers, to): (In<*mut c_void>, Direction),
) -> Outcome<herr_t> {
    let class = class_of(file)?;
    plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
    let count = usize::try_from(count).map_err(|_| Failure::bad_value("too many blocks"))?;
    let (mut kinds, mut sizes) = (Repeated::of(kinds), Repeated::of(sizes));
    for number in 0..count {
        let kind = kinds.next(number, |kind| kind == NO_LIST)?;
        let size = sizes.next(number, |size| size == 0)?;
        let block = (kind, value(addresses, number)?, size, value(buffers, number)?);
        transfer(file, &class, dxpl, to, &[block])?;
    }
    Ok(0)
}

/// The memory kind that repeats the kind before it in an array (`H5FD_MEM_NOLIST`).
const NO_LIST: c_int = -1;

/// Returns the blocks of a selection: a part of the file, and the elements in memory.
fn blocks_of(
    kind: c_int,
    (memory, inside): (hid_t, hid_t),
    (offset, size): (haddr_t, usize),
    buffer: *mut c_void,
) -> Outcome<Vec<Block>> {
    let memory = elements::runs(&space::find(memory)?.0.read())?;
    let inside = elements::runs(&space::find(inside)?.0.read())?;
    let overflow = || Failure::new(codes::ARGS, codes::OVERFLOW, "a selection exceeds the address space");
    let (mut memory, mut inside) = (memory.into_iter(), inside.into_iter());
    let (mut to, mut from) = (memory.next(), inside.next());
    let mut blocks = Vec::new();
    while let (Some((at, left)), Some((place, rest))) = (to, from) {
        let count = left.min(rest);
        let element = hyperslab_exact::to_u64(size);
        let address =
            place.checked_mul(element).and_then(|bytes| offset.checked_add(bytes)).ok_or_else(overflow)?;
        let bytes = elements::range(at, count, size)?;
        blocks.push((kind, address, bytes.len(), buffer.cast::<u8>().wrapping_add(bytes.start).cast()));
        to = if left > count { Some((at + count, left - count)) } else { memory.next() };
        from = if rest > count { Some((place + count, rest - count)) } else { inside.next() };
    }
    if to.is_some() || from.is_some() {
        return Err(Failure::bad_value("the two selections have different numbers of elements"));
    }
    Ok(blocks)
}

/// The arrays of a transfer of selections: dataspaces in memory and in the file, offsets and sizes
/// of elements.
type Selections = (In<hid_t>, In<hid_t>, In<haddr_t>, In<usize>);

/// Transfers several selections.
fn selections(
    file: In<H5FD_t>,
    (kind, dxpl, count): (c_int, hid_t, u32),
    (memory, inside, offsets, sizes): Selections,
    (buffers, to): (In<*mut c_void>, Direction),
) -> Outcome<herr_t> {
    let class = class_of(file)?;
    plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
    let count = usize::try_from(count).map_err(|_| Failure::bad_value("too many selections"))?;
    let (mut sizes, mut buffers) = (Repeated::of(sizes), Repeated::of(buffers));
    for number in 0..count {
        let size = sizes.next(number, |size| size == 0)?;
        let buffer = buffers.next(number, |buffer: *mut c_void| buffer.is_null())?;
        let spaces = (value(memory, number)?, value(inside, number)?);
        let blocks = blocks_of(kind, spaces, (value(offsets, number)?, size), buffer)?;
        transfer(file, &class, dxpl, to, &blocks)?;
    }
    Ok(0)
}

/// Deletes all files in which the driver of an access list stores the file `name`.
///
/// # Errors
/// Returns the error of the file system, or fails if the user's driver fails or has no such
/// function.
pub fn delete(name: &[u8], access: &FileAccess) -> Outcome<()> {
    let remove = |path: &Path| file::remove(path.as_os_str().as_bytes());
    match &access.driver {
        DriverChoice::User(handle, _) => {
            let DriverHandle::User(user) = &**handle else { return Err(missing()) };
            let delete = user.class.delete().ok_or_else(missing)?;
            let list = make::register(CLASS_FILE_ACCESS, Settings::FileAccess(access.clone()))?;
            let outcome = call_user!(delete, crate::error::stack::text(name).as_ptr(), list);
            crate::id::take(list);
            if outcome < 0 {
                return Err(Failure::new(
                    codes::VFL,
                    codes::CANTDELETEFILE,
                    "the driver cannot delete the file",
                ));
            }
            Ok(())
        }
        DriverChoice::Multi(multi) | DriverChoice::Split { multi, .. } => {
            multi.members(name)?.iter().try_for_each(|member| remove(&member.path))
        }
        DriverChoice::Family { .. } => {
            let pattern = FamilyPattern::parse(&String::from_utf8_lossy(name));
            let pattern = pattern.map_err(|error| Failure::bad_value(error.to_string()))?;
            remove(&pattern.member(0))?;
            (1..)
                .map(|number| pattern.member(number))
                .take_while(|path| path.is_file())
                .try_for_each(|path| remove(&path))
        }
        _ => file::remove(name),
    }
}

/// Defines functions for the transfer of several blocks or selections.
macro_rules! transfers {
    ($($name:ident $direction:ident;)*) => {
        export! {$(
            /// Transfers selected elements between memory and a file that a driver opened.
            fn $name(
                file: In<H5FD_t>, kind: c_int, dxpl: hid_t, count: u32, memory: In<hid_t>, inside: In<hid_t>,
                offsets: In<haddr_t>, sizes: In<usize>, buffers: In<*mut c_void>,
            ) -> herr_t {
                let arrays = (memory, inside, offsets, sizes);
                selections(file, (kind, dxpl, count), arrays, (buffers, Direction::$direction))
            }
        )*}
    };
}

transfers! {
    H5FDread_selection Read;
    H5FDwrite_selection Write;
    H5FDread_vector_from_selection Read;
    H5FDwrite_vector_from_selection Write;
    H5FDread_from_selection Read;
    H5FDwrite_from_selection Write;
}

export! {
    /// Reads several blocks from a file that a driver opened.
    fn H5FDread_vector(
        file: In<H5FD_t>, dxpl: hid_t, count: u32, kinds: In<c_int>, addresses: In<haddr_t>, sizes: In<usize>,
        buffers: In<*mut c_void>,
    ) -> herr_t {
        vector(file, dxpl, (count, kinds), (addresses, sizes), (buffers, Direction::Read))
    }

    /// Writes several blocks to a file that a driver opened.
    fn H5FDwrite_vector(
        file: In<H5FD_t>, dxpl: hid_t, count: u32, kinds: In<c_int>, addresses: In<haddr_t>, sizes: In<usize>,
        buffers: In<*mut c_void>,
    ) -> herr_t {
        vector(file, dxpl, (count, kinds), (addresses, sizes), (buffers, Direction::Write))
    }

    /// Allocates a block in a file that a driver opened, with the driver's function or at the end
    /// of allocation, and returns the block's address.
    fn H5FDalloc(file: In<H5FD_t>, kind: c_int, dxpl: hid_t, size: hsize_t) -> haddr_t {
        let class = class_of(file)?;
        plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
        if size == 0 {
            return Err(Failure::bad_value("zero-size request"));
        }
        if let Some(alloc) = class.alloc {
            return Ok(call_user!(alloc, file.pointer().cast_mut(), kind, dxpl, size));
        }
        let (get, set) = (class.get_eoa.ok_or_else(missing)?, class.set_eoa.ok_or_else(missing)?);
        let address = call_user!(get, file.pointer(), kind);
        let end = address.checked_add(size).filter(|end| *end <= class.maxaddr);
        let end = end.ok_or_else(|| Failure::new(codes::VFL, codes::NOSPACE, "the file has no space"))?;
        if call_user!(set, file.pointer().cast_mut(), kind, end) < 0 {
            return Err(Failure::new(codes::VFL, codes::CANTINIT, "the driver cannot set its end of allocation"));
        }
        Ok(address)
    }

    /// Frees a block in a file that a driver opened, with the driver's function. Without this
    /// function, a block at the end of allocation shortens the file, and other blocks stay unused.
    fn H5FDfree(file: In<H5FD_t>, kind: c_int, dxpl: hid_t, address: haddr_t, size: hsize_t) -> herr_t {
        let class = class_of(file)?;
        plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
        if let Some(free) = class.free {
            return Ok(call_user!(free, file.pointer().cast_mut(), kind, dxpl, address, size));
        }
        let (get, set) = (class.get_eoa.ok_or_else(missing)?, class.set_eoa.ok_or_else(missing)?);
        if address.checked_add(size) == Some(call_user!(get, file.pointer(), kind)) {
            return Ok(call_user!(set, file.pointer().cast_mut(), kind, address));
        }
        Ok(0)
    }

    /// Deletes a file with the driver of an access list.
    fn H5FDdelete(name: Text, fapl: hid_t) -> herr_t {
        delete(name.name("file name")?, &plist::file_access(fapl)?)
            .because(codes::VFL, codes::CANTDELETEFILE, "unable to delete the file")?;
        Ok(0)
    }

    /// Requests an operation that only the driver of a file defines.
    fn H5FDctl(file: In<H5FD_t>, op: u64, flags: u64, input: *const c_void, output: Out<*mut c_void>) -> herr_t {
        match class_of(file)?.control() {
            Some(ctl) => Ok(call_user!(ctl, file.pointer().cast_mut(), op, flags, input, output.pointer())),
            None if flags & FAIL_IF_UNKNOWN != 0 => Err(missing()),
            None => Ok(0),
        }
    }
}
