//! The arguments of h5dump.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use lexopt::{Arg, Parser, ValueExt as _};

use super::sparse::Sparse;
use crate::tools::ddl::data::DEFAULT_COLUMNS;
use crate::tools::printf::Format;
use crate::tools::subset::Subset;

/// The arguments of h5dump.
#[derive(Debug)]
pub(super) struct H5dumpArguments {
    pub(super) files: Vec<PathBuf>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) header: bool,
    pub(super) properties: bool,
    pub(super) superblock: bool,
    /// Set if only names are printed. `Some(true)` includes the names of attributes.
    pub(super) contents: Option<bool>,
    /// True if only the values of attributes are printed.
    pub(super) only_attributes: bool,
    pub(super) attributes: bool,
    pub(super) characters: bool,
    pub(super) escaped: bool,
    /// True if the elements of referenced regions are printed.
    pub(super) regions: bool,
    pub(super) indices: bool,
    pub(super) width: usize,
    pub(super) float: Format,
    /// True if the arguments state a format.
    pub(super) float_given: bool,
    /// The bits of integers that are printed: the first bit, and the number of bits.
    pub(super) bits: Vec<(u32, u32)>,
    pub(super) by_creation: bool,
    pub(super) descending: bool,
    pub(super) compact_subset: bool,
    /// The file for the values. `Some(None)` discards the values.
    pub(super) output: Option<Option<PathBuf>>,
    /// The file for the output except the values. `Some(None)` discards this output.
    pub(super) ddl: Option<Option<PathBuf>>,
    pub(super) binary: Option<Binary>,
    /// The format of sparse datasets, instead of all elements.
    pub(super) sparse: Option<Sparse>,
    pub(super) driver: Option<String>,
    pub(super) help: bool,
    pub(super) version: bool,
}

/// An object or attribute that an argument of h5dump requests.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) kind: Kind,
    pub(super) path: String,
    pub(super) subset: Option<Subset>,
}

/// The kind of object that an argument of h5dump requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Attribute,
    Dataset,
    Group,
    Link,
    Datatype,
    Any,
}

/// The datatype of h5dump's binary output: native, as in the file, or with a given byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Native,
    File,
    LittleEndian,
    BigEndian,
}

impl Default for H5dumpArguments {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            wanted: Vec::new(),
            header: false,
            properties: false,
            superblock: false,
            contents: None,
            only_attributes: false,
            attributes: true,
            characters: false,
            escaped: false,
            regions: false,
            indices: true,
            width: DEFAULT_COLUMNS,
            float: Format::default(),
            float_given: false,
            bits: Vec::new(),
            by_creation: false,
            descending: false,
            compact_subset: true,
            output: None,
            ddl: None,
            binary: None,
            sparse: None,
            driver: None,
            help: false,
            version: false,
        }
    }
}

