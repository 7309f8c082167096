//! A decoder of zlib streams that uses zlib-rs.

use zlib_rs::{Inflate, InflateFlush, Status};

/// The largest window of a zlib stream, as a power of 2.
const WINDOW_BITS: u8 = 15;

/// Decodes the zlib stream `input` into `output` and returns the number of decoded bytes. Returns
/// [`None`] if `output` is too short. Bytes after the end of the stream are ignored.
pub(super) fn inflate(input: &[u8], output: &mut [u8]) -> Result<Option<usize>, String> {
    let mut stream = Inflate::new(true, WINDOW_BITS);
    let (mut rest, mut free) = (input, output);
    loop {
        let before = (stream.total_in(), stream.total_out());
        let status = stream.decompress(rest, free, InflateFlush::Finish);
        let status = status.map_err(|error| format!("the zlib stream is invalid: {}", error.as_str()))?;
        if status == Status::StreamEnd {
            return length(stream.total_out()).map(Some);
        }
        let taken = length(stream.total_in() - before.0)?;
        let given = length(stream.total_out() - before.1)?;
        let parts = rest.split_at_checked(taken).zip(free.split_at_mut_checked(given));
        let ((_, after), (_, unused)) = parts.ok_or_else(inconsistent)?;
        (rest, free) = (after, unused);
        if free.is_empty() {
            return Ok(None);
        }
        // One call decodes at most 4 GiB of the stream.
        if taken == 0 && given == 0 {
            return Err("the zlib stream is truncated".to_owned());
        }
    }
}

fn length(bytes: u64) -> Result<usize, String> {
    usize::try_from(bytes).map_err(|_| inconsistent())
}

fn inconsistent() -> String {
    "the decoder reports more bytes than its buffers have".to_owned()
}
