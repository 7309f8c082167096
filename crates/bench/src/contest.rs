//! The same work in turn by hyperslab, each libhdf5, `rust-hdf5` and h5py, each in a process of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::case::{Case, Program};
use crate::libhdf5::Libhdf5;
use crate::outcome::{Entry, Outcome, Role};
use crate::peer::Peer;
use crate::reader::{Answer, Late, Reader};

/// Somebody who needs more than this many seconds does the work this often at most.
const LONG: (f64, usize) = (2.0, 3);

/// Somebody who needs more than this many seconds is not asked again.
const TOO_LONG: f64 = 10.0;

/// Work that takes less than this many seconds is done this often in each turn: who did not work for a while finds nothing in
/// the caches of the processor.
const SHORT: (f64, usize) = (0.005, 5);

/// Bytes of memory that a program has at most when it goes on to the next piece of work.
const MUCH: u64 = 1 << 30;

#[derive(Debug)]
enum Who {
    Hyperslab,
    Libhdf5(PathBuf),
    Peer(Peer),
    Python,
}

/// One who does the work, and the programs of his that run.
#[derive(Debug)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    who: Who,
    /// Whether it maps files into memory.
    mapped: bool,
    running: Vec<(Program, Reader)>,
}

impl Contestant {
    fn new(name: String, who: Who, mapped: bool) -> Self {
        let name = if mapped { format!("{name} (mapped)") } else { name };
        Self { name, who, mapped, running: Vec::new() }
    }

    fn role(&self) -> Role {
        match self.who {
            Who::Hyperslab => Role::Hyperslab,
            Who::Libhdf5(_) => Role::Libhdf5,
            Who::Peer(_) => Role::Peer,
            Who::Python => Role::Python,
        }
    }
}

/// All who do the work.
#[derive(Debug)]
pub(crate) struct Contest {
    library: Libhdf5,
    pub(crate) contestants: Vec<Contestant>,
    /// Sums over what is read, by what is asked for.
    known: HashMap<(Program, String), u64>,
}

