//! Text from files, made safe for terminals: the writer through which every command and tool prints, and the escapes
//! of single names.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::Style;

/// The longest character of UTF-8, in bytes.
const LONGEST: usize = 4;

/// Returns whether a character may do more to a terminal than show itself.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// Text from a file, made safe for terminals: control characters, those that change the direction of text, and
/// bytes that are not UTF-8 are written as escapes.
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

/// A name from a file as a part of a line that a [`Safe`] writer takes: new lines and tabs, which would pass there, are
/// escaped. Bytes that are not UTF-8 are replaced.
pub(crate) fn in_line(name: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(name.as_ref()).replace('\n', "\\n").replace('\t', "\\t")
}

/// Prints a line on the error output. Text that the line quotes is escaped, and so is a new line in it. A failure to print
/// is passed over, as nothing is left to be done then.
pub(crate) fn complain(line: impl Display) {
    let line = escape(line.to_string().as_bytes());
    let _ = writeln!(io::stderr(), "{line}");
}

/// How characters are written that a terminal must not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// As in JSON, `\u001b`, so that documents stay valid; bytes that are not UTF-8 as `\xff`.
    Json,
    /// As in C, `\b` or `\033`, a number for each byte.
    C,
}

/// A writer of text whose parts may come from files: lines and tabs pass, all other characters that are
/// [unsafe](is_unsafe), and bytes that are not UTF-8, pass as escapes. Styles pass only by [`Screen::style`].
#[derive(Debug)]
pub(crate) struct Safe<W: Write> {
    inner: W,
    /// None lets all bytes pass.
    escapes: Option<Escapes>,
    /// The beginning of a character whose end has not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> Safe<W> {
    pub(crate) fn new(inner: W, escapes: Escapes) -> Self {
        Self { inner, escapes: Some(escapes), begun: Vec::new() }
    }

    /// Makes a writer for bytes that are no text.
    pub(crate) fn raw(inner: W) -> Self {
        Self { inner, escapes: None, begun: Vec::new() }
    }

    /// The writer below.
    pub(crate) fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Writes a begun character of which no more will come.
    fn settle(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        match self.escapes {
            Some(escapes) => begun.iter().try_for_each(|byte| invalid(&mut self.inner, escapes, *byte)),
            None => self.inner.write_all(&begun),
        }
    }

    /// Writes text, and keeps back a character that the end cuts.
    fn text(&mut self, bytes: &[u8], escapes: Escapes) -> io::Result<()> {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            valid(&mut self.inner, escapes, chunk.valid())?;
            let rest = chunk.invalid();
            if chunks.peek().is_none() && is_begun(rest) {
                self.begun.extend_from_slice(rest);
            } else {
                rest.iter().try_for_each(|byte| invalid(&mut self.inner, escapes, *byte))?;
            }
        }
        Ok(())
    }
}

/// Returns whether the bytes are the beginning of a character, but not the whole.
fn is_begun(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Writes text; stretches without unsafe characters at once.
fn valid(out: &mut impl Write, escapes: Escapes, text: &str) -> io::Result<()> {
    let stops = |character: char| is_unsafe(character) && !matches!(character, '\n' | '\t');
    let mut rest = text;
    while let Some((safe, character, behind)) = rest.find(stops).and_then(|at| {
        let (safe, tail) = rest.split_at_checked(at)?;
        let mut characters = tail.chars();
        Some((safe, characters.next()?, characters.as_str()))
    }) {
        out.write_all(safe.as_bytes())?;
        match escapes {
            Escapes::Json => write!(out, "\\u{:04x}", u32::from(character))?,
            Escapes::C => in_c(out, character)?,
        }
        rest = behind;
    }
    out.write_all(rest.as_bytes())
}

fn in_c(out: &mut impl Write, character: char) -> io::Result<()> {
    match character {
        '\u{8}' => out.write_all(b"\\b"),
        '\u{c}' => out.write_all(b"\\f"),
        '\r' => out.write_all(b"\\r"),
        _ => {
            let mut room = [0; LONGEST];
            character.encode_utf8(&mut room).bytes().try_for_each(|byte| write!(out, "\\{byte:03o}"))
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
        if self.begun.is_empty() {
            self.text(bytes, escapes)?;
        } else {
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend_from_slice(bytes);
            self.text(&whole, escapes)?;
        }
        Ok(bytes.len())
    }

    /// A character may be cut between two writes: it is kept back until the writer is [dropped](Drop).
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Safe<W> {
    fn drop(&mut self) {
        // Whoever wants to know of failures flushes before.
        let _ = self.settle();
    }
}

/// Output that has styles.
pub(crate) trait Screen: Write {
    /// Writes what begins or ends a style: `{style}` or `{style:#}`, never text from a file.
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
        self.settle()?;
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
