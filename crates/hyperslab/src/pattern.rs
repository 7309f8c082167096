//! Patterns for paths: `*` and `?` within a name, `**` across names.

use hyperslab_engine::{Error, Result};

/// A pattern for paths of objects. `*` matches any characters within a name, `?` matches one
/// character of a name, and `**` matches any characters of a path. A backslash makes the next
/// character literal. A pattern without a slash is compared with the last name of a path.
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
    tokens: Vec<Token>,
    /// `true` if the pattern is compared with the last name only.
    by_name: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    One(char),
    /// Any character except a slash.
    Any,
    /// Any number of characters except slashes.
    Star,
    /// Any number of any characters.
    Stars,
}

impl PathPattern {
    /// Creates a path pattern from its text.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the pattern is empty or ends with
    /// a backslash.
    pub fn new(pattern: &str) -> Result<Self> {
        if pattern.is_empty() {
            return Err(Error::Misuse("the path pattern is empty".into()));
        }
        let by_name = !pattern.contains('/') && pattern != "**";
        let mut tokens = Vec::new();
        let mut characters = pattern.trim_start_matches('/').chars().peekable();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '*' => {
                    let mut token = Token::Star;
                    while characters.next_if_eq(&'*').is_some() {
                        token = Token::Stars;
                    }
                    token
                }
                '?' => Token::Any,
                '\\' => Token::One(characters.next().ok_or_else(|| {
                    Error::Misuse(format!("the path pattern `{pattern}` ends with a backslash"))
                })?),
                other => Token::One(other),
            });
        }
        Ok(Self { tokens, by_name })
    }

    /// Returns `true` if the path pattern matches `path`. A leading slash of the path is ignored.
    /// The time is at most proportional to the product of the lengths of both.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        let text = if self.by_name { path.rsplit('/').next().unwrap_or(path) } else { path };
        let text: Vec<char> = text.chars().collect();
        // `matched[n]` is true if the previous tokens match the first `n` characters.
        let mut matched = vec![false; text.len() + 1];
        if let Some(first) = matched.first_mut() {
            *first = true;
        }
        for token in &self.tokens {
            matched = token.step(&matched, &text);
        }
        matched.last().copied().unwrap_or(false)
    }
}

impl Token {
    /// Advances the match of a path pattern by one token. `matched` states, for each length,
    /// whether the previous tokens match the first characters of the text up to this length.
    /// Returns the same for the tokens up to this one.
    fn step(self, matched: &[bool], text: &[char]) -> Vec<bool> {
        let mut running = false;
        // The state of the previous length, and the character between the previous and the current
        // length.
        let mut before = (false, None);
        let characters = text.iter().copied().map(Some).chain([None]);
        let step = |(here, next): (&bool, Option<char>)| {
            let (from_last, last) = before;
            before = (*here, next);
            match self {
                Self::One(wanted) => from_last && last == Some(wanted),
                Self::Any => from_last && last != Some('/'),
                Self::Star => {
                    running = *here || (running && last != Some('/'));
                    running
                }
                Self::Stars => {
                    running |= *here;
                    running
                }
            }
        };
        matched.iter().zip(characters).map(step).collect()
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
        // The time does not grow exponentially.
        let long = "a".repeat(5000);
        assert!(!PathPattern::new(&"*a".repeat(50)).unwrap().matches(&format!("{long}b")));
    }
}
