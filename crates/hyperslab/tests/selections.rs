//! Selections of every kind, compared with the same elements of the whole dataset, and with h5py.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use hyperslab::{
    Block, Dataset, ErrorKind, ExternalFiles, File, Group, Hyperslab, IxDyn, ObjectKind, OpenOptions, Points,
    RegularHyperslab, Selection, VirtualView, s,
};
use hyperslab_testkit::{fixtures, referee, workspace};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

fn numbers(group: &Group) -> Vec<Dataset> {
    let mut found = Vec::new();
    for object in group.members().unwrap() {
        match object.kind() {
            Some(ObjectKind::Group) => found.extend(numbers(&object.into_group().unwrap())),
            Some(ObjectKind::Dataset) => found.push(object.into_dataset().unwrap()),
            _ => {}
        }
    }
    found.retain(|dataset| {
        dataset.datatype().is_number() && dataset.ndim() > 0 && (1..5000).contains(&dataset.size().unwrap())
    });
    found
}

/// Returns numbers for each dimension, from which the test makes each kind of selection.
fn seeds() -> impl Strategy<Value = (u8, Vec<[u64; 4]>, Vec<u64>)> {
    let seed = || prop::array::uniform4(0..1_000_u64);
    (0..4_u8, prop::collection::vec(seed(), 8), prop::collection::vec(0..1_000_000_u64, 40))
}

fn selection(shape: &[u64], kind: u8, seeds: &[[u64; 4]], more: &[u64]) -> Selection {
    let rank = shape.len();
    let per_dimension = || shape.iter().zip(seeds);
    match kind {
        0 => {
            let mut coordinates = Vec::new();
            for point in more.chunks_exact(rank) {
                coordinates.extend(point.iter().zip(shape).map(|(at, size)| at % size));
            }
            Selection::Points(Points { rank, coordinates })
        }
        1 => {
            let blocks = more.chunks_exact(2 * rank).map(|corners| {
                let (a, b) = corners.split_at(rank);
                let corner = |pick: fn(u64, u64) -> u64| {
                    a.iter().zip(b).zip(shape).map(|((a, b), size)| pick(a % size, b % size)).collect()
                };
                Block { start: corner(u64::min), end: corner(u64::max) }
            });
            Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: blocks.take(3).collect() })
        }
        _ => {
            let axes: Vec<[u64; 4]> = per_dimension()
                .map(|(size, [a, b, c, d])| {
                    let start = a % size;
                    let block = 1 + b % (size - start).min(4);
                    let stride = block + c % 4;
                    [start, stride, 1 + d % ((size - start - block) / stride + 1), block]
                })
                .collect();
            let column = |at: usize| axes.iter().map(|axis| axis[at]).collect();
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
                start: column(0),
                stride: column(1),
                count: column(2),
                block: column(3),
            }))
        }
    }
}

/// Returns the positions of the selected elements in the whole dataset, by the definition of
/// selections.
fn places(selection: &Selection, shape: &[u64]) -> Vec<usize> {
    let place = |at: &[u64]| {
        usize::try_from(at.iter().zip(shape).fold(0, |sum, (at, size)| sum * size + at)).unwrap()
    };
    if let Selection::Points(points) = selection {
        return points.points().map(place).collect();
    }
    let all = hyperslab::Region::whole(shape).coordinates();
    let holds = |at: &[u64]| match selection {
        Selection::Hyperslab(Hyperslab::Regular(slab)) => (0..at.len()).all(|d| {
            at[d].checked_sub(slab.start[d]).is_some_and(|from| {
                from / slab.stride[d] < slab.count[d] && from % slab.stride[d] < slab.block[d]
            })
        }),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            blocks.iter().any(|block| (0..at.len()).all(|d| (block.start[d]..=block.end[d]).contains(&at[d])))
        }
        _ => true,
    };
    all.filter(|at| holds(at)).map(|at| place(&at)).collect()
}

