//! Caches in shards, made without asking how many processors there are: that takes longer than opening a small file.

use std::hash::Hash;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// Parts of a cache that do not wait for each other.
const SHARDS: usize = 8;

/// A cache of about so many entries, which weigh at most `weight` together.
pub(crate) fn cache<K, V, W>(entries: usize, weight: u64, weighter: W) -> Cache<K, V, W>
where
    K: Eq + Hash,
    V: Clone,
    W: Weighter<K, V> + Clone,
{
    let options = OptionsBuilder::new()
        .shards(SHARDS)
        .estimated_items_capacity(entries)
        .weight_capacity(weight)
        .build();
    match options {
        Ok(options) => {
            Cache::with_options(options, weighter, DefaultHashBuilder::default(), DefaultLifecycle::default())
        }
        Err(_) => Cache::with_weighter(entries, weight, weighter),
    }
}
