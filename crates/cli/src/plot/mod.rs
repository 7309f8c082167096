//! `hyperslab plot`: a picture of a dataset.

mod axis;
mod build;
#[cfg(feature = "plots")]
mod canvas;
mod casts;
mod colours;
mod conventions;
mod coordinates;
#[cfg(feature = "plots")]
mod curve;
mod figure;
#[cfg(feature = "plots")]
mod fonts;
mod image;
#[cfg(feature = "plots")]
mod layout;
mod line;
mod numbers;
mod occupied;
#[cfg(feature = "plots")]
mod picture;
mod scale;
mod series;
mod terminal;
mod times;
mod truecolour;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use anyhow::Result;

use self::colours::ColourMap;
use self::image::Reduction;
use self::terminal::{Colours, Size};
use crate::open::OpenArguments;
use crate::output;
use crate::output_target::OutputTarget;

/// The default size of a plot's picture, in pixels.
#[cfg(feature = "plots")]
const DEFAULT_PIXELS: (u32, u32) = (1000, 640);
/// The largest length of a side of a plot's picture, in pixels.
const MAX_SIDE_PIXELS: u32 = 8000;
/// The default height of a plot in the terminal, in lines.
const TERMINAL_LINES: usize = 20;
/// The width of a plot if the width of the terminal is unknown, in columns.
const TERMINAL_COLUMNS: u16 = 80;

/// The arguments of `plot`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A dataset of one dimension is drawn as a line. Where several elements share a pixel, the line covers the range from the least \
    to the largest, so that no peak is lost. A dataset of two dimensions is drawn as an image. Of more dimensions, the last \
    two are drawn, at the first coordinate of the other dimensions or at the coordinates that -s selects.

Attributes of the CF conventions (scale_factor, add_offset, _FillValue, missing_value, valid_range, units, long_name) and dimension \
    scales are applied; --raw draws the stored values at their indexes. An image of the HDF5 image specification is drawn in its \
    own colours.

Examples:
  hyperslab plot data.h5 series/temperature
  hyperslab plot data.h5 series/temperature series/dew_point    several lines
  hyperslab plot data.h5 pressure --x altitude
  hyperslab plot data.h5 counts --histogram=50 --log
  hyperslab plot data.h5 frames -s 17 -o frame.png --log
  hyperslab plot data.h5 frames -s '0:100,512,:' -o slice.svg
  hyperslab plot sparse.h5 counts --occupied"
)]
pub(crate) struct PlotArguments {
    /// The elements to draw, as NumPy indices such as `0:10,::2,5`. `-1` counts from the end, `...`
    /// selects all of the dimensions left out
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// Write the picture to this .png or .svg file instead of the terminal
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The compound member to draw. Separate the names of nested members with dots
    #[arg(long, value_name = "NAME", conflicts_with = "occupied")]
    field: Option<String>,
    /// Use a logarithmic scale for the values, or for the numbers of a histogram. Values that are
    /// not greater than 0 are left out
    #[arg(long)]
    log: bool,
    /// Draw the stored values at their indexes, without conventions, dimension scales and colours
    #[arg(long)]
    raw: bool,
    /// The coordinates of a line: a dataset with a number for each element
    #[arg(long, value_name = "DATASET", conflicts_with_all = ["histogram", "occupied", "rgb"])]
    x: Option<String>,
    /// Draw the number of values in each of BINS equal ranges; 100 ranges without a number. --range
    /// names the ends
    #[arg(long, value_name = "BINS", num_args = 0..=1, default_missing_value = "100", require_equals = true,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(series::MAX_BINS)), conflicts_with = "occupied")]
    histogram: Option<u32>,
    /// Draw an array with a dimension of 3 or 4 channels as an image in colours
    #[arg(long, conflicts_with_all = ["raw", "occupied", "histogram", "field"])]
    rgb: bool,
    /// The colours of an image [default: diverging for values on both sides of zero, else viridis]
    #[arg(long, value_enum, value_name = "NAME")]
    cmap: Option<ColourMap>,
    /// Draw which chunks are stored. For sparse datasets, draw how many elements are defined
    #[arg(long, conflicts_with_all = ["log", "reduce", "range"])]
    occupied: bool,
    /// The value of an image pixel that covers several elements
    #[arg(long, value_enum, default_value = "mean")]
    reduce: Reduction,
    /// The values at the ends of the scale [default: the least and the largest drawn value]
    #[arg(long, value_name = "LOW:HIGH", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// The size of the picture in pixels, or in columns and lines in the terminal [default:
    /// 1000x640, or the width of the terminal]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: Option<(u32, u32)>,
    /// The title of the picture [default: the path of the dataset]
    #[arg(long)]
    title: Option<String>,
    /// Print the reduced numbers as a JSON document instead of drawing them
    #[arg(long, conflicts_with = "output")]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The HDF5 file
    file: PathBuf,
    /// The path of the dataset; several datasets of one dimension are drawn as lines in one picture
    #[arg(required = true, value_name = "DATASET")]
    datasets: Vec<String>,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    let is_range = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
    ends.filter(is_range).ok_or_else(|| format!("`{text}` is not a range such as 0:100"))
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(wide, high)| Some((wide.parse().ok()?, high.parse().ok()?)));
    let sides_fit = |(wide, high): &(u32, u32)| {
        (1..=MAX_SIDE_PIXELS).contains(wide) && (1..=MAX_SIDE_PIXELS).contains(high)
    };
    sides.filter(sides_fit).ok_or_else(|| {
        format!("`{text}` is not a size such as 1000x640, of at most {MAX_SIDE_PIXELS}x{MAX_SIDE_PIXELS}")
    })
}

