//! Other storage formats for sparse matrices, measured in a long-running Python process.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{referee, workspace};

use super::backend::{Backend, Done, Operation};
use super::matrix::Met;
use crate::clock::Cost;

/// The environment variable that names the Python to use. It must have h5py, `SciPy` and `NumPy`,
/// and may have TileDB and Zarr.
const PYTHON_VARIABLE: &str = "HYPERSLAB_BENCH_PYTHON";

/// A running Python that answers each line with one line.
#[derive(Debug)]
struct Process {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A column that is measured in Python.
#[derive(Debug)]
struct Column {
    name: String,
    description: String,
    process: Rc<RefCell<Process>>,
}

/// The formats that can be measured, and the formats that cannot be measured, with the reason.
pub(crate) struct Others {
    pub(crate) backends: Vec<Box<dyn Backend>>,
    pub(crate) missing: Vec<String>,
}

/// Starts Python for the matrix in a folder. `codec` is the name of the compression of the formats
/// that can use several.
pub(crate) fn start(folder: &Path, codec: &str) -> Result<Others> {
    let mut process = Process::start(folder, codec)?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    loop {
        let line = process.line()?;
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("column"), Some(name), Some(description)) => {
                found.push((name.to_owned(), description.to_owned()));
            }
            (Some("missing"), Some(name), Some(why)) => missing.push(format!("{name} ({why})")),
            _ if line.is_empty() => break,
            _ => bail!("cannot parse the line `{line}`"),
        }
    }
    let process = Rc::new(RefCell::new(process));
    let column = |(name, description)| -> Box<dyn Backend> {
        Box::new(Column { name, description, process: Rc::clone(&process) })
    };
    Ok(Others { backends: found.into_iter().map(column).collect(), missing })
}

impl Process {
    fn start(folder: &Path, codec: &str) -> Result<Self> {
        let python = std::env::var_os(PYTHON_VARIABLE)
            .or_else(|| referee::python().map(|referee| OsString::from(referee.python())))
            .with_context(|| {
                format!("no Python: ${PYTHON_VARIABLE} is not set, and the referee is not installed")
            })?;
        let script = workspace::root().join("crates/bench/python/sparse_others.py");
        let mut child = Command::new(&python)
            .arg(script)
            .arg(folder)
            .arg(codec)
            .env("HDF5_USE_FILE_LOCKING", "FALSE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", python.display()))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("no standard output")?);
        Ok(Self { child, requests, answers })
    }

    /// Returns the next line, without its end.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.answers.read_line(&mut line)? > 0, "Python ended: it needs h5py, SciPy and NumPy");
        Ok(line.trim_end().to_owned())
    }

    fn ask(&mut self, request: &str) -> Result<Done> {
        let requests = self.requests.as_mut().context("no standard input")?;
        writeln!(requests, "{request}")?;
        answer(&self.line()?)
    }
}

impl Drop for Process {
    /// Ends the process, which runs until its requests end.
    fn drop(&mut self) {
        self.requests = None;
        let _ended = self.child.wait();
    }
}

fn answer(line: &str) -> Result<Done> {
    let words: Vec<&str> = line.split(' ').collect();
    let ["ok", wall, cpu, count, sum, bytes] = words.as_slice() else { bail!("{line}") };
    let met = match *count {
        "-" => None,
        count => Some(Met { count: count.parse()?, sum: sum.parse()? }),
    };
    Ok(Done { took: Cost { wall: wall.parse()?, cpu: cpu.parse()? }, met, bytes: bytes.parse()? })
}

impl Backend for Column {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn rounds(&self) -> usize {
        // The dense format takes seconds for each operation at any density.
        if self.name.starts_with("dense") { 1 } else { usize::MAX }
    }

    fn run(&mut self, operation: Operation) -> Result<Done> {
        let word = match operation {
            Operation::Write => "write",
            Operation::Read => "read",
            Operation::Boxes => "boxes",
            Operation::Rows => "rows",
            Operation::Columns => "columns",
            Operation::Append => "add",
        };
        self.process.borrow_mut().ask(&format!("{} {word}", self.name)).with_context(|| self.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() -> Result<()> {
        let done = answer("ok 0.5 0.25 3 6.0 1234")?;
        assert_eq!(done.met, Some(Met { count: 3, sum: 6.0 }));
        assert_eq!((done.took.wall, done.took.cpu, done.bytes), (0.5, 0.25, 1234));
        assert_eq!(answer("ok 0.5 0.25 - - 1234")?.met, None);
        assert!(answer("error KeyError: 'x'").is_err_and(|error| error.to_string().contains("KeyError")));
        Ok(())
    }
}
