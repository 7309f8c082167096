//! The construction of the figure that the command line of `plot` describes.

use std::path::Path;

use anyhow::{Result, bail};
use hyperslab::{Dataset, File};
use serde_json::json;

use super::axis::{Axis, Ticks};
use super::conventions::{self, Conventions};
use super::coordinates::{self, Coordinates};
use super::figure::{Figure, Values};
use super::image::Image;
use super::line::Line;
use super::numbers::Part;
use super::scale::Scale;
use super::series::{Curve, scale_of_values};
use super::truecolour::ColourImage;
use super::{PlotArguments, Target, occupied};
use crate::lookup;
use crate::output::{self, escape};
use crate::selection::{self, Taken};

/// A dataset to plot, with its selection and its attributes.
struct Drawn {
    dataset: Dataset,
    taken: Vec<Taken>,
    /// The dimensions that are drawn.
    kept: Vec<usize>,
    conventions: Conventions,
}

/// Reads the datasets that the arguments of `plot` name, and returns their figure.
pub(super) fn figure(arguments: &PlotArguments, file: &File, target: Target) -> Result<Figure> {
    let builder = Builder { arguments, file, target };
    let mut all = Vec::new();
    for path in &arguments.datasets {
        all.push(builder.open(path)?);
    }
    let Some(first) = all.first() else { bail!("there is no dataset to draw") };
    if let Some(bins) = arguments.histogram {
        return builder.histogram(&all, bins);
    }
    if first.kept.len() == 1 && !arguments.occupied {
        return builder.lines(&all);
    }
    if all.len() > 1 {
        bail!(
            "several datasets can be drawn only as lines or histograms; select one dimension of each with -s"
        );
    }
    if arguments.x.is_some() {
        bail!("--x works only for a selection of one dimension; select one dimension with -s");
    }
    builder.one(first)
}

struct Builder<'a> {
    arguments: &'a PlotArguments,
    file: &'a File,
    target: Target,
}

