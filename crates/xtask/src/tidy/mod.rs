//! `cargo xtask tidy`: the rules of ARCHITECTURE.md that Cargo and clippy do not check. A unit test
//! runs them too.

mod headers;
mod lengths;
mod levels;
pub(crate) mod manifest;
mod modules;
mod names;
mod order;
mod paths;
pub(crate) mod source;
mod straight_lines;
pub(crate) mod substitutes;
mod unsafety;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use source::Tree;

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

const RULES: &[fn(&Tree) -> Vec<Finding>] = &[
    order::check,
    names::check,
    lengths::check,
    modules::check,
    headers::check,
    unsafety::check,
    paths::check,
    substitutes::check,
    straight_lines::check,
    words::check,
];

pub(crate) fn run(_: &[String]) -> Result<()> {
    let findings = findings(&workspace::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: no findings"),
        count => bail!("{count} findings"),
    }
    Ok(())
}

fn findings(root: &Path) -> Result<Vec<Finding>> {
    let tree = Tree::read(root)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.extend(levels::check(&manifest::packages()?));
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let findings = findings(&workspace::root()).unwrap();
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
