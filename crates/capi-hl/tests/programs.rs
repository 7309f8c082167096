//! C programs that are compiled against the headers, linked to both shared libraries, and run.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a test may fail or report a skip")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable that names the folder of HDF5's sources; the default is a folder of the client
/// suites.
const SOURCES_VARIABLE: &str = "HYPERSLAB_HDF5_SOURCES";

/// The tests of HDF5's high-level library: the program and its other sources. The test of file
/// images is not among them, because it compares the addresses of the bytes in memory, and fails
/// with the C library 2.2, too.
const TESTS: &[(&str, &[&str])] = &[
    ("test_lite", &[]),
    ("test_image", &[]),
    ("test_table", &[]),
    ("test_ds", &[]),
    ("test_packet", &["test_packet_vlen"]),
    ("test_ld", &[]),
    ("test_dset_append", &[]),
    ("test_h5do_compat", &[]),
];

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Makes a folder with links of the libraries' names. Returns `None` with a message if the build
/// made no libraries.
fn libraries() -> Option<tempfile::TempDir> {
    let tests = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["libhdf5", "libhdf5_hl"] {
        let built = tests.with_file_name(format!("{name}.so"));
        if !built.exists() {
            eprintln!("skipped: no {}", built.display());
            return None;
        }
        for link in [format!("{name}.so"), format!("{name}.so.320")] {
            std::os::unix::fs::symlink(&built, folder.path().join(link)).unwrap();
        }
    }
    Some(folder)
}

/// Compiles a program in the folder of the libraries. Returns `None` with a message if the machine
/// has no C compiler.
fn compile(folder: &Path, sources: &[PathBuf], options: &[String]) -> Option<PathBuf> {
    let program = folder.join("program");
    let mut compiler = Command::new("cc");
    compiler.arg("-I").arg(crate_folder().join("include"));
    compiler.arg("-I").arg(crate_folder().join("../capi/include"));
    compiler.args(options).args(sources).arg("-L").arg(folder);
    compiler.args(["-lhdf5_hl", "-lhdf5", "-lm", "-o"]).arg(&program);
    let Ok(output) = compiler.output() else {
        eprintln!("skipped: no C compiler `cc`");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn run(program: &Path, libraries: &Path) -> Output {
    let folder = libraries.join("files");
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(program);
    command.current_dir(folder).env("LD_LIBRARY_PATH", libraries).output().unwrap()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn each_family_works_and_rejects_wrong_arguments() {
    let Some(libraries) = libraries() else { return };
    let source = crate_folder().join("tests/c/families.c");
    let options = words(&["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    let Some(program) = compile(libraries.path(), &[source], &options) else { return };
    let output = run(&program, libraries.path());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out == "done\n", "{out}{err}");
    // The file is a file of hyperslab, too.
    let file = hyperslab::File::open(libraries.path().join("files/families.h5")).unwrap();
    assert_eq!(file.dataset("data").unwrap().read_raw::<i32>(..).unwrap()[11], 11);
    assert_eq!(file.dataset("table").unwrap().shape(), [5]);
}

#[test]
fn the_headers_compile_as_cpp() {
    let Some(libraries) = libraries() else { return };
    let source = libraries.path().join("empty.cpp");
    std::fs::write(&source, "#include <hdf5_hl.h>\nint main() { return 0; }\n").unwrap();
    let options = words(&["-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    compile(libraries.path(), &[source], &options);
}

/// The tests of HDF5 itself, from its sources, which are not part of this project.
#[test]
fn the_tests_of_hdf5_pass() {
    let beside = crate_folder().join("../../target/capi-suites/c/hdf5");
    let sources = std::env::var_os(SOURCES_VARIABLE).map_or(beside, PathBuf::from).join("hl/test");
    if !sources.is_dir() {
        eprintln!("skipped: no {}; {SOURCES_VARIABLE} names the sources of HDF5", sources.display());
        return;
    }
    for (name, others) in TESTS {
        let Some(libraries) = libraries() else { return };
        // A copy finds the headers of this project before those beside the sources.
        let copies = std::iter::once(name).chain(*others).map(|name| {
            let copy = libraries.path().join(format!("{name}.c"));
            std::fs::copy(sources.join(format!("{name}.c")), &copy).unwrap();
            copy
        });
        let copies: Vec<PathBuf> = copies.collect();
        let names = crate_folder().join("tests/suite");
        let options = [
            "-w".to_owned(),
            "-std=gnu11".to_owned(),
            format!("-DSOURCES=\"{}\"", sources.join("testfiles").display()),
            format!("-I{}", names.display()),
            format!("-I{}", sources.display()),
        ];
        let Some(program) = compile(libraries.path(), &copies, &options) else { return };
        let output = run(&program, libraries.path());
        let out = String::from_utf8_lossy(&output.stdout);
        let (passed, failed) = (out.matches("PASSED").count(), out.matches("FAILED").count());
        eprintln!("{name}: {passed} passed, {failed} failed");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && failed == 0 && passed > 0, "{name}: {out}{err}");
    }
}
