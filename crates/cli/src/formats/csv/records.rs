//! The reader of the records of a CSV file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use csv::{ByteRecord, Reader, ReaderBuilder};

/// The largest size of a CSV record, in bytes.
const MAX_RECORD_BYTES: usize = 64 << 20;

/// The number of CSV records that are inspected to detect the delimiter.
const DETECT_RECORDS: usize = 50;

/// The characters that may be detected as the delimiter of a CSV file, the most frequent one first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The byte order mark in UTF-8, with which some programs begin a file.
const BYTE_ORDER_MARK: [u8; 3] = *b"\xef\xbb\xbf";

/// A reader of the records of a CSV file.
pub(super) struct Records {
    reader: Reader<Limited>,
    record: ByteRecord,
    /// The number of bytes that the record may still have.
    left: Rc<Cell<usize>>,
    delimiter: u8,
    /// The number of bytes before the first record.
    skipped: u64,
    /// The start of the last record. At the end of the file, `record` is empty.
    last: Option<csv::Position>,
}

/// A file reader with a limit on the number of bytes between the starts of two CSV records.
struct Limited {
    file: File,
    left: Rc<Cell<usize>>,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        let Some(left) = self.left.get().checked_sub(count) else {
            return Err(io::Error::other(format!("a record has more than {MAX_RECORD_BYTES} bytes")));
        };
        self.left.set(left);
        Ok(count)
    }
}

impl Records {
    pub(super) fn open(path: &Path, delimiter: u8) -> Result<Self> {
        if matches!(delimiter, b'"' | b'\n' | b'\r') {
            bail!("the character `{}` cannot separate the fields of a CSV file", delimiter.escape_ascii());
        }
        let left = Rc::new(Cell::new(MAX_RECORD_BYTES));
        let mut file = File::open(path)?;
        let skipped = skip_byte_order_mark(&mut file)?;
        let limited = Limited { file, left: Rc::clone(&left) };
        let reader =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(limited);
        Ok(Self { reader, record: ByteRecord::new(), left, delimiter, skipped, last: None })
    }

    /// Returns the line number at which the last CSV record begins.
    pub(super) fn start(&self) -> u64 {
        self.last.as_ref().map_or(1, csv::Position::line)
    }

    /// Reads the fields of the next CSV record. Returns false at the end of the file. Skips empty
    /// lines.
    pub(super) fn next(&mut self, fields: &mut Vec<String>) -> Result<bool> {
        fields.clear();
        self.left.set(MAX_RECORD_BYTES);
        let more = self.reader.read_byte_record(&mut self.record);
        if !more.with_context(|| format!("line {}", self.reader.position().line()))? {
            return Ok(false);
        }
        self.last = self.record.position().cloned();
        let start = self.start();
        for field in &self.record {
            let text = std::str::from_utf8(field).with_context(|| format!("line {start}"))?;
            fields.push(text.to_owned());
        }
        Ok(true)
    }

    /// Checks that the last record of the CSV file at `path` has a closing quotation mark for each
    /// quoted field. The record reader does not check this.
    pub(super) fn check_end(&self, path: &Path) -> Result<()> {
        let Some(position) = &self.last else { return Ok(()) };
        let start = position
            .byte()
            .checked_add(self.skipped)
            .context("the offset of a CSV record does not fit in 64 bits")?;
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(MAX_RECORD_BYTES as u64).read_to_end(&mut bytes)?;
        if ends_in_quotes(&bytes, self.delimiter) {
            bail!("line {}: a quoted field has no closing quotation mark", self.start());
        }
        Ok(())
    }
}

/// Skips the byte order mark of a file. Returns the number of bytes of the mark.
fn skip_byte_order_mark(file: &mut File) -> Result<u64> {
    let mut head = Vec::new();
    file.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head)?;
    let skipped = if head == BYTE_ORDER_MARK { BYTE_ORDER_MARK.len() as u64 } else { 0 };
    file.seek(SeekFrom::Start(skipped))?;
    Ok(skipped)
}

/// Returns true if the CSV records end inside a quoted field. Quotation marks inside other fields
/// are text.
fn ends_in_quotes(records: &[u8], delimiter: u8) -> bool {
    let (mut quoted, mut begins) = (false, true);
    let mut bytes = records.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if quoted && bytes.next_if_eq(&b'"').is_some() => {}
            b'"' if quoted => quoted = false,
            b'"' if begins => quoted = true,
            _ => {}
        }
        begins = !quoted && (byte == delimiter || byte == b'\n' || byte == b'\r');
    }
    quoted
}

/// Returns the delimiter of a CSV file: a character that divides each of the first records into the
/// same number of fields, at least two. Returns a comma if there is no such character.
pub(super) fn detect(path: &Path) -> Result<u8> {
    let mut best = (1, b',');
    for delimiter in DELIMITERS {
        let mut records = Records::open(path, delimiter)?;
        let (mut fields, mut width) = (Vec::new(), None);
        let mut same = true;
        for _ in 0..DETECT_RECORDS {
            if !records.next(&mut fields)? {
                break;
            }
            same &= *width.get_or_insert(fields.len()) == fields.len();
        }
        if let Some(width) = width.filter(|width| same && *width > best.0) {
            best = (width, delimiter);
        }
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::TempPath {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file.into_temp_path()
    }

    fn records(text: &str) -> Result<Vec<Vec<String>>> {
        let mut records = Records::open(&file(text), b',')?;
        let (mut all, mut fields) = (Vec::new(), Vec::new());
        while records.next(&mut fields)? {
            all.push(fields.clone());
        }
        Ok(all)
    }

    #[test]
    fn records_and_fields() {
        let read = records("a,b\r\n\n\"x, \"\"y\"\"\",\"two\nlines\"\n,\n").unwrap();
        assert_eq!(read, [["a", "b"], ["x, \"y\"", "two\nlines"], ["", ""]]);
        assert_eq!(records("\u{feff}a").unwrap(), [["a"]]);
        assert_eq!(records("\u{feff}\"a,\"\"x\",b").unwrap(), [["a,\"x", "b"]]);
    }

    #[test]
    fn a_quoted_field_without_an_end_is_found() {
        for (text, is_wrong) in [
            ("1,\"x\n2,y\n", true),
            ("a,b\n\u{e9},\"", true),
            ("1,\"x\"\"", true),
            ("1,\"x\"\n", false),
            ("5\" pipe,1\n", false),
            ("\u{feff}\"a\nb\",\"\"\n", false),
            ("", false),
        ] {
            let path = file(text);
            let mut records = Records::open(&path, b',').unwrap();
            let mut fields = Vec::new();
            while records.next(&mut fields).unwrap() {}
            assert_eq!(records.check_end(&path).is_err(), is_wrong, "{text:?}");
        }
    }

    #[test]
    fn the_delimiter_is_detected() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("a\n1\n", b','),
            ("\"x;y\",b\n1,2\n", b','),
        ] {
            assert_eq!(detect(&file(text)).unwrap(), expected, "{text}");
        }
    }
}
