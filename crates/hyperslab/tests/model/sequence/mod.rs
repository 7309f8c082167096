//! Random operations on a file, compared with a simple model. Also run by the fuzz target `model`.

pub(crate) mod element;
pub(crate) mod medium;
pub(crate) mod operation;
pub(crate) mod selection;
pub(crate) mod world;

use medium::Medium;
use operation::{Operation, Settings};
use world::World;

/// Executes a sequence that is drawn from numbers. Returns the file and its expected contents.
///
/// # Panics
/// If the file differs from the model.
pub(crate) fn run(settings: &Settings, operations: &[Operation]) -> World {
    let mut world = World::new(settings, Medium::memory());
    for operation in operations {
        world.perform(operation);
    }
    world.reopen();
    world
}

/// The numbers that determine a sequence. After the last number, all numbers are zero.
pub(crate) struct Numbers<'n>(std::slice::Iter<'n, u16>);

impl<'n> Numbers<'n> {
    pub(crate) fn new(numbers: &'n [u16]) -> Self {
        Self(numbers.iter())
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.next().copied().unwrap_or(0)) % bound.max(1)
    }

    /// Returns one of some values.
    pub(crate) fn one_of<T: Clone>(&mut self, things: &[T]) -> T {
        let at = self.below(things.len() as u64) as usize;
        things[at].clone()
    }
}
