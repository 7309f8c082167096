//! Runs of programs, for tests of commands: a [`Program`] is started in a folder with arguments and
//! standard input. A [`Run`] has the exit status and the captured output. A [`Scratch`] is a
//! temporary folder for runs.
//!
//! The assertions of a run panic with the command line and the whole output of the program.
#![expect(clippy::panic, reason = "a panic is the report of a test")]

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use crate::fixtures;

/// The variables that turn colours on and off.
const COLOURS: [&str; 3] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"];

/// A program and the environment in which it runs.
///
/// ```
/// use hyperslab_testkit::program::Program;
///
/// let run = Program::new("cat").input("text").run(["-"]);
/// assert_eq!(run.printed(), "text");
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    /// The words of the command: the program, possibly preceded by the programs that start it, and
    /// arguments.
    words: Vec<OsString>,
    folder: Option<PathBuf>,
    /// The environment variables to set or (`None`) to remove.
    variables: Vec<(OsString, Option<OsString>)>,
    input: Option<Vec<u8>>,
}

impl Program {
    /// Creates a program from its path. Arguments may follow with [`Program::with`].
    #[must_use]
    pub fn new(path: impl Into<OsString>) -> Self {
        Self { words: vec![path.into()], folder: None, variables: Vec::new(), input: None }
    }

    /// Adds an argument before the arguments of [`Program::run`].
    #[must_use]
    pub fn with(mut self, argument: impl Into<OsString>) -> Self {
        self.words.push(argument.into());
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the folder of the fixtures as the working folder.
    #[must_use]
    pub fn in_fixtures(self) -> Self {
        self.in_folder(fixtures::path(""))
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), Some(value.into())));
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn without_env(mut self, name: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), None));
        self
    }

    /// Removes the environment variables that turn colours on and off.
    #[must_use]
    pub fn without_colour_variables(self) -> Self {
        COLOURS.into_iter().fold(self, Self::without_env)
    }

    /// Sets the bytes that the program reads from standard input. Without this call, standard input
    /// is empty.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Limits the address space to this many KiB. Needs a POSIX shell.
    #[must_use]
    pub fn within_kibibytes(self, kibibytes: u64) -> Self {
        let shell = ["sh", "-c", r#"ulimit -v "$0"; exec "$@""#, &kibibytes.to_string()].map(OsString::from);
        self.started_by(shell)
    }

    /// Kills the program after this many seconds. Needs the program `timeout`.
    #[must_use]
    pub fn within_seconds(self, seconds: u64) -> Self {
        self.started_by(["timeout", "--signal=KILL", &seconds.to_string()].map(OsString::from))
    }

    /// Puts words before the command, such as a program that starts the command.
    fn started_by(mut self, words: impl IntoIterator<Item = OsString>) -> Self {
        self.words.splice(..0, words);
        self
    }

    /// Returns a command with the given arguments, for tests that need the running process.
    #[must_use]
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new(""), OsString::as_os_str));
        command.args(words).args(arguments);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Runs the program with the given arguments, and waits until the program ends.
    ///
    /// # Panics
    /// Panics if the program cannot be started.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        let mut command = self.command(arguments);
        let line = shown(&command);
        match output(&mut command, self.input.as_deref()) {
            Ok(Output { status, stdout, stderr }) => Run { line, status, stdout, stderr },
            Err(error) => panic!("cannot run `{line}`: {error}"),
        }
    }

    /// Runs the program with the words of a line as arguments. Blanks separate words; `''` is the
    /// empty word.
    ///
    /// # Panics
    /// Panics if the program cannot be started.
    #[track_caller]
    pub fn run_line(&self, line: &str) -> Run {
        self.run(line.split_whitespace().map(|word| if word == "''" { "" } else { word }))
    }
}

/// Runs a command with the given standard input.
fn output(command: &mut Command, input: Option<&[u8]>) -> std::io::Result<Output> {
    let Some(input) = input else { return command.stdin(Stdio::null()).output() };
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // A program may end without reading all its input, so that writing fails.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    })
}

