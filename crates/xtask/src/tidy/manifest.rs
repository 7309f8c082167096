//! The packages of the workspace, from `cargo metadata`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;
use serde_json::Value;

use crate::shell;

/// One member of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The name of the package's folder in `crates/`.
    pub(crate) folder: String,
    /// The path of the package's Cargo.toml, from the root.
    pub(crate) manifest: String,
    /// The text of the package's Cargo.toml.
    pub(crate) text: String,
    pub(crate) description: String,
    pub(crate) rust_version: String,
    /// The names of the features, with `default` if there is one.
    pub(crate) features: Vec<String>,
    /// Keys that publishing needs, and their values if they are set.
    pub(crate) metadata: BTreeMap<&'static str, Option<String>>,
    /// Names of the packages that the package needs to run or build (not for its tests).
    pub(crate) dependencies: Vec<String>,
}

impl Package {
    /// Returns the first line of the Cargo.toml that begins with `key`, or line 1.
    pub(crate) fn line_of(&self, key: &str) -> usize {
        self.text.lines().position(|line| line.trim_start().starts_with(key)).map_or(1, |at| at + 1)
    }
}

/// The metadata that every package must have. Most of it comes from `[workspace.package]`.
const METADATA: &[&str] = &["description", "license", "rust_version"];

/// Returns all members of the workspace, sorted by name.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let text = shell::output(&mut shell::cargo(&args)).context("`cargo metadata` failed")?;
    let document: Value = serde_json::from_str(&text).context("`cargo metadata`")?;
    let list =
        document.get("packages").and_then(Value::as_array).context("`cargo metadata` lists no packages")?;
    let mut packages = list.iter().map(package).collect::<Result<Vec<_>>>()?;
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

fn package(value: &Value) -> Result<Package> {
    let string = |key: &str| value[key].as_str().map(str::to_owned);
    let path = string("manifest_path").context("a package has no manifest_path")?;
    let root = workspace::root();
    let manifest = path.strip_prefix(&*root.to_string_lossy()).unwrap_or(&path).replace('\\', "/");
    let manifest = manifest.trim_start_matches('/').to_owned();
    let folder = manifest.trim_end_matches("/Cargo.toml").rsplit('/').next().unwrap_or_default().to_owned();
    let listed = value["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    let dependencies = listed.iter().filter(|dependency| dependency["kind"].as_str() != Some("dev"));
    Ok(Package {
        name: string("name").context("a package has no name")?,
        text: std::fs::read_to_string(&path).with_context(|| path.clone())?,
        description: string("description").unwrap_or_default(),
        rust_version: string("rust_version").unwrap_or_default(),
        features: value["features"].as_object().map_or_else(Vec::new, |all| all.keys().cloned().collect()),
        metadata: METADATA.iter().map(|&key| (key, string(key))).collect(),
        dependencies: dependencies.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect(),
        folder,
        manifest,
    })
}
