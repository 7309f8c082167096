//! The text of elements in the output of h5ls, and its placement on lines.

use std::io::{self, Write};

use crate::tools::ddl::{escape, spaces};

/// The largest number of equal characters in a row that h5ls prints one by one. If there are more,
/// it prints one character and the number of repetitions.
const MAX_REPEATED: usize = 8;

/// A text with marked positions at which a line may end.
#[derive(Debug, Default)]
pub(super) struct Text {
    whole: String,
    /// The positions at which a line may end, in bytes.
    breaks: Vec<usize>,
}

impl Text {
    pub(super) fn push(&mut self, text: &str) {
        self.whole.push_str(text);
    }

    /// Marks the current end of the text as a position at which a line may end.
    pub(super) fn may_break(&mut self) {
        self.breaks.push(self.whole.len());
    }

    /// Returns the pieces of the text between the marked positions.
    fn sections(&self) -> impl Iterator<Item = &str> {
        let ends = self.breaks.iter().copied().chain([self.whole.len()]);
        ends.scan(0, |start, end| {
            let section = self.whole.get(*start..end)?;
            *start = end;
            Some(section)
        })
    }
}

/// Returns a text in double quotes for h5ls. Unless `simple` is set, a long sequence of equal
/// characters stands outside the quotes with its length.
pub(super) fn printable(bytes: &[u8], simple: bool) -> String {
    if simple {
        let mut text = String::from("\"");
        for byte in bytes {
            percent(&mut text, *byte);
        }
        text.push('"');
        return text;
    }
    let mut text = String::new();
    let mut quoted = false;
    for (unit, count) in Runs(bytes) {
        let is_run = count > MAX_REPEATED;
        if quoted && is_run {
            text.push('"');
        }
        if !text.is_empty() && (!quoted || is_run) {
            text.push(' ');
        }
        if !quoted && !is_run {
            text.push('"');
        }
        quoted = !is_run;
        let mut shown = String::new();
        escape(&mut shown, unit, true);
        if is_run {
            text.push_str(&format!("'{shown}' repeats {} times", count - 1));
        } else {
            (0..count).for_each(|_| text.push_str(&shown));
        }
    }
    if text.is_empty() {
        return "\"\"".into();
    }
    if quoted {
        text.push('"');
    }
    text
}

/// Appends a byte to a percent-encoded text: a byte that is not a visible character becomes `%` and
/// its hexadecimal number.
fn percent(out: &mut String, byte: u8) {
    if byte.is_ascii_graphic() {
        out.push(char::from(byte));
    } else {
        out.push_str(&format!("%{byte:02x}"));
    }
}

/// An iterator over sequences of equal characters in a text: each character with the number of its
/// repetitions. A byte that is not UTF-8 counts as one character.
struct Runs<'a>(&'a [u8]);

impl<'a> Iterator for Runs<'a> {
    type Item = (&'a [u8], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.0.first()?;
        let size = match first {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        let whole = self.0.get(..size).filter(|unit| std::str::from_utf8(unit).is_ok());
        let unit = whole.or_else(|| self.0.get(..1))?;
        let mut count = 0_usize;
        while let Some(rest) = self.0.strip_prefix(unit) {
            self.0 = rest;
            count += 1;
        }
        Some((unit, count))
    }
}

/// The margins of h5ls's output lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margins {
    /// The number of spaces before each line.
    pub(super) indent: usize,
    /// The number of further spaces before lines that continue an element.
    pub(super) further: usize,
    /// The number of columns of a line. Parts of elements leave the last column empty.
    pub(super) width: usize,
    /// Print one element per line.
    pub(super) simple: bool,
}

/// A writer of elements for h5ls that puts as many elements into each output line as fit.
pub(super) struct Lines<'o> {
    out: &'o mut dyn Write,
    margins: Margins,
    column: usize,
    begun: bool,
    /// True if the previous element has several lines.
    broken: bool,
}

impl<'o> Lines<'o> {
    pub(super) fn new(out: &'o mut dyn Write, margins: Margins) -> Self {
        Self { out, margins, column: 0, begun: false, broken: false }
    }

    pub(super) fn element(&mut self, text: &Text, is_last: bool) -> io::Result<()> {
        let Margins { indent, width, simple, .. } = self.margins;
        let comma = if is_last || simple { "" } else { "," };
        let length = text.whole.chars().count() + comma.len();
        let is_full = self.column + length + 1 > width;
        // An element that does not fit on one line begins on the line of the previous element, if
        // its first section fits there and the previous element does not take several lines.
        let first = text.sections().next().map_or(0, |section| section.chars().count());
        let has_to_be_broken =
            !text.breaks.is_empty() && indent + length > width && self.column + first + 1 < width;
        let is_moved = is_full && (self.broken || !has_to_be_broken);
        if !self.begun || simple || is_moved {
            if self.begun {
                self.out.write_all(b"\n")?;
            }
            self.out.write_all(spaces(indent).as_bytes())?;
            self.column = indent;
        } else {
            self.out.write_all(b" ")?;
            self.column += 1;
        }
        (self.begun, self.broken) = (true, false);
        if simple {
            write!(self.out, "{}{}", text.whole, if is_last { "" } else { " " })
        } else {
            self.sections(text, comma)
        }
    }

