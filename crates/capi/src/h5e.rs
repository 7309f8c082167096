//! Error stack functions (`H5E*`).

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::io::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, counted, herr_t, hid_t};
use crate::error::automatic::{self, Auto1, Auto2, Automatic, Reporter};
use crate::error::message::{ErrorClass, ErrorMessage, SavedStack};
use crate::error::stack::{self, Record};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export_keeping_errors;
use crate::id::{self, Entry};
use crate::pointer::{Out, Text, TextBuffer};

/// An error record in the form that C programs read (`H5E_error2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5E_error2_t {
    /// The identifier of the error class.
    pub cls_id: hid_t,
    /// The identifier of the major error message.
    pub maj_num: hid_t,
    /// The identifier of the minor error message.
    pub min_num: hid_t,
    /// The line in the source file at which the error occurred.
    pub line: c_uint,
    /// The name of the function that failed.
    pub func_name: *const c_char,
    /// The name of the source file in which the error occurred.
    pub file_name: *const c_char,
    /// The description of the error.
    pub desc: *const c_char,
}

/// An error record in the form that programs for HDF5 1.6 read (`H5E_error1_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5E_error1_t {
    /// The identifier of the major error message.
    pub maj_num: hid_t,
    /// The identifier of the minor error message.
    pub min_num: hid_t,
    /// The name of the function that failed.
    pub func_name: *const c_char,
    /// The name of the source file in which the error occurred.
    pub file_name: *const c_char,
    /// The line in the source file at which the error occurred.
    pub line: c_uint,
    /// The description of the error.
    pub desc: *const c_char,
}

const _: () = assert!(size_of::<H5E_error2_t>() == 56 && size_of::<H5E_error1_t>() == 48);

/// The C type of a user's function that visits an error record (`H5E_walk2_t`).
pub type Walk2 = unsafe extern "C" fn(c_uint, *const H5E_error2_t, *mut c_void) -> herr_t;
/// The C type of a user's function that visits an error record (`H5E_walk1_t`, HDF5 1.6).
pub type Walk1 = unsafe extern "C" fn(c_int, *mut H5E_error1_t, *mut c_void) -> herr_t;

/// The walk direction in which the innermost error record comes last (`H5E_WALK_DOWNWARD`).
const DOWNWARD: c_int = 1;
/// The number of the type of major error messages (`H5E_MAJOR`).
const MAJOR: c_int = 0;

/// Returns the error stack to which an identifier refers. Clears the thread's error stack, as every
/// function that does not use the thread's stack does.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to an error stack.
pub fn saved(id: hid_t) -> Outcome<Arc<SavedStack>> {
    stack::clear();
    match id::find(id) {
        Some(Entry::ErrorStack(stack)) => Ok(stack),
        _ => Err(Failure::bad_type("not an error stack")),
    }
}

/// Returns a copy of an error stack's records. `H5E_DEFAULT` stands for the thread's stack.
fn records(id: hid_t) -> Outcome<Vec<Arc<Record>>> {
    if id == H5P_DEFAULT { Ok(stack::copy()) } else { Ok(saved(id)?.records.lock().clone()) }
}

/// Returns the error message to which an identifier refers.
fn message(id: hid_t) -> Outcome<Arc<ErrorMessage>> {
    match id::find(id) {
        Some(Entry::ErrorMessage(message)) => Ok(message),
        _ => Err(Failure::bad_type("not an error message")),
    }
}

/// Returns the error class to which an identifier refers.
fn class(id: hid_t) -> Outcome<Arc<ErrorClass>> {
    match id::find(id) {
        Some(Entry::ErrorClass(class)) => Ok(class),
        _ => Err(Failure::bad_type("not an error class")),
    }
}

/// Returns the indexes of `count` error records, sorted for a walk in the direction `direction`.
fn order(direction: c_int, count: usize) -> Vec<usize> {
    if direction == DOWNWARD { (0..count).rev().collect() } else { (0..count).collect() }
}

/// Prints an error stack to a C stream. A null stream stands for the standard error.
fn print(id: hid_t, stream: *mut c_void) -> Outcome<herr_t> {
    let text = text_of(&records(id)?);
    if stream.is_null() {
        // As in C programs, the text is lost if the standard error is closed.
        let _ = std::io::stderr().write_all(text.as_bytes());
    } else {
        crate::memory::write_to_stream(text.as_bytes(), stream);
    }
    Ok(0)
}

