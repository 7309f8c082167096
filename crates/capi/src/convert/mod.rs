//! Conversions of elements between datatypes in memory, including conversions that call functions
//! of the user.
//!
//! Conversions without callbacks of the user run in parallel inside reads and writes. Functions of
//! the user run on the calling thread only, because they may need locks that the caller holds.

pub mod callback;
pub mod heap;
pub mod reclaim;
pub mod references;
pub mod transform;
pub mod user;

use std::sync::Arc;

use hyperslab::Datatype;
use hyperslab::datatype::convert::{Conversion, Conversions, VariableSource};

use crate::ctypes::{H5P_DEFAULT, hid_t};
use crate::error::{Failure, Outcome, codes};
use crate::file::SharedFile;
use crate::plist;
use crate::plist::settings::Transfer;
use heap::Heap;

/// Returns hyperslab's datatype conversions with the behaviour of the C library: strings keep their
/// character set, and values out of range become the nearest value in range.
pub fn defaults() -> Conversions {
    Conversions::default()
}

/// The settings of one data transfer that affect the conversion of elements.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The properties of the transfer list.
    pub transfer: Transfer,
    /// The identifier of the transfer property list, which callbacks of the user receive.
    pub list: hid_t,
    /// The file that stores the elements, if any. Conversions of references need the file.
    pub file: Option<Arc<SharedFile>>,
}

impl Rules {
    /// Returns the conversion settings that a transfer property list contains.
    ///
    /// # Errors
    /// Fails with a bad type if `list` is not a transfer property list.
    pub fn of(list: hid_t) -> Outcome<Self> {
        if list == H5P_DEFAULT {
            let list = crate::symbols::LIST_DATASET_XFER;
            return Ok(Self { transfer: Transfer::default(), list, file: None });
        }
        Ok(Self { transfer: plist::transfer(list)?, list, file: None })
    }

    /// Returns the conversion settings of the transfer for elements that the given file stores.
    #[must_use]
    pub fn in_file(self, file: &Arc<SharedFile>) -> Self {
        Self { file: Some(Arc::clone(file)), ..self }
    }

    /// Returns the transfer's allocator of variable-length data in the program's memory.
    pub fn heap(&self) -> Arc<Heap> {
        Arc::new(Heap { memory: self.transfer.variable_memory })
    }

    /// Returns whether the conversion between two datatypes calls conversion callbacks of the user.
    pub fn call_user(&self, source: &Datatype, destination: &Datatype) -> bool {
        self.transfer.conversion_callback.function.is_some()
            || self.transfer.variable_memory.allocate.function.is_some()
            || user::may_apply(source, destination)
    }

    /// Returns the available conversions between datatypes in memory, including conversions that
    /// users registered.
    pub fn conversions(&self) -> Conversions {
        let heap = self.heap();
        let source: Arc<dyn VariableSource> = Arc::clone(&heap) as _;
        let conversions = defaults()
            .with(Arc::new(user::Rule { list: self.list }))
            .with_source_heap(source)
            .with_destination_heap(heap);
        let conversions = match &self.file {
            Some(file) => conversions.with(Arc::new(references::Rule { shared: Arc::clone(file) })),
            None => conversions,
        };
        match self.transfer.conversion_callback.function {
            Some(function) => conversions
                .with_exceptions(callback::exceptions(function, self.transfer.conversion_callback.data)),
            None => conversions,
        }
    }

    /// Plans the conversion of elements from one datatype in memory to another.
    ///
    /// # Errors
    /// Fails if no conversion exists between the two datatypes.
    pub fn plan(&self, source: &Datatype, destination: &Datatype) -> Outcome<Conversion> {
        let plan = self.conversions().plan(source, destination).map_err(Failure::from);
        plan.map_err(|failure| {
            failure.then(codes::DATATYPE, codes::CANTINIT, "unable to convert between src and dest datatypes")
        })
    }
}
