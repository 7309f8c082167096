//! C programs that are compiled against the headers, linked to the shared library, and run.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a test may fail or report a skip")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Returns the folder of the shared library that was built with this test, or `None` if the build
/// made none. The folder above may hold an older library.
fn library() -> Option<PathBuf> {
    let tests = std::env::current_exe().unwrap();
    let folder = tests.parent().unwrap().to_owned();
    folder.join("libhdf5.so").exists().then_some(folder)
}

/// Compiles a program. Returns `None` with a message if the machine has no C compiler.
fn compiled(name: &str, folder: &Path) -> Option<PathBuf> {
    let library = library().or_else(|| {
        eprintln!("skipped: the build made no libhdf5.so");
        None
    })?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let program = folder.join("program");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I"]).arg(include);
    compiler.arg(source).arg("-L").arg(&library).arg(format!("-Wl,-rpath,{}", library.display()));
    compiler.args(["-lhdf5", "-lm", "-o"]).arg(&program);
    match compiler.output() {
        Err(_) => {
            eprintln!("skipped: no C compiler `cc`");
            None
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            // The program asks for the library by its SONAME.
            let link = folder.join("libhdf5.so.320");
            std::os::unix::fs::symlink(library.join("libhdf5.so"), link).unwrap();
            Some(program)
        }
    }
}

/// A program that has ended successfully: its folder and its output.
struct Ended {
    folder: TempDir,
    output: String,
}

/// Compiles a program and runs it in a folder of its own, with an argument. Returns `None` with a
/// message if the machine has no C compiler.
fn run(source: &str, argument: Option<&str>) -> Option<Ended> {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(source, folder.path())?;
    let mut command = Command::new(program);
    command.args(argument).current_dir(folder.path()).env("LD_LIBRARY_PATH", folder.path());
    for variable in ["HDF5_USE_FILE_LOCKING", "HDF5_EXTFILE_PREFIX", "HDF5_VDS_PREFIX"] {
        command.env_remove(variable);
    }
    let ended = command.output().unwrap();
    let output = String::from_utf8_lossy(&ended.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{source}: {}: {output}{errors}", ended.status);
    Some(Ended { folder, output })
}

/// Runs a program, and checks that it states its success.
fn passes(source: &str) {
    let Some(ended) = run(source, None) else { return };
    assert_eq!(ended.output.lines().last(), Some("all parts passed"), "{source}: {}", ended.output);
}

#[test]
fn functions_work_at_the_exit_of_a_program() {
    let Some(ended) = run("at_exit.c", Some("at_exit.h5")) else { return };
    let file = hyperslab::File::open(ended.folder.path().join("at_exit.h5")).unwrap();
    assert_eq!(file.dataset("x").unwrap().read_scalar::<i32>(..).unwrap(), 7);
}

#[test]
fn a_program_of_the_first_interface_creates_writes_reads_and_extends_datasets() {
    let Some(ended) = run("datasets.c", Some("datasets.h5")) else { return };
    let lines: Vec<&str> = ended.output.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "created, fill value -1",
            "written and read, part from 18 to 35",
            "7 by 8, fill value -1",
            "extended to 2 by 7",
        ]
    );
    assert!(lines[4].contains("missing"), "{}", ended.output);
    // The file is a file of hyperslab, too.
    let file = hyperslab::File::open(ended.folder.path().join("datasets.h5")).unwrap();
    assert_eq!(file.dataset("plain").unwrap().read_raw::<i32>(..).unwrap()[55], 56);
    assert_eq!(file.dataset("growing").unwrap().shape(), [2, 7]);
}

#[test]
fn files_that_are_open_together_or_empty_behave_as_clients_expect() {
    let Some(ended) = run("views.c", None) else { return };
    assert_eq!(ended.output, "done\n");
}

