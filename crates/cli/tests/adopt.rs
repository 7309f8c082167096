//! `hyperslab adopt` on wheels that the tests compile: a package, its libraries, and a library with
//! the mark of hyperslab's. `cargo xtask capi --wheels` tries the real wheels.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a test may fail or report a skip")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The name of the library in a wheel.
const NAME: &str = "libhdf5-9e18f0c6.so.320.0.0";
/// The source of a C library.
const STOCK: &str = "int H5Fcreate(void) { return 1; }\nint H5Dread(void) { return 1; }\n";
/// A file of the package that calls the library.
const CLIENT: &str =
    "int H5Fcreate(void); int H5Dread(void);\nint f(void) { return H5Fcreate() + H5Dread(); }\n";
/// The source of hyperslab's library.
const OWN: &str = "const char mark[] = \"an internal error of hyperslab stopped the call\";\nint H5Fcreate(void) { return 2; }\n";

/// A folder with a wheel and a library of hyperslab.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    /// Compiles the wheel. `more` are further functions of hyperslab's library. Returns `None` with
    /// a message if the machine has no C compiler.
    fn new(more: &str) -> Option<Self> {
        let case = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["site/h5py", "site/h5py.libs", "lib"] {
            fs::create_dir_all(case.path(folder)).unwrap();
        }
        let is_compiled = case.compile(STOCK, &format!("site/h5py.libs/{NAME}"))
            && case.compile(CLIENT, "site/h5py/_client.so")
            && case.compile(&format!("{OWN}{more}"), "lib/libhdf5.so.320");
        if !is_compiled {
            eprintln!("skipped: no C compiler `cc`");
        }
        is_compiled.then_some(case)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn target(&self) -> Vec<u8> {
        fs::read(self.path("site/h5py.libs").join(NAME)).unwrap()
    }

    fn compile(&self, source: &str, to: &str) -> bool {
        let file = self.path("source.c");
        fs::write(&file, source).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-nostdlib", "-o"]).arg(self.path(to)).arg(file);
        compiler.status().is_ok_and(|status| status.success())
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
        command.arg("adopt").args(arguments).arg(self.path("site/h5py")).output().unwrap()
    }

    fn adopt(&self, library: &Path) -> Output {
        self.run(&["--lib", library.to_str().unwrap()])
    }

    /// Checks that a command fails with a text and changes nothing.
    fn fails(&self, output: &Output, text: &str) {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(text), "{errors}");
        let files: Vec<_> = fs::read_dir(self.path("site/h5py.libs")).unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
    }
}

#[test]
fn a_wheel_gets_the_library_and_its_own_again() {
    let Some(case) = Case::new("int H5Dread(void) { return 2; }\n") else { return };
    let (stock, own) = (case.target(), fs::read(case.path("lib/libhdf5.so.320")).unwrap());
    let output = case.adopt(&case.path(""));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let first: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(first, ["replaced", "by", "backup", "to"], "{text}");
    assert_eq!(case.target(), own);
    let backup = case.path("site/h5py.libs").join(format!("{NAME}.before-adopt"));
    assert_eq!(fs::read(&backup).unwrap(), stock);
    // Again, and with a newer library: the backup stays.
    assert!(String::from_utf8(case.adopt(&case.path("lib")).stdout).unwrap().starts_with("unchanged"));
    assert!(case.compile(&format!("{OWN}int H5Dread(void) {{ return 3; }}"), "lib/libhdf5.so.320"));
    assert!(case.adopt(&case.path("lib")).status.success());
    assert!(case.target() != own && fs::read(&backup).unwrap() == stock);
    assert!(case.run(&["--undo"]).status.success());
    assert_eq!(case.target(), stock);
    case.fails(&case.run(&["--undo"]), "no backup");
}

#[test]
fn a_library_that_does_not_fit_changes_nothing() {
    let Some(case) = Case::new("") else { return };
    case.fails(&case.adopt(&case.path("lib")), "lacks H5Dread");
    case.fails(&case.adopt(&case.path("site/h5py/_client.so")), "is not hyperslab's library");
    case.fails(&case.adopt(&case.path("site")), "has no libhdf5.so.320");
    let text = b"\x7fELF\x02\x01 an internal error of hyperslab stopped the call";
    fs::write(case.path("lib/cut.so"), text).unwrap();
    case.fails(&case.adopt(&case.path("lib/cut.so")), "not a shared library");
}

#[test]
fn a_wheel_that_is_not_understood_is_refused() {
    let Some(case) = Case::new("int H5Dread(void) { return 2; }\n") else { return };
    let libraries = case.path("site/h5py.libs");
    fs::rename(libraries.join(NAME), libraries.join("libhdf5-1.so.200.1")).unwrap();
    case.fails(&case.adopt(&case.path("lib")), "no library with the number 200");
    fs::rename(libraries.join("libhdf5-1.so.200.1"), libraries.join("libother.so.1")).unwrap();
    case.fails(&case.adopt(&case.path("lib")), "has no libhdf5");
    fs::rename(libraries.join("libother.so.1"), libraries.join("libhdf5-1.so.310.5")).unwrap();
    fs::write(libraries.join("libhdf5-2.so.310.5"), "").unwrap();
    assert!(String::from_utf8_lossy(&case.adopt(&case.path("lib")).stderr).contains("2 files of libhdf5"));
    fs::remove_file(libraries.join("libhdf5-1.so.310.5")).unwrap();
    case.fails(&case.adopt(&case.path("lib")), "not a shared library");
    fs::remove_dir_all(&libraries).unwrap();
    assert!(String::from_utf8_lossy(&case.adopt(&case.path("lib")).stderr).contains("LD_LIBRARY_PATH"));
}
