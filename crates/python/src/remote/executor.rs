//! Threads that run asynchronous work: they poll futures, and so decode data. The runtime thread of
//! the process fetches the bytes.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::task::{Context, Wake, Waker};

use parking_lot::Mutex;

use crate::process::forks;

/// The largest number of threads.
const MAX_THREADS: usize = 8;

/// The queue of the threads of this process, with the number of forks at their start.
static QUEUE: Mutex<Option<(u64, Sender<Arc<Job>>)>> = Mutex::new(None);

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future that threads poll.
pub(super) struct Job {
    work: Mutex<Option<Work>>,
    is_cancelled: AtomicBool,
    queue: Sender<Arc<Job>>,
}

/// Starts to run a future.
pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Weak<Job> {
    let queue = queue();
    let job =
        Arc::new(Job { work: Mutex::new(Some(Box::pin(work))), is_cancelled: AtomicBool::new(false), queue });
    let handle = Arc::downgrade(&job);
    Arc::clone(&job).wake();
    handle
}

/// Returns the queue of the threads. Starts them at the first call in a process.
fn queue() -> Sender<Arc<Job>> {
    let mut queue = QUEUE.lock();
    let forks = forks();
    if let Some((number, queue)) = queue.as_ref().filter(|(number, _)| *number == forks) {
        debug_assert_eq!(*number, forks);
        return queue.clone();
    }
    let (send, receive) = channel();
    let receive = Arc::new(Mutex::new(receive));
    let count = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, MAX_THREADS);
    for _ in 0..count {
        let receive = Arc::clone(&receive);
        // A process that cannot start one more thread has fewer.
        let _ = std::thread::Builder::new().name("hyperslab-aio".into()).spawn(move || run(&receive));
    }
    // The queue of a parent process has no threads here.
    std::mem::forget(queue.replace((forks, send.clone())));
    send
}

/// Runs jobs until the process ends.
fn run(receive: &Mutex<Receiver<Arc<Job>>>) {
    loop {
        let job = receive.lock().recv();
        match job {
            Ok(job) => job.poll(),
            Err(_) => return,
        }
    }
}

impl Job {
    fn poll(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut work = self.work.lock();
        let Some(future) = work.as_mut() else { return };
        let is_done = self.is_cancelled.load(Ordering::Acquire)
            || future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
            || self.is_cancelled.load(Ordering::Acquire);
        if is_done {
            let ended = work.take();
            drop(work);
            drop(ended);
        }
    }

    /// Ends the work. Its requests are cancelled.
    pub(super) fn cancel(self: &Arc<Self>) {
        self.is_cancelled.store(true, Ordering::Release);
        // A thread drops the future: it may hold objects of Python.
        Arc::clone(self).wake();
    }
}

impl Wake for Job {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        // Without threads the process is about to end.
        let _ = queue.send(self);
    }
}
