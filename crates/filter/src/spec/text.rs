//! The text form of filter requests: `gzip=4`, `szip=nn:16`, `zfp=rate:8`, `32015=3`. A `?` at the
//! end makes a filter optional, a `!` mandatory.

use std::fmt;
use std::str::FromStr;

use crate::{FilterId, Stage};

use super::{BitshuffleCodec, BloscCodec, BloscTransform, FilterSpec, SzipCoding, default_flags};

/// The error for a text that is not a valid filter request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid filter: {reason}")]
pub struct ParseFilterError {
    text: String,
    reason: String,
}

type Parsed = Result<FilterSpec, String>;

/// A filter that users can request by name in a text: its names, its usage text for messages, and
/// the parser of its parameters.
struct NamedFilter {
    names: &'static [&'static str],
    usage: &'static str,
    parse: fn(&mut Words<'_>) -> Parsed,
}

const NAMED_FILTERS: &[NamedFilter] = &[
    NamedFilter {
        names: &["gzip", "deflate"],
        usage: "gzip[=LEVEL]",
        parse: |words| Ok(FilterSpec::deflate(words.number_or(4)?)),
    },
    NamedFilter { names: &["shuffle"], usage: "shuffle", parse: |_| Ok(FilterSpec::shuffle()) },
    NamedFilter { names: &["fletcher32"], usage: "fletcher32", parse: |_| Ok(FilterSpec::fletcher32()) },
    NamedFilter { names: &["szip"], usage: "szip[=nn|ec[:PIXELS]]", parse: szip },
    NamedFilter { names: &["nbit"], usage: "nbit", parse: |_| Ok(FilterSpec::nbit()) },
    NamedFilter {
        names: &["scaleoffset"],
        usage: "scaleoffset=int[:BITS]|float:DIGITS",
        parse: scale_offset,
    },
    NamedFilter { names: &["lzf"], usage: "lzf", parse: |_| Ok(FilterSpec::lzf()) },
    NamedFilter { names: &["lzo"], usage: "lzo", parse: |_| Ok(FilterSpec::lzo()) },
    NamedFilter {
        names: &["lz4"],
        usage: "lz4[=BYTES]",
        parse: |words| Ok(FilterSpec::lz4(words.number_or(0)?)),
    },
    NamedFilter {
        names: &["zstd"],
        usage: "zstd[=LEVEL]",
        parse: |words| Ok(FilterSpec::zstd(words.number_or(3)?)),
    },
    NamedFilter {
        names: &["bzip2"],
        usage: "bzip2[=BLOCK]",
        parse: |words| Ok(FilterSpec::bzip2(words.number_or(9)?)),
    },
    NamedFilter {
        names: &["bitshuffle"],
        usage: "bitshuffle[=none|lz4|zstd:LEVEL[:ELEMENTS]]",
        parse: bitshuffle,
    },
    NamedFilter {
        names: &["blosc"],
        usage: "blosc[=CODEC[:LEVEL[:none|bytes|bits]]]",
        parse: |words| blosc(words, BloscCodec::Lz4, FilterSpec::blosc),
    },
    NamedFilter {
        names: &["blosc2"],
        usage: "blosc2[=CODEC[:LEVEL[:none|bytes|bits|delta]]]",
        parse: |words| blosc(words, BloscCodec::BloscLz, FilterSpec::blosc2),
    },
    #[cfg(feature = "zfp")]
    NamedFilter {
        names: &["zfp"],
        usage: "zfp=rate:BITS|precision:BITS|accuracy:ERROR|reversible|expert:MINBITS:MAXBITS:PRECISION:EXPONENT",
        parse: zfp,
    },
];

/// The parameters in the text form of a filter request: the words after `=`, separated by colons.
struct Words<'a> {
    rest: Option<std::str::Split<'a, char>>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.rest.as_mut().and_then(Iterator::next)
    }

    fn number<N: FromStr>(&mut self) -> Result<N, String> {
        let word = self.next().ok_or("a number is missing")?;
        word.parse().map_err(|_| not_a_number(word))
    }

    fn number_or<N: FromStr>(&mut self, default: N) -> Result<N, String> {
        match self.next() {
            None => Ok(default),
            Some(word) => word.parse().map_err(|_| not_a_number(word)),
        }
    }

    /// Reads a word from the text form of a filter request, and returns its value from the table
    /// `all`. If no word remains, returns `default`.
    fn one_of<T: Copy>(&mut self, default: T, all: &[(T, &str, u32)]) -> Result<T, String> {
        let Some(word) = self.next() else { return Ok(default) };
        let found = all.iter().find(|(_, name, _)| *name == word);
        found.map(|(value, ..)| *value).ok_or_else(|| format!("{word:?} is unknown"))
    }
}

