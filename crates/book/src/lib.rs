//! The listings of the book (`docs/`), as tests: `cargo test --doc -p hyperslab-book` compiles and
//! runs each of them.
//!
//! A listing begins with a hidden line, `let _here = hyperslab_book::scratch();`. This line makes
//! the listing run in a folder of its own, which contains the file `run42.h5` of the book.
#![forbid(unsafe_code)]

#[expect(dead_code, reason = "its `main` is for those who run it as an example")]
#[path = "../../hyperslab/examples/beamline_run.rs"]
mod beamline_run;

use tempfile::TempDir;

/// A temporary working folder. Dropping the value removes the folder.
#[derive(Debug)]
pub struct Scratch(#[expect(dead_code, reason = "it holds the folder")] TempDir);

/// Creates a folder with the file `run42.h5`, and makes it the working folder.
///
/// # Panics
/// If that cannot be made.
#[must_use]
#[expect(clippy::expect_used, reason = "a listing without its file is to fail")]
pub fn scratch() -> Scratch {
    let folder = tempfile::tempdir().expect("a folder");
    std::env::set_current_dir(folder.path()).expect("to go there");
    beamline_run::write("run42.h5").expect("the file of the book");
    Scratch(folder)
}

/// The chapters with listings.
macro_rules! chapters {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../../", $path))]
            mod $name {}
        )*
    };
}

chapters! {
    readme: "README.md",
    first_steps: "docs/guide/first-steps.md",
    concepts: "docs/guide/concepts.md",
    cloud: "docs/guide/cloud.md",
    reading: "docs/guide/reading.md",
    writing: "docs/guide/writing.md",
    types: "docs/guide/types.md",
    speed: "docs/guide/speed.md",
    durability: "docs/guide/durability.md",
    from_h5py: "docs/guide/from-h5py.md",
    from_hdf5_rust: "docs/guide/from-hdf5-rust.md",
    sparse: "docs/sparse.md",
}
