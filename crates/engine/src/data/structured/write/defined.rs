//! Writes of sets of defined elements to structured chunks: of whole chunks, and of the elements of
//! a box that the caller states to be defined.

use hyperslab_dataspace::{DefinedBuilder, DefinedSet, Dims, Ordered, Region, Selection};

use super::{StructuredWriter, StructuredWriting, Update};
use crate::data::transfer::{byte_count, parallel};
use crate::error::{Error, Result};

/// A function that returns whether an element of a sparse dataset is defined. The arguments are the
/// element's index in a box and the element's bytes.
pub type IsDefined<'a> = dyn Fn(u64, &[u8]) -> bool + Sync + 'a;

impl StructuredWriter {
    /// Writes defined elements to the structured chunks of a dataset. The arguments state, for each
    /// chunk, its coordinates, the set of written elements, and their stored values.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the number of values is wrong. Returns errors of filters and
    /// the driver.
    pub fn write_defined(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        chunks: Vec<(Dims, DefinedSet, Vec<u8>)>,
    ) -> Result<()> {
        let mut updates = Vec::with_capacity(chunks.len());
        for (scaled, defined, values) in chunks {
            if byte_count(defined.len(), self.form.element_size, "structured chunk")? != values.len() {
                return Err(Error::Misuse(format!(
                    "{} bytes are given for {} elements",
                    values.len(),
                    defined.len()
                )));
            }
            updates.push(Update { scaled, defined, values: Some(values) });
        }
        self.dirty.begin();
        self.merge(writing, updates)
    }

    /// Writes elements of a box of a sparse dataset. Writes only the elements for which
    /// `is_defined` returns true. `elements` holds the stored form of all elements of the box in C
    /// order.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the box is not inside the dataset, or if the number of elements
    /// is wrong. Returns errors of filters and the driver.
    pub fn write_where(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        region: &Region,
        elements: &[u8],
        is_defined: &IsDefined<'_>,
    ) -> Result<()> {
        let extent = Dims::from_slice(self.form.grid.extent());
        let selection = Selection::region(region);
        let count = selection.element_count(&extent)?;
        if byte_count(count, self.form.element_size, "elements")? != elements.len() {
            return Err(Error::Misuse(format!("{} bytes are given for {count} elements", elements.len())));
        }
        let wanted = Ordered::new(&selection, &extent)?;
        let chunks: Vec<Dims> = self.form.grid.chunks_in(region)?.collect();
        let this = &*self;
        let update = |scaled| this.update_where(&wanted, scaled, elements, is_defined);
        let updates = parallel::map(writing.edit.store(), true, chunks, update)?;
        self.dirty.begin();
        self.merge(writing, updates.into_iter().flatten().collect())
    }

    fn update_where(
        &self,
        wanted: &Ordered,
        scaled: Dims,
        elements: &[u8],
        is_defined: &IsDefined<'_>,
    ) -> Result<Option<Update>> {
        let size = self.form.element_size.max(1);
        let mut set = DefinedBuilder::with_capacity(self.form.grid.chunk(), 0)?;
        let mut values = Vec::new();
        self.form.for_each_run(wanted, &scaled, |offset, count, position| {
            let (start, length) =
                (byte_count(position, size, "elements")?, byte_count(count, size, "elements")?);
            let run = elements.get(start..).and_then(|rest| rest.get(..length));
            let Some(run) = run else {
                return Err(Error::internal(
                    "write of defined elements",
                    "each selected element has a value",
                ));
            };
            let mut put = |from: usize, to: usize| {
                set.push_run(offset + from as u64, (to - from) as u64);
                let (from, to) = (from * size, to * size);
                values.extend_from_slice(run.split_at(to).0.split_at(from).1);
            };
            // The start of the present run of defined elements.
            let mut first = None;
            for (number, element) in run.chunks_exact(size).enumerate() {
                match (is_defined(position + number as u64, element), first) {
                    (true, None) => first = Some(number),
                    (false, Some(from)) => {
                        put(from, number);
                        first = None;
                    }
                    _ => {}
                }
            }
            if let Some(from) = first {
                put(from, run.len() / size);
            }
            Ok(())
        })?;
        let defined = set.finish()?;
        if defined.is_empty() {
            return Ok(None);
        }
        Ok(Some(Update { scaled, defined, values: Some(values) }))
    }
}
