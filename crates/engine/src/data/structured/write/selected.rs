//! Writes of selections to datasets with structured chunks, and the erasure of selected elements.

use std::collections::BTreeSet;

use hyperslab_dataspace::{
    ChunkGrid, DefinedBuilder, DefinedSet, Dims, Hyperslab, Ordered, Region, Selection, Tiling,
};

use super::{StructuredWriter, StructuredWriting, Update};
use crate::data::chunk_index::ChunkBox;
use crate::data::transfer::{WriteSource, byte_count};
use crate::error::{Error, Result};

/// The name of a write to a dataset with structured chunks, in error messages.
const NAME: &str = "write of structured chunks";

/// The list of the structured chunks that contain selected elements, in C order.
enum ChunksOf {
    /// The chunks of a selection whose dimensions are selected independently of one another.
    Tiles(Box<Tiling>),
    /// The chunks of points or blocks, which may be far apart.
    Listed(BTreeSet<Dims>),
}

impl ChunksOf {
    fn new(selection: &Selection, wanted: &Ordered, grid: &ChunkGrid) -> Result<Self> {
        if let Some(axes) = wanted.axes() {
            let tiling = Tiling::new(axes, grid.extent(), grid.chunk())?;
            return Ok(Self::Tiles(Box::new(tiling)));
        }
        let mut chunks = BTreeSet::new();
        match selection {
            Selection::Points(points) => {
                for point in points.points() {
                    chunks.insert(grid.locate(point)?.0);
                }
            }
            Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                for block in blocks {
                    let ends = block.end.iter().zip(&block.start);
                    let count = ends.map(|(end, start)| end - *start + 1).collect();
                    chunks.extend(grid.chunks_in(&Region { start: block.start.clone(), count })?);
                }
            }
            _ => {}
        }
        Ok(Self::Listed(chunks))
    }

    fn iter(&self) -> Box<dyn Iterator<Item = Dims> + '_> {
        match self {
            Self::Tiles(tiling) => Box::new(tiling.chunk_coordinates()),
            Self::Listed(chunks) => Box::new(chunks.iter().cloned()),
        }
    }
}

/// Number of bytes of updates of structured chunks that a write merges together.
const BATCH_BYTES: usize = 16 << 20;

impl StructuredWriter {
    /// Writes the selected elements of a dataset with structured chunks. The written elements
    /// become defined.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the number of elements in `from` differs from the number of
    /// selected elements. Returns errors of conversions, filters and the driver.
    pub fn write_selection(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let extent = Dims::from_slice(self.form.grid.extent());
        from.check(selection.element_count(&extent)?)?;
        if let (Selection::Points(points), false) = (selection, from.is_partial()) {
            return self.write_points(writing, points, from);
        }
        let wanted = Ordered::new(selection, &extent)?;
        if wanted.is_empty() {
            return Ok(());
        }
        self.dirty.begin();
        let (mut updates, mut bytes) = (Vec::new(), 0_usize);
        let grid = self.form.grid.clone();
        let chunks = ChunksOf::new(selection, &wanted, &grid)?;
        for scaled in chunks.iter() {
            let Some(update) = self.update(writing, &wanted, scaled, from)? else { continue };
            bytes += update.bytes();
            updates.push(update);
            if bytes > BATCH_BYTES {
                bytes = 0;
                self.merge(writing, std::mem::take(&mut updates))?;
                self.dirty.begin();
            }
        }
        self.merge(writing, updates)
    }

