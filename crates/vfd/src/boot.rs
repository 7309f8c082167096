//! When the system was started: whether it was since is what tells the end of a program from a loss of power.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// One start of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boot {
    /// Different after each start.
    pub id: [u8; 16],
    /// When it was.
    pub began: SystemTime,
}

impl Boot {
    /// The start of the system that runs now, where it tells (Linux).
    ///
    /// ```
    /// use hyperslab_vfd::Boot;
    /// assert!(Boot::current().is_none_or(|boot| Boot::current().is_some_and(|again| again.id == boot.id)));
    /// ```
    pub fn current() -> Option<Self> {
        static CURRENT: OnceLock<Option<Boot>> = OnceLock::new();
        *CURRENT.get_or_init(Self::ask)
    }

    fn ask() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let mut id = [0; 16];
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        for (byte, pair) in id.iter_mut().zip(digits.as_chunks::<2>().0) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
        let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
        let running = Duration::try_from_secs_f64(seconds).ok()?;
        Some(Self { id, began: SystemTime::now().checked_sub(running)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_was_started_before_now() {
        let Some(boot) = Boot::current() else { return };
        assert!(boot.began < SystemTime::now());
        assert_ne!(boot.id, [0; 16]);
    }
}
