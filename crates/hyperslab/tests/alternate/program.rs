//! Runs of programs: turn by turn, with the model, both readers and `check`. Programs that fail are
//! shrunk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use hyperslab_check::CheckOptions;
use serde_json::{Value as Json, json};

use crate::content::{Content, content};
use crate::draw::Program;
use crate::ours::{self, text};
use crate::theirs::Theirs;
use crate::world::World;

/// Largest number of runs while a program is shrunk.
const TRIES: usize = 400;
/// Largest number of shown characters of a difference.
const SHOWN: usize = 600;

/// A failure of a program.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// The name of the failed check. Shrinking keeps only changes after which the same check fails.
    pub(crate) test: &'static str,
    pub(crate) turn: usize,
    pub(crate) words: String,
}

impl Fault {
    /// Returns true if both failures probably have the same cause.
    fn is_like(&self, other: &Self) -> bool {
        let end = |words: &str| {
            let words: Vec<char> = words.chars().rev().take(30).collect();
            words
        };
        let refused = matches!(self.test, "libhdf5 fails" | "hyperslab refuses");
        self.test == other.test && (!refused || end(&self.words) == end(&other.words))
    }
}

/// The state of the file before the first turn.
pub(crate) trait Beginning {
    /// Returns the model of the file.
    fn world(&self, program: &Program) -> World;
    /// Writes the file to its path, unless the first turn creates it.
    fn place(&self, path: &Path);
}

/// The start of a program whose first turn creates the file.
pub(crate) struct Nothing;

impl Beginning for Nothing {
    fn world(&self, program: &Program) -> World {
        World::new(program.setup["create"]["track"] == true)
    }

    fn place(&self, _: &Path) {}
}

fn path_in(folder: &Path, driver: &str) -> String {
    let name = match driver {
        "family" => "file-%d.h5",
        "split" | "multi" => "file",
        _ => "file.h5",
    };
    folder.join(name).to_str().unwrap().to_owned()
}

/// Returns the request with the path in the form of hyperslab, which names a multi file by its
/// first member.
fn for_hyperslab(request: &Json) -> Json {
    let mut request = request.clone();
    if request["driver"] == "multi" {
        request["path"] = json!(format!("{}-s.h5", text(&request, "path")));
    }
    request
}

