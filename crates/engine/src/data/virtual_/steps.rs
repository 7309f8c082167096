//! How much virtual datasets may do in one operation, however they show each other.

use std::cell::Cell;

use crate::error::{Error, Result};

/// Steps for a source dataset that is looked for.
const SOURCE: u64 = 16;
/// Steps for each element that is asked for.
const PER_ELEMENT: u64 = 16;
/// Elements that are copied in one step.
const COPIED: u64 = 4;

/// What is left of the steps that one operation may take, in all virtual datasets that it comes to.
#[derive(Debug)]
pub struct Steps {
    left: Cell<u64>,
    limit: u64,
}

impl Steps {
    /// For an operation on so many elements.
    pub fn new(limit: u64, elements: u64) -> Self {
        let limit = limit.saturating_add(elements.saturating_mul(PER_ELEMENT));
        Self { left: Cell::new(limit), limit }
    }

    /// Takes so many.
    ///
    /// # Errors
    /// [`Error::Limit`] if they are not left.
    pub fn take(&self, steps: u64) -> Result<()> {
        let left = self.left.get().checked_sub(steps).ok_or_else(|| Error::Limit {
            what: "virtual dataset: steps of one operation".into(),
            got: self.limit.saturating_add(steps),
            limit: self.limit,
        })?;
        self.left.set(left);
        Ok(())
    }

    /// Takes those for a source dataset that is looked for.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn look(&self) -> Result<()> {
        self.take(SOURCE)
    }

    /// Takes those for elements that are copied.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn copy(&self, elements: u64) -> Result<()> {
        self.take(elements / COPIED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_gives_more_steps() {
        let steps = Steps::new(10, 2);
        steps.take(30).unwrap();
        steps.copy(3).unwrap();
        assert!(steps.look().is_err());
        steps.take(12).unwrap();
        let error = steps.take(1).unwrap_err().to_string();
        assert!(error.contains("the limit of 42"), "{error}");
    }
}
