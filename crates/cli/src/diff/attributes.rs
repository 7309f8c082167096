//! The comparison of the attributes of two objects, by name.

use anyhow::Result;
use hyperslab::{Attribute, Dataspace, Object};

use super::datasets::{type_and_shape, within_both};
use super::found::{AttributeChange, Detail, Shown};
use super::tally::{Counter, shown};
use super::walk::Comparison;
use crate::compare::blocks::compare_values;
use crate::compare::elements::Elements;
use crate::compare::step::{Side, in_step};
use crate::output::escape;
use crate::values::paths::Paths;
use crate::values::{Decoder, Value};

/// The largest number of values of one attribute that the command `diff` prints.
const MAX_VALUES: usize = 16;

impl Comparison<'_> {
    /// Compares the attributes of two objects, and adds each difference to `details`, the list of
    /// differences of the two objects.
    pub(super) fn attributes(
        &self,
        objects: [&Object; 2],
        paths: [&str; 2],
        details: &mut Vec<Detail>,
    ) -> Result<()> {
        let [one, other] = objects;
        let (ones, others) = (one.attributes()?, other.attributes()?);
        let by_name = |one: &Attribute, other: &Attribute| one.name_bytes().cmp(other.name_bytes());
        let [file_paths, other_file_paths] = &self.paths;
        for side in in_step(&ones, &others, by_name) {
            let name = escape(side.any().name_bytes());
            if paths.iter().any(|path| self.arguments.exclude.contains(&attribute_path(path, &name))) {
                continue;
            }
            let change = match side {
                Side::One(one) => AttributeChange::Removed(value(one, file_paths)?),
                Side::Other(other) => AttributeChange::Added(value(other, other_file_paths)?),
                Side::Both(one, other) => {
                    let differences = self.attribute([one, other])?;
                    if differences.is_empty() {
                        continue;
                    }
                    let one = value(one, file_paths)?;
                    AttributeChange::Changed {
                        one,
                        other: value(other, other_file_paths)?,
                        details: differences,
                    }
                }
            };
            details.push(Detail::Attribute { name, change });
        }
        Ok(())
    }

    /// Compares two attributes and returns their differences.
    fn attribute(&self, attributes: [&Attribute; 2]) -> Result<Vec<Detail>> {
        let [one, other] = attributes;
        let types = [&one.datatype()?, &other.datatype()?];
        let spaces = [&one.dataspace()?, &other.dataspace()?];
        let mut details = type_and_shape(types, spaces);
        // Values of different shapes, and null values, are not compared.
        if spaces[0].dims() != spaces[1].dims() || spaces.contains(&&Dataspace::Null) {
            return Ok(details);
        }
        let Some(elements) = Elements::new(types[0], types[1], self.arguments.rules()) else {
            return Ok(details);
        };
        let mut counter = self.counter();
        compare_values(
            [&one.read_stored()?, &other.read_stored()?],
            spaces[0].dims(),
            &elements,
            &mut counter,
        )?;
        counter.tally.elements = within_both(spaces).iter().product();
        if counter.tally.differing > 0 {
            details.push(Detail::Elements(counter.tally));
        }
        Ok(details)
    }

    pub(super) fn counter(&self) -> Counter<'_> {
        Counter::new(self.arguments.places, self.arguments.quiet, self.paths.each_ref(), self.bar)
    }
}

fn attribute_path(object: &str, name: &str) -> String {
    let object = if object.is_empty() { "/" } else { object };
    format!("{object}@{name}")
}

/// Returns the values of an attribute for the output of a comparison. If the attribute is long,
/// returns only the first values.
fn value(attribute: &Attribute, paths: &Paths) -> Result<Shown> {
    let space = attribute.dataspace()?;
    if space == Dataspace::Null {
        return Ok(shown(&Value::Null));
    }
    let stored = attribute.read_stored()?;
    let mut decoder = Decoder { stored: Some(&stored), paths, budget: MAX_VALUES };
    Ok(shown(&decoder.array(space.dims(), stored.datatype(), stored.bytes())?))
}
