//! The creation of sparse datasets.

use hyperslab_engine::format::DefinedEncoding;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_u64;
use hyperslab_filter::FilterSpec;

use super::Section;
use super::chunk_model::{Fill, best_shape};
use crate::dataset::Storage;
use crate::{DatasetBuilder, Dataspace};

/// The share of defined elements that a new sparse dataset is expected to have by default.
const DENSITY: f64 = 0.01;

/// The encoding by which a structured chunk stores the selection of its defined elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelectionEncoding {
    /// The selection of all elements if every element is defined, else blocks, as a regular
    /// hyperslab if possible. Other implementations of the proposal expect this form.
    #[default]
    Blocks,
    /// A list of points. A coordinate takes 2 bytes if the chunk has at most 65536 elements along
    /// each dimension.
    Points,
    /// The shorter of the two other forms, for each chunk.
    Shortest,
}

impl SelectionEncoding {
    pub(crate) fn stored(self) -> DefinedEncoding {
        match self {
            Self::Blocks => DefinedEncoding::Hyperslab,
            Self::Points => DefinedEncoding::Points,
            Self::Shortest => DefinedEncoding::Shortest,
        }
    }
}

/// The options of structured chunks that a builder has for a new dataset.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseOptions {
    sections: [Vec<FilterSpec>; 3],
    fill: Option<Fill>,
    pub(crate) encoding: DefinedEncoding,
}

impl SparseOptions {
    pub(crate) fn filters(&self, section: Section) -> &[FilterSpec] {
        let [selection, values, heap] = &self.sections;
        match section {
            Section::Selection => selection,
            Section::Values => values,
            Section::Heap => heap,
        }
    }

    pub(crate) fn has_filters(&self) -> bool {
        self.sections.iter().any(|filters| !filters.is_empty())
    }

    /// Returns the largest number of elements of a chunk whose selection compresses well, for a
    /// number of dimensions.
    ///
    /// Blocks of one element each state all coordinates twice, as the first and as the last
    /// element. With the filter shuffle, the second copy follows after `2 * rank` bytes for each
    /// block. Deflate finds the copy only within its window. A chunk with more blocks takes up to
    /// 45 % more bytes.
    fn most_elements(&self, density: f64, rank: usize) -> f64 {
        match self.encoding {
            DefinedEncoding::Hyperslab => MAX_COPY_DISTANCE / (2.0 * to_float(to_u64(rank.max(1)))) / density,
            DefinedEncoding::Points | DefinedEncoding::Shortest => f64::INFINITY,
        }
    }

    /// Returns the shape of structured chunks for a new dataset: the last dimensions have the shape
    /// with the lowest cost, except that no side is longer than the dimension. If a side is
    /// shorter, the other sides are longer.
    ///
    /// If the first of three or more dimensions is unlimited, chunks have size 1 along it, because
    /// such datasets grow step by step.
    pub(crate) fn chunk_for(&self, dataspace: &Dataspace) -> Result<Vec<u64>> {
        if !matches!(dataspace, Dataspace::Simple(_)) {
            return Err(Error::Misuse("a scalar or null dataspace cannot be stored in chunks".into()));
        }
        let fill = self.fill.unwrap_or(Fill { density: DENSITY, occupied: 1.0 });
        let maximum = dataspace.max_dims();
        let length = |(size, maximum): (&u64, &Option<u64>)| match maximum {
            Some(maximum) => to_float((*size).max(*maximum).max(1)),
            None => MAX_SIDE,
        };
        let lengths: Vec<f64> = dataspace.dims().iter().zip(&maximum).map(length).collect();
        let by_steps = lengths.len() >= 3 && maximum.first() == Some(&None);
        let mut chunk = vec![1.0; lengths.len()];
        let (rows, columns) = match self.encoding {
            // Blocks state all coordinates twice, so that small chunks take many bytes: each side
            // is twice as long.
            DefinedEncoding::Hyperslab => {
                let (rows, columns) = best_shape(fill);
                (2.0 * rows, 2.0 * columns)
            }
            DefinedEncoding::Points | DefinedEncoding::Shortest => best_shape(fill),
        };
        let elements = (rows * columns).min(self.most_elements(fill.density, lengths.len()));
        let mut remaining = elements;
        let mut order: Vec<(f64, &mut f64)> =
            lengths.iter().copied().zip(&mut chunk).skip(usize::from(by_steps)).collect();
        if order.len() > 1
            && let Some((length, size)) = order.pop()
        {
            // The other sides take what is left, so that the last side cannot be too short.
            let others: f64 = order.iter().fold(1.0, |product, (length, _)| product * length.min(MAX_SIDE));
            *size = columns.max(elements / others).min(length).clamp(1.0, MAX_SIDE);
            remaining /= *size;
        }
        order.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let count = order.len();
        for (done, (length, size)) in order.into_iter().enumerate() {
            let side = remaining.max(1.0).powf(1.0 / to_float(to_u64(count - done)));
            *size = side.min(length).clamp(1.0, MAX_SIDE);
            remaining /= *size;
        }
        Ok(chunk.iter().zip(&lengths).map(|(size, length)| fitted(*size, *length)).collect())
    }
}