impl Builder<'_> {
    fn open(&self, path: &str) -> Result<Drawn> {
        let shown = self.arguments.file.display().to_string();
        let dataset = lookup::dataset(self.file, &shown, path)?;
        let conventions =
            if self.arguments.raw { Conventions::default() } else { Conventions::of(&dataset)? };
        let taken = self.taken(&dataset)?;
        if taken.iter().any(|dimension| dimension.count == 0) {
            bail!("nothing to draw: no elements are selected");
        }
        let kept = taken.iter().enumerate().filter(|(_, taken)| taken.kept);
        let kept: Vec<usize> = kept.map(|(dimension, _)| dimension).collect();
        Ok(Drawn { dataset, taken, kept, conventions })
    }

    fn part<'d>(&'d self, drawn: &'d Drawn) -> Part<'d> {
        let Drawn { taken, conventions, .. } = drawn;
        Part { taken, field: self.arguments.field.as_deref(), conventions: conventions.clone() }
    }

    fn values(&self) -> Values {
        let PlotArguments { log, range, cmap, .. } = *self.arguments;
        Values { log, range, colours: cmap }
    }

    fn title(&self, all: &[Drawn]) -> String {
        if let Some(title) = &self.arguments.title {
            return escape(title.as_bytes());
        }
        if let [one] = all {
            return title(&self.arguments.file, one, self.arguments.field.as_deref());
        }
        let name = self.arguments.file.file_name().unwrap_or(self.arguments.file.as_os_str());
        escape(name.as_encoded_bytes())
    }

    /// Returns the plot axis label for a dimension without coordinates.
    fn index_label(drawn: &Drawn, dimension: usize) -> String {
        if drawn.kept.len() == 1 && drawn.taken.len() == 1 {
            "index".into()
        } else {
            format!("index of dimension {dimension}")
        }
    }

    /// Returns the coordinates of a dimension from its dimension scale.
    fn coordinates(&self, drawn: &Drawn, dimension: usize) -> Result<Option<Coordinates>> {
        match drawn.taken.get(dimension) {
            Some(taken) if !self.arguments.raw && !self.arguments.occupied => {
                Coordinates::of_dimension(&drawn.dataset, dimension, taken)
            }
            _ => Ok(None),
        }
    }

    /// Returns a figure that shows one-dimensional datasets as lines.
    fn lines(&self, all: &[Drawn]) -> Result<Figure> {
        let (mut curves, mut axis, mut documents) = (Vec::new(), None::<Axis>, Vec::new());
        let mut labels = Vec::new();
        for drawn in all {
            let [dimension] = *drawn.kept.as_slice() else {
                bail!(
                    "the selection of `{}` must have one dimension; select one dimension with -s",
                    drawn.dataset.name()
                );
            };
            let name = escape(drawn.dataset.name().trim_start_matches('/').as_bytes());
            let part = self.part(drawn);
            let taken = drawn.taken.get(dimension);
            let this = if let (Some(path), Some(taken)) = (&self.arguments.x, taken) {
                let shown = self.arguments.file.display().to_string();
                let coordinates = coordinates::named(&lookup::dataset(self.file, &shown, path)?, taken)?;
                let curve = Curve::against(name, self.file, &drawn.dataset, &part, &coordinates)?;
                documents.push(curve.json("points"));
                curves.push(curve);
                coordinates.line_axis(false)?
            } else {
                let coordinates = self.coordinates(drawn, dimension)?;
                let line = Line::read(self.file, &drawn.dataset, &part, self.target.dots())?;
                documents.push(line.json());
                curves.push(Curve::of_line(name, &line, coordinates.as_ref()));
                match coordinates {
                    Some(coordinates) => coordinates.line_axis(false)?,
                    None => Axis::new(line.x_scale(), Ticks::Indexes, Self::index_label(drawn, dimension)),
                }
            };
            axis = Some(match axis {
                None => this,
                Some(axis) => axis.joined(this),
            });
            labels.push(self.label(drawn));
        }
        labels.dedup();
        // Lines of different quantities have no common label.
        let label = match labels.as_slice() {
            [one] => one.clone(),
            _ => String::new(),
        };
        let Some(axis) = axis else { bail!("there is no dataset to draw") };
        let document = match documents.as_slice() {
            [one] => one.clone(),
            _ => json!({ "kind": "lines", "lines": documents }),
        };
        Figure::of_curves(curves, self.title(all), (axis, label), self.values(), document)
    }

    fn label(&self, drawn: &Drawn) -> String {
        if self.arguments.raw {
            return String::new();
        }
        conventions::label(&drawn.dataset)
    }

    /// Returns a figure that shows the histograms of datasets.
    fn histogram(&self, all: &[Drawn], bins: u32) -> Result<Figure> {
        let mut scale: Option<Scale> = None;
        for drawn in all {
            let found = match self.arguments.range {
                Some((low, high)) => Some(Scale { low, high, log: false }),
                None => scale_of_values(self.file, &drawn.dataset, &self.part(drawn), false)?,
            };
            scale = match (scale, found) {
                (Some(scale), Some(found)) => Some(scale.joined(found)),
                (scale, found) => scale.or(found),
            };
        }
        let Some(scale) = scale else { bail!("nothing to draw: there are no numbers") };
        let mut curves = Vec::new();
        for drawn in all {
            let name = escape(drawn.dataset.name().trim_start_matches('/').as_bytes());
            let part = self.part(drawn);
            curves.push(Curve::histogram(name, self.file, &drawn.dataset, &part, (scale, bins))?);
        }
        let label = match all {
            [one] => self.label(one),
            _ => String::new(),
        };
        let label = if label.is_empty() { "value".to_owned() } else { label };
        let documents: Vec<_> = curves.iter().map(|curve| curve.json("histogram")).collect();
        let document = match documents.as_slice() {
            [one] => one.clone(),
            _ => json!({ "kind": "histograms", "histograms": documents }),
        };
        let axis = Axis::new(scale, Ticks::Numbers, label);
        let values = Values { range: None, ..self.values() };
        Figure::of_curves(curves, self.title(all), (axis, "number of values".to_owned()), values, document)
    }

    /// Returns a figure that shows one dataset as an image.
    fn one(&self, drawn: &Drawn) -> Result<Figure> {
        let title = self.title(std::slice::from_ref(drawn));
        if self.arguments.occupied {
            return self.occupied(drawn, title);
        }
        let Drawn { dataset, kept, .. } = drawn;
        if !self.arguments.raw
            && let Some(image) = ColourImage::of(dataset, self.arguments.rgb)?
        {
            let taken =
                selection::parse_or_everything(self.arguments.select.as_deref(), dataset.dataspace().dims())?;
            let picture = image.read(self.file, dataset, &taken, self.target.cells())?;
            let whole = Drawn {
                dataset: dataset.clone(),
                taken,
                kept: kept.clone(),
                conventions: Conventions::default(),
            };
            let title = self.title(std::slice::from_ref(&whole));
            return Ok(Figure::of_picture(picture, title, ["row".into(), "column".into()]));
        }
        let [row, column] = *kept.as_slice() else {
            bail!("a single element cannot be drawn; `hyperslab cat` prints it");
        };
        let part = self.part(drawn);
        let image = Image::read(self.file, dataset, &part, self.target.cells(), self.arguments.reduce)?;
        let rows = self.coordinates(drawn, row)?;
        // Coordinates increase upwards, as in other programs; rows without coordinates are counted
        // from the top.
        let downwards = !rows.as_ref().is_some_and(Coordinates::increases);
        let axis = |coordinates: Option<Coordinates>, indexes: Axis| match coordinates {
            Some(coordinates) => coordinates.image_axis(),
            None => indexes,
        };
        let y = axis(rows, image.rows.axis(Self::index_label(drawn, row)));
        let x = self.coordinates(drawn, column)?;
        let x = axis(x, image.columns.axis(Self::index_label(drawn, column)));
        Figure::of_image(image, title, ([y, x], downwards), self.label(drawn), self.values())
    }

    /// Returns a figure that shows the stored or defined parts of a dataset.
    fn occupied(&self, drawn: &Drawn, title: String) -> Result<Figure> {
        let Drawn { dataset, taken, kept, .. } = drawn;
        let image = occupied::read(dataset, taken, self.target.cells())?;
        let sparse = dataset.sparse().chunking().is_some_and(|chunking| chunking.sparse);
        let label =
            if sparse { "share of elements that are defined" } else { "share of chunks that are stored" };
        let index = |dimension: usize| Self::index_label(drawn, dimension);
        let labels = match kept.as_slice() {
            [] => [index(0), index(0)],
            [column] => [String::new(), index(*column)],
            [.., row, column] => [index(*row), index(*column)],
        };
        let largest = image.cells.iter().copied().filter(|share| share.is_finite()).fold(0.0, f64::max);
        let high = if sparse && largest > 0.0 { largest } else { 1.0 };
        let [row, column] = labels;
        let axes = [image.rows.axis(row), image.columns.axis(column)];
        let values = Values { log: false, range: Some((0.0, high)), colours: self.arguments.cmap };
        Figure::of_image(image, title, (axes, true), label.to_owned(), values)
    }

    /// Returns the selected coordinates of a dataset to plot. Without `--occupied` and
    /// `--histogram`, keeps at most two dimensions, and only the first selected coordinate of each
    /// leading dimension.
    fn taken(&self, dataset: &Dataset) -> Result<Vec<Taken>> {
        let dataspace = dataset.dataspace();
        let dims = dataspace.dims();
        let mut taken = selection::parse_or_everything(self.arguments.select.as_deref(), dims)?;
        if self.arguments.occupied || self.arguments.histogram.is_some() {
            return Ok(taken);
        }
        let mut kept = taken.iter().filter(|dimension| dimension.kept).count();
        for dimension in taken.iter_mut().filter(|dimension| dimension.kept) {
            if kept <= 2 {
                break;
            }
            if dimension.count > 0 {
                (dimension.count, dimension.kept) = (1, false);
            }
            kept -= 1;
        }
        Ok(taken)
    }
}

