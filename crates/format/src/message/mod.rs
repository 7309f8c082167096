//! The messages of object headers: one file per message type (File Format Specification, section IV.A.2).

pub mod datatype;
