//! The part of rayon's interface that this library uses, on one thread.

use std::cell::RefCell;

/// Iterators of the standard library under the names that rayon gives to parallel ones.
pub mod prelude {
    use std::ops::ControlFlow;
    use std::slice::{ChunksExact, ChunksMut, Iter};

    /// A replacement for rayon's trait of collections that can become a parallel iterator. This
    /// version iterates on one thread.
    pub trait IntoParallelIterator: IntoIterator + Sized {
        /// Returns a sequential iterator over the items of a collection, in place of a parallel
        /// iterator.
        fn into_par_iter(self) -> Self::IntoIter {
            self.into_iter()
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}

    /// A replacement for rayon's trait of slices that can be iterated in parallel. This version
    /// iterates on one thread.
    pub trait ParallelSlice<T> {
        /// Returns a sequential iterator over the items of a slice, in place of a parallel
        /// iterator.
        fn par_iter(&self) -> Iter<'_, T>;
        /// Returns a sequential iterator over parts of a slice with `size` items, without a shorter
        /// part at the end.
        fn par_chunks_exact(&self, size: usize) -> ChunksExact<'_, T>;
        /// Returns a sequential iterator over mutable parts of a slice with `size` items. The last
        /// part may be shorter.
        fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>;
    }

    impl<T> ParallelSlice<T> for [T] {
        fn par_iter(&self) -> Iter<'_, T> {
            self.iter()
        }

        fn par_chunks_exact(&self, size: usize) -> ChunksExact<'_, T> {
            self.chunks_exact(size)
        }

        fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
            self.chunks_mut(size)
        }
    }

    /// A replacement for the methods of rayon's parallel iterators that iterators of the standard
    /// library do not have.
    pub trait ParallelIterator: Iterator + Sized {
        /// Returns the iterator unchanged, in a build without threads: one thread takes all items.
        #[must_use]
        fn with_min_len(self, _: usize) -> Self {
            self
        }

        /// Maps the items of the iterator with one state that all calls share, in a build without
        /// threads.
        fn map_init<S, R>(
            self,
            init: impl FnOnce() -> S,
            mut work: impl FnMut(&mut S, Self::Item) -> R,
        ) -> impl Iterator<Item = R> {
            let mut state = init();
            self.map(move |item| work(&mut state, item))
        }

        /// Calls `work` with each item of the iterator and a state that all calls share, until a
        /// call fails, in a build without threads.
        ///
        /// # Errors
        /// Returns the first error of `work`.
        fn try_for_each_init<S, E>(
            self,
            init: impl FnOnce() -> S,
            work: impl FnMut(&mut S, Self::Item) -> Result<(), E>,
        ) -> Result<(), E> {
            let mut results = self.map_init(init, work);
            let outcome = results.try_for_each(|result| match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            });
            outcome.break_value().map_or(Ok(()), Err)
        }

        /// Replaces the contents of the vector `target` by the items of the iterator, in a build
        /// without threads.
        fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
            target.clear();
            target.extend(self);
        }
    }

    impl<I: Iterator> ParallelIterator for I {}
}

/// Returns the number of threads in a build without threads, which is 1 because all work runs on
/// the calling thread.
pub fn current_num_threads() -> usize {
    1
}

/// Returns `None` in a build without threads, because the calling thread belongs to no thread pool.
pub(crate) fn current_thread_index() -> Option<usize> {
    None
}

type Job<'scope> = Box<dyn FnOnce(&Scope<'scope>) + 'scope>;

/// A replacement for a scope of jobs in a build without threads. After the closure of the scope,
/// the calling thread runs the jobs.
#[derive(Default)]
pub(crate) struct Scope<'scope>(RefCell<Vec<Job<'scope>>>);

impl<'scope> Scope<'scope> {
    /// Adds a job to a scope of jobs in a build without threads, whose jobs run on the calling
    /// thread.
    pub(crate) fn spawn(&self, job: impl FnOnce(&Self) + Send + 'scope) {
        self.0.borrow_mut().push(Box::new(job));
    }
}

/// Calls `work` and then runs the jobs that `work` has added to the scope. All of this runs on the
/// calling thread.
pub(crate) fn in_place_scope<'scope, T>(work: impl FnOnce(&Scope<'scope>) -> T) -> T {
    let scope = Scope::default();
    let outcome = work(&scope);
    loop {
        let Some(job) = scope.0.borrow_mut().pop() else { return outcome };
        job(&scope);
    }
}

/// A replacement for a pool of threads in a build without threads.
#[derive(Debug)]
pub(crate) enum ThreadPool {}

impl ThreadPool {
    pub(crate) fn install<T>(&self, _: impl FnOnce() -> T) -> T {
        match *self {}
    }

    pub(crate) fn in_place_scope<'scope, T>(&self, _: impl FnOnce(&Scope<'scope>) -> T) -> T {
        match *self {}
    }

    pub(crate) fn current_thread_index(&self) -> Option<usize> {
        match *self {}
    }
}

/// A replacement for the builder of a thread pool, in a build without threads.
#[derive(Debug, Default)]
pub(crate) struct ThreadPoolBuilder;

/// The error that the builder of a thread pool returns in a build without threads.
#[derive(Debug)]
pub(crate) struct NoThreads;

impl ThreadPoolBuilder {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn num_threads(self, _: usize) -> Self {
        self
    }

    pub(crate) fn thread_name(self, _: impl FnMut(usize) -> String) -> Self {
        self
    }

    pub(crate) fn build(self) -> Result<ThreadPool, NoThreads> {
        Err(NoThreads)
    }
}
