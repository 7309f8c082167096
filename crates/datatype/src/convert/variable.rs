//! Conversion of variable-length elements: sequences and strings whose data lie in a heap.
//!
//! An element is a descriptor, which only its heap interprets: a length and a heap index in files,
//! a length and a pointer in the memory of C programs. The data are contiguous items of the base
//! type.

use std::sync::{Arc, Mutex, PoisonError};

use super::error::HeapError;
use super::kernel::Kernel;
use super::rules::{Conversions, Planned};
use super::text::{put_text, text_length};
use super::{ConvertError, Result, size_of};
use crate::{CharacterSet, Datatype, DatatypeClass, StringPadding, VariableLength, VariableLengthKind};

/// A function that [`VariableSource::each`] calls with the number and the items of an element. The
/// items are `None` if the element is null.
pub type AtItems<'a> = dyn FnMut(usize, Option<&[u8]>) -> Result<()> + 'a;

/// A heap that contains the variable-length data of a conversion's source elements.
pub trait VariableSource: std::fmt::Debug + Send + Sync {
    /// Calls `with` with the items of a variable-length element. `descriptor` is the stored form of
    /// the element, and `item_size` is the size of an item in bytes.
    ///
    /// # Errors
    /// [`ConvertError::Heap`] if the descriptor is invalid; the errors of `with`.
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()>;

    /// Returns whether a variable-length element is null: it refers to no data, like a null
    /// pointer. A heap can distinguish null from an empty string. The default implementation
    /// returns `false`.
    fn is_null(&self, descriptor: &[u8]) -> bool {
        let _ = descriptor;
        false
    }

    /// Calls `with` with the number and the items of each of several variable-length elements.
    /// `descriptors` contains the stored forms of the elements, of `size` bytes each.
    ///
    /// The default implementation calls [`is_null`](Self::is_null) and [`items`](Self::items) for
    /// each element. A heap that finds the data of neighbouring elements faster than the data of
    /// single elements should have its own implementation.
    ///
    /// # Errors
    /// The errors of [`items`](Self::items).
    fn each(&self, descriptors: &[u8], size: usize, item_size: usize, with: &mut AtItems<'_>) -> Result<()> {
        for (number, descriptor) in descriptors.chunks_exact(size.max(1)).enumerate() {
            if self.is_null(descriptor) {
                with(number, None)?;
            } else {
                self.items(descriptor, item_size, &mut |items| with(number, Some(items)))?;
            }
        }
        Ok(())
    }
}

/// A heap that receives the variable-length data of a conversion's destination elements.
pub trait VariableSink: std::fmt::Debug + Send + Sync {
    /// Stores the `count` items of a variable-length element in the heap. Writes the stored form of
    /// the element, which refers to these items, to `descriptor`.
    ///
    /// # Errors
    /// [`ConvertError::Heap`] if the heap has no space left.
    fn store(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<()>;

    /// Writes the stored form of a null variable-length element, which refers to no data. The
    /// default implementation writes an element without items, for heaps that do not distinguish
    /// the two.
    ///
    /// # Errors
    /// The errors of [`store`](Self::store).
    fn store_null(&self, descriptor: &mut [u8]) -> Result<()> {
        self.store(&[], 0, descriptor)
    }
}

/// A heap in memory for variable-length data. The descriptor of an element has 16 bytes: the number
/// of items and the position of the first item, both little-endian.
///
/// ```
/// use hyperslab_datatype::convert::{VariableArena, VariableSink, VariableSource};
/// let arena = VariableArena::default();
/// let mut descriptor = [0; 16];
/// arena.store(b"Sommer", 6, &mut descriptor)?;
/// arena.items(&descriptor, 1, &mut |items| {
///     assert_eq!(items, b"Sommer");
///     Ok(())
/// })?;
/// # Ok::<(), hyperslab_datatype::convert::ConvertError>(())
/// ```
#[derive(Debug, Default)]
pub struct VariableArena {
    bytes: Mutex<Vec<u8>>,
}

impl VariableSource for VariableArena {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let items = {
            let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            let find = || {
                let (count, position) = descriptor.split_first_chunk()?;
                let count = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(item_size)?;
                let position = usize::try_from(u64::from_le_bytes(*position.first_chunk()?)).ok()?;
                bytes.get(position..position.checked_add(count)?)
            };
            find().map(<[u8]>::to_vec)
        };
        let invalid = || ConvertError::Heap(HeapError::new("the descriptor points outside of its heap"));
        with(&items.ok_or_else(invalid)?)
    }
}

impl VariableSink for VariableArena {
    fn store(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<()> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let position = bytes.len() as u64;
        let (count_bytes, position_bytes) = ((count as u64).to_le_bytes(), position.to_le_bytes());
        for (to, from) in descriptor.iter_mut().zip(count_bytes.into_iter().chain(position_bytes)) {
            *to = from;
        }
        bytes.extend_from_slice(items);
        Ok(())
    }
}

