//! Completions and manual pages.

use std::path::Path;

use hyperslab_testkit::program::Program;
use hyperslab_testkit::workspace;

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab"))
}

fn completed(words: &[&str]) -> Vec<String> {
    let program = hyperslab()
        .with("--")
        .with("hyperslab")
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "false")
        .in_folder(workspace::root());
    program.run(words).succeeds().out().lines().map(str::to_owned).collect()
}

const FILE: &str = "fixtures/weather_station.h5";

#[test]
fn commands_and_files_are_completed() {
    assert!(completed(&["l"]).contains(&"ls".to_owned()));
    assert_eq!(completed(&["ls", "fixtures/weather_st"]), [FILE]);
}

#[test]
fn paths_are_completed_inside_the_file_before_them() {
    assert_eq!(completed(&["cat", FILE, "se"]), ["series/"]);
    assert_eq!(completed(&["head", FILE, "series/t"]), ["series/temperature", "series/time"]);
    assert_eq!(completed(&["cat", FILE, "/series/t"]), ["/series/temperature", "/series/time"]);
    assert_eq!(completed(&["attr", "set", FILE, "lat"]), ["latest"]);
    // The completion reads the file whose name precedes the word.
    assert_eq!(completed(&["cp", FILE, "latest", "fixtures/groups_latest.h5", "zzz"]), [""; 0]);
}

#[test]
fn completion_ignores_files_of_other_formats() {
    assert_eq!(completed(&["cat", "README.md", "fixtures/README"]), ["fixtures/README.md"]);
}

#[test]
fn each_shell_gets_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = hyperslab().run(["completions", shell]).succeeds();
        assert!(script.out().contains("COMPLETE"), "{shell}");
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    hyperslab().with("man").run([&pages]).succeeds();
    let text = |name: &str| std::fs::read_to_string(Path::new(&pages).join(name)).unwrap();
    assert!(text("hyperslab.1").contains("ls"));
    assert!(text("hyperslab-cp.1").contains("shallow"));
    assert!(text("hyperslab-attr-set.1").contains("attribute"));
}
