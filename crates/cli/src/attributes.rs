//! The printing of attributes by the commands `attr get`, `attr list`, and `cat FILE OBJECT@NAME`.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab::{Attribute, File};
use serde_json::{Map, Value as Json};

use crate::lookup;
use crate::ls::describer::{AttributeFacts, Attributes, Describer};
use crate::ls::tree::attribute_type;
use crate::output::{self, DATASET, DATATYPE, ERROR, FAINT, VALUE, escape, spaces, styled, width};
use crate::values::paths::Paths;

/// The character between the path of an object and the name of an attribute.
const SEPARATOR: char = '@';
/// The largest number of values of one attribute that a list of attributes decodes, as text or as
/// JSON.
const MAX_TEXT_VALUES: usize = 32;
const MAX_JSON_VALUES: usize = 1000;
/// The largest width of the name column and of the value column in a list of attributes. Longer
/// texts are not aligned.
const MAX_COLUMN: usize = 40;

/// Splits an argument `PATH@NAME` into the path of an object and the name of an attribute. Returns
/// `None` if the whole argument is the path of an existing object, or if it names no attribute.
pub(crate) fn split<'a>(file: &File, text: &'a str) -> Option<(&'a str, &'a str)> {
    let parts = text.rsplit_once(SEPARATOR)?;
    lookup::object(file, text).is_err().then_some(parts)
}

/// Opens the attribute `name` of the object at `path`. `shown` is the name of the file in errors.
pub(crate) fn open(file: &File, shown: &Path, path: &str, name: &str) -> Result<Attribute> {
    let object = lookup::object(file, path).with_context(|| format!("`{}`", shown.display()))?;
    let attribute = object.attribute(name);
    attribute.with_context(|| format!("`{}`", shown.display()))
}

/// Prints the names, values, types and shapes of an object's attributes.
pub(crate) fn list(file: &File, shown: &Path, path: &str, as_json: bool) -> Result<()> {
    let object = lookup::object(file, path).with_context(|| format!("`{}`", shown.display()))?;
    let describer = Describer {
        all: true,
        storage: false,
        attributes: Attributes::All,
        values: if as_json { MAX_JSON_VALUES } else { MAX_TEXT_VALUES },
        paths: Paths::new(file),
    };
    let attributes = describer.attributes(&object).with_context(|| format!("`{}`", shown.display()))?;
    let mut out = output::stdout();
    if as_json {
        serde_json::to_writer_pretty(&mut out, &document(&attributes)).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        table(&mut out, &attributes)?;
    }
    Ok(out.flush()?)
}

/// Returns the attributes of an object as a JSON object with a key for each attribute. If an
/// attribute cannot be read, its JSON value is an object with the key `error`.
fn document(attributes: &[AttributeFacts]) -> Json {
    let entry = |attribute: &AttributeFacts| {
        let value = match &attribute.value {
            Ok(value) => value.json(),
            Err(error) => Json::Object(Map::from_iter([("error".to_owned(), Json::from(error.as_str()))])),
        };
        (String::from_utf8_lossy(&attribute.name).into_owned(), value)
    };
    Json::Object(attributes.iter().map(entry).collect())
}

fn table(out: &mut output::Output, attributes: &[AttributeFacts]) -> Result<()> {
    let rows: Vec<(String, Result<String, &String>, String)> = attributes
        .iter()
        .map(|attribute| {
            let value = attribute.value.as_ref().map(|value| value.text(72));
            (escape(&attribute.name), value, attribute_type(attribute))
        })
        .collect();
    let widest = |widths: &mut dyn Iterator<Item = usize>| {
        widths.filter(|width| *width <= MAX_COLUMN).max().unwrap_or(0)
    };
    let names = widest(&mut rows.iter().map(|(name, ..)| width(name)));
    let values =
        widest(&mut rows.iter().filter_map(|(_, value, _)| value.as_ref().ok()).map(|text| width(text)));
    for (name, value, kind) in &rows {
        styled(out, DATASET, name)?;
        write!(out, "{}  ", spaces(width(name), names))?;
        match value {
            Ok(text) => {
                styled(out, VALUE, text)?;
                write!(out, "{}  ", spaces(width(text), values))?;
            }
            Err(error) => styled(out, ERROR, &format!("error: {}  ", escape(error.as_bytes())))?,
        }
        styled(out, DATATYPE, kind)?;
        writeln!(out)?;
    }
    if rows.is_empty() {
        styled(out, FAINT, "no attributes")?;
        writeln!(out)?;
    }
    Ok(())
}
