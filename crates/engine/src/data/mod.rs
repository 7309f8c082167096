//! The raw data path: from a dataset's description and a selection of elements to the elements' bytes.
//!
//! One room for each layout, with its reading and its writing; [`chunk_index`] says where chunks lie, and [`transfer`] has
//! what all layouts share. The rooms use each other in one direction only, which `cargo xtask tidy` checks.

pub mod chunk_index;
pub mod chunked;
pub mod linear;
pub mod structured;
pub mod transfer;
pub mod variable;
pub mod virtual_;
