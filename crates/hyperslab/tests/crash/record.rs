//! A recorded run without crashes. The record shows which contents a crash during the run may
//! leave.

use std::ops::RangeInclusive;
use std::sync::Arc;

use hyperslab::{Durability, LibraryVersion, LibverBounds, OpenOptions};
use hyperslab_vfd::simulated::{History, SimulatedDisk};

use crate::content::{self, Content};
use crate::sequence::Numbers;
use crate::sequence::medium::Medium;
use crate::sequence::operation::{Make, Operation, Settings};
use crate::sequence::world::World;

/// The names of the files.
pub(crate) const FILE: &str = "crash.h5";
pub(crate) const JOURNAL: &str = "crash.h5.hjournal";

/// One recorded step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) subject: String,
    /// The numbers of disk operations before and after the step.
    pub(crate) before: usize,
    pub(crate) after: usize,
    /// True if the step guarantees on return that all changes are in the file.
    pub(crate) commits: bool,
    /// The content of the file after the step, committed or not.
    pub(crate) content: Arc<Content>,
}

/// The steps on a file, and the operations of its disk.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) durability: Durability,
    pub(crate) bounds: LibverBounds,
    /// True if libhdf5 can read the file.
    pub(crate) common: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) history: History,
}

/// Returns the storage of a file on a simulated disk.
pub(crate) fn medium(disk: &SimulatedDisk, durability: Durability) -> Medium {
    Medium {
        driver: disk.file(FILE),
        journal: Some(disk.side_file(JOURNAL)),
        durability,
        uncommitted: None,
        compared: true,
    }
}

/// A generator of pseudo-random numbers that depend only on a seed.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 20) % bound
    }

    fn numbers(&mut self, count: usize) -> Vec<u16> {
        (0..count).map(|_| self.below(1 << 16) as u16).collect()
    }
}

/// A random sequence: the properties of the file, and the operations on it.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) settings: Settings,
    pub(crate) durability: Durability,
    pub(crate) uncommitted: Option<u64>,
    pub(crate) operations: Vec<Operation>,
}

impl Sequence {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let mut settings = Settings::draw(&mut Numbers::new(&dice.numbers(12)));
        settings.space.page_size = settings.space.page_size.min(4096);
        settings.user_block = settings.user_block.min(settings.space.page_size);
        let count = 2 + dice.below(26);
        let drawn = (0..count).map(|_| Operation::draw(&mut Numbers::new(&dice.numbers(40))));
        let mut operations: Vec<Operation> = drawn.flat_map(elementary).collect();
        // Before the first flush, a crash may leave no file, so such a crash tests little.
        if !seed.is_multiple_of(5) {
            operations.insert(0, Operation::Flush);
        }
        Self {
            settings,
            operations,
            durability: if seed % 4 == 3 { Durability::Ordered } else { Durability::Full },
            uncommitted: [None, None, Some(3000), Some(400)][dice.below(4) as usize],
        }
    }

    pub(crate) fn world(&self, disk: &SimulatedDisk, compared: bool) -> World {
        let medium = Medium { uncommitted: self.uncommitted, compared, ..medium(disk, self.durability) };
        World::new(&self.settings, medium)
    }

    /// Returns the operations, and a last operation that writes all changes to the file.
    pub(crate) fn all_operations(&self) -> Vec<Operation> {
        let last = Operation::Reopen { low: self.settings.low };
        self.operations.iter().cloned().chain([last]).collect()
    }

    /// Executes the sequence.
    pub(crate) fn record(&self, name: String) -> Recording {
        let disk = SimulatedDisk::new();
        let mut world = self.world(&disk, true);
        let content = Arc::new(content::of_model(&world));
        let mut steps = vec![Step {
            subject: "create".into(),
            before: 0,
            after: disk.operations(),
            commits: false,
            content,
        }];
        for operation in &self.all_operations() {
            let before = disk.operations();
            world.perform(operation);
            let commits = matches!(operation, Operation::Flush | Operation::Reopen { .. });
            let mut content = Arc::new(content::of_model(&world));
            if let Some(last) = steps.last().filter(|last| last.content == content) {
                content = Arc::clone(&last.content);
            }
            steps.push(Step {
                subject: format!("{operation:?}"),
                before,
                after: disk.operations(),
                commits,
                content,
            });
        }
        let common = self.settings.sizes == 8 || !self.settings.space.persist;
        let (durability, bounds) = (self.durability, self.settings.bounds());
        Recording { name, durability, bounds, common, steps, history: disk.history() }
    }
}

/// Splits an operation into small operations, between which the file may be committed.
fn elementary(operation: Operation) -> Vec<Operation> {
    let numbered =
        |name: &str, number: u64| if number == 0 { name.to_owned() } else { format!("{name} {number}") };
    match operation {
        Operation::SetAttributes { object, name, kind, size, seed, count } => {
            let one = |number| {
                let (name, size) = (numbered(&name, number), if seed == 7 { size } else { size.min(100) });
                Operation::SetAttributes { object, name, kind, size, seed, count: 1 }
            };
            (0..count).map(one).collect()
        }
        Operation::SoftLinks { parent, name, count, target } => {
            let one = |number| {
                let (name, target) = (numbered(&name, number), target.clone());
                Operation::SoftLinks { parent, name, count: 1, target }
            };
            (0..count.min(12)).map(one).collect()
        }
        Operation::RemoveMany { parent, keep } => {
            (0..6).map(|at| Operation::Remove { link: parent + keep * at }).collect()
        }
        Operation::RemoveAttributes { object, first, count } => {
            vec![Operation::RemoveAttributes { object, first, count: 1 }; count.min(6) as usize]
        }
        // The written bytes must not depend on the clock.
        Operation::Dataset { parent, name, make } => {
            vec![Operation::Dataset { parent, name, make: Make { track_times: false, ..make } }]
        }
        other => vec![other],
    }
}

impl Recording {
    /// Returns the steps whose contents a crash after a number of disk operations may leave, and
    /// true if a step has guaranteed its changes. Without such a step, the file may not exist.
    pub(crate) fn allowed(&self, point: usize) -> (RangeInclusive<usize>, bool) {
        let promised = self.steps.iter().rposition(|step| step.commits && step.after <= point);
        let under_way = self.steps.iter().rposition(|step| step.before <= point).unwrap_or(0);
        (promised.unwrap_or(0)..=under_way, promised.is_some())
    }

    /// Returns the options with which the file is opened for writing after a crash.
    pub(crate) fn options(&self, disk: &SimulatedDisk) -> OpenOptions {
        let bounds = LibverBounds::new(self.bounds.low(), LibraryVersion::LATEST).unwrap();
        medium(disk, self.durability).open(OpenOptions::new().write(true).libver(bounds))
    }
}
