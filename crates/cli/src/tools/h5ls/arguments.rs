//! The arguments of h5ls.

use std::ffi::OsString;

use lexopt::{Arg, Parser};

/// Columns of a line, if nothing says how many there are.
const WIDTH: usize = 80;

/// What is asked for.
#[derive(Debug)]
pub(super) enum Asked {
    List(H5lsArguments),
    Help,
    Version,
    /// Nothing that can be done; why, if there is more to say than how it is done.
    Wrong(String),
}

/// What is listed, and how.
#[derive(Debug, Clone)]
pub(super) struct H5lsArguments {
    /// Files, each perhaps with the path of an object behind it.
    pub(super) files: Vec<OsString>,
    /// Where raw data lies.
    pub(super) address: bool,
    /// Elements.
    pub(super) data: bool,
    /// What soft links lead to.
    pub(super) soft: bool,
    /// What external links lead to.
    pub(super) external: bool,
    /// Links that lead nowhere are an error.
    pub(super) no_dangling: bool,
    /// Paths instead of names.
    pub(super) full: bool,
    /// A group itself, not what is in it.
    pub(super) group: bool,
    /// Names of the members of compounds.
    pub(super) label: bool,
    pub(super) recursive: bool,
    /// Integers of one byte are text.
    pub(super) characters: bool,
    /// One element per line.
    pub(super) simple: bool,
    pub(super) width: usize,
    pub(super) verbose: bool,
    /// Elements as bytes.
    pub(super) hexadecimal: bool,
    pub(super) driver: Option<String>,
}

impl Asked {
    /// Reads arguments, without the name of the program.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = H5lsArguments::nothing();
        loop {
            let option = match parser.next() {
                Ok(None) => break,
                Ok(Some(Arg::Value(file))) => {
                    // Whatever stands behind a file is a file.
                    parsed.files.push(file);
                    parsed.files.extend(parser.raw_args().into_iter().flatten());
                    break;
                }
                Ok(Some(Arg::Short(letter))) => letter.to_string(),
                Ok(Some(Arg::Long(name))) => name.to_owned(),
                Err(error) => return Self::Wrong(error.to_string()),
            };
            match option.as_str() {
                "h" | "?" | "help" => return Self::Help,
                "V" | "version" => return Self::Version,
                _ => {}
            }
            if let Err(why) = parsed.take(&option, &mut parser) {
                return Self::Wrong(why);
            }
        }
        if parsed.no_dangling && !parsed.soft {
            return Self::Wrong(
                "--no-dangling-links must be used along with --follow-symlinks option!".into(),
            );
        }
        if parsed.group && parsed.recursive {
            return Self::Wrong("a group itself (-g) and all that is in it (-r) exclude each other".into());
        }
        if parsed.files.is_empty() {
            return Self::Wrong("no file is named".into());
        }
        Self::List(parsed)
    }
}

impl H5lsArguments {
    fn nothing() -> Self {
        Self {
            files: Vec::new(),
            address: false,
            data: false,
            soft: false,
            external: false,
            no_dangling: false,
            full: false,
            group: false,
            label: false,
            recursive: false,
            characters: false,
            simple: false,
            width: columns(),
            verbose: false,
            hexadecimal: false,
            driver: None,
        }
    }

    fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), String> {
        let mut text = || {
            let value = parser.value().and_then(lexopt::ValueExt::string);
            value.map_err(|error| error.to_string())
        };
        match option {
            "a" | "address" => self.address = true,
            "d" | "data" => self.data = true,
            "E" | "external" => self.external = true,
            "follow-symlinks" => (self.soft, self.external) = (true, true),
            "no-dangling-links" => self.no_dangling = true,
            "f" | "full" => self.full = true,
            "g" | "group" => self.group = true,
            "l" | "label" => self.label = true,
            "r" | "recursive" => self.recursive = true,
            "s" | "string" => self.characters = true,
            "S" | "simple" => self.simple = true,
            "v" | "verbose" => self.verbose = true,
            "x" | "hexdump" => self.hexadecimal = true,
            // There is no stack of errors.
            "e" | "errors" | "enable-error-stack" => drop(parser.optional_value()),
            "page-buffer-size" => drop(text()?),
            "w" | "width" => {
                let width = text()?;
                self.width = width.parse().map_err(|_| format!("`{width}` is no number of columns"))?;
            }
            "vfd" | "vfd-name" => self.driver = Some(text()?),
            "s3-cred" | "hdfs-attrs" | "vol-value" | "vol-name" | "vol-info" | "vfd-value" | "vfd-info" => {
                return Err(format!("option `--{option}` is not supported"));
            }
            _ => return Err(format!("Unknown argument: {option}")),
        }
        Ok(())
    }
}

/// Columns that the environment or the terminal has.
fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.filter(|columns| *columns > 0).or_else(terminal).unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Asked {
        Asked::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn what_stands_behind_a_file_is_a_file() {
        let Asked::List(list) = parse(&["-rvw60", "--data", "a.h5/g", "-x"]) else { unreachable!() };
        assert_eq!((list.recursive, list.verbose, list.data, list.width), (true, true, true, 60));
        assert_eq!(list.files, ["a.h5/g", "-x"]);
        assert!(!list.hexadecimal);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        assert!(matches!(parse(&["-help"]), Asked::Help));
        assert!(matches!(parse(&["-?", "--nonsense"]), Asked::Help));
        assert!(matches!(parse(&["-V"]), Asked::Version));
        for wrong in
            [&["-rg", "a"][..], &["--no-dangling-links", "a"], &["-wx", "a"], &["-v"], &["-k", "a"], &["-w"]]
        {
            assert!(matches!(parse(wrong), Asked::Wrong(_)), "{wrong:?}");
        }
    }
}
