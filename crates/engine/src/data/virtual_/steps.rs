//! The work budget of one operation on virtual datasets, which may be nested.

use std::cell::Cell;

use crate::error::{Error, Result};

/// Number of steps that the search for a source dataset takes from the work budget of a virtual
/// dataset read.
const SOURCE_STEPS: u64 = 16;
/// Number of steps that each requested element adds to the work budget of a virtual dataset read.
const ELEMENT_STEPS: u64 = 16;
/// Number of elements whose copying takes one step from the work budget of a virtual dataset read.
const STEP_ELEMENTS: u64 = 4;

/// The work budget of one operation on virtual datasets, counted in steps. An operation that needs
/// more steps fails. All virtual datasets that the operation reads share the budget.
#[derive(Debug)]
pub struct Steps {
    remaining: Cell<u64>,
    limit: u64,
}

impl Steps {
    /// Creates the work budget, counted in steps, of an operation on `elements` elements of virtual
    /// datasets.
    pub fn new(limit: u64, elements: u64) -> Self {
        // Saturates because no operation takes 2^64 steps.
        let limit = limit.saturating_add(elements.saturating_mul(ELEMENT_STEPS));
        Self { remaining: Cell::new(limit), limit }
    }

    /// Subtracts `steps` steps from the work budget of virtual dataset reads.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if fewer steps are left.
    pub fn take(&self, steps: u64) -> Result<()> {
        let remaining = self.remaining.get();
        let remaining = remaining.checked_sub(steps).ok_or_else(|| Error::Limit {
            subject: "virtual dataset: steps of one operation".into(),
            // Saturates because the sum only appears in the message.
            got: (self.limit - remaining).saturating_add(steps),
            limit: self.limit,
        })?;
        self.remaining.set(remaining);
        Ok(())
    }

    /// Subtracts the steps for looking up a source dataset from the work budget of virtual dataset
    /// reads.
    ///
    /// # Errors
    /// Returns the errors of [`take`](Self::take).
    pub fn look(&self) -> Result<()> {
        self.take(SOURCE_STEPS)
    }

    /// Subtracts the steps for copying `elements` elements from the work budget of virtual dataset
    /// reads.
    ///
    /// # Errors
    /// Returns the errors of [`take`](Self::take).
    pub fn copy(&self, elements: u64) -> Result<()> {
        self.take(elements / STEP_ELEMENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_elements_add_steps() {
        let steps = Steps::new(10, 2);
        steps.take(30).unwrap();
        steps.copy(3).unwrap();
        assert!(steps.look().is_err());
        steps.take(12).unwrap();
        let error = steps.take(1).unwrap_err().to_string();
        assert!(error.contains("the limit of 42"), "{error}");
    }
}
