//! Every type × layout × filter × bound: hyperslab writes the file, libhdf5 reads and changes it,
//! hyperslab reads and changes it, and so on. In a second run, libhdf5 writes the file first.
//!
//! `HYPERSLAB_MATRIX=1` tests all combinations (`cargo xtask model`), and another number `n` tests
//! one of `n` combinations. `HYPERSLAB_MATRIX_ONLY=v110` tests only the combinations with one
//! bound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use hyperslab::filter::FilterSpec;
use hyperslab::{
    AllocationTime, Dataset, ErrorKind, File, FileOptions, FileSpace, FileSpaceStrategy, FillTime, Layout,
    LibraryVersion, LibverBounds, OpenOptions, Region,
};
use hyperslab_testkit::referee;

use super::judge::{self, Manifest};
use super::sequence::element::{KINDS, Kind, VALUES};
use super::sequence::operation::{Make, Stored};

/// The storage of a dataset.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    dims: &'static [u64],
    max_dims: &'static [Option<u64>],
    chunk: &'static [u64],
    allocation: AllocationTime,
}

impl Way {
    const fn chunked(
        name: &'static str,
        dims: &'static [u64],
        max_dims: &'static [Option<u64>],
        chunk: &'static [u64],
    ) -> Self {
        Self { name, dims, max_dims, chunk, allocation: AllocationTime::Default }
    }
}

/// The variants have the names of the chunk indexes with new bounds. With old bounds, all have
/// version 1 B-trees.
const WAYS: [Way; 13] = [
    Way::chunked("compact", &[5, 4], &[], &[]),
    Way::chunked("contiguous", &[11, 7], &[], &[]),
    Way::chunked("external", &[11, 7], &[], &[]),
    Way::chunked("scalar", &[], &[], &[]),
    Way::chunked("single", &[9, 6], &[Some(9), Some(6)], &[9, 6]),
    Way::chunked("fixed array", &[10, 13], &[Some(10), Some(13)], &[4, 3]),
    Way::chunked("fixed array, to grow", &[4, 5, 3], &[Some(9), Some(5), Some(7)], &[2, 2, 3]),
    Way::chunked("fixed array, paged", &[3000], &[Some(4000)], &[2]),
    Way {
        allocation: AllocationTime::Early,
        ..Way::chunked("implicit", &[7, 5], &[Some(12), Some(5)], &[3, 2])
    },
    Way::chunked("extensible array", &[10, 6], &[None, Some(6)], &[2, 4]),
    Way::chunked("extensible array, long", &[3000], &[None], &[3]),
    Way::chunked("tree", &[8, 9], &[None, None], &[3, 2]),
    Way {
        allocation: AllocationTime::Early,
        ..Way::chunked("tree, early", &[4, 3, 5], &[None, Some(8), None], &[2, 2, 2])
    },
];

/// Filters of `Make::filters`.
const FILTERS: u64 = 9;

const LOWS: [LibraryVersion; 6] = [
    LibraryVersion::Earliest,
    LibraryVersion::V18,
    LibraryVersion::V110,
    LibraryVersion::V112,
    LibraryVersion::V114,
    LibraryVersion::V200,
];

/// A sample contains one of this number of combinations.
const SAMPLE: usize = 53;

fn step() -> usize {
    std::env::var("HYPERSLAB_MATRIX").map_or(SAMPLE, |value| value.parse().unwrap())
}

/// Returns the names and properties of the datasets of one file.
fn combinations(low: LibraryVersion, offset: usize) -> Vec<(String, Way, Make)> {
    let mut found = Vec::new();
    for way in WAYS {
        for kind in KINDS {
            let chunked = !way.chunk.is_empty();
            for filters in 0..if chunked { FILTERS } else { 1 } {
                let edges_unfiltered = filters == 8 && low >= LibraryVersion::V110;
                let number = found.len();
                let make = Make {
                    kind,
                    dims: way.dims.to_vec(),
                    max_dims: way.max_dims.to_vec(),
                    stored: if chunked { Stored::Chunked } else { Stored::Contiguous },
                    chunk: way.chunk.to_vec(),
                    filters,
                    edges_unfiltered,
                    fill: (number % 3 == 1).then_some((number % VALUES as usize) as u8),
                    fill_time: FillTime::IfSet,
                    allocation_time: way.allocation,
                    track_order: number % 5 == 2,
                    track_times: number % 4 == 2,
                };
                let twice = filters > 0 && make.filters().is_empty();
                if twice || (way.name.starts_with("implicit") && filters > 0) {
                    continue;
                }
                found.push((format!("{}/{kind:?} {filters}", way.name), way, make));
            }
        }
    }
    let step = step();
    found.into_iter().skip(offset * 5 % step).step_by(step).collect()
}

/// Returns `count` elements, starting at any value of the cycle of values.
fn elements(kind: Kind, count: u64, from: u64) -> Vec<u8> {
    (0..count).flat_map(|at| kind.encode(((at * 7 + from) % VALUES) as u8)).collect()
}

