//! The attributes of groups and datasets as JSON.

use hyperslab::{Dataspace, Object, Result};

use crate::{Json, values};

/// Attributes that describe the storage of netCDF-4 and of dimension scales; kerchunk leaves out
/// the same ones.
const HIDDEN: [&str; 8] = [
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
];

/// The attributes of an object as JSON, and the names of the ones that JSON cannot represent.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) entries: Vec<(String, Json)>,
    pub(crate) skipped: Vec<String>,
}

impl Attributes {
    /// Reads the attributes of an object.
    pub(crate) fn of(object: &Object) -> Result<Self> {
        let mut attributes = Self::default();
        for attribute in object.attributes()? {
            let name = attribute.name();
            if HIDDEN.contains(&name.as_str()) || name == "_ARRAY_DIMENSIONS" {
                continue;
            }
            let value = match attribute.dataspace() {
                Ok(Dataspace::Null) => Some(Json::text("")),
                _ => attribute.read_dyn().ok().and_then(|values| values::array(&values)),
            };
            match value {
                Some(value) => attributes.entries.push((name, value)),
                None => attributes.skipped.push(name),
            }
        }
        Ok(attributes)
    }

    /// Removes an attribute and returns its value.
    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.entries.iter().position(|(known, _)| known == name)?;
        Some(self.entries.remove(at).1)
    }
}
