//! The variadic function `H5Epush2`, which formats its text with C's `vsnprintf`.
//!
//! Rust cannot define variadic functions yet. An assembly function builds the C argument list and
//! passes the list to `push`.

#![expect(unsafe_code, reason = "the arguments of a variadic function are read by assembly")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t};
use crate::pointer::Text;

/// The size in bytes of most formatted texts. A longer text is formatted again.
const TEXT_BYTES: usize = 1024;
/// A C argument list in the x86-64 System V calling convention.
type ArgumentList = [u64; 3];

// SAFETY: the declaration agrees with the C standard, and `va_list` is passed as a pointer.
unsafe extern "C" {
    /// Formats a text into a buffer of `size` bytes, as the function of the C standard library.
    fn vsnprintf(buffer: *mut c_char, size: usize, format: *const c_char, list: *mut c_void) -> c_int;
}

/// Formats the text of an error record and adds the record to an error stack.
///
/// # Safety
/// `list` is an argument list that matches `format`.
unsafe extern "C" fn push(fixed: *const Fixed, list: *mut c_void) -> herr_t {
    // SAFETY: the assembly function below passes a record that it filled on its stack.
    let fixed = unsafe { &*fixed };
    let mut buffer = vec![0; TEXT_BYTES];
    if !fixed.format.is_null() {
        // SAFETY: the assembly function below passes an argument list of this size. A copy of a
        // list is a list (`va_copy`).
        let mut copy = unsafe { *list.cast::<ArgumentList>() };
        // SAFETY: the buffer has the stated size, and the caller of `H5Epush2` promises that the
        // arguments match the format.
        let length = unsafe { vsnprintf(buffer.as_mut_ptr(), buffer.len(), fixed.format, list) };
        if let Ok(length) = usize::try_from(length)
            && length >= buffer.len()
        {
            buffer = vec![0; length + 1]; // A length is less than 2^31.
            // SAFETY: as above, with the copy of the list.
            unsafe { vsnprintf(buffer.as_mut_ptr(), buffer.len(), fixed.format, (&raw mut copy).cast()) };
        }
    }
    // SAFETY: `vsnprintf` ends the text with a zero byte, and the buffer began with zeros.
    let text = unsafe { CStr::from_ptr(buffer.as_ptr()) };
    crate::init::start();
    let place = (Text::of(fixed.file), Text::of(fixed.function), fixed.line);
    crate::h5e::push_formatted(fixed.stack, place, (fixed.class, fixed.major, fixed.minor), text)
}

/// The named arguments of a call of `H5Epush2`. The assembly function stores them in the order of
/// the fields.
#[repr(C)]
#[derive(Debug)]
struct Fixed {
    /// The identifier of the error stack.
    stack: hid_t,
    /// The name of the source file in which the error occurred.
    file: *const c_char,
    /// The name of the function that failed.
    function: *const c_char,
    /// The line in the source file at which the error occurred.
    line: c_uint,
    /// The identifier of the error class.
    class: hid_t,
    /// The identifier of the major message.
    major: hid_t,
    /// The identifier of the minor message.
    minor: hid_t,
    /// The `printf` format of the record's text.
    format: *const c_char,
}

/// Adds an error record with a formatted text to an error stack. In the x86-64 System V calling
/// convention, the first six arguments are in registers. `minor`, `format` and the variable
/// arguments are on the stack, and floating-point arguments are in vector registers.
///
/// # Safety
/// The arguments are as the C function requires.
#[cfg(all(target_arch = "x86_64", unix))]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn H5Epush2() -> herr_t {
    // The frame contains: at offset 0 the argument list (24 bytes), at offset 32 the saved
    // registers (176 bytes: 48 of integers, 128 of vectors), at offset 208 the record `Fixed` (64
    // bytes).
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 272",
        "test al, al",
        "je 2f",
        "movaps [rsp + 80], xmm0",
        "movaps [rsp + 96], xmm1",
        "movaps [rsp + 112], xmm2",
        "movaps [rsp + 128], xmm3",
        "movaps [rsp + 144], xmm4",
        "movaps [rsp + 160], xmm5",
        "movaps [rsp + 176], xmm6",
        "movaps [rsp + 192], xmm7",
        "2:",
        "mov [rsp + 208], rdi",
        "mov [rsp + 216], rsi",
        "mov [rsp + 224], rdx",
        "mov [rsp + 232], ecx",
        "mov [rsp + 240], r8",
        "mov [rsp + 248], r9",
        "mov rax, [rbp + 16]",
        "mov [rsp + 256], rax",
        "mov rax, [rbp + 24]",
        "mov [rsp + 264], rax",
        "mov dword ptr [rsp], 48",
        "mov dword ptr [rsp + 4], 48",
        "lea rax, [rbp + 32]",
        "mov [rsp + 8], rax",
        "lea rax, [rsp + 32]",
        "mov [rsp + 16], rax",
        "lea rdi, [rsp + 208]",
        "mov rsi, rsp",
        "call {push}",
        "leave",
        "ret",
        push = sym push,
    )
}
