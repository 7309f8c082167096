//! The same work in turn by hyperslab, each libhdf5 and `rust-hdf5`, each in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::clock::Took;
use crate::libhdf5::Libhdf5;
use crate::models::Model;
use crate::peer::Peer;
use crate::reader::{Answer, Reader};
use crate::table::median;

/// Work of which somebody needs more than this many seconds is done this often at most.
const LONG: (f64, u64) = (2.0, 3);

/// Somebody who needs more than this many seconds is not asked again.
const TOO_LONG: f64 = 30.0;

/// Which program does a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Read,
    Write,
    Metadata,
}

impl Program {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Metadata => "metadata",
        }
    }

    fn in_c(self) -> &'static str {
        match self {
            Self::Read => "read_arrays",
            Self::Write => "write_files",
            Self::Metadata => "read_metadata",
        }
    }
}

/// What bounds a piece of work from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    None,
    /// The file is read from the cache of the system.
    Read,
    /// Its chunks are decoded from memory.
    Decode,
    /// The bytes of the file are written.
    Write,
    /// Its chunks are encoded in memory.
    Encode,
    /// A file that keeps nothing that can be done without.
    Model(Model),
}

/// A piece of work.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) section: &'static str,
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) path: PathBuf,
    /// The kind of work and what follows the file.
    pub(crate) what: String,
    /// The ratio to libhdf5 that is aimed at.
    pub(crate) aim: f64,
    /// How a file that was written is read by libhdf5, to tell whether it is the same as its own.
    pub(crate) check: Option<(Program, String)>,
    /// Before each run the file is taken out of the cache of the system.
    pub(crate) cold: bool,
    pub(crate) limit: Limit,
    /// Chunks and the bytes of their data, where the bytes of metadata for each chunk are of interest.
    pub(crate) chunks: Option<(u64, u64)>,
    /// Whether instructions are counted too.
    pub(crate) counted: bool,
}

impl Limit {
    /// The model of this work, if there is one.
    pub(crate) fn model(program: Program, path: &Path, what: &str) -> Self {
        Model::of(program, path, what).map_or(Self::None, Self::Model)
    }

    /// Longer than so many times what bounds it, work should not take: nobody can have all that a model leaves out.
    pub(crate) fn bound(self) -> f64 {
        if matches!(self, Self::Model(_)) { 4.0 } else { 1.3 }
    }
}

impl Case {
    pub(crate) fn line(&self) -> String {
        line(&self.what, &self.path)
    }
}

fn line(what: &str, path: &Path) -> String {
    let (kind, rest) = what.split_once(' ').unwrap_or((what, ""));
    format!("{kind} {} {rest}", path.display())
}

/// What somebody did.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Done {
        times: Vec<Took>,
        /// Of what was read; the bytes of what was written.
        sum: u64,
        /// The most memory, in bytes, if it was asked for.
        peak: Option<f64>,
    },
    Wrong(String),
    Cannot(String),
}

impl Outcome {
    /// The middle time on the wall.
    pub(crate) fn wall(&self) -> Option<f64> {
        self.middle(|took| took.wall)
    }

    /// The middle time of the processors.
    pub(crate) fn cpu(&self) -> Option<f64> {
        self.middle(|took| took.cpu)
    }

    pub(crate) fn best(&self) -> Option<f64> {
        let Self::Done { times, .. } = self else { return None };
        Some(times.iter().map(|took| took.wall).fold(f64::INFINITY, f64::min))
    }

    pub(crate) fn sum(&self) -> Option<u64> {
        let Self::Done { sum, .. } = self else { return None };
        Some(*sum)
    }

    pub(crate) fn peak(&self) -> Option<f64> {
        let Self::Done { peak, .. } = self else { return None };
        *peak
    }

    fn middle(&self, of: fn(&Took) -> f64) -> Option<f64> {
        let Self::Done { times, .. } = self else { return None };
        Some(median(&times.iter().map(of).collect::<Vec<f64>>()))
    }
}

/// What came of a piece of work.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) ours: Outcome,
    /// Of each libhdf5.
    pub(crate) libhdf5: Vec<Outcome>,
    pub(crate) peer: Option<Outcome>,
    /// Seconds that the bare work takes.
    pub(crate) limit: Option<f64>,
}

