//! Parallel work on tiles and chunks.

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::Tiles;

use crate::error::Result;
use crate::store::Store;

/// Bytes that are worth another thread: to wake one takes as long as to move about so many bytes.
const WORTH: u64 = 256 << 10;

/// Returns whether so many bytes are worth other threads, for a caller that holds a right to the file.
pub(in crate::data) fn is_worth(store: &Store, bytes: u64) -> bool {
    bytes >= WORTH && store.may_share()
}

/// Returns whether `count` chunks are worth other threads, for a caller that holds no lock.
pub(in crate::data) fn is_worth_concurrently(count: usize, chunk_bytes: usize) -> bool {
    chunks_bytes(count, chunk_bytes) >= WORTH && crate::store::parallel::current_num_threads() > 1
}

/// Returns the bytes of `count` chunks, as an estimate of work. A product that passes 64 bits is as good as the
/// largest number.
pub(in crate::data) fn chunks_bytes(count: usize, chunk_bytes: usize) -> u64 {
    (count as u64).saturating_mul(chunk_bytes as u64)
}

/// Calls `work` with each item; on all threads if `worth` is true. The caller holds a right to the file.
pub(in crate::data) fn map<J: Send, D: Send>(
    store: &Store,
    worth: bool,
    items: Vec<J>,
    work: impl Fn(J) -> Result<D> + Sync,
) -> Result<Vec<D>> {
    if worth && store.may_share() {
        return store.share(|| items.into_par_iter().map(&work).collect());
    }
    items.into_iter().map(work).collect()
}

/// Calls `work` with all tiles, `per_task` at a time. One group of tiles, or `bytes` in all that are not worth another
/// thread, stay on this thread.
pub(in crate::data) fn each_group<'c>(
    store: &Store,
    tiles: Tiles<'c>,
    per_task: usize,
    bytes: u64,
    work: impl Fn(Tiles<'c>) -> Result<()> + Sync,
) -> Result<()> {
    let groups = std::iter::repeat_n(per_task.max(1), tiles.chunks().len().div_ceil(per_task.max(1)));
    each(store, tiles, groups.map(|count| (count, ())), bytes, |tiles, ()| work(tiles))
}

/// Calls `work` with groups of the given numbers of tiles, each with its value.
pub(in crate::data) fn each<'c, T: Send>(
    store: &Store,
    tiles: Tiles<'c>,
    groups: impl IntoIterator<Item = (usize, T)>,
    bytes: u64,
    work: impl Fn(Tiles<'c>, T) -> Result<()> + Sync,
) -> Result<()> {
    let mut rest = tiles;
    let mut tasks = Vec::new();
    for (count, with) in groups {
        let (group, behind) = rest.split_at(count);
        tasks.push((group, with));
        rest = behind;
    }
    if tasks.len() == 1 || bytes < WORTH || !store.may_share() {
        return tasks.into_iter().try_for_each(|(tiles, with)| work(tiles, with));
    }
    store.share(|| tasks.into_par_iter().try_for_each(|(tiles, with)| work(tiles, with)))
}