/// Returns the default title of a figure, such as `file.h5: /path [3, :, :]`.
fn title(file: &Path, drawn: &Drawn, field: Option<&str>) -> String {
    let Drawn { dataset, taken, .. } = drawn;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let path = dataset.name().trim_start_matches('/');
    let whole =
        taken.iter().zip(dataset.dataspace().dims()).all(|(taken, size)| taken.kept && taken.count == *size);
    let part = |(taken, size): (&Taken, &u64)| match taken {
        Taken { start, kept: false, .. } => start.to_string(),
        Taken { start: 0, step: 1, count, .. } if count == size => ":".to_owned(),
        Taken { start, step, count, .. } => {
            // The last coordinate lies in the dataset. One step further may exceed 64 bits.
            let last = start + (count - 1) * step;
            let end = last.checked_add(*step).map_or(*size, |end| end.min(*size));
            if *step == 1 { format!("{start}:{end}") } else { format!("{start}:{end}:{step}") }
        }
    };
    let parts: Vec<String> = taken.iter().zip(dataset.dataspace().dims()).map(part).collect();
    let member = field.map_or_else(String::new, |field| format!(".{field}"));
    let parts = if whole { String::new() } else { format!(" [{}]", parts.join(", ")) };
    escape(output::cut(&format!("{name}: /{path}{member}{parts}"), 90).as_bytes())
}
