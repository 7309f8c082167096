//! The counts of a comparison, and the page of the documentation that contains them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

use super::differences::Class;
use super::{Call, f};

const PAGE: &str = "docs/tools-comparison.md";
const BEGIN: &str =
    "<!-- `cargo xtask tools-compare --update` writes the lines from here to the end marker -->\n";
const END: &str = "<!-- end -->";

/// The counts of a comparison.
#[derive(Debug)]
pub(super) struct Report {
    version: String,
    /// The runs and the equal runs of each tool with its options.
    kinds: BTreeMap<String, [usize; 2]>,
    /// The calls of each class.
    classes: BTreeMap<Class, Vec<Call>>,
}

impl Report {
    pub(super) fn of(calls: &[Call], results: &[Option<Class>], version: &str) -> Self {
        let (mut kinds, mut classes) = (BTreeMap::new(), BTreeMap::<_, Vec<Call>>::new());
        for (call, result) in calls.iter().zip(results) {
            let [all, equal] = kinds.entry(call.kind()).or_insert([0, 0]);
            *all += 1;
            match result {
                Some(class) => classes.entry(*class).or_default().push(call.clone()),
                None => *equal += 1,
            }
        }
        Self { version: version.to_owned(), kinds, classes }
    }

    fn runs(&self) -> usize {
        self.kinds.values().map(|[all, _]| all).sum()
    }

    fn equal(&self) -> usize {
        self.kinds.values().map(|[_, equal]| equal).sum()
    }

    fn count(&self, class: Class) -> usize {
        self.classes.get(&class).map_or(0, Vec::len)
    }

    /// Returns the number of runs for which the C tool has a stable output.
    fn comparable(&self) -> usize {
        let apart: usize =
            Class::ALL.into_iter().filter(|class| class.is_apart()).map(|class| self.count(class)).sum();
        self.runs() - apart
    }

    /// Returns the share of equal runs in tenths of a percent, rounded down.
    pub(super) fn equal_share(&self) -> usize {
        (self.equal() * 1000).checked_div(self.comparable()).unwrap_or(1000)
    }

    /// Returns the counts as tables in Markdown.
    pub(super) fn text(&self) -> String {
        let (equal, comparable) = (self.equal(), self.comparable());
        let mut text = format!(
            "Compared with HDF5 {}: {equal} of {comparable} comparable runs are equal ({} %).\nIn {} more runs, the C tool has no stable output.\n\n",
            self.version,
            f(self.equal_share()),
            self.runs() - comparable,
        );
        text.push_str("| tool | runs | equal |\n|---|---|---|\n");
        for (kind, [all, equal]) in &self.kinds {
            let _ = writeln!(text, "| `{kind}` | {all} | {equal} |");
        }
        text.push_str("\n| runs | difference |\n|---|---|\n");
        for class in Class::ALL {
            if self.count(class) > 0 {
                let _ = writeln!(text, "| {} | {} |", self.count(class), class.cause());
            }
        }
        text
    }

    /// Writes the calls of all classes as a table.
    pub(super) fn write_list(&self, path: &Path) -> Result<()> {
        let mut text = String::from("class\tcall\n");
        for (class, calls) in &self.classes {
            for call in calls {
                let _ = writeln!(text, "{class:?}\t{}", call.line());
            }
        }
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }

    /// Writes the counts into the page of the documentation, with the files of the C tool's faults.
    pub(super) fn update(&self) -> Result<()> {
        let path = workspace::root().join(PAGE);
        let page = std::fs::read_to_string(&path).context(PAGE)?;
        let (head, rest) = page.split_once(BEGIN).context("the page has no begin marker")?;
        let (_, tail) = rest.split_once(END).context("the page has no end marker")?;
        let text = format!("{head}{BEGIN}\n{}\n{}{END}{tail}", self.text(), self.faults_of_c());
        std::fs::write(&path, text).context(PAGE)
    }

    /// Returns the calls in which the C tool has no stable output, by class and file.
    fn faults_of_c(&self) -> String {
        let mut text = String::new();
        for (class, calls) in self.classes.iter().filter(|(class, _)| class.is_apart()) {
            let mut files: Vec<String> =
                calls.iter().map(|call| format!("`{}`", call.files.join(" "))).collect();
            files.sort();
            files.dedup();
            let _ = writeln!(text, "Files of the class “{}”:\n{}.\n", class.cause(), files.join(", "));
        }
        text
    }
}

/// Returns the calls in a table that a report has written.
pub(super) fn listed(path: &Path) -> Result<BTreeSet<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text.lines().skip(1).filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_stable_output_do_not_count() {
        let call = |tool| Call { tool, options: vec!["-r"], files: vec!["a.h5".into()] };
        let calls = [call("h5ls"), call("h5ls"), call("h5stat"), call("h5diff")];
        let results = [None, Some(Class::Signal), Some(Class::Sizes), None];
        let report = Report::of(&calls, &results, "2");
        assert_eq!((report.equal(), report.comparable(), report.equal_share()), (2, 3, 666));
        assert!(report.text().contains("| `h5ls -r` | 2 | 1 |"));
        assert!(report.faults_of_c().contains("`a.h5`"));
    }
}