/// Returns the command line without the folders of the program.
fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The result of a program run: the exit status and the output.
#[derive(Debug, Clone)]
pub struct Run {
    line: String,
    /// The exit status.
    pub status: ExitStatus,
    /// The bytes of standard output.
    pub stdout: Vec<u8>,
    /// The bytes of standard error.
    pub stderr: Vec<u8>,
}

impl Run {
    /// Returns true if the exit code is 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status.success()
    }

    /// Returns the exit code.
    ///
    /// # Panics
    /// Panics if a signal ended the program.
    #[track_caller]
    #[must_use]
    pub fn code(&self) -> i32 {
        match self.status.code() {
            Some(code) => code,
            None => panic!("a signal ended the program\n{self}"),
        }
    }

    /// Returns the standard output.
    ///
    /// # Panics
    /// Panics if it is not UTF-8.
    #[track_caller]
    #[must_use]
    pub fn out(&self) -> &str {
        match str::from_utf8(&self.stdout) {
            Ok(text) => text,
            Err(error) => panic!("standard output is not UTF-8: {error}\n{self}"),
        }
    }

    /// Returns the standard error.
    ///
    /// # Panics
    /// Panics if it is not UTF-8.
    #[track_caller]
    #[must_use]
    pub fn error(&self) -> &str {
        match str::from_utf8(&self.stderr) {
            Ok(text) => text,
            Err(error) => panic!("standard error is not UTF-8: {error}\n{self}"),
        }
    }

    /// Asserts the exit code.
    ///
    /// # Panics
    /// Panics on another exit code.
    #[track_caller]
    #[expect(clippy::must_use_candidate, reason = "an assertion")]
    pub fn ends_with(self, code: i32) -> Self {
        assert!(self.status.code() == Some(code), "expected exit code {code}\n{self}");
        self
    }

    /// Asserts exit code 0.
    ///
    /// # Panics
    /// Panics on another exit code.
    #[track_caller]
    #[expect(clippy::must_use_candidate, reason = "an assertion")]
    pub fn succeeds(self) -> Self {
        self.ends_with(0)
    }

    /// Asserts an empty standard error.
    ///
    /// # Panics
    /// Panics if standard error has text.
    #[track_caller]
    #[expect(clippy::must_use_candidate, reason = "an assertion")]
    pub fn without_warnings(self) -> Self {
        assert!(self.stderr.is_empty(), "expected nothing on standard error\n{self}");
        self
    }

    /// Asserts exit code 0 and an empty standard error. Returns the standard output.
    ///
    /// # Panics
    /// Panics if the run failed or warned, or if the output is not UTF-8.
    #[track_caller]
    #[must_use]
    pub fn printed(self) -> String {
        self.succeeds().without_warnings().out().to_owned()
    }

    /// Asserts exit code 0, an empty standard error, and an empty standard output.
    ///
    /// # Panics
    /// Panics if the run failed or printed anything.
    #[track_caller]
    pub fn is_silent(self) {
        let run = self.succeeds().without_warnings();
        assert!(run.stdout.is_empty(), "expected no output\n{run}");
    }

    /// Asserts exit code 1 and one line of standard error. Returns the line.
    ///
    /// # Panics
    /// Panics on another exit code, and unless standard error is one line.
    #[track_caller]
    #[must_use]
    pub fn failure(self) -> String {
        let run = self.ends_with(1);
        assert!(run.error().lines().count() == 1, "expected one line on standard error\n{run}");
        run.error().to_owned()
    }
}

/// Shows the command line, the exit status and the whole output.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}\n{}", self.line, self.status)?;
        for (name, bytes) in [("standard error", &self.stderr), ("standard output", &self.stdout)] {
            writeln!(f, "--- {name}\n{}", String::from_utf8_lossy(bytes))?;
        }
        Ok(())
    }
}

/// A temporary folder in which a program runs. The folder is removed on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    program: Program,
}

