//! A placeholder of the C interface.
#![forbid(unsafe_code)]