#[test]
fn transforms_old_formats_and_sizes_of_indexes() {
    let Some(ended) = run("formats.c", None) else { return };
    assert_eq!(ended.output, "done\n");
    let file = hyperslab::File::open(ended.folder.path().join("old.h5")).unwrap();
    assert_eq!(file.info().superblock_version, 2);
    let mut expected: Vec<i32> = (0..100).collect();
    expected[99] = 1000;
    assert_eq!(file.dataset("a").unwrap().read_raw::<i32>(..).unwrap(), expected);
}

#[test]
fn the_name_of_the_library_decides_the_format_of_new_files() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled("bounds.c", folder.path()) else { return };
    for (name, expected) in [("libhdf5-1.so.310.5.1", "0 4\n"), ("libhdf5.so.320", "1 5\n")] {
        let path = folder.path().join(name);
        if !path.exists() {
            std::os::unix::fs::symlink(library().unwrap().join("libhdf5.so"), &path).unwrap();
        }
        let ended = Command::new(&program).arg(&path).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stdout), expected, "{name}: {}", ended.status);
    }
}

#[test]
fn a_program_chooses_folders_views_and_memory_in_access_lists() {
    passes("access.c");
}

#[test]
fn a_program_opens_files_with_each_driver_and_with_its_own() {
    passes("drivers.c");
}

#[test]
fn a_program_follows_its_own_links_mounts_files_and_compresses_links() {
    passes("links.c");
}

#[test]
fn a_program_reads_statistics_and_controls_plugins_and_flushes() {
    passes("caches.c");
}

#[test]
fn forks_do_not_wait_for_threads_and_changed_files_are_read_again() {
    passes("processes.c");
}

/// The number of killed writers, and the variable that states another number.
const KILLS: u64 = 30;
const KILLS_VARIABLE: &str = "HYPERSLAB_CAPI_KILLS";

/// Starts the program of `kills.c` with arguments. In odd rounds, the environment chooses the
/// durability, else the program.
fn client(program: &Path, words: [&str; 3], number: u64) -> Command {
    let mut command = Command::new(program);
    let folder = program.parent().unwrap();
    command.current_dir(folder).args(words).env("LD_LIBRARY_PATH", folder);
    if number % 2 == 1 {
        command.env("HYPERSLAB_DURABILITY", "ordered");
    }
    command
}

/// Runs the program of `kills.c` to its end, and returns its output.
fn finished(program: &Path, words: [&str; 3], number: u64) -> String {
    let output = client(program, words, number).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "kill {number}, {words:?}: {out}{err}");
    out.trim().to_owned()
}

#[test]
fn a_killed_program_loses_nothing_that_it_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled("kills.c", folder.path()) else { return };
    let kills = std::env::var(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().unwrap());
    let (mut rounds, mut flushes) = (0_u64, 0_u64);
    for number in 0..kills {
        if rounds == 0 || number % 8 == 0 {
            finished(&program, ["start", "kills.h5", ""], number);
            rounds = 0;
        }
        let mut writer = client(&program, ["write", "kills.h5", &rounds.to_string()], number);
        let mut writer = writer.stdout(Stdio::piped()).spawn().unwrap();
        // The times are spread over about twenty rounds.
        std::thread::sleep(Duration::from_micros(20_000 + number * 7919 % 180_000));
        writer.kill().unwrap();
        let output = writer.wait_with_output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        // The last line may be cut.
        let lines = out.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let last =
            lines.lines().last().map_or(i64::try_from(rounds).unwrap() - 1, |line| line.parse().unwrap());
        flushes += hyperslab_exact::to_u64(lines.lines().count());
        let found = finished(&program, ["check", "kills.h5", &last.to_string()], number);
        rounds = found.parse().unwrap();
    }
    eprintln!("{kills} kills, {flushes} flushes");
    assert!(kills < 8 || flushes > kills, "the programs flushed only {flushes} times");
}

#[test]
fn programs_that_close_nothing_lose_nothing() {
    passes("ends.c");
}
