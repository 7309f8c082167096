//! Helpers for the tests of all crates. The crate is not published, and depends on no other crate
//! of the workspace, so that every crate can use it.
//!
//! If a requirement is missing (Python, or the corpus), the functions return `None` and print a
//! line to stderr. It names the skipped tests and the missing requirement.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod compare;
pub mod corpus;
pub mod expected;
pub mod fixtures;
pub mod program;
pub mod referee;
pub mod web;
pub mod workspace;
