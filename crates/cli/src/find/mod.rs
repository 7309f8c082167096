//! `hyperslab find`: the search for objects in files.

mod criteria;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use hyperslab::Object;
use serde_json::json;

use self::criteria::Criteria;
pub(crate) use self::criteria::size;
use crate::ls::describe::{Detail, GroupFacts};
use crate::ls::describer::{Attributes, Describer};
use crate::ls::rows::Rows;
use crate::ls::walk::{Content, Entry, EntryPath, Sink, Walk};
use crate::ls::{json, tree};
use crate::open::OpenArguments;
use crate::output::{self, escape};
use crate::values::paths::Paths;

/// The largest number of values of one attribute that a search compares or prints as JSON.
const MAX_VALUES: usize = 1000;

/// The exit code of the command `find` if no object meets the conditions.
const NOTHING: u8 = 1;
/// The exit code of the command `find` if a part of a file could not be read.
const UNREADABLE: u8 = 2;

/// The largest number of failures that `find` reports.
const MAX_FAILURES: usize = 100;

/// The arguments of `find`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An object is found if it meets all conditions. The exit code is 0 if an object is found, 1 if none is found, and 2 if a \
    part of a file could not be read.

Examples:
  hyperslab find data.h5 --name 'temp*' --min-size 10M
  hyperslab find *.h5 --attr units=K --type float -l
  hyperslab find data.h5 --filter gzip --layout chunked --rank 3
  hyperslab find data.h5 --sparse --print0 | xargs -0 -n1 hyperslab head data.h5"
)]
pub(crate) struct FindArguments {
    #[command(flatten)]
    criteria: Criteria,
    /// Also print shape, type, size and storage
    #[arg(short, long, conflicts_with_all = ["print0", "json"])]
    long: bool,
    /// End each path with a zero byte instead of a newline, and print names without escapes
    #[arg(short = '0', long, conflicts_with = "json")]
    print0: bool,
    /// Print a JSON document. Each object has the keys of `ls --json`
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs the command `find`: searches the files for objects that meet the conditions.
pub(crate) fn run(arguments: &FindArguments) -> Result<ExitCode> {
    let form = match arguments {
        FindArguments { json: true, .. } => Form::Json(output::stdout()),
        FindArguments { long: true, .. } => Form::Long(Rows::new(output::stdout())),
        FindArguments { print0: true, .. } => Form::Paths(output::raw_stdout(), b"\0"),
        _ => Form::Paths(output::stdout(), b"\n"),
    };
    let mut finder = Finder { arguments, form, file: None, found: 0, failures: Vec::new() };
    finder.begin()?;
    for file in &arguments.files {
        if let Err(error) = finder.search(file) {
            if crate::is_closed_output(&error) {
                return Err(error);
            }
            finder.failures.push(output::chain(error.as_ref()));
        }
    }
    finder.end()?;
    for failure in &finder.failures {
        // If writing to standard error fails, the exit code still reports the failure.
        output::complain(format_args!("hyperslab: {failure}"));
    }
    arguments.open.report();
    Ok(match (finder.failures.is_empty(), finder.found) {
        (false, _) => ExitCode::from(UNREADABLE),
        (true, 0) => ExitCode::from(NOTHING),
        (true, _) => ExitCode::SUCCESS,
    })
}

/// The form of the output of the command `find`: paths, details or JSON.
enum Form {
    /// Paths as plain text. These bytes follow each path.
    Paths(output::Output, &'static [u8]),
    Long(Rows<output::Output>),
    Json(output::Output),
}

/// The state of `find`: a search through files.
struct Finder<'a> {
    arguments: &'a FindArguments,
    form: Form,
    /// The name of the current file, and the describer of its objects.
    file: Option<(String, Describer)>,
    found: u64,
    failures: Vec<String>,
}

impl Finder<'_> {
    fn search(&mut self, path: &Path) -> Result<()> {
        let file = self.arguments.open.open(path)?;
        let describer = |storage| Describer {
            all: self.arguments.json && storage,
            storage,
            attributes: if self.arguments.json && storage { Attributes::All } else { Attributes::None },
            values: MAX_VALUES,
            paths: Paths::new(&file),
        };
        let (brief, long) = (describer(false), describer(true));
        self.file = Some((path.display().to_string(), long));
        let walk = Walk::new(&file, &brief, usize::MAX).again(true);
        walk.run(&Object::clone(file.root()), "/", self).map(drop)
    }