fn make(file: &File, low: LibraryVersion, name: &str, way: &Way, make: &Make) -> Option<Dataset> {
    // Each file has a separate external file: a shared external file would change with both.
    let raw = format!("{}_{}.raw", low.name(), name.replace(['/', ' ', ','], "_"));
    let builder = file.new_dataset(name).datatype(make.kind.datatype()).shape(&make.dims);
    let builder = match way.name {
        "compact" => builder.compact(),
        "external" => builder.external(&[(&raw, 3, Some(100)), (&raw, 200, None)]),
        _ if way.chunk.is_empty() => builder.contiguous(),
        _ => {
            let builder = builder.chunks(&make.chunk).max_shape(&make.max_dims);
            let filtered = |builder: hyperslab::DatasetBuilder, filter: FilterSpec| builder.filter(filter);
            let builder = make.filters().into_iter().fold(builder, filtered);
            if make.edges_unfiltered { builder.unfiltered_edges() } else { builder }
        }
    };
    let builder = match make.fill {
        Some(value) => builder.fill_stored(&make.kind.encode(value)),
        None => builder,
    };
    let builder = builder.allocation_time(make.allocation_time).fill_time(make.fill_time);
    match builder.track_order(make.track_order).track_times(make.track_times).create() {
        Ok(dataset) => Some(dataset),
        // Szip and n-bit do not support every chunk.
        Err(error) if error.kind() == ErrorKind::Misuse && make.filters > 4 => None,
        Err(error) => panic!("{name}: {error}: {make:?}"),
    }
}

fn fill(file: &File, low: LibraryVersion, offset: usize) {
    for (number, (name, way, wanted)) in combinations(low, offset).into_iter().enumerate() {
        let Some(dataset) = make(file, low, &name, &way, &wanted) else { continue };
        let count = dataset.size().unwrap();
        match number % 4 {
            // The dataset is never written.
            3 if number % 8 == 3 && way.name != "external" => {}
            // The test writes the dataset in parts, from the last to the first.
            0 | 3 if !wanted.dims.is_empty() => {
                let first = (wanted.dims[0] / 3).max(1);
                for (start, size) in [(first, wanted.dims[0] - first), (0, first)] {
                    let mut region = Region::whole(&wanted.dims);
                    (region.start[0], region.count[0]) = (start, size);
                    let bytes = elements(wanted.kind, region.count.iter().product(), start);
                    dataset.write_stored(&region, &bytes).unwrap();
                }
            }
            _ => dataset.write_stored(.., &elements(wanted.kind, count, 3)).unwrap(),
        }
        if number % 2 == 1 && !wanted.max_dims.is_empty() {
            change(&dataset, number);
        }
        for attribute in 0..[0, 3, 12][number % 3] {
            dataset
                .set_attribute(&format!("attribute {attribute}"), vec![attribute as f32; number % 40])
                .unwrap();
        }
    }
}

fn resize(dataset: &Dataset, by: i64) {
    let space = dataset.dataspace();
    let changed = |(size, maximum): (&u64, Option<u64>)| {
        size.saturating_add_signed(by).min(maximum.unwrap_or(u64::MAX))
    };
    let dims: Vec<u64> = space.dims().iter().zip(space.max_dims()).map(changed).collect();
    dataset.resize(&dims).unwrap();
}

/// Rotates all elements, writes the last elements to the first half along each dimension, and
/// changes the shape of a chunked dataset in between. Reads the dataset after each step.
fn change(dataset: &Dataset, number: usize) {
    roll(dataset, 1);
    part(dataset);
    if matches!(dataset.layout(), Layout::Chunked(_)) {
        let steps = [[5, -7, 3], [-3, -2, 8], [11, -20, 6]][number % 3];
        for by in steps {
            resize(dataset, by);
            roll(dataset, 2);
        }
        resize(dataset, 2);
        part(dataset);
    }
}

fn rolled(dataset: &Dataset, elements: usize) -> Vec<u8> {
    let mut bytes = dataset.read_stored(..).unwrap().bytes().to_vec();
    let by = elements * dataset.datatype().size as usize;
    if bytes.len() > by {
        bytes.rotate_right(by);
    }
    bytes
}

fn roll(dataset: &Dataset, elements: usize) {
    let bytes = rolled(dataset, elements);
    dataset.write_stored(.., &bytes).unwrap();
    assert_eq!(dataset.read_stored(..).unwrap().bytes(), bytes, "{dataset:?}");
}

fn part(dataset: &Dataset) {
    let dims = dataset.dataspace().dims().to_vec();
    if dims.is_empty() || dims.contains(&0) {
        return;
    }
    let mut region = Region::whole(&dims);
    region.count.iter_mut().for_each(|size| *size = size.div_ceil(2));
    let count = region.count.iter().product::<u64>() as usize * dataset.datatype().size as usize;
    let bytes = dataset.read_stored(..).unwrap().bytes().to_vec();
    let bytes = &bytes[bytes.len() - count..];
    dataset.write_stored(&region, bytes).unwrap();
    let read = dataset.read_stored(&region).unwrap();
    assert_eq!(read.bytes(), bytes, "{dataset:?}");
}

