//! The processes that hold a lock on a file, if the system lists them.

use std::fmt;

use crate::{FileIdentity, LockKind};

/// A process whose lock on a file conflicts with a requested lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The number of the process.
    pub process: u32,
    /// True if it is the current process.
    pub own: bool,
    /// The command line or the name of the process, if known.
    pub command: Option<String>,
    /// The kind of the lock.
    pub kind: LockKind,
}

/// The processes whose locks on a file conflict with a requested lock. The list is empty if the
/// operating system does not list locks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockHolders(pub Vec<LockHolder>);

/// The largest number of characters of a process's command line that an error message shows. The
/// process holds a file lock.
const MAX_COMMAND_CHARACTERS: usize = 120;

impl LockHolders {
    /// Returns the processes whose locks on a file probably conflict with a lock of the kind
    /// `wanted`.
    ///
    /// Linux lists all locks. The result is empty on other systems, and on file systems that report
    /// different file numbers in the list.
    pub fn find(identity: Option<&FileIdentity>, wanted: LockKind) -> Self {
        match identity {
            Some(FileIdentity::Node { device, inode }) => {
                let locks = std::fs::read_to_string("/proc/locks");
                locks.map_or_else(|_| Self::default(), |locks| Self(listed(&locks, *device, *inode, wanted)))
            }
            _ => Self::default(),
        }
    }
}

/// Returns the other processes that have a file open for writing, with or without a lock.
///
/// Linux lists the open files of processes of the same user. On other systems the result is empty.
pub fn find_writers(identity: Option<&FileIdentity>) -> LockHolders {
    let Some(FileIdentity::Node { device, inode }) = identity else { return LockHolders::default() };
    let mut holders = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(process) = process.filter(|process| *process != std::process::id()) else { continue };
        if writes(process, *device, *inode) {
            let kind = LockKind::Exclusive;
            holders.push(LockHolder { process, own: false, command: command(process), kind });
        }
    }
    LockHolders(holders)
}

/// Returns whether a process has a file open for writing. The device number and the inode number
/// identify the file.
#[cfg(unix)]
fn writes(process: u32, device: u64, inode: u64) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    /// A mask of the open flags of a file on Linux. If one of the bits of the mask is set, the file
    /// is open for writing.
    const WRITING: u32 = 3;
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    files.into_iter().any(|file| {
        let is_it = std::fs::metadata(file.path()).is_ok_and(|it| it.dev() == device && it.ino() == inode);
        let about = || {
            let number = file.file_name().to_string_lossy().into_owned();
            std::fs::read_to_string(format!("/proc/{process}/fdinfo/{number}")).ok()
        };
        is_it && about().and_then(|about| opened_with(&about)).is_some_and(|flags| flags & WRITING != 0)
    })
}

#[cfg(not(unix))]
fn writes(_process: u32, _device: u64, _inode: u64) -> bool {
    false
}

/// Returns the open flags of a file from the operating system's text about the open file
/// (`fdinfo`).
#[cfg(unix)]
fn opened_with(about: &str) -> Option<u32> {
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
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

/// Returns the processes with conflicting locks on a file, from the operating system's list of
/// locks.
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

/// Returns the command line of a process that holds a lock, or the name of the process if the
/// command line is empty.
fn command(process: u32) -> Option<String> {
    // The command line and the name of an ended process, or of a process of another user, cannot be
    // read.
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let name = || std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let shown = if line.trim().is_empty() { name() } else { line };
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let shown: String = shown.trim().chars().map(printable).take(MAX_COMMAND_CHARACTERS).collect();
    Some(shown).filter(|shown| !shown.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn flags_are_octal() {
        assert_eq!(opened_with("pos:\t0\nflags:\t0100002\nmnt_id:\t30\n"), Some(0o100_002));
        assert_eq!(opened_with("pos:\t0\n"), None);
    }

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