fn not_a_number(word: &str) -> String {
    format!("{word:?} is not a number in range")
}

fn szip(words: &mut Words<'_>) -> Parsed {
    let coding = match words.next() {
        None | Some("nn") => SzipCoding::NearestNeighbour,
        Some("ec") => SzipCoding::Entropy,
        Some(word) => return Err(format!("{word:?} is neither nn nor ec")),
    };
    Ok(FilterSpec::szip(coding, words.number_or(8)?))
}

fn scale_offset(words: &mut Words<'_>) -> Parsed {
    match words.next() {
        Some("int") => Ok(FilterSpec::scale_offset_int(words.number_or(0)?)),
        Some("float") => Ok(FilterSpec::scale_offset_float(words.number()?)),
        _ => Err("the first parameter is neither int nor float".to_owned()),
    }
}

fn bitshuffle(words: &mut Words<'_>) -> Parsed {
    let codec = match words.next() {
        None | Some("lz4") => BitshuffleCodec::Lz4,
        Some("none") => BitshuffleCodec::None,
        Some("zstd") => BitshuffleCodec::Zstd { level: words.number_or(3)? },
        Some(word) => return Err(format!("{word:?} is none of `none`, `lz4` and `zstd`")),
    };
    Ok(FilterSpec::bitshuffle(words.number_or(0)?, codec))
}

fn blosc(
    words: &mut Words<'_>,
    codec: BloscCodec,
    make: fn(BloscCodec, u32, BloscTransform) -> FilterSpec,
) -> Parsed {
    let codec = words.one_of(codec, &BloscCodec::ALL)?;
    let level = words.number_or(5)?;
    Ok(make(codec, level, words.one_of(BloscTransform::Shuffle, &BloscTransform::ALL)?))
}

#[cfg(feature = "zfp")]
fn zfp(words: &mut Words<'_>) -> Parsed {
    use crate::zfp::Mode;

    Ok(FilterSpec::zfp(match words.next() {
        Some("rate") => Mode::Rate(words.number()?),
        Some("precision") => Mode::Precision(words.number()?),
        Some("accuracy") => Mode::Accuracy(words.number()?),
        Some("reversible") => Mode::Reversible,
        Some("expert") => Mode::Expert {
            min_bits: words.number()?,
            max_bits: words.number()?,
            max_precision: words.number()?,
            min_exponent: words.number()?,
        },
        _ => return Err("the mode is missing or unknown".to_owned()),
    }))
}

fn parse(text: &str) -> Parsed {
    let (body, flags) = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((body, "?")) => (body, Some(Stage::OPTIONAL)),
        Some((body, "!")) => (body, Some(0)),
        _ => (text, None),
    };
    let (name, parameters) = body.split_once('=').map_or((body, None), |(name, rest)| (name, Some(rest)));
    let mut words = Words { rest: parameters.map(|parameters| parameters.split(':')) };
    let mut spec = if let Ok(id) = name.parse().map(FilterId) {
        let numbers = words.rest.take().into_iter().flatten();
        let number = |word: &str| word.parse().map_err(|_| not_a_number(word));
        FilterSpec::custom(id, default_flags(id), numbers.map(number).collect::<Result<Vec<u32>, _>>()?, None)
    } else {
        let named = NAMED_FILTERS.iter().find(|named| named.names.contains(&name));
        let named =
            named.ok_or_else(|| format!("the known filters are {}; or use a filter number", known()))?;
        let spec =
            (named.parse)(&mut words).map_err(|reason| format!("{reason}; expected {}", named.usage))?;
        if let Some(word) = words.next() {
            return Err(format!("unexpected parameter {word:?}; expected {}", named.usage));
        }
        spec
    };
    spec.flags = flags.unwrap_or(spec.flags);
    Ok(spec)
}

fn known() -> String {
    let names: Vec<_> = NAMED_FILTERS.iter().filter_map(|named| named.names.first().copied()).collect();
    names.join(", ")
}

impl FromStr for FilterSpec {
    type Err = ParseFilterError;

