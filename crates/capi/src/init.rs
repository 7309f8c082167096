//! Start and shutdown of the library.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::id;

/// A flag that is true after the predefined identifiers have been added to the identifier table.
static STARTED: AtomicBool = AtomicBool::new(false);
/// A lock for the start of the library, which admits one thread at a time.
static STARTING: parking_lot::Mutex<()> = parking_lot::Mutex::new(());

/// Adds the predefined identifiers to the identifier table if this has not happened yet.
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

/// Closes all files and objects and removes all identifiers. The next library call starts the
/// library again.
pub fn stop() {
    id::close_all();
    STARTED.store(false, Ordering::Release);
}
