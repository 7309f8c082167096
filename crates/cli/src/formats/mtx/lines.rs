//! The lines of a Matrix Market file with their numbers, without comments and blank lines.

use std::io::{BufRead, Read as _};

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::to_u64;

/// The largest size of a line in a Matrix Market file, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// A reader of the lines of a Matrix Market file.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// The number of the current line, counted from 1.
    pub(super) number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// Reads the next line of a Matrix Market file, even if the line is blank or a comment.
    pub(super) fn any(&mut self) -> Result<Option<&str>> {
        if !self.read()? {
            return Ok(None);
        }
        self.text().map(Some)
    }

    /// Reads the next line of a Matrix Market file that is neither blank nor a comment.
    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        loop {
            if !self.read()? {
                return Ok(None);
            }
            let first = self.line.iter().find(|byte| !byte.is_ascii_whitespace());
            if first.is_some_and(|byte| *byte != b'%') {
                return self.text().map(Some);
            }
        }
    }

    fn read(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.input).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line)?;
        if to_u64(read) == MAX_LINE_BYTES && self.line.last() != Some(&b'\n') {
            bail!("the line is longer than {MAX_LINE_BYTES} bytes");
        }
        Ok(read > 0)
    }

    fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.line).context("the line is not text")
    }
}
