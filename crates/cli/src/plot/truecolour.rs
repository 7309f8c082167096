//! Images of the HDF5 image specification: true colour, and indexes into a palette.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, File, Value};
use hyperslab_exact::{to_u64, to_usize};

use super::casts::{byte, whole};
use super::colours::{Colour, NOTHING};
use super::conventions::{Conventions, attribute, text};
use super::image::{Image, Reduction, Span};
use super::numbers::Part;
use crate::selection::Taken;

/// The order of the dimensions of a colour image. The dimension of the channels comes last, between
/// height and width, or first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interlace {
    /// Height, width, channels.
    Pixel,
    /// Height, channels, width.
    Line,
    /// Channels, height, width.
    Plane,
}

/// The kind of a colour image: direct colours, or indexes into a palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ColourImage {
    /// Red, green and blue parts, and the largest value of a part.
    TrueColour(Interlace),
    /// Indexes into a palette.
    Indexed(Vec<Colour>),
}

/// A colour image: rows of cells that have colours.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) rows: Span,
    pub(super) columns: Span,
    pub(super) cells: Vec<Colour>,
}

impl Interlace {
    /// Returns the number, counted from 0, of the dimension that contains the channels of the
    /// colour image.
    fn channels(self) -> usize {
        match self {
            Self::Pixel => 2,
            Self::Line => 1,
            Self::Plane => 0,
        }
    }
}

impl ColourImage {
    /// Returns the kind of a colour image, from the attributes of the dataset. With `forced`, also
    /// accepts an array with three or four channels without these attributes. Returns `None` for
    /// other datasets.
    pub(super) fn of(dataset: &Dataset, forced: bool) -> Result<Option<Self>> {
        let is_image = text(dataset, "CLASS").as_deref() == Some("IMAGE");
        let subclass = text(dataset, "IMAGE_SUBCLASS");
        let dims = dataset.dataspace().dims().to_vec();
        match subclass.as_deref() {
            Some("IMAGE_TRUECOLOR") if is_image => {
                let interlace = match text(dataset, "INTERLACE_MODE").as_deref() {
                    None | Some("INTERLACE_PIXEL") => Interlace::Pixel,
                    Some("INTERLACE_LINE") => Interlace::Line,
                    Some("INTERLACE_PLANE") => Interlace::Plane,
                    Some(other) => bail!("the interlace mode `{other}` is not known"),
                };
                Ok(has_channels(&dims, interlace).then_some(Self::TrueColour(interlace)))
            }
            Some("IMAGE_INDEXED") if is_image => Ok(palette(dataset)?.map(Self::Indexed)),
            _ if forced => {
                let interlace = [Interlace::Pixel, Interlace::Plane, Interlace::Line];
                let found = interlace.into_iter().find(|interlace| has_channels(&dims, *interlace));
                let found = found
                    .context("--rgb needs a dataset of three dimensions, of which one has 3 or 4 channels")?;
                Ok(Some(Self::TrueColour(found)))
            }
            _ => Ok(None),
        }
    }

    /// Reads the selected elements of a colour image. `taken` selects all dimensions.
    pub(super) fn read(
        &self,
        file: &File,
        dataset: &Dataset,
        taken: &[Taken],
        cells: (usize, usize),
    ) -> Result<Picture> {
        let read = |taken: &[Taken], reduction| {
            let part = Part { taken, field: None, conventions: Conventions::default() };
            Image::read(file, dataset, &part, cells, reduction)
        };
        match self {
            Self::Indexed(palette) => {
                // The mean of two indexes is the index of another colour.
                let image = read(taken, Reduction::First)?;
                let colour = |index: &f64| {
                    let colour = if index.is_nan() { None } else { palette.get(whole(*index)) };
                    colour.copied().unwrap_or(NOTHING)
                };
                let cells = image.cells.iter().map(colour).collect();
                Ok(Picture { rows: image.rows, columns: image.columns, cells })
            }
            Self::TrueColour(interlace) => {
                let largest = largest_part(dataset)?;
                let mut channels = Vec::new();
                for channel in 0..3 {
                    let mut taken = taken.to_vec();
                    let along = taken.get_mut(interlace.channels()).context("the image has no channels")?;
                    *along = Taken { start: channel, step: 1, count: 1, kept: false };
                    channels.push(read(&taken, Reduction::Mean)?);
                }
                let [red, green, blue] = channels.as_slice() else { bail!("the image has no channels") };
                let part = |value: f64| byte(value / largest * 255.0);
                let parts = red.cells.iter().zip(&green.cells).zip(&blue.cells);
                let colour = |((red, green), blue): ((&f64, &f64), &f64)| {
                    let all = red.is_finite() && green.is_finite() && blue.is_finite();
                    if all { [part(*red), part(*green), part(*blue)] } else { NOTHING }
                };
                Ok(Picture { rows: red.rows, columns: red.columns, cells: parts.map(colour).collect() })
            }
        }
    }
}

impl Picture {
    /// Returns the colour of a cell of the colour image.
    pub(super) fn cell(&self, row: usize, column: usize) -> Colour {
        self.cells.get(row * self.columns.cells + column).copied().unwrap_or(NOTHING)
    }
}

fn has_channels(dims: &[u64], interlace: Interlace) -> bool {
    dims.len() == 3 && matches!(dims.get(interlace.channels()), Some(3 | 4))
}

/// Returns the value of a colour component at full intensity: the largest value of an integer type,
/// or 1 for floating-point numbers.
fn largest_part(dataset: &Dataset) -> Result<f64> {
    match &dataset.datatype().class {
        DatatypeClass::FixedPoint(fixed) => {
            let bits = if fixed.signed { fixed.precision.max(1) - 1 } else { fixed.precision };
            Ok(f64::from(bits).exp2() - 1.0)
        }
        DatatypeClass::FloatingPoint(_) => Ok(1.0),
        _ => bail!("the channels of a colour are not numbers, but {}", dataset.datatype()),
    }
}

/// Returns the palette of a dataset. Returns `None` unless the dataset has a palette of 8-bit red,
/// green and blue components.
fn palette(dataset: &Dataset) -> Result<Option<Vec<Colour>>> {
    let Some(list) = attribute(dataset, "PALETTE")? else { return Ok(None) };
    let values = list.read_dyn()?;
    let first = values.get(&[0]).or_else(|| values.get(&[]));
    let Some(Value::Reference(reference)) = first else { return Ok(None) };
    if reference.is_null() {
        return Ok(None);
    }
    let palette = reference.object().context("the palette")?.into_dataset()?;
    let dims = palette.dataspace().dims().to_vec();
    let is_rgb =
        dims.get(1) == Some(&3) && dims.len() == 2 && dims.first().is_some_and(|count| *count <= 1 << 16);
    if !is_rgb || to_usize(palette.datatype().size.into())? != 1 {
        return Ok(None);
    }
    let bytes = palette.read_raw::<u8>(..)?;
    let (colours, _) = bytes.as_chunks::<3>();
    if to_u64(colours.len()) != dims.first().copied().unwrap_or(0) {
        bail!("the palette has {} colours, which is not the number of its rows", colours.len());
    }
    Ok(Some(colours.to_vec()))
}