#[test]
fn selections_equal_parts_of_the_whole_array() {
    let mut compared = 0;
    for name in
        ["chunk_indexes_earliest.h5", "chunk_indexes_latest.h5", "layouts_earliest.h5", "layouts_latest.h5"]
    {
        for dataset in numbers(&File::open(fixtures::path(name)).unwrap()) {
            let whole = dataset.read_raw::<f64>(..).unwrap();
            let shape: Vec<u64> = dataset.dataspace().dims().to_vec();
            let mut runner = TestRunner::new(ProptestConfig::with_cases(12));
            let outcome = runner.run(&seeds(), |(kind, seeds, more)| {
                let selection = selection(&shape, kind, &seeds, &more);
                let expected: Vec<u64> =
                    places(&selection, &shape).iter().map(|at| whole[*at].to_bits()).collect();
                let got = dataset.read_raw::<f64>(&selection).unwrap();
                prop_assert_eq!(
                    got.iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
                    expected.clone()
                );
                let mut into = vec![f64::NAN; got.len()];
                dataset.read_into(&selection, &mut into).unwrap();
                prop_assert_eq!(into.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected);
                Ok(())
            });
            outcome.unwrap_or_else(|error| panic!("{name}, {}: {error}", dataset.name()));
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} datasets");
}

#[test]
fn a_buffer_of_another_length_is_refused() {
    let file = File::open(fixtures::path("weather_station.h5")).unwrap();
    let dataset = file.dataset("series/temperature").unwrap();
    let error = dataset.read_into(.., &mut [0.0_f64; 7]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert_eq!(dataset.read::<f64, IxDyn>(s![8760]).unwrap_err().kind(), ErrorKind::Misuse);
    assert_eq!(dataset.read::<f64, IxDyn>(s![8759, 0]).unwrap_err().kind(), ErrorKind::Misuse);
    assert_eq!(dataset.read::<f64, IxDyn>(s![10..10]).unwrap().len(), 0);
}

/// A script that creates virtual datasets, their sources, and external raw data, with random
/// shapes. For each dataset, it prints the path, the shape, the values, and random slices with the
/// values that h5py reads.
const SCRIPT: &str = r#"
import json, os, sys
import h5py, numpy as np

folder, seed = sys.argv[1], int(sys.argv[2])
os.chdir(folder)
rng = np.random.default_rng(seed)
for n in [0, 1, 2, 4]:
    with h5py.File(f"part-{n}.h5", "w") as f:
        f.create_dataset("image", data=rng.integers(0, 99, (2, 5, 6)), chunks=(1, 2, 4))
        f.create_dataset("rows", data=rng.integers(0, 99, (4 + n, 6)).astype(">i4"), maxshape=(None, 6), chunks=(3, 6))
name = "main.h5"
with h5py.File(name, "w", libver="latest") as f:
    f["local"] = rng.standard_normal((6, 10)).astype("f4")
    layout = h5py.VirtualLayout((4, 5, 12), "f8")
    for n in range(4):
        source = h5py.VirtualSource(f"part-{n}.h5", "image", (2, 5, 6))
        layout[n, :, ::2] = source[rng.integers(2)]
        layout[n, 1:4, 7] = source[0, 2:5, 1]
    f.create_virtual_dataset("fixed", layout, fillvalue=-5)
    layout = h5py.VirtualLayout((10, 6), "i2")
    layout[:, :] = h5py.VirtualSource(".", "fixed", (4, 5, 12))[:3, :, ::3]
    f.create_virtual_dataset("nested", layout)
    layout = h5py.VirtualLayout((3, 20), "f8")
    layout[0::2, :] = h5py.VirtualSource(".", "local", (6, 10))[1:5]
    f.create_virtual_dataset("same_file", layout, fillvalue=9)
    unlimited = h5py.h5s.UNLIMITED
    def virtual(name, dims, maxdims, maps, fill=-1):
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_fill_value(np.array(fill, "i8"))
        for vs, file, path, ss in maps:
            space = h5py.h5s.create_simple(dims, maxdims)
            space.select_hyperslab(*vs)
            if isinstance(ss[0], tuple):
                source = h5py.h5s.create_simple(*ss[0])
                source.select_hyperslab(*ss[1])
            p.set_virtual(space, file, path, source)
        h5py.h5d.create(f.id, name, h5py.h5t.NATIVE_INT64, h5py.h5s.create_simple(dims, maxdims), p)
    growing = lambda n: (((4, 6), (unlimited, 6)), ((0, 0), (unlimited, 1), (1, 1), (1, 6)))
    virtual(b"interleaved", (3, 6), (unlimited, 6),
            [(((n, 0), (unlimited, 1), (3, 1), (1, 6)), f"part-{n}.h5".encode(), b"rows", growing(n)) for n in range(3)])
    virtual(b"side_by_side", (2, 14), (unlimited, 14),
            [(((1, 7 * n), (unlimited, 1), (1, 1), (1, 6)), f"part-{2 * n}.h5".encode(), b"rows", growing(n)) for n in range(2)])
    one = (((2, 5, 6), (2, 5, 6)), ((0, 0, 0), (1, 1, 1), (1, 1, 1), (2, 5, 6)))
    virtual(b"numbered", (2, 5, 6), (unlimited, 5, 6),
            [(((1, 0, 0), (unlimited, 1, 1), (3, 1, 1), (2, 5, 6)), b"part-%b.h5", b"image", one)])
    layout = h5py.VirtualLayout((10,), "i8")
    layout[:5] = h5py.VirtualSource(".", "shifted", (10,))[5:]
    f.create_virtual_dataset("shifted", layout, fillvalue=3)
    def external(name, data, pieces):
        d = f.create_dataset(name, data.shape, data.dtype, external=pieces)
        d[...] = data
    external("raw", rng.integers(0, 99, (5, 7)).astype(">i2"), [("a.bin", 3, 21), ("b.bin", 0, 10), ("a.bin", 30, h5py.h5f.UNLIMITED)])
    with open("short.bin", "wb") as short: short.write(bytes(range(50)))
    f.create_dataset("short", (9, 3), "<i4", external=[("short.bin", 2, h5py.h5f.UNLIMITED)])

def bits(values):
    return np.asarray(values).astype("f8").ravel().view("u8").tolist()

truth = {}
with h5py.File(name) as f:
    for name, d in f.items():
        slices = []
        for _ in range(25):
            one = []
            for n in d.shape:
                start = int(rng.integers(0, n)); stop = int(rng.integers(start + 1, n + 1))
                one.append((start, stop, int(rng.integers(1, 4))))
            slices.append([one, bits(d[tuple(slice(*t) for t in one)])])
        points = [[int(rng.integers(0, n)) for n in d.shape] for _ in range(30)]
        values = d[()]
        truth["/" + name] = [list(d.shape), bits(values), slices, points, bits([values[tuple(p)] for p in points])]
    with h5py.File("cycle.h5", "w", libver="latest") as g:
        for name, other in [("a", "b"), ("b", "a")]:
            layout = h5py.VirtualLayout((10,), "i8")
            layout[:] = h5py.VirtualSource(".", other, (10,))
            g.create_virtual_dataset(name, layout)
    first = {}
    for name in ["interleaved", "side_by_side", "numbered"]:
        access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        access.set_virtual_view(h5py.h5d.VDS_FIRST_MISSING)
        d = h5py.Dataset(h5py.h5d.open(f.id, name.encode(), access))
        first["/" + name] = [list(d.shape), bits(d[()])]
print(json.dumps([truth, first]))
"#;

fn bits(values: &[f64]) -> Value {
    values.iter().map(|value| value.to_bits()).collect::<Vec<_>>().into()
}

fn list(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
}

fn compare(name: &str, dataset: &Dataset, truth: &Value) {
    assert_eq!(dataset.dataspace().dims(), list(&truth[0]), "{name}");
    assert_eq!(bits(&dataset.read_raw(..).unwrap()), truth[1], "{name}");
    for slice in truth[2].as_array().unwrap() {
        let mut slab = RegularHyperslab::region(&[], &[]);
        for axis in slice[0].as_array().unwrap().iter().map(list) {
            slab.start.push(axis[0]);
            slab.stride.push(axis[2]);
            slab.count.push((axis[1] - axis[0]).div_ceil(axis[2]));
            slab.block.push(1);
        }
        let selection = Selection::Hyperslab(Hyperslab::Regular(slab));
        assert_eq!(bits(&dataset.read_raw(&selection).unwrap()), slice[1], "{name} {}", slice[0]);
    }
    let coordinates = truth[3].as_array().unwrap().iter().flat_map(list).collect();
    let points = Selection::Points(Points { rank: dataset.ndim(), coordinates });
    assert_eq!(bits(&dataset.read_raw(&points).unwrap()), truth[4], "{name}");
    // An irregular selection has this number of runs.
    let shape = list(&truth[0]);
    let (kind, seeds, more) = (1, [[0; 4]; 8], [5, 3, 8, 1, 2, 9, 4, 4, 7, 6, 11, 0].repeat(3));
    let blocks = selection(&shape, kind, &seeds, &more);
    let whole = list(&truth[1]);
    let expected: Vec<u64> = places(&blocks, &shape).iter().map(|at| whole[*at]).collect();
    let got: Vec<f64> = dataset.read_raw(&blocks).unwrap();
    assert_eq!(got.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected, "{name}");
}

#[test]
fn data_in_other_files_reads_as_h5py_reads_it() {
    let Some(python) = referee::python() else {
        workspace::skip("data_in_other_files_reads_as_h5py_reads_it", "no h5py");
        return;
    };
    let folder = std::env::temp_dir().join(format!("hyperslab-selections-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for seed in 1..4 {
        let printed = python.run_script(SCRIPT, [folder.to_str().unwrap(), &seed.to_string()]).unwrap();
        let truth: Value = serde_json::from_str(&printed).unwrap();
        let path = folder.join("main.h5");
        let file = File::open(&path).unwrap();
        for (name, truth) in truth[0].as_object().unwrap() {
            compare(name, &file.dataset(name).unwrap(), truth);
        }
        let first = OpenOptions::new().virtual_view(VirtualView::FirstMissing).open(&path).unwrap();
        for (name, truth) in truth[1].as_object().unwrap() {
            let dataset = first.dataset(name).unwrap();
            assert_eq!(dataset.dataspace().dims(), list(&truth[0]), "{name}");
            assert_eq!(bits(&dataset.read_raw(..).unwrap()), truth[1], "{name}");
        }
        let closed = OpenOptions::new().external_files(ExternalFiles::Refuse).open(&path).unwrap();
        let refused = closed.dataset("/fixed").unwrap().read_raw::<f64>(..).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Misuse);
        let refused = closed.dataset("/raw").unwrap().read_raw::<f64>(..).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Misuse);
        let cycle = File::open(folder.join("cycle.h5")).unwrap().dataset("a").unwrap();
        assert_eq!(cycle.read_raw::<i64>(..).unwrap_err().kind(), ErrorKind::Misuse);
        let elsewhere = OpenOptions::new().raw_data_folder(folder.join("none")).open(&path).unwrap();
        let missing = elsewhere.dataset("/raw").unwrap().read_raw::<f64>(..).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Distant rows of a box in the file, read by several threads, some across pages, and repeatedly.
#[test]
fn distant_rows_are_read_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.h5");
    let (rows, columns) = (1200_u64, 2100_u64);
    let value = |row: u64, column: u64| u32::try_from(row * columns + column).unwrap();
    let file = hyperslab::FileOptions::new().create(&path).unwrap();
    let all: Vec<u32> = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
    file.new_dataset("a").of::<u32>().shape(&[rows, columns]).create().unwrap().write(.., &all).unwrap();
    file.close().unwrap();
    let file = File::open(&path).unwrap();
    let dataset = file.dataset("a").unwrap();
    for round in 0..4 {
        for (start, count) in [([0, 700], [1200, 16]), ([5, 2090], [900, 10]), ([100, 3], [30, 250])] {
            let region = hyperslab::Region::new(&start, &count).unwrap();
            let found = dataset.read::<u32, IxDyn>(&region).unwrap();
            let [first, left] = start;
            for (row, line) in (first..).zip(found.outer_iter()) {
                let expected = (left..).map(|column| value(row, column));
                assert!(line.iter().copied().eq(expected.take(line.len())), "{round}: row {row} from {left}");
            }
            assert_eq!(found.len() as u64, count[0] * count[1]);
        }
    }
}
