//! The transfer of matrix entries from a source to a receiver.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use hyperslab_exact::to_u64;
use indicatif::{ProgressBar, ProgressStyle};

use super::batch::{Batch, Order, Sink, Source};
use super::element::Element;
use super::sorted::{Keys, Sorted};
use crate::progress;

/// Writes all matrix entries of a source to a receiver. The receiver begins after the source has
/// returned its first batch. Most errors of a source therefore occur before the receiver writes
/// anything.
pub(crate) fn transfer(
    source: Box<dyn Source>,
    keys: Keys,
    mut sink: Box<dyn Sink + '_>,
    folder: &Path,
) -> Result<()> {
    let bar = progress_bar(source.count());
    let watched = Watched { source, bar: bar.clone() };
    let mut sorted = Sorted::new(watched, keys, folder);
    let mut batch = Batch::default();
    let mut more = sorted.next_batch(&mut batch)?;
    sink.begin(sorted.shape(), sorted.element())?;
    while more {
        sink.put(&batch)?;
        more = sorted.next_batch(&mut batch)?;
    }
    sink.finish()?;
    bar.finish_and_clear();
    Ok(())
}

/// Returns a progress bar on standard error. The bar is hidden if standard error is not a terminal.
fn progress_bar(count: Option<u64>) -> ProgressBar {
    let (bar, style) = match count {
        Some(count) => (ProgressBar::new(count), "{bar:30} {human_pos:>14} entries  {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {human_pos:>14} entries"),
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    progress::delayed(bar)
}

/// A source of matrix entries that shows the progress of another source.
struct Watched {
    source: Box<dyn Source>,
    bar: ProgressBar,
}

impl Source for Watched {
    fn shape(&self) -> &[u64] {
        self.source.shape()
    }

    fn element(&self) -> Element {
        self.source.element()
    }

    fn count(&self) -> Option<u64> {
        self.source.count()
    }

    fn order(&self) -> Order {
        self.source.order()
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        let more = self.source.next_batch(batch)?;
        self.bar.inc(to_u64(batch.len(self.source.shape().len())));
        Ok(more)
    }
}
