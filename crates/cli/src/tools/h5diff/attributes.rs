//! The comparison of the attributes of two objects by h5diff, by name.

use anyhow::Result;
use hyperslab::{Attribute, Object};

use super::Diff;
use super::data::Elements;
use super::types::Pair;
use crate::compare::blocks::compare_values;
use crate::compare::step::{Side, in_step};
use crate::output::in_line;

impl Diff<'_> {
    /// Compares the attributes of two objects and prints the differences.
    pub(super) fn attributes(&mut self, objects: [&Object; 2], paths: [&str; 2]) -> Result<()> {
        let [mut ones, mut others] = [Vec::new(), Vec::new()];
        for ((object, path), all) in objects.into_iter().zip(paths).zip([&mut ones, &mut others]) {
            match object.attributes() {
                Ok(attributes) => *all = attributes,
                Err(error) => return self.fail(error.into()),
            }
            all.retain(|attribute| !self.is_excluded_attribute(path, attribute));
        }
        let by_name = |one: &Attribute, other: &Attribute| one.name_bytes().cmp(other.name_bytes());
        let sides = in_step(&ones, &others, by_name);
        let count = |wanted: (bool, bool)| sides.iter().filter(|side| side.presence() == wanted).count();
        let (common, first, second) = (count((true, true)), count((true, false)), count((false, true)));
        self.differs |= first > 0 || second > 0;
        self.has_single |= first > 0 || second > 0;
        if self.level() == 2 {
            writeln!(self.out, "   obj1   obj2\n {}", "-".repeat(38))?;
            for side in &sides {
                let [one, other] = super::marks(side);
                writeln!(self.out, "    {one}      {other}    {:<15}", in_line(side.any().name()))?;
            }
        }
        if self.level() > 0 {
            writeln!(
                self.out,
                "Attributes status:  {common} common, {first} only in obj1, {second} only in obj2"
            )?;
        }
        for side in sides {
            if let Side::Both(one, other) = side {
                let compared = self.attribute([one, other], paths).map(|_| ());
                compared.or_else(|error| self.fail(error))?;
            }
        }
        Ok(())
    }

    fn is_excluded_attribute(&self, path: &str, attribute: &Attribute) -> bool {
        let path = format!("{}/{}", path.trim_end_matches('/'), attribute.name());
        self.arguments.excluded_attributes.contains(&path)
    }

    /// Compares two attributes and prints the differences. Returns the number of differing
    /// elements.
    pub(super) fn attribute(&mut self, attributes: [&Attribute; 2], paths: [&str; 2]) -> Result<u64> {
        let [one, other] = attributes;
        let (datatype, other_datatype) = (one.datatype()?, other.datatype()?);
        let (space, other_space) = (one.dataspace()?, other.dataspace()?);
        let types = [&datatype, &other_datatype];
        let (name, other_name) = (one.name(), other.name());
        let pair = Pair { names: [&name, &other_name], types, spaces: [&space, &other_space] };
        if !self.print_verdict(pair.verdict())? {
            return Ok(0);
        }
        let [path, other_path] = paths;
        let names = [format!("{name} of <{path}>"), format!("{other_name} of <{other_path}>")];
        if self.arguments.lists_differences() {
            let [one, other] = &names;
            self.title("attribute", [one, other])?;
        }
        let rows = self.rows_of(&names, [&space, &other_space]);
        let found = match Elements::new(types[0], types[1], self.arguments.rules()) {
            Some(elements) => {
                let values = [&one.read_stored()?, &other.read_stored()?];
                self.elements(rows, |listener| compare_values(values, space.dims(), &elements, listener))?
            }
            None => 0,
        };
        let [one, other] = &names;
        self.found("attribute", [one, other], found)?;
        Ok(found)
    }
}
