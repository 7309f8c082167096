//! npz files: zip archives of npy files, one for each array of NumPy's `savez`, or for each array
//! of a sparse matrix of SciPy.

mod archive;
mod array;
mod arrays;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use arrays::{Arrays, is_matrix};
pub(crate) use read::open;
pub(crate) use write::Writer;
