//! The start and the end of the library.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::id;

/// True if the predefined identifiers are in the table.
static STARTED: AtomicBool = AtomicBool::new(false);
static STARTING: parking_lot::Mutex<()> = parking_lot::Mutex::new(());

/// Registers the predefined identifiers, once.
pub fn start() {
    if STARTED.load(Ordering::Acquire) {
        return;
    }
    let _guard = STARTING.lock();
    if !STARTED.load(Ordering::Acquire) {
        id::predefined::register();
        STARTED.store(true, Ordering::Release);
    }
}

/// Closes all objects and forgets all identifiers. The next call starts the library again.
pub fn stop() {
    id::close_all();
    STARTED.store(false, Ordering::Release);
}