impl H5dumpArguments {
    /// Parses the arguments of h5dump, without the name of the program.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = Self::default();
        while let Some(argument) = parser.next()? {
            let option = match argument {
                Arg::Value(file) => {
                    parsed.files.push(file.into());
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
        match option {
            "a" | "attribute" => self.want(Kind::Attribute, parser)?,
            "d" | "dataset" => self.want(Kind::Dataset, parser)?,
            "g" | "group" => self.want(Kind::Group, parser)?,
            "l" | "soft-link" => self.want(Kind::Link, parser)?,
            "t" | "datatype" => self.want(Kind::Datatype, parser)?,
            "N" | "any_path" => self.want(Kind::Any, parser)?,
            "s" | "start" | "S" | "stride" | "c" | "count" | "k" | "block" => self.subset(option, parser)?,
            "A" | "onlyattr" => match optional(parser) {
                Some(value) if value == "0" => self.attributes = false,
                _ => self.only_attributes = true,
            },
            "H" | "header" => self.header = true,
            "p" | "properties" => self.properties = true,
            "B" | "superblock" | "boot-block" => self.superblock = true,
            "n" | "contents" => self.contents = Some(optional(parser).is_some_and(|value| value == "1")),
            "r" | "string" => self.characters = true,
            "e" | "escape" => self.escaped = true,
            "R" | "region" => self.regions = true,
            "y" | "noindex" => self.indices = false,
            "no-compact-subset" => self.compact_subset = false,
            "h" | "help" => self.help = true,
            "V" | "version" => self.version = true,
            "E" | "enable-error-stack" => drop(parser.optional_value()),
            "sparse-locations" => self.sparse = Some(Sparse::Locations),
            "sparse-data" => self.sparse = Some(Sparse::Data),
            "o" | "output" => self.output = Some(optional(parser).map(PathBuf::from)),
            "O" | "ddl" => self.ddl = Some(optional(parser).map(PathBuf::from)),
            "b" | "binary" => self.binary = Some(binary(optional(parser).as_deref())?),
            _ => return self.take_value(option, parser),
        }
        Ok(())
    }

    /// Parses an option of h5dump that requires a value.
    fn take_value(&mut self, option: &str, parser: &mut Parser) -> Result<()> {
        match option {
            "w" | "width" => {
                let width: usize = text(parser)?.parse().context("the width is not a number")?;
                self.width = if width == 0 { usize::MAX } else { width };
            }
            "m" | "format" => {
                let format = text(parser)?;
                let parsed = Format::parse(&format);
                self.float_given = true;
                self.float = parsed.ok_or_else(|| {
                    anyhow!("`{format}` is not a print format for floating-point numbers, such as `%g`")
                })?;
            }
            "M" | "packedbits" => self.bits = bits(&text(parser)?)?,
            "q" | "sort_by" => {
                self.by_creation = match text(parser)?.as_str() {
                    "name" => false,
                    "creation_order" => true,
                    other => bail!("objects are sorted by `name` or `creation_order`, not `{other}`"),
                }
            }
            "z" | "sort_order" => {
                self.descending = match text(parser)?.as_str() {
                    "ascending" => false,
                    "descending" => true,
                    other => bail!("the order is `ascending` or `descending`, not `{other}`"),
                }
            }
            "f" | "filedriver" | "vfd-name" => self.driver = Some(text(parser)?),
            "page-buffer-size" => drop(text(parser)?),
            "x" | "xml" | "u" | "use-dtd" | "D" | "xml-dtd" | "X" | "xml-ns" => {
                bail!("XML is not supported (option `{option}`)")
            }
            _ => bail!("unknown or unsupported option `{option}`; `-h` lists them"),
        }
        Ok(())
    }

    fn want(&mut self, kind: Kind, parser: &mut Parser) -> Result<()> {
        let text = text(parser)?;
        let (path, subset) = match kind {
            Kind::Dataset if self.compact_subset => Subset::split(&text)?,
            _ => (text, None),
        };
        self.wanted.push(Wanted { kind, path, subset });
        Ok(())
    }

    fn subset(&mut self, option: &str, parser: &mut Parser) -> Result<()> {
        let numbers = Subset::numbers(&text(parser)?)?;
        let last = self.wanted.last_mut().filter(|wanted| wanted.kind == Kind::Dataset);
        let wanted =
            last.ok_or_else(|| anyhow!("`{option}` selects elements of a dataset: place it after `-d`"))?;
        let subset = wanted.subset.get_or_insert_default();
        match option {
            "s" | "start" => subset.start = numbers,
            "S" | "stride" => subset.stride = numbers,
            "c" | "count" => subset.count = numbers,
            _ => subset.block = numbers,
        }
        Ok(())
    }
}

fn text(parser: &mut Parser) -> Result<String> {
    Ok(parser.value()?.string()?)
}

/// Returns the value of an option of h5dump whose value is optional. Returns `None` if another
/// option or no argument follows.
fn optional(parser: &mut Parser) -> Option<String> {
    if let Some(value) = parser.optional_value() {
        return value.into_string().ok();
    }
    let mut rest = parser.try_raw_args()?;
    let next = rest.peek()?.to_str()?;
    // The last argument is a file.
    if next.starts_with('-') || rest.as_slice().len() < 2 {
        return None;
    }
    rest.next()?.into_string().ok()
}

fn binary(form: Option<&str>) -> Result<Binary> {
    Ok(match form {
        None | Some("NATIVE" | "MEMORY") => Binary::Native,
        Some("FILE") => Binary::File,
        Some("LE") => Binary::LittleEndian,
        Some("BE") => Binary::BigEndian,
        Some(other) => bail!("binary output is NATIVE, FILE, LE or BE, not `{other}`"),
    })
}

/// Parses a list of bit ranges for h5dump: pairs of the first bit and the number of bits.
fn bits(text: &str) -> Result<Vec<(u32, u32)>> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let numbers = numbers.map_err(|_| anyhow!("`{text}` is not a list of bit numbers"))?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    let fits =
        |[first, count]: &[u32; 2]| *count > 0 && first.checked_add(*count).is_some_and(|end| end <= 64);
    if !rest.is_empty() || !pairs.iter().all(fits) {
        bail!("`{text}` must be pairs of the first bit and the number of bits, within 64 bits");
    }
    Ok(pairs.iter().map(|[first, count]| (*first, *count)).collect())
}
