//! The licenses of the packages whose code is in the WebAssembly module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

/// The package whose dependencies count.
const ROOT: &str = "hyperslab-wasm";

/// Returns the names, versions and license texts of all packages whose code is in the module.
pub(super) fn text(target: &str) -> Result<String> {
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", target];
    let text = shell::output(&mut shell::cargo(&arguments)).context("`cargo metadata` failed")?;
    let metadata: Value = serde_json::from_str(&text).context("`cargo metadata`")?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let by_id: BTreeMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let nodes = metadata["resolve"]["nodes"].as_array().context("`cargo metadata` lists no dependencies")?;
    let nodes: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let is_root = |package: &&Value| package["name"] == ROOT;
    let root = packages.iter().find(is_root).and_then(|package| package["id"].as_str());
    let mut open = vec![root.with_context(|| format!("no package {ROOT}"))?];
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(nodes.get(id).map(|node| linked(node)).unwrap_or_default());
        }
    }
    let foreign =
        found.into_iter().filter_map(|id| by_id.get(id)).filter(|package| !package["source"].is_null());
    let mut entries = foreign.map(|package| entry(package)).collect::<Result<Vec<_>>>()?;
    entries.sort();
    let line = format!("\n{}\n\n", "-".repeat(80));
    Ok(format!(
        "The reader of files (hyperslab.wasm) contains code of Rust's standard library (MIT OR Apache-2.0) and of \
         these packages.\n{line}{}",
        entries.join(&line)
    ))
}

/// Returns the dependencies of a package whose code is linked.
fn linked(node: &Value) -> Vec<&str> {
    let is_linked = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    let dependencies = node["deps"].as_array().into_iter().flatten();
    dependencies.filter(is_linked).filter_map(|dependency| dependency["pkg"].as_str()).collect()
}

/// Returns the name, version, kind of license and license texts of a package.
fn entry(package: &Value) -> Result<String> {
    let name = package["name"].as_str().context("a package without a name")?;
    let folder = package["manifest_path"].as_str().and_then(|path| Path::new(path).parent());
    let folder = folder.with_context(|| format!("{name}: no folder"))?;
    let mut texts = Vec::new();
    for file in folder.read_dir().with_context(|| folder.display().to_string())? {
        let file = file?.path();
        let own = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if ["license", "licence", "copying", "notice"].iter().any(|start| own.starts_with(start))
            && file.is_file()
        {
            texts.push(std::fs::read_to_string(&file).with_context(|| file.display().to_string())?);
        }
    }
    texts.sort();
    let texts: Vec<&str> = texts.iter().map(|text| text.trim()).collect();
    let version = package["version"].as_str().unwrap_or_default();
    let kind = package["license"].as_str().unwrap_or("see the text");
    Ok(format!("{name} {version} ({kind})\n\n{}\n", texts.join("\n\n")))
}