/// The format and the size of a plot's output: a picture file, or text in the terminal.
#[derive(Debug, Clone, Copy)]
enum Target {
    #[cfg(feature = "plots")]
    Png(u32, u32),
    #[cfg(feature = "plots")]
    Svg(u32, u32),
    Terminal(Size, Colours),
}

/// Runs the command `plot`: draws the datasets that the arguments name.
pub(crate) fn run(arguments: &PlotArguments) -> Result<()> {
    let target = arguments.target()?;
    let file = arguments.open.open(&arguments.file)?;
    let figure = build::figure(arguments, &file, target)?;
    if let Some(path) = &arguments.output {
        let mut out = OutputTarget::file(path, &arguments.file)?;
        match target {
            #[cfg(feature = "plots")]
            Target::Svg(width, height) => picture::svg(&figure, (width, height), &mut out)?,
            #[cfg(feature = "plots")]
            Target::Png(width, height) => picture::png(&figure, (width, height), &mut out)?,
            Target::Terminal(size, colours) => terminal::draw(&figure, size, colours, &mut out)?,
        }
        out.finish()?;
    } else {
        let mut out = output::stdout();
        if arguments.json {
            serde_json::to_writer(&mut out, &figure.json()).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            match target {
                Target::Terminal(size, colours) => terminal::draw(&figure, size, colours, &mut out)?,
                #[cfg(feature = "plots")]
                Target::Svg(..) | Target::Png(..) => {}
            }
        }
        out.flush()?;
    }
    arguments.open.report();
    Ok(())
}

impl PlotArguments {
    fn target(&self) -> Result<Target> {
        if let Some(path) = &self.output {
            return self.picture(path);
        }
        let terminal_columns = terminal_size::terminal_size().map_or(TERMINAL_COLUMNS, |(width, _)| width.0);
        let default = (usize::from(terminal_columns), TERMINAL_LINES);
        let (columns, lines) = self.size.map_or(default, |(wide, high)| (wide as usize, high as usize));
        Ok(Target::Terminal(Size::within(columns, lines), colours()))
    }

    /// Returns the format and the size of the plot's picture file.
    #[cfg(feature = "plots")]
    fn picture(&self, path: &Path) -> Result<Target> {
        let (width, height) = self.size.unwrap_or(DEFAULT_PIXELS);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let smallest = (width.max(200), height.max(150));
        match ending.as_deref() {
            Some("png") => Ok(Target::Png(smallest.0, smallest.1)),
            Some("svg") => Ok(Target::Svg(smallest.0, smallest.1)),
            _ => anyhow::bail!("the name of the picture `{}` must end with .png or .svg", path.display()),
        }
    }

    /// Returns an error, because this build cannot write pictures to files.
    #[cfg(not(feature = "plots"))]
    #[expect(clippy::unused_self, reason = "the signature is that of the build with pictures")]
    fn picture(&self, _: &Path) -> Result<Target> {
        Err(crate::missing_feature::missing_feature("PNG and SVG pictures"))
    }
}

impl Target {
    /// Returns the largest numbers of cell rows and cell columns of an image that the output of the
    /// plot can show.
    fn cells(self) -> (usize, usize) {
        match self {
            #[cfg(feature = "plots")]
            Self::Png(width, height) | Self::Svg(width, height) => (height as usize, width as usize),
            Self::Terminal(size, Colours::None) => (size.lines, size.columns),
            Self::Terminal(size, _) => (size.lines * 2, size.columns),
        }
    }

    /// Returns the largest number of horizontal positions of a plotted line that the output of the
    /// plot can show.
    fn dots(self) -> usize {
        match self {
            #[cfg(feature = "plots")]
            Self::Png(width, _) | Self::Svg(width, _) => width as usize,
            Self::Terminal(size, _) => size.columns * 2,
        }
    }
}

/// Returns the colours that the standard output supports.
fn colours() -> Colours {
    if anstream::AutoStream::choice(&std::io::stdout()) == ColorChoice::Never {
        return Colours::None;
    }
    match std::env::var("COLORTERM").as_deref() {
        Ok("truecolor" | "24bit") => Colours::All,
        _ => Colours::Palette,
    }
}