    /// Creates the update of a structured chunk from the selected elements of the chunk and their
    /// new values.
    fn update(
        &self,
        writing: &StructuredWriting<'_, '_>,
        wanted: &Ordered,
        scaled: Dims,
        from: &WriteSource<'_>,
    ) -> Result<Option<Update>> {
        let size = self.form.element_size;
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        self.form.for_each_run(wanted, &scaled, |offset, count, position| {
            match runs.last_mut() {
                // If points repeat, the last one counts.
                Some(last) if last.0 == offset && count == 1 => last.2 = last.2.max(position),
                _ => runs.push((offset, count, position)),
            }
            Ok(())
        })?;
        if runs.is_empty() {
            return Ok(None);
        }
        let count = runs.iter().fold(0_u64, |sum, (_, count, _)| sum + *count);
        let mut set = DefinedBuilder::with_capacity(self.form.grid.chunk(), 0)?;
        runs.iter().for_each(|(offset, count, _)| set.push_run(*offset, *count));
        let defined = set.finish()?;
        let mut values = vec![0; byte_count(count, size, "structured chunk")?];
        if from.is_partial() {
            self.before(writing, &scaled, &defined, &mut values)?;
        }
        let mut rest = values.as_mut_slice();
        for (_, count, position) in runs {
            let length = byte_count(count, size, "structured chunk")?;
            let Some((run, after)) = rest.split_at_mut_checked(length) else {
                return Err(Error::internal(NAME, "the runs of a chunk have its elements"));
            };
            from.put(position, count, run)?;
            rest = after;
        }
        Ok(Some(Update { scaled, defined, values: Some(values) }))
    }

    /// Sets `values` to the values that elements of a structured chunk have before a write. A write
    /// that changes only some compound members keeps the values of the other members.
    fn before(
        &self,
        writing: &StructuredWriting<'_, '_>,
        scaled: &Dims,
        defined: &DefinedSet,
        values: &mut [u8],
    ) -> Result<()> {
        if !self.form.variable.is_empty() {
            return Err(Error::unsupported(
                "writing some members of variable-length elements in structured chunks",
            ));
        }
        let size = self.form.element_size;
        self.form.fill.write(values);
        let chunk = match self.dirty.get(scaled) {
            Some(chunk) => Some(chunk.clone()),
            None => self.current(writing.edit.store(), writing.cache, scaled)?,
        };
        let Some(chunk) = chunk else { return Ok(()) };
        defined.try_for_each_run(0..defined.total(), |offset, position, count| {
            chunk.defined.try_for_each_run(offset..offset + count, |there, at, count| {
                let start = byte_count(position + (there - offset), size, "chunk")?;
                let source = chunk.values(at, count, size)?;
                let to = values.get_mut(start..).and_then(|rest| rest.get_mut(..source.len()));
                let invariant = "the values of a chunk have its elements";
                to.ok_or(Error::Internal { structure: NAME, invariant })?.copy_from_slice(source);
                Ok(())
            })
        })
    }

    /// Makes the selected elements of a dataset with structured chunks undefined.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset is not sparse. Returns errors of damaged chunks and
    /// the driver.
    pub fn erase(&mut self, writing: &mut StructuredWriting<'_, '_>, selection: &Selection) -> Result<()> {
        if !self.form.kind.is_sparse() {
            return Err(Error::Misuse(
                "only elements of sparse datasets can be made undefined, and this dataset is not sparse"
                    .into(),
            ));
        }
        let extent = Dims::from_slice(self.form.grid.extent());
        let Some(bounds) = selection.bounding_box(&extent)? else { return Ok(()) };
        let wanted = Ordered::new(selection, &extent)?;
        let chunks = self.form.grid.chunk_region(&bounds)?;
        if chunks.is_empty() {
            return Ok(());
        }
        let last = chunks.bounds().map(|(_, end)| end - 1).collect();
        let all = ChunkBox { first: chunks.start.clone(), last };
        let stored = self.stored_in(writing.edit.store(), &all)?;
        let mut touched: Vec<Dims> = stored.into_iter().map(|(scaled, _)| scaled).collect();
        touched.extend(self.dirty.coordinates_in(&all));
        touched.sort_unstable();
        touched.dedup();
        self.dirty.begin();
        for batch in touched.chunks(256) {
            let mut updates = Vec::new();
            for scaled in batch {
                let scaled: &Dims = scaled;
                // A fully selected chunk needs no list of its elements.
                let defined = match self.form.wanted_in(&wanted, scaled)? {
                    None => DefinedSet::all(self.form.grid.chunk())?,
                    Some(defined) => defined,
                };
                if !defined.is_empty() {
                    updates.push(Update { scaled: scaled.clone(), defined, values: None });
                }
            }
            self.merge(writing, updates)?;
        }
        Ok(())
    }
}
