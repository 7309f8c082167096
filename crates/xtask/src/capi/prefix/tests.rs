//! Tests of the prefix with a library of a few functions, moved to another folder.
#![cfg(unix)]

use std::process::Command;

use super::*;

/// A library that a program of the tests can start.
const LIBRARY: &str = "#include <stdbool.h>\nbool H5_libinit_g = true;\nbool H5_libterm_g = false;\n\
    int H5get_libversion(unsigned *a, unsigned *b, unsigned *c) { *a = 2; *b = 2; *c = 0; return 0; }\n";

/// A program that returns 0 if the library has the version of the headers.
const PROGRAM: &str = "#include <hdf5.h>\nint main(void)\n{\n    unsigned a, b, c;\n    \
    return H5get_libversion(&a, &b, &c) < 0 || !(a == H5_VERS_MAJOR && b == H5_VERS_MINOR);\n}\n";

const CMAKE: &str = "cmake_minimum_required(VERSION 3.16)\nproject(own C)\n\
    find_package(HDF5 2.0 REQUIRED COMPONENTS C @MODE@)\nadd_executable(own own.c)\n\
    target_link_libraries(own PRIVATE ${HDF5_LIBRARIES})\n\
    target_include_directories(own PRIVATE ${HDF5_INCLUDE_DIRS})\n\
    if(NOT HDF5_VERSION VERSION_EQUAL \"2.2.0\")\n  message(FATAL_ERROR \"${HDF5_VERSION}\")\nendif()\n";

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        hyperslab_testkit::workspace::skip("capi", &format!("no `{program}`"));
    }
    found
}

/// Returns the standard output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}{errors}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

/// A prefix that was written in one folder and moved to another, whose name has a space.
struct Moved {
    folder: tempfile::TempDir,
    prefix: PathBuf,
}

fn moved() -> Moved {
    moved_after(false)
}

/// Writes and moves a prefix. With `check`, builds a program with the high-level library first.
fn moved_after(check: bool) -> Moved {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("library.c"), folder.path().join("built.so"));
    fs::write(&source, LIBRARY).unwrap();
    let soname = format!("-Wl,-soname,{}", MAIN.soname);
    output(Command::new("cc").args(["-shared", "-fPIC", &soname, "-o"]).arg(&library).arg(&source));
    let root = hyperslab_testkit::workspace::root();
    let headers = vec![root.join("crates/capi/include"), root.join("crates/capi-hl/include")];
    let made = Prefix { folder: folder.path().join("made"), headers };
    // A prefix with the high-level library.
    let high_level = folder.path().join("high.so");
    let (source, soname) = (folder.path().join("high.c"), format!("-Wl,-soname,{}", HIGH_LEVEL.soname));
    fs::write(&source, "int H5LTfind_dataset(void) { return 1; }\n").unwrap();
    output(Command::new("cc").args(["-shared", "-fPIC", &soname, "-o"]).arg(&high_level).arg(&source));
    assert_eq!(made.write(&library, Some(&high_level)).unwrap(), [""; 0]);
    assert!(
        made.folder.join("lib/libhdf5_hl.so.320").is_file()
            && made.folder.join("include/hdf5_hl.h").is_file()
    );
    if check {
        check_high_level(&made.folder, folder.path());
    }
    assert_eq!(made.write(&library, None).unwrap().len(), 1);
    assert!(!made.folder.join("include/hdf5_hl.h").exists());
    // A second call replaces the first prefix.
    fs::write(made.folder.join("lib/left.so"), "").unwrap();
    made.write(&library, None).unwrap();
    assert!(!made.folder.join("lib/left.so").exists());
    let prefix = folder.path().join("the prefix");
    fs::rename(&made.folder, &prefix).unwrap();
    fs::write(folder.path().join("own.c"), PROGRAM).unwrap();
    Moved { folder, prefix }
}

/// A program of the high-level library builds with h5cc and pkg-config.
fn check_high_level(prefix: &Path, folder: &Path) {
    let program = "#include <hdf5_hl.h>\nint main(void) { return H5LTfind_dataset(0, \"x\") != 1; }\n";
    fs::write(folder.join("high_program.c"), program).unwrap();
    // The shell runs the script, because another test may still have the new file open.
    let mut h5cc = Command::new("sh");
    output(h5cc.arg(prefix.join("bin/h5cc")).current_dir(folder).args([
        "high_program.c",
        "-o",
        "high_program",
    ]));
    output(&mut Command::new(folder.join("high_program")));
    if has("pkg-config") {
        let pkgconfig = prefix.join("lib/pkgconfig");
        let mut ask = Command::new("pkg-config");
        let flags = output(ask.args(["--libs", "hdf5_hl"]).env("PKG_CONFIG_PATH", pkgconfig));
        assert!(flags.contains("-lhdf5_hl") && flags.contains("-lhdf5 "), "{flags}");
    }
}

