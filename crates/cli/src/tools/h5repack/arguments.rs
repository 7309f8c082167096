//! The arguments of h5repack.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use hyperslab::{FileSpaceStrategy, LibraryVersion, SharedMessageIndexInfo as Index};
use hyperslab_exact::to_u64;
use lexopt::{Arg, Parser, ValueExt as _};

use super::rules::Rules;

/// The size of the largest options file of h5repack, in bytes.
const MAX_OPTION_BYTES: u64 = 1 << 20;

/// The message types that files can share, by their names in the options of h5repack.
const SHARED: [(&str, u16); 5] = [
    ("dspace", Index::DATASPACES),
    ("dtype", Index::DATATYPES),
    ("fill", Index::FILL_VALUES),
    ("pline", Index::FILTER_PIPELINES),
    ("attr", Index::ATTRIBUTES),
];

/// The arguments of h5repack.
#[derive(Debug, Default)]
pub(super) struct H5repackArguments {
    pub(super) files: Vec<PathBuf>,
    pub(super) input: Option<PathBuf>,
    pub(super) output: Option<PathBuf>,
    pub(super) rules: Rules,
    pub(super) latest: bool,
    pub(super) low: Option<LibraryVersion>,
    pub(super) high: Option<LibraryVersion>,
    pub(super) compact: Option<u16>,
    pub(super) indexed: Option<u16>,
    /// The kinds of messages that are shared, each with its smallest shared size.
    pub(super) shared: Vec<(u16, u32)>,
    pub(super) minimum: u64,
    pub(super) user_block_file: Option<PathBuf>,
    pub(super) user_block: Option<u64>,
    pub(super) metadata_block: Option<u64>,
    pub(super) threshold: Option<u64>,
    pub(super) alignment: Option<u64>,
    pub(super) strategy: Option<FileSpaceStrategy>,
    pub(super) persist: Option<bool>,
    pub(super) space_threshold: Option<u64>,
    pub(super) page_size: Option<u64>,
    pub(super) verbose: bool,
    pub(super) help: bool,
    pub(super) version: bool,
}

