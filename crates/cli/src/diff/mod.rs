//! `hyperslab diff`: the differences between two files, as text or JSON.

mod attributes;
mod datasets;
mod found;
mod json;
mod tally;
mod text;
mod walk;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use self::found::Counts;
use self::walk::Comparison;
use crate::compare::rules::{Relative, Rules};
use crate::open::OpenArguments;
use crate::output;

/// The exit code of a comparison of two files if they differ.
const DIFFERENT: u8 = 1;
/// The exit code of a comparison of two files if a part of them could not be compared.
const TROUBLE: u8 = 2;

/// The arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit code: 0 if the files do not differ, 1 if they differ, 2 if something could not be read.

Examples:
  hyperslab diff before.h5 after.h5
  hyperslab diff before.h5 after.h5 /results --relative 1e-6
  hyperslab diff run1.h5 run2.h5 --exclude /log --exclude /@created
  hyperslab diff run.h5 run.h5 /first /second --storage")]
pub(crate) struct DiffArguments {
    /// Treat numbers as equal if their distance is at most DISTANCE
    #[arg(long, value_name = "DISTANCE", value_parser = tolerance)]
    absolute: Option<f64>,
    /// Treat numbers as equal if their distance is at most SHARE times the larger number. With
    /// --absolute, one of the two conditions is enough
    #[arg(long, value_name = "SHARE", value_parser = tolerance)]
    relative: Option<f64>,
    /// Treat NaN as equal to NaN
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    nan_equal: bool,
    /// Leave out an object with everything below it, or an attribute: /group/object,
    /// /object@attribute
    #[arg(long, value_name = "PATH")]
    exclude: Vec<String>,
    /// Also compare storage: layouts, chunks, filters, fill values, and which elements of sparse
    /// datasets are defined
    #[arg(long)]
    storage: bool,
    /// The largest number of differing elements to show for each dataset or attribute
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    places: usize,
    /// Print nothing; only set the exit code
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The first file
    #[arg(value_name = "A")]
    one: PathBuf,
    /// The second file, which may be the same as the first
    #[arg(value_name = "B")]
    other: PathBuf,
    /// The object to compare, with everything below it
    #[arg(default_value = "/", hide_default_value = true)]
    object: String,
    /// The path of the object in the second file [default: the same path]
    other_object: Option<String>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err("a tolerance is a number that is not negative".into()),
    }
}

impl DiffArguments {
    /// Returns the rules for the comparison of numbers that the command-line arguments state.
    fn rules(&self) -> Rules {
        Rules {
            absolute: self.absolute,
            relative: self.relative.map(Relative::OfLarger),
            nan_equal: self.nan_equal,
            ..Rules::default()
        }
    }
}

/// Compares two files. The exit code is 0 if nothing differs, 1 if something differs, and 2 if
/// something could not be read.
pub(crate) fn run(arguments: &DiffArguments) -> Result<ExitCode> {
    let code = match compare(arguments) {
        Ok(counts) if counts.trouble > 0 => TROUBLE,
        Ok(counts) if counts.is_same() => 0,
        Ok(_) => DIFFERENT,
        // The program that reads the output closed it. `main` handles this error.
        Err(error) if crate::is_closed_output(&error) => return Err(error),
        Err(error) => {
            output::complain(format_args!("hyperslab: {}", output::chain(error.as_ref())));
            TROUBLE
        }
    };
    arguments.open.report();
    Ok(ExitCode::from(code))
}

fn compare(arguments: &DiffArguments) -> Result<Counts> {
    let (one, other) = (arguments.open.open(&arguments.one)?, arguments.open.open(&arguments.other)?);
    let bar = progress_bar(arguments);
    let mut out = output::stdout();
    let mut document = json::Document::new(arguments);
    let mut counts = Counts::default();
    let mut comparison = Comparison::new(arguments, [&one, &other], &bar);
    comparison.run(&mut |finding| {
        counts.add(&finding);
        if arguments.json {
            document.add(&finding);
        } else if !arguments.quiet {
            bar.suspend(|| text::write(&mut out, &finding).and_then(|()| out.flush()))?;
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    if arguments.json {
        document.write(&mut out, &counts)?;
    } else if !arguments.quiet {
        text::summary(&mut out, &counts)?;
    }
    out.flush()?;
    Ok(counts)
}

/// Returns a progress bar on standard error. The bar shows the objects that are compared at the
/// moment. The option `--quiet` hides the bar.
fn progress_bar(arguments: &DiffArguments) -> ProgressBar {
    if arguments.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
