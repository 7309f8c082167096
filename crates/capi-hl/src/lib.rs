//! The high-level C interface of HDF5: datasets, attributes, dimension scales, images, tables and
//! packet tables in few calls.
//!
//! The shared library `libhdf5_hl.so` calls the functions of `libhdf5.so` by their C names, so both
//! libraries share identifiers and open objects. Each family of functions has a module with the
//! family's name in lower case: for example, `h5ds` contains the functions of dimension scales.
//!
//! - [`sys`]: the functions of `libhdf5.so`; [`mod@pointer`]: pointer arguments of both libraries.
//! - [`mod@export`]: common code of all exported functions; [`failure`]: failures.
//! - [`handle`], [`object`]: identifiers that are closed automatically, and steps over objects.

#![expect(non_camel_case_types, reason = "types have the names of the C interface")]

pub mod ctypes;
pub mod ddl;
pub mod export;
pub mod failure;
pub mod fields;
pub mod h5do;
pub mod h5ds;
pub mod h5ds_labels;
pub mod h5im;
pub mod h5im_palettes;
pub mod h5ld;
pub mod h5lt_attributes;
pub mod h5lt_datasets;
pub mod h5lt_image;
pub mod h5lt_paths;
pub mod h5lt_text;
pub mod h5pt;
pub mod h5tb;
pub mod h5tb_change;
pub mod h5tb_fields;
pub mod h5tb_info;
pub mod handle;
pub mod object;
pub mod pointer;
pub mod scale;
pub mod sys;
pub mod table;
