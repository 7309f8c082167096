//! The reader of object descriptions for a listing, which has the options of the listing and reads
//! attributes.

use hyperslab::{Attribute, Dataspace, Datatype, ErrorKind, Object, Result};

use crate::output::chain;
use crate::values::paths::Paths;
use crate::values::{Decoder, Value};

/// A reader of object descriptions. The reader knows the options, and the paths of the file's
/// objects.
#[derive(Debug)]
pub(crate) struct Describer {
    /// True to read everything that `ls --verbose` and `ls --json` print.
    pub(crate) all: bool,
    /// True to read storage sizes, fill values, and the elements of small datasets, which takes
    /// time.
    pub(crate) storage: bool,
    pub(crate) attributes: Attributes,
    /// The largest number of values of an array that are decoded.
    pub(crate) values: usize,
    pub(crate) paths: Paths,
}

/// The attributes that the description of an object includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    None,
    All,
}

/// The description of an attribute in a listing.
#[derive(Debug)]
pub(crate) struct AttributeFacts {
    pub(crate) name: Vec<u8>,
    pub(crate) datatype: Option<Datatype>,
    pub(crate) space: Option<Dataspace>,
    /// The value, or the message of the error that prevents reading it.
    pub(crate) value: std::result::Result<Value, String>,
}

/// Returns the text of an error and its causes in one line.
pub(crate) fn message(error: &hyperslab::Error) -> String {
    chain(error)
}

/// Returns the value of a result, or notes its error in `problems`. Equal errors are noted only
/// once, because several reads may find the same damaged structure.
pub(crate) fn noted<T>(result: Result<T>, problems: &mut Vec<String>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let message = message(&error);
            if !problems.contains(&message) {
                problems.push(message);
            }
            None
        }
    }
}

impl Describer {
    /// Describes all attributes of an object, if the options of the listing request attributes.
    pub(crate) fn attributes(&self, object: &Object) -> Result<Vec<AttributeFacts>> {
        match self.attributes {
            Attributes::None => Ok(Vec::new()),
            Attributes::All => {
                Ok(object.attributes()?.iter().map(|attribute| self.attribute(attribute)).collect())
            }
        }
    }

    /// Describes the attribute with a name. Returns `None` if the object has no such attribute.
    pub(crate) fn attribute_named(&self, object: &Object, name: &str) -> Result<Option<AttributeFacts>> {
        match object.attribute(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(|attribute| Some(self.attribute(&attribute))),
        }
    }

    /// Returns the value of a text attribute for a listing. Returns `None` if the attribute does
    /// not exist, or is not text.
    pub(super) fn label(&self, object: &Object, name: &str, problems: &mut Vec<String>) -> Option<String> {
        let attribute = match object.attribute(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            found => noted(found, problems)?,
        };
        // A listing with attributes reports the error of the value.
        self.value(&attribute).ok()?.as_text().filter(|text| !text.is_empty())
    }

    fn attribute(&self, attribute: &Attribute) -> AttributeFacts {
        AttributeFacts {
            name: attribute.name_bytes().to_vec(),
            datatype: attribute.datatype().ok(),
            space: attribute.dataspace().ok(),
            value: self.value(attribute).map_err(|error| message(&error)),
        }
    }

    fn value(&self, attribute: &Attribute) -> Result<Value> {
        let space = attribute.dataspace()?;
        if space == Dataspace::Null {
            return Ok(Value::Null);
        }
        let stored = attribute.read_stored()?;
        self.decoder(Some(&stored)).array(space.dims(), stored.datatype(), stored.bytes())
    }

    pub(super) fn decoder<'a>(&'a self, stored: Option<&'a hyperslab::Stored>) -> Decoder<'a> {
        Decoder { stored, paths: &self.paths, budget: self.values }
    }
}
