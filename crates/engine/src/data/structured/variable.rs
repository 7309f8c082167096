//! Variable-length elements in structured chunks, whose items are in a section of the same chunk.
//!
//! In memory, a chunk has its elements with descriptors of the counted form, and the heap that the
//! descriptors refer to. Reads and writes go through a [`ForeignHeap`], whose descriptors no file
//! uses.

use hyperslab_datatype::convert::VariableSink as _;
use hyperslab_datatype::{Datatype, DatatypeClass};
use hyperslab_format::structured_chunk::{SectionHeap, begin_heap, write_descriptor};

use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};

/// Largest depth of nested variable-length sequences in a datatype of structured chunk elements.
const MAX_DEPTH: usize = 64;

/// Largest number of variable-length data descriptors in one element of a structured chunk.
const MAX_FIELDS: usize = 1 << 16;

/// The places in an element of a datatype that hold descriptors of variable-length data, as byte
/// offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableFields {
    size: usize,
    fields: Vec<Field>,
}

/// A function that returns the variable-length items of an element. The arguments are the element's
/// variable-length descriptor and the size of an item.
type ItemsOf<'a> = dyn Fn(&[u8], usize) -> Result<Vec<u8>> + 'a;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    start: usize,
    size: usize,
    items: VariableFields,
}

impl VariableFields {
    /// Returns the places of variable-length data descriptors in the elements of `datatype`, as
    /// byte offsets.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for sequences that are nested too deeply, and for too many
    /// fields.
    pub fn of(datatype: &Datatype) -> Result<Self> {
        let mut fields = Self { size: datatype.size as usize, fields: Vec::new() };
        fields.collect(datatype, 0, 0)?;
        Ok(fields)
    }

    /// Returns whether elements of a datatype have no variable-length data.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn collect(&mut self, datatype: &Datatype, start: usize, depth: usize) -> Result<()> {
        if !datatype.is_variable_length() {
            return Ok(());
        }
        if depth > MAX_DEPTH || self.fields.len() > MAX_FIELDS {
            return Err(Error::unsupported(
                "a datatype with very many variable-length parts in a sparse dataset",
            ));
        }
        let depth = depth + 1;
        match &datatype.class {
            DatatypeClass::VariableLength(variable) => {
                let mut items = Self { size: variable.base.size as usize, fields: Vec::new() };
                items.collect(&variable.base, 0, depth)?;
                self.fields.push(Field { start, size: datatype.size as usize, items });
            }
            DatatypeClass::Compound(compound) => {
                for member in &compound.members {
                    let at = start + member.offset as usize;
                    self.collect(&member.datatype, at, depth)?;
                }
            }
            DatatypeClass::Array(array) => {
                let size = (array.base.size as usize).max(1);
                for at in (0..(datatype.size as usize) / size).map(|item| item * size) {
                    self.collect(&array.base, start + at, depth)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Copies the variable-length items of `elements` from the heap `from` to a new heap, and
    /// returns the new heap. Changes the variable-length descriptors in `elements`, which then
    /// refer to the new heap.
    ///
    /// # Errors
    /// Returns an error if a descriptor refers to no items. Returns [`Error::Limit`] if the items
    /// take more than `limit` bytes.
    pub fn take(&self, elements: &mut [u8], from: &SectionHeap<'_>, limit: u64) -> Result<Vec<u8>> {
        let mut heap = begin_heap();
        let source = |descriptor: &[u8], item: usize| Ok(from.get(descriptor, item)?.to_vec());
        self.put(elements, &source, &mut heap, limit)?;
        Ok(heap)
    }

    /// Copies the variable-length items of `elements` from the heap `foreign` to the chunk heap
    /// `heap`. Changes the variable-length descriptors in `elements`, which then refer to `heap`.
    ///
    /// # Errors
    /// Returns an error if `foreign` lacks items. Returns [`Error::Limit`] if the items take more
    /// than `limit` bytes.
    pub fn import(
        &self,
        elements: &mut [u8],
        foreign: Option<&ForeignHeap>,
        heap: &mut Vec<u8>,
        limit: u64,
    ) -> Result<()> {
        let source = |descriptor: &[u8], item: usize| {
            if descriptor.iter().all(|byte| *byte == 0) {
                return Ok(Vec::new());
            }
            let found = foreign.map(|foreign| foreign.get(descriptor)).transpose()?.flatten();
            let Some((count, contents)) = found else {
                return Err(Error::unsupported(
                    "copying variable-length data from the global heap into a sparse dataset",
                ));
            };
            let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(item));
            let items = length.and_then(|length| contents.get(..length)).ok_or_else(|| {
                let expected = format!("{count} elements of {item} bytes");
                Error::corrupt("global heap", "object", expected, format_args!("{} bytes", contents.len()))
            })?;
            Ok(items.to_vec())
        };
        self.put(elements, &source, heap, limit)
    }

    /// Copies variable-length items from `source` to the heap `heap`. Changes the descriptors in
    /// `elements`, which then refer to `heap`.
    fn put(&self, elements: &mut [u8], source: &ItemsOf<'_>, heap: &mut Vec<u8>, limit: u64) -> Result<()> {
        for element in elements.chunks_exact_mut(self.size.max(1)) {
            for field in &self.fields {
                let Some(descriptor) = field.of(element) else { continue };
                let mut contents = source(descriptor, field.items.size)?;
                if !field.items.is_empty() {
                    field.items.put(&mut contents, source, heap, limit)?;
                }
                let all = heap.len() as u64 + contents.len() as u64;
                if all > limit {
                    let subject = "structured chunk: bytes of variable-length data".into();
                    return Err(Error::Limit { subject, got: all, limit });
                }
                write_descriptor(descriptor, heap.len() as u64, contents.len() as u64)?;
                heap.extend_from_slice(&contents);
            }
        }
        Ok(())
    }

    /// Copies the variable-length items of `elements` from the heap of a structured chunk to the
    /// heap `foreign` in memory. Changes the descriptors in `elements`, which then refer to
    /// `foreign`.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the items exceed the limit of `foreign`.
    pub fn export(&self, elements: &mut [u8], heap: &SectionHeap<'_>, foreign: &ForeignHeap) -> Result<()> {
        for element in elements.chunks_exact_mut(self.size.max(1)) {
            for field in &self.fields {
                let Some(descriptor) = field.of(element) else { continue };
                let mut contents = heap.get(descriptor, field.items.size)?.to_vec();
                if !field.items.is_empty() {
                    field.items.export(&mut contents, heap, foreign)?;
                }
                let count = contents.len() / field.items.size.max(1);
                foreign.store(&contents, count, descriptor).map_err(Error::from)?;
            }
        }
        Ok(())
    }
}

impl Field {
    fn of<'e>(&self, element: &'e mut [u8]) -> Option<&'e mut [u8]> {
        element.get_mut(self.start..)?.get_mut(..self.size)
    }
}
