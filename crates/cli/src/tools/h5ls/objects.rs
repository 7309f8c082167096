//! Groups, datasets and datatypes.

use anyhow::Result;
use hyperslab::{Attribute, Dataspace, Object, ObjectKind, ObjectToken};

use super::List;
use super::memory::in_memory;
use super::names::{Quotes, escaped};
use super::place::OpenedFile;
use super::time;
use super::types::datatype;

/// How far in the text of a dataset's type stands, and that of an attribute's.
const TYPE: usize = 15;

/// Columns of the word that begins a line.
const WORD: usize = 10;

impl List<'_> {
    /// A line of what is said of an object.
    pub(super) fn line(&mut self, word: &str, text: &str) -> Result<()> {
        writeln!(self.out, "    {word:<WORD$} {text}")?;
        Ok(())
    }

    /// What stands behind an object's name, and the lines that say more of it. Of the object in a link's braces
    /// only these lines end.
    pub(super) fn object(&mut self, place: &OpenedFile, object: &Object, in_braces: bool) -> Result<()> {
        let verbose = self.arguments.verbose;
        match object.kind() {
            Some(ObjectKind::Group) => self.out.write_all(b"Group")?,
            Some(ObjectKind::Dataset) => {
                let dataset = object.clone().into_dataset()?;
                write!(self.out, "Dataset {}", extent(&dataset.dataspace(), verbose))?;
            }
            Some(ObjectKind::Datatype) => self.out.write_all(b"Type")?,
            _ => self.out.write_all(b"Unknown type")?,
        }
        if verbose || !in_braces {
            self.out.write_all(b"\n")?;
        }
        if verbose {
            self.details(place, object)?;
        }
        if self.arguments.data && object.kind() == Some(ObjectKind::Dataset) {
            self.dataset_data(place, &object.clone().into_dataset()?)?;
        }
        Ok(())
    }

    fn details(&mut self, place: &OpenedFile, object: &Object) -> Result<()> {
        let attributes = object.attributes()?;
        for attribute in attributes {
            self.attribute(place, &attribute).or_else(|error| self.failed(error))?;
        }
        self.line("Location:", &format!("{}:{}", place.number, object.token().address()))?;
        self.line("Links:", &object.link_count()?.to_string())?;
        // Times that stand in messages are not told.
        if object.header_info()?.version > 1
            && let Some(modified) = object.modified()?.filter(|modified| *modified > 0)
        {
            self.line("Modified:", &time::utc(modified))?;
        }
        if let Some(comment) = object.comment()? {
            self.line("Comment:", &format!("\"{}\"", escaped(&comment, Quotes::Yes)))?;
        }
        match object.kind() {
            Some(ObjectKind::Dataset) => {
                let dataset = object.clone().into_dataset()?;
                self.storage(&dataset)?;
                self.datatype(place, dataset.committed_datatype(), dataset.datatype())?;
                if self.arguments.address {
                    self.address(&dataset)?;
                }
            }
            Some(ObjectKind::Datatype) => {
                let named = object.clone().into_datatype()?;
                self.datatype(place, Some(object.token()), named.datatype())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn datatype(
        &mut self,
        place: &OpenedFile,
        committed: Option<ObjectToken>,
        of: &hyperslab::Datatype,
    ) -> Result<()> {
        let text = self.type_text(place, committed, of);
        self.line("Type:", &text)
    }

    /// The text of a type, behind the place of the committed one that it is.
    fn type_text(
        &self,
        place: &OpenedFile,
        committed: Option<ObjectToken>,
        of: &hyperslab::Datatype,
    ) -> String {
        let text = datatype(&in_memory(of), !self.arguments.simple, TYPE);
        match committed {
            Some(token) => format!("shared-{}:{} {text}", place.shared, token.address()),
            None => text,
        }
    }

    fn attribute(&mut self, place: &OpenedFile, attribute: &Attribute) -> Result<()> {
        let space = match attribute.dataspace()? {
            Dataspace::Scalar => "scalar".into(),
            Dataspace::Null => "null".into(),
            Dataspace::Simple(extent) => braces(extent.dims.iter().map(u64::to_string)),
        };
        writeln!(self.out, "    Attribute: {} {space}", escaped(attribute.name_bytes(), Quotes::No))?;
        let text = self.type_text(place, attribute.committed_datatype()?, &attribute.datatype()?);
        writeln!(self.out, "        {:<WORD$} {text}", "Type:")?;
        if self.arguments.data { self.attribute_data(place, attribute) } else { Ok(()) }
    }
}

/// The shape of a dataset, `{5/Inf, 8}`; of what cannot grow both sizes only if all is to be told.
fn extent(space: &Dataspace, verbose: bool) -> String {
    let extent = match space {
        Dataspace::Null => return "{NULL}".into(),
        Dataspace::Scalar => return "{SCALAR}".into(),
        Dataspace::Simple(extent) => extent,
    };
    let most: Vec<Option<u64>> = match &extent.max_dims {
        Some(most) => most.to_vec(),
        None => extent.dims.iter().map(|size| Some(*size)).collect(),
    };
    braces(extent.dims.iter().zip(most).map(|(size, most)| match most {
        None => format!("{size}/Inf"),
        Some(most) if verbose || most != *size => format!("{size}/{most}"),
        Some(_) => size.to_string(),
    }))
}

fn braces(items: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
}