/// Changes everything in a file that libhdf5 wrote last.
pub(crate) fn change_file(path: &Path, low: LibraryVersion) {
    let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
    let file = OpenOptions::new().write(true).libver(bounds).open(path).unwrap();
    let paths: Vec<String> = judge::content(&file).into_keys().collect();
    for (number, path) in paths.iter().enumerate() {
        if path == "/" || file.object(path).is_err() {
            continue;
        }
        let object = file.object(path).unwrap();
        if object.kind() == Some(hyperslab::ObjectKind::Group) {
            let group = object.into_group().unwrap();
            let taken =
                |first: usize| (0..14).any(|at| group.link_exists(&format!("link {first} {at}")).unwrap());
            let first = (group.len().unwrap()..).find(|first| !taken(*first)).unwrap();
            let name = |at: usize| format!("link {first} {at}");
            (0..14).for_each(|at| group.link_soft(&name(at), "/elsewhere").unwrap());
            (0..number % 14).for_each(|at| group.remove(&name(at)).unwrap());
            if path.contains("by libhdf5") {
                file.rename(path, &format!("{path} renamed/{number}")).unwrap();
            }
            continue;
        }
        let dataset = object.into_dataset().unwrap();
        match number % 7 {
            5 => file.remove(path).unwrap(),
            4 => file.rename(path, &format!("{path} renamed")).unwrap(),
            _ => change(&dataset, number),
        }
        if number % 7 != 5 {
            for at in 0..number % 13 {
                dataset.set_attribute(&format!("by hyperslab {at}"), vec![at as u16; number % 60]).unwrap();
            }
            let names = dataset.attribute_names().unwrap();
            names.iter().step_by(2).for_each(|name| dataset.remove_attribute(name).unwrap());
        }
        if number % 20 == 0 {
            file.flush().unwrap();
        }
    }
    let expected = judge::content(&file);
    file.close().unwrap();
    judge::assert_same("after closing", &judge::content(&File::open(path).unwrap()), &expected);
    judge::assert_sound(path);
}

fn manifest(paths: &[(PathBuf, LibraryVersion)]) -> Manifest {
    let content = |path: &Path| judge::content(&File::open(path).unwrap());
    paths.iter().map(|(path, _)| (path.to_str().unwrap().to_owned(), content(path))).collect()
}

/// Reads the files with bounds up to 1.10 with h5dump 1.10.
fn dump(paths: &[(PathBuf, LibraryVersion)]) {
    for (path, low) in paths.iter().filter(|(_, low)| *low <= LibraryVersion::V110) {
        let folder = path.parent().unwrap();
        let Ok(output) = Command::new("h5dump").arg(path).current_dir(folder).output() else { return };
        // h5dump lacks the filters of h5py.
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || text.contains("unable to print data"), "{low:?}: {text}");
    }
}

fn space(low: LibraryVersion, variant: usize) -> Option<FileSpace> {
    let strategy = [FileSpaceStrategy::FreeSpaceAndAggregators, FileSpaceStrategy::Page];
    let space = FileSpace { strategy: strategy[variant % 2], persist: true, threshold: 1, page_size: 4096 };
    (low >= LibraryVersion::V110 && variant > 0).then_some(space)
}

#[test]
fn in_turn_with_libhdf5() {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    let only = std::env::var("HYPERSLAB_MATRIX_ONLY").unwrap_or_default();
    for (number, low) in LOWS.into_iter().enumerate().filter(|(_, low)| low.name().contains(&only)) {
        let path = folder.path().join(format!("{}.h5", low.name()));
        let bounds = LibverBounds::new(low, LibraryVersion::LATEST).unwrap();
        let options = FileOptions::new().libver(bounds);
        let options = match space(low, number % 3) {
            Some(space) => options.file_space(space),
            None => options,
        };
        let file = options.create(&path).unwrap();
        fill(&file, low, number);
        let expected = judge::content(&file);
        file.close().unwrap();
        judge::assert_same(low.name(), &judge::content(&File::open(&path).unwrap()), &expected);
        judge::assert_exact(&path);
        paths.push((path, low));
    }
    dump(&paths);
    let low: BTreeMap<String, String> =
        paths.iter().map(|(path, low)| (path.to_str().unwrap().to_owned(), low.name().to_owned())).collect();
    let answer = judge::ask(&python, folder.path(), &["verify", "copy", "change"], &manifest(&paths), &low);
    let changed = judge::manifest(&answer["changed"]);
    let all: Vec<(PathBuf, LibraryVersion)> = changed
        .keys()
        .map(|name| {
            let low = low[&name.replace(".libhdf5", "")].as_str();
            (PathBuf::from(name), LibraryVersion::from_name(low).unwrap())
        })
        .collect();
    for round in 0..2 {
        for (path, low) in &all {
            judge::assert_sound(path);
            if round == 0 {
                let name = path.to_str().unwrap();
                judge::assert_same(name, &judge::content(&File::open(path).unwrap()), &changed[name]);
            }
            change_file(path, *low);
        }
        dump(&all);
        judge::ask(&python, folder.path(), &["verify", "change"], &manifest(&all), &low);
    }
    all.iter().for_each(|(path, _)| judge::assert_sound(path));
}
