//! The lines of a tree, entry by entry.

use super::walk::Entry;

/// The largest number of tree levels whose lines are drawn. A number replaces the lines of deeper
/// levels.
const DRAWN_LEVELS: usize = 24;

/// The state of drawing tree lines: the levels at which the last entry of a group was drawn.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// For each level: true if the entry of this level was the last one of its group.
    last: Vec<bool>,
}

impl Branches {
    /// Returns the tree lines that precede the name of an entry, and the tree lines that precede
    /// its details.
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
