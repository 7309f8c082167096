//! The clock of the system.

use std::time::Instant;

/// Returns the present time; `None` if the system has no clock, as WebAssembly in a browser.
pub(crate) fn now() -> Option<Instant> {
    let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
    has_clock.then(Instant::now)
}
