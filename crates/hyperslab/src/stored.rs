//! Elements as the file stores them, before any conversion.

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

use crate::datatype::Reference;
use crate::datatype::convert::Conversions;
use crate::{Datatype, H5Type, Reference as Followable, ReferenceTarget, conversion};

/// Texts that are worth a thread.
const TEXTS_PER_TASK: usize = 8192;

/// Elements as the file stores them: bytes after the filters, in the file's own byte order and layout.
///
/// Elements of variable length and references are descriptors here; [`variable_length`](Self::variable_length)
/// and [`reference`](Self::reference) follow them.
#[derive(Clone)]
pub struct Stored {
    file: Arc<OpenFile>,
    datatype: Datatype,
    bytes: Vec<u8>,
    /// What elements hold that come from other files.
    foreign: Option<Arc<ForeignHeap>>,
}

/// The contents of one element of variable length.
#[derive(Debug, Clone)]
pub struct VariableLength {
    value: VariableLengthValue,
}

impl VariableLength {
    /// Number of items of the base type; bytes of a string.
    pub fn count(&self) -> u64 {
        u64::from(self.value.count)
    }

    /// The stored items, `item_size` bytes each.
    ///
    /// # Errors
    /// If the heap holds fewer.
    pub fn items(&self, item_size: usize) -> Result<&[u8]> {
        self.value.items(item_size)
    }
}

/// A file may say of many elements that they hold the same bytes of its heap, which sound files do not. This many
/// times its length is what all elements of one read may hold, ...
const ONCE_MORE: u64 = 16;
/// ... or this many bytes, if that is more.
const LEAST_ROOM: u64 = 1 << 30;

/// Bytes that one thread takes of them at once.
const TAKEN_AT_ONCE: usize = 1 << 14;

/// Bytes that a memory allocator takes for a value besides its own.
const ALLOCATION: usize = 16;

/// How many bytes one read may still hold.
pub(crate) struct Room {
    /// Contents of elements of variable length.
    contents: Bound,
    /// All that the result takes in memory, and the elements as they are stored beside it.
    held: Bound,
}

struct Bound {
    what: &'static str,
    left: AtomicU64,
    limit: u64,
}

impl Bound {
    fn new(what: &'static str, limit: u64) -> Self {
        Self { what, left: AtomicU64::new(limit), limit }
    }

    fn take(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        let taken = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes));
        match taken {
            Ok(_) => Ok(()),
            Err(left) => Err(Error::Limit {
                what: self.what.into(),
                got: self.limit.saturating_sub(left).saturating_add(bytes),
                limit: self.limit,
            }),
        }
    }
}

impl Room {
    /// Takes the contents of so many elements of variable length, that many bytes together.
    fn take(&self, elements: usize, bytes: usize) -> Result<()> {
        self.contents.take(bytes)?;
        self.held.take(bytes.saturating_add(elements.saturating_mul(ALLOCATION)))
    }

    /// Takes the contents of an element of variable length.
    pub(crate) fn take_one(&self, bytes: usize) -> Result<()> {
        // Nothing is allocated for nothing.
        if bytes == 0 { Ok(()) } else { self.take(1, bytes) }
    }

    /// Takes a vector of so many values, and returns it if memory has room for it.
    pub(crate) fn vector<T>(&self, count: usize) -> Result<Vec<T>> {
        self.hold(count, size_of::<T>())?;
        memory::reserve(count, "read")
    }

    /// Takes so many values of so many bytes.
    pub(crate) fn hold(&self, count: usize, size: usize) -> Result<()> {
        self.held.take(count.saturating_mul(size))
    }
}

/// What one thread takes of a room, much at once.
struct Taken<'a> {
    room: &'a Room,
    elements: usize,
    bytes: usize,
}

impl Taken<'_> {
    fn add(&mut self, bytes: usize) -> Result<()> {
        if bytes > 0 {
            self.elements = self.elements.saturating_add(1);
            self.bytes = self.bytes.saturating_add(bytes);
        }
        if self.bytes >= TAKEN_AT_ONCE || self.elements >= TAKEN_AT_ONCE {
            return self.room.take(std::mem::take(&mut self.elements), std::mem::take(&mut self.bytes));
        }
        Ok(())
    }
}

impl Stored {
    pub(crate) fn new(file: Arc<OpenFile>, datatype: Datatype, bytes: Vec<u8>) -> Self {
        Self { file, datatype, bytes, foreign: None }
    }

    /// With what elements hold that come from other files.
    pub(crate) fn with_foreign(mut self, foreign: Arc<ForeignHeap>) -> Self {
        self.foreign = Some(foreign);
        self
    }

    /// Those conversions, for these elements.
    pub(crate) fn conversions(&self, conversions: Conversions) -> Conversions {
        match &self.foreign {
            Some(foreign) => {
                let (file, foreign) = (Arc::clone(&self.file), Arc::clone(foreign));
                conversions.with_source_heap(Arc::new(SharedHeap { file, foreign }))
            }
            None => conversion::with_heap(conversions, &self.file),
        }
    }

    /// The type of the elements.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// The elements, one after the other in C order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(self.datatype.size as usize).unwrap_or(0)
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Each element's bytes.
    pub fn elements(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact((self.datatype.size as usize).max(1))
    }

