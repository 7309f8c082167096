//! The lines of a tree, entry by entry.

use super::walk::Entry;

/// Levels whose lines are drawn; of deeper ones, only their number.
const DRAWN_LEVELS: usize = 24;

/// Where in the tree the last entry was.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// For each level down to it: whether it was the last in its group.
    last: Vec<bool>,
}

impl Branches {
    /// The lines of the tree before the name of an entry, and before its details.
    pub(crate) fn of(&mut self, entry: &Entry) -> (String, String) {
        let above = if entry.open { "│   " } else { "    " };
        let Some(level) = entry.depth.checked_sub(1) else { return (String::new(), above.to_owned()) };
        self.last.truncate(level);
        let skipped = level.saturating_sub(DRAWN_LEVELS);
        let mut lines = if skipped == 0 { String::new() } else { format!("⋯ {skipped} ⋯ ") };
        for last in self.last.iter().skip(skipped) {
            lines.push_str(if *last { "    " } else { "│   " });
        }
        self.last.push(entry.last);
        let (branch, through) = if entry.last { ("└── ", "    ") } else { ("├── ", "│   ") };
        (format!("{lines}{branch}"), format!("{lines}{through}{above}"))
    }
}
