//! `hyperslab stat`: the bytes of a file by structure, and its largest objects.

mod counts;
mod objects;
mod sizes;
mod structures;

use std::collections::{HashSet, VecDeque};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use hyperslab::{File, LinkTarget, Object, ObjectKind, ObjectToken};
use hyperslab_check::{CheckOptions, Report};
use indicatif::ProgressBar;
use serde_json::json;

use self::counts::Totals;
use self::objects::{Largest, Line};
use self::sizes::{DatasetSizes, sum};
use self::structures::{Structures, Waste};
use crate::open::OpenArguments;
use crate::prefetch::{Parts, prefetch};
use crate::{lookup, output};

/// The length in bytes of the longest path that the statistics extend by the names of links. If a
/// path is longer, only its last name is kept.
const MAX_PATH_BYTES: usize = 4096;

/// The largest number of failures that the statistics report.
const MAX_FAILURES: usize = 100;

/// The arguments of the command `stat`, which prints the statistics of a file.
#[derive(Debug, clap::Args)]
pub(crate) struct StatArguments {
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    /// The number of largest objects to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Show all objects, not only the largest ones
    #[arg(long, conflicts_with = "top")]
    all: bool,
    /// Do not account for every byte: only count objects and the bytes of raw data
    #[arg(short, long)]
    quick: bool,
    /// Show the requests and bytes that opening, listing and reading the file need in an object
    /// store
    #[arg(long, conflicts_with_all = ["top", "all", "quick"])]
    cloud: bool,
    /// With --cloud, also show the requests and bytes after `hyperslab repack --cloud`, which
    /// writes a temporary file
    #[arg(long, requires = "cloud")]
    repacked: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The HDF5 file
    file: PathBuf,
    /// The object to count, with all objects below it
    #[arg(default_value = "/")]
    path: String,
}

/// Runs the command `stat`: prints the statistics of a file. Returns a failure code if a part of
/// the file could not be read.
pub(crate) fn run(arguments: &StatArguments) -> Result<ExitCode> {
    if arguments.cloud {
        crate::remote::print_requests(&arguments.file, arguments.json, arguments.repacked)?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = arguments.file.display();
    let file = arguments.open.open(&arguments.file)?;
    let path = format!("/{}", arguments.path.trim_matches('/'));
    let object = lookup::object(&file, &path).with_context(|| format!("`{shown}`"))?;
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(100));
    let maximum = if arguments.all { usize::MAX } else { arguments.top };
    let mut survey = Survey::new(&file, maximum);
    if !arguments.quick {
        bar.set_message("accounting for every byte");
        match account(arguments, &arguments.file) {
            Ok(report) => survey.structures = Some(Structures::new(report, file.info().length)),
            Err(error) => survey.failed(output::chain(error.as_ref())),
        }
    }
    bar.set_message("reading all objects");
    survey.walk(path.as_bytes(), object);
    bar.finish_and_clear();
    let failures = survey.print(arguments, &path)?;
    for failure in &failures {
        output::complain(format_args!("hyperslab: {failure}"));
    }
    arguments.open.report();
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks the whole file for the statistics, and finds the structure to which each byte belongs.
fn account(arguments: &StatArguments, file: &Path) -> Result<Report> {
    let driver = crate::remote::find_driver(arguments.open.options(), file)?;
    let options = CheckOptions { per_object: true, max_findings: 0, ..CheckOptions::default() };
    Ok(hyperslab_check::check(driver, &options)?)
}

/// The totals of the statistics of a file, while objects are read.
struct Survey<'a> {
    file: &'a File,
    totals: Totals,
    largest: Largest,
    structures: Option<Structures>,
    raw: u64,
    stored: u64,
    overhang: u64,
    objects: u64,
    failures: Vec<String>,
}

impl<'a> Survey<'a> {
    fn new(file: &'a File, maximum: usize) -> Self {
        Self {
            file,
            totals: Totals::default(),
            largest: Largest::new(maximum),
            structures: None,
            raw: 0,
            stored: 0,
            overhang: 0,
            objects: 0,
            failures: Vec::new(),
        }
    }

