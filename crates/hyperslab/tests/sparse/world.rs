//! The file and its model.

use std::path::Path;
use std::sync::Arc;

use hyperslab::vfd::{Access, Core, Driver, Sec2};
use hyperslab::{
    Dataset, File, FileOptions, FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds, OpenOptions,
};
use hyperslab_check::CheckOptions;

use crate::array::Array;
use crate::draw::Numbers;
use crate::kind::{Palette, VALUES};
use crate::make::Make;
use crate::selection::{choose, points};

/// The storage of the file.
#[derive(Debug)]
enum Medium {
    Memory(Arc<Core>),
    File(tempfile::TempPath),
}

/// The properties of the file.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) on_disk: bool,
    pub(crate) chunk_cache: u64,
    pub(crate) sizes: u8,
    pub(crate) space: FileSpace,
    pub(crate) makes: Vec<Make>,
}

impl Settings {
    pub(crate) fn draw(numbers: &mut Numbers<'_>, common: bool) -> Self {
        use FileSpaceStrategy::{Aggregators, FreeSpaceAndAggregators, None as Never, Page};
        let strategy = numbers.one_of(&[FreeSpaceAndAggregators, Page, Aggregators, Never]);
        let managed = matches!(strategy, FreeSpaceAndAggregators | Page);
        Self {
            on_disk: numbers.once_in(6),
            chunk_cache: numbers.one_of(&[1 << 20, 0, 300, 2000]),
            sizes: 8,
            space: FileSpace {
                strategy,
                persist: numbers.once_in(2) && managed,
                threshold: 1,
                page_size: numbers.one_of(&[4096, 512]),
            },
            makes: (0..=numbers.below(2)).map(|_| Make::draw(numbers, common)).collect(),
        }
    }
}

/// The file and its model.
pub(crate) struct World {
    settings: Settings,
    medium: Medium,
    file: Option<File>,
    palette: Palette,
    forgot: bool,
    /// The datasets, `/sparse`, `/sparse1`, and so on.
    pub(crate) arrays: Vec<Array>,
    handles: Vec<Option<Dataset>>,
    /// `true` if the steps are printed.
    trace: bool,
}

pub(crate) fn name(number: usize) -> String {
    if number == 0 { "/sparse".to_owned() } else { format!("/sparse{number}") }
}

fn values(numbers: &mut Numbers<'_>, count: usize) -> Vec<u8> {
    let mut stream = numbers.stream();
    (0..count).map(|_| stream.below(VALUES) as u8).collect()
}

