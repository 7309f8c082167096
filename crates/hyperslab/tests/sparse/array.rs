//! The model of a sparse dataset, and its comparison with the dataset.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab::{Dataset, Points, Selection, Stored};

use crate::kind::Kind;
use crate::kind::{Palette, sequence, words};
use crate::make::Make;
use crate::selection::{Chosen, Place, points_of};

/// A naive model of a dataset.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) make: Make,
    pub(crate) dims: Vec<u64>,
    /// The defined elements.
    pub(crate) values: BTreeMap<Place, u8>,
}

impl Array {
    pub(crate) fn new(make: Make) -> Self {
        Self { dims: make.dims.clone(), make, values: BTreeMap::new() }
    }

    fn kind(&self) -> Kind {
        self.make.kind
    }

    fn rank(&self) -> usize {
        self.dims.len()
    }

    fn value(&self, place: &Place) -> u8 {
        self.values.get(place).copied().unwrap_or(self.make.fill.unwrap_or(0))
    }

    fn plain(&self, places: &[Place]) -> Vec<Vec<u8>> {
        places.iter().map(|place| self.kind().plain(self.value(place))).collect()
    }

    pub(crate) fn put(&mut self, places: &[Place], values: &[u8]) {
        for (place, value) in places.iter().zip(values) {
            self.values.insert(place.clone(), *value);
        }
    }

    pub(crate) fn resize(&mut self, dims: &[u64]) {
        self.values.retain(|place, _| place.iter().zip(dims).all(|(at, size)| at < size));
        self.dims = dims.to_vec();
    }

    /// Writes points through one of the methods that write points.
    pub(crate) fn write_points(
        &self,
        dataset: &Dataset,
        palette: &Palette,
        call: u64,
        places: &[Place],
        values: &[u8],
    ) {
        let (points, kind) = (points_of(self.rank(), places), self.kind());
        match kind {
            Kind::Words if call.is_multiple_of(2) => {
                let texts: Vec<String> = values.iter().map(|value| words(*value)).collect();
                dataset.sparse().write_strings(&points, &texts).unwrap();
            }
            Kind::Sequence if call.is_multiple_of(2) => {
                let items: Vec<Vec<i32>> = values.iter().map(|value| sequence(*value)).collect();
                dataset.sparse().write_sequences(&points, &items).unwrap();
            }
            _ if kind.is_number() && call % 3 == 1 => {
                let numbers: Vec<f64> = values.iter().map(|value| kind.number(*value)).collect();
                dataset.sparse().write(&points, &numbers).unwrap();
            }
            _ if kind.is_number() && call % 3 == 2 => {
                let numbers: Vec<f32> = values.iter().map(|value| kind.number(*value) as f32).collect();
                dataset.write(Selection::Points(points), &numbers).unwrap();
            }
            _ => {
                dataset
                    .sparse()
                    .write_bytes(&points, dataset.datatype(), &self.bytes(palette, values))
                    .unwrap();
            }
        }
    }

    fn bytes(&self, palette: &Palette, values: &[u8]) -> Vec<u8> {
        values.iter().flat_map(|value| palette.element(self.kind(), *value)).collect()
    }

    /// Writes to a selection through one of the methods that write selections.
    pub(crate) fn write(
        &self,
        dataset: &Dataset,
        palette: &Palette,
        call: u64,
        chosen: &Chosen,
        values: &[u8],
    ) {
        let (kind, selection) = (self.kind(), &chosen.0);
        match kind {
            Kind::Words if call.is_multiple_of(2) => {
                let texts: Vec<String> = values.iter().map(|value| words(*value)).collect();
                dataset.write_strings(selection, &texts).unwrap();
            }
            Kind::Sequence if call.is_multiple_of(2) && *selection == Selection::All => {
                let items: Vec<Vec<i32>> = values.iter().map(|value| sequence(*value)).collect();
                dataset.write_sequences(.., &items).unwrap();
            }
            _ if kind.is_number() && call % 3 == 1 => {
                let numbers: Vec<f64> = values.iter().map(|value| kind.number(*value)).collect();
                dataset.write(selection, &numbers).unwrap();
            }
            _ if call % 3 == 2 && !kind.is_variable() => {
                dataset.write_stored(selection, &self.bytes(palette, values)).unwrap();
            }
            _ => dataset.write_bytes(selection, dataset.datatype(), &self.bytes(palette, values)).unwrap(),
        }
    }

    /// Returns the defined elements among some coordinates, in C order.
    fn defined_among(&self, chosen: &Chosen) -> Vec<Place> {
        if !self.make.sparse {
            let places: BTreeSet<&Place> = chosen.1.iter().collect();
            return places.into_iter().cloned().collect();
        }
        if chosen.0 == Selection::All {
            return self.values.keys().cloned().collect();
        }
        let places: BTreeSet<&Place> = chosen.1.iter().collect();
        places.into_iter().filter(|place| self.values.contains_key(*place)).cloned().collect()
    }

