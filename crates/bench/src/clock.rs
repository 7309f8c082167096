//! What some work takes: time on the wall, time of the processors, and memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Whether clocks tell memory instead of time.
static WEIGHING: AtomicBool = AtomicBool::new(false);

/// From now on, clocks tell (or do not tell) in the place of the seconds how many bytes of memory the process had at most
/// beyond what it had when the clock was started.
pub(crate) fn weigh(on: bool) {
    WEIGHING.store(on, Ordering::Relaxed);
}

/// Seconds that something took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Took {
    /// On the wall.
    pub(crate) wall: f64,
    /// Of all processors, in all threads of the process; 0 where the system does not tell.
    pub(crate) cpu: f64,
}

/// A moment.
#[derive(Debug)]
pub(crate) struct Clock {
    wall: Instant,
    cpu: f64,
    /// Of the processors, to the hundredth of a second, but also in threads that have ended.
    ticks: f64,
    /// Bytes of memory, if it is those that are told.
    memory: Option<f64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let memory = WEIGHING.load(Ordering::Relaxed).then(|| {
            // The most that the process had becomes what it has now.
            let _ = std::fs::write("/proc/self/clear_refs", "5");
            bytes_of("VmRSS:")
        });
        Self { memory, ticks: tick_seconds(), cpu: cpu_seconds(), wall: Instant::now() }
    }

    pub(crate) fn took(&self) -> Took {
        let wall = self.wall.elapsed().as_secs_f64();
        if let Some(before) = self.memory {
            return Took { wall: (bytes_of("VmHWM:") - before).max(0.0), cpu: 0.0 };
        }
        let (cpu, ticks) = (cpu_seconds() - self.cpu, tick_seconds() - self.ticks);
        Took { wall, cpu: if ticks > cpu + 2.0 * TICK { ticks } else { cpu } }
    }
}

impl std::ops::Add for Took {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

/// What Linux says of the memory of this process under a heading; 0 elsewhere.
fn bytes_of(heading: &str) -> f64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0.0 };
    let line = status.lines().find_map(|line| line.strip_prefix(heading));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0
}

/// Seconds of a tick of Linux.
const TICK: f64 = 0.01;

/// Time that all threads of this process have run, those that have ended too.
fn tick_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may contain anything.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * TICK
}

/// Time that the threads of this process that there are have run, to the nanosecond where Linux counts it.
fn cpu_seconds() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let of_thread = |folder: std::path::PathBuf| -> Option<f64> {
        let text = std::fs::read_to_string(folder.join("schedstat")).ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
    };
    threads.flatten().filter_map(|thread| of_thread(thread.path())).sum()
}
