//! Name patterns for the members of a family: `name%05d.h5`.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{DriverError, Result};

/// The largest number of digits of the member number in a file name of the family driver.
const MAX_NUMBER_DIGITS: usize = 64;

/// A pattern for the names of the member files of the family driver. The names differ in a number,
/// which starts with 0.
///
/// ```
/// use hyperslab_vfd::FamilyPattern;
/// let pattern = FamilyPattern::parse("run%03d.h5")?;
/// assert_eq!(pattern.member(12).to_str(), Some("run012.h5"));
/// let same = FamilyPattern::of_first_member("run000.h5".as_ref()).next();
/// assert_eq!(same, Some(pattern));
/// # Ok::<(), hyperslab_vfd::DriverError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyPattern {
    folder: PathBuf,
    before: String,
    /// The minimum number of characters of the number.
    width: usize,
    /// True if the number is padded with zeros, not with spaces.
    zeros: bool,
    after: String,
}

impl FamilyPattern {
    /// Returns whether a text is a valid pattern for the member names of the family driver.
    pub fn is_pattern(text: &str) -> bool {
        Self::parse(text).is_ok()
    }

    /// Parses a pattern for member names of the family driver. As in `printf`, the pattern has one
    /// `%d`, `%5d` or `%05d` (or `i` or `u` instead of `d`), and `%%` stands for a percent sign.
    ///
    /// # Errors
    /// [`DriverError::Members`] if the text has no such number, more than one, or another
    /// conversion.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |reason: String| DriverError::Members { name: text.to_owned(), reason };
        let mut parts = [String::new(), String::new()];
        let mut number = None;
        let mut rest = text;
        while let Some((plain, after_percent)) = rest.split_once('%') {
            let part = if number.is_none() { &mut parts[0] } else { &mut parts[1] };
            part.push_str(plain);
            if let Some(after_percent) = after_percent.strip_prefix('%') {
                part.push('%');
                rest = after_percent;
                continue;
            }
            let end = after_percent.find(|c: char| !c.is_ascii_digit()).unwrap_or(after_percent.len());
            let (digits, conversion) = after_percent.split_at(end);
            let Some(after_percent) = conversion.strip_prefix(['d', 'i', 'u']) else {
                return Err(wrong(format!("`%{digits}` is not followed by `d`")));
            };
            let width = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(usize::MAX) };
            if width > MAX_NUMBER_DIGITS {
                return Err(wrong(format!(
                    "the member number is too wide: {digits} digits, more than {MAX_NUMBER_DIGITS}"
                )));
            }
            if number.replace((width, digits.starts_with('0'))).is_some() {
                return Err(wrong("the pattern has more than one member number".into()));
            }
            rest = after_percent;
        }
        let (width, zeros) =
            number.ok_or_else(|| wrong("the pattern has no `%d` for the member number".into()))?;
        let [before, mut after] = parts;
        after.push_str(rest);
        Ok(Self { folder: PathBuf::new(), before, width, zeros, after })
    }

    /// Returns the family patterns for which the file at `path` is the first member file. Each
    /// number 0 in the name of the file leads to one pattern. The last number comes first.
    pub fn of_first_member(path: &Path) -> impl Iterator<Item = Self> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        // A path without a file name has no number.
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
        let mut numbers = Vec::new();
        let mut start = 0;
        while let Some(found) = name.get(start..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
            let first = start + found;
            let rest = name.split_at(first).1;
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            start = first + length;
            if length <= MAX_NUMBER_DIGITS && rest.bytes().take(length).all(|digit| digit == b'0') {
                numbers.push(first..start);
            }
        }
        numbers.into_iter().rev().map(move |number| Self {
            folder: folder.clone(),
            before: name.split_at(number.start).0.to_owned(),
            width: if number.len() == 1 { 0 } else { number.len() },
            zeros: number.len() > 1,
            after: name.split_at(number.end).1.to_owned(),
        })
    }

    /// Returns the path of the member file with the number `number`, according to the family
    /// pattern.
    pub fn member(&self, number: usize) -> PathBuf {
        let Self { before, width, after, .. } = self;
        self.folder.join(if self.zeros {
            format!("{before}{number:0width$}{after}")
        } else {
            format!("{before}{number:width$}{after}")
        })
    }
}

impl fmt::Display for FamilyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |text: &str| text.replace('%', "%%");
        let width = match (self.width, self.zeros) {
            (0, false) => String::new(),
            (width, false) => width.to_string(),
            (width, true) => format!("0{width}"),
        };
        let name = format!("{}%{width}d{}", percent(&self.before), percent(&self.after));
        write!(f, "{}", self.folder.join(name).display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_printf() {
        let name = |pattern: &str, number| {
            FamilyPattern::parse(pattern).unwrap().member(number).to_str().unwrap().to_owned()
        };
        assert_eq!(name("f%d.h5", 0), "f0.h5");
        assert_eq!(name("f%d.h5", 123), "f123.h5");
        assert_eq!(name("a/f%5d", 7), "a/f    7");
        assert_eq!(name("f%05u.h5", 7), "f00007.h5");
        assert_eq!(name("f%02i", 1234), "f1234");
        assert_eq!(name("100%%-%d%%", 3), "100%-3%");
        assert_eq!(FamilyPattern::parse("100%%-%04d%%").unwrap().to_string(), "100%%-%04d%%");
        for wrong in ["f.h5", "f%s", "%d%d", "%", "%5", "%-5d", "%999999d", "%99999999999999999999d", "%ld"] {
            assert!(FamilyPattern::parse(wrong).is_err(), "{wrong}");
            assert!(!FamilyPattern::is_pattern(wrong));
        }
    }

    #[test]
    fn patterns_of_a_first_member() {
        let of = |path: &str| -> Vec<String> {
            FamilyPattern::of_first_member(Path::new(path)).map(|pattern| pattern.to_string()).collect()
        };
        assert_eq!(of("x/f0.h5"), ["x/f%d.h5"]);
        assert_eq!(of("0/f5_00-000000.h5"), ["0/f5_00-%06d.h5", "0/f5_%02d-000000.h5"]);
        assert!(of("x/f00001.h5").is_empty() && of("f.h5").is_empty() && of("f10.h5").is_empty());
        for pattern in FamilyPattern::of_first_member(Path::new("y/a00b0.h5")) {
            assert_eq!(pattern.member(0), Path::new("y/a00b0.h5"));
        }
    }
}
