//! `h5ls`: the objects and links of files, a line for each.

mod arguments;
mod elements;
mod links;
mod list;
mod memory;
mod names;
mod objects;
mod source;
mod storage;
mod text;
mod types;
mod values;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use hyperslab::{File, FileDriver, LinkTarget, Object, ObjectKind, OpenOptions};

use self::arguments::{H5lsArguments, H5lsTask};
use self::elements::Style;
use self::list::{Shown, Walked};
use self::names::{Quotes, escaped};
use self::source::SourceFile;
use crate::output::chain;
use crate::prefetch::{Parts, prefetch};

const HELP: &str = include_str!("help.txt");

/// The width of the name column in h5ls's message about a missing object.
const MISSING_COLUMNS: usize = 10;

/// Runs the tool h5ls.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let mut out = crate::output::tool_stdout();
    let arguments = match H5lsTask::parse(arguments) {
        H5lsTask::List(arguments) => arguments,
        H5lsTask::Help => {
            out.write_all(HELP.as_bytes())?;
            out.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        H5lsTask::Version => {
            writeln!(out, "h5ls: Version {}", env!("CARGO_PKG_VERSION"))?;
            out.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        H5lsTask::Wrong(why) => {
            out.write_all(HELP.as_bytes())?;
            out.flush()?;
            complain(&why);
            return Ok(ExitCode::FAILURE);
        }
    };
    let H5lsArguments { simple, label, hexadecimal, .. } = arguments;
    let mut list = List {
        arguments: &arguments,
        style: Style::new(simple, label, hexadecimal),
        out: &mut out,
        prefix: Vec::new(),
        opened: 0,
        visited: HashSet::new(),
        held: Vec::new(),
        at: String::new(),
        is_complete: true,
    };
    for file in &arguments.files {
        // The list ends after an object that is not found.
        if list.argument(file)? == Presence::No {
            list.is_complete = false;
            break;
        }
    }
    let is_complete = list.is_complete;
    out.flush()?;
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn complain(text: &str) {
    crate::output::complain(format_args!("h5ls: {text}"));
}

/// The result of h5ls's search for an object that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Yes,
    No,
}

/// The state of the list that h5ls prints.
struct List<'a> {
    arguments: &'a H5lsArguments,
    style: Style,
    out: &'a mut dyn Write,
    /// The text before paths if there are several files.
    prefix: Vec<u8>,
    /// The number of files that were opened.
    opened: u64,
    /// The links that were followed, by their targets.
    visited: HashSet<Vec<u8>>,
    /// The files that are being listed, with their numbers.
    held: Vec<(String, u64)>,
    /// The path that is being listed, for error messages.
    at: String,
    is_complete: bool,
}

