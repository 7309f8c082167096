//! The list of the objects with the most bytes in a file.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Write as _;

use anyhow::Result;
use hyperslab::{Object, ObjectKind};
use hyperslab_check::ObjectBytes;
use serde_json::{Map, Value as Json, json};

use super::sizes::{DatasetSizes, sum};
use crate::output::{self, DATASET, DATATYPE, FAINT, GROUP, PLAIN, bytes, cut, escape, styled, width};
use crate::sections::share;

/// The width of the path column in the list of the largest objects.
const PATH_COLUMNS: usize = 40;
/// The width of the bar column in the list of the largest objects.
const BAR_COLUMNS: usize = 12;

/// A line in the list of the largest objects.
#[derive(Debug)]
pub(super) struct Line {
    path: Vec<u8>,
    kind: Option<ObjectKind>,
    bytes: ObjectBytes,
    sizes: Option<DatasetSizes>,
}

/// The largest objects found so far, in a binary heap. The top of the heap is the smallest of them.
#[derive(Debug)]
pub(super) struct Largest {
    maximum: usize,
    lines: BinaryHeap<Reverse<Ranked>>,
    /// The number of all other objects, and their bytes.
    others: (u64, u64),
}

/// A line of the list of the largest objects, ordered by its bytes. Of two lines with equal bytes,
/// the earlier line ranks higher.
#[derive(Debug)]
struct Ranked {
    total: u64,
    number: Reverse<u64>,
    line: Line,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.total, self.number).cmp(&(other.total, other.number))
    }
}

impl Line {
    /// Returns the line of an object in the list of the largest objects. `of_objects` contains the
    /// bytes per object that a check found. Without a check, only the raw data is known.
    pub(super) fn new(
        path: Vec<u8>,
        object: &Object,
        of_objects: Option<&HashMap<u64, ObjectBytes>>,
        sizes: Option<DatasetSizes>,
    ) -> Self {
        let found = of_objects.and_then(|of| of.get(&object.token().address()).copied());
        let raw = sizes.as_ref().map_or(0, |sizes| sizes.stored);
        let bytes = found.unwrap_or(ObjectBytes { raw, ..ObjectBytes::default() });
        Self { path, kind: object.kind(), bytes, sizes }
    }

    fn total(&self) -> u64 {
        let ObjectBytes { metadata, raw, heap } = self.bytes;
        sum(sum(metadata, raw), heap)
    }

    fn json(&self) -> Json {
        let mut object = Map::from_iter([
            ("path".to_owned(), json!(String::from_utf8_lossy(&self.path))),
            ("kind".to_owned(), json!(self.kind.map_or("unknown object", ObjectKind::name))),
            ("bytes".to_owned(), json!(self.total())),
            ("metadata".to_owned(), json!(self.bytes.metadata)),
            ("raw_data".to_owned(), json!(self.bytes.raw)),
            ("variable_length".to_owned(), json!(self.bytes.heap)),
        ]);
        if let Some(Json::Object(sizes)) = self.sizes.as_ref().map(DatasetSizes::json) {
            object.extend(sizes);
        }
        Json::Object(object)
    }

    /// Returns the sizes, chunks and filters of a listed object as text.
    fn description(&self) -> String {
        let mut words = Vec::new();
        if let Some(sizes) = &self.sizes {
            words.push(match sizes.ratio() {
                Some(ratio) => format!("{} of {} ({ratio:.2}×)", bytes(sizes.stored), bytes(sizes.raw)),
                None if sizes.stored == sizes.raw => String::new(),
                None => format!("{} of {}", bytes(sizes.stored), bytes(sizes.raw)),
            });
            match sizes.chunks {
                Some(chunks) if chunks.stored == chunks.possible => {
                    words.push(output::count(chunks.stored, "chunk"));
                }
                Some(chunks) => {
                    words.push(format!("{} of {}", chunks.stored, output::count(chunks.possible, "chunk")));
                }
                None => words.push(sizes.layout.to_owned()),
            }
            if !sizes.filters.is_empty() {
                words.push(escape(sizes.filters.join(" + ").as_bytes()));
            }
        }
        let parts = [(self.bytes.heap, "variable-length data"), (self.bytes.metadata, "metadata")];
        words.extend(
            parts
                .iter()
                .filter(|(size, _)| *size > 0)
                .map(|(size, subject)| format!("{} {subject}", bytes(*size))),
        );
        words.retain(|word| !word.is_empty());
        words.join(" · ")
    }