/// As many as there are processors.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Contest {
    /// Hyperslab, the libhdf5 of h5py, those that `HYPERSLAB_BENCH_LIBHDF5` names, and `rust-hdf5`.
    pub(crate) fn new(library: Libhdf5) -> Result<Self> {
        let contestant = |name: String, who: Who| Contestant::new(name, who, false);
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
        match Peer::build(false) {
            Ok(peer) => contestants.push(contestant(format!("rust-hdf5 {}", peer.version), Who::Peer(peer))),
            Err(error) => println!("without rust-hdf5: {error:#}\n"),
        }
        Ok(Self { library, contestants, known: HashMap::new() })
    }

    /// With those, too, that map files into memory.
    pub(crate) fn with_mapped(mut self) -> Result<Self> {
        self.contestants.push(Contestant::new("hyperslab".to_owned(), Who::Hyperslab, true));
        let unmapped = self.contestants.iter().any(|one| one.role() == Role::Peer);
        if unmapped {
            let peer = Peer::build(true)?;
            let name = format!("rust-hdf5 {}", peer.version);
            self.contestants.push(Contestant::new(name, Who::Peer(peer), true));
        }
        Ok(self)
    }

    /// With h5py, too.
    pub(crate) fn with_python(mut self) -> Result<Self> {
        let version = self.library.script("import h5py\nprint(h5py.__version__)", &[])?;
        let name = format!("h5py {}", version.trim());
        self.contestants.push(Contestant::new(name, Who::Python, false));
        Ok(self)
    }

    /// The program of a contestant, to be started.
    pub(crate) fn command(&self, at: usize, program: Program) -> Result<Command> {
        let one = self.contestants.get(at).context("no such contestant")?;
        match &one.who {
            Who::Hyperslab => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["serve", program.word()]).args(one.mapped.then_some("mapped"));
                Ok(command)
            }
            Who::Libhdf5(path) => self.library.command(program.in_c(), path),
            Who::Peer(peer) => Ok(peer.command(program)),
            Who::Python => Ok(self.library.python(program.word())),
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
                Ok(if error.is::<Late>() { Answer::Late } else { Answer::Cannot(format!("{error:#}")) })
            }
        }
    }

    /// Has the work done by all: once without counting, then round by round, each time by another one first.
    pub(crate) fn measure(&mut self, case: &Case, rounds: u64) -> Result<Vec<Entry>> {
        let line = case.line();
        let mut entries = self.first(case, &line)?;
        let rounds = usize::try_from(rounds)?;
        let times_of = |entry: &Entry| match entry.outcome.wall() {
            None | Some(TOO_LONG..) => 0,
            Some(wall) if wall > LONG.0 => rounds.min(LONG.1),
            Some(_) => rounds,
        };
        let asked: Vec<usize> = entries.iter().map(times_of).collect();
        let is_short = |entry: &Entry| !case.cold && entry.outcome.wall().is_some_and(|wall| wall < SHORT.0);
        let in_turn: Vec<usize> =
            entries.iter().map(|entry| if is_short(entry) { SHORT.1 } else { 1 }).collect();
        for entry in &mut entries {
            if let Outcome::Done { times, .. } = &mut entry.outcome
                && times.iter().all(|took| took.wall < TOO_LONG)
            {
                times.clear();
            }
        }
        for round in 0..rounds {
            let mut order: Vec<(usize, usize)> = asked.iter().copied().enumerate().collect();
            order.retain(|(_, times)| *times > round);
            let first = round.checked_rem(order.len()).unwrap_or(0);
            order.rotate_left(first);
            for (place, _) in order {
                let Some(Entry { at, outcome, .. }) = entries.get_mut(place) else { continue };
                let times = in_turn.get(place).copied().unwrap_or(1);
                match (self.turn(*at, case, &line, times)?, outcome) {
                    (Answer::Done(took, sum), Outcome::Done { times, sum: first, .. })
                        if sum == *first || case.program == Program::Write =>
                    {
                        times.push(took);
                    }
                    (Answer::Done(..), outcome) => *outcome = Outcome::Wrong("not as before".to_owned()),
                    (Answer::Cannot(why), outcome) => *outcome = Outcome::Cannot(why),
                    (Answer::Late, outcome) => *outcome = Outcome::Late,
                }
            }
        }
        Ok(entries)
    }

    /// The median of so many times.
    fn turn(&mut self, at: usize, case: &Case, line: &str, times: usize) -> Result<Answer> {
        let (mut all, mut sums) = (Vec::new(), Vec::new());
        for _ in 0..times {
            match self.timed(at, case, line)? {
                Answer::Done(took, sum) => (all.push(took), sums.push(sum)),
                other => return Ok(other),
            };
        }
        all.sort_by(|one, other| one.wall.total_cmp(&other.wall));
        let took = all.get(all.len() / 2).copied().context("no times")?;
        // One that differs shows.
        let first = sums.first().copied();
        let sum = sums.iter().copied().find(|sum| Some(*sum) != first).or(first).context("no times")?;
        Ok(Answer::Done(took, sum))
    }

    fn timed(&mut self, at: usize, case: &Case, line: &str) -> Result<Answer> {
        if case.cold {
            forget(&case.path)?;
        }
        self.ask(at, case.program, line)
    }

    /// What each does at first, the sums compared with that of the first libhdf5.
    fn first(&mut self, case: &Case, line: &str) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        let mut expected = self.known.get(&(case.program, line.to_owned())).copied();
        for at in 0..self.contestants.len() {
            let Some(one) = self.contestants.get(at) else { continue };
            let (name, role) = (one.name.clone(), one.role());
            if one.mapped != case.mapped {
                continue;
            }
            let answer = self.timed(at, case, line)?;
            let seen = match (&answer, &case.check) {
                (Answer::Done(..), Some((program, what))) => {
                    match self.ask(1, *program, &crate::case::line(what, &case.path))? {
                        Answer::Done(_, sum) => Ok(Some(sum)),
                        Answer::Cannot(why) => Err(format!("libhdf5 does not read the file: {why}")),
                        Answer::Late => Err(format!("libhdf5 reads the file for {Late}")),
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
                (Answer::Late, _) => Outcome::Late,
                (_, Err(why)) => Outcome::Wrong(why),
                (Answer::Done(took, sum), seen) if seen == Ok(expected) => {
                    Outcome::Done { times: vec![took], sum, peak: None }
                }
                _ => Outcome::Wrong("not what libhdf5 has".to_owned()),
            };
            Entry { at, name, role, outcome }
        };
        Ok(all.into_iter().map(entry).collect())
    }

    /// The most memory that each needs, each in a process that does this work alone.
    pub(crate) fn weigh(&self, case: &Case, entries: &mut [Entry]) -> Result<()> {
        for Entry { at, outcome, .. } in entries {
            let Outcome::Done { times, peak, .. } = outcome else { continue };
            if times.iter().any(|took| took.wall >= TOO_LONG) {
                continue;
            }
            let mut reader = Reader::start(&mut self.command(*at, case.program)?)?;
            if let Ok(Answer::Done(bytes, _)) = reader.request(&format!("peak {}", case.line())) {
                *peak = Some(bytes.wall);
            }
        }
        Ok(())
    }

    /// Ends programs that have kept much memory: all of them together must not need more than there is.
    pub(crate) fn relieve(&mut self) {
        for one in &mut self.contestants {
            one.running.retain(|(_, reader)| reader.resident() < MUCH);
        }
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
