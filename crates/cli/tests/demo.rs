//! `hyperslab demo`, run small as people run it; h5py is the referee of the files that it can read.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::referee;
use serde_json::Value;

fn run(arguments: &[&str]) -> Run {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).run(arguments)
}

fn printed(arguments: &[&str]) -> String {
    run(arguments).printed()
}

/// Runs the demonstration with a small stream and keeps the files. Returns the output.
fn kept(folder: &Path, more: &[&str]) -> (Value, PathBuf) {
    let folder = folder.to_str().unwrap();
    let small =
        ["demo", "--frames", "21", "--size", "96", "--flush", "8", "--json", "--keep", "--folder", folder];
    let document: Value = serde_json::from_str(&printed(&[&small, more].concat())).unwrap();
    let kept = document["folder"].as_str().unwrap().into();
    (document, kept)
}

#[test]
fn files_are_sound_and_hold_the_photons_that_were_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (document, files) = kept(folder.path(), &["--occupancy", "0.5"]);
    assert_eq!((&document["agree"], &document["schema"]), (&Value::Bool(true), &Value::from(1)));
    for storage in document["storages"].as_array().unwrap() {
        let path = files.join(storage["name"].as_str().unwrap()).with_extension("h5");
        assert_eq!(storage["bytes"].as_u64().unwrap(), path.metadata().unwrap().len());
        printed(&["check", "--data", path.to_str().unwrap()]);
    }
    let sparse = files.join("sparse.h5");
    let lines = printed(&["cat", "--defined", sparse.to_str().unwrap(), "entry/frames"]);
    let counts = lines.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
    assert_eq!(Some(counts.sum::<u64>()), document["photons"].as_u64());
    assert_eq!(Some(lines.lines().count() as u64), document["pixels_hit"].as_u64());
    // Different seeds give different streams, and equal seeds give equal streams.
    let again = kept(folder.path(), &["--occupancy", "0.5"]).0;
    assert_eq!((&again["photons"], &again["pixels_hit"]), (&document["photons"], &document["pixels_hit"]));
    assert_ne!(kept(folder.path(), &["--occupancy", "0.5", "--seed", "2"]).0["photons"], document["photons"]);
}

#[test]
fn referee_counts_the_same_photons() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (document, files) = kept(folder.path(), &["--occupancy", "2"]);
    let code = format!(
        "import h5py, numpy as np
dense = h5py.File(r'{0}/dense.h5')['entry/frames'][...]
lists = h5py.File(r'{0}/lists.h5')['entry']
again = np.zeros((21, 96 * 96), 'u2')
for frame in range(21):
    photons = slice(*lists['indptr'][frame:frame + 2])
    again[frame, lists['indices'][photons]] = lists['data'][photons]
assert (again.reshape(dense.shape) == dense).all()
print(dense.sum(), np.count_nonzero(dense))",
        files.display()
    );
    let counted = referee.run_script(&code, [""; 0]).unwrap();
    assert_eq!(counted.trim(), format!("{} {}", document["photons"], document["pixels_hit"]));
}

#[test]
fn files_are_removed_unless_kept_and_the_table_has_no_colours() {
    let folder = tempfile::tempdir().unwrap();
    let small = [
        "demo",
        "--frames",
        "5",
        "--size",
        "64",
        "--occupancy",
        "1",
        "--folder",
        folder.path().to_str().unwrap(),
    ];
    let shown = |locale: &str| {
        let program = Program::new(env!("CARGO_BIN_EXE_hyperslab")).env("LC_ALL", locale);
        program.without_colour_variables().run(small).printed()
    };
    let text = shown("C.UTF-8");
    // The output begins with the picture: 64 pixels in 32 lines.
    let picture: Vec<&str> = text.lines().take(32).collect();
    assert!(picture.iter().all(|line| line.chars().count() == 64), "{text}");
    assert!(picture.iter().any(|line| line.contains(['▀', '▄', '█'])), "{text}");
    let plain = shown("C");
    assert!(plain.lines().take(32).all(str::is_ascii), "{plain}");
    assert!(plain.lines().take(32).any(|line| line.contains(['.', ':', '@'])), "{plain}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    for part in [
        "5 frames of 64 × 64 pixels",
        "\nsparse ",
        "\ndense, gzip 4 ",
        "\nlists, gzip 4 ",
        "hyperslab demo --keep",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'));
    for wrong in [["--occupancy", "0"], ["--occupancy", "nan"], ["--frames", "0"], ["--size", "3"]] {
        assert_eq!(run(&[&["demo"], &wrong[..]].concat()).code(), 2, "{wrong:?}");
    }
}
