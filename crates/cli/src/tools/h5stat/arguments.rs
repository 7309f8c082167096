//! The arguments of h5stat.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use lexopt::{Arg, Parser, ValueExt as _};

/// A part of the output of h5stat that an option can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    File,
    FileMetadata,
    Groups,
    GroupMetadata,
    Datasets,
    DatasetMetadata,
    Datatypes,
    Attributes,
    FreeSpace,
    Summary,
}

/// The arguments of h5stat.
#[derive(Debug)]
pub(super) struct H5statArguments {
    pub(super) file: Option<PathBuf>,
    /// The requested sections. If none is requested, nearly all sections are printed.
    parts: Vec<Section>,
    /// Groups with fewer links than this number count as small.
    pub(super) links: u64,
    /// Datasets with a dimension below this size count as small.
    pub(super) dims: u64,
    /// The largest number of attributes that counts as small.
    pub(super) attributes: u64,
    pub(super) help: bool,
    pub(super) version: bool,
}

impl H5statArguments {
    /// Parses the arguments of h5stat, without the name of the program.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = Self {
            file: None,
            parts: Vec::new(),
            links: 10,
            dims: 10,
            attributes: 10,
            help: false,
            version: false,
        };
        while let Some(argument) = parser.next()? {
            let option = match argument {
                // Arguments without text are ignored.
                Arg::Value(file) if file.is_empty() => continue,
                Arg::Value(file) => {
                    if let Some(first) = &parsed.file {
                        bail!("only one file is possible: `{}` or `{}`", first.display(), file.display());
                    }
                    parsed.file = Some(file.into());
                    continue;
                }
                Arg::Short(letter) => letter.to_string(),
                Arg::Long(name) => name.to_owned(),
            };
            parsed.take(&option, &mut parser)?;
        }
        Ok(parsed)
    }

    fn take(&mut self, option: &str, parser: &mut Parser) -> Result<()> {
        let part = match option {
            "f" | "file" => Section::File,
            "F" | "filemetadata" => Section::FileMetadata,
            "g" | "group" => Section::Groups,
            "G" | "groupmetadata" => Section::GroupMetadata,
            "d" | "dset" => Section::Datasets,
            "D" | "dsetmetadata" => Section::DatasetMetadata,
            "T" | "dtypemetadata" => Section::Datatypes,
            "A" | "attribute" => Section::Attributes,
            "s" | "freespace" => Section::FreeSpace,
            "S" | "summary" => Section::Summary,
            _ => return self.take_other(option, parser),
        };
        self.parts.push(part);
        Ok(())
    }

    fn take_other(&mut self, option: &str, parser: &mut Parser) -> Result<()> {
        match option {
            "l" | "links" => self.links = threshold(parser, "small groups")?,
            "m" | "dims" => self.dims = threshold(parser, "small datasets")?,
            "a" | "numattrs" => self.attributes = threshold(parser, "small # of attributes")?,
            "h" | "help" => self.help = true,
            "V" | "version" => self.version = true,
            "E" | "enable-error-stack" => drop(parser.optional_value()),
            "page-buffer-size" => {
                let size = parser.value()?.string()?;
                size.parse::<u64>()
                    .map_err(|_| anyhow!("the size of the page buffer must be a number, not `{size}`"))?;
            }
            "s3-cred" | "hdfs-attrs" => bail!("files on S3 and HDFS are not supported (option `{option}`)"),
            _ => bail!("unknown option `{option}`; `-h` lists them"),
        }
        Ok(())
    }

    /// Returns true if the options request a part of h5stat's output.
    pub(super) fn shows(&self, part: Section) -> bool {
        if self.parts.is_empty() {
            return !matches!(part, Section::GroupMetadata | Section::DatasetMetadata);
        }
        self.parts.contains(&part)
    }

    /// Returns true if the requested parts of h5stat's output contain the sizes of metadata.
    pub(super) fn needs_bytes(&self) -> bool {
        use Section::{DatasetMetadata, FileMetadata, FreeSpace, GroupMetadata, Summary};
        [FileMetadata, GroupMetadata, DatasetMetadata, FreeSpace, Summary]
            .iter()
            .any(|part| self.shows(*part))
    }
}

/// Parses a threshold of h5stat: a number above zero.
fn threshold(parser: &mut Parser, of: &str) -> Result<u64> {
    let text = parser.value()?.string()?;
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| anyhow!("invalid threshold for {of}: `{text}`"))
}
