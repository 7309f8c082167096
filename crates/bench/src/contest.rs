//! Runs of the same cases by hyperslab, each libhdf5, `rust-hdf5` and h5py in turn, each in a
//! process of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::case::{Case, Program};
use crate::libhdf5::Libhdf5;
use crate::outcome::{Entry, Outcome, Role};
use crate::peer::Peer;
use crate::reader::{Answer, Reader, TimedOut};

/// Seconds from which a program is slow, and the number of rounds of slow programs.
const SLOW_SECONDS: f64 = 2.0;
const SLOW_ROUNDS: usize = 3;

/// Seconds from which a program takes part in no further round.
const MAX_SECONDS: f64 = 10.0;

/// Seconds below which a case is short. A short case runs [`SHORT_REPEATS`] times in each turn,
/// because a program that was idle finds nothing in the processor's caches.
const SHORT_SECONDS: f64 = 0.005;
const SHORT_REPEATS: usize = 5;

/// Bytes of memory that a program may keep when it continues with the next case.
const MAX_KEPT_BYTES: u64 = 1 << 30;

#[derive(Debug)]
enum Implementation {
    Hyperslab,
    Libhdf5(PathBuf),
    Peer(Peer),
    Python,
}

/// An implementation that takes part, and its running programs.
#[derive(Debug)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    implementation: Implementation,
    /// True if the implementation maps files into memory.
    mapped: bool,
    running: Vec<(Program, Reader)>,
}

impl Contestant {
    fn new(name: String, implementation: Implementation, mapped: bool) -> Self {
        let name = if mapped { format!("{name} (mapped)") } else { name };
        Self { name, implementation, mapped, running: Vec::new() }
    }

    fn role(&self) -> Role {
        match self.implementation {
            Implementation::Hyperslab => Role::Hyperslab,
            Implementation::Libhdf5(_) => Role::Libhdf5,
            Implementation::Peer(_) => Role::Peer,
            Implementation::Python => Role::Python,
        }
    }
}

/// All implementations that take part.
#[derive(Debug)]
pub(crate) struct Contest {
    library: Libhdf5,
    pub(crate) contestants: Vec<Contestant>,
    /// Expected sums of the cases that read, by request.
    known: HashMap<(Program, String), u64>,
}

