//! Repacking copies the encoded chunks of datasets that hyperslab cannot decode.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{ErrorKind, File, LibraryVersion, LibverBounds, Repack, RepackLayout};
use hyperslab_testkit::{referee, workspace};

/// A script that creates datasets with every chunk index: with chunks of an unknown filter, and
/// with damaged chunks of a known filter.
const MAKE: &str = r#"
import sys
import h5py, numpy as np
from h5py import h5d, h5p, h5s, h5t

for bound in ["earliest", "latest"]:
    with h5py.File(f"{sys.argv[1]}/{bound}.h5", "w", libver=bound) as f:
        def make(name, dims, limits, chunk, number, kind=h5t.STD_I32LE, flags=h5py.h5z.FLAG_OPTIONAL):
            p = h5p.create(h5p.DATASET_CREATE)
            p.set_chunk(chunk)
            p.set_filter(number, flags, (1, 2, 3) if number > 255 else (6,))
            return h5d.create(f.id, name, kind, h5s.create_simple(dims, limits), p)

        unlimited = h5s.UNLIMITED
        for name, limits in [(b"fixed", (9, 6)), (b"extensible", (unlimited, 6)), (b"tree", (unlimited, unlimited))]:
            dataset = make(name, (9, 6), limits, (4, 4), 40001)
            for number, at in enumerate([(0, 0), (4, 4), (8, 0)]):
                dataset.write_direct_chunk(at, bytes([number]) * (20 + number))
        make(b"single", (3, 3), (3, 3), (3, 3), 40001).write_direct_chunk((0, 0), b"one")
        references = make(b"references", (2,), (2,), (2,), 40001, h5t.STD_REF_OBJ)
        references.write_direct_chunk((0,), b"refer")
        make(b"damaged", (4,), (4,), (4,), 1).write_direct_chunk((0,), b"no zlib stream")
        f["plain"] = np.arange(10)
"#;

const CHUNKS: &str = r#"
import sys
import h5py
with h5py.File(sys.argv[1]) as f:
    for name in ["fixed", "extensible", "tree", "single", "damaged"]:
        d = f[name].id
        for number in range(d.get_num_chunks()):
            at = d.get_chunk_info(number).chunk_offset
            print(name, at, d.read_direct_chunk(at), d.get_create_plist().get_filter(0)[:3])
    print(f["plain"][:])
"#;

fn files(test: &str) -> Option<(tempfile::TempDir, referee::Referee)> {
    let Some(python) = referee::python() else {
        workspace::skip(test, "no h5py");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    python.run_script(MAKE, [folder.path()]).unwrap();
    Some((folder, python))
}

/// Returns all possible bounds for the copy.
fn bounds() -> Vec<LibverBounds> {
    let low = [LibraryVersion::Earliest, LibraryVersion::V18, LibraryVersion::V110, LibraryVersion::LATEST];
    low.into_iter().map(|low| LibverBounds::new(low, LibraryVersion::LATEST).unwrap()).collect()
}

#[test]
fn stored_chunks_are_copied_without_decoding() {
    let Some((folder, python)) = files("stored_chunks_are_copied_without_decoding") else { return };
    for name in ["earliest", "latest"] {
        let path = folder.path().join(format!("{name}.h5"));
        {
            let file = File::open_rw(&path).unwrap();
            file.remove("references").unwrap();
            file.close().unwrap();
        }
        let source = File::open(&path).unwrap();
        let before = python.run_script(CHUNKS, [&path]).unwrap();
        assert_eq!(before.lines().count(), 12);
        for bounds in bounds() {
            let target = folder.path().join("new.h5");
            let repack = Repack::new().libver(bounds);
            let outcome = repack.run(&source, &target).unwrap();
            assert!(outcome.kept.is_empty(), "{:?}", outcome.kept);
            assert_eq!(python.run_script(CHUNKS, [&target]).unwrap(), before, "{name} {bounds:?}");
            let report = hyperslab_check::check_path(&target).unwrap();
            assert_eq!(report.faults, 0, "{:?}", report.findings);
        }
        // A dataset that cannot be converted keeps its storage, and the report names it.
        let target = folder.path().join("asked.h5");
        for layout in [RepackLayout::Contiguous, RepackLayout::AutoSparse { density: None }] {
            let asked = Repack::new().layout("fixed", layout).unwrap();
            let outcome = asked.run(&source, &target).unwrap();
            let kept: Vec<&str> = outcome.kept.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(kept, ["/fixed"]);
            assert!(outcome.kept.iter().all(|(_, why)| why.contains("40001")), "{:?}", outcome.kept);
            assert_eq!(python.run_script(CHUNKS, [&target]).unwrap(), before);
        }
    }
}

/// Elements that the copy must decode, but cannot decode.
#[test]
fn errors_name_the_dataset() {
    let Some((folder, _)) = files("errors_name_the_dataset") else { return };
    let source = File::open(folder.path().join("latest.h5")).unwrap();
    let target = folder.path().join("new.h5");
    let error = Repack::new().run(&source, &target).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("/references"), "{error:?}");
    let asked = Repack::new().layout("damaged", RepackLayout::Contiguous).unwrap();
    let file = File::open_rw(folder.path().join("earliest.h5")).unwrap();
    file.remove("references").unwrap();
    let error = asked.run(&file, &target).unwrap_err();
    assert!(error.to_string().contains("/damaged"), "{error:?}");
}

/// In the copy, unfiltered chunks have the number of bytes of their elements, even if the source
/// stores more bytes. A chunk with fewer bytes is not copied unchanged.
#[test]
fn lengths_of_chunks_without_filters_are_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("old.h5"), folder.path().join("new.h5"));
    let repack = |bytes: &[u8], target: &std::path::Path| {
        let file = File::create(&path).unwrap();
        let dataset =
            file.new_dataset("d").unlimited().chunks(&[4]).deflate(6).write(&[1_u16, 2, 3, 4, 5, 6, 7, 8]);
        let dataset = dataset.unwrap();
        dataset.chunks().write(&[4], bytes, 1).unwrap();
        file.close().unwrap();
        Repack::new().run(&File::open(&path).unwrap(), target)
    };
    repack(&[9, 0, 8, 0, 7, 0, 6, 0, 255, 255], &target).unwrap();
    let copy = File::open(&target).unwrap().dataset("d").unwrap();
    assert_eq!(copy.read_raw::<u16>(..).unwrap(), [1, 2, 3, 4, 9, 8, 7, 6]);
    assert_eq!(copy.chunks().list().unwrap()[1].size, 8);
    assert_eq!(hyperslab_check::check_path(&target).unwrap().faults, 0);
    // Missing elements and partly stored elements have the fill value.
    let another = folder.path().join("another.h5");
    repack(&[9, 0, 8], &another).unwrap();
    let copy = File::open(&another).unwrap().dataset("d").unwrap();
    assert_eq!(copy.read_raw::<u16>(..).unwrap(), [1, 2, 3, 4, 9, 0, 0, 0]);
}
