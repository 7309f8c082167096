//! The writer of the values of attributes to the output.

use std::io::Write as _;

use anyhow::{Result, bail};
use hyperslab::{Attribute, Dataspace, File};

use super::elements::{Elements, Style};
use super::{Form, Format, csv, csv_style, json, text, with_elements_of_arrays};
use crate::output_target::OutputTarget;
use crate::values::paths::Paths;

/// Writes all values of an attribute to the output.
pub(crate) fn write_attribute(
    output: &mut OutputTarget,
    file: &File,
    attribute: &Attribute,
    form: Form,
) -> Result<()> {
    let space = attribute.dataspace()?;
    if space == Dataspace::Null {
        return null(output, attribute, form.format);
    }
    let stored = attribute.read_stored()?;
    if form.format == Format::Raw {
        return Ok(output.write_all(stored.bytes())?);
    }
    let outer = space.dims().to_vec();
    let (nested, datatype) = with_elements_of_arrays(outer.clone(), stored.datatype());
    let paths = Paths::new(file);
    let style = match form.format {
        Format::Json => Style::Json,
        Format::Csv => csv_style(output, form),
        _ => Style::Python,
    };
    let mut elements = Elements::new(datatype, &paths, style);
    let each =
        &mut |visit: &mut dyn FnMut(&str) -> Result<()>| elements.each(&stored, stored.bytes(), &mut *visit);
    match form.format {
        Format::Json => json::write(output, &outer, &nested, each),
        Format::Csv => csv::write_elements(output, &nested, each),
        Format::Text => text::write(output, &nested, datatype, each),
        Format::Npy | Format::Raw => bail!("attributes cannot be written as npy; try json, csv, text or raw"),
    }
}

/// Writes the output for an attribute with a null dataspace, which has no value.
fn null(output: &mut OutputTarget, attribute: &Attribute, format: Format) -> Result<()> {
    match format {
        Format::Npy => {
            bail!("attribute `{}` has a null dataspace, which npy cannot represent", attribute.name())
        }
        Format::Json => output.write_all(b"{\"shape\":null,\"data\":null}\n")?,
        Format::Text => output.write_all(b"None\n")?,
        Format::Csv | Format::Raw => {}
    }
    Ok(())
}