    fn from_str(text: &str) -> Result<Self, ParseFilterError> {
        parse(text.trim()).map_err(|reason| ParseFilterError { text: text.to_owned(), reason })
    }
}

impl FilterSpec {
    /// Parses a text with filter requests separated by commas, in the order of encoding. An empty
    /// text stands for no filters.
    ///
    /// # Errors
    /// The error for the first text between commas that is not a valid filter.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ParseFilterError> {
        if text.trim().is_empty() { Ok(Vec::new()) } else { text.split(',').map(str::parse).collect() }
    }

    /// Returns the name and the parameters of a requested filter as text. Returns [`None`] if the
    /// text form cannot name the filter or its parameters.
    fn named_text(&self) -> Option<String> {
        let all = |name: &str| Some(name.to_owned());
        match (self.id, self.client_data.as_slice()) {
            (FilterId::DEFLATE, [level]) => Some(format!("gzip={level}")),
            (FilterId::SHUFFLE, []) => all("shuffle"),
            (FilterId::FLETCHER32, []) => all("fletcher32"),
            (FilterId::NBIT, []) => all("nbit"),
            (FilterId::LZF, []) => all("lzf"),
            (FilterId::LZO, []) => all("lzo"),
            (FilterId::SZIP, [133, pixels]) => Some(format!("szip=ec:{pixels}")),
            (FilterId::SZIP, [161, pixels]) => Some(format!("szip=nn:{pixels}")),
            (FilterId::SCALEOFFSET, [2, bits]) => Some(format!("scaleoffset=int:{bits}")),
            (FilterId::SCALEOFFSET, [0, digits]) => {
                Some(format!("scaleoffset=float:{}", digits.cast_signed()))
            }
            (FilterId::LZ4, [block]) => Some(format!("lz4={block}")),
            (FilterId::ZSTD, [level]) => Some(format!("zstd={level}")),
            (FilterId::BZIP2, [block]) => Some(format!("bzip2={block}")),
            (FilterId::BITSHUFFLE, [block, 0]) => Some(format!("bitshuffle=none:{block}")),
            (FilterId::BITSHUFFLE, [block, 2]) => Some(format!("bitshuffle=lz4:{block}")),
            (FilterId::BITSHUFFLE, [block, 3, level]) => Some(format!("bitshuffle=zstd:{level}:{block}")),
            (FilterId::BLOSC, [0, 0, 0, 0, level, transform, codec]) => {
                blosc_text("blosc", *codec, *level, *transform)
            }
            (FilterId::BLOSC2, [0, 0, 0, 0, level, transform, codec]) => {
                blosc_text("blosc2", *codec, *level, *transform)
            }
            #[cfg(feature = "zfp")]
            (FilterId::ZFP, requested) => zfp_text(requested),
            _ => None,
        }
    }
}

fn blosc_text(name: &str, codec: u32, level: u32, transform: u32) -> Option<String> {
    let codec = BloscCodec::ALL.iter().find(|(.., number)| *number == codec)?.1;
    let transform = BloscTransform::ALL.iter().find(|(.., number)| *number == transform)?.1;
    Some(format!("{name}={codec}:{level}:{transform}"))
}

#[cfg(feature = "zfp")]
fn zfp_text(requested: &[u32]) -> Option<String> {
    use crate::zfp::Mode;

    let mode = Mode::from_request(requested).ok().filter(|mode| mode.request() == requested)?;
    Some(match mode {
        Mode::Rate(bits) => format!("zfp=rate:{bits}"),
        Mode::Precision(bits) => format!("zfp=precision:{bits}"),
        Mode::Accuracy(error) => format!("zfp=accuracy:{error}"),
        Mode::Reversible => "zfp=reversible".to_owned(),
        Mode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
            format!("zfp=expert:{min_bits}:{max_bits}:{max_precision}:{min_exponent}")
        }
    })
}

/// Writes the form that [`FilterSpec::from_str`] parses. The text omits a custom name, and all
/// flags except the optional flag.
impl fmt::Display for FilterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.named_text() {
            f.write_str(&text)?;
        } else {
            write!(f, "{}", self.id.0)?;
            for (at, value) in self.client_data.iter().enumerate() {
                write!(f, "{}{value}", if at == 0 { '=' } else { ':' })?;
            }
        }
        match (self.is_optional(), default_flags(self.id) & Stage::OPTIONAL != 0) {
            (true, false) => f.write_str("?"),
            (false, true) => f.write_str("!"),
            _ => Ok(()),
        }
    }
}
