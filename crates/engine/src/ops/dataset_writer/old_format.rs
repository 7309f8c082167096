//! The change of a dataset to the oldest form of its layout message and its chunk index.

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkFlags, ChunkIndexParameters, ChunkedLayout, DataLayout, Layout};

use super::super::chunk_forms::chunked_source;
use super::{DatasetWriter, WriterContext};
use crate::data::chunk_index::{ChunkIndexEditor, ChunkLocation};
use crate::error::{Error, Result};
use crate::store::Edit;

/// The version of the layout message of HDF5 1.6 to 1.8.
const OLD_LAYOUT: u8 = 3;
/// The width in bytes of a dimension size in a layout message of this version.
const OLD_DIMENSION_WIDTH: u8 = 4;

impl DatasetWriter {
    /// Changes the dataset's layout message to version 3, and the chunk index to a version 1
    /// B-tree. The chunks keep their addresses.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for virtual datasets and structured chunks, and if the
    /// dataset leaves chunks at its edges unfiltered: the old form does not exist. Returns
    /// [`Error::Misuse`] if a chunk is too large for a version 1 B-tree.
    pub(crate) fn use_old_format(&mut self, file: WriterContext<'_>, edit: &mut Edit<'_>) -> Result<()> {
        self.flush(file, edit)?;
        let layout = match &self.description.layout.layout {
            Layout::Virtual(_) | Layout::Structured(_) => {
                return Err(Error::unsupported("the old form of a virtual dataset or of structured chunks"));
            }
            Layout::Chunked(layout) if layout.leaves_edges_unfiltered() => {
                return Err(Error::unsupported("the old form of a dataset with unfiltered edge chunks"));
            }
            Layout::Chunked(layout) if layout.index != ChunkIndexParameters::BTreeV1 => {
                Layout::Chunked(self.with_old_index(file, edit, layout)?)
            }
            other => other.clone(),
        };
        if self.description.layout.version <= OLD_LAYOUT {
            return Ok(());
        }
        let layout = DataLayout { version: OLD_LAYOUT, layout };
        file.editors.update_dataset(file.container, edit, self.address, None, Some(&layout))?;
        let description = super::DatasetDescription { layout, ..self.description.clone() };
        *self = Self::new(file, self.address, description)?;
        Ok(())
    }

    /// Creates a version 1 B-tree of the dataset's chunks and frees the present chunk index.
    /// Returns the new layout.
    fn with_old_index(
        &self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        layout: &ChunkedLayout,
    ) -> Result<ChunkedLayout> {
        let (_, shape) = chunked_source(file.container, self.address, &self.description, layout)?;
        let mut present = ChunkIndexEditor::<ChunkLocation>::open(edit.store(), layout, &shape)?;
        let mut chunks: Vec<(Dims, ChunkLocation)> = Vec::new();
        present.for_each(edit.store(), &mut |scaled, location| {
            chunks.push((scaled.into(), location));
            Ok(())
        })?;
        chunks.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let old = ChunkedLayout {
            flags: ChunkFlags::empty(),
            dimension_width: OLD_DIMENSION_WIDTH,
            index: ChunkIndexParameters::BTreeV1,
            address: Address::UNDEFINED,
            ..layout.clone()
        };
        let mut old = ChunkIndexEditor::<ChunkLocation>::open(edit.store(), &old, &shape)?;
        old.insert(edit, &chunks)?;
        present.delete_with(edit, &mut |_, _, _| Ok(()))?;
        Ok(old.layout().clone())
    }
}
