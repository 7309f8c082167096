//! The lines that a listing draws as a tree, entry by entry.

use super::walk::Entry;

/// The largest number of tree levels for which a listing draws lines. For an entry on a deeper
/// level, the number of skipped levels replaces their lines.
const DRAWN_LEVELS: usize = 24;

/// The state of drawing the lines of an object tree: the levels at which the last entry of a group
/// was drawn.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// For each level: true if the entry of this level was the last one of its group.
    last: Vec<bool>,
}

impl Branches {
    /// Returns two texts of tree lines for an entry of a listing: one before the entry's name, and
    /// one before its details.
    pub(crate) fn of(&mut self, entry: &Entry) -> (String, String) {
        let above = if entry.open { "│   " } else { "    " };
        let Some(level) = entry.depth.checked_sub(1) else { return (String::new(), above.to_owned()) };
        self.last.truncate(level);
        let skipped = level.max(DRAWN_LEVELS) - DRAWN_LEVELS;
        let mut lines = if skipped == 0 { String::new() } else { format!("⋯ {skipped} ⋯ ") };
        for last in self.last.iter().skip(skipped) {
            lines.push_str(if *last { "    " } else { "│   " });
        }
        self.last.push(entry.last);
        let (branch, through) = if entry.last { ("└── ", "    ") } else { ("├── ", "│   ") };
        (format!("{lines}{branch}"), format!("{lines}{through}{above}"))
    }
}
