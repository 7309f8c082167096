//! Requests of the benchmark `peers`, and the loop that answers them with a library. The programs
//! of all Rust libraries share this file.

use std::io::{BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::clock::{Clock, Cost};
use crate::sum;

/// The number of rows and columns of the array, and of a box.
pub(crate) const SIDE: u64 = 4096;
pub(crate) const BOX_SIDE: u64 = 256;

/// The number of boxes in a request.
pub(crate) const BOXES: usize = 100;

/// The work of a library.
pub(crate) trait Library {
    /// Writes the array to a new file or folder.
    fn write(&mut self, request: &Request, values: &[f32]) -> Result<()>;

    /// Reads the whole array into new memory.
    fn read(&mut self, request: &Request) -> Result<Vec<f32>>;

    /// Opens the array once, and reads one box after another into new memory.
    fn boxes(&mut self, request: &Request, starts: &[[u64; 2]]) -> Result<Vec<Vec<f32>>>;
}

/// The compression of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    None,
    /// A shuffle of bytes, and gzip 4.
    Gzip,
    /// Zstandard 3.
    Zstd,
    /// Blosc with LZ4, level 5, and a shuffle of bytes.
    Blosc,
}

impl Codec {
    /// All codecs, with their words in requests.
    pub(crate) const ALL: [(Self, &str); 4] =
        [(Self::None, "none"), (Self::Gzip, "gzip"), (Self::Zstd, "zstd"), (Self::Blosc, "blosc")];

    fn parse(word: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(_, name)| *name == word);
        Ok(found.with_context(|| format!("unknown codec `{word}`"))?.0)
    }
}

/// A request without its operation: a file or folder, the codec, and the side of its square chunks.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: PathBuf,
    pub(crate) codec: Codec,
    pub(crate) chunk: u64,
}

impl Request {
    fn parse(words: &[&str]) -> Result<Self> {
        let [path, codec, chunk] = words else { bail!("expected a path, a codec and the side of a chunk") };
        Ok(Self { path: PathBuf::from(path), codec: Codec::parse(codec)?, chunk: chunk.parse()? })
    }
}

/// Answers the requests on standard input: seconds, processor seconds, and the sum over the values
/// that were read or the bytes that were written; or `unsupported` and the reason.
pub(crate) fn serve(library: &mut dyn Library, values: &Path) -> Result<()> {
    let values = load(values)?;
    // A panic becomes an answer, so its message is suppressed.
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = match catch_unwind(AssertUnwindSafe(|| answer(library, &line, &values))) {
            Ok(Ok((took, sum))) => format!("{:.9} {:.9} {sum}", took.wall, took.cpu),
            Ok(Err(error)) => format!("unsupported {}", format!("{error:#}").replace('\n', " ")),
            Err(_) => "unsupported the library panics".to_owned(),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(library: &mut dyn Library, line: &str, values: &[f32]) -> Result<(Cost, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (operation, rest) = words.split_first().context("no operation")?;
    let request = Request::parse(rest)?;
    match *operation {
        "write" => {
            remove(&request.path)?;
            let start = Clock::start();
            library.write(&request, values)?;
            Ok((start.took(), stored(&request.path)?))
        }
        "read" => {
            let start = Clock::start();
            let values = library.read(&request)?;
            Ok((start.took(), sum_of(&[values])?))
        }
        "boxes" => {
            let starts = starts();
            let start = Clock::start();
            let boxes = library.boxes(&request, &starts)?;
            Ok((start.took(), sum_of(&boxes)?))
        }
        other => bail!("unknown operation `{other}`"),
    }
}

/// Returns the first elements of the boxes.
fn starts() -> Vec<[u64; 2]> {
    let mut state = 6_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % (SIDE - BOX_SIDE)
    };
    (0..BOXES).map(|_| [next(), next()]).collect()
}

/// Returns the sum over the values of several arrays, one after another.
fn sum_of(arrays: &[Vec<f32>]) -> Result<u64> {
    let count: usize = arrays.iter().map(Vec::len).sum();
    let expected = if arrays.len() == 1 { SIDE * SIDE } else { BOXES as u64 * BOX_SIDE * BOX_SIDE };
    ensure!(count as u64 == expected, "{count} values instead of {expected}");
    Ok(arrays.iter().fold(count as u64, |sum, values| {
        sum::over(sum, values, |values, words| words.extend(values.iter().map(|value| value.to_bits())))
    }))
}

/// Reads the values of the array from a file of little-endian numbers.
fn load(path: &Path) -> Result<Vec<f32>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// Removes a file or a folder, if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        std::fs::remove_dir_all(path)?;
    } else if path.exists() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Returns the bytes of a file, or of all files in a folder.
fn stored(path: &Path) -> Result<u64> {
    if !path.is_dir() {
        return Ok(std::fs::metadata(path)?.len());
    }
    std::fs::read_dir(path)?.map(|entry| stored(&entry?.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_inside_of_the_array() {
        let starts = starts();
        assert_eq!(starts.len(), BOXES);
        assert!(starts.iter().flatten().all(|start| start + BOX_SIDE <= SIDE));
        assert!(starts.windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn requests_are_parsed() -> Result<()> {
        let request = Request::parse(&["a/b", "zstd", "256"])?;
        assert_eq!((request.path, request.codec, request.chunk), (PathBuf::from("a/b"), Codec::Zstd, 256));
        assert!(Request::parse(&["a/b", "lz4", "256"]).is_err());
        assert!(Request::parse(&["a/b", "zstd"]).is_err());
        Ok(())
    }

    #[test]
    fn a_sum_needs_all_values() {
        assert!(sum_of(&[vec![1.0; 3]]).is_err());
        let boxes = |value: f32| vec![vec![value; 65_536]; BOXES];
        assert_ne!(sum_of(&boxes(1.0)).ok(), sum_of(&boxes(2.0)).ok());
        assert!(sum_of(&boxes(1.0)).is_ok());
    }
}
