//! Parquet columns compressed by Zstandard. The crate `parquet` decodes them only with a C library,
//! so this module rewrites such a table to a temporary file without compression.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::{to_u64, to_usize};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use zstd_rs::Decompressor;

use super::thrift::PageHeader;

/// Returns a Parquet file with the same table without Zstandard compression, and the metadata of
/// this file. Returns `None` if no column has this compression.
pub(super) fn without_zstd(
    file: &mut File,
    metadata: &ParquetMetaData,
) -> Result<Option<(File, Arc<ParquetMetaData>)>> {
    let all = || metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    if !all().any(is_zstd) {
        return Ok(None);
    }
    let mut copy = tempfile::tempfile()?;
    let mut at = 0_u64;
    let mut groups = Vec::new();
    for group in metadata.row_groups() {
        let mut columns = Vec::new();
        for column in group.columns() {
            let path = column.column_path().string();
            let (bytes, column) = rewritten(file, column, at).with_context(|| format!("column `{path}`"))?;
            copy.write_all(&bytes)?;
            at += to_u64(bytes.len());
            columns.push(column);
        }
        groups.push(group.clone().into_builder().set_column_metadata(columns).build()?);
    }
    let metadata = metadata.clone().into_builder().set_row_groups(groups);
    let metadata = metadata.set_page_index(None).build();
    Ok(Some((copy, Arc::new(metadata))))
}

fn is_zstd(column: &ColumnChunkMetaData) -> bool {
    matches!(column.compression(), Compression::ZSTD(_))
}

/// Returns a Parquet column chunk without Zstandard compression. Returns its bytes, and its
/// metadata for a column chunk at the offset `at`.
fn rewritten(
    file: &mut File,
    column: &ColumnChunkMetaData,
    at: u64,
) -> Result<(Vec<u8>, ColumnChunkMetaData)> {
    let (start, length) = column.byte_range();
    let mut stored = vec![0; to_usize(length.min(file.metadata()?.len()))?];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut stored)?;
    let offset = i64::try_from(at)?;
    let mut pages = (None, None);
    let builder = column.clone().into_builder();
    let bytes = if is_zstd(column) {
        decompressed(&stored, at, &mut pages)?
    } else {
        // The distances between the pages stay the same.
        let first = i64::try_from(start)?;
        let moved = |page: i64| {
            let distance = page.checked_sub(first).and_then(|distance| distance.checked_add(offset));
            distance.context("the offset of a page is too large")
        };
        pages = (
            column.dictionary_page_offset().map(moved).transpose()?,
            Some(moved(column.data_page_offset())?),
        );
        stored
    };
    let mut builder = builder
        .set_dictionary_page_offset(pages.0)
        .set_data_page_offset(pages.1.unwrap_or(offset))
        .set_total_compressed_size(i64::try_from(bytes.len())?)
        .set_index_page_offset(None)
        .set_offset_index_offset(None)
        .set_offset_index_length(None)
        .set_column_index_offset(None)
        .set_column_index_length(None)
        .set_bloom_filter_offset(None)
        .set_bloom_filter_length(None);
    if is_zstd(column) {
        builder = builder.set_compression(Compression::UNCOMPRESSED);
    }
    Ok((bytes, builder.build()?))
}

/// The number of the page kind for dictionary pages of Parquet files (in zigzag encoding).
const DICTIONARY_PAGE: u64 = 2 << 1;

/// Returns the pages of a Parquet column chunk without compression. Stores the offsets of the
/// dictionary page and of the first data page in `pages`.
fn decompressed(stored: &[u8], at: u64, pages: &mut (Option<i64>, Option<i64>)) -> Result<Vec<u8>> {
    let mut decoder = Decompressor::default();
    let (mut bytes, mut rest) = (Vec::new(), stored);
    while !rest.is_empty() {
        let (header, after) = PageHeader::decode(rest)?;
        let (payload, next) =
            after.split_at_checked(header.stored_size).context("a Parquet page is incomplete")?;
        rest = next;
        let offset = i64::try_from(at)?.checked_add(i64::try_from(bytes.len())?);
        let offset = offset.context("the table is too large")?;
        let page = if header.kind == DICTIONARY_PAGE { &mut pages.0 } else { &mut pages.1 };
        page.get_or_insert(offset);
        header.encode_plain(&mut bytes);
        let begin = bytes.len();
        let plain = header.levels.unwrap_or(payload.len());
        let (levels, compressed) = payload
            .split_at_checked(plain)
            .context("the definition or repetition levels of a Parquet page are incomplete")?;
        bytes.extend_from_slice(levels);
        if !compressed.is_empty() {
            let mut decoded = Vec::new();
            let limit = header
                .size
                .checked_sub(levels.len())
                .context("the definition and repetition levels are longer than their Parquet page")?;
            let decoding = decoder.decompress_frame(compressed, None, limit, &mut decoded);
            decoding.map_err(|error| anyhow::anyhow!("a Zstandard frame is invalid: {error}"))?;
            bytes.extend_from_slice(&decoded);
        }
        if bytes.len() - begin != header.size {
            bail!("a Parquet page has {} bytes, but its header states {}", bytes.len() - begin, header.size);
        }
    }
    Ok(bytes)
}