impl Row {
    /// The least that a libhdf5 needs.
    pub(crate) fn least(&self, of: fn(&Outcome) -> Option<f64>) -> Option<f64> {
        self.libhdf5.iter().filter_map(of).min_by(f64::total_cmp)
    }

    /// Our time to that of the faster libhdf5.
    pub(crate) fn to_libhdf5(&self) -> Option<f64> {
        Some(self.ours.wall()? / self.least(Outcome::wall)?)
    }

    /// Our time to that of the peer.
    pub(crate) fn to_peer(&self) -> Option<f64> {
        Some(self.ours.wall()? / self.peer.as_ref()?.wall()?)
    }

    /// Our time to that of the bare work.
    pub(crate) fn to_limit(&self) -> Option<f64> {
        Some(self.ours.wall()? / self.limit?)
    }
}

#[derive(Debug)]
enum Who {
    Hyperslab,
    Libhdf5(PathBuf),
    Peer(Peer),
}

/// One who does the work, and the programs of his that run.
#[derive(Debug)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    who: Who,
    running: Vec<(Program, Reader)>,
}

/// All who do the work.
#[derive(Debug)]
pub(crate) struct Contest {
    library: Libhdf5,
    pub(crate) contestants: Vec<Contestant>,
}

/// As many as there are processors.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Contest {
    /// Hyperslab, the libhdf5 of h5py, those that `HYPERSLAB_BENCH_LIBHDF5` names, and `rust-hdf5`.
    pub(crate) fn new(library: Libhdf5) -> Result<Self> {
        let contestant = |name: String, who: Who| Contestant { name, who, running: Vec::new() };
        let mut contestants = vec![
            contestant("hyperslab".to_owned(), Who::Hyperslab),
            contestant(format!("libhdf5 {}", library.version), Who::Libhdf5(library.library.clone())),
        ];
        for path in std::env::var("HYPERSLAB_BENCH_LIBHDF5").unwrap_or_default().split(':') {
            if !path.is_empty() {
                let path = PathBuf::from(path);
                let version = library.version_of(&path)?;
                contestants.push(contestant(format!("libhdf5 {version}"), Who::Libhdf5(path)));
            }
        }
        match Peer::build() {
            Ok(peer) => contestants.push(contestant(format!("rust-hdf5 {}", peer.version), Who::Peer(peer))),
            Err(error) => println!("without rust-hdf5: {error:#}\n"),
        }
        Ok(Self { library, contestants })
    }

    /// The program of a contestant, to be started.
    pub(crate) fn command(&self, at: usize, program: Program) -> Result<Command> {
        match &self.contestants.get(at).context("no such contestant")?.who {
            Who::Hyperslab => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["serve", program.word()]);
                Ok(command)
            }
            Who::Libhdf5(path) => self.library.command(program.in_c(), path),
            Who::Peer(peer) => Ok(peer.command(program)),
        }
    }

    /// Asks one of them; a program that fails is started anew for the next request.
    fn ask(&mut self, at: usize, program: Program, line: &str) -> Result<Answer> {
        let runs = |one: &Contestant| one.running.iter().any(|(running, _)| *running == program);
        if !self.contestants.get(at).is_some_and(runs) {
            let started = Reader::start(&mut self.command(at, program)?)?;
            let one = self.contestants.get_mut(at).context("no such contestant")?;
            one.running.push((program, started));
        }
        let one = self.contestants.get_mut(at).context("no such contestant")?;
        let place = one.running.iter().position(|(running, _)| *running == program);
        let place = place.context("the program does not run")?;
        let (_, reader) = one.running.get_mut(place).context("the program does not run")?;
        match reader.request(line) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                one.running.remove(place);
                Ok(Answer::Cannot(format!("{error:#}")))
            }
        }
    }

    /// Has the work done by all: once without counting, then round by round, each time by another one first.
    pub(crate) fn measure(&mut self, case: &Case, rounds: u64) -> Result<Vec<Outcome>> {
        let line = case.line();
        let mut outcomes = self.first(case, &line)?;
        let longest = outcomes.iter().filter_map(Outcome::wall).fold(0.0, f64::max);
        let rounds = if longest > LONG.0 { rounds.min(LONG.1) } else { rounds };
        let patient = |outcome: &Outcome| outcome.wall().is_some_and(|wall| wall < TOO_LONG);
        let asked: Vec<usize> =
            (0..outcomes.len()).filter(|at| outcomes.get(*at).is_some_and(patient)).collect();
        for outcome in &mut outcomes {
            if let Outcome::Done { times, .. } = outcome
                && times.iter().all(|took| took.wall < TOO_LONG)
            {
                times.clear();
            }
        }
        for round in 0..usize::try_from(rounds)? {
            let mut order = asked.clone();
            order.rotate_left(round.checked_rem(asked.len()).unwrap_or(0));
            for at in order {
                let answer = self.timed(at, case, &line)?;
                let Some(outcome) = outcomes.get_mut(at) else { continue };
                match (answer, outcome) {
                    (Answer::Done(took, sum), Outcome::Done { times, sum: first, .. })
                        if sum == *first || case.program == Program::Write =>
                    {
                        times.push(took);
                    }
                    (Answer::Done(..), outcome) => *outcome = Outcome::Wrong("not as before".to_owned()),
                    (Answer::Cannot(why), outcome) => *outcome = Outcome::Cannot(why),
                }
            }
        }
        Ok(outcomes)
    }

    fn timed(&mut self, at: usize, case: &Case, line: &str) -> Result<Answer> {
        if case.cold {
            forget(&case.path)?;
        }
        self.ask(at, case.program, line)
    }

    /// What each does at first, the sums compared with that of the first libhdf5.
    fn first(&mut self, case: &Case, line: &str) -> Result<Vec<Outcome>> {
        let mut all = Vec::new();
        for at in 0..self.contestants.len() {
            let answer = self.timed(at, case, line)?;
            let seen = match (&answer, &case.check) {
                (Answer::Done(..), Some((program, what))) => {
                    match self.ask(1, *program, &self::line(what, &case.path))? {
                        Answer::Done(_, sum) => Ok(Some(sum)),
                        Answer::Cannot(why) => Err(format!("libhdf5 does not read the file: {why}")),
                    }
                }
                (Answer::Done(_, sum), None) if case.program != Program::Write => Ok(Some(*sum)),
                _ => Ok(None),
            };
            all.push((answer, seen));
        }
        let (_, expected) = all.get(1).cloned().context("no libhdf5")?;
        let outcome = |(answer, seen)| match (answer, seen) {
            (Answer::Cannot(why), _) => Outcome::Cannot(why),
            (_, Err(why)) => Outcome::Wrong(why),
            (Answer::Done(took, sum), seen) if seen == expected => {
                Outcome::Done { times: vec![took], sum, peak: None }
            }
            _ => Outcome::Wrong("not what libhdf5 has".to_owned()),
        };
        Ok(all.into_iter().map(outcome).collect())
    }

    /// The most memory that each needs, each in a process that does this work alone.
    pub(crate) fn weigh(&self, case: &Case, outcomes: &mut [Outcome]) -> Result<()> {
        for (at, outcome) in outcomes.iter_mut().enumerate() {
            let Outcome::Done { times, peak, .. } = outcome else { continue };
            if times.iter().any(|took| took.wall >= TOO_LONG) {
                continue;
            }
            let mut reader = Reader::start(&mut self.command(at, case.program)?)?;
            if let Ok(Answer::Done(bytes, _)) = reader.request(&format!("peak {}", case.line())) {
                *peak = Some(bytes.wall);
            }
        }
        Ok(())
    }

    /// Sorts the outcomes by who they are of.
    pub(crate) fn row(&self, case: Case, outcomes: Vec<Outcome>, limit: Option<f64>) -> Result<Row> {
        let mut all = outcomes.into_iter();
        let ours = all.next().context("nobody did it")?;
        let (mut libhdf5, mut peer) = (Vec::new(), None);
        for (outcome, one) in all.zip(self.contestants.iter().skip(1)) {
            match one.who {
                Who::Peer(_) => peer = Some(outcome),
                _ => libhdf5.push(outcome),
            }
        }
        Ok(Row { case, ours, libhdf5, peer, limit })
    }

    /// Ends all programs.
    pub(crate) fn finish(self) -> Result<()> {
        let running = self.contestants.into_iter().flat_map(|one| one.running);
        running.into_iter().try_for_each(|(_, reader)| reader.finish())
    }
}

/// Takes a file out of the cache of the system.
fn forget(path: &Path) -> Result<()> {
    let mut command = Command::new("dd");
    command.arg(format!("of={}", path.display()));
    let output =
        command.args(["oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"]).output()?;
    ensure!(output.status.success(), "dd: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
