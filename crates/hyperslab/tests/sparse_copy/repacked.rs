//! Repacked files with datasets that become sparse, or stop being sparse.

use hyperslab::filter::FilterSpec;
use hyperslab::{
    CharacterSet, Dataset, Datatype, File, FileOptions, IxDyn, Layout, LibraryVersion, LibverBounds, Points,
    Repack, RepackLayout, Section, SelectionEncoding,
};
use proptest::prelude::*;

use super::{check, points, same_bytes, same_texts};

fn repack(source: &File, work: &Repack<'_>) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.h5");
    let done = work.run(source, &path).unwrap();
    assert_eq!(done.kept, []);
    check(&path);
    // The bytes in memory outlive the folder.
    let bytes = std::fs::read(&path).unwrap();
    File::from_bytes(bytes).unwrap()
}

fn bits(dataset: &Dataset) -> Vec<u32> {
    dataset.read_raw::<f32>(..).unwrap().into_iter().map(f32::to_bits).collect()
}

/// Returns values, many of which are zero, negative zero or NaN.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => Just(0.0_f32),
        2 => Just(-0.0_f32),
        2 => Just(f32::NAN),
        1 => Just(f32::from_bits(0xffc0_0001)),
        2 => Just(1.5_f32),
        1 => any::<f32>(),
    ]
}

#[derive(Debug, Clone)]
struct Case {
    dims: Vec<u64>,
    values: Vec<f32>,
    fill: Option<f32>,
    undefined: Option<f32>,
    /// The chunk shape; `None` for the contiguous layout.
    chunk: Option<Vec<u64>>,
    sparse: Vec<u64>,
    filtered: bool,
    encoding: SelectionEncoding,
    /// Only the first values are written, in chunks.
    partly: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let dims = prop::collection::vec(1_u64..9, 1..4);
    let encoding = prop_oneof![
        Just(SelectionEncoding::Blocks),
        Just(SelectionEncoding::Points),
        Just(SelectionEncoding::Shortest)
    ];
    dims.prop_flat_map(move |dims| {
        let count = usize::try_from(dims.iter().product::<u64>()).unwrap();
        let chunk = prop::collection::vec(1_u64..6, dims.len());
        let other = prop::collection::vec(1_u64..6, dims.len());
        let values = prop::collection::vec(value(), count);
        let fill = prop::option::of(value());
        let undefined = prop::option::of(value());
        let rest = (any::<bool>(), encoding.clone(), any::<bool>());
        (Just(dims), values, (fill, undefined), prop::option::of(chunk), other, rest).prop_map(
            |(dims, values, (fill, undefined), chunk, sparse, (filtered, encoding, partly))| Case {
                dims,
                values,
                fill,
                undefined,
                chunk,
                sparse,
                filtered,
                encoding,
                partly,
            },
        )
    })
}

