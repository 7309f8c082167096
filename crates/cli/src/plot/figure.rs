//! What is drawn, wherever that may be.

use anyhow::{Result, bail};
use hyperslab::{Dataset, ErrorKind};
use serde_json::{Value as Json, json};

use super::image::Image;
use super::line::Line;
use super::scale::Scale;
use crate::output::escape;

/// Numbers and what is said of them.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) content: Content,
    pub(super) title: String,
    /// The axis from left to right.
    pub(super) across: Scale,
    pub(super) across_label: String,
    /// The axis from below, or from above if it goes downwards.
    pub(super) up: Scale,
    pub(super) up_label: String,
    pub(super) downwards: bool,
    /// Which colours stand for which values; of a line, its axis.
    pub(super) values: Scale,
    pub(super) values_label: String,
}

/// The numbers.
#[derive(Debug)]
pub(super) enum Content {
    Line(Line),
    Image(Image),
}

/// How values become places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    pub(super) log: bool,
    pub(super) range: Option<(f64, f64)>,
}

/// What values are, in the words of the attributes `long_name` and `units`.
pub(super) fn meaning(dataset: &Dataset) -> String {
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
        let [across_label, up_label] = labels;
        let up = match values.scale() {
            Some(scale) => scale,
            None => match line.values(values.log) {
                Some(scale) => scale.with_margin(),
                None => bail!("{}", values.nothing()),
            },
        };
        let across = line.along();
        let values_label = up_label.clone();
        let content = Content::Line(line);
        Ok(Self {
            content,
            title,
            across,
            across_label,
            up,
            up_label,
            downwards: false,
            values: up,
            values_label,
        })
    }

    pub(super) fn of_image(image: Image, title: String, labels: [String; 3], values: Values) -> Result<Self> {
        let [up_label, across_label, values_label] = labels;
        let Some(scale) = values.scale().or_else(|| image.values(values.log)) else {
            bail!("{}", values.nothing());
        };
        let (up, across) = (image.rows.scale(), image.columns.scale());
        let content = Content::Image(image);
        Ok(Self {
            content,
            title,
            across,
            across_label,
            up,
            up_label,
            downwards: true,
            values: scale,
            values_label,
        })
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

    fn nothing(self) -> &'static str {
        if self.log {
            "nothing to draw: no number is larger than 0"
        } else {
            "nothing to draw: there are no numbers"
        }
    }
}