/// Prints the error stack of the current thread to the standard error.
pub fn print_to_stderr() {
    let text = text_of(&stack::copy());
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Formats error records as text. The text begins with the function that the program called.
fn text_of(records: &[Arc<Record>]) -> String {
    let mut out = String::new();
    let mut class_before = 0;
    for (number, record) in records.iter().rev().enumerate() {
        if record.class != class_before {
            let (name, version) = class(record.class).map_or_else(
                |_| (CString::default(), CString::default()),
                |class| (class.library.clone(), class.version.clone()),
            );
            let (name, version) = (name.to_string_lossy(), version.to_string_lossy());
            out.push_str(&format!("{name}-DIAG: Error detected in {name} ({version}):\n"));
            class_before = record.class;
        }
        let lossy = |text: &CString| text.to_string_lossy().into_owned();
        out.push_str(&format!(
            "  #{number:03}: {} line {} in {}(): {}\n",
            lossy(&record.file),
            record.line,
            lossy(&record.function),
            lossy(&record.text),
        ));
        for (title, id) in [("major", record.major), ("minor", record.minor)] {
            let text = message(id).map_or_else(|_| "no message".into(), |message| lossy(&message.text));
            out.push_str(&format!("    {title}: {text}\n"));
        }
    }
    out
}

/// Registers a new message of an error class and returns the message's identifier.
fn new_message(class_id: hid_t, is_major: bool, text: &[u8]) -> Outcome<hid_t> {
    let message = ErrorMessage { class: class(class_id)?, is_major, text: stack::text(text) };
    Ok(id::register(Entry::ErrorMessage(Arc::new(message))))
}

/// Releases a reference to the identifier of an error class or an error message.
fn release(id: hid_t) -> Outcome<herr_t> {
    id::decrement(id).because(codes::ERROR, codes::CANTDEC, "cannot release the identifier")?;
    Ok(0)
}

/// The arguments of `H5Epush1` or `H5Epush2`, which describe an error record.
#[derive(Debug, Clone, Copy)]
struct Pushed {
    file: Text,
    function: Text,
    line: c_uint,
    class: hid_t,
    major: hid_t,
    minor: hid_t,
    text: Text,
}

impl Pushed {
    /// Returns the error record that the arguments of `H5Epush1` or `H5Epush2` describe.
    fn record(self) -> Record {
        let text = |text: Text| stack::text(text.get().unwrap_or_default());
        Record {
            class: self.class,
            major: self.major,
            minor: self.minor,
            function: text(self.function),
            file: text(self.file),
            line: self.line,
            text: text(self.text),
        }
    }
}

export_keeping_errors! {
    /// Registers an error class and returns its identifier.
    fn H5Eregister_class(name: Text, library: Text, version: Text) -> hid_t {
        let class = ErrorClass {
            name: stack::text(name.bytes("class name")?),
            library: stack::text(library.bytes("library name")?),
            version: stack::text(version.bytes("version")?),
        };
        Ok(id::register(Entry::ErrorClass(Arc::new(class))))
    }

    /// Releases the identifier of an error class.
    fn H5Eunregister_class(class_id: hid_t) -> herr_t {
        let removed = class(class_id)?;
        for (message_id, entry) in id::list(crate::ctypes::IdKind::ErrorMessage as c_int) {
            if matches!(&entry, Entry::ErrorMessage(message) if Arc::ptr_eq(&message.class, &removed)) {
                id::take(message_id);
            }
        }
        release(class_id)
    }

    /// Releases the identifier of an error message.
    fn H5Eclose_msg(message_id: hid_t) -> herr_t {
        message(message_id)?;
        release(message_id)
    }

    /// Creates a major or minor message of an error class and returns its identifier.
    fn H5Ecreate_msg(class_id: hid_t, kind: c_int, text: Text) -> hid_t {
        if !(0..=1).contains(&kind) {
            return Err(Failure::bad_value("unknown type of error message"));
        }
        new_message(class_id, kind == MAJOR, text.bytes("message")?)
    }

    /// Creates an empty error stack and returns its identifier.
    fn H5Ecreate_stack() -> hid_t {
        Ok(id::register(Entry::ErrorStack(Arc::new(SavedStack::default()))))
    }

    /// Moves the records of the thread's error stack to a new stack. Returns its identifier.
    fn H5Eget_current_stack() -> hid_t {
        let stack = SavedStack {
            records: Mutex::new(stack::replace(Vec::new())),
            automatic: Mutex::new(automatic::get()),
            pauses: Mutex::default(),
        };
        Ok(id::register(Entry::ErrorStack(Arc::new(stack))))
    }

    /// Replaces the thread's error stack by the records of another error stack, which is closed.
    fn H5Eset_current_stack(stack_id: hid_t) -> herr_t {
        if stack_id != H5P_DEFAULT {
            let records = saved(stack_id)?.records.lock().clone();
            stack::replace(records);
            release(stack_id)?;
        }
        Ok(0)
    }

    /// Appends the records of the error stack `source` to the error stack `target`.
    fn H5Eappend_stack(target: hid_t, source: hid_t, close: bool) -> herr_t {
        let (to, from) = (saved(target)?, saved(source)?);
        let copied = from.records.lock().clone();
        to.records.lock().extend(copied);
        if close {
            release(source)?;
        }
        Ok(0)
    }

    /// Closes the identifier of an error stack.
    fn H5Eclose_stack(stack_id: hid_t) -> herr_t {
        if stack_id == H5P_DEFAULT {
            return Ok(0);
        }
        saved(stack_id)?;
        release(stack_id)
    }

    /// Copies the name of an error class to `name` and returns the length of the name.
    fn H5Eget_class_name(class_id: hid_t, name: TextBuffer, size: usize) -> isize {
        let class = class(class_id)?;
        name.put(class.name.as_bytes(), size);
        crate::text::length(class.name.as_bytes())
    }

    /// Returns the number of records of an error stack.
    fn H5Eget_num(stack_id: hid_t) -> isize {
        Ok(records(stack_id)?.len().cast_signed())
    }

    /// Removes up to `count` records of an error stack. The outermost records are removed first.
    fn H5Epop(stack_id: hid_t, count: usize) -> herr_t {
        if stack_id == H5P_DEFAULT {
            stack::pop(count);
        } else {
            let saved = saved(stack_id)?;
            let mut records = saved.records.lock();
            let rest = records.len().saturating_sub(count); // More than all means all.
            records.truncate(rest);
        }
        Ok(0)
    }

    /// Adds a record with the library's error class to the thread's error stack.
    fn H5Epush1(file: Text, function: Text, line: c_uint, major: hid_t, minor: hid_t, text: Text) -> herr_t {
        stack::add(Pushed { file, function, line, class: codes::ERR_CLS, major, minor, text }.record());
        Ok(0)
    }

    /// Removes all records of the thread's error stack.
    fn H5Eclear1() -> herr_t {
        stack::clear();
        Ok(0)
    }

    /// Removes all records of an error stack.
    fn H5Eclear2(stack_id: hid_t) -> herr_t {
        if stack_id == H5P_DEFAULT {
            stack::clear();
        } else {
            saved(stack_id)?.records.lock().clear();
        }
        Ok(0)
    }

    /// Prints the thread's error stack to a C stream.
    fn H5Eprint1(stream: *mut c_void) -> herr_t {
        print(H5P_DEFAULT, stream)
    }

    /// Prints an error stack to a C stream.
    fn H5Eprint2(stack_id: hid_t, stream: *mut c_void) -> herr_t {
        print(stack_id, stream)
    }

    /// Calls `function` for each record of an error stack. Stops at a nonzero result.
    fn H5Ewalk2(stack_id: hid_t, direction: c_int, function: Option<Walk2>, data: *mut c_void) -> herr_t {
        let records = records(stack_id)?;
        let function = function.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        for (number, index) in order(direction, records.len()).into_iter().enumerate() {
            let Some(record) = records.get(index) else { break };
            let visited = H5E_error2_t {
                cls_id: record.class,
                maj_num: record.major,
                min_num: record.minor,
                line: record.line,
                func_name: record.function.as_ptr(),
                file_name: record.file.as_ptr(),
                desc: record.text.as_ptr(),
            };
            let number: c_uint = counted(number)?;
            let outcome = call_user!(function, number, &raw const visited, data);
            if outcome != 0 {
                return Ok(outcome);
            }
        }
        Ok(0)
    }

    /// Calls `function` for each record of the thread's error stack. Stops at a nonzero result.
    fn H5Ewalk1(direction: c_int, function: Option<Walk1>, data: *mut c_void) -> herr_t {
        let records = stack::copy();
        let function = function.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        for (number, index) in order(direction, records.len()).into_iter().enumerate() {
            let Some(record) = records.get(index) else { break };
            let mut visited = H5E_error1_t {
                maj_num: record.major,
                min_num: record.minor,
                func_name: record.function.as_ptr(),
                file_name: record.file.as_ptr(),
                line: record.line,
                desc: record.text.as_ptr(),
            };
            let number: c_int = counted(number)?;
            let outcome = call_user!(function, number, &raw mut visited, data);
            if outcome != 0 {
                return Ok(outcome);
            }
        }
        Ok(0)
    }

    /// Stores the thread's failure callback that `H5Eset_auto1` set, and the callback's data.
    fn H5Eget_auto1(function: Out<Option<Auto1>>, data: Out<*mut c_void>) -> herr_t {
        let automatic = automatic::get();
        let found: Option<Auto1> = match automatic.reporter {
            Reporter::None => None,
            Reporter::User1(function) => Some(function),
            Reporter::Print => Some(automatic.first.unwrap_or(H5Eprint1)),
            Reporter::User2(_) => return Err(Failure::new(codes::ERROR, codes::CANTGET, "the failure callback was set by H5Eset_auto2")),
        };
        function.put(found);
        data.put(automatic.data);
        Ok(0)
    }

    /// Stores the failure callback of an error stack, and the callback's data.
    fn H5Eget_auto2(stack_id: hid_t, function: Out<Option<Auto2>>, data: Out<*mut c_void>) -> herr_t {
        let automatic =
            if stack_id == H5P_DEFAULT { automatic::get() } else { *saved(stack_id)?.automatic.lock() };
        let found: Option<Auto2> = match automatic.reporter {
            Reporter::None => None,
            Reporter::User2(function) => Some(function),
            Reporter::Print => Some(automatic.second.unwrap_or(H5Eprint2)),
            Reporter::User1(_) => return Err(Failure::new(codes::ERROR, codes::CANTGET, "the failure callback was set by H5Eset_auto1")),
        };
        function.put(found);
        data.put(automatic.data);
        Ok(0)
    }

    /// Sets the failure callback of the thread, in the HDF5 1.6 form.
    fn H5Eset_auto1(function: Option<Auto1>, data: *mut c_void) -> herr_t {
        let reporter = match function {
            None => Reporter::None,
            Some(function) if std::ptr::fn_addr_eq(function, H5Eprint1 as Auto1) => Reporter::Print,
            Some(function) => Reporter::User1(function),
        };
        let first = function.filter(|_| matches!(reporter, Reporter::User1(_)));
        automatic::set(Automatic { reporter, data, first, ..automatic::get() });
        Ok(0)
    }

    /// Sets the failure callback of an error stack.
    fn H5Eset_auto2(stack_id: hid_t, function: Option<Auto2>, data: *mut c_void) -> herr_t {
        let reporter = match function {
            None => Reporter::None,
            Some(function) if std::ptr::fn_addr_eq(function, H5Eprint2 as Auto2) => Reporter::Print,
            Some(function) => Reporter::User2(function),
        };
        let second = if let Reporter::User2(function) = reporter { Some(function) } else { None };
        let before =
            if stack_id == H5P_DEFAULT { automatic::get() } else { *saved(stack_id)?.automatic.lock() };
        let automatic = Automatic { reporter, data, second, ..before };
        if stack_id == H5P_DEFAULT {
            automatic::set(automatic);
        } else {
            *saved(stack_id)?.automatic.lock() = automatic;
        }
        Ok(0)
    }

    /// Stores in `is_second` whether the failure callback receives the error stack's identifier.
    fn H5Eauto_is_v2(stack_id: hid_t, is_second: Out<c_uint>) -> herr_t {
        let automatic =
            if stack_id == H5P_DEFAULT { automatic::get() } else { *saved(stack_id)?.automatic.lock() };
        is_second.put(u32::from(!matches!(automatic.reporter, Reporter::User1(_))));
        Ok(0)
    }

    /// Copies the text of an error message, stores the message type, and returns the text length.
    fn H5Eget_msg(message_id: hid_t, kind: Out<c_int>, text: TextBuffer, size: usize) -> isize {
        let message = message(message_id)?;
        kind.put(i32::from(!message.is_major));
        text.put(message.text.as_bytes(), size);
        crate::text::length(message.text.as_bytes())
    }

    /// Returns a copy of the text of a major error message, which the program frees.
    fn H5Eget_major(major: hid_t) -> *mut c_char {
        Ok(crate::memory::text(message(major)?.text.as_bytes()))
    }

    /// Returns a copy of the text of a minor error message, which the program frees.
    fn H5Eget_minor(minor: hid_t) -> *mut c_char {
        Ok(crate::memory::text(message(minor)?.text.as_bytes()))
    }
}

/// Adds an error record with an already formatted text to an error stack, for `H5Epush2`.
pub fn push_formatted(
    stack_id: hid_t,
    (file, function, line): (Text, Text, c_uint),
    (class_id, major, minor): (hid_t, hid_t, hid_t),
    text: &CStr,
) -> herr_t {
    let record =
        Pushed { file, function, line, class: class_id, major, minor, text: Text::of(text.as_ptr()) };
    let record = record.record();
    if stack_id == H5P_DEFAULT {
        stack::add(record);
        return 0;
    }
    let Ok(saved) = saved(stack_id) else { return -1 };
    saved.records.lock().push(Arc::new(record));
    0
}
