//! Classes of differences between the output of a C tool and of hyperslab's tool.

use std::path::Path;
use std::process::Output;

use anyhow::Result;

use super::Call;
use super::c_tools::{self, CTools, Memory, TOO_LONG};
use crate::shell;

/// A class of differences. The first class that applies is the class of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Signal,
    TooLong,
    Unstable,
    NoFilter,
    CFails,
    HyperslabFails,
    Escapes,
    NonAscii,
    Breaks,
    Sizes,
    Compared,
    Other,
}

impl Class {
    pub(super) const ALL: [Self; 12] = [
        Self::Signal,
        Self::TooLong,
        Self::Unstable,
        Self::NoFilter,
        Self::CFails,
        Self::HyperslabFails,
        Self::Escapes,
        Self::NonAscii,
        Self::Breaks,
        Self::Sizes,
        Self::Compared,
        Self::Other,
    ];

    /// Returns true if the C tool has no stable output to compare with.
    pub(super) fn is_apart(self) -> bool {
        matches!(self, Self::Signal | Self::TooLong | Self::Unstable | Self::NoFilter)
    }

    /// Returns a description of the difference and its cause.
    pub(super) fn cause(self) -> &'static str {
        match self {
            Self::Signal => "the C tool ends by a signal",
            Self::TooLong => "the C tool runs for more than a minute",
            Self::Unstable => {
                "the C tool prints memory that it did not initialize, or addresses of its memory (references inside compounds and sequences): a second run with other memory prints another output"
            }
            Self::NoFilter => {
                "the C tool cannot read the data, because its build lacks a filter, and hyperslab prints the data"
            }
            Self::CFails => {
                "the C tool reports a failure, and hyperslab prints the data or the difference: committed datatypes without a link, variable-length texts without a value, filters whose parameters the C library refuses, arrays of different shapes"
            }
            Self::HyperslabFails => {
                "hyperslab prints its output, and then reports a missing file or damage that the C tool does not notice"
            }
            Self::Escapes => {
                "hyperslab escapes line feeds and other control characters in names and texts, because terminals interpret them"
            }
            Self::NonAscii => {
                "the C tool prints bytes above 127 as octal numbers of 32 bits, or in another form than hyperslab"
            }
            Self::Breaks => "the same words with other line breaks or spaces",
            Self::Sizes => {
                "the same text with other numbers: the C tool counts empty lists of shared messages and the gap in local heaps of files with short addresses, counts external files and complex numbers in another way, and computes ratios of overlapping members from other sizes"
            }
            Self::Compared => {
                "`h5diff` of hyperslab follows references inside compounds and sequences, compares objects that the C tool misses because of the order of its list, and computes differences exactly (the section `h5diff` of [the page about the tools](tools.md))"
            }
            Self::Other => {
                "rare cases: in `h5stat`, empty lists of shared messages, which make a file seem too short, and attributes of objects without an Attribute Info message; in `h5dump`, several of the other causes in one file, and references to deleted objects and to regions outside the dataset; in `h5ls`, filters whose parameters the C library refuses, and external files"
            }
        }
    }
}

/// Runs both tools. Returns the class of the difference, or `None` for equal output and status.
pub(super) fn class(call: &Call, folder: &Path, command: &Path, c_tools: &CTools) -> Result<Option<Class>> {
    let c = c_tools.run(call.tool, call.arguments(), folder, Memory::Plain)?;
    if c.status.code() == Some(TOO_LONG) {
        return Ok(Some(Class::TooLong));
    }
    let mut ours = shell::command("timeout", &[c_tools::SECONDS]);
    let ours = c_tools::finish(ours.arg(command).arg(call.tool).args(call.arguments()), folder)?;
    if is_equal(&c, &ours) {
        return Ok(None);
    }
    if c.status.code().is_none() {
        return Ok(Some(Class::Signal));
    }
    let again = c_tools.run(call.tool, call.arguments(), folder, Memory::Other)?;
    if !is_equal(&c, &again) {
        return Ok(Some(Class::Unstable));
    }
    if c.status.code() != ours.status.code() && lacks_filter(call, folder, c_tools)? {
        return Ok(Some(Class::NoFilter));
    }
    Ok(Some(stable(call.tool, [&c, &ours])))
}

