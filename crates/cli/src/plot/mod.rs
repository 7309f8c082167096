//! `hyperslab plot`: a picture of a dataset.

mod colours;
mod curve;
mod figure;
mod image;
mod layout;
mod line;
mod numbers;
mod occupied;
mod picture;
mod scale;
mod terminal;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use anyhow::{Result, bail};
use hyperslab::{Dataset, File};

use self::figure::{Figure, Values, meaning};
use self::image::{Image, Reduction};
use self::line::Line;
use self::terminal::{Colours, Size};
use crate::lookup;
use crate::open::OpenArguments;
use crate::output::{self, escape};
use crate::output_target::OutputTarget;
use crate::selection::{self, Taken};

/// Pixels of a picture.
const PIXELS: (u32, u32) = (1000, 640);
/// The largest picture along either side.
const MOST_PIXELS: u32 = 8000;
/// Lines of a picture in the terminal.
const LINES: u64 = 20;
const COLUMNS: u16 = 80;

/// What `plot` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "One dimension becomes a line, through the least and the largest of all elements that fall on one pixel, so that no peak \
    is lost. Two dimensions become an image; of more, the last two are drawn, at the first coordinate of the others or at \
    those that -s names.

Examples:
  hyperslab plot data.h5 series/temperature
  hyperslab plot data.h5 frames -s 17 -o frame.png --log
  hyperslab plot data.h5 frames -s '0:100,512,:' -o slice.svg
  hyperslab plot sparse.h5 counts --occupied"
)]
pub(crate) struct PlotArguments {
    /// What to draw, as NumPy's indices: `0:10,::2,5`; `-1` counts from the end, `...` stands for the dimensions left out
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// Where to write the picture, a .png or .svg; without it, it is drawn in the terminal
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Which member of compounds is drawn; one inside another is named with a dot between
    #[arg(long, value_name = "NAME", conflicts_with = "occupied")]
    field: Option<String>,
    /// Values on a logarithmic scale; those that are not larger than 0 are left out
    #[arg(long)]
    log: bool,
    /// Where elements are: which chunks are stored, and how many elements of sparse ones are defined
    #[arg(long, conflicts_with_all = ["log", "reduce", "range"])]
    occupied: bool,
    /// What an image shows of elements that fall on one pixel
    #[arg(long, value_enum, default_value = "mean")]
    reduce: Reduction,
    /// The values at the ends of the scale [default: the least and the largest that are drawn]
    #[arg(long, value_name = "LOW:HIGH", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Pixels of the picture; in the terminal, columns and lines [default: 1000x640, or the width of the terminal]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: Option<(u32, u32)>,
    /// The title [default: the path]
    #[arg(long)]
    title: Option<String>,
    /// Print what would be drawn as a JSON document
    #[arg(long, conflicts_with = "output")]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The dataset
    dataset: String,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    let sound = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
    ends.filter(sound).ok_or_else(|| format!("`{text}` is no range such as 0:100"))
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(wide, high)| Some((wide.parse().ok()?, high.parse().ok()?)));
    let possible =
        |(wide, high): &(u32, u32)| (1..=MOST_PIXELS).contains(wide) && (1..=MOST_PIXELS).contains(high);
    sides
        .filter(possible)
        .ok_or_else(|| format!("`{text}` is no size such as 1000x640, at most {MOST_PIXELS}x{MOST_PIXELS}"))
}

/// Where the picture goes.
#[derive(Debug, Clone, Copy)]
enum Goal {
    Png(u32, u32),
    Svg(u32, u32),
    Terminal(Size, Colours),
}

