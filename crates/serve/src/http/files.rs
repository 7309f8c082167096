//! `/files`: the bytes of HDF5 files, with ranges, so that other programs read them from afar.

use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::time::SystemTime;

use axum::http::HeaderMap;
use axum::http::header::{self, HeaderValue};

use super::reply::Reply;
use crate::Disk;
use crate::grove::{Answer, Body, Failure};

const CONTENT_TYPE: &str = "application/x-hdf5";

/// The size of a piece of a body in bytes.
const PIECE_BYTES: u64 = 1 << 20;

/// Returns the reply with the bytes of a file that the request's headers ask for.
pub(super) fn reply(disk: &Disk, name: &str, headers: &HeaderMap) -> Reply {
    read(disk, name, headers).unwrap_or_else(|failure| Answer::from(failure).into())
}

fn read(disk: &Disk, name: &str, headers: &HeaderMap) -> Result<Reply, Failure> {
    let file = disk.open_bytes(name)?;
    let metadata = file.metadata().map_err(|error| Failure::internal(error.to_string()))?;
    let tag = tag(&metadata);
    let mut own = vec![(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))];
    own.extend(HeaderValue::from_str(&tag).map(|tag| (header::ETAG, tag)));
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let reply = |status: u16, length: Option<u64>, body, headers| Reply {
        headers,
        ..Reply::from(Answer { status, content_type: CONTENT_TYPE, disposition: None, length, body })
    };
    let empty = || Body::Bytes(Vec::new());
    if text(header::IF_MATCH).is_some_and(|wanted| !matches(wanted, &tag)) {
        return Ok(reply(412, Some(0), empty(), own));
    }
    if text(header::IF_NONE_MATCH).is_some_and(|known| matches(known, &tag)) {
        return Ok(reply(304, None, empty(), own));
    }
    let length = metadata.len();
    // A range of another version is none of this one.
    let wanted = text(header::RANGE).filter(|_| text(header::IF_RANGE).is_none_or(|known| known == tag));
    let range = match wanted.map(|wanted| parse(wanted, length)) {
        None | Some(Wanted::Whole) => return Ok(reply(200, Some(length), pieces(file, 0..length), own)),
        Some(Wanted::Nothing) => {
            own.extend(content_range(&format!("bytes */{length}")));
            return Ok(reply(416, Some(0), empty(), own));
        }
        Some(Wanted::Part(range)) => range,
    };
    own.extend(content_range(&format!("bytes {}-{}/{length}", range.start, range.end - 1)));
    Ok(reply(206, Some(range.end - range.start), pieces(file, range), own))
}

fn content_range(text: &str) -> Option<(header::HeaderName, HeaderValue)> {
    HeaderValue::from_str(text).ok().map(|value| (header::CONTENT_RANGE, value))
}

/// Returns the tag of the present version of a file.
fn tag(metadata: &Metadata) -> String {
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let modified = metadata.modified().ok().and_then(since).map_or(0, |time| time.as_nanos());
    format!("\"{:x}-{modified:x}-{:x}\"", metadata.len(), node(metadata))
}

#[cfg(unix)]
fn node(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> u64 {
    0
}

/// Returns true if a list of tags has this tag, or the star.
fn matches(list: &str, tag: &str) -> bool {
    list.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

/// The bytes that a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Whole,
    Part(Range<u64>),
    /// A range after the end.
    Nothing,
}

/// Parses a header `Range`. Several ranges, other units and wrong texts mean the whole file.
fn parse(text: &str, length: u64) -> Wanted {
    let range = text.trim().strip_prefix("bytes=").and_then(|range| range.trim().split_once('-'));
    let Some((first, last)) = range else { return Wanted::Whole };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten()
    };
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() {
        return match number(last) {
            None => Wanted::Whole,
            Some(0) => Wanted::Nothing,
            Some(_) if length == 0 => Wanted::Nothing,
            // A longer suffix is the whole file.
            Some(suffix) => Wanted::Part(length - suffix.min(length)..length),
        };
    }
    let Some(start) = number(first) else { return Wanted::Whole };
    let end = if last.is_empty() { Some(length) } else { number(last).and_then(|last| last.checked_add(1)) };
    match end {
        None => Wanted::Whole,
        Some(end) if end <= start && !last.is_empty() => Wanted::Whole,
        Some(_) if start >= length => Wanted::Nothing,
        Some(end) => Wanted::Part(start..end.min(length)),
    }
}

/// Returns the body with a range of a file.
fn pieces(mut file: File, range: Range<u64>) -> Body {
    let mut at = range.start;
    let mut failed = false;
    Body::Pieces(Box::new(std::iter::from_fn(move || {
        if at >= range.end || failed {
            return None;
        }
        let size = PIECE_BYTES.min(range.end - at);
        let piece = read_piece(&mut file, at, size);
        failed = piece.is_err();
        at += size;
        Some(piece)
    })))
}

fn read_piece(file: &mut File, at: u64, size: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| Failure::internal(format!("the file cannot be read: {error}"));
    let mut bytes = vec![0; hyperslab_exact::to_usize(size).map_err(hyperslab::Error::from)?];
    file.seek(SeekFrom::Start(at)).map_err(failed)?;
    file.read_exact(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed() {
        assert_eq!(parse("bytes=0-9", 100), Wanted::Part(0..10));
        assert_eq!(parse("bytes=90-", 100), Wanted::Part(90..100));
        assert_eq!(parse("bytes=-10", 100), Wanted::Part(90..100));
        assert_eq!(parse("bytes=-1000", 100), Wanted::Part(0..100));
        assert_eq!(parse("bytes=50-1000", 100), Wanted::Part(50..100));
        for nothing in ["bytes=100-", "bytes=100-200", "bytes=-0"] {
            assert_eq!(parse(nothing, 100), Wanted::Nothing, "{nothing}");
        }
        for whole in [
            "bytes=0-1,5-6",
            "lines=0-1",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=9-1",
            "bytes=+1-2",
            "bytes=0-99999999999999999999",
        ] {
            assert_eq!(parse(whole, 100), Wanted::Whole, "{whole}");
        }
        assert_eq!(parse("bytes=0-", 0), Wanted::Nothing);
        assert_eq!(parse("bytes=-5", 0), Wanted::Nothing);
        assert_eq!(parse("bytes=0-18446744073709551615", 100), Wanted::Whole);
    }

    #[test]
    fn tags_match_as_in_lists() {
        assert!(matches("\"a\", \"b\"", "\"b\"") && matches("*", "\"b\"") && matches("W/\"b\"", "\"b\""));
        assert!(!matches("\"a\"", "\"b\""));
    }
}
