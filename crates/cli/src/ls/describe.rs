//! What is said of an object, gathered before anything is printed.

use hyperslab::{
    Attribute, CommittedDatatype, CreationOrder, Dataspace, Datatype, ErrorKind, Group, GroupStorage, Object,
    ObjectKind, Result,
};

use super::dataset::DatasetFacts;
use crate::output::chain;
use crate::values::paths::Paths;
use crate::values::{Decoder, Value};

/// Attributes that say what kind of group one is: NeXus, MATLAB, AnnData, PyTables and netCDF.
const CLASS_ATTRIBUTES: [&str; 4] = ["NX_class", "MATLAB_class", "encoding-type", "CLASS"];

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Describer {
    /// What is told at length.
    pub(crate) all: bool,
    /// What datasets take in the file, their fill values and their elements if there are few: what takes time.
    pub(crate) storage: bool,
    pub(crate) attributes: Attributes,
    /// Values that an array may show.
    pub(crate) values: usize,
    pub(crate) paths: Paths,
}

/// Which attributes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    None,
    All,
}

/// An object, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct ObjectFacts {
    /// It itself, to be asked for more.
    pub(crate) object: Object,
    pub(crate) address: u64,
    pub(crate) link_count: Option<u32>,
    pub(crate) comment: Option<Vec<u8>>,
    pub(crate) modified: Option<i64>,
    pub(crate) detail: Detail,
    pub(crate) attributes: Vec<AttributeFacts>,
    /// Parts of the object that could not be read.
    pub(crate) problems: Vec<String>,
}

/// What differs from kind to kind.
#[derive(Debug)]
pub(crate) enum Detail {
    Group(GroupFacts),
    Dataset(Box<DatasetFacts>),
    Datatype(Datatype),
    Unknown,
}

/// What is said of a group beside its links.
#[derive(Debug)]
pub(crate) struct GroupFacts {
    /// What kind of group it is, in the words of its attributes.
    pub(crate) class: Option<String>,
    pub(crate) members: Option<usize>,
    pub(crate) storage: Option<GroupStorage>,
    pub(crate) order_tracked: bool,
}

/// An attribute.
#[derive(Debug)]
pub(crate) struct AttributeFacts {
    pub(crate) name: Vec<u8>,
    pub(crate) datatype: Option<Datatype>,
    pub(crate) space: Option<Dataspace>,
    pub(crate) value: std::result::Result<Value, String>,
}

/// The error and its causes in one line.
pub(crate) fn message(error: &hyperslab::Error) -> String {
    chain(error)
}

/// Takes the value, or notes why there is none. What is said already is not said again: one damaged structure is
/// met on many ways.
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
    /// All that is asked for of an object. `links` is how many links it has, if it is a group of which that is known.
    ///
    /// # Errors
    /// If nothing can be said of it.
    pub(crate) fn object(&self, object: &Object, links: Option<usize>) -> Result<ObjectFacts> {
        let mut problems = Vec::new();
        let detail = match object.kind() {
            Some(ObjectKind::Group) => {
                Detail::Group(self.group(&object.clone().into_group()?, links, &mut problems))
            }
            Some(ObjectKind::Dataset) => {
                let dataset = object.clone().into_dataset()?;
                Detail::Dataset(Box::new(DatasetFacts::of(self, &dataset, &mut problems)))
            }
            Some(ObjectKind::Datatype) => {
                Detail::Datatype(CommittedDatatype::datatype(&object.clone().into_datatype()?).clone())
            }
            _ => Detail::Unknown,
        };
        let comment = noted(object.comment(), &mut problems).flatten();
        let mut facts = ObjectFacts {
            object: object.clone(),
            address: object.token().address(),
            link_count: None,
            comment: comment.filter(|comment| !comment.is_empty()),
            modified: None,
            detail,
            attributes: Vec::new(),
            problems,
        };
        if self.all {
            facts.link_count = noted(object.link_count(), &mut facts.problems);
            facts.modified = noted(object.modified(), &mut facts.problems).flatten();
        }
        let attributes = noted(self.attributes(object), &mut facts.problems).unwrap_or_default();
        facts.attributes = attributes.iter().map(|attribute| self.attribute(attribute)).collect();
        Ok(facts)
    }

    fn attributes(&self, object: &Object) -> Result<Vec<Attribute>> {
        match self.attributes {
            Attributes::None => Ok(Vec::new()),
            Attributes::All => object.attributes(),
        }
    }

    /// The attribute of that name, if there is one.
    pub(crate) fn attribute_named(&self, object: &Object, name: &str) -> Result<Option<AttributeFacts>> {
        match object.attribute(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(|attribute| Some(self.attribute(&attribute))),
        }
    }

    fn group(&self, group: &Group, links: Option<usize>, problems: &mut Vec<String>) -> GroupFacts {
        let class = CLASS_ATTRIBUTES.iter().find_map(|name| self.label(group, name, problems));
        let order = if self.all { noted(group.link_order(), problems) } else { None };
        GroupFacts {
            class,
            members: links.or_else(|| noted(group.len(), problems)),
            storage: if self.all { noted(group.storage(), problems) } else { None },
            order_tracked: order.is_some_and(CreationOrder::is_tracked),
        }
    }

    /// The text of an attribute, if the object has one of that name.
    pub(crate) fn label(&self, object: &Object, name: &str, problems: &mut Vec<String>) -> Option<String> {
        let attribute = match object.attribute(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            found => noted(found, problems)?,
        };
        // Its own line says so if it cannot be read.
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

    pub(crate) fn decoder<'a>(&'a self, stored: Option<&'a hyperslab::Stored>) -> Decoder<'a> {
        Decoder { stored, paths: &self.paths, budget: self.values }
    }
}

impl ObjectFacts {
    /// How many things could not be read.
    pub(crate) fn failures(&self) -> usize {
        let attributes = self.attributes.iter().filter(|attribute| attribute.value.is_err()).count();
        self.problems.len().saturating_add(attributes)
    }
}