/// Draws a dataset.
pub(crate) fn run(arguments: &PlotArguments) -> Result<()> {
    let goal = arguments.goal()?;
    let file = arguments.open.open(&arguments.file)?;
    let shown = arguments.file.display().to_string();
    let dataset = lookup::dataset(&file, &shown, &arguments.dataset)?;
    let figure = arguments.figure(&file, &dataset, goal)?;
    if let Some(path) = &arguments.output {
        let mut out = OutputTarget::file(path, &arguments.file)?;
        match goal {
            Goal::Svg(width, height) => picture::svg(&figure, (width, height), &mut out)?,
            Goal::Png(width, height) => picture::png(&figure, (width, height), &mut out)?,
            Goal::Terminal(size, colours) => terminal::draw(&figure, size, colours, &mut out)?,
        }
        out.finish()?;
    } else {
        let mut out = output::stdout();
        if arguments.json {
            serde_json::to_writer(&mut out, &figure.json()).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else if let Goal::Terminal(size, colours) = goal {
            terminal::draw(&figure, size, colours, &mut out)?;
        }
        out.flush()?;
    }
    arguments.open.report();
    Ok(())
}

impl PlotArguments {
    fn goal(&self) -> Result<Goal> {
        let (width, height) = self.size.unwrap_or(PIXELS);
        if let Some(path) = &self.output {
            let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
            let smallest = (width.max(200), height.max(150));
            return match ending.as_deref() {
                Some("png") => Ok(Goal::Png(smallest.0, smallest.1)),
                Some("svg") => Ok(Goal::Svg(smallest.0, smallest.1)),
                _ => bail!("`{}` is neither a .png nor a .svg", path.display()),
            };
        }
        let columns = terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| width.0);
        let (columns, lines) =
            self.size.map_or((columns.into(), LINES), |(wide, high)| (wide.into(), high.into()));
        Ok(Goal::Terminal(Size::within(columns, lines), colours()))
    }

    fn figure(&self, file: &File, dataset: &Dataset, goal: Goal) -> Result<Figure> {
        let taken = self.taken(dataset)?;
        let kept = taken.iter().enumerate().filter(|(_, taken)| taken.kept);
        let kept: Vec<usize> = kept.map(|(dimension, _)| dimension).collect();
        if taken.iter().any(|dimension| dimension.count == 0) {
            bail!("nothing to draw: no elements are selected");
        }
        let title = match &self.title {
            Some(title) => escape(title.as_bytes()),
            None => title(&self.file, dataset, &taken, self.field.as_deref()),
        };
        let label = |number: usize| {
            let dimension = kept.get(number).copied().unwrap_or(0);
            if kept.len() == 1 && taken.len() == 1 {
                "index".into()
            } else {
                format!("index of dimension {dimension}")
            }
        };
        let values = Values { log: self.log, range: self.range };
        if self.occupied {
            let image = occupied::read(dataset, &taken, goal.cells())?;
            let sparse = dataset.sparse().chunking().is_some_and(|chunking| chunking.sparse);
            let what =
                if sparse { "share of elements that are defined" } else { "share of chunks that are stored" };
            let labels = match kept.len() {
                1 => [String::new(), label(0), what.to_owned()],
                _ => [
                    label(kept.len().saturating_sub(2)),
                    label(kept.len().saturating_sub(1)),
                    what.to_owned(),
                ],
            };
            let most = image.cells.iter().copied().filter(|share| share.is_finite()).fold(0.0, f64::max);
            let all = if sparse && most > 0.0 { most } else { 1.0 };
            return Figure::of_image(image, title, labels, Values { log: false, range: Some((0.0, all)) });
        }
        let part = (taken.as_slice(), self.field.as_deref());
        match kept.len() {
            0 => bail!("a single element makes no picture; `hyperslab cat` prints it"),
            1 => {
                let line = Line::read(file, dataset, part, goal.dots())?;
                Figure::of_line(line, title, [label(0), meaning(dataset)], values)
            }
            _ => {
                let image = Image::read(file, dataset, part, goal.cells(), self.reduce)?;
                Figure::of_image(image, title, [label(0), label(1), meaning(dataset)], values)
            }
        }
    }

    /// What is drawn of the dataset: at most two dimensions of it, unless it is where elements are.
    fn taken(&self, dataset: &Dataset) -> Result<Vec<Taken>> {
        let dataspace = dataset.dataspace();
        let dims = dataspace.dims();
        let mut taken = selection::parse_or_everything(self.select.as_deref(), dims)?;
        if self.occupied {
            return Ok(taken);
        }
        let mut more = taken.iter().filter(|dimension| dimension.kept).count().saturating_sub(2);
        for dimension in taken.iter_mut().filter(|dimension| dimension.kept) {
            if more == 0 {
                break;
            }
            if dimension.count > 0 {
                (dimension.count, dimension.kept) = (1, false);
            }
            more = more.saturating_sub(1);
        }
        Ok(taken)
    }
}

impl Goal {
    /// Rows and columns of cells that an image may have.
    fn cells(self) -> (u64, u64) {
        match self {
            Self::Png(width, height) | Self::Svg(width, height) => (height.into(), width.into()),
            Self::Terminal(size, Colours::None) => (size.lines, size.columns),
            Self::Terminal(size, _) => (size.lines.saturating_mul(2), size.columns),
        }
    }

    /// Places that a line has from left to right.
    fn dots(self) -> u64 {
        match self {
            Self::Png(width, _) | Self::Svg(width, _) => width.into(),
            Self::Terminal(size, _) => size.columns.saturating_mul(2),
        }
    }
}

/// The colours that the standard output has.
fn colours() -> Colours {
    if anstream::AutoStream::choice(&std::io::stdout()) == ColorChoice::Never {
        return Colours::None;
    }
    match std::env::var("COLORTERM").as_deref() {
        Ok("truecolor" | "24bit") => Colours::All,
        _ => Colours::Palette,
    }
}

/// `file.h5: /path [3, :, :]`
fn title(file: &Path, dataset: &Dataset, taken: &[Taken], field: Option<&str>) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = dataset.name().trim_start_matches('/');
    let whole =
        taken.iter().zip(dataset.dataspace().dims()).all(|(taken, size)| taken.kept && taken.count == *size);
    let part = |(taken, size): (&Taken, &u64)| match taken {
        Taken { start, kept: false, .. } => start.to_string(),
        Taken { start: 0, step: 1, count, .. } if count == size => ":".to_owned(),
        Taken { start, step, count, .. } => {
            let end = start.saturating_add(count.saturating_mul(*step)).min(*size);
            if *step == 1 { format!("{start}:{end}") } else { format!("{start}:{end}:{step}") }
        }
    };
    let parts: Vec<String> = taken.iter().zip(dataset.dataspace().dims()).map(part).collect();
    let member = field.map(|field| format!(".{field}")).unwrap_or_default();
    let parts = if whole { String::new() } else { format!(" [{}]", parts.join(", ")) };
    escape(output::cut(&format!("{name}: /{path}{member}{parts}"), 90).as_bytes())
}
