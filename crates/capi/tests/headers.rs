//! The headers compile without warnings as C and C++, for each release of the interface that a
//! program can choose, and their structs, enumerators and prototypes are those of HDF5 2.2.0.
#![expect(
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may fail or report a skip"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A release: its macro, and the versions of H5Acreate, H5Fget_info, H5Oget_info and H5Tdecode.
const RELEASES: &[(&str, [u8; 4])] = &[
    ("H5_USE_16_API", [1, 1, 1, 1]),
    ("H5_USE_18_API", [2, 1, 1, 1]),
    ("H5_USE_110_API", [2, 2, 1, 1]),
    ("H5_USE_112_API", [2, 2, 3, 1]),
    ("H5_USE_114_API", [2, 2, 3, 1]),
    ("H5_USE_200_API", [2, 2, 3, 2]),
    ("H5_NO_DEPRECATED_SYMBOLS", [2, 2, 3, 2]),
];

/// The variable that names the folder of the suites; the default is beside the checkout.
const SUITES_VARIABLE: &str = "HYPERSLAB_CAPI_SUITES";

/// A compiler, the option of its language, and its standard.
type Compiler = (&'static str, &'static str, &'static str);

const C11: Compiler = ("cc", "c", "c11");
const C99: Compiler = ("cc", "c", "c99");
const CPP17: Compiler = ("c++", "c++", "c++17");

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn skip(subject: &str, why: &str) {
    eprintln!("skipped: {subject}: {why}");
}

/// Returns true if the compiler is there; prints the reason of the skip otherwise.
fn has(compiler: Compiler) -> bool {
    let found = Command::new(compiler.0).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        skip("headers", &format!("no `{}`", compiler.0));
    }
    found
}

/// Returns the messages of the compiler, or `None` if it has none.
fn faults((program, language, standard): Compiler, file: &Path, options: &[String]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(["-x", language, &format!("-std={standard}"), "-fsyntax-only"]);
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic"]);
    command.arg("-I").arg(crate_folder().join("include")).args(options).arg(file);
    let output = command.output().unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn source(name: &str) -> PathBuf {
    crate_folder().join("tests/c").join(name)
}

/// Compiles `name` for each release.
fn check(name: &str, compiler: Compiler) {
    if !has(compiler) {
        return;
    }
    for (release, versions) in RELEASES {
        let mut options = vec![format!("-D{release}")];
        for (call, version) in ["ACREATE", "FGET_INFO", "OGET_INFO", "TDECODE"].iter().zip(versions) {
            options.push(format!("-DEXPECT_{call}={version}"));
        }
        if let Some(message) = faults(compiler, &source(name), &options) {
            panic!("{name} with {release} as {}:\n{message}", compiler.2);
        }
    }
}

#[test]
fn versions_compile_as_c() {
    check("versions.c", C11);
    check("versions.c", C99);
}

#[test]
fn versions_compile_as_cpp() {
    check("versions.c", CPP17);
}

#[test]
fn interface_compiles_as_c() {
    check("interface.c", C11);
    check("interface.c", C99);
}

#[test]
fn interface_compiles_as_cpp() {
    check("interface.c", CPP17);
}

/// A program may choose the version of a single name.
#[test]
fn single_names_have_their_own_version() {
    if !has(C11) {
        return;
    }
    for chosen in [
        "-DH5Acreate_vers=1",
        "-DH5Oget_info_vers=1 -DH5O_info_t_vers=1",
        "-DH5Oget_info_vers=2 -DH5O_info_t_vers=1",
        "-DH5_USE_16_API -DH5Acreate_vers=2 -DH5Oget_info_vers=3 -DH5O_info_t_vers=2",
    ] {
        let options: Vec<String> = chosen.split(' ').map(str::to_owned).collect();
        assert_eq!(faults(C11, &source("names.c"), &options), None, "{chosen}");
    }
    let wrong = faults(C11, &source("names.c"), &["-DH5Acreate_vers=3".to_owned()]).unwrap();
    assert!(wrong.contains("H5Acreate_vers has no such version"), "{wrong}");
    let both = ["-DH5_USE_18_API".to_owned(), "-DH5_NO_DEPRECATED_SYMBOLS".to_owned()];
    assert!(faults(C11, &source("names.c"), &both).unwrap().contains("H5_NO_DEPRECATED_SYMBOLS"));
}

/// Each header can be the only one that a program includes.
#[test]
fn each_header_stands_alone() {
    if !has(C11) {
        return;
    }
    let mut count = 0;
    for entry in std::fs::read_dir(crate_folder().join("include")).unwrap() {
        let path = entry.unwrap().path();
        let options = ["-include".to_owned(), path.display().to_string()];
        assert_eq!(faults(C11, &source("empty.c"), &options), None, "{}", path.display());
        count += 1;
    }
    assert!(count > 50, "{count} headers");
}

/// Structs, enumerators and prototypes are those of HDF5, by the tables of the suites.
#[test]
fn layouts_and_prototypes_are_those_of_hdf5() {
    if !has(C11) {
        return;
    }
    for name in ["layout_check.c", "prototypes_check.c"] {
        if let Some(file) = table(name) {
            assert_eq!(faults(C11, &file, &[]), None, "{name}");
        }
    }
}

/// The members of structs have the sizes of HDF5.
#[test]
fn members_have_the_sizes_of_hdf5() {
    let Some(file) = table("layout.tsv").filter(|_| has(C11)) else {
        return;
    };
    let mut program = "#include <hdf5.h>\n".to_owned();
    let text = std::fs::read_to_string(file).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let [name, _, member, _, size] = line.split('\t').collect::<Vec<_>>()[..]
            && member != "-"
        {
            let check = format!("sizeof((({name} *)0)->{member}) == {size}");
            writeln!(program, "_Static_assert({check}, \"{name}.{member}\");").unwrap();
        }
    }
    assert!(program.lines().count() > 500, "{program}");
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("members.c");
    std::fs::write(&source, program).unwrap();
    assert_eq!(faults(C11, &source, &[]), None);
}

/// Returns a file of the suites; prints the reason of the skip if it is missing.
fn table(name: &str) -> Option<PathBuf> {
    let suites = std::env::var_os(SUITES_VARIABLE)
        .map_or_else(|| crate_folder().join("../../../shared/capi/suites"), PathBuf::from);
    let file = suites.join("abi").join(name);
    if !file.is_file() {
        skip(name, &format!("not in `{}`; {SUITES_VARIABLE} names its folder", suites.display()));
        return None;
    }
    Some(file)
}
