//! The arguments of h5ls.

use std::ffi::OsString;

use lexopt::{Arg, Parser};

/// The default width of an output line of h5ls.
const DEFAULT_COLUMNS: usize = 80;

/// The task of h5ls according to its arguments: a list, the help text or the version.
#[derive(Debug)]
pub(super) enum H5lsTask {
    List(H5lsArguments),
    Help,
    Version,
    /// Wrong arguments, with the reason.
    Wrong(String),
}

/// The arguments of h5ls for the task of a list.
#[derive(Debug, Clone)]
pub(super) struct H5lsArguments {
    /// The files, each with an optional object path after the file name.
    pub(super) files: Vec<OsString>,
    /// Print the addresses of raw data.
    pub(super) address: bool,
    /// Print elements.
    pub(super) data: bool,
    /// Follow soft links.
    pub(super) soft: bool,
    /// Follow external links.
    pub(super) external: bool,
    /// Treat links without a target as errors.
    pub(super) no_dangling: bool,
    /// Print paths instead of names.
    pub(super) full: bool,
    /// Print a group itself instead of its members.
    pub(super) group: bool,
    /// Print the names of compound members.
    pub(super) label: bool,
    pub(super) recursive: bool,
    /// Print integers of one byte as text.
    pub(super) characters: bool,
    /// Print one element per line.
    pub(super) simple: bool,
    pub(super) width: usize,
    pub(super) verbose: bool,
    /// Print elements as bytes.
    pub(super) hexadecimal: bool,
    pub(super) driver: Option<String>,
}

impl H5lsTask {
    /// Parses the arguments of h5ls, without the name of the program.
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = H5lsArguments::nothing();
        loop {
            let option = match parser.next() {
                Ok(None) => break,
                Ok(Some(Arg::Value(file))) => {
                    // All arguments after a file are files.
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
            return Self::Wrong("-g lists a group itself, -r everything below it: choose one of them".into());
        }
        if parsed.files.is_empty() {
            return Self::Wrong("no file is given".into());
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
            // This program has no error stack.
            "e" | "errors" | "enable-error-stack" => drop(parser.optional_value()),
            "page-buffer-size" => drop(text()?),
            "w" | "width" => {
                let width = text()?;
                self.width = width.parse().map_err(|_| format!("`{width}` is not a number of columns"))?;
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

/// Returns the width of the output in columns, from the environment or the terminal.
fn columns() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    stated.filter(|columns| *columns > 0).or_else(terminal).unwrap_or(DEFAULT_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> H5lsTask {
        H5lsTask::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn arguments_after_a_file_are_files() {
        let H5lsTask::List(list) = parse(&["-rvw60", "--data", "a.h5/g", "-x"]) else { unreachable!() };
        assert_eq!((list.recursive, list.verbose, list.data, list.width), (true, true, true, 60));
        assert_eq!(list.files, ["a.h5/g", "-x"]);
        assert!(!list.hexadecimal);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(matches!(parse(&["-help"]), H5lsTask::Help));
        assert!(matches!(parse(&["-?", "--nonsense"]), H5lsTask::Help));
        assert!(matches!(parse(&["-V"]), H5lsTask::Version));
        for wrong in
            [&["-rg", "a"][..], &["--no-dangling-links", "a"], &["-wx", "a"], &["-v"], &["-k", "a"], &["-w"]]
        {
            assert!(matches!(parse(wrong), H5lsTask::Wrong(_)), "{wrong:?}");
        }
    }
}
