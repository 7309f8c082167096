//! The filters in creation lists.

use std::ffi::{c_int, c_uint};

use hyperslab::filter::FilterSpec;

/// A filter in the filter pipeline of a creation list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterEntry {
    /// The identifier of the filter.
    pub id: c_int,
    /// The flags of the filter (`H5Z_FLAG_*`).
    pub flags: c_uint,
    /// The client data values of the filter.
    pub data: Vec<c_uint>,
    /// The name of the filter; `None` if only the registry knows it.
    pub name: Option<Vec<u8>>,
}

impl From<&FilterSpec> for FilterEntry {
    fn from(filter: &FilterSpec) -> Self {
        Self {
            id: filter.id().0.into(),
            flags: filter.flags().into(),
            data: filter.client_data().to_vec(),
            name: filter.name().map(|name| name.as_bytes().to_vec()),
        }
    }
}

impl FilterEntry {
    /// Returns hyperslab's filter specification for a filter of a new dataset. Returns `None` if
    /// the filter identifier is out of range.
    pub fn spec(&self) -> Option<FilterSpec> {
        let id = u16::try_from(self.id).ok()?;
        let flags = u16::try_from(self.flags & 0xffff).ok()?;
        let name = self.name.as_ref().map(|name| String::from_utf8_lossy(name).into_owned());
        Some(FilterSpec::custom(id.into(), flags, self.data.clone(), name).or_missing())
    }
}
