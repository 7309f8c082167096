//! SciPy's npz files: zip archives of npy files, one for each array of a sparse matrix.

mod archive;
mod array;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use read::open;
pub(crate) use write::Writer;
