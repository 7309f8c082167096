//! The properties of new datasets.

use hyperslab::filter::{BitshuffleCodec, FilterSpec};
use hyperslab::{Dataset, ErrorKind, File, Section, SelectionEncoding};

use crate::draw::Numbers;
use crate::kind::{KINDS, Kind, VALUES};

/// The properties of a new dataset.
#[derive(Debug, Clone)]
pub(crate) struct Make {
    pub(crate) kind: Kind,
    /// `true` if elements can be undefined; otherwise the dataset has `variable_chunks`.
    pub(crate) sparse: bool,
    pub(crate) dims: Vec<u64>,
    pub(crate) max_dims: Vec<Option<u64>>,
    pub(crate) chunk: Vec<u64>,
    /// The filters of all sections.
    pub(crate) filters: Vec<FilterSpec>,
    pub(crate) section_filters: Vec<(Section, Vec<FilterSpec>)>,
    pub(crate) edges_unfiltered: bool,
    pub(crate) encoding: SelectionEncoding,
    pub(crate) fill: Option<u8>,
    /// Only filters that every reader has.
    pub(crate) common: bool,
}

/// The largest size of a dimension, by the number of dimensions.
const SIDES: [u64; 4] = [60, 13, 7, 4];

impl Make {
    pub(crate) fn draw(numbers: &mut Numbers<'_>, common: bool) -> Self {
        let kind = numbers.one_of(&KINDS);
        let sparse = !(kind.is_variable() && numbers.once_in(4));
        let index = numbers.below(4);
        let rank = 1 + numbers.below(4) as usize;
        // If no element can be undefined, chunks have the stated number of elements.
        let vast = index >= 2 && sparse && numbers.once_in(6);
        let (mut dims, mut max_dims, mut chunk) = (Vec::new(), Vec::new(), Vec::new());
        let endless = if index == 3 { 2.min(rank) } else { usize::from(index == 2) };
        let first = numbers.below(rank as u64) as usize;
        for dimension in 0..rank {
            let side = if vast { 1 << (20 / rank + if common { 4 } else { 8 }) } else { SIDES[rank - 1] };
            let size = numbers.below(side + 1);
            let is_endless = (dimension + rank - first) % rank < endless;
            let maximum = size.max(1) + if index == 0 { 0 } else { numbers.below(side / 2 + 1) };
            // The other reader refuses chunks of more than 2^22 elements.
            let wide = if common { &[1 << 5, 10, 1 << 4, 40][..] } else { &[1 << 9, 100, 1 << 8, 300] };
            let cut = if vast { numbers.one_of(wide) } else { 1 + numbers.below(side + 2) };
            let cut = if numbers.once_in(5) && !vast { 1 } else { cut };
            dims.push(size);
            max_dims.push(if is_endless { None } else { Some(maximum) });
            chunk.push(if index == 0 {
                maximum
            } else if is_endless {
                cut
            } else {
                cut.min(maximum)
            });
        }
        let mut make = Self {
            kind,
            sparse,
            dims,
            max_dims,
            chunk,
            filters: Vec::new(),
            section_filters: Vec::new(),
            edges_unfiltered: numbers.once_in(3),
            encoding: numbers.one_of(&[
                SelectionEncoding::Blocks,
                SelectionEncoding::Points,
                SelectionEncoding::Shortest,
            ]),
            fill: (numbers.once_in(2) && !kind.is_variable()).then(|| numbers.below(VALUES) as u8),
            common,
        };
        make.draw_filters(numbers);
        make
    }

    fn draw_filters(&mut self, numbers: &mut Numbers<'_>) {
        if numbers.once_in(3) {
            self.filters = self.list(numbers);
        }
        for section in [Section::Selection, Section::Values, Section::Heap] {
            let there = section != Section::Selection || self.sparse;
            if there && (section != Section::Heap || self.kind.is_variable()) && numbers.once_in(2) {
                let mut list = self.list(numbers);
                if numbers.once_in(3) {
                    list.push(FilterSpec::fletcher32());
                }
                self.section_filters.push((section, list));
            }
        }
    }

    fn list(&self, numbers: &mut Numbers<'_>) -> Vec<FilterSpec> {
        let deflate = FilterSpec::deflate(1 + numbers.below(9) as u32);
        let kinds = if self.common { 5 } else { 8 };
        match numbers.below(kinds) {
            0 => vec![deflate],
            1 => vec![FilterSpec::shuffle(), deflate.mandatory()],
            2 => vec![FilterSpec::shuffle()],
            3 => vec![deflate.optional()],
            4 => vec![FilterSpec::fletcher32(), deflate.optional()],
            // Mandatory filters fail if they do not shrink the data.
            5 => vec![FilterSpec::lzf().optional()],
            6 => vec![FilterSpec::zstd(3)],
            _ => vec![FilterSpec::bitshuffle(0, BitshuffleCodec::Lz4)],
        }
    }

    /// Creates the dataset.
    pub(crate) fn create(&mut self, file: &File, path: &str) -> Dataset {
        match self.try_create(file, path) {
            Ok(dataset) => dataset,
            // Some filters do not support every datatype.
            Err(error) if !self.common && error.kind() == ErrorKind::Misuse => {
                (self.filters, self.section_filters) = (Vec::new(), Vec::new());
                self.try_create(file, path).unwrap()
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    fn try_create(&self, file: &File, path: &str) -> hyperslab::Result<Dataset> {
        let new =
            file.new_dataset(path).datatype(self.kind.datatype()).shape(&self.dims).max_shape(&self.max_dims);
        let new = if self.sparse { new.sparse(&self.chunk) } else { new.variable_chunks(&self.chunk) };
        let mut new = new.selection_encoding(self.encoding);
        for filter in &self.filters {
            new = new.filter(filter.clone());
        }
        for (section, filters) in &self.section_filters {
            new = new.section_filters(*section, filters);
        }
        if self.edges_unfiltered {
            new = new.unfiltered_edges();
        }
        if let Some(fill) = self.fill {
            new = new.fill_stored(&self.kind.encode(fill));
        }
        new.create()
    }

    /// Returns all elements, if there are not too many to read.
    pub(crate) fn size(dims: &[u64]) -> Option<usize> {
        let size = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))?;
        usize::try_from(size).ok().filter(|size| *size <= 6000)
    }
}