    fn failed(&mut self, failure: String) {
        if self.failures.len() < MAX_FAILURES && !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    /// Adds an object, and all objects that hard links below it reach, to the statistics. Each
    /// object counts once.
    fn walk(&mut self, path: &[u8], first: Object) {
        prefetch(&first, usize::MAX, Parts::AttributesAndStorage);
        let mut known: HashSet<ObjectToken> = HashSet::from([first.token()]);
        let mut pending: VecDeque<(ObjectToken, Vec<u8>)> = VecDeque::new();
        let mut next = Some((Ok(first), path.to_vec()));
        while let Some((found, path)) = next {
            let read = found.and_then(|object| {
                self.object(&object, &path, |token, name| {
                    if known.insert(token) {
                        pending.push_back((token, below(&path, name)));
                    }
                })
            });
            if let Err(error) = read {
                self.failed(output::chain(&error));
            }
            next = pending.pop_front().map(|(token, path)| (self.file.object_at(token), path));
        }
    }

    /// Adds one object to the statistics. If the object is a group, calls `linked` with the target
    /// of each of its hard links.
    fn object(
        &mut self,
        object: &Object,
        path: &[u8],
        mut linked: impl FnMut(ObjectToken, &[u8]),
    ) -> hyperslab::Result<()> {
        self.objects += 1;
        self.totals.object(object)?;
        let mut sizes = None;
        match object.kind() {
            Some(ObjectKind::Group) => {
                for link in object.clone().into_group()?.links()? {
                    self.totals.link(&link.target);
                    if let LinkTarget::Hard(token) = link.target {
                        linked(token, &link.name);
                    }
                }
            }
            Some(ObjectKind::Dataset) => {
                let found = DatasetSizes::of(&object.clone().into_dataset()?)?;
                self.totals.dataset(&found);
                // Raw data in other files takes no bytes of this file.
                if found.stored > 0 {
                    self.raw = sum(self.raw, found.raw);
                    self.stored = sum(self.stored, found.stored);
                }
                let overhang = found.chunks.map_or(0, |chunks| chunks.overhang);
                self.overhang = sum(self.overhang, overhang);
                sizes = Some(found);
            }
            _ => {}
        }
        let of_objects = self.structures.as_ref().map(|structures| &structures.report().of_objects);
        let line = Line::new(path.to_vec(), object, of_objects, sizes);
        self.largest.push(self.objects, line);
        Ok(())
    }

    /// Prints the statistics of a file. Returns the messages about parts that could not be read.
    fn print(self, arguments: &StatArguments, path: &str) -> Result<Vec<String>> {
        let mut out = output::stdout();
        let length = self.file.info().length;
        // The structures belong to the whole file, so they are shown only for the root group.
        let structures = self.structures.as_ref().filter(|_| path == "/");
        let waste = Waste::of(structures.map(Structures::report), self.overhang);
        let largest = self.largest.into_sorted();
        if arguments.json {
            let mut document = self.totals.json();
            document.insert("failures".into(), json!(self.failures));
            document.insert("bytes".into(), json!(structures.map(Structures::json)));
            document.insert("waste".into(), waste.json());
            document.insert("raw_data".into(), json!({ "raw_size": self.raw, "stored_size": self.stored }));
            if let serde_json::Value::Object(largest) = largest.json() {
                document.extend(largest);
            }
            document.insert("format".into(), json!("hyperslab stat 1"));
            document.insert("file".into(), json!(arguments.file.to_string_lossy()));
            document.insert("path".into(), json!(path));
            document.insert("size".into(), json!(length));
            serde_json::to_writer(&mut out, &document).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            let name = output::escape(format!("{} {path}", arguments.file.display()).as_bytes());
            output::styled(&mut out, output::DATASET, &name)?;
            let mut about = format!("  {}", output::bytes(length));
            if self.raw > 0 {
                about.push_str(&format!(" · raw data {}", counts::sizes(self.stored, self.raw)));
            }
            output::styled(&mut out, output::FAINT, &about)?;
            writeln!(out)?;
            if let Some(structures) = structures {
                structures.print(&mut out)?;
            }
            waste.print(&mut out, length)?;
            largest.print(&mut out)?;
            self.totals.print(&mut out)?;
        }
        out.flush()?;
        Ok(self.failures)
    }
}

/// Returns the path of a link in a group. If the path of the group exceeds [`MAX_PATH_BYTES`], an
/// ellipsis replaces it.
fn below(parent: &[u8], name: &[u8]) -> Vec<u8> {
    let parent = parent.strip_suffix(b"/").unwrap_or(parent);
    let parent = if parent.len() > MAX_PATH_BYTES { "…".as_bytes() } else { parent };
    [parent, b"/", name].concat()
}
