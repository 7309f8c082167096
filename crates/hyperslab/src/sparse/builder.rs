//! Making sparse datasets.

use hyperslab_engine::format::DefinedEncoding;
use hyperslab_engine::{Error, Result};
use hyperslab_filter::FilterSpec;

use super::Section;
use crate::dataset::Storage;
use crate::{DatasetBuilder, Dataspace};

/// The share of defined elements that is expected if nothing is said.
const DENSITY: f64 = 0.01;

/// How the defined elements of a chunk are written down in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelectionEncoding {
    /// All if every element is defined; else blocks: a regular hyperslab where they are one. What other implementations of
    /// the proposal expect.
    #[default]
    Blocks,
    /// One by one, 2 bytes a coordinate in chunks of at most 65536 elements along each dimension.
    Points,
    /// Whichever of the two takes fewer bytes, chunk by chunk.
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

/// What is asked for of structured chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseWanted {
    sections: [Vec<FilterSpec>; 3],
    density: Option<f64>,
    pub(crate) encoding: DefinedEncoding,
}

impl SparseWanted {
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

    /// A chunk of about as many elements as [`elements_for`] says: a cube, or as long as the dataset is along dimensions
    /// that are shorter. What grows along the first of three and more dimensions comes step by step: chunks are 1 there.
    pub(crate) fn chunk_for(&self, dataspace: &Dataspace) -> Result<Vec<u64>> {
        if !matches!(dataspace, Dataspace::Simple(_)) {
            return Err(Error::Misuse("a scalar or null dataspace cannot be stored in chunks".into()));
        }
        let density = self.density.unwrap_or(DENSITY);
        let most = dataspace.max_dims();
        let length = |(size, most): (&u64, &Option<u64>)| match most {
            Some(most) => to_float((*size).max(*most).max(1)),
            None => f64::from(1 << 16),
        };
        let lengths: Vec<f64> = dataspace.dims().iter().zip(&most).map(length).collect();
        let steps = lengths.len() >= 3 && most.first() == Some(&None);
        let mut chunk = vec![1.0; lengths.len()];
        let mut left = elements_for(density);
        let mut order: Vec<usize> = (usize::from(steps)..lengths.len()).collect();
        let by_length = |dimension: &usize| lengths.get(*dimension).copied().unwrap_or(1.0);
        order.sort_by(|one, other| by_length(one).total_cmp(&by_length(other)));
        for (done, dimension) in order.iter().enumerate() {
            let open = f64::from(u32::try_from(order.len().saturating_sub(done)).unwrap_or(1));
            let side = left.max(1.0).powf(1.0 / open);
            if let Some(size) = chunk.get_mut(*dimension) {
                *size = side.min(by_length(dimension)).min(f64::from(1 << 16)).max(1.0);
                left /= *size;
            }
        }
        // Where rows of a chunk have many elements, short ones compress better: their columns take fewer bits.
        if density >= DENSE && chunk.len() >= 2 {
            let last = chunk.len().saturating_sub(1);
            if let [.., before, column] = chunk.as_mut_slice()
                && *column > 1.5 * NARROW
                && lengths
                    .get(last.saturating_sub(1))
                    .is_some_and(|length| *length >= *before * *column / NARROW)
            {
                (*before, *column) = (*before * *column / NARROW, NARROW);
            }
        }
        Ok(chunk.iter().zip(&lengths).map(|(size, length)| fitted(*size, *length)).collect())
    }
}

/// A density from which chunks are higher than wide, and how wide then.
const DENSE: f64 = 0.03;
const NARROW: f64 = 128.0;

/// Elements of a chunk, defined or not, at some density: few enough defined ones (some thousand) that a small part of the
/// dataset is read without decoding much else, and so many that what each chunk costs does not weigh.
fn elements_for(density: f64) -> f64 {
    if density >= DENSE {
        return f64::from(1 << 16);
    }
    f64::from(1 << 20) * (0.01 / density).powf(0.3)
}

#[expect(clippy::cast_precision_loss, reason = "a length that is only compared with others")]
fn to_float(size: u64) -> f64 {
    size as f64
}

/// A chunk's size that leaves little of the last chunk of a dimension empty.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 65536")]
fn fitted(size: f64, length: f64) -> u64 {
    let count = (length / size).ceil().max(1.0);
    let even = (length / count).ceil();
    even.clamp(1.0, f64::from(1 << 16)) as u64
}

impl DatasetBuilder {
    /// Only elements that are written are stored, in structured chunks of that shape; all others read as the fill value.
    /// libhdf5 does not read such datasets (yet); it reads all else in the file.
    ///
    /// A chunk should hold some thousand written elements; see [`sparse_auto`](Self::sparse_auto).
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

    /// As [`sparse`](Self::sparse), in chunks of a shape that is chosen by the dataset's and by its
    /// [`density`](Self::density), so that each holds some thousand written elements.
    pub fn sparse_auto(mut self) -> Self {
        self.storage = Storage::Structured { chunk: None, sparse: true };
        self
    }

    /// The share of elements that will be written, for [`sparse_auto`](Self::sparse_auto): above 0 and at most 1; 0.01 if
    /// nothing is said.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let new = file.new_dataset("a").of::<f32>().shape(&[20_000, 20_000]).sparse_auto().density(0.1);
    /// let info = new.create()?.sparse().chunking().map(|chunks| chunks.shape);
    /// assert_eq!(info, Some(vec![500, 128]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn density(mut self, density: f64) -> Self {
        self.sparse = self.sparse.with_density(density);
        self
    }

    /// Elements of variable length in structured chunks of that shape, with what they hold, so that it passes the filters:
    /// otherwise it lies in the file's global heap, which no filter compresses.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let texts: Vec<String> = (0..1000).map(|number| format!("line {number} of a log")).collect();
    /// let text = hyperslab::Datatype::variable_string(hyperslab::CharacterSet::Utf8, 8);
    /// let log = file.new_dataset("log").datatype(text).shape(&[1000]).variable_chunks(&[500]).deflate(6).create()?;
    /// log.write_strings(.., &texts)?;
    /// assert_eq!(log.read_strings(..)?[999], "line 999 of a log");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn variable_chunks(mut self, chunk: &[u64]) -> Self {
        self.storage = Storage::Structured { chunk: Some(chunk.to_vec()), sparse: false };
        self
    }

    /// The filters of one section of structured chunks, behind those of all sections.
    pub fn section_filters(mut self, section: Section, filters: &[FilterSpec]) -> Self {
        self.sparse = self.sparse.with_filters(section, filters);
        self
    }

    /// How the written elements are listed in the file; in blocks by default.
    pub fn selection_encoding(mut self, encoding: SelectionEncoding) -> Self {
        self.sparse.encoding = encoding.stored();
        self
    }
}

impl SparseWanted {
    pub(crate) fn with_density(mut self, density: f64) -> Self {
        self.density = Some(density).filter(|density| *density > 0.0).map(|density| density.min(1.0));
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
