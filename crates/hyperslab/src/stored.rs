//! Elements of datasets and attributes in the stored form.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_engine::memory;
use hyperslab_engine::ops::elements::{
    ForeignHeap, ReferenceTarget as EngineTarget, VariableLengthReader, VariableLengthValue,
};
use hyperslab_engine::ops::{OpenFile, SharedHeap};
use hyperslab_engine::store::parallel::prelude::*;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::{to_u64, to_usize};

use crate::datatype::Reference;
use crate::datatype::convert::{Conversion, Conversions};
use crate::{Datatype, H5Type, Reference as Followable, ReferenceTarget, conversion};

/// The smallest number of texts in stored elements for which the conversion starts a separate
/// thread.
const TEXTS_PER_TASK: usize = 8192;

/// Elements of a dataset or attribute in the stored form: decoded by the filters, in the byte order
/// and memory layout of the file.
///
/// Elements of variable length and references are descriptors in this form;
/// [`variable_length`](Self::variable_length) and [`reference`](Self::reference) resolve them.
///
/// ```
/// # let file = hyperslab::FileOptions::new().create_in_memory()?;
/// use hyperslab::{Datatype, datatype::ByteOrder::BigEndian};
/// let dataset = file.new_dataset("a").datatype(Datatype::u16(BigEndian)).write(&[1_u16, 2])?;
/// let stored = dataset.read_stored(..)?;
/// assert_eq!(stored.bytes(), [0, 1, 0, 2]);
/// assert_eq!(stored.convert::<u64>()?, [1, 2]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Stored {
    file: Arc<OpenFile>,
    datatype: Datatype,
    bytes: Vec<u8>,
    /// The variable-length data of elements that come from other files or from structured chunks.
    foreign: Option<Arc<ForeignHeap>>,
}

/// The variable-length data of one element: a string or a sequence.
#[derive(Debug, Clone)]
pub struct VariableLength {
    value: VariableLengthValue,
}

impl VariableLength {
    /// Returns the number of items of the variable-length sequence. For a string, this is the
    /// number of bytes.
    pub fn count(&self) -> u64 {
        u64::from(self.value.count)
    }

    /// Returns the bytes of the stored items of the variable-length sequence or string. Each item
    /// has `item_size` bytes.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the heap holds fewer bytes.
    pub fn items(&self, item_size: usize) -> Result<&[u8]> {
        self.value.items(item_size)
    }
}

/// The limit on the variable-length data of one read, as a multiple of the file length. In valid
/// files no two elements share heap data. In a damaged file, many elements can refer to the same
/// bytes.
const MAX_FILE_LENGTHS: u64 = 16;

/// The smallest limit on the variable-length data of one read, in bytes.
const MIN_CONTENT_LIMIT_BYTES: u64 = 1 << 30;

/// The number of bytes, or of elements, after which a thread subtracts its memory from the shared
/// memory budget. All threads of one read of variable-length data share this budget.
const BATCH_BYTES: usize = 1 << 14;

/// The estimated overhead in bytes of one memory allocation for variable-length data.
const ALLOCATION_BYTES: u64 = 16;

/// The memory that one read of variable-length data may still use.
pub(crate) struct ReadBudget {
    /// The limit on variable-length data.
    contents: ByteBudget,
    /// The limit on all memory that the result takes, including its stored form.
    held: ByteBudget,
}

struct ByteBudget {
    subject: &'static str,
    remaining: AtomicU64,
    limit: u64,
}

impl ByteBudget {
    fn new(subject: &'static str, limit: u64) -> Self {
        Self { subject, remaining: AtomicU64::new(limit), limit }
    }

    fn take(&self, bytes: u64) -> Result<()> {
        let taken = self.remaining.fetch_update(Relaxed, Relaxed, |remaining| remaining.checked_sub(bytes));
        match taken {
            Ok(_) => Ok(()),
            // Saturates, because the sum is only reported.
            Err(remaining) => Err(self.exceeded((self.limit - remaining).saturating_add(bytes))),
        }
    }

    fn exceeded(&self, got: u64) -> Error {
        Error::Limit { subject: self.subject.into(), got, limit: self.limit }
    }
}

