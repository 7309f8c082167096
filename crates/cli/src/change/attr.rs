//! `hyperslab attr`: attributes set, removed and renamed.

use std::path::PathBuf;

use anyhow::Result;

use super::{change, open};
use crate::places::object;
use crate::typed::{TypeName, guess, typed};

/// What `attr` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AttrArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Set an attribute: make it, or put another value in its place
    #[command(after_help = "Examples:
  hyperslab attr set data.h5 run/one units K
  hyperslab attr set data.h5 / offset 273.15
  hyperslab attr set data.h5 run/one range 0 500 --type u16
  hyperslab attr set data.h5 run/one matrix 1 0 0 1 --shape 2x2 --type f32
  hyperslab attr set data.h5 run/one codes 7 --type str     text, although it looks like a number")]
    Set {
        /// The file
        file: PathBuf,
        /// The object
        path: String,
        /// The attribute
        name: String,
        /// The elements: one without a shape, more as an array
        #[arg(required = true, allow_negative_numbers = true, value_name = "VALUE")]
        values: Vec<String>,
        /// The type of the elements [default: i64, f64, bool or str, by what all values look like]
        #[arg(short, long = "type", value_enum, value_name = "TYPE")]
        type_name: Option<TypeName>,
        /// The shape, such as 2x3; `1` makes an array of one element
        #[arg(long, value_parser = shape)]
        shape: Option<Shape>,
    },
    /// Remove attributes
    #[command(after_help = "Example:
  hyperslab attr rm data.h5 run/one units offset")]
    Rm {
        /// The file
        file: PathBuf,
        /// The object
        path: String,
        /// The attributes
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Give an attribute another name
    #[command(after_help = "Example:
  hyperslab attr mv data.h5 run/one unit units")]
    Mv {
        /// The file
        file: PathBuf,
        /// The object
        path: String,
        /// The name before
        from: String,
        /// The name after
        to: String,
    },
}

/// A shape, as `2x3` says it.
#[derive(Debug, Clone)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

/// Reads a shape.
pub(crate) fn shape(text: &str) -> Result<Shape, String> {
    let sizes: Result<Vec<u64>, _> = text.split('x').map(|size| size.trim().parse::<u64>()).collect();
    sizes.map(Shape).map_err(|_| format!("`{text}` is no shape such as 2x3"))
}

/// Changes attributes.
pub(crate) fn attr(arguments: &AttrArguments) -> Result<()> {
    match &arguments.action {
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
