//! Entries of sparse matrices: coordinates and values.
//!
//! Entries flow in batches from a [`Source`] through [`Sorted`](sorted::Sorted), which puts them in
//! order and sums those with the same coordinates, to a [`Sink`]. Memory holds a few batches and
//! one run of the sort; longer runs go to temporary files.

mod batch;
mod columns;
mod compressed;
mod convert;
mod coordinates;
pub(crate) mod dataset;
mod dense;
mod element;
mod pointers;
mod sorted;
mod spool;
mod transfer;

#[cfg(test)]
pub(crate) mod matrices;

pub(crate) use batch::{BATCH_ENTRIES, Batch, Order, Sink, Source};
pub(crate) use columns::{Column, Indices};
pub(crate) use compressed::{Compressed, Compression};
pub(crate) use convert::Converted;
pub(crate) use coordinates::Coordinates;
pub(crate) use dense::Nonzero;
pub(crate) use element::Element;
pub(crate) use pointers::{RowPointers, index_bytes, index_element};
pub(crate) use sorted::Keys;
pub(crate) use spool::Spool;
pub(crate) use transfer::transfer;
