//! The raw data path: reads and writes the elements of datasets.
//!
//! Each layout has a module with its reading and writing. [`chunk_index`] maps the coordinates of
//! chunks to addresses, and [`transfer`] holds the code that all layouts share. The modules use
//! each other in one direction only; `cargo xtask tidy` checks that direction.

pub mod chunk_index;
pub mod chunked;
pub mod linear;
pub mod structured;
pub mod transfer;
pub mod variable;
pub mod virtual_;
