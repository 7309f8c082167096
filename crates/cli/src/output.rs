//! Standard output: buffered, locked and styled. Text from files is made safe for terminals.

use std::io::{self, BufWriter, StdoutLock};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

use crate::safe::{Escapes, Safe};
pub(crate) use crate::safe::{Screen, complain, escape, in_line, is_unsafe};

/// The output style of group names.
pub(crate) const GROUP: Style = AnsiColor::Blue.on_default().bold();
/// The output style of dataset names.
pub(crate) const DATASET: Style = Style::new().bold();
/// The output style of datatypes and of the names of committed datatypes.
pub(crate) const DATATYPE: Style = AnsiColor::Magenta.on_default();
/// The output style of soft, external and user-defined links.
pub(crate) const LINK: Style = AnsiColor::Cyan.on_default();
/// The output style of values.
pub(crate) const VALUE: Style = AnsiColor::Green.on_default();
/// The output style of secondary information.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// The output style of errors and faults.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The output style of all other text.
pub(crate) const PLAIN: Style = Style::new();

/// The type of standard output. Text is made safe for terminals with the escapes of JSON. Styles
/// are written only to a terminal, or if `CLICOLOR_FORCE` is set; `NO_COLOR` disables them.
pub(crate) type Output = Safe<BufWriter<AutoStream<StdoutLock<'static>>>>;

/// The type of standard output without styles.
pub(crate) type PlainOutput = Safe<BufWriter<StdoutLock<'static>>>;

/// Locks standard output for the text of a command. Styles are possible; unsafe characters are
/// escaped.
pub(crate) fn stdout() -> Output {
    Safe::new(BufWriter::with_capacity(1 << 16, AutoStream::auto(io::stdout().lock())), Escapes::Json)
}

/// Locks standard output for bytes that are not text. No byte is escaped.
pub(crate) fn raw_stdout() -> Output {
    Safe::raw(BufWriter::with_capacity(1 << 16, AutoStream::always_ansi(io::stdout().lock())))
}

/// Locks standard output without styles, for elements. If `is_data` is true, bytes are written
/// unchanged; otherwise, text is made safe for terminals.
pub(crate) fn plain_stdout(is_data: bool) -> PlainOutput {
    let output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if is_data { Safe::raw(output) } else { Safe::new(output, Escapes::Json) }
}

/// Locks standard output for an emulated tool of the C library, without styles. Unsafe characters
/// become escapes of C.
pub(crate) fn tool_stdout() -> PlainOutput {
    Safe::new(BufWriter::with_capacity(1 << 16, io::stdout().lock()), Escapes::C)
}

/// Returns an error and its causes in one line. Omits a cause if the line already ends with its
/// text.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if line.is_empty() {
            line = text;
        } else if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        next = error.source();
    }
    line
}

/// Returns the approximate width of a text in terminal columns. Accounts for combining characters
/// and the main ranges of wide characters, without Unicode tables.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Returns the text cut to at most `columns` columns. A cut text ends with `…`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    // The last column is for the `…`.
    let mut used = 1;
    for character in text.chars() {
        used += self::columns(character);
        if used > columns {
            break;
        }
        short.push(character);
    }
    short.push('…');
    short
}

/// Writes text in a terminal style.
pub(crate) fn styled(output: &mut impl Screen, style: Style, text: &str) -> io::Result<()> {
    output.styled(style, text)
}

/// Formats a number of bytes with a unit: `17 B`, `34.2 KiB`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn bytes(count: u64) -> String {
    if count < 1024 {
        return format!("{count} B");
    }
    let mut size = count as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // A size that would be printed as 1024.0 gets the next unit.
        if size < 1023.95 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

/// Returns a bar for a share of `columns` columns, rounded to eighths of a column. A share above 0
/// has at least one eighth.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the share is clamped to 0 to 1"
)]
fn bar(share: f64, columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let part = match eighths % 8 {
        0 => "",
        1 => "▏",
        2 => "▎",
        3 => "▍",
        4 => "▌",
        5 => "▋",
        6 => "▊",
        _ => "▉",
    };
    format!("{}{part}", "█".repeat(eighths / 8))
}

/// Writes a bar for a share between 0 and 1. Pads the bar with spaces to `columns` columns.
pub(crate) fn bar_of(output: &mut impl Screen, share: f64, columns: usize) -> io::Result<()> {
    let bar = bar(share, columns);
    styled(output, VALUE, &bar)?;
    write!(output, "{}", spaces(width(&bar), columns))
}

/// Returns the spaces that pad a text of `used` columns to `columns` columns.
pub(crate) fn spaces(used: usize, columns: usize) -> String {
    std::iter::repeat_n(' ', columns).skip(used).collect()
}

/// Writes an empty line, then the heading of a part of the output.
pub(crate) fn heading(output: &mut impl Screen, text: &str) -> io::Result<()> {
    writeln!(output)?;
    styled(output, DATASET, text)?;
    writeln!(output)
}

/// Formats a count with its noun: `1 member`, `2 members`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let shown: Vec<String> = [0, 1023, 1024, 1536, 1024 * 1024 - 1, u64::MAX].map(bytes).into();
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "16.0 EiB"]);
        assert_eq!([count(1, "chunk"), count(0, "chunk")], ["1 chunk", "0 chunks"]);
    }

    #[test]
    fn bars() {
        let shown: Vec<String> = [0.0, 1e-9, 0.5, 0.53, 1.0, 7.0].map(|share| bar(share, 4)).into();
        assert_eq!(shown, ["", "▏", "██", "██▏", "████", "████"]);
    }

    #[test]
    fn widths_and_cuts() {
        assert_eq!(width("数a"), 3);
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("数数数数", 6), "数数…");
    }
}
