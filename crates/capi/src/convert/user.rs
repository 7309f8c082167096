//! Conversions that users register (`H5Tregister`).

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use hyperslab::datatype::convert::{Conversions, ConvertError, HeapError, Kernel, Rule as RuleTrait};
use hyperslab::{Datatype, DatatypeClass};
use parking_lot::{Mutex, RwLock};

use crate::call_user;
use crate::ctypes::{herr_t, hid_t};
use crate::datatype;

/// The state of a conversion that a function keeps (`H5T_cdata_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5T_cdata_t {
    pub command: c_int,
    pub need_bkg: c_int,
    pub recalc: bool,
    pub private: *mut c_void,
}

const _: () = assert!(size_of::<H5T_cdata_t>() == 24);

// SAFETY: the private pointer belongs to the user's function; conversions with functions of users
// run on the calling thread.
#[expect(unsafe_code, reason = "the state of a conversion is kept in a table of the process")]
unsafe impl Send for H5T_cdata_t {}

/// The commands to a function.
const INIT: c_int = 0;
const CONVERT: c_int = 1;
const FREE: c_int = 2;

/// A function that converts (`H5T_conv_t`).
pub type Function = unsafe extern "C" fn(
    hid_t,
    hid_t,
    *mut H5T_cdata_t,
    usize,
    usize,
    usize,
    *mut c_void,
    *mut c_void,
    hid_t,
) -> herr_t;

/// A registered conversion.
#[derive(Debug, Clone)]
pub struct Registered {
    /// The name.
    pub name: Vec<u8>,
    /// True if the conversion applies to all types of two classes.
    pub soft: bool,
    /// The source type.
    pub source: Datatype,
    /// The destination type.
    pub destination: Datatype,
    /// The function.
    pub function: Function,
}

static REGISTERED: RwLock<Vec<Registered>> = RwLock::new(Vec::new());
static KERNELS: Mutex<Vec<Arc<UserKernel>>> = Mutex::new(Vec::new());

/// The number of initialized conversions that are kept.
const MAX_KERNELS: usize = 256;

/// Returns the number of a datatype's class, in which a variable-length string is a sequence.
pub fn class(datatype: &Datatype) -> u8 {
    match &datatype.class {
        DatatypeClass::FixedPoint(_) => 0,
        DatatypeClass::FloatingPoint(_) => 1,
        DatatypeClass::Time(_) => 2,
        DatatypeClass::String(_) => 3,
        DatatypeClass::Bitfield(_) => 4,
        DatatypeClass::Opaque(_) => 5,
        DatatypeClass::Compound(_) => 6,
        DatatypeClass::Reference(_) => 7,
        DatatypeClass::Enumeration(_) => 8,
        DatatypeClass::VariableLength(_) => 9,
        DatatypeClass::Array(_) => 10,
        DatatypeClass::Complex(_) => 11,
    }
}

/// Adds a conversion, which is tried before the earlier ones.
pub fn register(conversion: Registered) {
    KERNELS.lock().clear();
    REGISTERED.write().push(conversion);
}

/// Removes the conversions that match all given properties.
pub fn unregister(
    soft: Option<bool>,
    name: &[u8],
    source: Option<&Datatype>,
    destination: Option<&Datatype>,
    function: Option<Function>,
) {
    KERNELS.lock().clear();
    REGISTERED.write().retain(|one| {
        let matches = soft.is_none_or(|soft| soft == one.soft)
            && (name.is_empty() || name == one.name)
            && source.is_none_or(|source| *source == one.source)
            && destination.is_none_or(|destination| *destination == one.destination)
            && function.is_none_or(|function| std::ptr::fn_addr_eq(function, one.function));
        !matches
    });
}

/// Returns the registered conversions that may apply to two types, the last one first.
fn candidates(source: &Datatype, destination: &Datatype) -> Vec<Registered> {
    let classes = (class(source), class(destination));
    let registered = REGISTERED.read();
    let applies = |one: &&Registered| {
        if (class(&one.source), class(&one.destination)) != classes {
            return false;
        }
        one.soft || one.source == *source && one.destination == *destination
    };
    registered.iter().rev().filter(applies).cloned().collect()
}

fn any(source: &Datatype, destination: &Datatype) -> bool {
    let classes = (class(source), class(destination));
    let registered = REGISTERED.read();
    registered.iter().any(|one| {
        (class(&one.source), class(&one.destination)) == classes
            && (one.soft || one.source == *source && one.destination == *destination)
    })
}

/// Returns whether a conversion of a user may apply to two types or to their parts.
pub fn may_apply(source: &Datatype, destination: &Datatype) -> bool {
    if source == destination && !datatype::form::depends_on_form(source) {
        return false;
    }
    if any(source, destination) {
        return true;
    }
    match (&source.class, &destination.class) {
        (DatatypeClass::Compound(from), DatatypeClass::Compound(to)) => to.members.iter().any(|member| {
            let same = from.members.iter().find(|other| other.name == member.name);
            same.is_some_and(|other| may_apply(&other.datatype, &member.datatype))
        }),
        (DatatypeClass::Array(from), DatatypeClass::Array(to)) => may_apply(&from.base, &to.base),
        (DatatypeClass::VariableLength(from), DatatypeClass::VariableLength(to)) => {
            may_apply(&from.base, &to.base)
        }
        _ => false,
    }
}