impl World {
    pub(crate) fn new(settings: &Settings, trace: bool) -> Self {
        let options = FileOptions::new()
            .libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap())
            .sizes(settings.sizes, settings.sizes)
            .file_space(settings.space)
            .chunk_cache(settings.chunk_cache);
        let medium = if settings.on_disk {
            Medium::File(tempfile::NamedTempFile::new().unwrap().into_temp_path())
        } else {
            Medium::Memory(Arc::new(Core::from_vec("sparse", Vec::new())))
        };
        let file = match &medium {
            Medium::Memory(core) => options.create_driver(core.clone()).unwrap(),
            Medium::File(path) => options.create(path).unwrap(),
        };
        file.new_dataset("/plain").write(&[3_i32, 1, 4, 1, 5]).unwrap();
        Palette::write(&file);
        let palette = Palette::of(&file);
        let mut world = Self {
            settings: settings.clone(),
            medium,
            file: Some(file),
            palette,
            forgot: false,
            arrays: Vec::new(),
            handles: Vec::new(),
            trace,
        };
        for (number, make) in settings.makes.iter().enumerate() {
            let mut make = make.clone();
            make.create(world.file(), &name(number));
            world.told(|| format!("create {} {make:?}", name(number)));
            world.arrays.push(Array::new(make));
            world.handles.push(None);
        }
        world
    }

    #[expect(clippy::print_stderr, reason = "the steps of a sequence that failed")]
    fn told(&self, subject: impl FnOnce() -> String) {
        if self.trace {
            eprintln!("{}", subject());
        }
    }

    fn file(&self) -> &File {
        self.file.as_ref().unwrap()
    }

    /// Returns the stored bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match &self.medium {
            Medium::Memory(core) => core.to_vec(),
            Medium::File(path) => std::fs::read(path).unwrap(),
        }
    }

    /// Returns a dataset, by a handle that may be older than many changes.
    fn handle(&mut self, number: usize, anew: bool) -> Dataset {
        if anew || self.handles[number].is_none() {
            self.handles[number] = Some(self.file().dataset(&name(number)).unwrap());
        }
        self.handles[number].clone().unwrap()
    }

    /// Applies one operation to the file and the model, and compares what both return.
    pub(crate) fn perform(&mut self, numbers: &mut Numbers<'_>) {
        let subject = numbers.below(22);
        let number = numbers.below(self.arrays.len() as u64) as usize;
        let dataset = self.handle(number, numbers.below(2) == 0);
        match subject {
            0..=4 => self.write_points(number, &dataset, numbers),
            5..=8 => self.write(number, &dataset, numbers),
            9 | 10 => self.erase(number, &dataset, numbers),
            11..=13 => self.resize(number, &dataset, numbers),
            14 | 15 => self.append(number, &dataset, numbers),
            16 => self.copy_chunk(number, &dataset, numbers),
            17 => {
                self.told(|| "flush".to_owned());
                self.file().flush().unwrap();
            }
            18 if numbers.once_in(2) => {
                drop(dataset);
                self.reopen();
            }
            19 if numbers.once_in(2) => self.make_anew(number, numbers),
            20 => self.arrays[number].compare(&dataset),
            _ => {
                let array = &self.arrays[number];
                let chosen = choose(numbers, &array.dims, &array.make.chunk);
                self.told(|| format!("read {number} {:?}", chosen.0));
                array.compare_part(&dataset, &chosen, numbers.below(3));
            }
        }
    }

    fn write_points(&mut self, number: usize, dataset: &Dataset, numbers: &mut Numbers<'_>) {
        let array = &mut self.arrays[number];
        let places = points(numbers, &array.dims, &array.make.chunk);
        let values = values(numbers, places.len());
        let call = numbers.below(6);
        if self.trace {
            self.told(|| format!("write_points {number} call {call}: {places:?} {values:?}"));
        }
        let array = &mut self.arrays[number];
        array.write_points(dataset, &self.palette, call, &places, &values);
        array.put(&places, &values);
    }

    fn write(&mut self, number: usize, dataset: &Dataset, numbers: &mut Numbers<'_>) {
        let array = &self.arrays[number];
        let chosen = choose(numbers, &array.dims, &array.make.chunk);
        let values = values(numbers, chosen.1.len());
        let call = numbers.below(6);
        self.told(|| format!("write {number} call {call}: {:?} {values:?}", chosen.0));
        let array = &mut self.arrays[number];
        array.write(dataset, &self.palette, call, &chosen, &values);
        array.put(&chosen.1, &values);
    }

    fn erase(&mut self, number: usize, dataset: &Dataset, numbers: &mut Numbers<'_>) {
        let array = &self.arrays[number];
        let chosen = choose(numbers, &array.dims, &array.make.chunk);
        self.told(|| format!("erase {number} {:?}", chosen.0));
        let outcome = dataset.sparse().erase(&chosen.0);
        let array = &mut self.arrays[number];
        if !array.make.sparse {
            outcome.unwrap_err();
            return;
        }
        outcome.unwrap();
        for place in &chosen.1 {
            array.values.remove(place);
        }
    }

    fn resize(&mut self, number: usize, dataset: &Dataset, numbers: &mut Numbers<'_>) {
        let array = &self.arrays[number];
        let mut dims = array.dims.clone();
        for (size, (maximum, chunk)) in dims.iter_mut().zip(array.make.max_dims.iter().zip(&array.make.chunk))
        {
            let maximum = maximum.unwrap_or(*size + 2 * chunk);
            *size = match numbers.below(6) {
                0 | 1 => *size,
                2 => numbers.below(maximum + 1),
                3 => (*size).saturating_sub(1 + numbers.below(*chunk)),
                4 => (*size + 1 + numbers.below(*chunk)).min(maximum),
                _ => (*size / chunk * chunk).min(maximum),
            };
        }
        self.told(|| format!("resize {number} {dims:?}"));
        dataset.resize(&dims).unwrap();
        self.arrays[number].resize(&dims);
    }

    fn append(&mut self, number: usize, dataset: &Dataset, numbers: &mut Numbers<'_>) {
        let array = &self.arrays[number];
        let axis = numbers.below(array.dims.len() as u64) as usize;
        let maximum = array.make.max_dims[axis].map_or(u64::MAX, |maximum| maximum - array.dims[axis]);
        let length = (1 + numbers.below(2 * array.make.chunk[axis])).min(maximum);
        let mut added = array.dims.clone();
        added[axis] = length;
        if array.make.kind.is_number() {
            let places = points(numbers, &added, &array.make.chunk);
            let values = values(numbers, places.len());
            self.told(|| format!("append_points {number} axis {axis} by {length}: {places:?} {values:?}"));
            let moved = |mut place: Vec<u64>| {
                place[axis] += self.arrays[number].dims[axis];
                place
            };
            let kind = self.arrays[number].make.kind;
            let elements: Vec<f64> = values.iter().map(|value| kind.number(*value)).collect();
            let points = crate::selection::points_of(added.len(), &places);
            dataset.sparse().append(axis, length, &points, &elements).unwrap();
            let places: Vec<Vec<u64>> = places.into_iter().map(moved).collect();
            let array = &mut self.arrays[number];
            array.dims[axis] += length;
            array.put(&places, &values);
        }
    }

    /// Copies a stored chunk to other coordinates.
    fn copy_chunk(&mut self, number: usize, dataset: &Dataset, numbers: &mut Numbers<'_>) {
        let array = &self.arrays[number];
        let (dims, cut) = (array.dims.clone(), array.make.chunk.clone());
        if dims.contains(&0) {
            return;
        }
        let mut chunk_of = || -> Vec<u64> {
            dims.iter().zip(&cut).map(|(size, cut)| numbers.below(size.div_ceil(*cut).min(4))).collect()
        };
        let (from, to) = (chunk_of(), chunk_of());
        let origin =
            |scaled: &[u64]| -> Vec<u64> { scaled.iter().zip(&cut).map(|(at, cut)| at * cut).collect() };
        let is_edge = |scaled: &[u64]| {
            scaled.iter().zip(&cut).zip(&dims).any(|((at, cut), size)| (at + 1) * cut > *size)
        };
        let Some(chunk) = dataset.sparse().read_chunk(&origin(&from)).unwrap() else { return };
        let filtered =
            dataset.sparse().chunking().unwrap().sections.iter().any(|(_, filters)| !filters.is_empty());
        let places = |scaled: &[u64]| {
            let inside = |place: &&Vec<u64>| {
                place.iter().zip(&cut).zip(scaled).all(|((at, cut), scaled)| at / cut == *scaled)
            };
            array.values.keys().filter(inside).cloned().collect::<Vec<_>>()
        };
        let (source, gone) = (places(&from), places(&to));
        let moved = |place: &Vec<u64>| -> Vec<u64> {
            place.iter().zip(&cut).zip(&to).map(|((at, cut), to)| at % cut + to * cut).collect()
        };
        let copies: Vec<Vec<u64>> = source.iter().map(moved).collect();
        let beyond = copies.iter().any(|place| place.iter().zip(&dims).any(|(at, size)| at >= size));
        // Chunks at the edge may be unfiltered, and then do not decode at other coordinates.
        if array.make.edges_unfiltered && filtered && is_edge(&from) != is_edge(&to) {
            return;
        }
        // Chunks with all elements defined also contain elements outside the extent.
        if !array.make.sparse && (is_edge(&from) || is_edge(&to)) {
            return;
        }
        self.told(|| format!("copy chunk {number} {from:?} to {to:?}"));
        let outcome = dataset.sparse().write_chunk(&origin(&to), &chunk);
        // Elements outside the extent are refused if elements can be undefined.
        if beyond && array.make.sparse {
            outcome.unwrap_err();
            return;
        }
        outcome.unwrap();
        let array = &mut self.arrays[number];
        let values: Vec<u8> = source.iter().map(|place| array.values[place]).collect();
        for place in &gone {
            array.values.remove(place);
        }
        for (place, value) in copies.into_iter().zip(values) {
            if place.iter().zip(&array.dims).all(|(at, size)| at < size) {
                array.values.insert(place, value);
            }
        }
    }

    fn make_anew(&mut self, number: usize, numbers: &mut Numbers<'_>) {
        self.handles[number] = None;
        self.file().remove(&name(number)).unwrap();
        let mut make = if numbers.once_in(2) {
            self.arrays[number].make.clone()
        } else {
            Make::draw(numbers, self.arrays[number].make.common)
        };
        self.told(|| format!("delete {number} and make it anew {make:?}"));
        make.create(self.file(), &name(number));
        self.arrays[number] = Array::new(make);
    }

    pub(crate) fn reopen(&mut self) {
        self.told(|| "reopen".to_owned());
        self.compare(self.file());
        self.handles.iter_mut().for_each(|handle| *handle = None);
        self.file.take().unwrap().close().unwrap();
        self.compare(&self.open(OpenOptions::new()));
        self.check();
        self.forgot |= !self.settings.space.persist;
        let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
        let options = OpenOptions::new().write(true).libver(bounds).chunk_cache(self.settings.chunk_cache);
        self.file = Some(self.open(options));
        self.palette = Palette::of(self.file());
    }

    fn open(&self, options: OpenOptions) -> File {
        match &self.medium {
            Medium::Memory(core) => options.open_driver(core.clone()).unwrap(),
            Medium::File(path) => options.open(path).unwrap(),
        }
    }

    fn check(&self) {
        let driver: Arc<dyn Driver> = match &self.medium {
            Medium::Memory(core) => core.clone(),
            Medium::File(path) => Arc::new(Sec2::open(Path::new(path), Access::ReadOnly).unwrap()),
        };
        let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
        let report = hyperslab_check::check(driver, &options).unwrap();
        assert_eq!(report.faults, 0, "{:#?}", report.findings);
        // The checker does not check the contents of these chunks yet.
        let other = report.findings.iter().find(|finding| !finding.text.contains("structured chunk"));
        assert!(report.unchecked == 0 || other.is_none(), "{:#?}", report.findings);
        let space = self.settings.space;
        let kept = space.persist && space.threshold <= 1;
        if kept {
            assert_eq!(report.leaked_bytes(), 0, "leaked: {:x?}, {:#?}", report.leaked, report.usage);
        }
        assert_eq!(report.leaked_heap_objects.blocks, 0);
    }

    /// Checks that the file equals the model.
    fn compare(&self, file: &File) {
        assert_eq!(file.dataset("/plain").unwrap().read_raw::<i32>(..).unwrap(), [3, 1, 4, 1, 5]);
        for (number, array) in self.arrays.iter().enumerate() {
            array.compare(&file.dataset(&name(number)).unwrap());
        }
    }
}