/// A conversion kernel that converts variable-length sequences item by item.
#[derive(Debug)]
struct Sequences {
    source: Arc<dyn VariableSource>,
    sink: Arc<dyn VariableSink>,
    element_sizes: (usize, usize),
    item_sizes: (usize, usize),
    items: Arc<dyn Kernel>,
}

impl Kernel for Sequences {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let mut converted = Vec::new();
        let (from_size, to_size) = self.item_sizes;
        let mut destinations = destination.chunks_exact_mut(self.element_sizes.1);
        self.source.each(source, self.element_sizes.0, from_size, &mut |at, items| {
            let Some(to) = destinations.next() else { return Ok(()) };
            let Some(items) = items else { return self.sink.store_null(to) };
            let count = items.len().checked_div(from_size).unwrap_or(0);
            if self.items.is_copy() {
                return self.sink.store(items, count, to);
            }
            converted.clear();
            converted.resize(count * to_size, 0);
            let here = |_| at * self.element_sizes.0;
            self.items.run(items, &mut converted).map_err(|error| error.map_index(here))?;
            self.sink.store(&converted, count, to)
        })
    }
}

/// A conversion kernel that converts variable-length strings to strings of fixed length.
#[derive(Debug)]
struct ToFixed {
    source: Arc<dyn VariableSource>,
    element_sizes: (usize, usize),
    padding: StringPadding,
}

impl Kernel for ToFixed {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let mut destinations = destination.chunks_exact_mut(self.element_sizes.1);
        self.source.each(source, self.element_sizes.0, 1, &mut |_, text| {
            let Some(to) = destinations.next() else { return Ok(()) };
            let text = text.unwrap_or(&[]); // A null text is empty.
            let length = text_length(StringPadding::NullTerminated, text);
            put_text(text.get(..length).unwrap_or(text), self.padding, to);
            Ok(())
        })
    }
}

/// A conversion kernel that converts strings of fixed length to variable-length strings.
#[derive(Debug)]
struct FromFixed {
    sink: Arc<dyn VariableSink>,
    element_sizes: (usize, usize),
    padding: StringPadding,
}

impl Kernel for FromFixed {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let sources = source.chunks_exact(self.element_sizes.0);
        for (from, to) in sources.zip(destination.chunks_exact_mut(self.element_sizes.1)) {
            let length = text_length(self.padding, from);
            self.sink.store(from.get(..length).unwrap_or(from), length, to)?;
        }
        Ok(())
    }
}

/// Returns whether elements of two variable-length datatypes can be converted. Both must be
/// sequences, or both must be strings with compatible character sets.
fn are_compatible(from: &VariableLength, to: &VariableLength, conversions: &Conversions) -> bool {
    match (charset(from), charset(to)) {
        (None, None) => true,
        (Some(from), Some(to)) => conversions.may_convert_text(from, to),
        _ => false,
    }
}

/// Returns the character set of a variable-length string datatype; `None` for sequences.
fn charset(variable: &VariableLength) -> Option<CharacterSet> {
    match variable.kind {
        VariableLengthKind::String { charset, .. } => Some(charset),
        VariableLengthKind::Sequence => None,
    }
}

/// Plans the conversion of elements between two variable-length datatypes, or between
/// variable-length and fixed-length strings. Each variable-length side needs a heap.
pub(super) fn rule(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let (Some(source_size), Some(destination_size)) = (size_of(source), size_of(destination)) else {
        return Ok(None);
    };
    let element_sizes = (source_size, destination_size);
    let heaps = (conversions.source_heap(), conversions.destination_heap());
    Ok(match (&source.class, &destination.class, heaps) {
        (
            DatatypeClass::VariableLength(from),
            DatatypeClass::VariableLength(to),
            (Some(source), Some(sink)),
        ) if are_compatible(from, to, conversions) => {
            let items = conversions.kernel(&from.base, &to.base)?;
            let (Some(from_size), Some(to_size)) = (size_of(&from.base), size_of(&to.base)) else {
                return Ok(None);
            };
            let (source, sink) = (Arc::clone(source), Arc::clone(sink));
            let item_sizes = (from_size, to_size);
            Some(Arc::new(Sequences { source, sink, element_sizes, item_sizes, items }))
        }
        (DatatypeClass::VariableLength(from), DatatypeClass::String(to), (Some(source), _))
            if charset(from).is_some_and(|from| conversions.may_convert_text(from, to.charset)) =>
        {
            Some(Arc::new(ToFixed { source: Arc::clone(source), element_sizes, padding: to.padding }))
        }
        (DatatypeClass::String(from), DatatypeClass::VariableLength(to), (_, Some(sink)))
            if charset(to).is_some_and(|to| conversions.may_convert_text(from.charset, to)) =>
        {
            Some(Arc::new(FromFixed { sink: Arc::clone(sink), element_sizes, padding: from.padding }))
        }
        _ => None,
    })
}