/// Largest side of a structured chunk. With longer sides, a coordinate takes more than 2 bytes.
const MAX_SIDE: f64 = 65_536.0;

/// Largest distance in bytes between the two copies of the coordinates of a selection: the window
/// of deflate (32 KiB), less a reserve for chunks with more elements than the average.
const MAX_COPY_DISTANCE: f64 = 28_000.0;

#[expect(clippy::cast_precision_loss, reason = "lengths and counts for estimates")]
pub(super) fn to_float(size: u64) -> f64 {
    size as f64
}

/// Returns the size of a structured chunk along a dimension, reduced such that the last chunk along
/// the dimension is nearly full.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 65536")]
fn fitted(size: f64, length: f64) -> u64 {
    let count = (length / size).ceil().max(1.0);
    let even = (length / count).ceil();
    even.clamp(1.0, MAX_SIDE) as u64
}

impl DatasetBuilder {
    /// Sets the sparse layout for the new dataset: structured chunks of the shape `chunk`, which
    /// store only elements that were written. All other elements read as the fill value. libhdf5
    /// does not read such datasets yet; it reads all other objects of the file.
    ///
    /// A chunk should have some thousand defined elements; see [`sparse_auto`](Self::sparse_auto).
    ///
    /// ```
    /// use hyperslab::{Points, Section, filter::FilterSpec};
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let counts = file
    ///     .new_dataset("counts")
    ///     .of::<u32>()
    ///     .shape(&[100_000, 100_000])
    ///     .sparse(&[1000, 1000])
    ///     .section_filters(Section::Selection, &[FilterSpec::shuffle(), FilterSpec::deflate(4)])
    ///     .section_filters(Section::Values, &[FilterSpec::deflate(4)])
    ///     .create()?;
    /// let points = Points::from_rows([[7, 99_999], [50_000, 3]]);
    /// counts.sparse().write(&points, &[12, 34])?;
    /// assert_eq!(counts.sparse().defined_count()?, 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn sparse(mut self, chunk: &[u64]) -> Self {
        self.storage = Storage::Structured { chunk: Some(chunk.to_vec()), sparse: true };
        self
    }

    /// Sets the layout of [`sparse`](Self::sparse) for the new dataset, with a chunk shape that
    /// hyperslab chooses. The choice depends on the shape of the dataset, its
    /// [`density`](Self::density) and its [`selection_encoding`](Self::selection_encoding): a chunk
    /// has some thousand defined elements.
    pub fn sparse_auto(mut self) -> Self {
        self.storage = Storage::Structured { chunk: None, sparse: true };
        self
    }

    /// Sets the expected share of defined elements in the new dataset, for
    /// [`sparse_auto`](Self::sparse_auto): above 0 and at most 1. The default is 0.01.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let new = file.new_dataset("a").of::<f32>().shape(&[20_000, 20_000]).sparse_auto().density(0.1);
    /// let info = new.create()?.sparse().chunking().map(|chunks| chunks.shape);
    /// assert_eq!(info, Some(vec![35, 2000]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn density(mut self, density: f64) -> Self {
        self.sparse = self.sparse.with_fill(Fill { density, occupied: 1.0 });
        self
    }

    /// Sets the layout of structured chunks for a new dataset with elements of variable length. The
    /// chunks, of the shape `chunk`, contain the variable-length data, so that the filters encode
    /// it.
    ///
    /// In other layouts this data lies in the file's global heap, which has no filters.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let texts: Vec<String> = (0..1000).map(|number| format!("line {number} of a log")).collect();
    /// let text = hyperslab::Datatype::variable_string(hyperslab::CharacterSet::Utf8, 8);
    /// let log = file.new_dataset("log").datatype(text).shape(&[1000]).variable_chunks(&[500]).deflate(6).create()?;
    /// log.write_strings(.., &texts)?;
    /// assert_eq!(log.read_strings::<hyperslab::Ix1>(..)?[999], "line 999 of a log");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn variable_chunks(mut self, chunk: &[u64]) -> Self {
        self.storage = Storage::Structured { chunk: Some(chunk.to_vec()), sparse: false };
        self
    }

    /// Sets the filters of one section of the new dataset's structured chunks. In the section's
    /// filter pipeline, they come after the filters that apply to all sections.
    ///
    /// For an example see [`sparse`](Self::sparse).
    pub fn section_filters(mut self, section: Section, filters: &[FilterSpec]) -> Self {
        self.sparse = self.sparse.with_filters(section, filters);
        self
    }

    /// Sets the encoding by which the new dataset's structured chunks store the selection of
    /// defined elements. The default is [`SelectionEncoding::Blocks`].
    pub fn selection_encoding(mut self, encoding: SelectionEncoding) -> Self {
        self.sparse.encoding = encoding.stored();
        self
    }
}

impl SparseOptions {
    pub(crate) fn with_fill(mut self, fill: Fill) -> Self {
        self.fill = Some(fill).filter(|fill| fill.density > 0.0);
        self
    }

    fn with_filters(mut self, section: Section, filters: &[FilterSpec]) -> Self {
        let [selection, values, heap] = &mut self.sections;
        let list = match section {
            Section::Selection => selection,
            Section::Values => values,
            Section::Heap => heap,
        };
        *list = filters.to_vec();
        self
    }
}
