//! The properties and attributes of the selected object in the browser.

use hyperslab::{File, Object, ObjectKind};

use crate::ls::dataset::shape;
use crate::ls::describe::Detail;
use crate::ls::describer::{Attributes, Describer};
use crate::ls::tree::details;
use crate::output::{chain, escape};
use crate::values::paths::Paths;

/// The largest number of values of one attribute that the browser decodes.
const MAX_VALUES: usize = 32;
/// The largest width of an attribute's value in the browser, in screen columns.
const MAX_COLUMNS: usize = 120;

/// The properties and attributes of the selected object in the browser, as names and texts.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) properties: Vec<(String, String)>,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) errors: Vec<String>,
}

impl Details {
    /// Returns the description of an object for the browser. An error becomes a line of the
    /// description.
    pub(super) fn of(file: &File, object: &Object) -> Self {
        let mut found = Self::default();
        let describer = Describer {
            all: true,
            // The sizes are omitted, because they would require a walk over all chunks.
            storage: false,
            attributes: Attributes::All,
            values: MAX_VALUES,
            paths: Paths::new(file),
        };
        let facts = match describer.object(object, None) {
            Ok(facts) => facts,
            Err(error) => {
                found.errors.push(escape(chain(&error).as_bytes()));
                return found;
            }
        };
        let mut add = |name: &str, text: String| found.properties.push((name.to_owned(), text));
        add("kind", object.kind().map_or("unknown object", ObjectKind::name).to_owned());
        match &facts.detail {
            Detail::Group(group) => {
                if let Some(members) = group.members {
                    add("members", members.to_string());
                }
            }
            Detail::Dataset(dataset) => {
                add("shape", shape(&dataset.space));
                add("datatype", escape(dataset.datatype.to_string().as_bytes()));
            }
            Detail::Datatype(datatype) => add("datatype", escape(datatype.to_string().as_bytes())),
            Detail::Unknown => {}
        }
        for (name, text) in details(&facts.detail) {
            add(name, text);
        }
        for attribute in &facts.attributes {
            let text = match &attribute.value {
                Ok(value) => value.text(MAX_COLUMNS),
                Err(error) => format!("error: {}", escape(error.as_bytes())),
            };
            found.attributes.push((escape(&attribute.name), text));
        }
        found.errors.extend(facts.problems.iter().map(|problem| escape(problem.as_bytes())));
        found
    }
}
