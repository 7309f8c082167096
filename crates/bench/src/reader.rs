//! A running program that does one piece of work for each line it gets, and answers with one line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::clock::Took;
use crate::libhdf5::{Reading, Work};

/// Longer than this no piece of work is waited for.
pub(crate) const LONGEST: Duration = Duration::from_secs(45);

/// The program and the line to it.
#[derive(Debug)]
pub(crate) struct Reader {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// That a program takes too long, and was ended.
#[derive(Debug)]
pub(crate) struct Late;

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {} s", LONGEST.as_secs())
    }
}

impl std::error::Error for Late {}

/// What a program says to a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// What it took, and a sum over what was read or the bytes of what was written.
    Done(Took, u64),
    /// Why it does no such work.
    Cannot(String),
    /// Nothing for too long.
    Late,
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

    /// Sends a line and gives the answer, or why there is none.
    fn exchange(&mut self, line: &str) -> Result<String> {
        let requests = self.requests.as_mut().context("the program was ended")?;
        writeln!(requests, "{line}")?;
        match self.answers.recv_timeout(LONGEST) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill()?;
                bail!(Late)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait()?;
                bail!("it ended: {status}")
            }
        }
    }

    /// Has the file read once.
    pub(crate) fn read(&mut self) -> Result<Reading> {
        let line = self.exchange("")?;
        let mut words = line.split_whitespace();
        let mut word = || words.next().with_context(|| format!("unreadable answer `{}`", line.trim()));
        let seconds = word()?.parse()?;
        let (datasets, attributes) = (word()?.parse()?, word()?.parse()?);
        let work = Work { datasets, attributes, bytes: word()?.parse()?, sum: word()?.parse()? };
        Ok(Reading { seconds, work })
    }

    /// Asks for one piece of work.
    pub(crate) fn request(&mut self, line: &str) -> Result<Answer> {
        let answer = self.exchange(line)?;
        if let Some(why) = answer.strip_prefix("unsupported ") {
            return Ok(Answer::Cannot(why.trim().to_owned()));
        }
        let words: Vec<&str> = answer.split_whitespace().collect();
        let [wall, cpu, sum] = words.as_slice() else { bail!("unreadable answer `{}`", answer.trim()) };
        Ok(Answer::Done(Took { wall: wall.parse()?, cpu: cpu.parse()? }, sum.parse()?))
    }

    /// Asks for one reading that must be done; gives what it took and a sum over what was read.
    pub(crate) fn ask(&mut self, line: &str) -> Result<(Took, u64)> {
        match self.request(line)? {
            Answer::Done(took, sum) => Ok((took, sum)),
            Answer::Cannot(why) => bail!("{why}"),
            Answer::Late => bail!(Late),
        }
    }

    /// Bytes of memory that it has now, as far as the system tells.
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
        // Without requests it ends by itself, but for one that was given up.
        self.requests = None;
        let _ = self.child.wait();
    }
}
