//! The scanner of command lines that HDF5's own programs of version 1.10 take from the library
//! (`H5_get_option`).
//!
//! A scan ends at the first argument that is no option. An option of one letter has its value in
//! the rest of the argument or in the next argument; an option with a name has it after `=` or in
//! the next argument. The messages and the rules are those that the programs show.

use std::ffi::{c_char, c_int};
use std::io::Write as _;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};

use crate::export_keeping_errors;
use crate::pointer::{In, Text};

/// The value of an option: what follows the option in the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Required,
    Optional,
}

/// An option with a name (`struct long_options`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The name, or null at the end of the table.
    name: *const c_char,
    /// The number of the kind of value.
    value: c_int,
    /// The letter that the scan returns.
    letter: c_char,
}

/// The result for an option that does not exist, or that lacks its value.
const WRONG: c_int = b'?' as c_int;
/// The result after the last option.
const END: c_int = -1;
/// The largest number of named options of a program.
const MAX_NAMED: usize = 1000;

/// The number of the argument that the scan reads next.
#[expect(unsafe_code, reason = "C programs read the symbol by its name")]
// SAFETY: the name belongs to the interface; nothing else defines it.
#[unsafe(no_mangle)]
pub static H5_optind: AtomicI32 = AtomicI32::new(1);

/// The value of the option that the scan found, or null.
#[expect(unsafe_code, reason = "C programs read the symbol by its name")]
// SAFETY: the name belongs to the interface; nothing else defines it.
#[unsafe(no_mangle)]
pub static H5_optarg: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());

/// The choice of messages: zero for none.
#[expect(unsafe_code, reason = "C programs read the symbol by its name")]
// SAFETY: the name belongs to the interface; nothing else defines it.
#[unsafe(no_mangle)]
pub static H5_opterr: AtomicI32 = AtomicI32::new(1);

/// The position in an argument with several letters; 0 between arguments.
static POSITION: AtomicUsize = AtomicUsize::new(0);

/// The arguments of a program.
#[derive(Debug, Clone, Copy)]
struct Arguments<'a>(&'a [*const c_char]);

impl<'a> Arguments<'a> {
    fn pointer(self, number: c_int) -> Option<*const c_char> {
        let number = usize::try_from(number).ok()?;
        self.0.get(number).copied().filter(|pointer| !pointer.is_null())
    }

    fn text(self, number: c_int) -> Option<&'a [u8]> {
        Text::of(self.pointer(number)?).get()
    }

    /// Returns the argument if it is a value: it does not begin with `-`.
    fn value(self, number: c_int) -> Option<*const c_char> {
        self.text(number).filter(|text| text.first() != Some(&b'-'))?;
        self.pointer(number)
    }

    /// Returns the address of the rest of an argument, which is not empty.
    fn rest(self, number: c_int, start: usize) -> Option<*const c_char> {
        let text = self.text(number)?;
        (start < text.len()).then(|| self.pointer(number).map(|pointer| pointer.wrapping_add(start)))?
    }

    /// Reports a wrong option.
    fn wrong(self, text: &str, option: &[u8], end: &str) -> c_int {
        if H5_opterr.load(Ordering::Relaxed) != 0 {
            let program = String::from_utf8_lossy(self.text(0).unwrap_or(b"")).into_owned();
            let option = String::from_utf8_lossy(option);
            // A message that cannot be written has no other place.
            let _ = writeln!(std::io::stderr(), "{program}: {text} \"{option}\"{end}");
        }
        WRONG
    }
}

fn set_value(value: Option<*const c_char>) {
    H5_optarg.store(value.map_or(std::ptr::null_mut(), <*const c_char>::cast_mut), Ordering::Relaxed);
}

