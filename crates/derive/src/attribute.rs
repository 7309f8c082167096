//! The options in `#[hyperslab(…)]` attributes.

use syn::ext::IdentExt;
use syn::{Attribute, Ident, LitStr, Path, Result};

/// The options in the `#[hyperslab(…)]` attributes of a type, a field or a variant.
#[derive(Default)]
pub(crate) struct Options {
    /// The path of the crate `hyperslab`.
    pub(crate) krate: Option<Path>,
    /// The name of the member in the file.
    pub(crate) rename: Option<String>,
}

impl Options {
    /// Parses the options in the `#[hyperslab(…)]` attributes of a type.
    pub(crate) fn of_type(attributes: &[Attribute]) -> Result<Self> {
        let options = Self::parse(attributes, "crate")?;
        Ok(options)
    }

    /// Returns the name that a field or variant has in the HDF5 file. The option `rename` of the
    /// attribute `#[hyperslab(…)]` replaces the Rust name.
    pub(crate) fn name(attributes: &[Attribute], ident: &Ident) -> Result<String> {
        let options = Self::parse(attributes, "rename")?;
        Ok(options.rename.unwrap_or_else(|| ident.unraw().to_string()))
    }

    /// Parses the options in `#[hyperslab(…)]` attributes. Only the option with the name `known` is
    /// allowed.
    fn parse(attributes: &[Attribute], known: &str) -> Result<Self> {
        let mut options = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("hyperslab")) {
            attribute.parse_nested_meta(|meta| {
                if !meta.path.is_ident(known) {
                    return Err(meta.error(format!("unknown option: only `{known} = \"…\"` is allowed here")));
                }
                let value: LitStr = meta.value()?.parse()?;
                if options.krate.is_some() || options.rename.is_some() {
                    return Err(meta.error(format!("`{known}` is given twice")));
                }
                if known == "crate" {
                    options.krate = Some(value.parse()?);
                } else {
                    options.rename = Some(value.value());
                }
                Ok(())
            })?;
        }
        Ok(options)
    }
}
