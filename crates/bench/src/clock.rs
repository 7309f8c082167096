//! The cost of a case: wall-clock time, processor time, and memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// True if clocks measure memory in place of time.
static MEASURES_MEMORY: AtomicBool = AtomicBool::new(false);

/// Makes clocks measure memory instead of time, or time instead of memory. In place of the seconds,
/// a clock then returns the peak memory of the process beyond its memory at the clock's start, in
/// bytes.
pub(crate) fn measure_memory(on: bool) {
    MEASURES_MEMORY.store(on, Ordering::Relaxed);
}

/// The cost of an operation, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Wall-clock time, or bytes of memory.
    pub(crate) wall: f64,
    /// Processor time in all threads of the process; 0 if the system does not report it.
    pub(crate) cpu: f64,
}

/// A point in time.
#[derive(Debug)]
pub(crate) struct Clock {
    wall: Instant,
    cpu: f64,
    /// Processor time in hundredths of a second, including threads that have ended.
    ticks: f64,
    /// The memory since the start, if the clock measures memory.
    memory: Option<PeakMemory>,
}

/// The memory of this process since a point in time.
#[derive(Debug)]
pub(crate) struct PeakMemory {
    /// Bytes of memory at that point.
    before: f64,
}

impl PeakMemory {
    /// Resets the peak memory of the process to its current memory.
    pub(crate) fn start() -> Self {
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Self { before: bytes_of("VmRSS:") }
    }

    /// Returns the bytes of the peak memory beyond the memory at the start.
    pub(crate) fn bytes(&self) -> f64 {
        (bytes_of("VmHWM:") - self.before).max(0.0)
    }
}

impl Clock {
    pub(crate) fn start() -> Self {
        let memory = MEASURES_MEMORY.load(Ordering::Relaxed).then(PeakMemory::start);
        Self { memory, ticks: tick_seconds(), cpu: cpu_seconds(), wall: Instant::now() }
    }

    pub(crate) fn took(&self) -> Cost {
        let wall = self.wall.elapsed().as_secs_f64();
        if let Some(memory) = &self.memory {
            return Cost { wall: memory.bytes(), cpu: 0.0 };
        }
        let (cpu, ticks) = (cpu_seconds() - self.cpu, tick_seconds() - self.ticks);
        Cost { wall, cpu: if ticks > cpu + 2.0 * TICK_SECONDS { ticks } else { cpu } }
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

/// Returns the memory of this process, in bytes, that Linux reports under a heading; 0 on other
/// systems.
fn bytes_of(heading: &str) -> f64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0.0 };
    let line = status.lines().find_map(|line| line.strip_prefix(heading));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0
}

/// Seconds of a tick of Linux.
const TICK_SECONDS: f64 = 0.01;

/// Returns the processor time of all threads of this process, including those that have ended.
fn tick_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may contain any character.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * TICK_SECONDS
}

/// Returns the processor time of the threads of this process that still run, in nanoseconds if
/// Linux counts them.
fn cpu_seconds() -> f64 {
    // Linux adds the time of a running thread to its count when the thread yields.
    std::thread::yield_now();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let of_thread = |folder: std::path::PathBuf| -> Option<f64> {
        let text = std::fs::read_to_string(folder.join("schedstat")).ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
    };
    threads.flatten().filter_map(|thread| of_thread(thread.path())).sum()
}