/// Scans an option with a name. `number` is the number of its argument.
fn named(arguments: Arguments<'_>, number: c_int, table: In<Named>) -> c_int {
    let text = arguments.text(number).unwrap_or(b"").get(2..).unwrap_or(b"");
    let name = text.split(|byte| *byte == b'=').next().unwrap_or(b"");
    let Some(option) = find_named(table, name) else {
        H5_optind.store(number.wrapping_add(1), Ordering::Relaxed);
        return arguments.wrong("unknown option", name, "");
    };
    let attached = (name.len() < text.len()).then(|| arguments.pointer(number)).flatten();
    let attached = attached.map(|pointer| pointer.wrapping_add(name.len().wrapping_add(3)));
    let letter = c_int::from(option.letter);
    let mut next = number.wrapping_add(1);
    let result = match (option.value, attached) {
        (1 | 2, Some(_)) => {
            set_value(attached);
            letter
        }
        (1, None) => match arguments.value(next) {
            Some(value) => {
                set_value(Some(value));
                next = next.wrapping_add(1);
                letter
            }
            None => arguments.wrong("option required for", name, " flag"),
        },
        (0, Some(_)) => arguments.wrong("no option required for", name, " flag"),
        _ => {
            set_value(None);
            letter
        }
    };
    H5_optind.store(next, Ordering::Relaxed);
    result
}

fn find_named(table: In<Named>, name: &[u8]) -> Option<Named> {
    if table.is_null() {
        return None;
    }
    for number in 0..MAX_NAMED {
        let option = In::of(table.pointer().wrapping_add(number)).get()?;
        if option.name.is_null() {
            return None;
        }
        if Text::of(option.name).get() == Some(name) {
            return Some(option);
        }
    }
    None
}

/// Returns the kind of value of a letter.
fn letter_value(letters: &[u8], letter: u8) -> Option<Value> {
    let place = letters.iter().position(|known| *known == letter && letter != b':' && letter != b'*')?;
    Some(match letters.get(place.wrapping_add(1)) {
        Some(b':') => Value::Required,
        Some(b'*') => Value::Optional,
        _ => Value::None,
    })
}

/// Scans a letter at the position `start` of an argument.
fn letter(arguments: Arguments<'_>, number: c_int, start: usize, letters: &[u8]) -> c_int {
    let Some(letter) = arguments.text(number).and_then(|text| text.get(start)).copied() else { return END };
    let rest = arguments.rest(number, start.wrapping_add(1));
    let next = number.wrapping_add(1);
    let finish = |next: c_int| {
        POSITION.store(0, Ordering::Relaxed);
        H5_optind.store(next, Ordering::Relaxed);
    };
    let found = letter_value(letters, letter);
    set_value(None);
    match found {
        Some(Value::Required | Value::Optional) if rest.is_some() => {
            set_value(rest);
            finish(next);
        }
        Some(Value::Required) => {
            let Some(value) = arguments.pointer(next) else {
                finish(next);
                return arguments.wrong("value expected for option", &[letter], "");
            };
            set_value(Some(value));
            finish(next.wrapping_add(1));
        }
        // The last argument is the name of a file and no value.
        Some(Value::Optional) => {
            let value = arguments.value(next).filter(|_| arguments.pointer(next.wrapping_add(1)).is_some());
            set_value(value);
            finish(if value.is_some() { next.wrapping_add(1) } else { next });
        }
        Some(Value::None) | None if rest.is_some() => {
            POSITION.store(start.wrapping_add(1), Ordering::Relaxed);
        }
        Some(Value::None) | None => finish(next),
    }
    if found.is_none() {
        return arguments.wrong("unknown option", &[letter], "");
    }
    c_int::from(letter)
}

export_keeping_errors! {
    /// Returns the letter of the next option, and stores its value in `H5_optarg`. Returns -1 after
    /// the last option.
    fn H5_get_option(count: c_int, arguments: In<*const c_char>, letters: Text, table: In<Named>) -> c_int {
        let Ok(count) = usize::try_from(count) else { return Ok(END) };
        let arguments = Arguments(arguments.array(count, "arguments")?);
        let number = H5_optind.load(Ordering::Relaxed);
        let position = POSITION.load(Ordering::Relaxed);
        let Some(text) = arguments.text(number) else { return Ok(END) };
        if position > 0 {
            return Ok(letter(arguments, number, position, letters.get().unwrap_or(b"")));
        }
        Ok(match text {
            b"--" => {
                H5_optind.store(number.wrapping_add(1), Ordering::Relaxed);
                END
            }
            [b'-', b'-', ..] => named(arguments, number, table),
            [b'-', _, ..] => letter(arguments, number, 1, letters.get().unwrap_or(b"")),
            _ => END,
        })
    }
}