impl ReadBudget {
    /// Takes the memory for variable-length data of a batch of elements from the memory budget of a
    /// read. The batch has at most `BATCH_BYTES` elements, and the data has `bytes` bytes in total.
    fn take(&self, elements: usize, bytes: usize) -> Result<()> {
        let (elements, bytes) = (to_u64(elements), to_u64(bytes));
        self.contents.take(bytes)?;
        // Cannot overflow: `bytes` is a length in memory, below 2^63, and `elements` is small.
        self.held.take(bytes + elements * ALLOCATION_BYTES)
    }

    /// Takes the memory for the variable-length data of one element from the memory budget of a
    /// read.
    pub(crate) fn take_one(&self, bytes: usize) -> Result<()> {
        // An empty value needs no allocation.
        if bytes == 0 { Ok(()) } else { self.take(1, bytes) }
    }

    /// Allocates a vector for `count` values, and subtracts its memory from the memory budget of a
    /// read.
    pub(crate) fn vector<T>(&self, count: usize) -> Result<Vec<T>> {
        self.hold(count, size_of::<T>())?;
        memory::reserve(count, "read")
    }

    /// Allocates a buffer for `count` values of `size` bytes, and subtracts its memory from the
    /// memory budget of a read.
    pub(crate) fn buffer(&self, count: usize, size: usize) -> Result<Vec<u8>> {
        memory::reserve(to_usize(self.hold(count, size)?)?, "read")
    }

    /// Subtracts memory that a read holds from the memory budget of the read: `count` values of
    /// `size` bytes. Returns the size of all values in bytes.
    pub(crate) fn hold(&self, count: usize, size: usize) -> Result<u64> {
        let bytes = to_u64(count).checked_mul(to_u64(size));
        let bytes = bytes.ok_or_else(|| self.held.exceeded(u64::MAX))?;
        self.held.take(bytes).map(|()| bytes)
    }
}

/// The memory that one thread of a read has used, but has not yet subtracted from the shared memory
/// budget.
struct TakenBatch<'a> {
    budget: &'a ReadBudget,
    elements: usize,
    bytes: usize,
}

impl TakenBatch<'_> {
    fn add(&mut self, bytes: usize) -> Result<()> {
        if bytes > 0 {
            // Cannot overflow: both are below `BATCH_BYTES`, and `bytes` is a length in
            // memory.
            self.elements += 1;
            self.bytes += bytes;
        }
        if self.bytes >= BATCH_BYTES || self.elements >= BATCH_BYTES {
            return self.budget.take(std::mem::take(&mut self.elements), std::mem::take(&mut self.bytes));
        }
        Ok(())
    }
}

impl Stored {
    pub(crate) fn new(file: Arc<OpenFile>, datatype: Datatype, bytes: Vec<u8>) -> Self {
        Self { file, datatype, bytes, foreign: None }
    }

    /// Replaces the bytes of the stored elements by the result of the function `map`, which gets
    /// the bytes and the size of an element.
    pub(crate) fn map_bytes(mut self, map: impl FnOnce(&[u8], usize) -> Result<Vec<u8>>) -> Result<Self> {
        self.bytes = map(&self.bytes, self.datatype.size as usize)?;
        Ok(self)
    }

    /// Adds variable-length data from other files or from structured chunks to the stored elements,
    /// and returns the elements.
    pub(crate) fn with_foreign(mut self, foreign: Arc<ForeignHeap>) -> Self {
        self.foreign = Some(foreign);
        self
    }

    /// Returns the datatype conversions `conversions`, extended by the heap that holds the
    /// variable-length data of the stored elements.
    pub(crate) fn conversions(&self, conversions: Conversions) -> Conversions {
        match &self.foreign {
            Some(foreign) => {
                let (file, foreign) = (Arc::clone(&self.file), Arc::clone(foreign));
                conversions.with_source_heap(Arc::new(SharedHeap { file, foreign }))
            }
            None => conversion::with_heap(conversions, &self.file),
        }
    }

    /// Plans the conversion of the stored elements to the datatype `memory`. The destination heap
    /// of `conversions` gets the variable-length data.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if there is no conversion.
    pub fn plan(&self, memory: &Datatype, conversions: &Conversions) -> Result<Conversion> {
        Ok(self.conversions(conversions.clone()).plan(&self.datatype, memory)?)
    }