    /// Reads a selection through every method that reads selections.
    pub(crate) fn compare_part(&self, dataset: &Dataset, chosen: &Chosen, call: u64) {
        let (selection, places) = chosen;
        assert_eq!(dataset.dataspace().dims(), self.dims);
        let readable = *selection != Selection::All || Make::size(&self.dims).is_some();
        if readable {
            let stored = dataset.read_stored(selection).unwrap();
            assert_eq!(self.kind().plain_of(&stored), self.plain(places), "read {selection:?}");
        }
        if self.kind().is_number() && call.is_multiple_of(3) && readable {
            let numbers = dataset.read_raw::<f64>(selection).unwrap();
            let expected: Vec<f64> =
                places.iter().map(|place| self.kind().number(self.value(place))).collect();
            assert_eq!(numbers, expected, "read as f64 {selection:?}");
        }
        if !self.make.sparse && !readable {
            return;
        }
        let defined = self.defined_among(chosen);
        let (points, stored) = dataset.sparse().read_stored(selection).unwrap();
        self.compare_defined(&defined, &points, &stored, &format!("read_defined {selection:?}"));
        let reported = dataset.sparse().defined(selection).unwrap();
        assert_eq!(places_of(&reported, &self.dims), defined, "defined {selection:?}");
    }

    fn compare_defined(&self, expected: &[Place], points: &Points, stored: &Stored, subject: &str) {
        assert_eq!((points.rank, stored.len()), (self.rank(), expected.len()), "{subject}");
        assert_eq!(points.coordinates, expected.concat(), "{subject}");
        assert_eq!(self.kind().plain_of(stored), self.plain(expected), "{subject}");
    }

    /// Reads all elements through every method.
    pub(crate) fn compare(&self, dataset: &Dataset) {
        let whole = Make::size(&self.dims);
        let places: Vec<Place> = whole.map(|size| all_places(&self.dims, size)).unwrap_or_default();
        let chosen = (Selection::All, places);
        self.compare_part(dataset, &chosen, 0);
        let size = dataset.size().unwrap();
        let count = if self.make.sparse { self.values.len() as u64 } else { size };
        assert_eq!(dataset.sparse().defined_count().unwrap(), count, "defined_count");
        let share = if size == 0 { 0.0 } else { count as f64 / size as f64 };
        assert!((dataset.sparse().density().unwrap() - share).abs() < 1e-12);
        if self.kind().is_number() && (self.make.sparse || whole.is_some()) {
            self.compare_rows(dataset);
        }
        let mut chunks = 0;
        for chunk in dataset.sparse().chunks().unwrap() {
            let sum: u64 = chunk.sections.iter().map(|section| section.size).sum();
            assert_eq!(sum, chunk.size);
            assert!(chunk.defined > 0, "an empty chunk is stored: {chunk:?}");
            chunks += chunk.defined;
        }
        if self.make.sparse {
            assert_eq!(chunks, count, "the chunks' defined elements");
        }
    }

    fn compare_rows(&self, dataset: &Dataset) {
        if self.dims[0] > 10_000 {
            return;
        }
        let (mut found, mut next) = (Vec::new(), 0);
        for block in dataset.sparse().rows::<f64>(3) {
            let block = block.unwrap();
            assert_eq!(block.start, next);
            next += block.rows;
            for (point, value) in block.points.coordinates.chunks_exact(self.rank()).zip(block.values) {
                assert!((block.start..next).contains(&point[0]));
                found.push((point.to_vec(), value));
            }
        }
        assert_eq!(next, self.dims[0]);
        let number = |(place, value): (&Place, &u8)| (place.clone(), self.kind().number(*value));
        let expected: Vec<(Place, f64)> = self.values.iter().map(number).collect();
        assert_eq!(found, expected, "defined_rows");
    }
}

fn all_places(dims: &[u64], size: usize) -> Vec<Place> {
    let place = |mut number: u64| {
        let mut place = vec![0; dims.len()];
        for (at, size) in place.iter_mut().zip(dims).rev() {
            *at = number % size;
            number /= size;
        }
        place
    };
    (0..size as u64).map(place).collect()
}

/// Returns the coordinates of a selection without overlaps, in C order.
fn places_of(selection: &Selection, dims: &[u64]) -> Vec<Place> {
    use hyperslab::Hyperslab;
    match selection {
        Selection::None => Vec::new(),
        Selection::All => all_places(dims, dims.iter().product::<u64>() as usize),
        Selection::Points(points) => {
            let places: BTreeSet<Place> =
                points.coordinates.chunks_exact(points.rank).map(<[u64]>::to_vec).collect();
            places.into_iter().collect()
        }
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            let mut places = Vec::new();
            for block in blocks {
                let count: Vec<u64> =
                    block.start.iter().zip(&block.end).map(|(from, to)| to - from + 1).collect();
                for place in all_places(&count, count.iter().product::<u64>() as usize) {
                    places.push(place.iter().zip(&block.start).map(|(at, start)| at + start).collect());
                }
            }
            let count = places.len();
            let set: BTreeSet<Place> = places.into_iter().collect();
            assert_eq!(set.len(), count, "blocks overlap");
            set.into_iter().collect()
        }
        Selection::Hyperslab(Hyperslab::Regular(regular)) => {
            let mut places = vec![Vec::new()];
            for dimension in 0..dims.len() {
                let (start, stride) = (regular.start[dimension], regular.stride[dimension]);
                let (count, block) = (regular.count[dimension], regular.block[dimension]);
                let axis: Vec<u64> = (0..count)
                    .flat_map(|at| (0..block).map(move |more| start + at * stride + more))
                    .collect();
                places = places
                    .iter()
                    .flat_map(|place: &Place| {
                        axis.iter().map(|at| [&place[..], &[*at]].concat()).collect::<Vec<_>>()
                    })
                    .collect();
            }
            places
        }
    }
}
