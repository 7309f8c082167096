//! Conversions of elements between datatypes in memory, with functions of users.
//!
//! Conversions without functions of users run in parallel inside reads and writes. Functions of
//! users run on the calling thread only, because they may need locks that the caller holds.

pub mod callback;
pub mod heap;
pub mod reclaim;
pub mod references;
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

/// Returns the conversions of the C library: no conversion between character sets, and values
/// without a counterpart are clamped.
pub fn defaults() -> Conversions {
    Conversions::default()
}

/// The parts of a transfer list that change conversions.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The properties.
    pub transfer: Transfer,
    /// The identifier of the list, for functions of users.
    pub list: hid_t,
    /// The file of the elements, for references.
    pub file: Option<Arc<SharedFile>>,
}

impl Rules {
    /// Returns the rules of a transfer list.
    ///
    /// # Errors
    /// Fails with a bad type for other lists.
    pub fn of(list: hid_t) -> Outcome<Self> {
        if list == H5P_DEFAULT {
            let list = crate::symbols::LIST_DATASET_XFER;
            return Ok(Self { transfer: Transfer::default(), list, file: None });
        }
        Ok(Self { transfer: plist::transfer(list)?, list, file: None })
    }

    /// Returns the rules for elements of a file.
    #[must_use]
    pub fn in_file(self, file: &Arc<SharedFile>) -> Self {
        Self { file: Some(Arc::clone(file)), ..self }
    }

    /// Returns the heap of variable-length data in memory.
    pub fn heap(&self) -> Arc<Heap> {
        Arc::new(Heap { memory: self.transfer.variable_memory })
    }

    /// Returns whether the conversion of elements calls functions of the user.
    pub fn call_user(&self, source: &Datatype, destination: &Datatype) -> bool {
        self.transfer.conversion_callback.function.is_some()
            || self.transfer.variable_memory.allocate.function.is_some()
            || user::may_apply(source, destination)
    }

    /// Returns the conversions between types in memory, with functions of users.
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

    /// Plans a conversion between types in memory.
    ///
    /// # Errors
    /// Fails if no function converts the types.
    pub fn plan(&self, source: &Datatype, destination: &Datatype) -> Outcome<Conversion> {
        let plan = self.conversions().plan(source, destination).map_err(Failure::from);
        plan.map_err(|failure| {
            failure.then(codes::DATATYPE, codes::CANTINIT, "unable to convert between src and dest datatypes")
        })
    }
}
