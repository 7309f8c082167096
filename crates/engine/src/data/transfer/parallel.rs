//! Tiles in groups, side by side on several threads.

use hyperslab_dataspace::Tiles;
use rayon::prelude::*;

use crate::error::Result;
use crate::store::Store;

/// Bytes that are worth other threads: to wake one takes as long as to move about so many.
const WORTH: u64 = 256 << 10;

/// Whether moving so many bytes is worth other threads, for those who hold the file.
pub(in crate::data) fn is_worth(store: &Store, bytes: u64) -> bool {
    bytes >= WORTH && store.may_share()
}

/// As [`is_worth`], of `count` chunks, for those who hold no lock.
pub(in crate::data) fn is_worth_concurrently(count: usize, chunk_bytes: usize) -> bool {
    chunks_bytes(count, chunk_bytes) >= WORTH && rayon::current_num_threads() > 1
}

/// Returns the bytes of `count` chunks, to weigh work: a product that passes 64 bits is as good as the largest number.
pub(in crate::data) fn chunks_bytes(count: usize, chunk_bytes: usize) -> u64 {
    (count as u64).saturating_mul(chunk_bytes as u64)
}

/// Does something with each of some items, on all threads if that is `worth` it, while the caller holds the file.
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

/// Hands all tiles to `work`, `per_task` at a time. They stay on this thread if they are one group, or if what is to
/// be moved, `bytes` in all, is not worth another one.
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

/// As [`each_group`], in groups of the given numbers of tiles, each with what else belongs to it.
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
