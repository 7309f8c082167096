//! A file in which every text contains control sequences for terminals. Each test runs a command or
//! tool with one of its options: the output contains no control sequence.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use hyperslab::datatype::{ByteOrder::LittleEndian, CharacterSet, EnumerationMember, StringPadding};
use hyperslab::{Datatype, File};
use hyperslab_testkit::program::{Program, Run};

/// The start of every hostile text. The test finds the commands that print it.
const MARK: &str = "EVIL";
/// A text that begins a line only if the command printed a line feed in a name unchanged.
const FORGED: &str = "FORGED";
/// Control sequences that the output must not contain: a style (which no command uses), a window
/// title, C1 characters, a carriage return, backspaces, text directions. A harmless text follows
/// each sequence.
const EVIL: &str = "EVIL\u{1b}[6;7m\u{1b}]0;pwn\u{7}\u{9b}31m\nFORGED\tx\r\u{8}\u{c}\u{7f}\u{202e}gnp\u{2066}\u{200f}\u{85}\u{61c}";
/// Bytes that are not UTF-8. Terminals without UTF-8 interpret them as control sequences.
const C1: &[u8; 8] = b"\x1b[2J\x9b6m\x07";

/// Additional arguments for commands that would otherwise run long or write large outputs.
const GIVEN: [(&str, &[&str]); 2] =
    [("bench-file", &["--seconds", "0.01"]), ("demo", &["--frames", "2", "--size", "32"])];

fn hostile(path: &Path) -> Vec<String> {
    let name = |subject: &str| format!("{subject}{EVIL}");
    let file = File::create(path).unwrap();
    let group = file.create_group(&name("group")).unwrap();
    group.set_attribute(&name("attribute"), EVIL).unwrap();
    group.set_attribute("units", EVIL).unwrap();
    group.create_group("inner").unwrap();
    let mut paths = vec![name("group")];
    let mut make = |subject: &str, datatype: Datatype, bytes: &[u8]| {
        let count = (bytes.len() / datatype.size as usize) as u64;
        let dataset = file.new_dataset(&name(subject)).datatype(datatype).shape(&[count]).create().unwrap();
        dataset.write_stored(.., bytes).unwrap();
        dataset.set_attribute("units", EVIL).unwrap();
        paths.push(name(subject));
    };
    make(
        "fixed",
        Datatype::fixed_string(8, StringPadding::NullPadded, CharacterSet::Ascii),
        &[*C1, *b"=1+1\0\0\0\0"].concat(),
    );
    make("opaque", Datatype::opaque(4, EVIL), &[1; 8]);
    let members = [(EVIL, 0), ("B", 1)];
    let members = members.map(|(name, value)| EnumerationMember { name: name.into(), value: vec![value] });
    make("enumeration", Datatype::enumeration(Datatype::u8(), members.into()), &[0, 1]);
    let record = Datatype::packed([(EVIL, Datatype::u8()), ("=b", Datatype::f64(LittleEndian))]);
    make("compound", record, &[0; 27]);
    make("numbers", Datatype::u8(), &[1, 2, 3, 4]);
    file.new_dataset("texts").write_strings(&[EVIL, "=cmd|calc!A1"]).unwrap();
    let stored = file.new_dataset(&name("outside")).of::<u8>().shape(&[4]);
    stored.external(&[(&name("raw"), 0, Some(4))]).create().unwrap();
    file.commit_datatype(&name("type"), &Datatype::opaque(4, EVIL)).unwrap();
    file.link_soft(&name("soft"), &name("/nowhere")).unwrap();
    file.link_external(&name("external"), &name("no"), &name("/x")).unwrap();
    file.close().unwrap();
    paths.extend(["texts".into(), name("soft"), name("external"), name("type"), name("nothing"), "/".into()]);
    paths
}

fn command(folder: &Path, arguments: &[&str]) -> Run {
    let hyperslab = Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_folder(folder);
    // Without a terminal, commands print no styles. With styles, the test could not distinguish
    // escaped text from styles.
    hyperslab.env("CLICOLOR_FORCE", "1").without_env("NO_COLOR").run(arguments)
}

/// Returns the help text without styles.
fn help(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    without_styles(&text)
}

/// Commands that run until they are stopped.
const ENDLESS: [&str; 2] = ["serve", "view"];

/// Returns all commands of the command line that end, including the tools.
fn commands(folder: &Path) -> Vec<String> {
    let help = help(folder, &["--help"]);
    let listed = help.lines().skip_while(|line| !line.starts_with("Look:")).skip(1);
    let names = listed.take_while(|line| !line.starts_with("Options:"));
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| !ENDLESS.contains(name)).map(String::from).collect()
}

/// Returns the options at the start of lines in a command's help, without their values.
fn options(folder: &Path, name: &str) -> BTreeSet<String> {
    let mut options = BTreeSet::new();
    for ask in ["--help", "-h"] {
        for line in help(folder, &[name, ask]).lines() {
            let words = line.trim_start().split([' ', ',', '=', '[', '<']).filter(|word| !word.is_empty());
            // Output of paths that end in a null byte is for programs, so it is not escaped.
            let words = words.filter(|word| !["--print0", "-0"].contains(word));
            let named = words.take_while(|word| word.starts_with('-') && word.len() > 1);
            options.extend(named.filter(|word| !["--help", "-h", "-V"].contains(word)).map(String::from));
        }
    }
    options
}

