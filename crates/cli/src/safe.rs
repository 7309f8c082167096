//! Text from files, made safe for terminals: the writer with which every command and tool prints,
//! and the escapes of single names.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::Style;

use crate::urls::without_credentials;

/// The size of the longest character in UTF-8, in bytes.
const MAX_UTF8_BYTES: usize = 4;

/// Returns true if a character can change the state of a terminal or the direction of text.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// Makes text from a file safe for terminals. Replaces unsafe characters and bytes that are not
/// UTF-8 by escapes.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_unsafe(character) {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Returns a name from a file in a form that fits in one line of a `Safe` writer. Escapes newlines
/// and tabs, because the writer does not, and replaces bytes that are not UTF-8.
pub(crate) fn in_line(name: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(name.as_ref()).replace('\n', "\\n").replace('\t', "\\t")
}

/// Prints a line to standard error with unsafe characters and newlines escaped, and URLs of the
/// command line without credentials. Ignores a failure to print, because no other output is
/// available.
pub(crate) fn complain(line: impl Display) {
    let line = escape(without_credentials(line.to_string()).as_bytes());
    let _ = writeln!(io::stderr(), "{line}");
}

/// The notation of escapes for unsafe characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// The notation of JSON, `\u001b`, so that documents stay valid. Bytes that are not UTF-8
    /// become `\xff`.
    Json,
    /// The notation of C, `\b` or `\033`, with a number for each byte.
    C,
}

/// A writer of text that contains parts from files. It escapes unsafe characters except newlines
/// and tabs, and bytes that are not UTF-8. Only `Screen::style` writes styles.
#[derive(Debug)]
pub(crate) struct Safe<W: Write> {
    inner: W,
    /// The notation of escapes. `None` writes all bytes unchanged.
    escapes: Option<Escapes>,
    /// The first bytes of a character whose last bytes have not been written yet.
    incomplete: Vec<u8>,
}

impl<W: Write> Safe<W> {
    pub(crate) fn new(inner: W, escapes: Escapes) -> Self {
        Self { inner, escapes: Some(escapes), incomplete: Vec::new() }
    }

    /// Creates a `Safe` writer for bytes that are not text. It changes no byte.
    pub(crate) fn raw(inner: W) -> Self {
        Self { inner, escapes: None, incomplete: Vec::new() }
    }

    /// Returns a reference to the inner writer of the `Safe` writer.
    pub(crate) fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Writes the bytes of an incomplete UTF-8 character at the end of the text.
    fn write_incomplete(&mut self) -> io::Result<()> {
        let incomplete = std::mem::take(&mut self.incomplete);
        match self.escapes {
            Some(escapes) => incomplete.iter().try_for_each(|byte| invalid(&mut self.inner, escapes, *byte)),
            None => self.inner.write_all(&incomplete),
        }
    }

    /// Writes text with escapes. If the text ends with an incomplete UTF-8 character, keeps that
    /// character in memory until the next call.
    fn text(&mut self, bytes: &[u8], escapes: Escapes) -> io::Result<()> {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            valid(&mut self.inner, escapes, chunk.valid())?;
            let rest = chunk.invalid();
            if chunks.peek().is_none() && is_incomplete(rest) {
                self.incomplete.extend_from_slice(rest);
            } else {
                rest.iter().try_for_each(|byte| invalid(&mut self.inner, escapes, *byte))?;
            }
        }
        Ok(())
    }
}

