//! Patterns for paths: `*` and `?` within a name, `**` across names.

use hyperslab_engine::{Error, Result};

/// A pattern for paths: `*` stands for any characters of a name and `?` for one, `**` for any of a path; a backslash takes the
/// character behind it as it is. A pattern without a slash is held against the last name.
///
/// ```
/// use hyperslab::PathPattern;
/// let pattern = PathPattern::new("/run/*/temp?")?;
/// assert!(pattern.matches("/run/7/temp1") && !pattern.matches("/run/7/a/temp1"));
/// assert!(PathPattern::new("temp*")?.matches("/run/7/temp1"));
/// assert!(PathPattern::new("/run/**")?.matches("/run/7/a/temp1"));
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    parts: Vec<Part>,
    /// Held against the last name only.
    by_name: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    One(char),
    /// Any character but a slash.
    Any,
    /// Any number of characters but slashes.
    Star,
    /// Any number of any characters.
    Stars,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it is empty, or ends with a backslash.
    pub fn new(pattern: &str) -> Result<Self> {
        if pattern.is_empty() {
            return Err(Error::Misuse("an empty pattern names no dataset".into()));
        }
        let by_name = !pattern.contains('/') && pattern != "**";
        let mut parts = Vec::new();
        let mut characters = pattern.trim_start_matches('/').chars().peekable();
        while let Some(character) = characters.next() {
            parts.push(match character {
                '*' => {
                    let mut part = Part::Star;
                    while characters.next_if_eq(&'*').is_some() {
                        part = Part::Stars;
                    }
                    part
                }
                '?' => Part::Any,
                '\\' => Part::One(characters.next().ok_or_else(|| {
                    Error::Misuse(format!("the pattern `{pattern}` ends with a backslash"))
                })?),
                other => Part::One(other),
            });
        }
        Ok(Self { parts, by_name })
    }

    /// Returns whether a path is meant; a slash before it says nothing. Time grows with the product of both lengths, not faster.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        let text = if self.by_name { path.rsplit('/').next().unwrap_or(path) } else { path };
        let text: Vec<char> = text.chars().collect();
        // `open[n]`: the parts so far can stand for the first `n` characters.
        let mut open = vec![false; text.len().saturating_add(1)];
        if let Some(first) = open.first_mut() {
            *first = true;
        }
        for part in &self.parts {
            let mut next = vec![false; open.len()];
            let mut running = false;
            for (place, slot) in next.iter_mut().enumerate() {
                let before = place.checked_sub(1).and_then(|last| text.get(last)).copied();
                let from_last =
                    place.checked_sub(1).and_then(|last| open.get(last)).copied().unwrap_or(false);
                let here = open.get(place).copied().unwrap_or(false);
                *slot = match part {
                    Part::One(wanted) => from_last && before == Some(*wanted),
                    Part::Any => from_last && before != Some('/'),
                    Part::Star => {
                        running = here || (running && before != Some('/'));
                        running
                    }
                    Part::Stars => {
                        running |= here;
                        running
                    }
                };
            }
            open = next;
        }
        open.last().copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, path, expected) in [
            ("*", "/a/b", true),
            ("b*", "/a/bc", true),
            ("/*", "/a", true),
            ("/*", "/a/b", false),
            ("/**", "/a/b", true),
            ("**", "/a/b", true),
            ("/a/**/c", "/a/b/b/c", true),
            ("/a/*/c", "/a/b/b/c", false),
            ("/a?c", "/abc", true),
            ("/a?c", "/a/c", false),
            ("/a\\*", "/a*", true),
            ("/a\\*", "/ab", false),
            ("µ*", "/x/µm", true),
            ("", "", false),
        ] {
            let found = PathPattern::new(pattern).is_ok_and(|glob| glob.matches(path));
            assert_eq!(found, expected, "{pattern} {path}");
        }
        assert!(PathPattern::new("a\\").is_err());
        // No pattern takes long.
        let long = "a".repeat(5000);
        assert!(!PathPattern::new(&"*a".repeat(50)).unwrap().matches(&format!("{long}b")));
    }
}
