//! The parts of documentation pages that tasks write, between two markers.

use anyhow::{Context as _, Result};
use hyperslab_testkit::workspace;

/// Changes the text between two markers of a page. The start marker ends with a line feed. Blank
/// lines separate the text from the markers.
pub(crate) fn change(
    page: &str,
    [start, end]: [&str; 2],
    change: impl FnOnce(&str) -> Result<String>,
) -> Result<()> {
    let path = workspace::root().join(page);
    let old = std::fs::read_to_string(&path).with_context(|| page.to_owned())?;
    let new = changed(&old, [start, end], change).with_context(|| page.to_owned())?;
    std::fs::write(&path, new).with_context(|| page.to_owned())
}

/// Replaces the text between two markers of a page; see [`change`].
pub(crate) fn replace(page: &str, markers: [&str; 2], text: &str) -> Result<()> {
    change(page, markers, |_| Ok(text.to_owned()))
}

fn changed(
    page: &str,
    [start, end]: [&str; 2],
    change: impl FnOnce(&str) -> Result<String>,
) -> Result<String> {
    let (before, rest) = page.split_once(start).context("the page has no start marker")?;
    let (part, after) = rest.split_once(end).context("the page has no end marker")?;
    Ok(format!("{before}{start}\n{}\n\n{end}{after}", change(part)?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_between_the_markers_changes() {
        let page = "a\n<s>\n\nold\n\n<e>\nz <e>\n";
        let new = changed(page, ["<s>\n", "<e>"], |part| Ok(part.replace("old", "new")));
        assert_eq!(new.unwrap(), "a\n<s>\n\nnew\n\n<e>\nz <e>\n");
        assert!(changed("a <e>", ["<s>\n", "<e>"], |_| Ok(String::new())).is_err());
        assert!(changed("<s>\n a", ["<s>\n", "<e>"], |_| Ok(String::new())).is_err());
    }
}
