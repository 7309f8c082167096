//! NumPy's npy format, versions 1 to 3.

pub(crate) mod descr;
pub(crate) mod header;
mod literal;
mod read;
mod time;
mod write;

pub(crate) use read::Source;
pub(crate) use time::UNITS;
pub(crate) use write::write;
