//! Links of the book and of the pages beside it: each must lead to an existing file and heading,
//! and the table of contents must list each page.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Pages outside `docs/` that link into it.
const OUTSIDE: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let docs = root.join("docs");
    let mut pages = super::pages(&docs)?;
    let contents = fs::read_to_string(docs.join("SUMMARY.md")).context("docs/SUMMARY.md")?;
    let mut faults = Vec::new();
    for page in &pages {
        let name = page.strip_prefix(&docs).unwrap_or(page).to_string_lossy();
        if name != "SUMMARY.md" && !contents.contains(&format!("]({name})")) {
            faults.push(format!("docs/{name} is not in docs/SUMMARY.md"));
        }
    }
    pages.extend(OUTSIDE.iter().map(|name| root.join(name)));
    for page in &pages {
        let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
        let name = page.strip_prefix(root).unwrap_or(page).display();
        for target in targets(&text) {
            let fault = fault(page, &text, target);
            let leaves =
                || leaves(page, target, &docs).then(|| format!("`{target}` is not part of the book"));
            if let Some(fault) = fault.or_else(leaves) {
                faults.push(format!("{name}: {fault}"));
            }
        }
    }
    Ok(faults)
}

/// Returns the link targets in `text`, except addresses on the web. Listings hold no links.
fn targets(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut targets = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        }
        if inside {
            continue;
        }
        let found =
            line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        targets.extend(
            found.filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(' ')),
        );
    }
    targets
}

/// Returns true if a link of the book leads to a file outside the book, which readers cannot open.
fn leaves(page: &Path, target: &str, docs: &Path) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    let other = page.parent().unwrap_or(page).join(path).canonicalize();
    page.starts_with(docs)
        && other.is_ok_and(|other| !docs.canonicalize().is_ok_and(|docs| other.starts_with(docs)))
}

fn fault(page: &Path, text: &str, target: &str) -> Option<String> {
    let (path, heading) =
        target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let other: PathBuf = page.parent()?.join(path);
    if !path.is_empty() && !other.exists() {
        return Some(format!("`{target}` does not exist"));
    }
    let heading = heading?;
    let text = if path.is_empty() { text.to_owned() } else { fs::read_to_string(other).ok()? };
    let is_there = text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading);
    (!is_there).then(|| format!("`{target}`: the page has no such heading"))
}

/// Returns the anchor of a heading.
fn anchor(line: &str) -> String {
    let title = line.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        fs::write(folder.path().join("other.md"), "# A title, `here`\n").unwrap();
        let fault = |target| fault(&page, "## Mine\n", target);
        assert_eq!(fault("other.md"), None);
        assert_eq!(fault("other.md#a-title-here"), None);
        assert_eq!(fault("#mine"), None);
        assert!(fault("other.md#b").is_some());
        assert!(fault("none.md").is_some());
        assert!(fault("#yours").is_some());
    }

    #[test]
    fn links_in_listings_are_none() {
        assert_eq!(targets("[a](b.md) [c](https://d)\n```\n[e](f)\n```\n[g](h#i)"), ["b.md", "h#i"]);
    }
}
