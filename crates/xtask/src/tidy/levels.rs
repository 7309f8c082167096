//! Rule 1: a crate depends only on the crates that the table of levels in ARCHITECTURE.md allows.

use super::Finding;
use super::manifest::Package;

/// The folder of each crate, and the folders of the crates on which it may depend.
const LEVELS: &[(&str, &[&str])] = &[
    ("exact", &[]),
    ("vfd", &["exact"]),
    ("dataspace", &["exact"]),
    ("datatype", &["exact"]),
    ("filter", &["exact", "datatype", "dataspace"]),
    ("format", &["exact", "datatype", "dataspace"]),
    ("engine", &["exact", "vfd", "dataspace", "datatype", "filter", "format"]),
    ("hyperslab", &["exact", "engine", "vfd", "dataspace", "datatype", "filter", "derive"]),
    ("derive", &[]),
    ("check", &["exact", "vfd", "dataspace", "datatype", "filter", "format", "engine"]),
    ("capi", &["exact", "hyperslab"]),
    ("capi-hl", &["exact"]),
    ("python", &["exact", "hyperslab", "cloud", "references", "serve"]),
    ("cloud", &["exact", "hyperslab"]),
    ("serve", &["exact", "hyperslab"]),
    ("wasm", &["exact", "hyperslab", "serve"]),
    ("references", &["exact", "hyperslab"]),
    ("cli", &["exact", "hyperslab", "check", "cloud", "references", "serve", "format"]),
    ("testkit", &[]),
    ("xtask", &["testkit"]),
    // The listings of the book.
    ("book", &["hyperslab", "cloud"]),
    // Benchmarks measure any level against libhdf5 and other implementations.
    ("bench", &["vfd", "dataspace", "datatype", "filter", "format", "engine", "hyperslab", "testkit"]),
];

pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(|package| of_package(package, packages)).collect()
}

fn of_package(package: &Package, all: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |key: &str, message: String| {
        findings.push(Finding::new(&package.manifest, package.line_of(key), message));
    };
    for (key, value) in &package.metadata {
        if value.as_deref().unwrap_or_default().is_empty() {
            say("[package]", format!("`{}` is missing", key.replace('_', "-")));
        }
    }
    if !package.text.contains("[lints]\nworkspace = true") {
        say("[lints]", "`[lints] workspace = true` is missing".to_owned());
    }
    match LEVELS.iter().find(|(folder, _)| *folder == package.folder) {
        None => {
            say("name", format!("`{}` has no level in xtask's table (see ARCHITECTURE.md)", package.folder));
        }
        Some((_, allowed)) => {
            for dependency in &package.dependencies {
                let member = all.iter().find(|other| other.name == *dependency);
                if let Some(other) = member.filter(|other| !allowed.contains(&other.folder.as_str())) {
                    let message = format!(
                        "`{}` must not depend on `{}`: arrows point down",
                        package.folder, other.folder
                    );
                    say(dependency, message);
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &str, dependencies: &[&str]) -> Package {
        Package {
            name: format!("hyperslab-{folder}"),
            folder: folder.to_owned(),
            manifest: format!("crates/{folder}/Cargo.toml"),
            text: "[package]\nname = \"x\"\n\n[dependencies]\nhyperslab-vfd.workspace = true\n[lints]\nworkspace = true".to_owned(),
            dependencies: dependencies.iter().map(|name| format!("hyperslab-{name}")).collect(),
            ..Package::default()
        }
    }

    /// Compares the table in this file with the one in ARCHITECTURE.md.
    #[test]
    fn the_table_is_the_one_in_architecture_md() {
        let root = hyperslab_testkit::workspace::root();
        let paper = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        let mut rows = 0;
        for row in paper.lines().filter(|line| line.starts_with("| ") && line.contains("` (`")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let folder = cells[1].split("(`").nth(1).unwrap().trim_end_matches("`)");
            let words = |text: &str| -> std::collections::BTreeSet<String> {
                text.split(|c: char| !c.is_alphanumeric())
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect()
            };
            let (_, allowed) = LEVELS.iter().find(|(name, _)| *name == folder).unwrap();
            assert_eq!(words(cells[3]), words(&allowed.join(" ")), "{folder}");
            rows += 1;
        }
        assert_eq!(rows, 18);
    }

    #[test]
    fn an_arrow_upwards_is_found() {
        let packages =
            [package("vfd", &[]), package("format", &["vfd"]), package("engine", &["vfd", "format"])];
        let lines: Vec<String> = check(&packages).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            ["crates/format/Cargo.toml:5: `format` must not depend on `vfd`: arrows point down"]
        );
    }

    #[test]
    fn a_crate_outside_the_table_is_found() {
        let lines: Vec<String> = check(&[package("stuff", &[])]).iter().map(ToString::to_string).collect();
        assert!(lines.iter().any(|line| line.contains("has no level")), "{lines:?}");
    }
}
