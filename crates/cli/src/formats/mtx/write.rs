//! The writer of Matrix Market files: coordinates and values, an entry in each line.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyperslab::H5Type;

use crate::entries::{Batch, Element, Sink, Spool};
use crate::output_target::OutputTarget;

/// A receiver of matrix entries that writes a Matrix Market file. Entries go to a temporary file
/// first, because the file states their number before the entries.
pub(crate) struct Writer {
    output: OutputTarget,
    level: Option<u32>,
    entries: Entries,
    shape: Vec<u64>,
    element: Element,
    count: u64,
    text: Vec<u8>,
}

/// The temporary file with the entry lines of a Matrix Market file, plain or compressed.
enum Entries {
    Plain(Spool),
    Compressed(Box<GzEncoder<Spool>>),
}

impl Writer {
    /// Creates a writer of a Matrix Market file to `output`, compressed by gzip if a level is
    /// given. Temporary files go to `folder`.
    pub(crate) fn new(output: OutputTarget, level: Option<u32>, folder: &Path) -> Result<Self> {
        let spool = Spool::new(folder)?;
        let entries = match level {
            None => Entries::Plain(spool),
            Some(level) => Entries::Compressed(Box::new(GzEncoder::new(spool, Compression::new(level)))),
        };
        Ok(Self {
            output,
            level,
            entries,
            shape: Vec::new(),
            element: Element::F64,
            count: 0,
            text: Vec::new(),
        })
    }

    fn header(&self) -> String {
        let field = match self.element {
            Element::F32 | Element::F64 => "real",
            Element::C64 | Element::C128 => "complex",
            _ => "integer",
        };
        let shape: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        format!(
            "%%MatrixMarket matrix coordinate {field} general\n% Written by hyperslab {}\n{} {}\n",
            env!("CARGO_PKG_VERSION"),
            shape.join(" "),
            self.count
        )
    }
}

impl Sink for Writer {
    fn begin(&mut self, shape: &[u64], element: Element) -> Result<()> {
        if shape.len() != 2 {
            bail!("the matrix in a Matrix Market file must have two dimensions, not {}", shape.len());
        }
        (self.shape, self.element) = (shape.to_vec(), element);
        Ok(())
    }

    fn put(&mut self, batch: &Batch) -> Result<()> {
        self.text.clear();
        for (at, value) in batch.entries(2, self.element.size()) {
            for index in at {
                // Indices are less than the shape.
                write!(self.text, "{} ", index + 1)?;
            }
            let start = self.text.len();
            self.element.print(value, &mut self.text);
            // Values of the field `integer` are signed integers of 64 bits.
            if self.element == Element::U64
                && u64::decode(value).is_some_and(|value| i64::try_from(value).is_err())
            {
                let shown = String::from_utf8_lossy(self.text.get(start..).unwrap_or(&[]));
                bail!(
                    "the value {shown} at {at:?} is too large for a Matrix Market file; export to npz instead"
                );
            }
            self.text.push(b'\n');
            self.count += 1;
        }
        match &mut self.entries {
            Entries::Plain(spool) => spool.write_all(&self.text)?,
            Entries::Compressed(encoder) => encoder.write_all(&self.text)?,
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let header = self.header();
        let Self { mut output, level, entries, .. } = *self;
        // A gzip file may have several members.
        match level {
            None => output.write_all(header.as_bytes())?,
            Some(level) => {
                let mut encoder = GzEncoder::new(&mut output, Compression::new(level));
                encoder.write_all(header.as_bytes())?;
                encoder.finish()?;
            }
        }
        let spool = match entries {
            Entries::Plain(spool) => spool,
            Entries::Compressed(encoder) => encoder.finish()?,
        };
        io::copy(&mut spool.into_reader()?, &mut output)?;
        output.finish()
    }
}
