//! Caches with a fixed number of shards. By default, the cache library asks the system for the
//! number of processors, which takes longer than opening a small file.

use std::hash::Hash;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// Number of shards of a sharded cache. Each shard has a lock.
const SHARD_COUNT: usize = 8;

/// Creates a sharded cache for about `entries` values with a total weight of at most `weight`.
pub(crate) fn cache<K, V, W>(entries: usize, weight: u64, weighter: W) -> Cache<K, V, W>
where
    K: Eq + Hash,
    V: Clone,
    W: Weighter<K, V> + Clone,
{
    let options = OptionsBuilder::new()
        .shards(SHARD_COUNT)
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
