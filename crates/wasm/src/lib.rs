//! Answers to the requests of h5grove's protocol in the browser, without a server.
//!
//! A [`Session`] has the handler of requests of `hyperslab-serve`, and sources of bytes that a
//! program outside reads: files that a user dropped on a page, or files at URLs. The program calls
//! [`Session::ask`]; if bytes are missing, it reads their ranges, passes them to
//! [`Session::provide`], and asks once more, until all bytes are there and the answer is complete.
//!
//! The module [`export`] has the functions of the WebAssembly module. They need no glue code: all
//! arguments are numbers and one buffer.
//!
//! This crate has no stable interface: it is a part of the page of `hyperslab serve --export-page`.

mod driver;
pub mod export;
mod pool;
mod session;

pub use session::{Outcome, Range, Session};