    /// Writes the pieces of an element's text. Begins a new line before each piece that does not
    /// fit.
    fn sections(&mut self, text: &Text, comma: &str) -> io::Result<()> {
        let Margins { indent, further, width, .. } = self.margins;
        let mut sections = text.sections().peekable();
        let mut is_first = true;
        while let Some(section) = sections.next() {
            let comma = if sections.peek().is_none() { comma } else { "" };
            let length = section.chars().count() + comma.len();
            if !is_first && width > 0 && self.column + length >= width {
                let indent = indent + further;
                write!(self.out, "\n{}", spaces(indent))?;
                (self.column, self.broken) = (indent, true);
            }
            is_first = false;
            write!(self.out, "{section}{comma}")?;
            self.column += length;
        }
        Ok(())
    }

    /// Ends the last output line of h5ls. If no element was written, the line is empty.
    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }
}

/// A writer that fills output lines with integers of one byte, as characters in quotes.
pub(super) struct Characters<'o> {
    out: &'o mut dyn Write,
    margins: Margins,
    column: usize,
    begun: bool,
}

impl<'o> Characters<'o> {
    pub(super) fn new(out: &'o mut dyn Write, margins: Margins) -> Self {
        Self { out, margins, column: 0, begun: false }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.iter().try_for_each(|byte| self.one(*byte))
    }

    fn one(&mut self, byte: u8) -> io::Result<()> {
        let Margins { indent, width, simple, .. } = self.margins;
        let mut shown = String::new();
        if simple {
            percent(&mut shown, byte);
        } else {
            escape(&mut shown, &[byte], true);
        }
        let is_full = simple || self.column + shown.len() + 1 > width;
        if !self.begun || is_full {
            let end = if self.begun { "\"\n" } else { "" };
            write!(self.out, "{end}{}\"", spaces(indent))?;
            self.column = indent + 1;
            self.begun = true;
        }
        self.column += shown.len();
        self.out.write_all(shown.as_bytes())
    }

    /// Ends the last output line of characters, without closing quotes, as the C tool does.
    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_outside_of_the_quotes() {
        for (bytes, expected) in [
            (&b""[..], "\"\""),
            (b"ab", "\"ab\""),
            (b"abcccccccc", "\"abcccccccc\""),
            (b"abcccccccccd", "\"ab\" 'c' repeats 8 times \"d\""),
            (b"\"\"\"\"\"\"\"\"\"\"", "'\\\"' repeats 9 times"),
            (b"aaaaaaaaaabbbbbbbbbb", "'a' repeats 9 times 'b' repeats 9 times"),
            ("éx\u{1}".as_bytes(), "\"éx\\001\""),
            (b"\xc3x", "\"\\303x\""),
        ] {
            assert_eq!(printable(bytes, false), expected);
        }
        assert_eq!(printable(b"5% a\"\\\x7f", true), "\"5%%20a\"\\%7f\"");
    }

    fn lines(texts: &[&[&str]], width: usize) -> String {
        let margins = Margins { indent: 1, further: 1, width, simple: false };
        let mut out = Vec::new();
        let mut lines = Lines::new(&mut out, margins);
        for (number, parts) in texts.iter().enumerate() {
            let mut text = Text::default();
            for (part, between) in parts.iter().zip(0..) {
                if between > 0 {
                    text.may_break();
                }
                text.push(part);
            }
            lines.element(&text, number + 1 == texts.len()).unwrap();
        }
        lines.end().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_have_as_many_elements_as_fit() {
        assert_eq!(lines(&[&["abc"], &["def"], &["g"]], 10), " abc, def,\n g\n");
        assert_eq!(lines(&[&["ab"], &["cde"]], 8), " ab, cde\n");
        // Without a width, each element has a line of its own.
        assert_eq!(lines(&[&["{a,", "b}"], &["{c,", "d}"]], 0), " {a,b},\n {c,d}\n");
        // An element that fits on no line begins where its first section fits, but not after
        // another element with several lines.
        assert_eq!(
            lines(&[&["a"], &["(bcd,", "efg)"], &["(hij,", "klm)"]], 10),
            " a, (bcd,\n  efg),\n (hij,\n  klm)\n"
        );
        assert_eq!(lines(&[&["abcd"], &["(bcd,", "efg)"]], 10), " abcd,\n (bcd,\n  efg)\n");
        // An element that fits on a line may not fit in sections. The next element follows it on
        // the same line.
        assert_eq!(lines(&[&["{abc, ", "de}"], &["f"]], 10), " {abc, \n  de}, f\n");
        assert_eq!(lines(&[], 10), "\n");
    }
}