impl Case {
    fn dense(&self) -> File {
        let file = FileOptions::new().create_in_memory().unwrap();
        let mut new = file.new_dataset("a").of::<f32>().shape(&self.dims);
        if let Some(chunk) = &self.chunk {
            let chunk: Vec<u64> = chunk.iter().zip(&self.dims).map(|(size, dim)| *size.min(dim)).collect();
            new = new.chunks(&chunk);
        }
        if let Some(fill) = self.fill {
            new = new.fill(fill);
        }
        let made = new.create().unwrap();
        if self.partly {
            let first = hyperslab::Region::new(&vec![0; self.dims.len()], &vec![1; self.dims.len()]).unwrap();
            made.write(&first, &self.values[..1]).unwrap();
        } else {
            made.write(.., &self.values).unwrap();
        }
        file
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn dense_datasets_become_sparse_and_dense_again(case in case()) {
        let source = case.dense();
        let before = source.dataset("a").unwrap();
        let expected = bits(&before);
        let filters = if case.filtered { vec![FilterSpec::shuffle(), FilterSpec::deflate(2)] } else { Vec::new() };
        let mut work = Repack::new()
            .layout("a", RepackLayout::Sparse(case.sparse.clone())).unwrap()
            .filters("a", filters).unwrap()
            .selection_encoding(case.encoding);
        if let Some(undefined) = case.undefined {
            work = work.undefined("a", undefined).unwrap();
        }
        let sparse = repack(&source, &work);
        let made = sparse.dataset("a").unwrap();
        prop_assert_eq!(made.layout(), Layout::Structured);
        prop_assert_eq!(bits(&made), expected.clone());
        let skipped = case.undefined.or(case.fill).unwrap_or(0.0).to_bits();
        let defined = expected.iter().filter(|bits| **bits != skipped).count();
        prop_assert_eq!(made.sparse().defined_count().unwrap(), defined as u64);
        // Other chunks, without filters; then the contiguous, compact and chunked layout.
        let again = Repack::new().layout("a", RepackLayout::AutoSparse { density: None }).unwrap();
        let again = again.filters("a", Vec::new()).unwrap();
        let other = repack(&sparse, &again);
        same_bytes(&made, &other.dataset("a").unwrap());
        for layout in [
            RepackLayout::Contiguous,
            RepackLayout::Compact,
            RepackLayout::Chunked(case.sparse.iter().map(|size| size + 1).collect()),
        ] {
            let back = repack(&sparse, &Repack::new().layout("a", layout).unwrap());
            let back = back.dataset("a").unwrap();
            prop_assert!(back.layout() != Layout::Structured);
            prop_assert_eq!(bits(&back), expected.clone());
        }
    }
}

#[test]
fn chunks_without_writes_are_not_stored() {
    let source = FileOptions::new().create_in_memory().unwrap();
    // The dataset is too large to be read whole.
    let large =
        source.new_dataset("a").of::<f64>().shape(&[1 << 24, 1 << 20]).chunks(&[64, 64]).create().unwrap();
    let at = Points { rank: 2, coordinates: vec![5, 7, 1 << 23, 1 << 19] };
    large.sparse().write(&at, &[1.0, 2.0]).unwrap();
    source.new_dataset("b").of::<f64>().shape(&[1 << 40]).create().unwrap();
    let work = Repack::new().layout("*", RepackLayout::AutoSparse { density: None }).unwrap();
    let sparse = repack(&source, &work);
    assert_eq!(sparse.dataset("b").unwrap().sparse().defined_count().unwrap(), 0);
    let made = sparse.dataset("a").unwrap();
    let (points, values) = made.sparse().read::<f64>(..).unwrap();
    assert_eq!((points, values), (at, vec![1.0, 2.0]));
    let dense = repack(&sparse, &Repack::new().layout("a", RepackLayout::Chunked(vec![32, 32])).unwrap());
    let dense = dense.dataset("a").unwrap();
    assert_eq!(dense.chunks().list().unwrap().len(), 2);
    assert_eq!(
        dense.read::<f64, IxDyn>(hyperslab::s![1 << 23, 1 << 19]).unwrap().into_raw_vec_and_offset().0,
        [2.0]
    );
}

#[test]
fn elements_determine_the_density() {
    let source = FileOptions::new().create_in_memory().unwrap();
    let dims = [2000, 1500];
    for (name, every) in [("thin", 1000), ("thick", 10)] {
        let values: Vec<u8> = (0..3_000_000_u32).map(|number| u8::from(number % every == 0)).collect();
        source.new_dataset(name).of::<u8>().shape(&dims).create().unwrap().write(.., &values).unwrap();
    }
    let auto = |density| Repack::new().layout("*", RepackLayout::AutoSparse { density }).unwrap();
    let shape = |file: &File, name: &str| file.dataset(name).unwrap().sparse().chunking().unwrap().shape;
    let reported = repack(&source, &auto(None));
    assert_eq!(shape(&reported, "thin"), shape(&repack(&source, &auto(Some(0.001))), "thin"));
    assert_eq!(shape(&reported, "thick"), shape(&repack(&source, &auto(Some(0.1))), "thick"));
    assert_ne!(shape(&reported, "thin"), shape(&reported, "thick"));
    let again = repack(&reported, &auto(None));
    assert_eq!(shape(&again, "thin"), shape(&reported, "thin"));
}

#[test]
fn filters_of_all_sections_and_of_one() {
    let source = FileOptions::new().create_in_memory().unwrap();
    let values: Vec<u32> = (0..10_000).map(|number| if number % 7 == 0 { number } else { 0 }).collect();
    let new = source.new_dataset("a").of::<u32>().shape(&[10_000]).chunks(&[100]);
    new.filter(FilterSpec::scale_offset_int(0)).deflate(1).create().unwrap().write(.., &values).unwrap();
    let sparse = RepackLayout::Sparse(vec![1000]);
    let ids = |file: &File| -> Vec<Vec<u16>> {
        let sections = file.dataset("a").unwrap().sparse().chunking().unwrap().sections;
        sections
            .into_iter()
            .map(|(_, filters)| filters.into_iter().map(|filter| filter.id).collect())
            .collect()
    };
    // The kept filters skip the coordinates if they apply to numbers only.
    let kept = repack(&source, &Repack::new().layout("a", sparse.clone()).unwrap());
    assert_eq!(ids(&kept), [vec![1], vec![6, 1]]);
    let work = Repack::new().layout("a", sparse).unwrap();
    let work = work.filters("a", vec![FilterSpec::deflate(9)]).unwrap();
    let work = work.section_filters("a", Section::Selection, vec![FilterSpec::shuffle()]).unwrap();
    let reported = repack(&source, &work);
    assert_eq!(ids(&reported), [vec![2], vec![1]]);
    // Other filters for one section, the rest unchanged; then the original filters, with those of
    // the values.
    let work = Repack::new().section_filters("a", Section::Selection, Vec::new()).unwrap();
    let plain = repack(&reported, &work);
    assert_eq!(ids(&plain), [vec![], vec![1]]);
    let back = repack(&kept, &Repack::new().layout("a", RepackLayout::AutoChunked).unwrap());
    let filters: Vec<u16> = back.dataset("a").unwrap().filters().iter().map(|filter| filter.id).collect();
    assert_eq!(filters, [6, 1]);
    for file in [&kept, &reported, &plain, &back] {
        assert_eq!(file.dataset("a").unwrap().read_raw::<u32>(..).unwrap(), values);
    }
}

#[test]
fn lists_of_points_become_blocks_and_back() {
    let source = FileOptions::new().create_in_memory().unwrap();
    let new = source.new_dataset("a").of::<u16>().shape(&[300, 300]).sparse(&[100, 100]);
    let before = new.create().unwrap();
    let at = points(&[300, 300], 500);
    before.sparse().write(&at, &vec![3_u16; at.coordinates.len() / 2]).unwrap();
    let size = |file: &File| -> u64 {
        file.dataset("a").unwrap().sparse().chunks().unwrap().iter().map(|chunk| chunk.size).sum()
    };
    let listed = repack(&source, &Repack::new().selection_encoding(SelectionEncoding::Points));
    let blocks = repack(&listed, &Repack::new().selection_encoding(SelectionEncoding::Blocks));
    let same = repack(&listed, &Repack::new());
    assert!(size(&listed) < size(&blocks));
    assert_eq!((size(&listed), size(&blocks)), (size(&same), size(&source)));
    same_bytes(&before, &listed.dataset("a").unwrap());
    same_bytes(&before, &blocks.dataset("a").unwrap());
}

#[test]
fn texts_become_sparse_and_dense_again() {
    for width in [8, 4] {
        let source = FileOptions::new().sizes(width, 8).create_in_memory().unwrap();
        let text = Datatype::variable_string(CharacterSet::Utf8, width);
        let texts: Vec<String> = (0..500)
            .map(|number| if number % 9 == 4 { format!("text {number}") } else { String::new() })
            .collect();
        for (name, chunked) in [("a", false), ("b", true)] {
            let new = source.new_dataset(name).datatype(text.clone()).shape(&[500]);
            let new = if chunked { new.chunks(&[30]) } else { new };
            new.create().unwrap().write_strings(.., &texts).unwrap();
        }
        let sparse = repack(&source, &Repack::new().layout("*", RepackLayout::Sparse(vec![64])).unwrap());
        let work = Repack::new().layout("*", RepackLayout::Sparse(vec![100])).unwrap();
        let other = repack(&sparse, &work.filters("*", vec![FilterSpec::deflate(4)]).unwrap());
        let chunked = repack(&other, &Repack::new().layout("*", RepackLayout::Chunked(vec![40])).unwrap());
        let beside = repack(&other, &Repack::new().layout("*", RepackLayout::Contiguous).unwrap());
        for name in ["a", "b"] {
            let there = texts.iter().filter(|text| !text.is_empty()).count();
            assert_eq!(sparse.dataset(name).unwrap().sparse().defined_count().unwrap(), there as u64);
            same_texts(&sparse.dataset(name).unwrap(), &other.dataset(name).unwrap());
            for file in [&sparse, &other, &chunked, &beside] {
                assert_eq!(
                    file.dataset(name)
                        .unwrap()
                        .read_strings::<IxDyn>(..)
                        .unwrap()
                        .into_raw_vec_and_offset()
                        .0,
                    texts
                );
            }
        }
    }
}

#[test]
fn datasets_that_cannot_become_sparse_are_named() {
    let source = FileOptions::new().create_in_memory().unwrap();
    source.new_dataset("scalar").write_scalar(4).unwrap();
    source.new_dataset("bytes").write(&[1_u8, 2, 3]).unwrap();
    source.new_dataset("square").of::<u8>().shape(&[2, 2]).create().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.h5");
    let work = Repack::new().layout("*", RepackLayout::Sparse(vec![2])).unwrap().undefined("*", -1).unwrap();
    let kept = work.run(&source, &path).unwrap().kept;
    let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["/bytes", "/square"]);
    check(&path);
    assert!(Repack::new().layout("*", RepackLayout::AutoSparse { density: Some(0.0) }).is_err());
    assert!(Repack::new().layout("*", RepackLayout::Sparse(vec![2, 0])).is_err());
    // Library versions before the latest cannot have sparse datasets either.
    let old = LibverBounds::new(LibraryVersion::V18, LibraryVersion::V114).unwrap();
    let work = Repack::new().layout("bytes", RepackLayout::Sparse(vec![2])).unwrap().libver(old);
    let error = work.run(&source, folder.path().join("old.h5")).unwrap_err();
    assert!(super::chain(&error).contains("structured chunks need"), "{error}");
}
