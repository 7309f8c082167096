//! What object headers mean: messages, links, groups, attributes, datasets' descriptions. Never raw data.

pub mod attribute;
pub mod container;
pub mod dataset;
pub mod group;
pub mod header;
pub mod header_edit;
pub mod kind;
pub mod link;
pub mod message;
pub mod path;
pub mod remark;
mod symbol_table;
