//! Random operations on a file, against what a simple model says of it. Also run by the fuzz target `model`.

pub(crate) mod element;
pub(crate) mod medium;
pub(crate) mod operation;
pub(crate) mod selection;
pub(crate) mod world;

use medium::Medium;
use operation::{Operation, Settings};
use world::World;

/// Carries out a sequence that is drawn from numbers, and gives the file with what should be in it.
///
/// # Panics
/// If the file is not what the model says.
pub(crate) fn run(settings: &Settings, operations: &[Operation]) -> World {
    let mut world = World::new(settings, Medium::memory());
    for operation in operations {
        world.perform(operation);
    }
    world.reopen();
    world
}

/// Numbers that decide; zeros when there are no more.
pub(crate) struct Numbers<'n>(std::slice::Iter<'n, u16>);

impl<'n> Numbers<'n> {
    pub(crate) fn new(numbers: &'n [u16]) -> Self {
        Self(numbers.iter())
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.next().copied().unwrap_or(0)) % bound.max(1)
    }

    /// One of some things.
    pub(crate) fn one_of<T: Clone>(&mut self, things: &[T]) -> T {
        let at = self.below(things.len() as u64) as usize;
        things[at].clone()
    }
}