    fn begin(&mut self) -> Result<()> {
        if let Form::Json(out) = &mut self.form {
            write!(out, "{{\n\"format\": \"hyperslab find 1\",\n\"found\": [")?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        match &mut self.form {
            Form::Paths(out, _) => out.flush()?,
            Form::Long(rows) => rows.end()?,
            Form::Json(out) => {
                let failures = serde_json::to_string(&self.failures)?;
                write!(out, "\n],\n\"failures\": {failures}\n}}\n")?;
                out.flush()?;
            }
        }
        Ok(())
    }

    fn problem(&mut self, path: &str, problem: &str) {
        let file = self.file.as_ref().map_or("", |(file, _)| file);
        let line = format!("`{file}`: {path}: {problem}");
        if self.failures.len() < MAX_FAILURES && !self.failures.contains(&line) {
            self.failures.push(line);
        }
    }

    /// Prints an entry that meets the conditions of the search.
    fn print(&mut self, entry: &Entry, entry_path: &EntryPath<'_>) -> Result<()> {
        let several = self.arguments.files.len() > 1;
        let Some((file, long)) = &self.file else { return Ok(()) };
        let prefix = if several { format!("{file}:") } else { String::new() };
        let with_storage = |entry: &Entry| match &entry.content {
            Content::Object(facts) => {
                let members = match &facts.detail {
                    Detail::Group(GroupFacts { members, .. }) => *members,
                    _ => None,
                };
                long.object(&facts.object, members).map_or(None, |facts| Some(Content::Object(facts)))
            }
            _ => None,
        };
        match &mut self.form {
            Form::Paths(out, end) => {
                let path = [prefix.as_bytes(), &entry_path.bytes()].concat();
                let path = if *end == b"\0" { path } else { escape(&path).into_bytes() };
                out.write_all(&path)?;
                out.write_all(end)?;
            }
            Form::Long(rows) => {
                let name = escape(&[prefix.as_bytes(), &entry_path.bytes()].concat());
                let content = with_storage(entry);
                let content = content.as_ref().unwrap_or(&entry.content);
                rows.push(tree::row(name, content, String::new(), false))?;
            }
            Form::Json(out) => {
                let mut object = serde_json::Map::from_iter([("file".to_owned(), json!(file))]);
                object.extend(match with_storage(entry) {
                    Some(content) => json::entry_keys(&entry.name, &content, entry_path),
                    None => json::entry_keys(&entry.name, &entry.content, entry_path),
                });
                out.write_all(if self.found == 0 { b"\n" } else { b",\n" })?;
                serde_json::to_writer(&mut *out, &object).map_err(std::io::Error::from)?;
            }
        }
        self.found += 1;
        Ok(())
    }
}

impl Sink for Finder<'_> {
    fn entry(&mut self, entry: &Entry, entry_path: &EntryPath<'_>) -> Result<()> {
        let shown = || entry_path.shown().unwrap_or_else(|| "a very deep path".into());
        match &entry.content {
            Content::Broken(error) => self.problem(&shown(), error),
            Content::Object(facts) => {
                for problem in &facts.problems {
                    self.problem(&shown(), problem);
                }
            }
            _ => {}
        }
        let Some((_, describer)) = &self.file else { return Ok(()) };
        match self.arguments.criteria.accept(describer, &|| entry_path.bytes(), &entry.content) {
            Ok(true) => self.print(entry, entry_path),
            Ok(false) => Ok(()),
            Err(error) => {
                self.problem(&shown(), &output::chain(error.as_ref()));
                Ok(())
            }
        }
    }
}
