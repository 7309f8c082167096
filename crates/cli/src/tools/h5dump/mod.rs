//! `h5dump`: the content of a file in the data description language.

mod arguments;
mod binary;
mod contents;
mod links;
mod mappings;
mod objects;
mod properties;
mod references;
mod regions;
mod sparse;
mod superblock;
mod values;

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use hyperslab::vfd::is_same_file;
use hyperslab::{File, FileDriver, ObjectToken, OpenOptions};

use self::arguments::H5dumpArguments;
use super::ddl::elements::Style;
use super::known::Known;
use crate::output::{complain, tool_stdout};

const HELP: &str = include_str!("help.txt");

/// Runs the tool h5dump.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let arguments = H5dumpArguments::parse(arguments)?;
    let mut out: Box<dyn Write> = match &arguments.ddl {
        None => Box::new(tool_stdout()),
        Some(None) => Box::new(io::sink()),
        Some(Some(path)) => Box::new(arguments.create(path)?),
    };
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.version {
        writeln!(out, "h5dump: Version {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.files.is_empty() {
        return Err(anyhow!("no file is given; `-h` lists the arguments"));
    }
    let mut data = match &arguments.output {
        Some(Some(path)) => Some(Box::new(arguments.create(path)?) as Box<dyn Write>),
        Some(None) => Some(Box::new(io::sink()) as Box<dyn Write>),
        None if arguments.ddl.is_some() => Some(Box::new(tool_stdout()) as Box<dyn Write>),
        None => None,
    };
    let mut is_complete = true;
    for path in &arguments.files {
        let file = open(path, arguments.driver.as_deref())?;
        let mut dump = Dump {
            file: &file,
            name: path.display().to_string(),
            arguments: &arguments,
            known: Known::of(&file),
            style: Style {
                escaped: arguments.escaped,
                characters: arguments.characters,
                float: arguments.float.clone(),
                bits: None,
            },
            out: &mut *out,
            data: data.as_mut().map(|data| &mut **data as &mut dyn Write),
            is_complete: true,
            hops: 0,
            followed: 0,
            reference_path: Vec::new(),
            nested_lists: 0,
            is_limit_told: false,
        };
        dump.file()?;
        is_complete &= dump.is_complete;
    }
    out.flush()?;
    if let Some(mut data) = data {
        if arguments.binary.is_none() {
            data.write_all(b"\n")?;
        }
        data.flush()?;
    }
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl H5dumpArguments {
    /// Creates an output file of h5dump. Returns an error if the file is an input file.
    fn create(&self, path: &Path) -> Result<BufWriter<fs::File>> {
        if self.files.iter().any(|file| is_same_file(file, path)) {
            bail!("`{}` is an input file", path.display());
        }
        let file = fs::File::create(path).with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(BufWriter::new(file))
    }
}

fn open(path: &Path, driver: Option<&str>) -> Result<File> {
    let mut options = OpenOptions::new();
    if let Some(name) = driver {
        let driver: FileDriver = name.parse().map_err(|error: hyperslab::Error| anyhow!("{error}"))?;
        options = options.driver(driver);
    }
    crate::remote::open(options, path).with_context(|| format!("unable to open file \"{}\"", path.display()))
}

/// The state of the dump of one file.
struct Dump<'a> {
    file: &'a File,
    name: String,
    arguments: &'a H5dumpArguments,
    known: Known,
    style: Style,
    /// The output except the values.
    out: &'a mut dyn Write,
    /// The output for values, if it differs.
    data: Option<&'a mut dyn Write>,
    is_complete: bool,
    /// The number of external links that were followed to this file, and the number of all followed
    /// external links.
    hops: u32,
    followed: u32,
    /// The datasets of references that led to the current reference.
    reference_path: Vec<ObjectToken>,
    /// The number of datasets of references that were printed as targets of references.
    nested_lists: u32,
    /// True if the user was told that some references are not followed.
    is_limit_told: bool,
}

impl Dump<'_> {
    fn file(&mut self) -> Result<()> {
        writeln!(self.out, "HDF5 \"{}\" {{", self.name)?;
        if self.arguments.superblock {
            self.superblock()?;
        }
        if let Some(attributes) = self.arguments.contents {
            self.contents(attributes)?;
        } else if self.arguments.wanted.is_empty() {
            let root = self.file.root().clone();
            self.known.was_shown(root.token());
            self.group(&root, "/", 0)?;
        } else {
            for wanted in self.arguments.wanted.clone() {
                self.wanted(&wanted)?;
            }
        }
        writeln!(self.out, "}}")?;
        Ok(())
    }

    /// Writes an indented line of the dump.
    fn line(&mut self, indent: usize, text: &str) -> io::Result<()> {
        writeln!(self.out, "{:indent$}{text}", "")
    }

    /// Prints an error, after which the dump continues. Returns errors of the output.
    fn failed(&mut self, error: anyhow::Error) -> Result<()> {
        // Errors of files are wrapped in other errors, so a bare I/O error is an error of the
        // output.
        if error.downcast_ref::<io::Error>().is_some() {
            return Err(error);
        }
        self.is_complete = false;
        complain(format_args!("h5dump error: {error:#}"));
        Ok(())
    }
}
