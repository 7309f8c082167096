//! What the tests share. Not published; depends on no other crate of the workspace, so that every one may use it.
//!
//! What is not at hand (no Python, no corpus beside the checkout) gives `None` and one line on stderr that says
//! which tests are skipped and how to get them to run.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod compare;
pub mod corpus;
pub mod expected;
pub mod fixtures;
pub mod program;
pub mod referee;
pub mod workspace;
