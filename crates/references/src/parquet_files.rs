//! References as Parquet files, in kerchunk's form: the metadata in one JSON file, and the chunks
//! of each array in files with a fixed number of rows.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyperslab::{Error, Group, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::json::Quoted;
use crate::json_file::write_error;
use crate::{Array, Chunk, Content, Json, ReferenceOptions, Report, Visitor};

/// The number of chunks of one Parquet file.
const RECORD_SIZE: u64 = 10_000;

/// Readers take bytes that begin with this text for base 64.
const BASE64: &[u8] = b"base64:";

/// Writes the references of a group into a new folder.
pub(crate) fn write(options: ReferenceOptions<'_>, group: &Group, folder: &Path) -> Result<Report> {
    fs::create_dir(folder).map_err(write_error)?;
    let schema = Schema::new(vec![
        Field::new("path", DataType::Utf8, true),
        Field::new("offset", DataType::Int64, false),
        Field::new("size", DataType::Int64, false),
        Field::new("raw", DataType::Binary, true),
    ]);
    let mut writer = Writer { folder: folder.to_owned(), schema: Arc::new(schema), metadata: String::new() };
    let report = options.visit(group, &mut writer)?;
    let text = format!("{{\"metadata\":{{{}\n}},\"record_size\":{RECORD_SIZE}}}\n", writer.metadata);
    fs::write(folder.join(".zmetadata"), text).map_err(write_error)?;
    Ok(report)
}

struct Writer {
    folder: PathBuf,
    schema: Arc<Schema>,
    /// The entries of the metadata, as JSON.
    metadata: String,
}

impl Writer {
    fn entry(&mut self, key: &str, value: &Json) {
        let comma = if self.metadata.is_empty() { "" } else { "," };
        self.metadata.push_str(&format!("{comma}\n{}:{value}", Quoted(key)));
    }

    /// Writes the file of the chunks whose positions begin at `start`.
    fn record(&self, path: &Path, chunks: &[Chunk], start: u64, rows: u64) -> Result<()> {
        let (mut urls, mut raw) = (StringBuilder::new(), BinaryBuilder::new());
        let (mut offsets, mut sizes) = (Int64Builder::new(), Int64Builder::new());
        let mut chunks = chunks.iter().peekable();
        for position in start..start + rows {
            let content = chunks.next_if(|chunk| chunk.position == position).map(|chunk| &chunk.content);
            let (url, offset, length, bytes) = match content {
                Some(Content::Range { url, offset, length }) => (Some(url), *offset, *length, None),
                Some(Content::Inline(bytes)) => (None, 0, 0, Some(bytes)),
                None => (None, 0, 0, None),
            };
            urls.append_option(url);
            offsets.append_value(signed(offset)?);
            sizes.append_value(signed(length)?);
            match bytes {
                Some(bytes) if bytes.starts_with(BASE64) => {
                    raw.append_value([BASE64, STANDARD.encode(bytes).as_bytes()].concat());
                }
                bytes => raw.append_option(bytes),
            }
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(urls.finish()),
            Arc::new(offsets.finish()),
            Arc::new(sizes.finish()),
            Arc::new(raw.finish()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(other)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = File::create_new(path).map_err(write_error)?;
        let mut writer =
            ArrowWriter::try_new(file, Arc::clone(&self.schema), Some(properties)).map_err(other)?;
        writer.write(&batch).map_err(other)?;
        writer.into_inner().map_err(other)?.flush().map_err(write_error)
    }
}

fn signed(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| Error::unsupported("offsets of 2^63 bytes in Parquet references"))
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    write_error(io::Error::other(error))
}

impl Visitor for Writer {
    fn group(&mut self, path: &str, attributes: &Json) -> Result<()> {
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        self.entry(&format!("{folder}.zgroup"), &Json::object([("zarr_format", Json::Integer(2))]));
        self.entry(&format!("{folder}.zattrs"), attributes);
        Ok(())
    }

    fn array(&mut self, array: Array) -> Result<()> {
        self.entry(&format!("{}/.zarray", array.path), &array.metadata());
        self.entry(&format!("{}/.zattrs", array.path), &array.attributes_with_dimensions());
        if array.chunks.is_empty() {
            return Ok(());
        }
        let folder = array.path.split('/').fold(self.folder.clone(), |folder, name| folder.join(name));
        fs::create_dir_all(&folder).map_err(write_error)?;
        let total = array.grid().len().ok_or_else(|| Error::unsupported("arrays of 2^64 chunks"))?;
        let mut rest = array.chunks.as_slice();
        while let Some(first) = rest.first() {
            let record = first.position / RECORD_SIZE;
            let start = record * RECORD_SIZE;
            let end = total.min(start + RECORD_SIZE);
            let here = rest.partition_point(|chunk| chunk.position < end);
            let (chunks, after) = rest.split_at(here.max(1));
            self.record(&folder.join(format!("refs.{record}.parq")), chunks, start, end - start)?;
            rest = after;
        }
        Ok(())
    }
}
