//! Parallel work on chunks and on tiles, the parts of a selection in single chunks.

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::Tiles;
use hyperslab_exact::to_u64;
use hyperslab_filter::Pipeline;

use crate::error::Result;
use crate::store::Store;

/// Smallest number of bytes of raw data for which an operation uses several threads. Waking a
/// thread takes about as long as copying this many bytes.
const MIN_PARALLEL_BYTES: u128 = 256 << 10;

/// Returns whether an operation on `bytes` bytes of raw data should use several threads. The caller
/// holds a lock of the file.
pub(in crate::data) fn use_threads(store: &Store, bytes: impl Into<u128>) -> bool {
    bytes.into() >= MIN_PARALLEL_BYTES && store.may_share()
}

/// Returns whether an operation that runs `pipeline` on chunks of `bytes` bytes together should use
/// several threads. The caller holds a lock of the file.
pub(in crate::data) fn use_threads_for(store: &Store, pipeline: &Pipeline, bytes: impl Into<u128>) -> bool {
    use_threads(store, bytes) && pipeline.allows_threads(&store.filters())
}

/// Returns whether an operation that runs `pipeline` on `count` chunks should use several threads.
/// The caller holds no lock of the file.
pub(in crate::data) fn use_threads_unlocked(
    store: &Store,
    pipeline: &Pipeline,
    count: usize,
    chunk_bytes: usize,
) -> bool {
    chunks_bytes(count, chunk_bytes) >= MIN_PARALLEL_BYTES
        && crate::store::parallel::current_num_threads() > 1
        && pipeline.allows_threads(&store.filters())
}

/// Returns the total size in bytes of `count` decoded chunks of `chunk_bytes` bytes. The size has
/// 128 bits and cannot overflow.
pub(in crate::data) fn chunks_bytes(count: usize, chunk_bytes: usize) -> u128 {
    u128::from(to_u64(count)) * u128::from(to_u64(chunk_bytes))
}

/// Calls `work` with each item of a list, on several threads if `parallel` is true, and returns the
/// results. The caller holds a lock of the file.
pub(in crate::data) fn map<J: Send, D: Send>(
    store: &Store,
    parallel: bool,
    items: Vec<J>,
    work: impl Fn(J) -> Result<D> + Sync,
) -> Result<Vec<D>> {
    if parallel && store.may_share() {
        return store.share(|| items.into_par_iter().map(&work).collect());
    }
    items.into_iter().map(work).collect()
}

/// Divides the tiles of a selection (its parts in single chunks or blocks) into groups of
/// `per_task` tiles. Calls `work` with each group. A single group, or groups with few `bytes`, run
/// on the calling thread.
pub(in crate::data) fn each_group<'c>(
    store: &Store,
    tiles: Tiles<'c>,
    per_task: usize,
    bytes: impl Into<u128>,
    work: impl Fn(Tiles<'c>) -> Result<()> + Sync,
) -> Result<()> {
    let groups = std::iter::repeat_n(per_task.max(1), tiles.chunks().len().div_ceil(per_task.max(1)));
    each(store, tiles, groups.map(|count| (count, ())), bytes, |tiles, ()| work(tiles))
}

/// Divides the tiles of a selection (its parts in single chunks or blocks) into groups of the given
/// sizes. Calls `work` with each group of tiles and with the value that `groups` pairs with its
/// size.
pub(in crate::data) fn each<'c, T: Send>(
    store: &Store,
    tiles: Tiles<'c>,
    groups: impl IntoIterator<Item = (usize, T)>,
    bytes: impl Into<u128>,
    work: impl Fn(Tiles<'c>, T) -> Result<()> + Sync,
) -> Result<()> {
    let mut rest = tiles;
    let mut tasks = Vec::new();
    for (count, value) in groups {
        let (group, after) = rest.split_at(count);
        tasks.push((group, value));
        rest = after;
    }
    if tasks.len() == 1 || bytes.into() < MIN_PARALLEL_BYTES || !store.may_share() {
        return tasks.into_iter().try_for_each(|(tiles, value)| work(tiles, value));
    }
    store.share(|| tasks.into_par_iter().try_for_each(|(tiles, value)| work(tiles, value)))
}
