//! A running benchmark program. It runs one case for each line of input, and answers each line with
//! one line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::clock::Cost;
use crate::libhdf5::{Reading, Totals};

/// The longest time that a case may take.
pub(crate) const MAX_CASE_TIME: Duration = Duration::from_secs(45);

/// The program, and the pipes to and from it.
#[derive(Debug)]
pub(crate) struct Reader {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// The error of a program that took too long and was ended.
#[derive(Debug)]
pub(crate) struct TimedOut;

impl std::fmt::Display for TimedOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {} s", MAX_CASE_TIME.as_secs())
    }
}

impl std::error::Error for TimedOut {}

/// The answer of a program to a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// The cost, and the sum over the elements read or the bytes of the file written.
    Done(Cost, u64),
    /// The reason why the program cannot run the case.
    Cannot(String),
    /// The program took too long.
    TimedOut,
}

impl Reader {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = Some(child.stdin.take().context("no standard input")?);
        let lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, requests, answers })
    }

    /// Sends a line and returns the answer, or the reason why the program did not answer.
    fn exchange(&mut self, line: &str) -> Result<String> {
        let requests = self.requests.as_mut().context("the program was ended")?;
        writeln!(requests, "{line}")?;
        match self.answers.recv_timeout(MAX_CASE_TIME) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill()?;
                bail!(TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait()?;
                bail!("the program ended: {status}")
            }
        }
    }

    /// Reads the file once.
    pub(crate) fn read(&mut self) -> Result<Reading> {
        let line = self.exchange("")?;
        let mut words = line.split_whitespace();
        let mut word = || words.next().with_context(|| format!("cannot parse the answer `{}`", line.trim()));
        let seconds = word()?.parse()?;
        let (datasets, attributes) = (word()?.parse()?, word()?.parse()?);
        let totals = Totals { datasets, attributes, bytes: word()?.parse()?, sum: word()?.parse()? };
        Ok(Reading { seconds, totals })
    }

    /// Runs one case.
    pub(crate) fn request(&mut self, line: &str) -> Result<Answer> {
        let answer = self.exchange(line)?;
        if let Some(why) = answer.strip_prefix("unsupported ") {
            return Ok(Answer::Cannot(why.trim().to_owned()));
        }
        let words: Vec<&str> = answer.split_whitespace().collect();
        let [wall, cpu, sum] = words.as_slice() else { bail!("cannot parse the answer `{}`", answer.trim()) };
        Ok(Answer::Done(Cost { wall: wall.parse()?, cpu: cpu.parse()? }, sum.parse()?))
    }

    /// Runs one case that must succeed. Returns the cost and the sum.
    pub(crate) fn ask(&mut self, line: &str) -> Result<(Cost, u64)> {
        match self.request(line)? {
            Answer::Done(took, sum) => Ok((took, sum)),
            Answer::Cannot(why) => bail!("{why}"),
            Answer::TimedOut => bail!(TimedOut),
        }
    }

    /// Returns the current memory of the program in bytes, or 0 if the system does not report it.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kibibytes.unwrap_or(0).saturating_mul(1 << 10)
    }

    /// Ends the program.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.requests = None;
        let status = self.child.wait()?;
        ensure!(status.success(), "the program: {status}");
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The program ends without requests, except one that took too long, which was killed.
        self.requests = None;
        let _ = self.child.wait();
    }
}
