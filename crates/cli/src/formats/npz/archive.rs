//! The members of an npz archive as streams. Several members can be read at the same time.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use hyperslab_exact::to_u64;
use zip::{CompressionMethod, ZipArchive};

/// The largest number of members in an npz archive that can be read.
const MAX_MEMBERS: usize = 1 << 16;

/// An npz archive with its decoded directory.
#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    members: HashMap<String, Member>,
}

/// The directory entry of a member of an npz archive.
#[derive(Debug, Clone, Copy)]
struct Member {
    start: u64,
    stored: u64,
    size: u64,
    deflated: bool,
    checksum: u32,
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = BufReader::new(File::open(path)?);
        let mut archive = ZipArchive::new(file).context("the file is not an npz file")?;
        if archive.len() > MAX_MEMBERS {
            bail!("the npz archive has {} members; at most {MAX_MEMBERS} are allowed", archive.len());
        }
        let mut members = HashMap::new();
        for number in 0..archive.len() {
            let entry = archive.by_index_raw(number)?;
            let name = entry.name()?.into_owned();
            let deflated = match entry.compression() {
                CompressionMethod::Stored => false,
                CompressionMethod::Deflated => true,
                other => bail!("the npz member `{name}` is compressed by {other}; only deflate is supported"),
            };
            if entry.encrypted() {
                bail!("the npz member `{name}` is encrypted");
            }
            let member = Member {
                start: entry.data_start().context("the offset of a member of the npz archive is missing")?,
                stored: entry.compressed_size(),
                size: entry.size(),
                deflated,
                checksum: entry.crc32(),
            };
            if members.insert(name.clone(), member).is_some() {
                bail!("the npz archive has two members `{name}`");
            }
        }
        Ok(Self { path: path.to_owned(), members })
    }

    pub(super) fn has(&self, array: &str) -> bool {
        self.members.contains_key(&format!("{array}.npy"))
    }

    /// Returns the names of the arrays in the archive, in ascending order.
    pub(super) fn arrays(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.members.keys().filter_map(|name| name.strip_suffix(".npy")).map(str::to_owned).collect();
        names.sort();
        names
    }

    /// Opens the archive member of an array. Returns a reader of its bytes, and the number of
    /// bytes.
    pub(super) fn member(&self, array: &str) -> Result<(MemberReader, u64)> {
        let found = self.members.get(&format!("{array}.npy"));
        let member = *found.with_context(|| format!("there is no array `{array}`"))?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(member.start))?;
        let stored = BufReader::with_capacity(1 << 17, file).take(member.stored);
        let bytes = if member.deflated {
            Bytes::Deflated(DeflateDecoder::new(stored))
        } else if member.stored == member.size {
            Bytes::Stored(stored)
        } else {
            bail!(
                "the npz member `{array}` has {} bytes after decompression, but the archive states {}",
                member.stored,
                member.size
            )
        };
        let reader = MemberReader { bytes, left: member.size, found: Crc::new(), expected: member.checksum };
        Ok((reader, member.size))
    }
}

enum Bytes {
    Stored(io::Take<BufReader<File>>),
    Deflated(DeflateDecoder<io::Take<BufReader<File>>>),
}

/// A reader of a decompressed member of an npz archive. It returns as many bytes as the directory
/// states, and verifies their checksum at the last byte.
pub(super) struct MemberReader {
    bytes: Bytes,
    left: u64,
    found: Crc,
    expected: u32,
}

impl Read for MemberReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.left == 0 {
            return Ok(0);
        }
        let count = match &mut self.bytes {
            Bytes::Stored(bytes) => bytes.take(self.left).read(buffer)?,
            Bytes::Deflated(bytes) => bytes.take(self.left).read(buffer)?,
        };
        if count == 0 {
            let message = format!("{} bytes are missing at the end of a member", self.left);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        let read = buffer.get(..count).ok_or_else(|| io::Error::other("a reader returned too many bytes"))?;
        self.found.update(read);
        // `take` has limited the count.
        self.left -= to_u64(count);
        if self.left == 0 && self.found.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of a member is wrong"));
        }
        Ok(count)
    }
}
