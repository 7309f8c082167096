//! What object headers mean: messages, links, groups, attributes, datasets' descriptions. Never raw data.

pub mod attribute;
pub mod attribute_edit;
pub mod by_name;
pub mod committed;
pub mod container;
pub mod dataset;
pub mod dataset_edit;
pub mod delete;
mod dense;
pub mod group;
pub mod group_edit;
pub mod header;
pub mod header_edit;
pub mod kind;
pub mod link;
pub mod message;
pub mod open_editors;
pub mod path;
mod pending;
pub mod remark;
pub mod scan;
pub mod sharing;
mod symbol_table;