/// Returns true if the C build lacks a filter for one of the files: `h5dump` reports it, if an
/// option requests the error stack of the C library.
fn lacks_filter(call: &Call, folder: &Path, c_tools: &CTools) -> Result<bool> {
    for file in &call.files {
        let arguments = ["--enable-error-stack", file].into_iter();
        let said = c_tools.run("h5dump", arguments, folder, Memory::Plain)?.stderr;
        let said = String::from_utf8_lossy(&said);
        if ["is not registered", "filter plugin", "required filter"].iter().any(|text| said.contains(text)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_equal(one: &Output, other: &Output) -> bool {
    one.stdout == other.stdout && one.status.code() == other.status.code()
}

/// Returns the class of a difference from a stable output of the C tool.
fn stable(tool: &str, [c, ours]: [&Output; 2]) -> Class {
    if c.status.code() != ours.status.code() {
        let failure = if tool == "h5diff" { 2 } else { 1 };
        if c.status.code() == Some(failure) {
            return Class::CFails;
        }
        if ours.status.code() == Some(failure) {
            return Class::HyperslabFails;
        }
    }
    let texts = [&c.stdout, &ours.stdout].map(Vec::as_slice);
    let after = |form: fn(&[u8]) -> Vec<u8>| {
        let [one, other] = texts.map(form);
        one == other
    };
    match tool {
        _ if after(words) => Class::Breaks,
        "h5diff" => Class::Compared,
        _ if after(without_escapes) => Class::Escapes,
        _ if after(ascii) => Class::NonAscii,
        _ if after(without_numbers) => Class::Sizes,
        _ => Class::Other,
    }
}

/// Returns a text without spaces and line breaks.
fn words(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// Returns a text without spaces, control characters, and escapes of control characters.
fn without_escapes(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' {
            // The escaped letter, or the first digit of an octal number.
            let _ = bytes.next();
        } else if byte.is_ascii_graphic() || !byte.is_ascii() {
            plain.push(byte);
        }
    }
    plain
}

/// Returns a text without characters outside ASCII, in each form.
fn ascii(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'\\' {
            let digits =
                rest.iter().take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_hexdigit()).count();
            rest = rest.get(digits..).unwrap_or(&[]);
        } else if byte.is_ascii_graphic() {
            plain.push(*byte);
        }
    }
    plain
}

/// Returns a text without digits, points and spaces.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    let is_kept = |byte: &u8| !byte.is_ascii_digit() && *byte != b'.' && !byte.is_ascii_whitespace();
    text.iter().copied().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn class_of(tool: &str, c: (i32, &str), ours: (i32, &str)) -> Class {
        let output = |(code, text): (i32, &str)| Output {
            status: ExitStatus::from_raw(code << 8),
            stdout: text.into(),
            stderr: Vec::new(),
        };
        stable(tool, [&output(c), &output(ours)])
    }

    #[test]
    fn each_difference_has_its_class() {
        assert_eq!(class_of("h5dump", (1, ""), (0, "a")), Class::CFails);
        assert_eq!(class_of("h5diff", (1, ""), (2, "")), Class::HyperslabFails);
        assert_eq!(class_of("h5diff", (1, "a"), (1, "b")), Class::Compared);
        assert_eq!(class_of("h5dump", (0, "1,\n2"), (0, "1, 2")), Class::Breaks);
        assert_eq!(class_of("h5dump", (0, "a\tb"), (0, "a\\tb")), Class::Escapes);
        assert_eq!(class_of("h5dump", (0, "\"\\37777777703\""), (0, "\"é\"")), Class::NonAscii);
        assert_eq!(class_of("h5stat", (0, "size: 10"), (0, "size: 9")), Class::Sizes);
        assert_eq!(class_of("h5ls", (0, "int"), (0, "float")), Class::Other);
    }
}
