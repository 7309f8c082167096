//! Matrix Market files: text with a banner, the size, and an entry in each line.

mod banner;
mod lines;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use read::{Reader, is_matrix_market};
pub(crate) use write::Writer;
