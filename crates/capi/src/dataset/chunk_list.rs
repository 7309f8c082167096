//! Lists of the stored chunks of a dataset, which serve several calls.
//!
//! A program asks for one chunk in each call. The list of the first call and the flush before it
//! serve the next calls, until the file changes.

use std::sync::Arc;

use hyperslab::ChunkInfo;

use super::DatasetHandle;
use crate::error::Outcome;
use crate::file::H5F_ACC_RDWR;

/// The stored chunks of a dataset, sorted by the coordinates of the chunks, at one generation of
/// the file.
#[derive(Debug, Default)]
pub struct ChunkList {
    /// The generation of the file of the list.
    generation: Option<u64>,
    /// The chunks.
    chunks: Arc<Vec<ChunkInfo>>,
}

/// Returns information about the stored chunks of a dataset, sorted by the coordinates of the
/// chunks.
///
/// # Errors
/// Returns the errors of reading the chunk index.
pub fn list(handle: &DatasetHandle) -> Outcome<Arc<Vec<ChunkInfo>>> {
    let file = &handle.location.shared.file;
    let generation = file.generation();
    {
        let listed = handle.chunks.lock();
        if generation.is_some() && listed.generation == generation {
            return Ok(Arc::clone(&listed.chunks));
        }
    }
    let mut chunks = handle.dataset.chunks().list()?;
    chunks.sort_by(|one, other| one.offset.cmp(&other.offset));
    let chunks = Arc::new(chunks);
    // Without a change in the meantime, the list is that of the generation.
    if file.generation() == generation {
        *handle.chunks.lock() = ChunkList { generation, chunks: Arc::clone(&chunks) };
    }
    Ok(chunks)
}

/// Writes the dirty data of the dataset's file, so that programs find the chunks at their addresses
/// when they read the file without the library. Does nothing if the file has not changed since the
/// last call.
///
/// # Errors
/// Returns filter and I/O errors.
pub fn write(handle: &DatasetHandle) -> Outcome<()> {
    let shared = &handle.location.shared;
    if *shared.flags.read() & H5F_ACC_RDWR == 0 {
        return Ok(());
    }
    let mut generation = shared.file.generation();
    if generation.is_some() && *shared.written.lock() == generation {
        return Ok(());
    }
    // The flush of dirty data changes the generation, and so does another thread. A flush without
    // a change of the generation has left nothing to write.
    for _ in 0..2 {
        shared.file.flush()?;
        let after = shared.file.generation();
        if after == generation {
            *shared.written.lock() = generation;
            break;
        }
        generation = after;
    }
    Ok(())
}

/// Writes the dirty data of the dataset's file, and returns its list of chunks.
///
/// # Errors
/// Returns the errors of [`write()`] and [`list`].
pub fn written(handle: &DatasetHandle) -> Outcome<Arc<Vec<ChunkInfo>>> {
    write(handle)?;
    list(handle)
}
