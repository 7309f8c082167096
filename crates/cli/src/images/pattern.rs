//! The names of numbered image files: `frame-%04d.png` is `frame-0000.png`, `frame-0001.png`, and
//! so on.

use std::path::{Path, PathBuf};

/// The largest number of digits in a file name pattern for exported images.
const MAX_DIGITS: usize = 20;

/// A pattern for the names of exported image files, which differ in a number.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    before: String,
    digits: usize,
    after: String,
}

impl Pattern {
    /// Returns the file name pattern of a path. Returns `None` if the file name contains neither
    /// `%d` nor a form such as `%04d`.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let text = path.to_str()?;
        let name = path.file_name()?.to_str()?;
        // The file name is the end of the path.
        let start = text.len().checked_sub(name.len())?;
        for (at, _) in name.match_indices('%') {
            let (before, rest) = text.split_at_checked(start.checked_add(at)?)?;
            let rest = rest.strip_prefix('%')?;
            let Some((digits, after)) = rest.split_once('d') else { continue };
            let is_number = digits.chars().all(|digit| digit.is_ascii_digit());
            let digits = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
            match digits {
                Some(digits) if is_number && digits <= MAX_DIGITS => {
                    return Some(Self { before: before.to_owned(), digits, after: after.to_owned() });
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the path of an image file: a number replaces the pattern in the file name.
    pub(super) fn path(&self, number: u64) -> PathBuf {
        let Self { before, digits, after } = self;
        PathBuf::from(format!("{before}{number:0digits$}{after}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_replace_the_pattern() {
        for (name, number, expected) in [
            ("frame-%04d.png", 7, "frame-0007.png"),
            ("a%d/b%d.png", 12, "a%d/b12.png"),
            ("100%-%2d.tif", 123, "100%-123.tif"),
            ("ä%3dß.png", 1, "ä001ß.png"),
        ] {
            assert_eq!(Pattern::of(Path::new(name)).unwrap().path(number), PathBuf::from(expected));
        }
        for name in ["frame.png", "a%d/b.png", "%x.png", "%99d.png", "50%", "%+3d.png"] {
            assert_eq!(Pattern::of(Path::new(name)), None, "{name}");
        }
    }
}
