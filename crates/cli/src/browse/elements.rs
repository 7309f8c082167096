//! The elements in the window of the browser, which are read again only if the window changes.

use hyperslab::{Dataset, Dataspace, Stored};
use hyperslab_exact::{product, to_usize};

use super::window::{Part, Window};
use crate::output::{chain, escape};
use crate::selection;
use crate::values::Decoder;
use crate::values::paths::Paths;

/// The largest size of the elements that the browser's window shows, in bytes.
const MAX_WINDOW_BYTES: u64 = 64 << 20;

/// The form in which the browser shows elements: as a table or as a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Table,
    Plot,
}

/// A dataset in the browser, with its window and the elements of the last read.
#[derive(Debug)]
pub(super) struct Elements {
    dataset: Dataset,
    pub(super) window: Window,
    pub(super) form: Form,
    read: Option<(Part, Form, Content)>,
}

/// The elements of the visible part of a dataset in the browser, or the reason why they cannot be
/// shown.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// The text of each element in C order.
    Texts(Vec<String>),
    Numbers(Vec<f64>),
    Message(String),
}

impl Elements {
    pub(super) fn new(dataset: Dataset) -> Self {
        let window = Window::new(dataset.dataspace().dims());
        Self { dataset, window, form: Form::Table, read: None }
    }

    /// Returns the part of the browser's window that fits in `rows` × `columns` cells, with its
    /// elements.
    pub(super) fn part(&mut self, rows: u64, columns: u64, paths: &Paths) -> (&Part, &Content) {
        let step = if self.form == Form::Plot { self.window.step } else { 1 };
        let part = self.window.part(rows, columns, step);
        let is_read = self.read.as_ref().is_some_and(|(read, form, _)| *read == part && *form == self.form);
        if !is_read {
            self.read = None;
        }
        let (dataset, form, window) = (&self.dataset, self.form, &self.window);
        let read = self.read.get_or_insert_with(|| {
            let content = content(dataset, window, &part, form, paths);
            let content = content.unwrap_or_else(|error| {
                Content::Message(format!("error: {}", escape(chain(error.as_ref()).as_bytes())))
            });
            (part, form, content)
        });
        (&read.0, &read.2)
    }
}

fn content(
    dataset: &Dataset,
    window: &Window,
    part: &Part,
    form: Form,
    paths: &Paths,
) -> anyhow::Result<Content> {
    if matches!(dataset.dataspace(), Dataspace::Null) || window.is_empty() {
        return Ok(Content::Message("the dataset has no elements".to_owned()));
    }
    // The part has at most as many elements as the screen has cells.
    let sizes = [u64::from(dataset.datatype().size), part.rows, part.columns];
    if !product("size of the window", sizes).is_ok_and(|bytes| bytes <= MAX_WINDOW_BYTES) {
        return Ok(Content::Message("the elements are too large to be shown".to_owned()));
    }
    let stored = dataset.read_stored(selection::selection(&part.taken))?;
    match form {
        Form::Table => Ok(Content::Texts(texts(&stored, paths)?)),
        Form::Plot if dataset.datatype().is_number() => Ok(Content::Numbers(stored.convert::<f64>()?)),
        Form::Plot => Ok(Content::Message(format!(
            "cannot be plotted: elements of the type {}",
            escape(dataset.datatype().to_string().as_bytes())
        ))),
    }
}

/// Returns the texts of the elements for the cells of the browser's table.
fn texts(stored: &Stored, paths: &Paths) -> anyhow::Result<Vec<String>> {
    let size = to_usize(stored.datatype().size.into())?.max(1);
    let mut texts = Vec::new();
    for bytes in stored.bytes().chunks_exact(size) {
        let mut decoder = Decoder { stored: Some(stored), paths, budget: 16 };
        texts.push(decoder.array(&[], stored.datatype(), bytes)?.text(72));
    }
    Ok(texts)
}
