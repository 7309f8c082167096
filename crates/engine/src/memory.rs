//! Allocation of memory whose size depends on a file. A failed allocation is an error and does not
//! abort the program.

use hyperslab_exact::to_u64;

use crate::error::{Error, Result};

/// Lengthens a byte vector to at least `length` bytes. The values of the new bytes are not defined.
pub(crate) fn lengthen(buffer: &mut Vec<u8>, length: usize, subject: &'static str) -> Result<()> {
    let Some(more) = length.checked_sub(buffer.len()) else { return Ok(()) };
    buffer.try_reserve_exact(more).map_err(|_| exhausted::<u8>(length, subject))?;
    buffer.resize(length, 0);
    Ok(())
}

/// Returns a vector of `length` zero bytes. Returns an error if the memory cannot be allocated.
pub(crate) fn zeros(length: usize, subject: &'static str) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    lengthen(&mut buffer, length, subject)?;
    Ok(buffer)
}

/// Returns an empty vector with capacity for `count` values. Returns an error if the memory cannot
/// be allocated.
///
/// # Errors
/// Returns [`Error::Memory`] if the allocation fails.
pub fn reserve<T>(count: usize, subject: &'static str) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| exhausted::<T>(count, subject))?;
    Ok(values)
}

fn exhausted<T>(count: usize, subject: &'static str) -> Error {
    // Saturates: the true number may exceed 64 bits, and the number only appears in the message.
    Error::Memory { subject, bytes: to_u64(count).saturating_mul(to_u64(size_of::<T>())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn too_much_is_an_error() {
        let error = zeros(usize::MAX / 2, "chunk").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().starts_with("chunk: not enough memory for "), "{error}");
        assert!(reserve::<String>(usize::MAX / 64, "texts").is_err());
        let mut buffer = vec![1, 2];
        lengthen(&mut buffer, 1, "chunk").unwrap();
        assert_eq!(buffer, [1, 2]);
        lengthen(&mut buffer, 3, "chunk").unwrap();
        assert_eq!(buffer, [1, 2, 0]);
    }
}
