//! Filters of users.

/// Returns the filters that files are opened with.
pub fn registry() -> hyperslab::filter::Registry {
    hyperslab::filter::Registry::default()
}