/// Returns the number of processors.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Contest {
    /// Returns a contest of hyperslab, the libhdf5 of h5py, each libhdf5 that
    /// `HYPERSLAB_BENCH_LIBHDF5` names, and `rust-hdf5`.
    pub(crate) fn new(library: Libhdf5) -> Result<Self> {
        let new = |name: String, implementation: Implementation| Contestant::new(name, implementation, false);
        let mut contestants = vec![
            new("hyperslab".to_owned(), Implementation::Hyperslab),
            new(format!("libhdf5 {}", library.version), Implementation::Libhdf5(library.library.clone())),
        ];
        for path in std::env::var("HYPERSLAB_BENCH_LIBHDF5").unwrap_or_default().split(':') {
            if !path.is_empty() {
                let path = PathBuf::from(path);
                let version = library.version_of(&path)?;
                contestants.push(new(format!("libhdf5 {version}"), Implementation::Libhdf5(path)));
            }
        }
        match Peer::build(false) {
            Ok(peer) => {
                contestants.push(new(format!("rust-hdf5 {}", peer.version), Implementation::Peer(peer)));
            }
            Err(error) => println!("rust-hdf5 is skipped: {error:#}\n"),
        }
        Ok(Self { library, contestants, known: HashMap::new() })
    }

    /// Adds the implementations that map files into memory.
    pub(crate) fn with_mapped(mut self) -> Result<Self> {
        self.contestants.push(Contestant::new("hyperslab".to_owned(), Implementation::Hyperslab, true));
        let unmapped = self.contestants.iter().any(|contestant| contestant.role() == Role::Peer);
        if unmapped {
            let peer = Peer::build(true)?;
            let name = format!("rust-hdf5 {}", peer.version);
            self.contestants.push(Contestant::new(name, Implementation::Peer(peer), true));
        }
        Ok(self)
    }

    /// Adds h5py.
    pub(crate) fn with_python(mut self) -> Result<Self> {
        let version = self.library.script("import h5py\nprint(h5py.__version__)", &[])?;
        let name = format!("h5py {}", version.trim());
        self.contestants.push(Contestant::new(name, Implementation::Python, false));
        Ok(self)
    }

    /// Returns the command that starts a contestant's program.
    pub(crate) fn command(&self, at: usize, program: Program) -> Result<Command> {
        let contestant = self.contestants.get(at).context("no such contestant")?;
        match &contestant.implementation {
            Implementation::Hyperslab => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["serve", program.word()]).args(contestant.mapped.then_some("mapped"));
                Ok(command)
            }
            Implementation::Libhdf5(path) => self.library.command(program.in_c(), path),
            Implementation::Peer(peer) => Ok(peer.command(program)),
            Implementation::Python => Ok(self.library.python(program.word())),
        }
    }

    /// Sends a request to a contestant. A program that fails is started again for the next request.
    fn ask(&mut self, at: usize, program: Program, line: &str) -> Result<Answer> {
        let runs =
            |contestant: &Contestant| contestant.running.iter().any(|(running, _)| *running == program);
        if !self.contestants.get(at).is_some_and(runs) {
            let started = Reader::start(&mut self.command(at, program)?)?;
            let contestant = self.contestants.get_mut(at).context("no such contestant")?;
            contestant.running.push((program, started));
        }
        let contestant = self.contestants.get_mut(at).context("no such contestant")?;
        let position = contestant.running.iter().position(|(running, _)| *running == program);
        let position = position.context("the program does not run")?;
        let (_, reader) = contestant.running.get_mut(position).context("the program does not run")?;
        match reader.request(line) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                contestant.running.remove(position);
                Ok(if error.is::<TimedOut>() {
                    Answer::TimedOut
                } else {
                    Answer::Cannot(format!("{error:#}"))
                })
            }
        }
    }

    /// Runs a case with all contestants: once without timing, then in timed rounds. Each round
    /// starts with another contestant.
    pub(crate) fn measure(&mut self, case: &Case, rounds: u64) -> Result<Vec<Entry>> {
        let line = case.line();
        let mut entries = self.first(case, &line)?;
        let rounds = usize::try_from(rounds)?;
        let times_of = |entry: &Entry| match entry.outcome.wall() {
            None | Some(MAX_SECONDS..) => 0,
            Some(wall) if wall > SLOW_SECONDS => rounds.min(SLOW_ROUNDS),
            Some(_) => rounds,
        };
        let asked: Vec<usize> = entries.iter().map(times_of).collect();
        let is_short =
            |entry: &Entry| !case.cold && entry.outcome.wall().is_some_and(|wall| wall < SHORT_SECONDS);
        let in_turn: Vec<usize> =
            entries.iter().map(|entry| if is_short(entry) { SHORT_REPEATS } else { 1 }).collect();
        for entry in &mut entries {
            if let Outcome::Done { times, .. } = &mut entry.outcome
                && times.iter().all(|took| took.wall < MAX_SECONDS)
            {
                times.clear();
            }
        }
        for round in 0..rounds {
            let mut order: Vec<(usize, usize)> = asked.iter().copied().enumerate().collect();
            order.retain(|(_, times)| *times > round);
            let first = round.checked_rem(order.len()).unwrap_or(0);
            order.rotate_left(first);
            for (position, _) in order {
                let Some(Entry { at, outcome, .. }) = entries.get_mut(position) else { continue };
                let times = in_turn.get(position).copied().unwrap_or(1);
                match (self.turn(*at, case, &line, times)?, outcome) {
                    (Answer::Done(took, sum), Outcome::Done { times, sum: first, .. })
                        if sum == *first || case.program == Program::Write =>
                    {
                        times.push(took);
                    }
                    (Answer::Done(..), outcome) => {
                        *outcome = Outcome::Wrong("the sum differs between rounds".to_owned());
                    }
                    (Answer::Cannot(why), outcome) => *outcome = Outcome::Cannot(why),
                    (Answer::TimedOut, outcome) => *outcome = Outcome::TimedOut,
                }
            }
        }
        Ok(entries)
    }

    /// Runs a case `times` times and returns the median.
    fn turn(&mut self, at: usize, case: &Case, line: &str, times: usize) -> Result<Answer> {
        let (mut all, mut sums) = (Vec::new(), Vec::new());
        for _ in 0..times {
            match self.timed(at, case, line)? {
                Answer::Done(took, sum) => (all.push(took), sums.push(sum)),
                other => return Ok(other),
            };
        }
        all.sort_by(|one, other| one.wall.total_cmp(&other.wall));
        let took = all.get(all.len() / 2).copied().context("no measured times")?;
        // Returns a sum that differs, if there is one: the difference must be reported.
        let first = sums.first().copied();
        let sum =
            sums.iter().copied().find(|sum| Some(*sum) != first).or(first).context("no measured times")?;
        Ok(Answer::Done(took, sum))
    }

    fn timed(&mut self, at: usize, case: &Case, line: &str) -> Result<Answer> {
        if case.cold {
            evict_from_system_cache(&case.path)?;
        }
        self.ask(at, case.program, line)
    }

    /// Runs a case once with each contestant, and compares the sums with that of the first libhdf5.
    fn first(&mut self, case: &Case, line: &str) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let mut expected = self.known.get(&(case.program, line.to_owned())).copied();
        for at in 0..self.contestants.len() {
            let Some(contestant) = self.contestants.get(at) else { continue };
            let (name, role) = (contestant.name.clone(), contestant.role());
            if contestant.mapped != case.mapped {
                continue;
            }
            let answer = self.timed(at, case, line)?;
            let seen = match (&answer, &case.check) {
                (Answer::Done(..), Some((program, description))) => {
                    match self.ask(1, *program, &crate::case::line(description, &case.path))? {
                        Answer::Done(_, sum) => Ok(Some(sum)),
                        Answer::Cannot(why) => Err(format!("libhdf5 cannot read the file: {why}")),
                        Answer::TimedOut => Err(format!("libhdf5 needs {TimedOut} to read the file")),
                    }
                }
                (Answer::Done(_, sum), None) if case.program != Program::Write => Ok(Some(*sum)),
                _ => Ok(None),
            };
            if role == Role::Libhdf5 && expected.is_none() {
                expected = seen.as_ref().ok().copied().flatten();
            }
            all.push((at, name, role, answer, seen));
        }
        if expected.is_none()
            && case.program != Program::Write
            && let Answer::Done(_, sum) = self.ask(1, case.program, line)?
        {
            expected = Some(sum);
        }
        if let Some(sum) = expected
            && case.program != Program::Write
        {
            self.known.insert((case.program, line.to_owned()), sum);
        }
        let entry = |(at, name, role, answer, seen)| {
            let outcome = match (answer, seen) {
                (Answer::Cannot(why), _) => Outcome::Cannot(why),
                (Answer::TimedOut, _) => Outcome::TimedOut,
                (_, Err(why)) => Outcome::Wrong(why),
                (Answer::Done(took, sum), seen) if seen == Ok(expected) => {
                    Outcome::Done { times: vec![took], sum, peak: None }
                }
                _ => Outcome::Wrong("the result differs from libhdf5".to_owned()),
            };
            Entry { at, name, role, outcome }
        };
        Ok(all.into_iter().map(entry).collect())
    }

    /// Measures the peak memory of each contestant, in a process that runs only this case.
    pub(crate) fn measure_memory(&self, case: &Case, entries: &mut [Entry]) -> Result<()> {
        for Entry { at, outcome, .. } in entries {
            let Outcome::Done { times, peak, .. } = outcome else { continue };
            if times.iter().any(|took| took.wall >= MAX_SECONDS) {
                continue;
            }
            let mut reader = Reader::start(&mut self.command(*at, case.program)?)?;
            if let Ok(Answer::Done(bytes, _)) = reader.request(&format!("peak {}", case.line())) {
                *peak = Some(bytes.wall);
            }
        }
        Ok(())
    }

    /// Ends programs that keep much memory, so that all of them together fit into the machine's
    /// memory.
    pub(crate) fn end_large_programs(&mut self) {
        for contestant in &mut self.contestants {
            contestant.running.retain(|(_, reader)| reader.resident() < MAX_KEPT_BYTES);
        }
    }
}

/// Removes a file from the system's cache.
pub(crate) fn evict_from_system_cache(path: &Path) -> Result<()> {
    let mut command = Command::new("dd");
    command.arg(format!("of={}", path.display()));
    let output =
        command.args(["oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"]).output()?;
    ensure!(output.status.success(), "dd: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
