//! Filters: those of hyperslab, those that users register, and those of plugins.

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

/// The flag of a filter that can encode.
pub const ENCODES: c_uint = 1;
/// The flag of a filter that can decode.
pub const DECODES: c_uint = 2;

static USERS: Mutex<Vec<Arc<UserFilter>>> = Mutex::new(Vec::new());
static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::default();
    registry.register(Arc::new(late::LateScaleOffset::default()));
    registry
});

/// Returns the identifier of a filter for a registry.
fn number(id: c_int) -> Option<FilterId> {
    u16::try_from(id).ok().map(FilterId)
}

/// Adds a filter of the user, which replaces one with its identifier.
pub fn register(filter: UserFilter) {
    let filter = Arc::new(filter);
    let mut users = USERS.lock();
    users.retain(|other| other.id() != filter.id());
    users.push(filter);
}

/// Removes a filter of the user. Returns `false` if there is none.
pub fn unregister(id: c_int) -> bool {
    let Some(id) = number(id) else { return false };
    let mut users = USERS.lock();
    let before = users.len();
    users.retain(|filter| filter.id() != id);
    users.len() != before
}

/// Returns the filter of the user with an identifier.
pub fn find_user(id: c_int) -> Option<Arc<UserFilter>> {
    let id = number(id)?;
    USERS.lock().iter().find(|filter| filter.id() == id).cloned()
}

/// Returns the flags of a filter, which is loaded from a plugin if necessary; `None` if it is not
/// available.
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

/// Returns whether a filter is available.
pub fn is_available(id: c_int) -> bool {
    configuration(id).is_some()
}

/// Returns the name of a filter.
pub fn name(id: c_int) -> Option<Vec<u8>> {
    if let Some(filter) = find_user(id) {
        return Some(filter.class.name.clone());
    }
    number(id).and_then(FilterId::name).map(|name| name.as_bytes().to_vec())
}

/// Returns the filters of hyperslab and those of users. A user's filter replaces one of hyperslab.
pub fn registry() -> Registry {
    let mut registry = BUILT_IN.clone();
    for filter in USERS.lock().iter() {
        let filter: Arc<dyn Filter> = Arc::<UserFilter>::clone(filter);
        registry.register(filter);
    }
    registry
}

/// Sets the filters of a file with these identifiers: those that users registered after the file
/// was opened, and those of plugins.
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
