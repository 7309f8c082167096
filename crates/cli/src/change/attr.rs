//! `hyperslab attr`: prints, sets, removes and renames attributes.

use std::path::PathBuf;

use anyhow::Result;

use super::{change, open};
use crate::attributes;
use crate::formats::{Form, Format, write_attribute};
use crate::lookup::object;
use crate::open::OpenArguments;
use crate::output_target::OutputTarget;
use crate::typed::{TypeName, guess, typed};

/// The arguments of the command `attr`, which prints, lists, sets or removes attributes.
#[derive(Debug, clap::Args)]
pub(crate) struct AttrArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print the elements of an attribute
    #[command(after_help = "Examples:
  hyperslab attr get data.h5 run/one units
  hyperslab attr get data.h5 / title --format json")]
    Get {
        /// Output format: text, csv, json or raw
        #[arg(short, long, value_enum, default_value = "text")]
        format: Format,
        #[command(flatten)]
        open: OpenArguments,
        /// The file
        file: PathBuf,
        /// The path of the object
        path: String,
        /// The name of the attribute
        name: String,
    },
    /// List the attributes of an object with their values, types and shapes
    List {
        /// Print a JSON document with the values
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        open: OpenArguments,
        /// The file
        file: PathBuf,
        /// The path of the object
        #[arg(default_value = "/")]
        path: String,
    },
    /// Create an attribute, or replace its value
    #[command(after_help = "Examples:
  hyperslab attr set data.h5 run/one units K
  hyperslab attr set data.h5 / offset 273.15
  hyperslab attr set data.h5 run/one range 0 500 --type u16
  hyperslab attr set data.h5 run/one matrix 1 0 0 1 --shape 2x2 --type f32
  hyperslab attr set data.h5 run/one codes 7 --type str     text, although it looks like a number")]
    Set {
        /// The file
        file: PathBuf,
        /// The path of the object
        path: String,
        /// The name of the attribute
        name: String,
        /// The elements. Without --shape, one element is a scalar and several are an array
        #[arg(required = true, allow_negative_numbers = true, value_name = "VALUE")]
        values: Vec<String>,
        /// The type of the elements [default: the first of i64, u64, f64, bool and str that fits
        /// all values]
        #[arg(short, long = "type", value_enum, value_name = "TYPE")]
        type_name: Option<TypeName>,
        /// The shape of the array, such as 2x3; `1` is an array of one element
        #[arg(long, value_parser = shape)]
        shape: Option<Shape>,
    },
    /// Remove attributes
    #[command(after_help = "Example:
  hyperslab attr rm data.h5 run/one units offset")]
    Rm {
        /// The file
        file: PathBuf,
        /// The path of the object
        path: String,
        /// The names of the attributes
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Rename an attribute
    #[command(after_help = "Example:
  hyperslab attr mv data.h5 run/one unit units")]
    Mv {
        /// The file
        file: PathBuf,
        /// The path of the object
        path: String,
        /// The old name
        from: String,
        /// The new name
        to: String,
    },
}

/// The shape of an attribute, parsed from the command line.
#[derive(Debug, Clone)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

/// Parses the shape of an attribute on the command line, such as `2x3`.
pub(crate) fn shape(text: &str) -> Result<Shape, String> {
    let sizes: Result<Vec<u64>, _> = text.split('x').map(|size| size.trim().parse::<u64>()).collect();
    sizes.map(Shape).map_err(|_| format!("`{text}` is not a shape such as 2x3"))
}

/// Runs the command `hyperslab attr`: prints, lists, sets or removes attributes.
pub(crate) fn attr(arguments: &AttrArguments) -> Result<()> {
    match &arguments.action {
        Action::Get { format, open, file: name_of_file, path, name } => {
            let file = open.open(name_of_file)?;
            let attribute = attributes::open(&file, name_of_file, path, name)?;
            let mut output = OutputTarget::stdout(format.content())?;
            let form = Form { format: *format, escape_formulas: false };
            write_attribute(&mut output, &file, &attribute, form)?;
            output.finish()?;
            open.report();
            Ok(())
        }
        Action::List { json, open, file: name_of_file, path } => {
            let file = open.open(name_of_file)?;
            attributes::list(&file, name_of_file, path, *json)?;
            open.report();
            Ok(())
        }
        Action::Set { file, path, name, values, type_name, shape } => {
            let kind = type_name.unwrap_or_else(|| guess(values));
            let value = typed(kind, values, shape.as_ref().map(|shape| shape.0.as_slice()))?;
            change(file, open(file)?, |file| Ok(object(file, path)?.set_attribute(name, &value)?))
        }
        Action::Rm { file, path, names } => change(file, open(file)?, |file| {
            let object = object(file, path)?;
            names.iter().try_for_each(|name| Ok(object.remove_attribute(name)?))
        }),
        Action::Mv { file, path, from, to } => {
            change(file, open(file)?, |file| Ok(object(file, path)?.rename_attribute(from, to)?))
        }
    }
}
