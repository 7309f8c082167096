//! Tools that every structure shares: a bounded reader, a writer, errors and limits.

mod address;
mod checksum;
mod error;
mod limits;
mod params;
mod reader;
mod structure;
mod writer;

pub use address::Address;
pub use checksum::{CHECKSUM_SIZE, checksum, checksum_from};
pub use error::{Corrupt, FormatError, Result};
pub use limits::Limits;
pub use params::FileParams;
pub use reader::Reader;
pub use structure::Structure;
pub use writer::Writer;
