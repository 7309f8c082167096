//! Files of other programs, repacked.

use hyperslab::{Dataset, Layout, OpenOptions, Repack, RepackLayout};
use hyperslab_testkit::corpus;

use super::{check, same_bytes};

/// Returns the only sparse dataset of a sample.
fn sparse(file: &hyperslab::File) -> Dataset {
    file.dataset("sparse").unwrap()
}

#[test]
fn samples_in_other_chunks_and_without_any() {
    let folder = tempfile::tempdir().unwrap();
    for case in corpus::sparse_samples().unwrap() {
        if case.name.starts_with("bad_") {
            continue;
        }
        let source = OpenOptions::new().open(&case.file).unwrap();
        let before = sparse(&source);
        let chunk: Vec<u64> = before.sparse().chunking().unwrap().shape.iter().map(|size| size + 3).collect();
        let variable = before.datatype().is_variable_length();
        for (number, layout) in [
            None,
            Some(RepackLayout::Sparse(chunk)),
            Some(RepackLayout::AutoSparse { density: None }),
            Some(RepackLayout::AutoChunked),
            Some(RepackLayout::Contiguous),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(format!("{}{number}.h5", case.name));
            let count = before.size().unwrap().saturating_mul(u64::from(before.datatype().size));
            if number > 2 && count > 1 << 24 {
                continue;
            }
            let mut work = Repack::new();
            if let Some(layout) = layout {
                work = work.layout("sparse", layout).unwrap();
            }
            let done = work.run(&source, &path).unwrap();
            assert_eq!(done.kept, [], "{}", case.name);
            check(&path);
            let made = hyperslab::File::open(&path).unwrap();
            let after = sparse(&made);
            assert_eq!(after.layout() == Layout::Structured, number < 3, "{}", case.name);
            if count <= 1 << 24 {
                let read = |dataset: &Dataset| format!("{:?}", dataset.read_dyn(..).unwrap());
                assert_eq!(read(&before), read(&after), "{} {number}", case.name);
            }
            if number == 0 && !case.name.starts_with("v17") {
                // Repacking keeps the stored bytes of chunks.
                for chunk in before.sparse().chunks().unwrap() {
                    let read =
                        |dataset: &Dataset| dataset.sparse().read_chunk(&chunk.offset).unwrap().unwrap();
                    assert_eq!(read(&before).bytes, read(&after).bytes, "{}", case.name);
                }
            }
            if number < 3 && !variable {
                same_bytes(&before, &after);
            }
        }
    }
}
