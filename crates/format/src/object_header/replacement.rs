//! Replacement of a message body in an object header by another body of the same length.

use crate::codec::{CHECKSUM_SIZE, Reader, Result, Writer};

const NAME: &str = "object header";

/// Returns a copy of a block of an object header with other contents. `body` replaces the bytes
/// after the first `skip` bytes. If the block is `sealed` (version 2, with signature and checksum),
/// updates the checksum.
///
/// # Errors
/// Returns [`FormatError::Corrupt`](crate::codec::FormatError::Corrupt) if the chunk is too short.
pub fn replace_body(chunk: &[u8], sealed: bool, skip: u64, body: &[u8]) -> Result<Vec<u8>> {
    let mut r = Reader::new(NAME, chunk);
    let mut w = Writer::new(NAME);
    w.bytes(r.take_u64(skip, "messages before")?);
    r.skip(body.len(), "message data")?;
    w.bytes(body);
    let seal = if sealed { CHECKSUM_SIZE } else { 0 };
    let Some(after) = r.remaining().checked_sub(seal) else {
        return Err(r.corrupt("checksum", format!("{seal} bytes"), r.remaining()));
    };
    w.bytes(r.take(after, "messages after")?);
    r.skip(seal, "checksum")?;
    if sealed {
        w.checksum();
    }
    w.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object_header::ContinuationBlock;

    #[test]
    fn the_seal_is_made_anew() {
        let block = ContinuationBlock::encode(&[1, 2, 3, 4, 5]).unwrap();
        let changed = replace_body(&block, true, 5, &[7, 8, 9]).unwrap();
        assert_eq!(ContinuationBlock::messages(&changed).unwrap(), [1, 7, 8, 9, 5]);
        let changed = replace_body(&block, true, 6, &[7, 8, 9]).unwrap();
        assert_eq!(ContinuationBlock::messages(&changed).unwrap(), [1, 2, 7, 8, 9]);
        assert!(replace_body(&block, true, 7, &[7, 8, 9]).is_err());
    }

    #[test]
    fn what_has_no_seal_gets_none() {
        assert_eq!(replace_body(&[1, 2, 3, 4], false, 1, &[8, 9]).unwrap(), [1, 8, 9, 4]);
        assert_eq!(replace_body(&[1, 2, 3, 4], false, 2, &[8, 9]).unwrap(), [1, 2, 8, 9]);
        assert!(replace_body(&[1, 2, 3, 4], false, 3, &[8, 9]).is_err());
    }
}
