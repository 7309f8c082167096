//! Buffers and codec states that filters reuse from chunk to chunk.

use std::any::Any;

/// Buffers and codec states that filters reuse from chunk to chunk. One thread uses a workspace at
/// a time. The content of a workspace never affects the results of a filter.
///
/// ```
/// use hyperslab_filter::Workspace;
///
/// let mut workspace = Workspace::default();
/// let mut buffer: Box<Vec<u8>> = workspace.take();
/// buffer.resize(1000, 0);
/// workspace.keep(buffer);
/// assert!(workspace.take::<Vec<u8>>().capacity() >= 1000);
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    kept: Vec<Box<dyn Any + Send>>,
}

impl Workspace {
    /// Removes a filter's state of type `T` from the workspace and returns it. Returns a new state
    /// if the workspace has none. The state is as the filter left it.
    pub fn take<T: Any + Send + Default>(&mut self) -> Box<T> {
        let at = self.kept.iter().rposition(|state| state.is::<T>());
        let state = at.map(|at| self.kept.remove(at));
        state.and_then(|state| state.downcast().ok()).unwrap_or_default()
    }

    /// Frees the large buffers of the filter workspace: those with a capacity of more than `bytes`
    /// bytes.
    pub(crate) fn trim(&mut self, bytes: usize) {
        self.kept
            .retain(|kept| kept.downcast_ref::<Vec<u8>>().is_none_or(|buffer| buffer.capacity() <= bytes));
    }

    /// Puts a filter's buffers or codec state into the workspace for the next [`take`](Self::take).
    /// After an error, the caller should drop a state that may be inconsistent.
    pub fn keep<T: Any + Send>(&mut self, state: Box<T>) {
        self.kept.push(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_own() {
        let mut workspace = Workspace::default();
        workspace.keep(Box::new(7_u32));
        workspace.keep(Box::new(vec![1_u8]));
        workspace.keep(Box::new(vec![2_u8]));
        assert_eq!(*workspace.take::<u32>(), 7);
        assert_eq!(*workspace.take::<u32>(), 0, "what is taken is gone");
        assert_eq!(*workspace.take::<Vec<u8>>(), [2]);
        assert_eq!(*workspace.take::<Vec<u8>>(), [1]);
        assert!(workspace.take::<Vec<u8>>().is_empty());
    }
}
