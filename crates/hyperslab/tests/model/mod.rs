//! Random operations on a file, against what a simple model says of it. Also run by the fuzz target `model`.

pub mod element;
pub mod operation;
pub mod selection;
pub mod world;

use operation::{Operation, Settings};
use world::World;

/// Carries out a sequence that is drawn from numbers, and gives the file with what should be in it.
///
/// # Panics
/// If the file is not what the model says.
pub fn run(settings: &Settings, operations: &[Operation]) -> World {
    let mut world = World::new(settings);
    for operation in operations {
        world.perform(operation);
    }
    world.reopen();
    world
}

/// Numbers that decide; zeros when there are no more.
pub struct Numbers<'n>(std::slice::Iter<'n, u16>);

impl<'n> Numbers<'n> {
    pub fn new(numbers: &'n [u16]) -> Self {
        Self(numbers.iter())
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.next().copied().unwrap_or(0)) % bound.max(1)
    }

    /// One of some things.
    pub fn one_of<T: Clone>(&mut self, things: &[T]) -> T {
        let at = self.below(things.len() as u64) as usize;
        things[at].clone()
    }

    /// Whether something that happens once in `bound` times happens; not if there are no more numbers.
    pub fn once_in(&mut self, bound: u64) -> bool {
        self.below(bound) == bound - 1
    }
}
