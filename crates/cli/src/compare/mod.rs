//! The comparison of two files: objects by name, types, and elements in blocks of limited size.
//! Receivers (listeners) get the differences: [`crate::diff`] and [`crate::tools::h5diff`] print
//! them.

pub(crate) mod blocks;
pub(crate) mod defined;
pub(crate) mod elements;
mod grid;
pub(crate) mod listing;
mod numbers;
mod plan;
pub(crate) mod rules;
pub(crate) mod step;