    /// Returns the datatype of the stored elements.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Returns the bytes of all stored elements, in the order of the selection that was read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of stored elements.
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(self.datatype.size as usize).unwrap_or(0)
    }

    /// Returns `true` if there are no stored elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns an iterator over the bytes of each stored element.
    pub fn elements(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact((self.datatype.size as usize).max(1))
    }

    /// Returns the variable-length data of a stored element, or of a part of the element.
    /// `descriptor` is the stored form of the element or part, which refers to the data.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the heap has no such data.
    pub fn variable_length(&self, descriptor: &[u8]) -> Result<VariableLength> {
        let value = self.file.variable_length_value(self.foreign.as_deref(), descriptor)?;
        Ok(VariableLength { value })
    }

    /// Returns the target of a reference in the stored elements. `descriptor` is the stored form of
    /// the reference: a stored element or a part of one. `kind` is the kind of the reference.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the descriptor is damaged or
    /// the heap has no such data.
    pub fn reference(&self, kind: Reference, descriptor: &[u8]) -> Result<ReferenceTarget> {
        let container = &self.file.container;
        let target = EngineTarget::read(&container.store, &container.heap, kind, descriptor)?;
        Ok(ReferenceTarget::new(&container.store, target))
    }

    /// Returns a reference in the stored elements as a [`Reference`], which can open its target.
    /// `descriptor` is the stored form of the reference: a stored element or a part of one. `kind`
    /// is the kind of the reference.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/references_latest.h5");
    /// # let file = hyperslab::File::open(path)?;
    /// let stored = file.dataset("regions")?.read_stored(..)?;
    /// if let hyperslab::DatatypeClass::Reference(kind) = &stored.datatype().class {
    ///     for element in stored.elements() {
    ///         let reference = stored.follow(*kind, element)?;
    ///         assert!(reference.is_null() || reference.region().is_ok());
    ///     }
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`reference`](Self::reference).
    pub fn follow(&self, kind: Reference, descriptor: &[u8]) -> Result<Followable> {
        Ok(Followable::new(Arc::clone(&self.file), self.reference(kind, descriptor)?))
    }

    /// Returns the memory budget for the conversion of these stored elements to other values. The
    /// budget excludes the stored elements themselves.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the stored elements exceed the limit.
    pub(crate) fn budget(&self) -> Result<ReadBudget> {
        let store = &self.file.container.store;
        let limit = store.limits().result_bytes;
        let by_file = match self.foreign {
            Some(_) => None,
            None => store.file_length().checked_mul(MAX_FILE_LENGTHS),
        };
        let contents = by_file.map_or(limit, |maximum| limit.min(maximum.max(MIN_CONTENT_LIMIT_BYTES)));
        let budget = ReadBudget {
            contents: ByteBudget::new("elements of variable length: bytes", contents),
            held: ByteBudget::new("read: bytes held in memory", limit),
        };
        budget.hold(self.bytes.len(), 1)?;
        Ok(budget)
    }

    /// Converts the stored elements to values of a Rust type.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if there is no conversion from the
    /// datatype to `T`, and [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the result exceeds
    /// [`Limits::result_bytes`](crate::Limits::result_bytes).
    pub fn convert<T: H5Type>(&self) -> Result<Vec<T>> {
        let conversion = conversion::to_rust::<T>(&self.conversions(conversion::defaults()), &self.datatype)?;
        let count = self.len();
        self.budget()?.hold(count, size_of::<T>().max(T::SIZE))?;
        T::read_vec(count, |out| Ok(conversion.convert(&self.bytes, out, count)?))
    }

    /// Returns stored elements that are strings of fixed or variable length as texts, without
    /// padding.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not strings or
    /// not UTF-8, [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if they refer to heap data that
    /// does not exist, and [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the result exceeds
    /// [`Limits::result_bytes`](crate::Limits::result_bytes).
    pub fn strings(&self) -> Result<Vec<String>> {
        let size = (self.datatype.size as usize).max(1);
        let budget = self.budget()?;
        // Each thread writes texts directly into the result, so that no partial results must be
        // joined. The first error is kept here.
        let failed = Mutex::new(None);
        let mut texts = budget.vector(self.len())?;
        self.bytes
            .par_chunks_exact(size)
            .with_min_len(TEXTS_PER_TASK)
            .map_init(
                || (self.contents(), TakenBatch { budget: &budget, elements: 0, bytes: 0 }),
                |(contents, taken), element| {
                    self.string_in(element, contents, taken).unwrap_or_else(|error| {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        String::new()
                    })
                },
            )
            .collect_into_vec(&mut texts);
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(texts),
        }
    }

    /// Returns the text of one stored element that is a string.
    fn string_in(
        &self,
        element: &[u8],
        contents: &mut VariableLengthReader<'_>,
        taken: &mut TakenBatch<'_>,
    ) -> Result<String> {
        let bytes = self.text_in(&self.datatype, element, contents)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::Misuse(format!("the text \"{}\" is not UTF-8", bytes.escape_ascii())))?;
        taken.add(text.len())?;
        let mut owned = String::new();
        owned
            .try_reserve_exact(text.len())
            .map_err(|_| Error::Memory { subject: "text", bytes: to_u64(text.len()) })?;
        owned.push_str(text);
        Ok(owned)
    }

    /// Returns a reader of the contents of variable-length elements: the data in heaps to which the
    /// stored elements refer.
    fn contents(&self) -> VariableLengthReader<'_> {
        let container = &self.file.container;
        VariableLengthReader::new(&container.store, &container.heap, self.foreign.as_deref())
    }

    /// Returns the bytes of the text of a stored element, or of a part of the element, without
    /// padding. `datatype` is the type of `element`.
    pub(crate) fn text_of(&self, datatype: &Datatype, element: &[u8]) -> Result<Vec<u8>> {
        Ok(self.text_in(datatype, element, &mut self.contents())?.to_vec())
    }

    fn text_in<'a>(
        &self,
        datatype: &Datatype,
        element: &'a [u8],
        contents: &'a mut VariableLengthReader<'_>,
    ) -> Result<&'a [u8]> {
        use crate::DatatypeClass;
        use crate::datatype::{StringPadding, VariableLengthKind};
        let (bytes, padding) = match &datatype.class {
            DatatypeClass::String(string) => (element, string.padding),
            DatatypeClass::VariableLength(variable) => match variable.kind {
                VariableLengthKind::String { padding, .. } => (contents.items(element, 1)?, padding),
                VariableLengthKind::Sequence => return Err(self.no_text()),
            },
            _ => return Err(self.no_text()),
        };
        let after = |last: Option<usize>| last.map_or(0, |last| last + 1);
        let end = match padding {
            StringPadding::NullTerminated => bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()),
            StringPadding::NullPadded => after(bytes.iter().rposition(|byte| *byte != 0)),
            StringPadding::SpacePadded => after(bytes.iter().rposition(|byte| *byte != b' ')),
        };
        bytes.get(..end).ok_or_else(|| Error::internal("string", "the text ends within the element"))
    }

    fn no_text(&self) -> Error {
        Error::Misuse(format!("elements of type {} are not text", self.datatype))
    }

    /// Returns stored elements that are variable-length sequences as vectors of a Rust type.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not sequences or
    /// there is no conversion from the items to `T`,
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if they refer to heap data that does not
    /// exist, and [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the result exceeds
    /// [`Limits::result_bytes`](crate::Limits::result_bytes).
    pub fn sequences<T: H5Type>(&self) -> Result<Vec<Vec<T>>> {
        let crate::DatatypeClass::VariableLength(variable) = &self.datatype.class else {
            return Err(Error::Misuse(format!("elements of type {} are not sequences", self.datatype)));
        };
        let conversion = conversion::to_rust::<T>(&self.conversions(conversion::defaults()), &variable.base)?;
        let item_size = variable.base.size as usize;
        let budget = self.budget()?;
        let mut sequences = budget.vector(self.len())?;
        for element in self.elements() {
            let value = self.variable_length(element)?;
            let items = value.items(item_size)?;
            budget.take_one(items.len())?;
            let count = items.len().checked_div(item_size).unwrap_or(0);
            // The budget for `items` is taken already; this takes the additional bytes of
            // converted items.
            budget.hold(count, size_of::<T>().max(T::SIZE).max(item_size) - item_size)?;
            let items = T::read_vec(count, |out| conversion.convert(items, out, count));
            sequences.push(items.map_err(Error::from)?);
        }
        Ok(sequences)
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored({} elements of {})", self.len(), self.datatype)
    }
}
