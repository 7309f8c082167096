//! Error stacks (`H5E*`).

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::io::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::automatic::{self, Auto1, Auto2, Automatic, Reporter};
use crate::error::message::{ErrorClass, ErrorMessage, SavedStack};
use crate::error::stack::{self, Record};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export_keeping_errors;
use crate::id::{self, Entry};
use crate::pointer::{Out, Text, TextBuffer};

/// A record as C programs read it (`H5E_error2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5E_error2_t {
    pub cls_id: hid_t,
    pub maj_num: hid_t,
    pub min_num: hid_t,
    pub line: c_uint,
    pub func_name: *const c_char,
    pub file_name: *const c_char,
    pub desc: *const c_char,
}

/// A record as programs of HDF5 1.6 read it (`H5E_error1_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5E_error1_t {
    pub maj_num: hid_t,
    pub min_num: hid_t,
    pub func_name: *const c_char,
    pub file_name: *const c_char,
    pub line: c_uint,
    pub desc: *const c_char,
}

const _: () = assert!(size_of::<H5E_error2_t>() == 56 && size_of::<H5E_error1_t>() == 48);

/// A function that visits records (`H5E_walk2_t`).
pub type Walk2 = unsafe extern "C" fn(c_uint, *const H5E_error2_t, *mut c_void) -> herr_t;
/// A function that visits records (`H5E_walk1_t`).
pub type Walk1 = unsafe extern "C" fn(c_int, *mut H5E_error1_t, *mut c_void) -> herr_t;

/// Visits the innermost record last (`H5E_WALK_DOWNWARD`).
const DOWNWARD: c_int = 1;
/// The kinds of messages (`H5E_type_t`).
const MAJOR: c_int = 0;

fn saved(id: hid_t) -> Outcome<Arc<SavedStack>> {
    match id::find(id) {
        Some(Entry::ErrorStack(stack)) => Ok(stack),
        _ => Err(Failure::bad_type("not an error stack")),
    }
}

/// Returns a copy of the records of a stack; `H5E_DEFAULT` is the thread's stack.
fn records(id: hid_t) -> Outcome<Vec<Arc<Record>>> {
    if id == H5P_DEFAULT { Ok(stack::copy()) } else { Ok(saved(id)?.records.lock().clone()) }
}

fn message(id: hid_t) -> Outcome<Arc<ErrorMessage>> {
    match id::find(id) {
        Some(Entry::ErrorMessage(message)) => Ok(message),
        _ => Err(Failure::bad_type("not an error message")),
    }
}

fn class(id: hid_t) -> Outcome<Arc<ErrorClass>> {
    match id::find(id) {
        Some(Entry::ErrorClass(class)) => Ok(class),
        _ => Err(Failure::bad_type("not an error class")),
    }
}

/// Returns the order in which a walk visits `count` records.
fn order(direction: c_int, count: usize) -> Vec<usize> {
    if direction == DOWNWARD { (0..count).rev().collect() } else { (0..count).collect() }
}

fn print(id: hid_t, stream: *mut c_void) -> Outcome<herr_t> {
    let text = text_of(&records(id)?);
    if stream.is_null() {
        // A closed standard error loses the text, as in C programs.
        let _ = std::io::stderr().write_all(text.as_bytes());
    } else {
        crate::memory::write_to_stream(text.as_bytes(), stream);
    }
    Ok(0)
}