impl List<'_> {
    /// Lists the file or the object that an argument of h5ls names.
    fn argument(&mut self, argument: &OsStr) -> Result<Presence> {
        let (file, name, path) = match open(argument, self.arguments.driver.as_deref()) {
            Ok(opened) => opened,
            Err(why) => {
                complain(&format!("{}: unable to open file: {why}", argument.display()));
                self.is_complete = false;
                return Ok(Presence::Yes);
            }
        };
        self.opened += 1;
        self.visited.clear();
        self.at.clone_from(&name);
        let base = Path::new(&name).file_name().map(|base| base.to_string_lossy().into_owned());
        self.held = vec![(base.unwrap_or_else(|| name.clone()), self.opened)];
        if self.arguments.files.len() > 1 {
            self.prefix = format!("{name}/").into_bytes();
        }
        if self.arguments.verbose {
            writeln!(self.out, "Opened \"{name}\" with {} driver.", file.info().driver.name())?;
        }
        let source = SourceFile::new(file, name, self.opened, self.opened);
        self.object_or_link(&source, &path)
    }

    /// Lists the object or link at a path for h5ls. For a group, lists the members.
    fn object_or_link(&mut self, source: &SourceFile, path: &str) -> Result<Presence> {
        let shown_path = path.trim_matches('/');
        let (parent, name) = shown_path.rsplit_once('/').unwrap_or(("", shown_path));
        let parent =
            if parent.is_empty() { Ok(source.file.root().clone()) } else { source.file.group(parent) };
        let link = parent.as_ref().ok().and_then(|parent| parent.link(name).ok().flatten());
        if let (Ok(group), Some(link)) = (parent, link)
            && !matches!(link.target, LinkTarget::Hard(_))
        {
            let walked =
                Walked { source, group, path: Vec::new(), from_root: path.as_bytes().to_vec(), level: 0 };
            let listed = self.link(&walked, &link, shown_path.as_bytes(), b"", path.as_bytes());
            listed.or_else(|error| self.failed(error))?;
            return Ok(Presence::Yes);
        }
        let found =
            if shown_path.is_empty() { Ok((**source.file.root()).clone()) } else { source.file.object(path) };
        let Ok(object) = found else {
            let shown = escaped(name.as_bytes(), Quotes::No);
            write!(self.out, "{shown:<MISSING_COLUMNS$} **NOT FOUND** ")?;
            return Ok(Presence::No);
        };
        self.top(source, &object, path).or_else(|error| self.failed(error))?;
        Ok(Presence::Yes)
    }

    /// Lists an object that an argument of h5ls names. For a group, lists the members.
    fn top(&mut self, source: &SourceFile, object: &Object, path: &str) -> Result<()> {
        let shown_path = path.trim_matches('/');
        if object.kind() != Some(ObjectKind::Group) || self.arguments.group {
            self.name(shown_path.as_bytes())?;
            return self.object(source, object, false);
        }
        if self.arguments.recursive && shown_path.is_empty() {
            self.name(b"/")?;
            self.object(source, object, false)?;
        }
        prefetch(object, if self.arguments.recursive { usize::MAX } else { 1 }, Parts::Attributes);
        let group = object.clone().into_group()?;
        let from_root = path.as_bytes().to_vec();
        let mut shown = Shown::from([(object.token(), from_root.clone())]);
        self.members(&Walked { source, group, path: Vec::new(), from_root, level: 0 }, &mut shown)
    }

    /// Prints an error, after which the list continues. Returns errors of the output.
    fn failed(&mut self, error: anyhow::Error) -> Result<()> {
        // Errors of files are wrapped in other errors, so a bare I/O error is an error of the
        // output.
        if error.downcast_ref::<io::Error>().is_some() {
            return Err(error);
        }
        self.is_complete = false;
        complain(&format!("{}: {}", self.at, chain(error.as_ref())));
        Ok(())
    }
}

/// Opens the file that the beginning of an h5ls argument names. Returns the file, its name, and the
/// remaining path of the object in the file.
fn open(argument: &OsStr, driver: Option<&str>) -> Result<(File, String, String), String> {
    let mut options = OpenOptions::new();
    if let Some(name) = driver {
        let driver: FileDriver = name.parse().map_err(|error: hyperslab::Error| error.to_string())?;
        options = options.driver(driver);
    }
    let mut why = None;
    let mut attempt = |path: &Path| {
        let opened = crate::remote::open(options.clone(), path);
        opened.map_err(|error| {
            // The error of an existing file is more helpful than the error of a missing one.
            if why.is_none() || path.is_file() {
                why = Some(chain(&error));
            }
        })
    };
    let whole = argument.to_string_lossy().into_owned();
    if let Ok(file) = attempt(Path::new(argument)) {
        return Ok((file, whole, "/".into()));
    }
    if let Some(text) = argument.to_str() {
        for (at, _) in text.char_indices().rev().filter(|(at, letter)| *letter == '/' && *at > 0) {
            let (name, path) = text.split_at(at);
            if let Ok(file) = attempt(Path::new(name)) {
                return Ok((file, name.to_owned(), path.to_owned()));
            }
        }
    }
    Err(why.unwrap_or_else(|| "the argument has no file name".into()))
}
