//! The use of a file by other programs, other threads and open handles.

use std::sync::Arc;

use super::callbacks::Callbacks;
use super::locking::FileLock;
use super::open_objects::OpenObjects;
use super::swmr_reader::SwmrReader;
use super::swmr_writer::SwmrWriter;
use super::threads::Threads;

/// The state of an open file that concerns other programs, other threads and open handles.
#[derive(Debug)]
pub(super) struct Sharing {
    /// The lock of the file, released after the last write.
    pub(super) lock: FileLock,
    /// The state of SWMR writing.
    pub(super) swmr_writer: SwmrWriter,
    /// The state of SWMR reading, if another program may write the file.
    pub(super) swmr_reader: Option<SwmrReader>,
    pub(super) threads: Threads,
    /// The objects with handles.
    pub(super) open_objects: Arc<OpenObjects>,
    /// The threads that run a callback while they hold the file.
    pub(super) callbacks: Callbacks,
}

impl Sharing {
    /// Creates the state of an open file, which was just locked, that concerns other programs,
    /// other threads and handles.
    pub(super) fn new(lock: FileLock, is_swmr_reader: bool) -> Self {
        Self {
            lock,
            swmr_writer: SwmrWriter::default(),
            swmr_reader: is_swmr_reader.then(SwmrReader::default),
            threads: Threads::default(),
            open_objects: Arc::default(),
            callbacks: Callbacks::default(),
        }
    }
}
