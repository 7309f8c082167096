//! The set of available filters.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    BitGroom, Bitshuffle, Blosc, Blosc2, Deflate, Fcidecomp, Filter, FilterId, Fletcher32, GranularBitRound,
    Lzf, Nbit, ScaleOffset, Shuffle, Sperr, Sz, Sz3, Szip, Vbz,
};

/// A registry of filters: the set of available filters, by number. Clones are cheap and
/// independent: every file may have its own registry.
#[derive(Debug, Clone)]
pub struct Registry {
    filters: Arc<BTreeMap<FilterId, Arc<dyn Filter>>>,
}

impl Registry {
    /// Creates a filter registry without filters.
    pub fn empty() -> Self {
        Self { filters: Arc::default() }
    }

    /// Returns the filter that is registered with the number `id`.
    pub fn get(&self, id: FilterId) -> Option<&Arc<dyn Filter>> {
        self.filters.get(&id)
    }

    /// Adds a filter to the registry under its own number. Returns the filter that the registry had
    /// under this number before.
    pub fn register(&mut self, filter: Arc<dyn Filter>) -> Option<Arc<dyn Filter>> {
        Arc::make_mut(&mut self.filters).insert(filter.id(), filter)
    }

    /// Removes the filter with the number `id` from the registry and returns the filter.
    pub fn remove(&mut self, id: FilterId) -> Option<Arc<dyn Filter>> {
        Arc::make_mut(&mut self.filters).remove(&id)
    }

    /// Returns the numbers of all filters in the registry in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = FilterId> + '_ {
        self.filters.keys().copied()
    }
}

impl Default for Registry {
    /// Returns a filter registry with the built-in filters.
    fn default() -> Self {
        let mut registry = Self::empty();
        let built_in: [Arc<dyn Filter>; _] = [
            Arc::new(Deflate),
            Arc::new(Shuffle),
            Arc::new(Fletcher32),
            Arc::new(Szip),
            Arc::new(Nbit),
            Arc::new(ScaleOffset),
            #[cfg(feature = "bzip2")]
            Arc::new(crate::Bzip2),
            Arc::new(Lzf),
            #[cfg(feature = "lzo")]
            Arc::new(crate::Lzo),
            Arc::new(Blosc),
            Arc::new(Blosc2),
            #[cfg(feature = "lz4")]
            Arc::new(crate::Lz4),
            Arc::new(Bitshuffle),
            Arc::new(Fcidecomp),
            Arc::new(Vbz),
            Arc::new(BitGroom),
            Arc::new(GranularBitRound),
            Arc::new(Sperr),
            Arc::new(Sz),
            Arc::new(Sz3),
            #[cfg(feature = "zfp")]
            Arc::new(crate::Zfp),
            #[cfg(any(feature = "zstd-rs", feature = "zstd"))]
            Arc::new(crate::Zstd),
        ];
        for filter in built_in {
            registry.register(filter);
        }
        registry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_values() {
        let first = Registry::default();
        let mut second = first.clone();
        assert!(second.remove(FilterId::SHUFFLE).is_some());
        assert!(first.get(FilterId::SHUFFLE).is_some());
        assert_eq!(
            first.ids().filter(|id| second.get(*id).is_none()).collect::<Vec<_>>(),
            [FilterId::SHUFFLE]
        );
        assert!(second.register(Arc::new(Shuffle)).is_none());
        assert!(second.register(Arc::new(Shuffle)).is_some());
    }
}
