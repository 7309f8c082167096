//! Python literals in the headers of npy files: strings, numbers, truth values, tuples, lists,
//! dictionaries.

use anyhow::{Result, bail};

/// A Python literal in the header of an npy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    Number(u64),
    Truth(bool),
    /// A tuple or a list.
    Sequence(Vec<Self>),
    Dictionary(Vec<(String, Self)>),
}

impl Literal {
    /// Parses a Python literal in an npy header. Blanks may follow the literal.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { rest: text };
        let literal = parser.literal(0)?;
        parser.blanks();
        if !parser.rest.is_empty() {
            bail!("unexpected `{}` after the npy header", parser.rest.chars().take(20).collect::<String>());
        }
        Ok(literal)
    }

    /// Returns the value of a key in a Python dictionary. Returns `None` if the literal is no
    /// dictionary with this key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dictionary(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the integers of a Python literal that is a sequence or a single number.
    pub(super) fn numbers(&self) -> Option<Vec<u64>> {
        match self {
            Self::Number(number) => Some(vec![*number]),
            Self::Sequence(items) => items
                .iter()
                .map(|item| match item {
                    Self::Number(number) => Some(*number),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }
}

/// The largest nesting depth of a Python literal in an npy header.
const MAX_LEVELS: usize = 64;

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn peek(&mut self) -> Option<char> {
        self.blanks();
        self.rest.chars().next()
    }

    fn takes(&mut self, expected: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn literal(&mut self, level: usize) -> Result<Literal> {
        if level > MAX_LEVELS {
            bail!("the npy header has more than {MAX_LEVELS} levels of nested values");
        }
        let level = level + 1;
        match self.peek() {
            Some('\'' | '"') => self.text().map(Literal::Text),
            Some('(') => self.sequence("(", ")", level),
            Some('[') => self.sequence("[", "]", level),
            Some('{') => self.dictionary(level),
            Some(digit) if digit.is_ascii_digit() => {
                let end = self.rest.find(|character: char| !character.is_ascii_digit());
                let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                // Python 2 wrote long numbers with an L.
                self.rest = rest.strip_prefix('L').unwrap_or(rest);
                Ok(Literal::Number(number.parse()?))
            }
            Some(_) if self.takes("True") => Ok(Literal::Truth(true)),
            Some(_) if self.takes("False") => Ok(Literal::Truth(false)),
            Some(other) => {
                bail!("unexpected `{other}` in the npy header: a Python literal cannot begin with it")
            }
            None => bail!("the npy header ends in the middle of a value"),
        }
    }

    fn text(&mut self) -> Result<String> {
        let mut characters = self.rest.chars();
        let Some(quote) = characters.next() else { bail!("the npy header ends in the middle of a value") };
        let mut text = String::new();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some(next @ ('\\' | '\'' | '"')) => text.push(next),
                    _ => bail!("the npy header has an unknown escape sequence"),
                },
                _ if character == quote => {
                    self.rest = characters.as_str();
                    return Ok(text);
                }
                other => text.push(other),
            }
        }
        bail!("a text in the npy header has no closing quote")
    }

    fn sequence(&mut self, open: &str, close: &str, level: usize) -> Result<Literal> {
        self.takes(open);
        let mut items = Vec::new();
        while !self.takes(close) {
            items.push(self.literal(level)?);
            if !self.takes(",") {
                if self.takes(close) {
                    break;
                }
                bail!("a comma or `{close}` is missing in the npy header");
            }
        }
        Ok(Literal::Sequence(items))
    }

    fn dictionary(&mut self, level: usize) -> Result<Literal> {
        self.takes("{");
        let mut entries = Vec::new();
        while !self.takes("}") {
            let Literal::Text(key) = self.literal(level)? else {
                bail!("a key of the dictionary in the npy header is not text")
            };
            if !self.takes(":") {
                bail!("a colon is missing after the key `{key}` in the npy header");
            }
            entries.push((key, self.literal(level)?));
            if !self.takes(",") && self.peek() != Some('}') {
                bail!("a comma or `}}` is missing in the npy header");
            }
        }
        Ok(Literal::Dictionary(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let text = "{'descr': [('a\\'b', '<i4'), (\"c\", '|S3', (2,))], 'fortran_order': False, 'shape': (3L, 4), }  \n";
        let literal = Literal::parse(text).unwrap();
        assert_eq!(literal.get("shape").unwrap().numbers().unwrap(), [3, 4]);
        assert_eq!(literal.get("fortran_order"), Some(&Literal::Truth(false)));
        let Some(Literal::Sequence(fields)) = literal.get("descr") else { panic!() };
        assert_eq!(fields.len(), 2);
        assert_eq!(Literal::parse("()").unwrap().numbers().unwrap(), [0_u64; 0]);
    }

    #[test]
    fn invalid_headers_are_errors() {
        for text in ["", "{", "{'a'}", "(1 2)", "'a", "x", "{} x", "'\\x'", &"(".repeat(100_000)] {
            assert!(Literal::parse(text).is_err(), "{text:.20}");
        }
    }
}
