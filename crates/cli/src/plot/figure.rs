//! The content of a picture, independent of the output format.

use anyhow::{Result, bail};
use hyperslab::{Dataset, ErrorKind};
use serde_json::{Value as Json, json};

use super::image::Image;
use super::line::Line;
use super::scale::Scale;
use crate::output::escape;

/// The numbers to draw, with scales and labels.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) content: Content,
    pub(super) title: String,
    /// The axis from left to right.
    pub(super) x: Scale,
    pub(super) x_label: String,
    /// The vertical axis: upwards, or downwards if `downwards` is set.
    pub(super) y: Scale,
    pub(super) y_label: String,
    pub(super) downwards: bool,
    /// The scale of the colours in an image. For a line, the scale of the vertical axis.
    pub(super) values: Scale,
    pub(super) values_label: String,
}

/// The numbers of a figure.
#[derive(Debug)]
pub(super) enum Content {
    Line(Line),
    Image(Image),
}

/// The scale of the values: logarithmic or not, and its ends if the user names them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    pub(super) log: bool,
    pub(super) range: Option<(f64, f64)>,
}

/// Returns a label from the attributes `long_name` or `standard_name`, and `units`. The label is
/// empty without these attributes.
pub(super) fn value_label(dataset: &Dataset) -> String {
    let text = |name: &str| match dataset.attribute(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        found => {
            let strings = found.ok()?.read_stored().ok()?.strings().ok()?;
            strings.into_iter().next().filter(|text| !text.trim().is_empty())
        }
    };
    let name = text("long_name").or_else(|| text("standard_name"));
    let units = text("units").map(|units| format!("[{}]", units.trim()));
    let words: Vec<String> = name.into_iter().chain(units).collect();
    let short = crate::output::cut(&words.join(" "), 60);
    escape(short.as_bytes())
}

impl Figure {
    pub(super) fn of_line(line: Line, title: String, labels: [String; 2], values: Values) -> Result<Self> {
        let [x_label, y_label] = labels;
        let y = match values.scale() {
            Some(scale) => scale,
            None => match line.y_scale(values.log) {
                Some(scale) => scale.with_margin(),
                None => bail!("{}", values.nothing_to_draw()),
            },
        };
        let x = line.x_scale();
        let values_label = y_label.clone();
        let content = Content::Line(line);
        Ok(Self { content, title, x, x_label, y, y_label, downwards: false, values: y, values_label })
    }

    pub(super) fn of_image(image: Image, title: String, labels: [String; 3], values: Values) -> Result<Self> {
        let [y_label, x_label, values_label] = labels;
        let Some(scale) = values.scale().or_else(|| image.value_scale(values.log)) else {
            bail!("{}", values.nothing_to_draw());
        };
        let (y, x) = (image.rows.scale(), image.columns.scale());
        let content = Content::Image(image);
        Ok(Self { content, title, x, x_label, y, y_label, downwards: true, values: scale, values_label })
    }

    pub(super) fn json(&self) -> Json {
        let mut document = match &self.content {
            Content::Line(line) => line.json(),
            Content::Image(image) => image.json(),
        };
        if let Json::Object(keys) = &mut document {
            keys.insert("format".into(), json!("hyperslab plot 1"));
            keys.insert("title".into(), json!(self.title));
            keys.insert("label".into(), json!(self.values_label));
            keys.insert("range".into(), json!([self.values.low, self.values.high]));
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
