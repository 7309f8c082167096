//! The content of a plot, independent of the output format.

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

use super::axis::{Axis, Ticks};
use super::colours::ColourMap;
use super::image::Image;
use super::scale::Scale;
use super::series::Curve;
use super::truecolour::Picture;

/// The limit for a diverging colour map, in which zero has the middle colour. A plot uses this map
/// if zero divides the range of values into two sides whose ratio, shorter to longer, is at least
/// this limit.
const MIN_SIGNED_SHARE: f64 = 0.1;

/// A figure of the command `plot`: the numbers to draw, with axes and labels.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) content: Content,
    pub(super) title: String,
    /// The axis from left to right.
    pub(super) x: Axis,
    /// The vertical axis: upwards, or downwards if `downwards` is set.
    pub(super) y: Axis,
    pub(super) downwards: bool,
    /// The axis of the colours in an image. For curves, the vertical axis.
    pub(super) values: Axis,
    pub(super) colours: ColourMap,
    /// The numbers as a JSON document.
    json: Json,
}

/// The drawn content of a figure: curves or an image.
#[derive(Debug)]
pub(super) enum Content {
    Curves(Vec<Curve>),
    Image(Image),
    /// An image that has its own colours.
    Picture(Picture),
}

/// The options for the value axis of a plot: logarithmic or linear, and the range if the user
/// states one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    pub(super) log: bool,
    pub(super) range: Option<(f64, f64)>,
    /// The colour map that the user names.
    pub(super) colours: Option<ColourMap>,
}

impl Figure {
    /// Returns a figure of curves along an axis. `json` is a JSON document with the numbers of the
    /// curves.
    pub(super) fn of_curves(
        curves: Vec<Curve>,
        title: String,
        (x, y_label): (Axis, String),
        values: Values,
        json: Json,
    ) -> Result<Self> {
        let points = || curves.iter().flat_map(Curve::points);
        let scale = match values.scale() {
            Some(scale) => scale,
            None => match Scale::of(points().map(|(_, value)| value), values.log) {
                Some(scale) => scale.with_margin(),
                None => bail!("{}", values.nothing_to_draw()),
            },
        };
        let y = Axis::new(scale, Ticks::Numbers, y_label);
        let (content, colours) = (Content::Curves(curves), ColourMap::Viridis);
        Ok(Self { content, title, x, y: y.clone(), downwards: false, values: y, colours, json })
    }

    /// Returns a figure of an image. If `downwards` is set, the first row is at the top.
    pub(super) fn of_image(
        image: Image,
        title: String,
        ([y, x], downwards): ([Axis; 2], bool),
        values_label: String,
        values: Values,
    ) -> Result<Self> {
        let Some(mut scale) = values.scale().or_else(|| image.value_scale(values.log)) else {
            bail!("{}", values.nothing_to_draw());
        };
        let smaller = scale.high.min(-scale.low);
        let is_signed = !values.log && smaller >= scale.high.max(-scale.low) * MIN_SIGNED_SHARE;
        let colours = match values.colours {
            Some(colours) => colours,
            None if is_signed => ColourMap::Diverging,
            None => ColourMap::Viridis,
        };
        if colours == ColourMap::Diverging && values.range.is_none() && is_signed {
            let largest = scale.high.max(-scale.low);
            scale = Scale { low: -largest, high: largest, log: false };
        }
        let values = Axis::new(scale, Ticks::Numbers, values_label);
        let json = image.json();
        Ok(Self { content: Content::Image(image), title, x, y, downwards, values, colours, json })
    }

    /// Returns a figure of a colour image.
    pub(super) fn of_picture(picture: Picture, title: String, labels: [String; 2]) -> Self {
        let [y_label, x_label] = labels;
        let (y, x) = (picture.rows.axis(y_label), picture.columns.axis(x_label));
        let scale = Scale { low: 0.0, high: 255.0, log: false };
        let values = Axis::new(scale, Ticks::Numbers, String::new());
        let json = json!({ "kind": "picture", "columns": picture.columns.cells, "colours": picture.cells });
        let content = Content::Picture(picture);
        Self { content, title, x, y, downwards: true, values, colours: ColourMap::Viridis, json }
    }

    /// Returns the image row, counted from the top, for a row of the figure.
    pub(super) fn row_from_top(&self, row: usize, rows: usize) -> usize {
        if self.downwards { row } else { rows.max(1) - 1 - row.min(rows.max(1) - 1) }
    }

    pub(super) fn json(&self) -> Json {
        let mut document = self.json.clone();
        if let Json::Object(keys) = &mut document {
            keys.insert("format".into(), json!("hyperslab plot 1"));
            keys.insert("title".into(), json!(self.title));
            keys.insert("label".into(), json!(self.values.name()));
            keys.insert("range".into(), json!([self.values.scale.low, self.values.scale.high]));
            if self.x.ticks != Ticks::Indexes {
                let Scale { low, high, .. } = self.x.scale;
                let ends = if self.x.reversed { [high, low] } else { [low, high] };
                keys.insert("x".into(), json!({ "label": self.x.name(), "range": ends }));
            }
            if !matches!(self.content, Content::Curves(_)) && self.y.ticks != Ticks::Indexes {
                let Scale { low, high, .. } = self.y.scale;
                let ends = if self.y.reversed { [high, low] } else { [low, high] };
                keys.insert("y".into(), json!({ "label": self.y.name(), "range": ends }));
            }
        }
        document
    }
}

impl Values {
    fn scale(self) -> Option<Scale> {
        self.range.map(|(low, high)| Scale { low, high, log: self.log })
    }

    fn nothing_to_draw(self) -> &'static str {
        if self.log {
            "nothing to draw: no number is greater than 0"
        } else {
            "nothing to draw: there are no numbers"
        }
    }
}
