//! Comparing two files: their objects by name, their types, and their elements in blocks of bounded size. What is found
//! goes to whoever listens; [`crate::diff`] and [`crate::tools::h5diff`] say it in their own words.

pub(crate) mod blocks;
pub(crate) mod defined;
pub(crate) mod elements;
pub(crate) mod listing;
mod numbers;
mod places;
mod plan;
pub(crate) mod rules;
pub(crate) mod step;
