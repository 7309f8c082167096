//! Datatype conversions that users register (`H5Tregister`).

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use hyperslab::datatype::convert::{Conversions, ConvertError, HeapError, Kernel, Rule as RuleTrait};
use hyperslab::{Datatype, DatatypeClass};
use parking_lot::{Mutex, RwLock};

use crate::call_user;
use crate::ctypes::{herr_t, hid_t};
use crate::datatype;

/// The state that the library passes to a user's conversion function in each call (`H5T_cdata_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5T_cdata_t {
    /// The command: 0 initializes the conversion, 1 converts elements, 2 frees the function's
    /// state.
    pub command: c_int,
    /// The use of the background buffer: 0 none, 1 temporary, 2 the old elements of the
    /// destination.
    pub need_bkg: c_int,
    /// True if the function must compute its state again. The library never sets it.
    pub recalc: bool,
    /// A pointer to the function's own state.
    pub private: *mut c_void,
}

const _: () = assert!(size_of::<H5T_cdata_t>() == 24);

// SAFETY: the private pointer belongs to the user's function, and conversions with functions of the
// user run on the calling thread.
#[expect(unsafe_code, reason = "the state of a conversion is kept in a table of the process")]
unsafe impl Send for H5T_cdata_t {}

/// The command to a user's conversion function that initializes a conversion (`H5T_CONV_INIT`).
const INIT: c_int = 0;
/// The command to a user's conversion function that converts elements (`H5T_CONV_CONV`).
const CONVERT: c_int = 1;
/// The command to a user's conversion function that frees the state of the conversion
/// (`H5T_CONV_FREE`).
const FREE: c_int = 2;

/// The C type of a user's conversion function (`H5T_conv_t`).
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

/// A user's datatype conversion that was registered with `H5Tregister`.
#[derive(Debug, Clone)]
pub struct Registered {
    /// The name under which the user registered the conversion.
    pub name: Vec<u8>,
    /// True if the conversion applies to all datatypes of two classes (a soft conversion).
    pub soft: bool,
    /// The datatype from which the conversion converts.
    pub source: Datatype,
    /// The datatype to which the conversion converts.
    pub destination: Datatype,
    /// The user's conversion function.
    pub function: Function,
}

/// The datatype conversions that users registered, in the order of registration.
static REGISTERED: RwLock<Vec<Registered>> = RwLock::new(Vec::new());
/// The users' conversion functions that were initialized, each for a pair of datatypes.
static KERNELS: Mutex<Vec<Arc<UserKernel>>> = Mutex::new(Vec::new());

/// The maximum number of users' conversion functions that stay initialized at the same time.
const MAX_KERNELS: usize = 256;

/// Returns the number of a datatype's class (`H5T_class_t`). A variable-length string counts as a
/// sequence.
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

/// Registers a user's datatype conversion. Later conversions take precedence over earlier ones.
pub fn register(conversion: Registered) {
    KERNELS.lock().clear();
    REGISTERED.write().push(conversion);
}

/// Removes those of the users' datatype conversions that match all given properties. `None` matches
/// every value.
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

/// Returns the users' conversion functions that may apply to two datatypes. The latest registration
/// comes first.
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

/// Returns true if any registered conversion function of a user may apply to two datatypes.
fn any(source: &Datatype, destination: &Datatype) -> bool {
    let classes = (class(source), class(destination));
    let registered = REGISTERED.read();
    registered.iter().any(|one| {
        (class(&one.source), class(&one.destination)) == classes
            && (one.soft || one.source == *source && one.destination == *destination)
    })
}

/// Returns whether a conversion that a user registered may apply to two datatypes or to their
/// members.
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

/// A datatype conversion rule that searches the conversion functions of users.
#[derive(Debug)]
pub struct Rule {
    /// The identifier of the transfer property list of the call.
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

/// Finds the user's conversion function between two datatypes, and initializes it if necessary.
/// Returns `None` if no function of a user converts between the datatypes.
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

/// A user's conversion function that was initialized for two datatypes, with its state.
#[derive(Debug)]
pub struct UserKernel {
    /// The user's conversion function.
    function: Function,
    /// The datatype of the elements before the conversion.
    source: Datatype,
    /// The datatype of the elements after the conversion.
    destination: Datatype,
    /// The state that the function keeps between calls.
    state: Mutex<H5T_cdata_t>,
    /// The identifier of the transfer property list that the function receives.
    list: hid_t,
}

impl UserKernel {
    /// Initializes a user's conversion function for two datatypes. Returns `None` if the function
    /// does not convert between these datatypes.
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

    /// Returns true if the user's conversion function was initialized for the two datatypes.
    fn is_between(&self, source: &Datatype, destination: &Datatype) -> bool {
        self.source == *source && self.destination == *destination
    }

    /// Returns true if the user's conversion function needs the old elements of the destination as
    /// background.
    pub fn needs_background(&self) -> bool {
        self.state.lock().need_bkg != 0
    }

    /// Returns the user's conversion function and a copy of its state, for `H5Tfind`.
    pub fn state(&self) -> (Function, H5T_cdata_t) {
        (self.function, *self.state.lock())
    }
}

/// Returns temporary identifiers of the source and the destination datatype for a call of a user's
/// conversion function.
fn types(source: &Datatype, destination: &Datatype) -> (hid_t, hid_t) {
    (datatype::register(source.clone()), datatype::register(destination.clone()))
}

/// Releases the temporary identifiers of the source and the destination datatype of a user's
/// conversion.
fn release(types: (hid_t, hid_t)) {
    crate::id::take(types.0);
    crate::id::take(types.1);
}

impl Kernel for UserKernel {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ConvertError> {
        let (from, to) = (self.source.size as usize, self.destination.size as usize);
        let count = source.len().checked_div(from).unwrap_or(0);
        // The function converts in place. Before the call, the buffer contains the source elements;
        // after the call, it contains the destination elements.
        let mut buffer = source.to_vec();
        buffer.resize(source.len().max(count.saturating_mul(to)), 0);
        let mut background = destination.to_vec();
        // The call uses a copy of the state, because the function may call the library, which may
        // lock this state.
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