impl H5repackArguments {
    /// Parses the arguments of h5repack, without the name of the program.
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
            let taken = parsed.take(&option, &mut parser);
            taken.with_context(|| format!("option `{option}`"))?;
        }
        Ok(parsed)
    }

    fn take(&mut self, option: &str, parser: &mut Parser) -> Result<()> {
        match option {
            "h" | "help" => self.help = true,
            "V" | "version" => self.version = true,
            // A level may follow. It has no effect.
            "v" | "verbose" => {
                parser.optional_value();
                self.verbose = true;
            }
            "E" | "enable-error-stack" => drop(parser.optional_value()),
            "L" | "latest" => self.latest = true,
            "i" | "infile" => self.input = Some(parser.value()?.into()),
            "o" | "outfile" => self.output = Some(parser.value()?.into()),
            "u" | "ublock" => self.user_block_file = Some(parser.value()?.into()),
            "f" | "filter" => self.rules.filter(&text(parser)?)?,
            "l" | "layout" => self.rules.layout(&text(parser)?)?,
            "exclude-value" => self.rules.exclude(&text(parser)?)?,
            "e" | "file" => self.options_of(parser.value()?.into())?,
            "s" | "ssize" => self.share(&text(parser)?)?,
            "j" | "low" => self.low = Some(version(&text(parser)?)?),
            "k" | "high" => self.high = Some(version(&text(parser)?)?),
            "S" | "fs_strategy" => self.strategy = Some(strategy(&text(parser)?)?),
            "n" | "native" => bail!("native datatypes are not supported: elements keep their types"),
            "merge" | "prune" => bail!("external links cannot be changed"),
            "defined-elements" => bail!("a list of defined elements is not supported"),
            "q" | "sort_by" | "z" | "sort_order" => order(&text(parser)?)?,
            _ => return self.take_number(option, parser),
        }
        Ok(())
    }

    fn take_number(&mut self, option: &str, parser: &mut Parser) -> Result<()> {
        match option {
            "c" | "compact" => self.compact = Some(number(parser)?),
            "d" | "indexed" => self.indexed = Some(number(parser)?),
            "m" | "minimum" => self.minimum = number(parser)?,
            "b" | "block" => self.user_block = Some(number(parser)?),
            "M" | "metadata_block_size" => self.metadata_block = Some(number(parser)?),
            "t" | "threshold" => self.threshold = Some(number(parser)?),
            "a" | "alignment" => self.alignment = Some(number(parser)?),
            "P" | "fs_persist" => self.persist = Some(number::<u64>(parser)? != 0),
            "T" | "fs_threshold" => self.space_threshold = Some(number(parser)?),
            "G" | "fs_pagesize" => self.page_size = Some(number(parser)?),
            _ => bail!("the option is unknown; `-h` lists the options"),
        }
        Ok(())
    }

    /// Parses the options in an options file of h5repack.
    fn options_of(&mut self, path: PathBuf) -> Result<()> {
        let shown = path.display().to_string();
        let mut content = String::new();
        let file = fs::File::open(path).with_context(|| shown.clone())?;
        let read = file.take(MAX_OPTION_BYTES).read_to_string(&mut content).with_context(|| shown.clone())?;
        if to_u64(read) >= MAX_OPTION_BYTES {
            bail!("{shown}: more than {MAX_OPTION_BYTES} bytes of options");
        }
        self.rules.file(&content).context(shown)
    }

    /// Parses the value `S[:F]` of an option of h5repack: the smallest size of shared messages, and
    /// their type.
    fn share(&mut self, text: &str) -> Result<()> {
        let (size, kind) = text.split_once(':').map_or((text, None), |(size, kind)| (size, Some(kind)));
        let size = size.parse().map_err(|_| anyhow!("`{size}` is not a number of bytes"))?;
        let wanted = SHARED.iter().filter(|(name, _)| kind.is_none_or(|kind| kind == *name));
        let wanted: Vec<(u16, u32)> = wanted.map(|(_, types)| (*types, size)).collect();
        if wanted.is_empty() {
            bail!("`{text}` is not a kind of message; the kinds are dspace, dtype, fill, pline and attr");
        }
        self.shared.retain(|(types, _)| wanted.iter().all(|(other, _)| other != types));
        self.shared.extend(wanted);
        Ok(())
    }
}

fn text(parser: &mut Parser) -> Result<String> {
    Ok(parser.value()?.string()?)
}

fn number<N: std::str::FromStr>(parser: &mut Parser) -> Result<N> {
    let text = text(parser)?;
    text.parse().map_err(|_| anyhow!("`{text}` is not a valid number"))
}

fn version(text: &str) -> Result<LibraryVersion> {
    use LibraryVersion::{Earliest, V18, V110, V112, V114, V200};
    let versions = [Earliest, V18, V110, V112, V114, V200];
    let version = text.parse().ok().and_then(|number: usize| versions.get(number).copied());
    version.ok_or_else(|| anyhow!("`{text}` is not a version number from 0 to {}", versions.len() - 1))
}

fn strategy(text: &str) -> Result<FileSpaceStrategy> {
    Ok(match text {
        "FSM_AGGR" => FileSpaceStrategy::FreeSpaceAndAggregators,
        "PAGE" => FileSpaceStrategy::Page,
        "AGGR" => FileSpaceStrategy::Aggregators,
        "NONE" => FileSpaceStrategy::None,
        _ => bail!("`{text}` is not one of FSM_AGGR, PAGE, AGGR and NONE"),
    })
}

/// Checks the value of h5repack's sort order option. The option has no effect, because objects keep
/// their creation order.
fn order(text: &str) -> Result<()> {
    match text {
        "name" | "creation_order" | "ascending" => Ok(()),
        "descending" => bail!("objects keep their creation order: descending order is not supported"),
        _ => bail!("`{text}` is not a sort order"),
    }
}