/// Returns the text without the styles that commands use.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((code, rest))
                if code != "6;7" && code.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';')) =>
            {
                plain.push_str(rest);
            }
            _ => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// Returns the first control sequence in the output, if there is one.
fn judge(bytes: &[u8], typed: bool) -> Option<String> {
    let Ok(text) = str::from_utf8(bytes) else { return Some("bytes that are not UTF-8".into()) };
    let plain = without_styles(text);
    let bad = |character: char| {
        character.is_control() && !matches!(character, '\n' | '\t')
            || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(at) = plain.find(bad) {
        let near: String = plain[at..].chars().take(24).collect();
        return Some(format!("{near:?}"));
    }
    // Error messages about the command line quote the arguments of the user.
    let forged = !typed && plain.lines().any(|line| line.starts_with(FORGED));
    forged.then(|| "a line that begins within a name".into())
}

/// Returns all argument lists that the test uses for a command.
fn trials(options: &BTreeSet<String>, paths: &[String]) -> Vec<Vec<String>> {
    let mut trials: Vec<Vec<String>> = vec![vec!["a.h5".into()], vec!["a.h5".into(), "b.h5".into()]];
    for path in paths {
        trials.push(vec!["a.h5".into(), path.clone()]);
        trials.push(vec!["a.h5".into(), path.clone(), "out.csv".into()]);
        trials.push(vec![format!("a.h5/{path}")]);
        trials.push(vec!["-d".into(), path.clone(), "a.h5".into()]);
        trials.push(vec!["-a".into(), path.clone(), "a.h5".into()]);
    }
    for option in options {
        for files in [&["a.h5"][..], &["a.h5", "b.h5"], &["a.h5", &paths[0]], &["a.h5", &paths[1]]] {
            let given = std::iter::once(option.clone()).chain(files.iter().map(|file| (*file).to_owned()));
            trials.push(given.collect());
        }
    }
    trials
}

#[test]
fn no_command_prints_control_characters_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("hostile.h5");
    let paths = hostile(&original);
    let other = folder.path().join("other.h5");
    std::fs::copy(&original, &other).unwrap();
    let changed = hyperslab::OpenOptions::new()
        .write(true)
        .libver(hyperslab::LibverBounds::default())
        .open(&other)
        .unwrap();
    changed.dataset(&format!("numbers{EVIL}")).unwrap().write(.., &[1_u8, 2, 3, 9]).unwrap();
    changed.root().set_attribute("only here", EVIL).unwrap();
    changed.close().unwrap();

    let names = commands(folder.path());
    assert!(names.len() > 30, "the help lists {names:?}");
    let pending = Mutex::new(names.clone());
    let (faults, showing) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(name) = pending.lock().unwrap().pop() else { break };
                    let place = tempfile::tempdir_in(folder.path()).unwrap();
                    let more =
                        GIVEN.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, more)| more);
                    for trial in trials(&options(place.path(), &name), &paths) {
                        std::fs::copy(&original, place.path().join("a.h5")).unwrap();
                        std::fs::copy(&other, place.path().join("b.h5")).unwrap();
                        let arguments: Vec<&str> = std::iter::once(name.as_str())
                            .chain(more.iter().copied())
                            .chain(trial.iter().map(String::as_str))
                            .collect();
                        let output = command(place.path(), &arguments);
                        let reported = String::from_utf8_lossy(&output.stderr);
                        assert!(!reported.contains("panicked"), "{arguments:?}: {reported}");
                        // The parser of the command line quotes the arguments of the user, and
                        // never opens a file.
                        if reported.contains("Usage:") || reported.starts_with("\u{1b}[1m\u{1b}[31merror:") {
                            continue;
                        }
                        let typed = arguments.iter().any(|argument| argument.contains(FORGED));
                        for bytes in [&output.stdout, &output.stderr] {
                            if let Some(why) = judge(bytes, typed) {
                                faults.lock().unwrap().push(format!("{arguments:?}: {why}"));
                            }
                        }
                        let shows = output.stdout.windows(MARK.len()).any(|part| part == MARK.as_bytes());
                        *showing.lock().unwrap().entry(name.clone()).or_insert(false) |= shows;
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let showing = showing.into_inner().unwrap();
    for name in [
        "ls", "tree", "find", "cat", "head", "digest", "diff", "stat", "h5ls", "h5dump", "h5diff", "h5repack",
    ] {
        assert_eq!(showing.get(name), Some(&true), "{name} shows nothing of the file");
    }
}

#[test]
fn json_is_valid_for_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h5");
    let paths = hostile(&path);
    let mut trials = vec![
        vec!["digest", "a.h5"],
        vec!["ls", "--json", "a.h5"],
        vec!["tree", "--json", "a.h5"],
        vec!["stat", "--json", "a.h5"],
        vec!["find", "--json", "a.h5"],
        vec!["check", "--json", "a.h5"],
    ];
    trials.extend(paths.iter().skip(1).take(5).map(|path| vec!["cat", "--json", "a.h5", path]));
    for trial in trials {
        let output = command(folder.path(), &trial);
        let document: Result<serde_json::Value, _> = serde_json::from_slice(&output.stdout);
        let document = document.unwrap_or_else(|error| {
            panic!("{trial:?}: {error}: {}", String::from_utf8_lossy(&output.stdout))
        });
        // The escapes represent the characters in the file.
        if trial[0] == "ls" {
            assert!(
                document.to_string().contains(&serde_json::to_string(EVIL).unwrap()[1..20]),
                "{document}"
            );
        }
    }
}
