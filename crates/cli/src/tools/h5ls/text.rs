//! The text of elements, and where it goes on lines.

use std::io::{self, Write};

use crate::tools::ddl::{escape, spaces};

/// A character that comes more often than this is written once, with its number.
const REPEATED: usize = 8;

/// Text that may be broken at some places.
#[derive(Debug, Default)]
pub(super) struct Text {
    whole: String,
    /// Where a line may end, in bytes.
    breaks: Vec<usize>,
}

impl Text {
    pub(super) fn push(&mut self, text: &str) {
        self.whole.push_str(text);
    }

    /// A line may end here.
    pub(super) fn may_break(&mut self) {
        self.breaks.push(self.whole.len());
    }

    /// The parts between which lines may end.
    fn sections(&self) -> impl Iterator<Item = &str> {
        let ends = self.breaks.iter().copied().chain([self.whole.len()]);
        ends.scan(0, |start, end| {
            let section = self.whole.get(*start..end)?;
            *start = end;
            Some(section)
        })
    }
}

/// Text in double quotes. Without `simple`, long runs of one character stand outside of them, with their number.
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
        let is_run = count > REPEATED;
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
            text.push_str(&format!("'{shown}' repeats {} times", count.saturating_sub(1)));
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

/// A byte for programs: what is no visible character stands as its number.
fn percent(out: &mut String, byte: u8) {
    if byte.is_ascii_graphic() {
        out.push(char::from(byte));
    } else {
        out.push_str(&format!("%{byte:02x}"));
    }
}

/// Characters with the number of times that they come one after the other. A byte that is not UTF-8 is one of its own.
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
            count = count.saturating_add(1);
        }
        Some((unit, count))
    }
}

/// Where lines begin and end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margins {
    /// Spaces before each line.
    pub(super) indent: usize,
    /// Further spaces before lines on which an element goes on.
    pub(super) further: usize,
    /// Columns that elements may reach. Parts of them leave the last one empty.
    pub(super) width: usize,
    /// One element per line.
    pub(super) simple: bool,
}

/// Writes elements one after the other, as many to a line as fit.
pub(super) struct Lines<'o> {
    out: &'o mut dyn Write,
    margins: Margins,
    column: usize,
    begun: bool,
    /// The element before goes on over several lines.
    broken: bool,
}

impl<'o> Lines<'o> {
    pub(super) fn new(out: &'o mut dyn Write, margins: Margins) -> Self {
        Self { out, margins, column: 0, begun: false, broken: false }
    }

    pub(super) fn element(&mut self, text: &Text, is_last: bool) -> io::Result<()> {
        let Margins { indent, width, simple, .. } = self.margins;
        let comma = if is_last || simple { "" } else { "," };
        let length = text.whole.chars().count().saturating_add(comma.len());
        let is_full = self.column.saturating_add(length).saturating_add(1) > width;
        // What has to be broken anyhow begins behind the others if a part of it fits, unless the one before was
        // broken too.
        let first = text.sections().next().map_or(0, |section| section.chars().count());
        let has_to_be_broken = !text.breaks.is_empty()
            && indent.saturating_add(length) > width
            && self.column.saturating_add(first).saturating_add(1) < width;
        let is_moved = is_full && (self.broken || !has_to_be_broken);
        if !self.begun || simple || is_moved {
            if self.begun {
                self.out.write_all(b"\n")?;
            }
            self.out.write_all(spaces(indent).as_bytes())?;
            self.column = indent;
        } else {
            self.out.write_all(b" ")?;
            self.column = self.column.saturating_add(1);
        }
        (self.begun, self.broken) = (true, false);
        if simple {
            write!(self.out, "{}{}", text.whole, if is_last { "" } else { " " })
        } else {
            self.sections(text, comma)
        }
    }

    /// The parts of an element, with line ends where the next one does not fit.
    fn sections(&mut self, text: &Text, comma: &str) -> io::Result<()> {
        let Margins { indent, further, width, .. } = self.margins;
        let mut sections = text.sections().peekable();
        let mut is_first = true;
        while let Some(section) = sections.next() {
            let comma = if sections.peek().is_none() { comma } else { "" };
            let length = section.chars().count().saturating_add(comma.len());
            if !is_first && width > 0 && self.column.saturating_add(length) >= width {
                write!(self.out, "\n{}", spaces(indent.saturating_add(further)))?;
                (self.column, self.broken) = (indent, true);
            }
            is_first = false;
            write!(self.out, "{section}{comma}")?;
            self.column = self.column.saturating_add(length);
        }
        Ok(())
    }

    /// The end of the last line, which is an empty one if there are no elements.
    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }
}

/// Writes integers of one byte as text, as much to a line as fits.
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
        let is_full = simple || self.column.saturating_add(shown.len()).saturating_add(1) > width;
        if !self.begun || is_full {
            let end = if self.begun { "\"\n" } else { "" };
            write!(self.out, "{end}{}\"", spaces(indent))?;
            self.column = indent.saturating_add(1);
            self.begun = true;
        }
        self.column = self.column.saturating_add(shown.len());
        self.out.write_all(shown.as_bytes())
    }

    /// The end of the last line, which has no quotes.
    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_stand_outside_of_the_quotes() {
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
    fn as_many_elements_stand_on_a_line_as_fit() {
        assert_eq!(lines(&[&["abc"], &["def"], &["g"]], 10), " abc, def,\n g\n");
        assert_eq!(lines(&[&["ab"], &["cde"]], 8), " ab, cde\n");
        // No width: each element has a line, whatever its parts.
        assert_eq!(lines(&[&["{a,", "b}"], &["{c,", "d}"]], 0), " {a,b},\n {c,d}\n");
        // What fits nowhere as a whole begins where its first part fits, but not behind another one that was broken.
        assert_eq!(
            lines(&[&["a"], &["(bcd,", "efg)"], &["(hij,", "klm)"]], 10),
            " a, (bcd,\n  efg),\n (hij,\n  klm)\n"
        );
        assert_eq!(lines(&[&["abcd"], &["(bcd,", "efg)"]], 10), " abcd,\n (bcd,\n  efg)\n");
        // What fits as a whole may not fit in parts, and what follows goes on behind it.
        assert_eq!(lines(&[&["{abc, ", "de}"], &["f"]], 10), " {abc, \n  de}, f\n");
        assert_eq!(lines(&[], 10), "\n");
    }
}
