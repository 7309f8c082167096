//! The words of a description.

use crate::failure::{Failure, Outcome};

/// A word of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word<'a> {
    /// A name such as `H5T_COMPOUND`.
    Name(&'a [u8]),
    /// An integer.
    Number(i128),
    /// A text in quotation marks, without them.
    Text(Vec<u8>),
    /// A mark such as `{`.
    Mark(u8),
}

/// Returns the words of a description.
///
/// # Errors
/// Fails for bytes that belong to no word, and for a text without an end.
pub fn words(text: &[u8]) -> Outcome<Vec<Word<'_>>> {
    let mut words = Vec::new();
    let mut rest = text.trim_ascii_start();
    while let Some(first) = rest.first() {
        let word;
        (word, rest) = match first {
            b'"' => quoted(rest)?,
            b'{' | b'}' | b'[' | b']' | b';' | b':' => (Word::Mark(*first), rest.get(1..).unwrap_or(&[])),
            b'-' | b'+' | b'0'..=b'9' => number(rest)?,
            byte if byte.is_ascii_alphabetic() => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let (name, rest) = split_while(rest, is_part);
                (Word::Name(name), rest)
            }
            byte => return Err(Failure::bad_value(format!("unexpected `{}`", byte.escape_ascii()))),
        };
        words.push(word);
        rest = rest.trim_ascii_start();
    }
    Ok(words)
}

/// Splits bytes before the first one that does not satisfy the condition.
fn split_while(bytes: &[u8], condition: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let length = bytes.iter().take_while(|byte| condition(byte)).count();
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}

/// Returns a text in quotation marks. A backslash before a quotation mark or a backslash makes it
/// a part of the text.
fn quoted(bytes: &[u8]) -> Outcome<(Word<'_>, &[u8])> {
    let mut text = Vec::new();
    let mut rest = bytes.get(1..).unwrap_or(&[]);
    loop {
        rest = match rest {
            [b'"', after @ ..] => return Ok((Word::Text(text), after)),
            [b'\\', byte @ (b'"' | b'\\'), after @ ..] | [byte, after @ ..] => {
                text.push(*byte);
                after
            }
            [] => return Err(Failure::bad_value("a text has no closing quotation mark")),
        }
    }
}

fn number(bytes: &[u8]) -> Outcome<(Word<'_>, &[u8])> {
    let (sign, digits) = match bytes {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        all => (1, all),
    };
    let (digits, rest) = split_while(digits, u8::is_ascii_digit);
    let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i128>().ok());
    let value = value.and_then(|value| value.checked_mul(sign));
    let value = value.ok_or_else(|| Failure::bad_value("a number has no digits or too many"))?;
    Ok((Word::Number(value), rest))
}
