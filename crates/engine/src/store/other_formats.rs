//! The formats of files that are not HDF5 files, recognized by their first bytes.

/// The signatures of file formats other than HDF5, with the names of the formats. If several
/// entries match, the first entry counts.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"CDF\x01", "a netCDF classic file"),
    (b"CDF\x02", "a netCDF classic file with 64-bit offsets"),
    (b"CDF\x05", "a netCDF classic file with 64-bit data"),
    (b"\x0e\x03\x13\x01", "an HDF4 file"),
    (b"\x93NUMPY", "a NumPy file (npy)"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"%%MatrixMarket", "a Matrix Market file"),
    (b"PK\x03\x04", "a ZIP archive, such as npz, xlsx or zipped zarr"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip file: decompress the file first, for example with gunzip"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file: decompress the file first"),
    (b"BZh", "a bzip2 file: decompress the file first"),
    (b"\xfd7zXZ\0", "an xz file: decompress the file first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"SIMPLE  =", "a FITS file"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file before version 7.3"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"GRIB", "a GRIB file"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"version https://git-lfs", "a Git LFS pointer: fetch the file with `git lfs pull`"),
    (b"<!DOCTYPE html", "an HTML page, perhaps the error page of a download"),
    (b"<html", "an HTML page, perhaps the error page of a download"),
    (b"<?xml", "an XML document"),
];

/// The characters that separate the fields of text tables, with the names of the text table
/// formats.
const SEPARATORS: &[(char, &str)] = &[
    (',', "text with fields between commas (csv)"),
    (';', "text with fields between semicolons (csv)"),
    ('\t', "text with fields between tabs (csv)"),
];

/// Returns the name of the file format that the first bytes of a file suggest, with an article, for
/// example "a PNG image". Returns `None` if the bytes suggest no known format.
pub(super) fn resembles(first_bytes: &[u8]) -> Option<&'static str> {
    if first_bytes.is_empty() {
        return Some("an empty file");
    }
    let named = SIGNATURES.iter().find(|(signature, _)| first_bytes.starts_with(signature));
    if let Some((_, format)) = named {
        return Some(format);
    }
    if first_bytes.iter().all(|byte| *byte == 0) {
        return Some("a file that begins with zeros");
    }
    text(first_bytes)
}

/// Returns the kind of text that the first bytes of a file contain, or `None` if the bytes are not
/// text.
fn text(first_bytes: &[u8]) -> Option<&'static str> {
    // The last character may be incomplete, because only the first bytes are known.
    let valid = first_bytes.utf8_chunks().next()?;
    if valid.invalid().len() + valid.valid().len() < first_bytes.len() {
        return None;
    }
    let text = valid.valid();
    let is_text = |character: char| !character.is_control() || matches!(character, '\n' | '\r' | '\t');
    if text.is_empty() || !text.chars().all(is_text) {
        return None;
    }
    let start = text.trim_start();
    if start.starts_with(['{', '[']) {
        return Some("text that begins like JSON");
    }
    let line = start.lines().next()?;
    let table = SEPARATORS.iter().find(|(separator, _)| line.contains(*separator) && !line.contains(". "));
    Some(table.map_or("text", |(_, name)| *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognized() {
        for (bytes, expected) in [
            (&b""[..], Some("an empty file")),
            (b"CDF\x01\0\0\0\0", Some("a netCDF classic file")),
            (b"\x1f\x8b\x08\0", Some("a gzip file: decompress the file first, for example with gunzip")),
            (b"time,value\n1,2\n", Some(SEPARATORS[0].1)),
            (b"time\tvalue\n1\t2\n", Some(SEPARATORS[2].1)),
            (b"{\"a\": 1}", Some("text that begins like JSON")),
            ("Ein Text über Dateien".as_bytes(), Some("text")),
            (b"First, a sentence. Second", Some("text")),
            (&[0; 96], Some("a file that begins with zeros")),
            (b"\x01\x02\x03\x04", None),
            (b"\xff\xfe\xfd", None),
        ] {
            assert_eq!(resembles(bytes), expected, "{bytes:?}");
        }
        // The first bytes end within a character.
        assert_eq!(resembles(b"caf\xc3"), Some("text"));
    }
}