    fn style(&self) -> anstyle::Style {
        match self.kind {
            Some(ObjectKind::Group) => GROUP,
            Some(ObjectKind::Dataset) => DATASET,
            Some(ObjectKind::Datatype) => DATATYPE,
            _ => PLAIN,
        }
    }

    /// Returns the path of a listed object in at most `PATH_COLUMNS` columns. If the path is
    /// longer, returns its end.
    fn shown(&self) -> String {
        let path = escape(&self.path);
        let wide = width(&path);
        if wide <= PATH_COLUMNS {
            return path;
        }
        let mut skipped = 0;
        let rest: String = path
            .chars()
            .skip_while(|character| {
                skipped += width(&character.to_string());
                wide - skipped >= PATH_COLUMNS
            })
            .skip(1)
            .collect();
        cut(&format!("…{rest}"), PATH_COLUMNS)
    }
}

impl Largest {
    pub(super) fn new(maximum: usize) -> Self {
        Self { maximum, lines: BinaryHeap::new(), others: (0, 0) }
    }

    /// Adds a line to the list of the largest objects. If the list is full, removes the smallest
    /// line and counts it.
    pub(super) fn push(&mut self, number: u64, line: Line) {
        self.lines.push(Reverse(Ranked { total: line.total(), number: Reverse(number), line }));
        if self.lines.len() > self.maximum
            && let Some(Reverse(smallest)) = self.lines.pop()
        {
            let (count, total) = self.others;
            self.others = (count + 1, sum(total, smallest.total));
        }
    }

    /// Returns the lines of the largest objects in descending order of their bytes.
    pub(super) fn into_sorted(self) -> Sorted {
        let lines = self.lines.into_sorted_vec();
        Sorted { lines: lines.into_iter().map(|Reverse(ranked)| ranked.line).collect(), others: self.others }
    }
}

/// The largest objects in descending order, and the number and bytes of all other objects.
#[derive(Debug)]
pub(super) struct Sorted {
    lines: Vec<Line>,
    others: (u64, u64),
}

impl Sorted {
    pub(super) fn json(&self) -> Json {
        let (count, bytes) = self.others;
        json!({
            "largest": self.lines.iter().map(Line::json).collect::<Json>(),
            "others": { "objects": count, "bytes": bytes },
        })
    }

    /// Prints the largest objects with bars. The bar of the first object has the full width.
    pub(super) fn print(&self, out: &mut output::Output) -> Result<()> {
        let Some(first) = self.lines.first() else { return Ok(()) };
        output::heading(out, "largest objects")?;
        let widest = self.lines.iter().map(|line| width(&line.shown())).max().unwrap_or(0);
        let maximum = first.total();
        for line in &self.lines {
            let path = line.shown();
            let gap = " ".repeat(widest - width(&path));
            write!(out, "    ")?;
            styled(out, line.style(), &path)?;
            write!(out, "{gap}  {:>10}  ", bytes(line.total()))?;
            output::bar_of(out, share(line.total(), maximum), BAR_COLUMNS)?;
            write!(out, "  ")?;
            styled(out, FAINT, &line.description())?;
            writeln!(out)?;
        }
        let (count, total) = self.others;
        if count > 0 {
            let more = format!("    and {count} more with {}: --all or --top N shows them", bytes(total));
            styled(out, FAINT, &more)?;
            writeln!(out)?;
        }
        Ok(())
    }
}
