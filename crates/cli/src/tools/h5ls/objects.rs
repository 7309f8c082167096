//! Groups, datasets and committed datatypes in the output of h5ls.

use anyhow::Result;
use hyperslab::{Attribute, Dataspace, Object, ObjectKind, ObjectToken};

use super::List;
use super::memory::in_memory;
use super::names::{Quotes, escaped};
use super::source::SourceFile;
use super::types::datatype;

/// The indentation of a datatype's text in h5ls's details of datasets and attributes.
const TYPE_INDENT: usize = 15;

/// The width of the word that begins a detail line of h5ls.
const WORD_COLUMNS: usize = 10;

impl List<'_> {
    /// Prints a detail line of an object for h5ls: a word and a text.
    pub(super) fn line(&mut self, word: &str, text: &str) -> Result<()> {
        writeln!(self.out, "    {word:<WORD_COLUMNS$} {text}")?;
        Ok(())
    }

    /// Prints the kind of an object after its name for h5ls, then its detail lines. If the object
    /// is the target of a link in braces, a line break follows only if there are details.
    pub(super) fn object(&mut self, source: &SourceFile, object: &Object, in_braces: bool) -> Result<()> {
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
            self.details(source, object)?;
        }
        if self.arguments.data && object.kind() == Some(ObjectKind::Dataset) {
            self.dataset_data(source, &object.clone().into_dataset()?)?;
        }
        Ok(())
    }

    fn details(&mut self, source: &SourceFile, object: &Object) -> Result<()> {
        let attributes = object.attributes()?;
        for attribute in attributes {
            self.attribute(source, &attribute).or_else(|error| self.failed(error))?;
        }
        self.line("Location:", &format!("{}:{}", source.number, object.token().address()))?;
        self.line("Links:", &object.link_count()?.to_string())?;
        // The C tool does not print times from messages of version 1 headers.
        if object.header_info()?.version > 1
            && let Some(modified) = object.modified()?.filter(|modified| *modified > 0)
        {
            self.line("Modified:", &crate::dates::utc(modified))?;
        }
        if let Some(comment) = object.comment()? {
            self.line("Comment:", &format!("\"{}\"", escaped(&comment, Quotes::Yes)))?;
        }
        match object.kind() {
            Some(ObjectKind::Dataset) => {
                let dataset = object.clone().into_dataset()?;
                self.storage(&dataset)?;
                self.datatype(source, dataset.committed_datatype(), dataset.datatype())?;
                if self.arguments.address {
                    self.address(&dataset)?;
                }
            }
            Some(ObjectKind::Datatype) => {
                let named = object.clone().into_datatype()?;
                self.datatype(source, Some(object.token()), named.datatype())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn datatype(
        &mut self,
        source: &SourceFile,
        committed: Option<ObjectToken>,
        of: &hyperslab::Datatype,
    ) -> Result<()> {
        let text = self.type_text(source, committed, of);
        self.line("Type:", &text)
    }

    /// Returns the text of a datatype for h5ls. The address of a committed datatype precedes the
    /// text.
    fn type_text(
        &self,
        source: &SourceFile,
        committed: Option<ObjectToken>,
        of: &hyperslab::Datatype,
    ) -> String {
        let text = datatype(&in_memory(of), !self.arguments.simple, TYPE_INDENT);
        match committed {
            Some(token) => format!("shared-{}:{}{text}", source.shared, token.address()),
            None => text,
        }
    }

    fn attribute(&mut self, source: &SourceFile, attribute: &Attribute) -> Result<()> {
        let space = match attribute.dataspace()? {
            Dataspace::Scalar => "scalar".into(),
            Dataspace::Null => "null".into(),
            Dataspace::Simple(extent) => braces(extent.dims.iter().map(u64::to_string)),
        };
        writeln!(self.out, "    Attribute: {} {space}", escaped(attribute.name_bytes(), Quotes::No))?;
        let text = self.type_text(source, attribute.committed_datatype()?, &attribute.datatype()?);
        writeln!(self.out, "        {:<WORD_COLUMNS$} {text}", "Type:")?;
        if self.arguments.data { self.attribute_data(source, attribute) } else { Ok(()) }
    }
}

/// Returns the shape of a dataset as text for h5ls, such as `{5/Inf, 8}`. Without `verbose`, the
/// text omits the maximum size of dimensions that cannot grow.
fn extent(space: &Dataspace, verbose: bool) -> String {
    let extent = match space {
        Dataspace::Null => return "{NULL}".into(),
        Dataspace::Scalar => return "{SCALAR}".into(),
        Dataspace::Simple(extent) => extent,
    };
    let maximum: Vec<Option<u64>> = match &extent.max_dims {
        Some(maximum) => maximum.to_vec(),
        None => extent.dims.iter().map(|size| Some(*size)).collect(),
    };
    braces(extent.dims.iter().zip(maximum).map(|(size, maximum)| match maximum {
        None => format!("{size}/Inf"),
        Some(maximum) if verbose || maximum != *size => format!("{size}/{maximum}"),
        Some(_) => size.to_string(),
    }))
}

fn braces(items: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
}