/// The rule that finds conversions of users.
#[derive(Debug)]
pub struct Rule {
    /// The transfer list of the call.
    pub list: hid_t,
}

impl RuleTrait for Rule {
    fn kernel(
        &self,
        source: &Datatype,
        destination: &Datatype,
        _: &Conversions,
    ) -> Result<Option<Arc<dyn Kernel>>, ConvertError> {
        if source == destination && !datatype::form::depends_on_form(source) {
            return Ok(None);
        }
        Ok(find(source, destination, self.list).map(|kernel| kernel as _))
    }
}

/// Returns an initialized conversion of a user between two types.
pub fn find(source: &Datatype, destination: &Datatype, list: hid_t) -> Option<Arc<UserKernel>> {
    let known = KERNELS.lock().iter().find(|kernel| kernel.is_between(source, destination)).cloned();
    if known.is_some() {
        return known;
    }
    let kernel = candidates(source, destination)
        .into_iter()
        .find_map(|one| UserKernel::start(one.function, source, destination, list))?;
    let kernel = Arc::new(kernel);
    let mut kernels = KERNELS.lock();
    if kernels.len() >= MAX_KERNELS {
        kernels.clear();
    }
    kernels.push(Arc::clone(&kernel));
    Some(kernel)
}

/// A conversion of a user between two types.
#[derive(Debug)]
pub struct UserKernel {
    function: Function,
    source: Datatype,
    destination: Datatype,
    state: Mutex<H5T_cdata_t>,
    list: hid_t,
}

impl UserKernel {
    /// Initializes a conversion; `None` if the function does not convert these types.
    fn start(function: Function, source: &Datatype, destination: &Datatype, list: hid_t) -> Option<Self> {
        let mut state =
            H5T_cdata_t { command: INIT, need_bkg: 0, recalc: false, private: std::ptr::null_mut() };
        let null = std::ptr::null_mut();
        let types = types(source, destination);
        let outcome = call_user!(function, types.0, types.1, &raw mut state, 0, 0, 0, null, null, list);
        release(types);
        if outcome < 0 {
            crate::error::stack::clear();
            return None;
        }
        let (source, destination) = (source.clone(), destination.clone());
        Some(Self { function, source, destination, state: Mutex::new(state), list })
    }

    fn is_between(&self, source: &Datatype, destination: &Datatype) -> bool {
        self.source == *source && self.destination == *destination
    }

    /// Returns whether the function reads the elements that it replaces.
    pub fn needs_background(&self) -> bool {
        self.state.lock().need_bkg != 0
    }

    /// Returns the function's state, which `H5Tfind` passes to the program.
    pub fn state(&self) -> (Function, H5T_cdata_t) {
        (self.function, *self.state.lock())
    }
}

/// Returns identifiers of two types for a function of the user.
fn types(source: &Datatype, destination: &Datatype) -> (hid_t, hid_t) {
    (datatype::register(source.clone()), datatype::register(destination.clone()))
}

fn release(types: (hid_t, hid_t)) {
    crate::id::take(types.0);
    crate::id::take(types.1);
}

impl Kernel for UserKernel {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ConvertError> {
        let (from, to) = (self.source.size as usize, self.destination.size as usize);
        let count = source.len().checked_div(from).unwrap_or(0);
        // The function converts in place: the buffer begins with the source, and ends with the
        // destination.
        let mut buffer = source.to_vec();
        buffer.resize(source.len().max(count.saturating_mul(to)), 0);
        let mut background = destination.to_vec();
        // A copy, because the function may call the library, which may need this conversion.
        let mut state = *self.state.lock();
        state.command = CONVERT;
        let types = types(&self.source, &self.destination);
        let (bytes, behind) = (buffer.as_mut_ptr().cast(), background.as_mut_ptr().cast());
        let outcome = call_user!(
            self.function,
            types.0,
            types.1,
            &raw mut state,
            count,
            0,
            0,
            bytes,
            behind,
            self.list
        );
        release(types);
        if outcome < 0 {
            return Err(ConvertError::Heap(HeapError::new("the user's conversion failed")));
        }
        let (subject, invariant) = ("conversion of a user", "the buffer holds the destination");
        let converted =
            buffer.get(..destination.len()).ok_or(ConvertError::Internal { subject, invariant })?;
        destination.copy_from_slice(converted);
        Ok(())
    }
}

impl Drop for UserKernel {
    fn drop(&mut self) {
        let mut state = *self.state.get_mut();
        state.command = FREE;
        let null = std::ptr::null_mut();
        call_user!(self.function, -1, -1, &raw mut state, 0, 0, 0, null, null, self.list);
    }
}
