//! A selection of elements that lie side by side, as requests for bytes.

use hyperslab_dataspace::Selection;

use super::byte_count;
use crate::error::{Error, Result};

/// Runs fetched with one call of the driver.
const BATCH: usize = 1024;

/// Bytes from the first element on, and the buffer they go to.
pub(super) type Request<'a> = (u64, &'a mut [u8]);

/// Hands `fetch` the runs of a selection, batch by batch, with the parts of `out` that they fill.
pub(super) fn fetch_runs(
    dims: &[u64],
    selection: &Selection,
    element_size: usize,
    out: &mut [u8],
    mut fetch: impl FnMut(Vec<Request<'_>>) -> Result<()>,
) -> Result<()> {
    let mut rest = out;
    let mut batch: Vec<Request<'_>> = Vec::new();
    for run in selection.linear_runs(dims)? {
        let length = byte_count(run.length, element_size, "raw data")?;
        let Some((buffer, behind)) = rest.split_at_mut_checked(length) else {
            return Err(Error::Misuse("the buffer holds fewer elements than are selected".into()));
        };
        rest = behind;
        // Saturating: an offset that passes 64 bits lies outside of every file.
        batch.push((run.offset.saturating_mul(element_size as u64), buffer));
        if batch.len() >= BATCH {
            fetch(std::mem::take(&mut batch))?;
        }
    }
    if batch.is_empty() { Ok(()) } else { fetch(batch) }
}
