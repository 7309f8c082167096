//! The writer of npz files: compressed rows for SciPy's `load_npz`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::to_u64;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::entries::{Batch, Element, RowPointers, Sink, Spool, index_bytes, index_element};
use crate::formats::npy::descr::WrittenDescr;
use crate::formats::npy::header::encode;
use crate::output_target::OutputTarget;

/// The arrays of a matrix in compressed rows. Temporary files contain the arrays until the npz
/// archive is written.
struct Rows {
    shape: [u64; 2],
    element: Element,
    /// The datatype of column indices.
    index: Element,
    pointers: RowPointers,
    indices: Spool,
    values: Spool,
    count: u64,
}

/// A receiver of matrix entries that writes an npz file in compressed rows.
pub(crate) struct Writer<'a> {
    output: OutputTarget,
    level: u32,
    folder: &'a Path,
    rows: Option<Rows>,
}

impl<'a> Writer<'a> {
    /// Creates a writer of an npz matrix to `output` with a compression level. Temporary files go
    /// to `folder`.
    pub(crate) fn new(output: OutputTarget, level: u32, folder: &'a Path) -> Self {
        Self { output, level, folder, rows: None }
    }
}

impl Sink for Writer<'_> {
    fn begin(&mut self, shape: &[u64], element: Element) -> Result<()> {
        let [rows, columns] = *shape else {
            bail!("a matrix in compressed rows must have two dimensions, not {}", shape.len());
        };
        self.rows = Some(Rows {
            shape: [rows, columns],
            element,
            index: index_element(columns),
            pointers: RowPointers::new(rows, self.folder)?,
            indices: Spool::new(self.folder)?,
            values: Spool::new(self.folder)?,
            count: 0,
        });
        Ok(())
    }

    fn put(&mut self, batch: &Batch) -> Result<()> {
        let rows =
            self.rows.as_mut().context("the npz matrix was not begun before its values were written")?;
        let mut columns = Vec::new();
        for (at, _) in batch.entries(2, rows.element.size()) {
            let [row, column] = at else { bail!("an entry of the matrix does not have two coordinates") };
            rows.pointers.add(*row)?;
            columns.push(*column);
        }
        rows.indices.write_all(&index_bytes(&columns, rows.index)?)?;
        rows.values.write_all(&batch.values)?;
        rows.count += to_u64(columns.len());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Self { mut output, level, rows, .. } = *self;
        rows.context("the npz matrix was not begun before its values were written")?
            .write(&mut output, level)?;
        output.finish()
    }
}

impl Rows {
    /// Writes the whole npz archive from the temporary files.
    fn write(mut self, output: &mut OutputTarget, level: u32) -> Result<()> {
        self.pointers.end()?;
        let method = if level == 0 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .compression_level((level > 0).then_some(i64::from(level)))
            .large_file(true);
        let mut members = Members { archive: ZipWriter::new_stream(output), options };
        members.begin("indices", self.index, &[self.count])?;
        io::copy(&mut self.indices.into_reader()?, &mut members.archive)?;
        let pointer = self.pointers.element();
        members.begin("indptr", pointer, &[self.pointers.count()])?;
        self.pointers.for_each(pointer, |bytes| Ok(members.archive.write_all(bytes)?))?;
        members.begin_with("format", "'|S3'", &[])?;
        members.archive.write_all(b"csr")?;
        members.begin("shape", Element::I64, &[2])?;
        members.archive.write_all(&index_bytes(&self.shape, Element::I64)?)?;
        members.begin("data", self.element, &[self.count])?;
        io::copy(&mut self.values.into_reader()?, &mut members.archive)?;
        members.archive.finish()?;
        Ok(())
    }
}

/// A writer of the members of an npz archive.
struct Members<W: Write> {
    archive: ZipWriter<StreamWriter<W>>,
    options: SimpleFileOptions,
}

impl<W: Write> Members<W> {
    fn begin(&mut self, name: &str, element: Element, shape: &[u64]) -> Result<()> {
        self.begin_with(name, &WrittenDescr::of(&element.datatype())?.literal, shape)
    }

    fn begin_with(&mut self, name: &str, descr: &str, shape: &[u64]) -> Result<()> {
        self.archive.start_file(format!("{name}.npy"), self.options)?;
        Ok(self.archive.write_all(&encode(descr, shape.iter().copied())?)?)
    }
}
