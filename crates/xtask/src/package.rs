//! `cargo xtask package`: the check that the published crates can be packaged. The task checks the
//! metadata of each crate, and packages all crates without a build.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::shell;

/// The largest number of keywords and of categories that crates.io accepts.
const MAX_WORDS: usize = 5;
/// The longest keyword that crates.io accepts.
const MAX_KEYWORD: usize = 20;

/// Checks and packages the published crates.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let metadata = metadata()?;
    let packages =
        metadata.get("packages").and_then(Value::as_array).context("`cargo metadata` lists no packages")?;
    let published: Vec<&Value> = packages.iter().filter(|package| is_published(package)).collect();
    ensure!(!published.is_empty(), "no crate is published");
    let faults: Vec<String> = published.iter().flat_map(|package| faults(package)).collect();
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    let names: Vec<&str> = published.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut arguments = vec!["package", "--quiet", "--no-verify", "--allow-dirty", "--offline"];
    arguments.extend(names.iter().flat_map(|name| ["--package", name]));
    shell::run(&mut shell::cargo(&arguments))?;
    println!("package: {} crates: {}", names.len(), names.join(", "));
    if published.iter().any(|package| package["repository"].is_null()) {
        println!("note: `repository` is not set; `[workspace.package]` of Cargo.toml has its line");
    }
    Ok(())
}

fn metadata() -> Result<Value> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1"];
    let text = shell::output(&mut shell::cargo(&arguments)).context("`cargo metadata` failed")?;
    serde_json::from_str(&text).context("`cargo metadata`")
}

/// Returns true unless the crate has `publish = false`.
fn is_published(package: &Value) -> bool {
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

/// Returns the reasons why a crate cannot be published as it is.
fn faults(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or("a crate");
    let mut faults = Vec::new();
    for key in ["description", "license", "rust_version"] {
        if package[key].as_str().is_none_or(str::is_empty) {
            faults.push(format!("{name} has no {key}"));
        }
    }
    for key in ["keywords", "categories"] {
        let words = package[key].as_array().map_or(&[][..], Vec::as_slice);
        if words.is_empty() || words.len() > MAX_WORDS {
            faults.push(format!("{name} has {} {key} instead of 1 to {MAX_WORDS}", words.len()));
        }
        for word in words.iter().filter_map(Value::as_str).filter(|_| key == "keywords") {
            if word.len() > MAX_KEYWORD {
                faults.push(format!("the keyword `{word}` of {name} has more than {MAX_KEYWORD} letters"));
            }
        }
    }
    if package.pointer("/metadata/docs/rs").is_none() {
        faults.push(format!("{name} has no [package.metadata.docs.rs]"));
    }
    // A path alone does not lead to a published crate.
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        if dependency["kind"].as_str() != Some("dev")
            && dependency["path"].is_string()
            && dependency["req"].as_str() == Some("*")
        {
            faults.push(format!("{name} depends on {} without a version", dependency["name"]));
        }
    }
    match package["repository"].as_str() {
        Some(address) if !address.starts_with("https://") || address.contains("example") => {
            faults.push(format!("the repository `{address}` of {name} is a placeholder"));
        }
        _ => {}
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sound() -> Value {
        json!({
            "name": "a", "description": "d", "license": "MIT", "rust_version": "1.95",
            "keywords": ["hdf5"], "categories": ["science"], "metadata": {"docs": {"rs": {}}},
            "dependencies": [{"name": "b", "path": "/b", "req": "^0.1.0", "kind": null},
                {"name": "c", "path": "/c", "req": "*", "kind": "dev"}],
            "repository": null, "publish": null
        })
    }

    #[test]
    fn faults_are_found() {
        assert_eq!(faults(&sound()), [""; 0]);
        assert!(is_published(&sound()));
        for (key, value, fault) in [
            ("description", json!(""), "a has no description"),
            ("keywords", json!([]), "a has 0 keywords instead of 1 to 5"),
            ("keywords", json!(["a-keyword-that-is-too-long"]), "more than 20 letters"),
            ("metadata", json!(null), "no [package.metadata.docs.rs]"),
            (
                "dependencies",
                json!([{"name": "b", "path": "/b", "req": "*", "kind": null}]),
                "without a version",
            ),
            ("repository", json!("https://example.org/a"), "is a placeholder"),
        ] {
            let mut package = sound();
            package[key] = value;
            let found = faults(&package);
            assert!(found.len() == 1 && found[0].contains(fault), "{found:?}");
        }
        let mut package = sound();
        package["publish"] = json!([]);
        assert!(!is_published(&package));
    }
}
