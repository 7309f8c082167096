//! The secret that requests must have.

use std::fmt;
use std::hint::black_box;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The number of random bytes of a token: 128 bits.
const RANDOM_BYTES: usize = 16;

/// The least number of characters of a token that the user chooses.
const MIN_CHARACTERS: usize = 16;

/// The secret that requests must have. It is never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    text: String,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// Creates a token of 128 random bits.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(Self { text: URL_SAFE_NO_PAD.encode(bytes) })
    }

    /// Takes a token that the user chose: at least 16 letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// Returns a description of an unsuitable token.
    pub fn chosen(text: &str) -> Result<Self, String> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        if text.len() < MIN_CHARACTERS || !text.chars().all(is_plain) {
            return Err(format!("a token has at least {MIN_CHARACTERS} letters, digits, `-` and `_`"));
        }
        Ok(Self { text: text.to_owned() })
    }

    /// Returns the text of the token, for the address that the user opens.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compares a text with the token, in a time that does not depend on the number of equal
    /// characters.
    pub(super) fn is(&self, text: &str) -> bool {
        let (own, other) = (self.text.as_bytes(), text.as_bytes());
        if own.len() != other.len() {
            return false;
        }
        own.iter().zip(other).fold(0, |different, (one, two)| black_box(different | (one ^ two))) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_secret_and_different() {
        let (one, two) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.text().len(), 22);
        assert!(one.is(&one.text.clone()) && !one.is(two.text()) && !one.is(""));
        assert!(!one.is(&one.text()[1..]));
        assert!(!format!("{one:?}").contains(one.text()));
        assert!(Token::chosen("0123456789abcdef").is_ok());
        for wrong in ["", "short", "0123456789abcde;", "0123456789 abcdef"] {
            assert!(Token::chosen(wrong).is_err(), "{wrong}");
        }
    }
}
