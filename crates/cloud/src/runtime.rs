//! The runtime thread of the process: it sends all requests and receives all responses.

use std::future::Future;
use std::io;
use std::sync::{Mutex, PoisonError, mpsc};

use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;

/// The runtime of the process, and the process that started it.
static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// A handle of the runtime thread. A forked process has no such thread, so it does not use the
/// handle of its parent.
#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    process: u32,
    handle: Handle,
}

impl Runtime {
    /// Returns the runtime of this process. Starts the thread at the first call.
    pub(crate) fn get() -> io::Result<Self> {
        let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = runtime.as_ref().filter(|runtime| runtime.is_of_this_process()) {
            return Ok(runtime.clone());
        }
        let started = Self::start()?;
        // The runtime of a parent process stays in memory: its threads do not exist here.
        std::mem::forget(runtime.replace(started.clone()));
        Ok(started)
    }

    fn start() -> io::Result<Self> {
        let (send, receive) = mpsc::channel();
        std::thread::Builder::new().name("hyperslab-cloud".into()).spawn(move || {
            match Builder::new_current_thread().enable_all().build() {
                Err(error) => drop(send.send(Err(error))),
                Ok(runtime) => {
                    let started = send.send(Ok(runtime.handle().clone()));
                    if started.is_ok() {
                        runtime.block_on(std::future::pending::<()>());
                    }
                }
            }
        })?;
        let handle = receive.recv().map_err(|_| io::Error::other("the runtime thread ended"))??;
        Ok(Self { process: std::process::id(), handle })
    }

    /// Returns whether the thread of the runtime runs in this process.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Returns an error if the thread of the runtime runs in another process.
    pub(crate) fn require_thread(&self) -> io::Result<()> {
        if self.is_of_this_process() {
            return Ok(());
        }
        Err(io::Error::other("the file was opened before this process was forked: open it again"))
    }

    /// Runs a future on the runtime thread. The task is cancelled with its handle's `abort`.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(future)
    }

    /// Runs a future on the runtime thread, and blocks the calling thread until its result is
    /// there.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.require_thread()?;
        let (send, receive) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            drop(send.send(future.await));
        });
        receive.recv().map_err(|_| io::Error::other("the runtime thread ended"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_runs_on_the_thread_of_the_process() {
        let name = || std::thread::current().name().map(str::to_owned);
        let runtime = Runtime::get().unwrap();
        assert_eq!(runtime.wait(async move { name() }).unwrap().as_deref(), Some("hyperslab-cloud"));
        assert!(Runtime::get().unwrap().is_of_this_process());
    }

    #[test]
    fn the_runtime_of_another_process_is_not_used() {
        let runtime = Runtime { process: 0, ..Runtime::get().unwrap() };
        assert!(runtime.wait(async { 1 }).unwrap_err().to_string().contains("forked"));
    }
}