impl Scratch {
    /// Creates an empty folder for runs of a program.
    ///
    /// # Panics
    /// Panics if the folder cannot be created.
    #[must_use]
    pub fn new(program: Program) -> Self {
        match tempfile::tempdir() {
            Ok(folder) => Self { program: program.in_folder(folder.path()), folder },
            Err(error) => panic!("cannot create a temporary folder: {error}"),
        }
    }

    /// Copies a fixture into the folder.
    ///
    /// # Panics
    /// Panics if the fixture cannot be copied.
    #[must_use]
    pub fn with_fixture(self, fixture: &str, name: &str) -> Self {
        if let Err(error) = std::fs::copy(fixtures::path(fixture), self.path(name)) {
            panic!("cannot copy the fixture `{fixture}`: {error}");
        }
        self
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Runs the program in the folder.
    ///
    /// # Panics
    /// Panics if the program cannot be started.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.program.run(arguments)
    }

    /// Runs the program in the folder with the words of a line as arguments.
    ///
    /// # Panics
    /// Panics if the program cannot be started.
    #[track_caller]
    pub fn run_line(&self, line: &str) -> Run {
        self.program.run_line(line)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("/bin/sh").with("-c").with(script).with("name")
    }

    #[test]
    fn arguments_input_and_output_pass_through() {
        let run = shell("cat; echo \"$@\"; echo warned >&2; exit 3").input("in,").run(["a b", "c"]);
        assert_eq!((run.out(), run.error(), run.code()), ("in,a b c\n", "warned\n", 3));
        assert_eq!(shell("cat").run([""; 0]).printed(), "", "standard input is empty");
        assert_eq!(shell("printf '%s;' \"$@\"").run_line(" a  '' b ").printed(), "a;;b;");
    }

    #[test]
    fn programs_may_leave_their_input_unread() {
        shell("exit 0").input(vec![0; 1 << 20]).run([""; 0]).is_silent();
    }

    #[test]
    fn the_environment_is_set_and_cleared() {
        let shown = "echo \"$A,${NO_COLOR-none}\"";
        let program = shell(shown).env("A", "1").env("NO_COLOR", "1");
        assert_eq!(program.run([""; 0]).printed(), "1,1\n");
        assert_eq!(program.without_colour_variables().run([""; 0]).printed(), "1,none\n");
    }

    #[test]
    fn bounds_are_kept() {
        let limited = shell("ulimit -v").within_kibibytes(900_000).within_seconds(60);
        assert_eq!(limited.run([""; 0]).printed(), "900000\n");
        assert!(!shell("sleep 60").within_seconds(1).run([""; 0]).is_success());
    }

    #[test]
    fn a_scratch_folder_is_the_working_folder_and_goes() {
        let scratch = Scratch::new(shell("ls; echo made > new")).with_fixture("weather_station.h5", "a.h5");
        assert_eq!(scratch.run([""; 0]).printed(), "a.h5\n");
        assert_eq!(std::fs::read_to_string(scratch.path("new")).unwrap(), "made\n");
        let folder = scratch.folder().to_owned();
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn failed_assertions_show_the_run() {
        let failed = |assertion: fn(Run)| {
            let run = shell("echo printed; echo warned >&2; exit 2").run(["argument"]);
            let panic = std::panic::catch_unwind(move || assertion(run)).unwrap_err();
            let text = panic.downcast_ref::<String>().unwrap().clone();
            for part in ["sh -c", "argument", "exit status: 2", "printed", "warned"] {
                assert!(text.contains(part), "{part}: {text}");
            }
            text
        };
        assert!(failed(|run| drop(run.printed())).starts_with("expected exit code 0\n"));
        assert!(failed(|run| drop(run.failure())).starts_with("expected exit code 1\n"));
        assert!(failed(|run| drop(run.without_warnings())).starts_with("expected nothing on standard error"));
        let two = shell("printf 'a\\nb\\n' >&2; exit 1").run([""; 0]);
        assert!(std::panic::catch_unwind(move || two.failure()).is_err(), "two lines");
        let printed = shell("echo x").run([""; 0]);
        assert!(std::panic::catch_unwind(move || printed.is_silent()).is_err());
    }
}
