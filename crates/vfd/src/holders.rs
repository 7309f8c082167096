//! Who holds a lock, as far as the system tells.

use std::fmt;

use crate::{FileIdentity, LockKind};

/// A process with a lock that excludes another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Its number.
    pub process: u32,
    /// Whether it is the process that asks.
    pub own: bool,
    /// Its name or command line, if it can be had.
    pub command: Option<String>,
    /// What it has.
    pub kind: LockKind,
}

/// The processes whose locks are in the way: none if the system does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockHolders(pub Vec<LockHolder>);

/// Characters of a command line that are shown.
const COMMAND: usize = 120;

impl LockHolders {
    /// The likely holders of locks on a file that exclude one of kind `wanted`. Linux lists all locks; elsewhere, and
    /// on file systems that number their files in two ways, nobody is found.
    pub fn find(identity: Option<&FileIdentity>, wanted: LockKind) -> Self {
        match identity {
            Some(FileIdentity::Node { device, inode }) => {
                let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
                Self(listed(&locks, *device, *inode, wanted))
            }
            _ => Self::default(),
        }
    }
}

impl fmt::Display for LockHolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return f.write_str("another program, or another handle of this one, has it open");
        };
        let LockHolder { process, own, command, kind } = first;
        if *own {
            write!(f, "this process (number {process}) has it open through another handle")?;
        } else {
            write!(f, "process {process}")?;
            if let Some(command) = command {
                write!(f, " (`{command}`)")?;
            }
            f.write_str(" has it open")?;
        }
        f.write_str(match kind {
            LockKind::Shared => " for reading",
            LockKind::Exclusive => " for writing",
        })?;
        match others.len() {
            0 => Ok(()),
            1 => f.write_str(", and one more process"),
            more => write!(f, ", and {more} more processes"),
        }
    }
}

/// The locks in the list of the system that are on that file and exclude one of kind `wanted`.
fn listed(locks: &str, device: u64, inode: u64, wanted: LockKind) -> Vec<LockHolder> {
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    let mut holders: Vec<LockHolder> = Vec::new();
    for line in locks.lines() {
        let mut words = line.split_whitespace().skip(1);
        let fields = [words.next(), words.next(), words.next(), words.next(), words.next()];
        let [Some("FLOCK"), Some(_), Some(kind), Some(process), Some(of)] = fields else { continue };
        let kind = if kind == "WRITE" { LockKind::Exclusive } else { LockKind::Shared };
        let excludes = kind == LockKind::Exclusive || wanted == LockKind::Exclusive;
        let Some(process) = process.parse().ok().filter(|_| excludes && of == file) else { continue };
        if !holders.iter().any(|holder| holder.process == process) {
            let own = process == std::process::id();
            holders.push(LockHolder { process, own, command: command(process), kind });
        }
    }
    holders
}

/// What the process was started with, else its name.
fn command(process: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let name = || std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let shown = if line.trim().is_empty() { name() } else { line };
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let shown: String = shown.trim().chars().map(printable).take(COMMAND).collect();
    Some(shown).filter(|shown| !shown.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_system_says_who() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:00:77 0 EOF\n\
                     2: FLOCK  ADVISORY  READ  4294967001 fe:00:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 4294967002 fe:00:78 0 EOF\n\
                     4: FLOCK  ADVISORY  READ  4294967003 fe:00:77 0 EOF\n\
                     5: FLOCK  ADVISORY\n";
        let found = |inode, wanted| LockHolders(listed(locks, 0xfe00, inode, wanted)).to_string();
        assert_eq!(
            found(77, LockKind::Exclusive),
            "process 4294967001 has it open for reading, and one more process"
        );
        assert_eq!(
            found(77, LockKind::Shared),
            "another program, or another handle of this one, has it open"
        );
        assert_eq!(found(78, LockKind::Shared), "process 4294967002 has it open for writing");
        assert!(listed(locks, 0xfe01, 77, LockKind::Exclusive).is_empty());
    }
}
