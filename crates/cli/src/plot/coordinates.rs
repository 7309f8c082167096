//! The coordinates of the dimensions of a plot: dimension scales, and datasets that the user names.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, ObjectKind, Value};
use hyperslab_exact::to_u64;

use super::axis::{Axis, Ticks};
use super::casts::{float, whole};
use super::conventions::{self, Conventions};
use super::scale::Scale;
use crate::selection::Taken;

/// The largest number of coordinates that the command `plot` reads for an axis.
const MAX_COORDINATES: u64 = 1 << 24;

/// The first words in the name that netCDF stores for a dimension without coordinates.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// The limit for coordinates that a plot treats as evenly spaced: the largest relative deviation of
/// the distances between neighbouring coordinates.
const MAX_UNEVENNESS: f64 = 1e-3;

/// The coordinates of the selected elements along a dimension of a plotted dataset.
#[derive(Debug, Clone)]
pub(super) struct Coordinates {
    pub(super) values: Vec<f64>,
    pub(super) label: String,
    ticks: Ticks,
}

impl Coordinates {
    /// Returns the coordinates of a dimension from its dimension scale. Returns `None` if the
    /// dimension has no numeric scale.
    pub(super) fn of_dimension(dataset: &Dataset, dimension: usize, taken: &Taken) -> Result<Option<Self>> {
        let Some(scale) = scale_of(dataset, dimension)? else { return Ok(None) };
        let size = dataset.dataspace().dims().get(dimension).copied();
        if scale.dataspace().dims().first().copied() != size || taken.count > MAX_COORDINATES {
            return Ok(None);
        }
        Self::read(&scale, taken).map(Some)
    }

    /// Reads the coordinates of a plot from a one-dimensional dataset.
    pub(super) fn read(scale: &Dataset, taken: &Taken) -> Result<Self> {
        let mut all = scale.read_stored(..)?.convert::<f64>()?;
        Conventions::of(scale)?.apply(&mut all);
        let mut values = Vec::new();
        for number in 0..taken.count {
            let at = number.checked_mul(taken.step).and_then(|steps| steps.checked_add(taken.start));
            let at = at.and_then(|at| usize::try_from(at).ok());
            let value = at
                .and_then(|at| all.get(at))
                .context("a dimension scale has fewer elements than its axis")?;
            values.push(*value);
        }
        let mut label = conventions::label(scale);
        let unit = conventions::time_unit(scale);
        if label.is_empty() && unit.is_none() || label.starts_with('[') {
            let name = conventions::text(scale, "NAME").unwrap_or_else(|| last_name(scale));
            label = crate::output::escape(format!("{name} {label}").trim().as_bytes());
        }
        Ok(Self { values, label, ticks: unit.map_or(Ticks::Numbers, Ticks::Times) })
    }

    /// Returns the axis of a line plot, from the smallest to the largest coordinate.
    pub(super) fn line_axis(&self, log: bool) -> Result<Axis> {
        let scale =
            Scale::of(self.values.iter().copied(), log).context("the axis of the plot has no coordinates")?;
        Ok(Axis::new(scale, self.ticks.clone(), self.label.clone()))
    }

    /// Returns the axis of an image, from the edge of the first cell to the edge of the last cell.
    /// If the coordinates are uneven, the ticks are at indexes.
    pub(super) fn image_axis(&self) -> Axis {
        let count = to_u64(self.values.len());
        let (first, last) = (self.values.first().copied(), self.values.last().copied());
        if let (Some(first), Some(last), true) = (first, last, count > 1 && self.is_even()) {
            let half = (last - first) / float(count - 1) / 2.0;
            let (start, end) = (first - half, last + half);
            let scale = Scale { low: start.min(end), high: start.max(end), log: false };
            let mut axis = Axis::new(scale, self.ticks.clone(), self.label.clone());
            axis.reversed = start > end;
            return axis;
        }
        let scale = Scale { low: -0.5, high: float(count) - 0.5, log: false };
        Axis::new(scale, Ticks::Coordinates(self.values.clone()), self.label.clone())
    }

    /// Returns true if the last coordinate of the plotted dimension exceeds the first one.
    pub(super) fn increases(&self) -> bool {
        match (self.values.first(), self.values.last()) {
            (Some(first), Some(last)) => last > first,
            _ => false,
        }
    }

    fn is_even(&self) -> bool {
        let (Some(first), Some(last)) = (self.values.first(), self.values.last()) else { return false };
        let count = to_u64(self.values.len());
        let step = (last - first) / float(count.max(2) - 1);
        let limit = step.abs() * MAX_UNEVENNESS;
        step.is_finite()
            && step != 0.0
            && self.values.windows(2).all(|pair| match pair {
                [one, next] => (next - one - step).abs() <= limit,
                _ => false,
            })
    }

    /// Returns the interpolated coordinate at a position between two elements, such as 2.5.
    pub(super) fn at(&self, position: f64) -> f64 {
        let (below, above) = (whole(position.floor()), whole(position.ceil()));
        match (self.values.get(below), self.values.get(above)) {
            (Some(one), Some(other)) => f64::midpoint(*one, *other),
            _ => f64::NAN,
        }
    }
}

/// Returns the last name in the path of a dataset. A dataset that was opened through a reference
/// has no path.
fn last_name(dataset: &Dataset) -> String {
    let path = dataset.name();
    path.strip_prefix('/').and_then(|path| path.rsplit('/').next()).unwrap_or("").to_owned()
}

/// Returns the first dimension scale of a dimension that is numeric.
fn scale_of(dataset: &Dataset, dimension: usize) -> Result<Option<Dataset>> {
    let Some(list) = conventions::attribute(dataset, "DIMENSION_LIST")? else { return Ok(None) };
    let is_list = matches!(list.datatype()?.class, DatatypeClass::VariableLength(_));
    if !is_list {
        return Ok(None);
    }
    let values = list.read_dyn()?;
    let Some(Value::Sequence(scales)) = values.get(&[dimension]) else { return Ok(None) };
    for scale in &scales {
        let Value::Reference(reference) = scale else { continue };
        if reference.is_null() {
            continue;
        }
        let object = reference.object().context("a dimension scale")?;
        if object.kind() != Some(ObjectKind::Dataset) {
            continue;
        }
        let scale = object.into_dataset()?;
        if scale.datatype().is_number() && scale.dataspace().dims().len() == 1 {
            // The scale of a netCDF dimension without a variable has no meaning.
            let name = conventions::text(&scale, "NAME");
            if !name.is_some_and(|name| name.starts_with(NO_VARIABLE)) {
                return Ok(Some(scale));
            }
        }
    }
    Ok(None)
}

/// Returns the coordinates of a plot from the dataset that the user names.
pub(super) fn named(scale: &Dataset, taken: &Taken) -> Result<Coordinates> {
    let dims = scale.dataspace().dims().to_vec();
    let [size] = dims.as_slice() else {
        bail!(
            "`{}` has {} dimensions, but coordinates need a dataset with one dimension",
            scale.name(),
            dims.len()
        );
    };
    let steps = taken.count.checked_sub(1).and_then(|last| last.checked_mul(taken.step));
    let last = steps.and_then(|steps| steps.checked_add(taken.start));
    if *size > MAX_COORDINATES || last.is_none_or(|last| last >= *size) {
        bail!(
            "`{}` has {size} elements, but the axis needs one element for each selected element",
            scale.name()
        );
    }
    super::numbers::check(scale)?;
    Coordinates::read(scale, taken)
}
