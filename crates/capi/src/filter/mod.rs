//! Filters of hyperslab, of users, and of plugins.

pub mod class;
pub mod late;
pub mod plugin;
pub mod user;

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, LazyLock};

use hyperslab::filter::{Filter, FilterId, Registry};
use parking_lot::Mutex;

use crate::file::SharedFile;
use user::UserFilter;

/// The configuration flag of a filter that can encode (`H5Z_FILTER_CONFIG_ENCODE_ENABLED`).
pub const ENCODES: c_uint = 1;
/// The configuration flag of a filter that can decode (`H5Z_FILTER_CONFIG_DECODE_ENABLED`).
pub const DECODES: c_uint = 2;

/// The filters that users registered or that plugins provided.
static USERS: Mutex<Vec<Arc<UserFilter>>> = Mutex::new(Vec::new());
/// The filters that hyperslab provides.
static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::default();
    registry.register(Arc::new(late::LateScaleOffset::default()));
    registry
});

/// Converts a C filter identifier to a filter identifier of hyperslab. Returns `None` if the
/// identifier is out of range.
fn number(id: c_int) -> Option<FilterId> {
    u16::try_from(id).ok().map(FilterId)
}

/// Registers a user's filter in place of an earlier filter with the same identifier.
pub fn register(filter: UserFilter) {
    let filter = Arc::new(filter);
    let mut users = USERS.lock();
    users.retain(|other| other.id() != filter.id());
    users.push(filter);
}

/// Removes all filters of users and of plugins.
pub fn remove_all() {
    USERS.lock().clear();
}

/// Removes a user's filter. Returns `false` if no filter of a user has this identifier.
pub fn unregister(id: c_int) -> bool {
    let Some(id) = number(id) else { return false };
    let mut users = USERS.lock();
    let before = users.len();
    users.retain(|filter| filter.id() != id);
    users.len() != before
}

/// Returns the user's filter with the given identifier.
pub fn find_user(id: c_int) -> Option<Arc<UserFilter>> {
    let id = number(id)?;
    USERS.lock().iter().find(|filter| filter.id() == id).cloned()
}

/// Returns the configuration flags of a filter, or `None` if the filter is not available. Loads the
/// filter from a plugin if necessary.
pub fn configuration(id: c_int) -> Option<c_uint> {
    let flags = |encodes: bool, decodes: bool| {
        (if encodes { ENCODES } else { 0 }) | if decodes { DECODES } else { 0 }
    };
    if let Some(filter) = find_user(id) {
        return Some(flags(filter.can_encode(), filter.class.decoder_present));
    }
    if let Some(filter) = number(id).and_then(|id| BUILT_IN.get(id)) {
        return Some(flags(filter.can_encode(), true));
    }
    let loaded = plugin::load(id)?;
    let result = flags(loaded.can_encode(), loaded.class.decoder_present);
    register(loaded);
    Some(result)
}

/// Returns whether a filter is available. Loads the filter from a plugin if necessary.
pub fn is_available(id: c_int) -> bool {
    configuration(id).is_some()
}

/// Returns the name of the available filter with the identifier `id`.
pub fn name(id: c_int) -> Option<Vec<u8>> {
    if let Some(filter) = find_user(id) {
        return Some(filter.class.name.clone());
    }
    number(id).and_then(FilterId::name).map(|name| name.as_bytes().to_vec())
}

/// Returns a registry of all available filters. A user's filter takes precedence over a filter of
/// hyperslab.
pub fn registry() -> Registry {
    let mut registry = BUILT_IN.clone();
    for filter in USERS.lock().iter() {
        let filter: Arc<dyn Filter> = Arc::<UserFilter>::clone(filter);
        registry.register(filter);
    }
    registry
}

/// Adds filters to an open file if the file lacks them: filters that users registered after the
/// file was opened, and filters of plugins.
pub fn provide(file: &SharedFile, ids: impl IntoIterator<Item = c_int>) {
    let mut any = false;
    for id in ids {
        is_available(id);
        any = true;
    }
    if any {
        file.file.set_filters(registry());
    }
}
