//! Files (`H5F*`).

use crate::error::Outcome;
use crate::file::SharedFile;

/// Writes and closes a file whose last identifier is gone.
///
/// # Errors
/// Returns the error of writing the file.
pub fn finish(file: &SharedFile) -> Outcome<()> {
    file.file.clone().close()?;
    Ok(())
}