    /// The contents of an element (or part of one) of variable-length type, by its stored descriptor.
    ///
    /// # Errors
    /// If the descriptor leads nowhere.
    pub fn variable_length(&self, descriptor: &[u8]) -> Result<VariableLength> {
        let value = self.file.variable_length_value(self.foreign.as_deref(), descriptor)?;
        Ok(VariableLength { value })
    }

    /// What an element (or part of one) of that reference type points at, by its stored descriptor.
    ///
    /// # Errors
    /// If the descriptor leads nowhere.
    pub fn reference(&self, kind: Reference, descriptor: &[u8]) -> Result<ReferenceTarget> {
        let container = &self.file.container;
        let target = EngineTarget::read(&container.store, &container.heap, kind, descriptor)?;
        Ok(ReferenceTarget::new(&container.store, target))
    }

    /// An element (or part of one) of that reference type as a reference that can be followed, by its stored descriptor.
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
    /// If the descriptor leads nowhere.
    pub fn follow(&self, kind: Reference, descriptor: &[u8]) -> Result<Followable> {
        Ok(Followable::new(Arc::clone(&self.file), self.reference(kind, descriptor)?))
    }

    /// Room for what is made of the elements: what elements of variable length hold together, and all that is held.
    ///
    /// # Errors
    /// If the elements themselves take more than may be held.
    pub(crate) fn room(&self) -> Result<Room> {
        let store = &self.file.container.store;
        let most = ONCE_MORE.saturating_mul(store.file_length()).max(LEAST_ROOM);
        let limit = store.limits().result_bytes;
        let contents = limit.min(if self.foreign.is_some() { u64::MAX } else { most });
        let room = Room {
            contents: Bound::new("elements of variable length: bytes", contents),
            held: Bound::new("read: bytes held in memory", limit),
        };
        room.hold(self.bytes.len(), 1)?;
        Ok(room)
    }

    /// The elements as values of a Rust type of the same class.
    ///
    /// # Errors
    /// If there is no conversion between the two.
    pub fn convert<T: H5Type>(&self) -> Result<Vec<T>> {
        let conversion = self.conversions(conversion::defaults()).plan(&self.datatype, &T::datatype())?;
        let count = self.len();
        self.room()?.hold(count, size_of::<T>().max(T::SIZE))?;
        T::read_vec(count, |out| Ok(conversion.convert(&self.bytes, out, count)?))
    }

    /// The elements as text: fixed or variable strings, without their padding.
    ///
    /// # Errors
    /// If the elements are no strings, or their bytes no UTF-8.
    pub fn strings(&self) -> Result<Vec<String>> {
        let size = (self.datatype.size as usize).max(1);
        let room = self.room()?;
        // Texts go to their places at once, so that the threads have nothing to join; the first error is kept aside.
        let failed = Mutex::new(None);
        let mut texts = room.vector(self.len())?;
        self.bytes
            .par_chunks_exact(size)
            .with_min_len(TEXTS_PER_TASK)
            .map_init(
                || (self.contents(), Taken { room: &room, elements: 0, bytes: 0 }),
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

    /// The text of an element.
    fn string_in(
        &self,
        element: &[u8],
        contents: &mut VariableLengthReader<'_>,
        taken: &mut Taken<'_>,
    ) -> Result<String> {
        let bytes = self.text_in(&self.datatype, element, contents)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::Misuse(format!("text that is not UTF-8: \"{}\"", bytes.escape_ascii())))?;
        taken.add(text.len())?;
        let mut owned = String::new();
        owned
            .try_reserve_exact(text.len())
            .map_err(|_| Error::Memory { what: "text", bytes: text.len() as u64 })?;
        owned.push_str(text);
        Ok(owned)
    }

    /// Reads the contents of elements.
    fn contents(&self) -> VariableLengthReader<'_> {
        let container = &self.file.container;
        VariableLengthReader::new(&container.store, &container.heap, self.foreign.as_deref())
    }

    /// The text of an element (or part of one) of that type, without its padding.
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
        let behind = |found: Option<usize>| found.map_or(0, |last| last.saturating_add(1));
        let end = match padding {
            StringPadding::NullTerminated => bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()),
            StringPadding::NullPadded => behind(bytes.iter().rposition(|byte| *byte != 0)),
            StringPadding::SpacePadded => behind(bytes.iter().rposition(|byte| *byte != b' ')),
        };
        Ok(bytes.get(..end).unwrap_or(bytes))
    }

    fn no_text(&self) -> Error {
        Error::Misuse(format!("elements of type {} are not text", self.datatype))
    }

    /// Sequences of variable length as vectors of a Rust type of the items' class.
    ///
    /// # Errors
    /// If the elements are no sequences, or there is no conversion.
    pub fn sequences<T: H5Type>(&self) -> Result<Vec<Vec<T>>> {
        let crate::DatatypeClass::VariableLength(variable) = &self.datatype.class else {
            return Err(Error::Misuse(format!("elements of type {} are no sequences", self.datatype)));
        };
        let conversion = self.conversions(conversion::defaults()).plan(&variable.base, &T::datatype())?;
        let item_size = variable.base.size as usize;
        let room = self.room()?;
        let mut sequences = room.vector(self.len())?;
        for element in self.elements() {
            let value = self.variable_length(element)?;
            let items = value.items(item_size)?;
            room.take_one(items.len())?;
            let count = items.len().checked_div(item_size).unwrap_or(0);
            // What the items take beyond their stored bytes.
            room.hold(count, size_of::<T>().max(T::SIZE).saturating_sub(item_size))?;
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
