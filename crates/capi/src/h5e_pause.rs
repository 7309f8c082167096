//! Pauses of error stacks (`H5E*_stack`). A paused stack of a thread gets no records of failed
//! calls.

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::{Failure, Outcome, stack};
use crate::export_keeping_errors;
use crate::h5e::saved;
use crate::pointer::Out;

/// Changes the number of pauses of an error stack and returns the new number.
///
/// # Errors
/// Fails if the identifier is no error stack, or if `change` returns `None`.
fn change_pauses(stack_id: hid_t, change: fn(u32) -> Option<u32>) -> Outcome<u32> {
    let refused = || Failure::bad_value("the error stack is not paused so many times");
    if stack_id == H5P_DEFAULT {
        let pauses = change(stack::pauses()).ok_or_else(refused)?;
        stack::set_pauses(pauses);
        return Ok(pauses);
    }
    let stack = saved(stack_id)?;
    let mut pauses = stack.pauses.lock();
    *pauses = change(*pauses).ok_or_else(refused)?;
    Ok(*pauses)
}

export_keeping_errors! {
    /// Stores in `paused` whether an error stack is paused.
    fn H5Eis_paused(stack_id: hid_t, paused: Out<bool>) -> herr_t {
        let pauses = change_pauses(stack_id, Some)?;
        paused.require("result")?.put(pauses > 0);
        Ok(0)
    }

    /// Pauses an error stack. A paused stack of a thread gets no records of failed calls.
    fn H5Epause_stack(stack_id: hid_t) -> herr_t {
        change_pauses(stack_id, |pauses| pauses.checked_add(1))?;
        Ok(0)
    }

    /// Ends a pause of an error stack. A stack that was paused several times stays paused until all
    /// pauses end.
    fn H5Eresume_stack(stack_id: hid_t) -> herr_t {
        change_pauses(stack_id, |pauses| pauses.checked_sub(1))?;
        Ok(0)
    }
}
