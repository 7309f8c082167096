//! Memory whose size a file decides: asked for so that a refusal is an error, not the end of the program.

use crate::error::{Error, Result};

/// Makes a buffer at least so many bytes long. What the new bytes hold is not defined.
pub(crate) fn lengthen(buffer: &mut Vec<u8>, length: usize, what: &'static str) -> Result<()> {
    let more = length.saturating_sub(buffer.len());
    if more > 0 {
        buffer.try_reserve_exact(more).map_err(|_| full::<u8>(length, what))?;
        buffer.resize(length, 0);
    }
    Ok(())
}

/// Returns so many zero bytes.
pub(crate) fn zeros(length: usize, what: &'static str) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    lengthen(&mut buffer, length, what)?;
    Ok(buffer)
}

/// Returns a vector with room for so many values.
///
/// # Errors
/// [`Error::Memory`] if memory has none.
pub fn room<T>(count: usize, what: &'static str) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| full::<T>(count, what))?;
    Ok(values)
}

fn full<T>(count: usize, what: &'static str) -> Error {
    Error::Memory { what, bytes: count.saturating_mul(size_of::<T>()) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn too_much_is_an_error() {
        let error = zeros(usize::MAX / 2, "chunk").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().starts_with("chunk: memory has no room for "), "{error}");
        assert!(room::<String>(usize::MAX / 64, "texts").is_err());
        let mut buffer = vec![1, 2];
        lengthen(&mut buffer, 1, "chunk").unwrap();
        assert_eq!(buffer, [1, 2]);
        lengthen(&mut buffer, 3, "chunk").unwrap();
        assert_eq!(buffer, [1, 2, 0]);
    }
}
