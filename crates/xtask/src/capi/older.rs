//! The library with the interface of HDF5 1.10, `libhdf5_serial.so.103`: cargo makes a static
//! library, and the C compiler links it with the symbol versions of Debian's library.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use hyperslab_testkit::workspace;

use super::Profile;
use crate::shell;

/// The name that the library states.
pub(super) const SONAME: &str = "libhdf5_serial.so.103";
/// The feature of the interface.
const FEATURE: &str = "hdf5-1-10";
/// The table of the names.
const TABLE: &str = "crates/capi/abi-103.tsv";
/// The libraries of the system that the static library needs.
const SYSTEM: &[&str] = &["-lgcc_s", "-lm", "-lpthread", "-ldl", "-lc"];

/// A row of the table: a name, its symbol version, and our function if it has another name.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    name: &'a str,
    version: &'a str,
    function: Option<&'a str>,
}

/// Builds the library into the folder of the profile. Returns its file.
pub(super) fn build(profile: Profile) -> Result<PathBuf> {
    let root = workspace::root();
    let mut arguments = vec!["rustc", "--package", super::PACKAGE, "--lib", "--features", FEATURE];
    arguments.extend(["--crate-type", "staticlib"]);
    arguments.push(profile.option());
    shell::run(&mut shell::cargo(&arguments))?;
    let folder = profile.folder();
    let text = fs::read_to_string(root.join(TABLE)).context(TABLE)?;
    let library = folder.join(SONAME);
    link(&rows(&text)?, &folder.join("libhdf5.a"), &library, profile != Profile::Debug)?;
    Ok(library)
}

/// Returns the rows of the table.
fn rows(text: &str) -> Result<Vec<Row<'_>>> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let [name, version, function] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("{TABLE}: `{line}` has not three columns");
        };
        rows.push(Row { name, version, function: (!function.is_empty()).then_some(function) });
    }
    ensure!(!rows.is_empty(), "{TABLE} has no rows");
    Ok(rows)
}

/// Links the static library as a shared library.
fn link(rows: &[Row<'_>], archive: &Path, library: &Path, is_stripped: bool) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let (map, names) = (scratch.path().join("map"), scratch.path().join("names"));
    fs::write(&map, version_script(rows)?)?;
    let mut list = String::new();
    for row in rows {
        if let Some(function) = row.function {
            writeln!(list, "-Wl,--defsym={}={function}", row.name)?;
        }
    }
    fs::write(&names, list)?;
    let mut linker = Command::new("cc");
    linker.arg("-shared").arg("-o").arg(library).arg(format!("-Wl,-soname,{SONAME}"));
    linker.arg(format!("-Wl,--version-script={}", map.display())).arg(format!("@{}", names.display()));
    linker.arg("-Wl,--whole-archive").arg(archive).args(["-Wl,--no-whole-archive", "-Wl,--gc-sections"]);
    linker.args(["-Wl,-z,relro", "-Wl,-z,now"]).args(is_stripped.then_some("-Wl,--strip-debug")).args(SYSTEM);
    shell::run(&mut linker)
}

/// Returns the version script: each version has its names and follows the version before it.
fn version_script(rows: &[Row<'_>]) -> Result<String> {
    let mut versions: BTreeMap<Vec<u32>, (&str, Vec<&str>)> = BTreeMap::new();
    for row in rows {
        versions.entry(numbers(row.version)?).or_insert((row.version, Vec::new())).1.push(row.name);
    }
    let (mut script, mut before) = (String::new(), "");
    for (version, names) in versions.values() {
        writeln!(script, "{version} {{\n  global:")?;
        for name in names {
            writeln!(script, "    {name};")?;
        }
        let other_names = if before.is_empty() { "  local: *;\n" } else { "" };
        writeln!(script, "{other_names}}} {before};")?;
        before = version;
    }
    Ok(script)
}

/// Returns the numbers at the end of a version, by which versions are in order.
fn numbers(version: &str) -> Result<Vec<u32>> {
    let text = version.rsplit('_').next().unwrap_or(version);
    let numbers = text.split('.').map(str::parse).collect::<Result<_, _>>();
    numbers.with_context(|| format!("{version} does not end with numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_follow_each_other_in_the_order_of_their_numbers() {
        let text = "# a\nname\tversion\tfunction\nb\tV_1.10.0\t\na\tV_1.8.7\ta1\nc\tV_1.8.7\t\n";
        let rows = rows(text).unwrap();
        assert_eq!(rows[1], Row { name: "a", version: "V_1.8.7", function: Some("a1") });
        let script = version_script(&rows).unwrap();
        let first = "V_1.8.7 {\n  global:\n    a;\n    c;\n  local: *;\n} ;\n";
        assert_eq!(script, format!("{first}V_1.10.0 {{\n  global:\n    b;\n}} V_1.8.7;\n"));
        assert!(super::rows("# a\nname\n").is_err());
        assert!(numbers("V_1.x").is_err());
    }

    #[test]
    fn the_names_of_the_table_are_functions_of_the_interface() {
        let text = fs::read_to_string(workspace::root().join(TABLE)).unwrap();
        let functions = fs::read_to_string(workspace::root().join("crates/capi/functions.tsv")).unwrap();
        for row in rows(&text).unwrap() {
            if let Some(function) = row.function {
                assert!(functions.contains(&format!("\n{function}\t")), "{function}");
                assert!(
                    !functions.contains(&format!("\n{}\t", row.name)),
                    "{} needs no other name",
                    row.name
                );
            }
        }
    }
}
