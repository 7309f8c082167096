//! The arguments of h5diff.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};
use lexopt::{Arg, Parser, ValueExt as _};

use crate::compare::rules::{Relative, Rules};

/// The arguments of h5diff.
#[derive(Debug, Default)]
pub(super) struct H5diffArguments {
    pub(super) files: Vec<PathBuf>,
    pub(super) objects: Vec<String>,
    pub(super) report: bool,
    /// The level of `-v`.
    pub(super) verbose: Option<u32>,
    pub(super) quiet: bool,
    /// List the objects that cannot be compared.
    pub(super) list: bool,
    pub(super) follow: bool,
    pub(super) no_dangling: bool,
    /// The largest number of differences that are printed for each object.
    pub(super) max_differences: Option<u64>,
    pub(super) absolute: Option<f64>,
    pub(super) relative: Option<f64>,
    pub(super) epsilon: bool,
    pub(super) no_nan: bool,
    pub(super) excluded: Vec<String>,
    pub(super) excluded_attributes: Vec<String>,
    /// Brackets belong to the names of datasets, and do not select elements.
    pub(super) no_subset: bool,
    /// The drivers of the two files.
    pub(super) drivers: [Option<String>; 2],
    pub(super) help: bool,
    pub(super) version: bool,
}

/// The reason why h5diff rejects its arguments: a wrong value, an unknown option, or another error.
#[derive(Debug)]
pub(super) enum Refused {
    /// A wrong value, with the option.
    Value(String),
    /// An unknown option.
    Option(String),
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

impl From<lexopt::Error> for Refused {
    fn from(error: lexopt::Error) -> Self {
        Self::Other(error.into())
    }
}

impl H5diffArguments {
    /// Parses the arguments of h5diff, without the name of the program.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Refused> {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = Self::default();
        while let Some(argument) = parser.next()? {
            let option = match argument {
                Arg::Value(value) if parsed.files.len() < 2 => {
                    parsed.files.push(value.into());
                    continue;
                }
                Arg::Value(value) => {
                    parsed.objects.push(value.string()?);
                    continue;
                }
                Arg::Short(letter) => letter.to_string(),
                Arg::Long(name) => name.to_owned(),
            };
            parsed.take(&option, &mut parser)?;
        }
        Ok(parsed)
    }

    fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), Refused> {
        match option {
            "h" | "help" => self.help = true,
            "V" | "version" => self.version = true,
            "r" | "report" => self.report = true,
            "v" | "verbose" => {
                let level = parser.optional_value().map(|level| level.to_string_lossy().into_owned());
                let level = level.as_deref().unwrap_or("");
                self.verbose = Some(level.parse().unwrap_or(0));
                // Letters after the level are further options.
                for letter in level.chars().filter(|letter| letter.is_ascii_alphabetic() && *letter != 'v') {
                    self.take(&letter.to_string(), parser)?;
                }
            }
            "q" | "quiet" => self.quiet = true,
            "c" | "compare" => self.list = true,
            "l" | "follow-symlinks" => self.follow = true,
            "x" | "no-dangling-links" => self.no_dangling = true,
            "N" | "nan" => self.no_nan = true,
            "e" | "use-system-epsilon" => self.epsilon = true,
            "no-compact-subset" => self.no_subset = true,
            "S" | "enable-error-stack" => drop(parser.optional_value()),
            _ => return self.take_value(option, parser),
        }
        Ok(())
    }

    /// Parses an option of h5diff that requires a value.
    fn take_value(&mut self, option: &str, parser: &mut Parser) -> Result<(), Refused> {
        match option {
            "n" | "count" => {
                let text = parser.value()?.string()?;
                let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
                let number = number.flatten().filter(|number| *number > 0);
                self.max_differences = Some(number.ok_or_else(|| Refused::Value(format!("-n {text}")))?);
            }
            "d" | "delta" => {
                let text = parser.value()?.string()?;
                self.absolute = Some(tolerance(&text).ok_or_else(|| Refused::Value(format!("-d {text}")))?);
            }
            "p" | "relative" => {
                let text = parser.value()?.string()?;
                self.relative = Some(tolerance(&text).ok_or_else(|| Refused::Value(format!("-p {text}")))?);
            }
            "E" | "exclude-path" => self.excluded.push(parser.value()?.string()?),
            "A" | "exclude-attribute" => self.excluded_attributes.push(parser.value()?.string()?),
            "vfd-name-1" => self.drivers[0] = Some(parser.value()?.string()?),
            "vfd-name-2" => self.drivers[1] = Some(parser.value()?.string()?),
            "page-buffer-size" | "vol-value-1" | "vol-value-2" | "vol-name-1" | "vol-name-2"
            | "vol-info-1" | "vol-info-2" | "vfd-value-1" | "vfd-value-2" | "vfd-info-1" | "vfd-info-2" => {
                drop(parser.value()?);
            }
            _ => return Err(Refused::Option(option.to_owned())),
        }
        Ok(())
    }

    /// Returns the rules for the comparison of numbers that the options of h5diff state.
    pub(super) fn rules(&self) -> Rules {
        Rules {
            absolute: self.absolute.filter(|limit| *limit > 0.0),
            relative: self.relative.filter(|limit| *limit > 0.0).map(Relative::OfFirst),
            epsilon: self.epsilon,
            nan_equal: !self.no_nan,
            by_bits: true,
        }
    }

    /// Returns true if the output of h5diff lists each difference.
    pub(super) fn lists_differences(&self) -> bool {
        !self.quiet && (self.report || self.verbose.is_some())
    }

    /// Returns true if the output of h5diff also mentions equal objects.
    pub(super) fn is_verbose(&self) -> bool {
        self.verbose.is_some() && !self.quiet
    }

    /// Returns an error message and the exit status if options of h5diff exclude each other.
    pub(super) fn conflict(&self) -> Option<(&'static str, u8)> {
        let tolerances = [self.absolute.is_some(), self.relative.is_some(), self.epsilon];
        if tolerances.iter().filter(|given| **given).count() > 1 {
            return Some((EXCLUSIVE, 1));
        }
        if self.no_dangling && !self.follow {
            return Some(("Error: --no-dangling-links must be used along with --follow-symlinks option.", 2));
        }
        if self.quiet && (self.verbose.is_some() || self.report) {
            return Some(("Error: -q (quiet mode) cannot be added to verbose or report modes", 2));
        }
        None
    }

    /// Returns the driver for a file that the options of h5diff state.
    pub(super) fn driver(&self, file: usize) -> Result<Option<&str>> {
        let driver = self.drivers.get(file).and_then(Option::as_deref);
        if driver == Some("onion") {
            bail!("files of revisions (onion) are not supported");
        }
        Ok(driver)
    }
}

const EXCLUSIVE: &str = "h5diff error: -d, -p and --use-system-epsilon options are mutually-exclusive;\n\
    use no more than one.\n\
    Try '-h' or '--help' option for more information or see the h5diff entry in the 'HDF5 Reference Manual'.";

/// Parses a tolerance as the C tool h5diff does. Uses the longest prefix that is a number, or else
/// zero. Rejects negative and hexadecimal numbers.
fn tolerance(text: &str) -> Option<f64> {
    let trimmed = text.trim_start();
    if trimmed.starts_with('-') || trimmed.starts_with("0x") {
        return None;
    }
    let ends = trimmed.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
    let number = ends.filter_map(|end| trimmed.get(..end)?.parse::<f64>().ok()).next();
    Some(number.filter(|number| !number.is_nan()).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_parsed_as_in_c() {
        for (text, expected) in [
            ("0.5", Some(0.5)),
            ("12a", Some(12.0)),
            ("u", Some(0.0)),
            ("+1", Some(1.0)),
            ("1e-3", Some(0.001)),
        ] {
            assert_eq!(tolerance(text), expected, "{text}");
        }
        assert_eq!([tolerance("-4"), tolerance("0x1"), tolerance(" -1")], [None; 3]);
    }

    #[test]
    fn options_set_their_fields() {
        let parse = |text: &str| H5diffArguments::parse(text.split(' ').map(OsString::from));
        let parsed = parse("-v2 -n 3 --delta=0.5 a.h5 b.h5 /x -E /y -l").unwrap();
        assert_eq!((parsed.verbose, parsed.max_differences, parsed.absolute), (Some(2), Some(3), Some(0.5)));
        assert_eq!((parsed.files.len(), parsed.objects.len(), parsed.follow), (2, 1, true));
        assert!(matches!(parse("-n 0 a b"), Err(Refused::Value(text)) if text == "-n 0"));
        assert!(matches!(parse("--nonsense a b"), Err(Refused::Option(_))));
        assert!(parse("-d 1 -p 1 a b").unwrap().conflict().is_some());
    }
}
