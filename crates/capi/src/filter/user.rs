//! The adapter from a filter of a user to the filter trait of hyperslab.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use hyperslab::Dataspace;
use hyperslab::filter::{
    DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace,
};
use parking_lot::ReentrantMutex;

use super::class::FilterClass;
use crate::ctypes::hid_t;
use crate::id::{self, Entry, register};
use crate::plist::settings::{FilterEntry, LayoutChoice, Settings};
use crate::plist::{PropertyList, classes::PropertyClass};
use crate::pointer::Buffer;
use crate::space::CSpace;
use crate::{call_user, memory};

/// The flag that requests decoding in a call of a filter's function (`H5Z_FLAG_REVERSE`).
const REVERSE: c_uint = 0x100;
/// The flag in a call of a filter's function that omits the verification of checksums
/// (`H5Z_FLAG_SKIP_EDC`).
const SKIP_CHECK: c_uint = 0x200;

/// The lock that a thread holds while it runs a user's filter function. The functions of filters
/// may rely on calls by one thread at a time, as libhdf5 makes them. A filter function may read
/// data with other user filters, so the thread may lock again.
static CALLS: ReentrantMutex<()> = ReentrantMutex::new(());

/// A filter that a user registered or that a plugin provides, with its C functions.
#[derive(Debug)]
pub struct UserFilter {
    /// The description and the functions of the filter.
    pub class: FilterClass,
}

/// A memory block with chunk bytes from C's allocator. A filter's function may replace the block.
/// The block is freed on drop.
struct Block(*mut c_void);

impl Drop for Block {
    fn drop(&mut self) {
        memory::free(self.0);
    }
}

/// Temporary identifiers for a call of a user's filter function. The identifiers are released on
/// drop.
struct Temporary(Vec<hid_t>);

impl Drop for Temporary {
    fn drop(&mut self) {
        for id in &self.0 {
            drop(id::take(*id));
        }
    }
}

impl UserFilter {
    /// Calls the function of a user's filter to encode or decode the bytes of a chunk. Calls `with`
    /// with the result.
    fn run<T>(
        &self,
        flags: c_uint,
        context: &FilterContext<'_>,
        input: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let id = self.id();
        let flags = flags | if context.verify { 0 } else { SKIP_CHECK };
        let mut block = Block(memory::copy(input));
        if block.0.is_null() {
            return Err(FilterError::Memory { id, bytes: input.len() });
        }
        let mut size = input.len().max(1);
        let data = context.client_data;
        let length = {
            let _one_at_a_time = CALLS.lock();
            call_user!(
                self.class.filter,
                flags,
                data.len(),
                data.as_ptr(),
                input.len(),
                &raw mut size,
                &raw mut block.0
            )
        };
        let decodes = flags & REVERSE != 0;
        if length == 0 || block.0.is_null() {
            return Err(if decodes {
                FilterError::corrupt(id, "the filter's function failed")
            } else {
                FilterError::failed(id, "the filter's function failed")
            });
        }
        if decodes && length > context.max_output {
            return Err(FilterError::Limit { id, limit: context.max_output });
        }
        let bytes = Buffer::of(block.0).bytes(length, "result");
        let bytes = bytes.map_err(|_| FilterError::failed(id, "the filter's result has no bytes"))?;
        Ok(with(bytes))
    }

    /// Fails if the filter cannot decode.
    fn check_decoder(&self) -> Result<()> {
        if self.class.decoder_present {
            return Ok(());
        }
        Err(FilterError::Unsupported { id: self.id(), subject: "decoding".to_owned() })
    }

    /// Returns temporary identifiers for the functions of a user's filter: a creation list with
    /// this filter, the datatype, and the chunk's dataspace.
    fn identifiers(&self, requested: &[u32], facts: &DatasetFacts<'_>) -> Option<(Temporary, [hid_t; 3])> {
        let class: Arc<PropertyClass> = match id::find(crate::symbols::CLASS_DATASET_CREATE) {
            Some(Entry::PropertyClass(class)) => class,
            _ => return None,
        };
        let list = PropertyList::new(class);
        if let Settings::DatasetCreate(it) = &mut *list.settings.write() {
            (it.layout, it.chunk) = (LayoutChoice::Chunked, facts.chunk.to_vec());
            let id = c_int::from(self.class.id);
            it.filters.push(FilterEntry { id, flags: 0, data: requested.to_vec(), name: None });
        }
        let list = register(Entry::PropertyList(Arc::new(list)));
        let datatype = crate::datatype::register(crate::datatype::form::memory(facts.datatype));
        let space = crate::space::register(CSpace::all(Dataspace::simple(facts.chunk)));
        let all = [list, datatype, space];
        Some((Temporary(all.to_vec()), all))
    }

    /// Returns the error for a call of a user's filter after the library was closed. At that time,
    /// no identifiers exist.
    fn without_identifiers(&self) -> FilterError {
        FilterError::refused(self.id(), "the library has been closed")
    }
}

/// Returns a function that replaces the content of `output` by the result of a filter.
fn replace(output: &mut Vec<u8>) -> impl FnOnce(&[u8]) -> Produced {
    |bytes| {
        output.clear();
        output.extend_from_slice(bytes);
        Produced::Output
    }
}

impl Filter for UserFilter {
    fn id(&self) -> FilterId {
        FilterId(self.class.id)
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.check_decoder()?;
        self.run(REVERSE, context, input, replace(output))
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        _: &mut Workspace,
    ) -> Result<usize> {
        self.check_decoder()?;
        self.run(REVERSE, context, input, |bytes| {
            let count = bytes.len().min(output.len());
            output.split_at_mut(count).0.copy_from_slice(bytes.split_at(count).0);
            bytes.len()
        })
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        if !self.class.encoder_present {
            return Err(FilterError::Unsupported { id: self.id(), subject: "encoding".to_owned() });
        }
        self.run(0, context, input, replace(output))
    }

    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize> {
        let _ = (context, input);
        None
    }

    fn compresses(&self) -> bool {
        false
    }

    fn can_encode(&self) -> bool {
        self.class.encoder_present
    }

    /// Returns false: libhdf5 calls filters on the thread of the caller, one at a time, and the C
    /// functions may rely on that. Many of them hold a lock of their own, so that several threads
    /// would only wait for each other.
    fn allows_threads(&self) -> bool {
        false
    }

    fn check_dataset(&self, dataset: &DatasetFacts<'_>) -> Result<()> {
        let Some(can_apply) = self.class.can_apply else { return Ok(()) };
        let made = self.identifiers(&[], dataset);
        let (_temporary, [list, datatype, space]) = made.ok_or_else(|| self.without_identifiers())?;
        if call_user!(can_apply, list, datatype, space) > 0 {
            return Ok(());
        }
        Err(FilterError::refused(self.id(), "the filter's function refuses the dataset"))
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let Some(set_local) = self.class.set_local else { return Ok(requested.to_vec()) };
        let made = self.identifiers(requested, dataset);
        let (_temporary, [list, datatype, space]) = made.ok_or_else(|| self.without_identifiers())?;
        if call_user!(set_local, list, datatype, space) < 0 {
            return Err(FilterError::refused(self.id(), "the filter's function refuses the parameters"));
        }
        let id = c_int::from(self.class.id);
        let properties = crate::plist::dataset_create(list).map_err(|_| self.without_identifiers())?;
        let entry = properties.filters.into_iter().find(|entry| entry.id == id);
        Ok(entry.map_or_else(|| requested.to_vec(), |entry| entry.data))
    }
}
