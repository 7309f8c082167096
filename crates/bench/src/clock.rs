//! What a reading takes: time on the wall, and time of the processors.

use std::time::Instant;

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
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_seconds(), wall: Instant::now() }
    }

    pub(crate) fn took(&self) -> Took {
        let wall = self.wall.elapsed().as_secs_f64();
        Took { wall, cpu: cpu_seconds() - self.cpu }
    }
}

impl std::ops::Add for Took {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

/// Time that the threads of this process have run, to the nanosecond where Linux counts it.
fn cpu_seconds() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let of_thread = |folder: std::path::PathBuf| -> Option<f64> {
        let text = std::fs::read_to_string(folder.join("schedstat")).ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
    };
    threads.flatten().filter_map(|thread| of_thread(thread.path())).sum()
}
