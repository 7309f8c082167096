//! Objects of a file: object headers and their messages, links, groups, attributes, and
//! descriptions of datasets. Raw data is not part of this module.

mod ahead;
pub mod annotation;
pub mod attribute;
pub mod attribute_edit;
pub mod by_name;
pub mod committed;
pub mod container;
pub mod dataset;
pub mod dataset_edit;
mod deferred;
pub mod delete;
mod dense;
pub mod group;
pub mod group_edit;
pub mod header;
pub mod header_edit;
pub mod kind;
pub mod link;
pub mod message;
pub mod metadata_sizes;
pub mod open_editors;
mod open_groups;
pub mod path;
pub mod scan;
pub mod sharing;
mod stored_names;
mod symbol_table;