/// Prints the records of the thread's stack to the standard error.
pub fn print_to_stderr() {
    let text = text_of(&stack::copy());
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Returns the records as text, the function that the program called first.
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

fn new_message(class_id: hid_t, is_major: bool, text: &[u8]) -> Outcome<hid_t> {
    let message = ErrorMessage { class: class(class_id)?, is_major, text: stack::text(text) };
    Ok(id::register(Entry::ErrorMessage(Arc::new(message))))
}

/// Releases an identifier of an error class or message.
fn release(id: hid_t) -> Outcome<herr_t> {
    id::decrement(id).because(codes::ERROR, codes::CANTDEC, "cannot release the identifier")?;
    Ok(0)
}

/// A record to add, as its parts arrive from C.
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
    /// Registers an error class.
    fn H5Eregister_class(name: Text, library: Text, version: Text) -> hid_t {
        let class = ErrorClass {
            name: stack::text(name.bytes("class name")?),
            library: stack::text(library.bytes("library name")?),
            version: stack::text(version.bytes("version")?),
        };
        Ok(id::register(Entry::ErrorClass(Arc::new(class))))
    }

    /// Releases an error class.
    fn H5Eunregister_class(class_id: hid_t) -> herr_t {
        let removed = class(class_id)?;
        for (message_id, entry) in id::list(crate::ctypes::IdKind::ErrorMessage as c_int) {
            if matches!(&entry, Entry::ErrorMessage(message) if Arc::ptr_eq(&message.class, &removed)) {
                id::take(message_id);
            }
        }
        release(class_id)
    }

    /// Releases an error message.
    fn H5Eclose_msg(message_id: hid_t) -> herr_t {
        message(message_id)?;
        release(message_id)
    }

    /// Creates a major or minor message of an error class.
    fn H5Ecreate_msg(class_id: hid_t, kind: c_int, text: Text) -> hid_t {
        if !(0..=1).contains(&kind) {
            return Err(Failure::bad_value("not a kind of message"));
        }
        new_message(class_id, kind == MAJOR, text.bytes("message")?)
    }

    /// Creates an empty error stack.
    fn H5Ecreate_stack() -> hid_t {
        Ok(id::register(Entry::ErrorStack(Arc::new(SavedStack::default()))))
    }

    /// Copies the thread's stack to a new one, and clears the thread's stack.
    fn H5Eget_current_stack() -> hid_t {
        let stack = SavedStack {
            records: Mutex::new(stack::replace(Vec::new())),
            automatic: Mutex::new(automatic::get()),
        };
        Ok(id::register(Entry::ErrorStack(Arc::new(stack))))
    }

    /// Replaces the thread's stack by a copy of another one, and closes that one.
    fn H5Eset_current_stack(stack_id: hid_t) -> herr_t {
        if stack_id != H5P_DEFAULT {
            let records = saved(stack_id)?.records.lock().clone();
            stack::replace(records);
            release(stack_id)?;
        }
        Ok(0)
    }

    /// Adds the records of one stack to another one.
    fn H5Eappend_stack(target: hid_t, source: hid_t, close: bool) -> herr_t {
        let (to, from) = (saved(target)?, saved(source)?);
        let copied = from.records.lock().clone();
        to.records.lock().extend(copied);
        if close {
            release(source)?;
        }
        Ok(0)
    }

    /// Returns whether a stack is paused; stacks of hyperslab are never paused.
    fn H5Eis_paused(stack_id: hid_t, paused: Out<bool>) -> herr_t {
        records(stack_id)?;
        paused.require("result")?.put(false);
        Ok(0)
    }

    /// Accepts a pause of a stack. Functions of hyperslab add records only when they fail.
    fn H5Epause_stack(stack_id: hid_t) -> herr_t {
        records(stack_id)?;
        Ok(0)
    }

    /// Accepts the end of a pause.
    fn H5Eresume_stack(stack_id: hid_t) -> herr_t {
        records(stack_id)?;
        Ok(0)
    }

    /// Closes an error stack.
    fn H5Eclose_stack(stack_id: hid_t) -> herr_t {
        if stack_id == H5P_DEFAULT {
            return Ok(0);
        }
        saved(stack_id)?;
        release(stack_id)
    }

    /// Returns the name of an error class.
    fn H5Eget_class_name(class_id: hid_t, name: TextBuffer, size: usize) -> isize {
        let class = class(class_id)?;
        name.put(class.name.as_bytes(), size);
        crate::text::length(class.name.as_bytes())
    }

    /// Returns the number of records of a stack.
    fn H5Eget_num(stack_id: hid_t) -> isize {
        Ok(records(stack_id)?.len().cast_signed())
    }

    /// Removes records, the outermost first.
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

    /// Adds a record of the library's class to the thread's stack.
    fn H5Epush1(file: Text, function: Text, line: c_uint, major: hid_t, minor: hid_t, text: Text) -> herr_t {
        stack::add(Pushed { file, function, line, class: codes::ERR_CLS, major, minor, text }.record());
        Ok(0)
    }

    /// Removes all records of the thread's stack.
    fn H5Eclear1() -> herr_t {
        stack::clear();
        Ok(0)
    }

    /// Removes all records of a stack.
    fn H5Eclear2(stack_id: hid_t) -> herr_t {
        if stack_id == H5P_DEFAULT {
            stack::clear();
        } else {
            saved(stack_id)?.records.lock().clear();
        }
        Ok(0)
    }

    /// Prints the thread's stack to a C stream.
    fn H5Eprint1(stream: *mut c_void) -> herr_t {
        print(H5P_DEFAULT, stream)
    }

    /// Prints a stack to a C stream.
    fn H5Eprint2(stack_id: hid_t, stream: *mut c_void) -> herr_t {
        print(stack_id, stream)
    }

    /// Visits the records of a stack.
    fn H5Ewalk2(stack_id: hid_t, direction: c_int, function: Option<Walk2>, data: *mut c_void) -> herr_t {
        let records = records(stack_id)?;
        let function = function.ok_or_else(|| Failure::bad_value("no function"))?;
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
            let number = c_uint::try_from(number).unwrap_or(c_uint::MAX); // A stack has 32 records at most.
            let outcome = call_user!(function, number, &raw const visited, data);
            if outcome != 0 {
                return Ok(outcome);
            }
        }
        Ok(0)
    }

    /// Visits the records of the thread's stack.
    fn H5Ewalk1(direction: c_int, function: Option<Walk1>, data: *mut c_void) -> herr_t {
        let records = stack::copy();
        let function = function.ok_or_else(|| Failure::bad_value("no function"))?;
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
            let number = c_int::try_from(number).unwrap_or(c_int::MAX); // A stack has 32 records at most.
            let outcome = call_user!(function, number, &raw mut visited, data);
            if outcome != 0 {
                return Ok(outcome);
            }
        }
        Ok(0)
    }

    /// Returns the function for failures.
    fn H5Eget_auto1(function: Out<Option<Auto1>>, data: Out<*mut c_void>) -> herr_t {
        let automatic = automatic::get();
        let found: Option<Auto1> = match automatic.reporter {
            Reporter::None => None,
            Reporter::User1(function) => Some(function),
            Reporter::Print => Some(H5Eprint1),
            Reporter::User2(_) => return Err(Failure::new(codes::ERROR, codes::CANTGET, "set by H5Eset_auto2")),
        };
        function.put(found);
        data.put(automatic.data);
        Ok(0)
    }

    /// Returns the function for failures of a stack.
    fn H5Eget_auto2(stack_id: hid_t, function: Out<Option<Auto2>>, data: Out<*mut c_void>) -> herr_t {
        let automatic =
            if stack_id == H5P_DEFAULT { automatic::get() } else { *saved(stack_id)?.automatic.lock() };
        let found: Option<Auto2> = match automatic.reporter {
            Reporter::None => None,
            Reporter::User2(function) => Some(function),
            Reporter::Print => Some(H5Eprint2),
            Reporter::User1(_) => return Err(Failure::new(codes::ERROR, codes::CANTGET, "set by H5Eset_auto1")),
        };
        function.put(found);
        data.put(automatic.data);
        Ok(0)
    }

    /// Sets the function for failures.
    fn H5Eset_auto1(function: Option<Auto1>, data: *mut c_void) -> herr_t {
        let reporter = match function {
            None => Reporter::None,
            Some(function) if std::ptr::fn_addr_eq(function, H5Eprint1 as Auto1) => Reporter::Print,
            Some(function) => Reporter::User1(function),
        };
        automatic::set(Automatic { reporter, data });
        Ok(0)
    }

    /// Sets the function for failures of a stack.
    fn H5Eset_auto2(stack_id: hid_t, function: Option<Auto2>, data: *mut c_void) -> herr_t {
        let reporter = match function {
            None => Reporter::None,
            Some(function) if std::ptr::fn_addr_eq(function, H5Eprint2 as Auto2) => Reporter::Print,
            Some(function) => Reporter::User2(function),
        };
        let automatic = Automatic { reporter, data };
        if stack_id == H5P_DEFAULT {
            automatic::set(automatic);
        } else {
            *saved(stack_id)?.automatic.lock() = automatic;
        }
        Ok(0)
    }

    /// Returns whether the function for failures takes the identifier of the stack.
    fn H5Eauto_is_v2(stack_id: hid_t, is_second: Out<c_uint>) -> herr_t {
        let automatic =
            if stack_id == H5P_DEFAULT { automatic::get() } else { *saved(stack_id)?.automatic.lock() };
        is_second.put(u32::from(!matches!(automatic.reporter, Reporter::User1(_))));
        Ok(0)
    }

    /// Returns the kind and the text of a message.
    fn H5Eget_msg(message_id: hid_t, kind: Out<c_int>, text: TextBuffer, size: usize) -> isize {
        let message = message(message_id)?;
        kind.put(i32::from(!message.is_major));
        text.put(message.text.as_bytes(), size);
        crate::text::length(message.text.as_bytes())
    }

    /// Returns a copy of the text of a major message.
    fn H5Eget_major(major: hid_t) -> *mut c_char {
        Ok(crate::memory::text(message(major)?.text.as_bytes()))
    }

    /// Returns a copy of the text of a minor message.
    fn H5Eget_minor(minor: hid_t) -> *mut c_char {
        Ok(crate::memory::text(message(minor)?.text.as_bytes()))
    }
}

/// Adds a record to a stack, after the variadic function `H5Epush2` has formatted its text.
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
    match saved(stack_id) {
        Ok(saved) => {
            saved.records.lock().push(Arc::new(record));
            0
        }
        Err(_) => -1,
    }
}
