//! A web server for HDF5 files.
//!
//! [`grove`] answers the requests of h5grove's protocol, which the viewers H5Web and
//! jupyterlab-h5web speak. It has no sockets. With the feature `server`, [`Disk`] provides files
//! and folders of this machine, and [`Server`] answers requests of browsers: the protocol below
//! `/api`, the bytes of files below `/files`, and the page of the viewer. With the feature
//! `export`, [`export_page`] writes a page that needs no server.
//!
//! This crate has no stable interface: it is a part of the command `hyperslab`.
#![forbid(unsafe_code)]

#[cfg(feature = "server")]
mod disk;
pub mod grove;
#[cfg(feature = "server")]
mod http;
#[cfg(feature = "server")]
mod page;

#[cfg(feature = "server")]
pub use disk::Disk;
#[cfg(feature = "server")]
pub use http::{Server, ServerOptions, Token};
#[cfg(feature = "export")]
pub use page::export_page;
