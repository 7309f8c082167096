//! The C interface of HDF5 on top of hyperslab.
//!
//! The shared library `libhdf5.so` exports the functions and data symbols of HDF5 2.2. Programs
//! load it in place of the C library without a new build. Each family of functions has a module
//! with the family's name in lower case: for example, `h5a` contains the attribute functions.
//! Modules without the prefix `h5` contain code that several families use.
//!
//! - [`mod@export`]: common code of all exported functions; [`mod@pointer`]: pointer arguments.
//! - [`id`]: identifiers; [`error`]: failures and error stacks; [`plist`]: property lists.
//! - [`datatype`], [`space`], [`mod@file`], [`group`], [`dataset`], [`attribute`]: open objects.

#![expect(non_camel_case_types, reason = "types have the names of the C interface")]

pub mod asynchronous;
pub mod attribute;
pub mod convert;
pub mod ctypes;
pub mod dataset;
pub mod datatype;
pub mod driver;
pub mod epush2;
pub mod error;
pub mod export;
pub mod file;
pub mod filter;
pub mod group;
pub mod h5;
pub mod h5a;
pub mod h5a_iterate;
pub mod h5d;
pub mod h5d_chunks;
pub mod h5d_sparse;
pub mod h5e;
pub mod h5e_pause;
pub mod h5es;
pub mod h5f;
pub mod h5f_cache;
pub mod h5f_info;
pub mod h5f_mount;
pub mod h5fd;
pub mod h5fd_blocks;
pub mod h5g;
pub mod h5g_links;
pub mod h5i;
pub mod h5l;
pub mod h5l_info;
pub mod h5o;
pub mod h5o_info;
pub mod h5o_structs;
pub mod h5p;
pub mod h5p_dataset_access;
pub mod h5p_dataset_create;
pub mod h5p_drivers;
pub mod h5p_durability;
pub mod h5p_encode;
pub mod h5p_file_access;
pub mod h5p_file_cache;
pub mod h5p_file_create;
pub mod h5p_filters;
pub mod h5p_links;
pub mod h5p_multi;
pub mod h5p_objects;
pub mod h5p_properties;
pub mod h5p_sparse;
pub mod h5p_transfer;
pub mod h5pl;
pub mod h5r;
pub mod h5r_new;
pub mod h5s;
pub mod h5s_encode;
pub mod h5s_iterate;
pub mod h5s_query;
pub mod h5s_select;
pub mod h5t;
pub mod h5t_atomic;
pub mod h5t_commit;
pub mod h5t_composite;
pub mod h5t_compound;
pub mod h5t_convert;
pub mod h5t_encode;
pub mod h5t_enum;
pub mod h5t_float;
pub mod h5t_native;
pub mod h5vl;
pub mod h5z;
pub mod id;
pub mod init;
pub mod linked;
pub mod memory;
pub mod not_yet;
#[cfg(feature = "hdf5-1-10")]
pub mod older;
pub mod plist;
pub mod pointer;
pub mod space;
pub mod symbols;
pub mod text;

pub(crate) use export::call_user;