/// Runs a program in a temporary folder, or in the folder that `HYPERSLAB_ALTERNATE_KEEP` names.
/// Only the named folder remains. Returns the number of operations.
pub(crate) fn run(program: &Program, from: &dyn Beginning, theirs: &mut Theirs) -> Result<usize, Fault> {
    if let Some(folder) = std::env::var_os("HYPERSLAB_ALTERNATE_KEEP") {
        std::fs::remove_dir_all(&folder).ok();
        std::fs::create_dir_all(&folder).unwrap();
        return run_in(program, from, theirs, folder.as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    run_in(program, from, theirs, folder.path())
}

/// Runs a program in an empty folder.
pub(crate) fn run_in(
    program: &Program,
    from: &dyn Beginning,
    theirs: &mut Theirs,
    folder: &Path,
) -> Result<usize, Fault> {
    let path = path_in(folder, text(&program.setup, "driver"));
    from.place(path.as_ref());
    let (mut world, mut count) = (from.world(program), 0);
    for (turn, of) in program.turns.iter().enumerate() {
        let mut request = program.setup.clone();
        request.as_object_mut().unwrap().extend(of.how.as_object().unwrap().clone());
        request["path"] = json!(path);
        if turn > 0 {
            request.as_object_mut().unwrap().remove("create");
        }
        let ops: Vec<Json> = of.ops.iter().filter(|op| world.apply(op)).cloned().collect();
        count += ops.len();
        let fault = |(test, words)| Fault { test, turn, words };
        let expected = world.content();
        take_turn(&request, &ops, &expected, theirs).map_err(fault)?;
        check(&request).map_err(fault)?;
    }
    Ok(count)
}

type Outcome = Result<(), (&'static str, String)>;

/// Executes the operations with one library. Then both libraries read the file.
fn take_turn(request: &Json, ops: &[Json], expected: &Content, theirs: &mut Theirs) -> Outcome {
    let mut to_read = request.clone();
    to_read.as_object_mut().unwrap().remove("create");
    if request["side"] == "hyperslab" {
        let done = catch_unwind(AssertUnwindSafe(|| change(&for_hyperslab(request), ops, expected)));
        done.unwrap_or_else(|panic| Err(("hyperslab panicked", panic_words(&*panic))))?;
    } else {
        to_read["ops"] = json!(ops);
        to_read["create"] = request["create"].clone();
    }
    let found = theirs.ask(&to_read).map_err(|words| ("libhdf5 fails", words))?;
    same("libhdf5 reads something else", &found, expected)?;
    let read = || {
        let file = ours::open_to_read(&for_hyperslab(request))?;
        content(&file)
    };
    let found = catch_unwind(AssertUnwindSafe(read));
    let found = found.map_err(|panic| ("hyperslab panicked while reading", panic_words(&*panic)))?;
    let found = found.map_err(|error| ("hyperslab cannot read", format!("{error:?}")))?;
    same("hyperslab reads something else", &found, expected)
}

fn panic_words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn change(request: &Json, ops: &[Json], expected: &Content) -> Outcome {
    let opened = if request["create"].is_null() { ours::open(request) } else { ours::create(request) };
    let file = opened.map_err(|error| ("hyperslab cannot open", format!("{error:?}")))?;
    for (number, op) in ops.iter().enumerate() {
        ours::apply(&file, op).map_err(|error| {
            ("hyperslab refuses", format!("operation {number} {}: {error:?}", shortened(&op.to_string())))
        })?;
    }
    let found =
        content(&file).map_err(|error| ("hyperslab cannot read before it closes", format!("{error:?}")))?;
    same("hyperslab reads something else before it closes", &found, expected)?;
    file.close().map_err(|error| ("hyperslab cannot close", format!("{error:?}")))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

fn same(test: &'static str, found: &Content, expected: &Content) -> Outcome {
    let lost = expected.keys().find(|path| !found.contains_key(*path));
    if let Some(path) = lost.or_else(|| found.keys().find(|path| !expected.contains_key(*path))) {
        let there = if lost.is_some() { "is not there" } else { "should not be there" };
        return Err((test, format!("{path} {there}")));
    }
    for (path, reported) in expected {
        let other = &found[path];
        let parts = reported.as_object().unwrap();
        let wrong = parts.iter().find(|(part, value)| other.get(part.as_str()) != Some(value));
        if let Some((part, value)) = wrong {
            let at = difference(value, &other[part.as_str()], "");
            return Err((test, format!("{path}, {part}{at}")));
        }
        if parts.len() != other.as_object().unwrap().len() {
            return Err((test, format!("{path} has other parts: {}", shortened(&other.to_string()))));
        }
    }
    Ok(())
}

/// Returns the first difference of two descriptions.
fn difference(expected: &Json, found: &Json, at: &str) -> String {
    match (expected, found) {
        (Json::Object(expected), Json::Object(found)) => {
            for (name, value) in expected {
                let other = found.get(name).unwrap_or(&Json::Null);
                if value != other {
                    return difference(value, other, &format!("{at}/{name}"));
                }
            }
            let more = found.keys().find(|name| !expected.contains_key(*name));
            format!("{at}: more than expected: {more:?}")
        }
        (Json::String(expected), Json::String(found)) => {
            let first = expected.bytes().zip(found.bytes()).position(|(a, b)| a != b);
            let first = first.unwrap_or(expected.len().min(found.len()));
            let part = |text: &str| shortened(text.get(first..).unwrap_or_default());
            format!("{at}, letter {first}: expected {} found {}", part(expected), part(found))
        }
        _ => {
            let (expected, found) = (expected.to_string(), found.to_string());
            format!("{at}: expected {} found {}", shortened(&expected), shortened(&found))
        }
    }
}

fn check(request: &Json) -> Outcome {
    let failed = |error: hyperslab::Error| ("check cannot look", format!("{error:?}"));
    let driver = ours::driver(&for_hyperslab(request)).map_err(failed)?;
    let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
    let report = hyperslab_check::check(driver, &options).map_err(failed)?;
    if report.faults == 0 && report.unchecked == 0 {
        return Ok(());
    }
    Err(("check finds a fault", shortened(&format!("{:?}", report.findings))))
}

/// Returns the program without all parts that the failure does not need.
pub(crate) fn shrink(
    program: &Program,
    fault: &Fault,
    from: &dyn Beginning,
    theirs: &mut Theirs,
) -> (Program, Fault) {
    let (mut best, mut fault) = (program.clone(), fault.clone());
    best.turns.truncate(fault.turn + 1);
    let mut tries = 0;
    let mut step = best.turns.iter().map(|turn| turn.ops.len()).max().unwrap_or(0).max(1);
    loop {
        let mut smaller = false;
        for turn in (0..best.turns.len()).rev() {
            let mut at = 0;
            while turn < best.turns.len() && at < best.turns[turn].ops.len() && tries < TRIES {
                let mut trial = best.clone();
                let end = (at + step).min(trial.turns[turn].ops.len());
                trial.turns[turn].ops.drain(at..end);
                tries += 1;
                match run(&trial, from, theirs) {
                    Err(found) if found.is_like(&fault) => {
                        (best, fault, smaller) = (trial, found, true);
                        best.turns.truncate(fault.turn + 1);
                    }
                    _ => at += step,
                }
            }
        }
        if tries >= TRIES || (step == 1 && !smaller) {
            break;
        }
        step = (step / 2).max(1);
    }
    // Turns without operations, except the first turn, which creates the file.
    for turn in (1..best.turns.len()).rev() {
        let mut trial = best.clone();
        trial.turns.remove(turn);
        if let Err(found) = run(&trial, from, theirs)
            && found.is_like(&fault)
        {
            (best, fault) = (trial, found);
        }
    }
    (best, fault)
}

/// Returns a description of the program with a few lines.
pub(crate) fn told(program: &Program) -> String {
    let mut lines = vec![format!("setup {}", program.setup)];
    for turn in &program.turns {
        lines.push(format!("turn {}", turn.how));
        lines.extend(turn.ops.iter().map(|op| format!("  {}", shortened(&op.to_string()))));
    }
    lines.join("\n")
}