#[test]
fn the_prefix_has_library_links_and_headers() {
    if !has("cc") {
        return;
    }
    let Moved { folder: _folder, prefix } = moved_after(true);
    for link in [MAIN.soname, MAIN.built] {
        assert_eq!(fs::read_link(prefix.join("lib").join(link)).unwrap(), Path::new(MAIN.file));
        assert!(prefix.join("lib").join(link).is_file());
    }
    assert!(prefix.join("include/hdf5.h").is_file());
    let config = fs::read_to_string(prefix.join("lib/cmake/hdf5/hdf5-config.cmake")).unwrap();
    assert!(config.contains("set(HDF5_VERSION \"2.2.0\")") && !config.contains('@'), "{config}");
}

#[test]
fn h5cc_builds_programs_at_any_place() {
    if !has("cc") {
        return;
    }
    let Moved { folder, prefix } = moved();
    let link = folder.path().join("h5cc");
    std::os::unix::fs::symlink(prefix.join("bin/h5cc"), &link).unwrap();
    for script in [prefix.join("bin/h5cc"), link] {
        let h5cc = || {
            let mut command = Command::new(&script);
            command.current_dir(folder.path()).env("HDF5_CFLAGS", "-O0 -g");
            command
        };
        let shown = output(h5cc().args(["-show", "own.c", "-DTEXT=a 'b'"]));
        let text = prefix.display().to_string();
        assert!(shown.starts_with("cc -O0 -g "), "{shown}");
        assert!(shown.contains(&format!("'-I{text}/include' own.c '-DTEXT=a '\\''b'\\'''")), "{shown}");
        assert!(shown.contains(&format!("'-L{text}/lib' -lhdf5 '-Wl,-rpath,{text}/lib'")), "{shown}");
        output(h5cc().args(["-c", "own.c", "-o", "own.o"]));
        output(h5cc().args(["own.o", "-o", "own"]));
        output(&mut Command::new(folder.path().join("own")));
        let configuration = output(h5cc().arg("-showconfig"));
        assert!(configuration.contains("HDF5 Version: 2.2.0"), "{configuration}");
        assert!(configuration.contains("Parallel HDF5: no"), "{configuration}");
    }
}

#[test]
fn pkg_config_finds_the_prefix() {
    if !has("cc") || !has("pkg-config") {
        return;
    }
    let Moved { folder: _folder, prefix } = moved();
    let ask = |option: &str| {
        let folder = prefix.join("lib/pkgconfig");
        output(Command::new("pkg-config").args([option, "hdf5"]).env("PKG_CONFIG_PATH", folder))
    };
    assert_eq!(ask("--modversion").trim(), "2.2.0");
    let flags = ask("--cflags");
    assert!(flags.contains("lib/pkgconfig/../../include"), "{flags}");
    assert!(ask("--libs").contains("-lhdf5"));
}

#[test]
fn cmake_finds_the_prefix() {
    if !has("cc") || !has("cmake") {
        return;
    }
    for mode in ["CONFIG", "MODULE"] {
        let Moved { folder, prefix } = moved();
        fs::write(folder.path().join("CMakeLists.txt"), CMAKE.replace("@MODE@", mode)).unwrap();
        let cmake = || {
            let mut command = Command::new("cmake");
            command.current_dir(folder.path());
            command
        };
        let place = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
        output(cmake().args(["-S", ".", "-B", "build", &place]));
        output(cmake().args(["--build", "build"]));
        output(&mut Command::new(folder.path().join("build/own")));
    }
    // A component that the library does not have is an error.
    let Moved { folder, prefix } = moved();
    let wrong = CMAKE.replace("C @MODE@", "HL CONFIG");
    fs::write(folder.path().join("CMakeLists.txt"), wrong).unwrap();
    let place = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    let tried = Command::new("cmake").current_dir(folder.path()).args([".", &place]).output().unwrap();
    assert!(String::from_utf8_lossy(&tried.stderr).contains("no component HL"), "{tried:?}");
}

#[test]
fn a_library_without_the_name_is_remarked() {
    assert_eq!(notes(&MAIN, b"...libhdf5.so.320\0..."), [""; 0]);
    assert_eq!(notes(&MAIN, b"...libhdf5.so.3200...").len(), 1);
}
