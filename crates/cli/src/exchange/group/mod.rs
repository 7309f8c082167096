//! Compressed rows and columns in groups of HDF5 files, in the formats of AnnData, h5sparse and
//! 10x.

mod read;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use read::{is_matrix, open};
pub(crate) use write::{Stored, Writer};