/// Returns true if the bytes are a proper prefix of a UTF-8 character.
fn is_incomplete(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Writes valid UTF-8 text with escapes for unsafe characters.
fn valid(out: &mut impl Write, escapes: Escapes, text: &str) -> io::Result<()> {
    let is_escaped = |character: char| is_unsafe(character) && !matches!(character, '\n' | '\t');
    let mut rest = text;
    while let Some((safe, character, after)) = rest.find(is_escaped).and_then(|at| {
        let (safe, tail) = rest.split_at_checked(at)?;
        let mut characters = tail.chars();
        Some((safe, characters.next()?, characters.as_str()))
    }) {
        out.write_all(safe.as_bytes())?;
        match escapes {
            Escapes::Json => write!(out, "\\u{:04x}", u32::from(character))?,
            Escapes::C => in_c(out, character)?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

fn in_c(out: &mut impl Write, character: char) -> io::Result<()> {
    match character {
        '\u{8}' => out.write_all(b"\\b"),
        '\u{c}' => out.write_all(b"\\f"),
        '\r' => out.write_all(b"\\r"),
        _ => {
            let mut buffer = [0; MAX_UTF8_BYTES];
            character.encode_utf8(&mut buffer).bytes().try_for_each(|byte| write!(out, "\\{byte:03o}"))
        }
    }
}

fn invalid(out: &mut impl Write, escapes: Escapes, byte: u8) -> io::Result<()> {
    match escapes {
        Escapes::Json => write!(out, "\\x{byte:02x}"),
        Escapes::C => write!(out, "\\{byte:03o}"),
    }
}

impl<W: Write> Write for Safe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(escapes) = self.escapes else { return self.inner.write(bytes) };
        if self.incomplete.is_empty() {
            self.text(bytes, escapes)?;
        } else {
            let mut whole = std::mem::take(&mut self.incomplete);
            whole.extend_from_slice(bytes);
            self.text(&whole, escapes)?;
        }
        Ok(bytes.len())
    }

    /// Flushes the inner writer of the `Safe` writer. An incomplete UTF-8 character stays in memory
    /// until the next write or until the writer is dropped.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Safe<W> {
    fn drop(&mut self) {
        // `drop` cannot return the error. Callers flush before to get the errors of complete
        // characters.
        let _ = self.write_incomplete();
    }
}

/// An output that supports styled text.
pub(crate) trait Screen: Write {
    /// Writes the code that begins or ends a style: `{style}` or `{style:#}`. The argument must
    /// never be text from a file.
    fn style(&mut self, code: impl Display) -> io::Result<()>;

    /// Writes text in a style.
    fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.style(style)?;
        self.write_all(text.as_bytes())?;
        self.style(format_args!("{style:#}"))
    }
}

impl<W: Write> Screen for Safe<W> {
    fn style(&mut self, code: impl Display) -> io::Result<()> {
        self.write_incomplete()?;
        write!(self.inner, "{code}")
    }
}

impl<S: Screen> Screen for &mut S {
    fn style(&mut self, code: impl Display) -> io::Result<()> {
        (**self).style(code)
    }
}

#[cfg(test)]
impl Screen for Vec<u8> {
    fn style(&mut self, code: impl Display) -> io::Result<()> {
        write!(self, "{code}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(escapes: Escapes, parts: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut safe = Safe::new(&mut out, escapes);
        parts.iter().for_each(|part| safe.write_all(part).unwrap());
        drop(safe);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_are_safe_to_print() {
        assert_eq!(escape("Größe µm 数".as_bytes()), "Größe µm 数");
        assert_eq!(escape(b"a\x1b[31mb\r\n"), "a\\u{1b}[31mb\\r\\n");
        assert_eq!(escape(b"\xff\xfe!"), "\\xff\\xfe!");
        assert_eq!(escape("\u{202e}x".as_bytes()), "\\u{202e}x");
    }

    #[test]
    fn unsafe_characters_become_escapes() {
        let text = "a\tb\n\u{1b}[2J\u{7f}\u{9b}\r\u{8}µ\u{202e}\u{2066}数".as_bytes();
        assert_eq!(
            through(Escapes::Json, &[text]),
            "a\tb\n\\u001b[2J\\u007f\\u009b\\u000d\\u0008µ\\u202e\\u2066数"
        );
        assert_eq!(
            through(Escapes::C, &[text]),
            "a\tb\n\\033[2J\\177\\302\\233\\r\\bµ\\342\\200\\256\\342\\201\\246数"
        );
        assert_eq!(through(Escapes::C, &[b"\x9b31m\xff"]), "\\23331m\\377");
    }

    #[test]
    fn names_stay_in_their_lines() {
        assert_eq!(in_line("a\nb\tc µ"), "a\\nb\\tc µ");
        assert_eq!(in_line(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn characters_may_be_cut_between_writes() {
        let text = "µ\u{9b}数\u{202e}𝄞".as_bytes();
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(through(Escapes::Json, &bytes), "µ\\u009b数\\u202e𝄞");
        assert_eq!(through(Escapes::Json, &[b"x\xe6\x95"]), "x\\xe6\\x95");
        assert_eq!(through(Escapes::C, &[b"x\xe6", b"y"]), "x\\346y");
    }

    #[test]
    fn styles_pass_and_raw_bytes_do() {
        let mut out = Vec::new();
        let bold = Style::new().bold();
        Safe::new(&mut out, Escapes::Json).styled(bold, "a\u{1b}[0m").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{bold}a\\u001b[0m{bold:#}"));
        let mut out = Vec::new();
        Safe::raw(&mut out).write_all(b"\x1b\xff").unwrap();
        assert_eq!(out, b"\x1b\xff");
    }
}
