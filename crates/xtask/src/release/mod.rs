//! `cargo xtask release`: the files of a release. An archive and a Debian package contain the
//! command with all parts, completions for shells and manual pages. `SHA256SUMS` contains the
//! checksums.
//!
//! If the target `x86_64-unknown-linux-musl` is installed, the command is a static program that
//! runs on every Linux.

pub(crate) mod contents;
pub(crate) mod debian;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab_testkit::workspace;
use sha2::{Digest as _, Sha256};

use self::contents::Contents;
use crate::shell;

/// The target of static programs.
const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// Builds the command, or uses a command that is already built, and writes the files of the
/// release.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = workspace::root();
    let (program, target) = match words.as_slice() {
        [] => build(&root)?,
        ["--binary", program] => (PathBuf::from(program), host()?),
        _ => bail!("cargo xtask release [--binary PROGRAM]"),
    };
    let version = version(&program)?;
    let contents = Contents::of(&root, &program)?;
    let folder = root.join("target/archives");
    fs::create_dir_all(&folder)?;
    let name = format!("hyperslab-{version}-{target}");
    let archive = folder.join(format!("{name}.tar.gz"));
    fs::write(&archive, contents.archive(&name)?)?;
    let mut made = vec![archive];
    if let Some(architecture) = debian::architecture(&target) {
        let package = folder.join(format!("hyperslab_{version}_{architecture}.deb"));
        fs::write(&package, debian::package(&contents, &version, architecture, target == STATIC_TARGET)?)?;
        made.push(package);
    }
    write_sums(&folder.join("SHA256SUMS"), &made)
}

/// Prints the sizes of files and writes their checksums.
pub(crate) fn write_sums(sums_file: &Path, made: &[PathBuf]) -> Result<()> {
    let mut sums = String::new();
    for file in made {
        let bytes = fs::read(file).with_context(|| file.display().to_string())?;
        let name = file.file_name().context("a file has no name")?.to_string_lossy().into_owned();
        println!("{} ({} KiB)", file.display(), bytes.len() / 1024);
        sums.push_str(&format!("{}  {name}\n", hexadecimal(&Sha256::digest(&bytes))));
    }
    Ok(fs::write(sums_file, sums)?)
}

/// Builds the command. Returns the program and its target.
fn build(root: &Path) -> Result<(PathBuf, String)> {
    let host = host()?;
    let target = if has_static_target() {
        STATIC_TARGET.to_owned()
    } else {
        println!("note: no static program: `rustup target add {STATIC_TARGET}` installs the target");
        host
    };
    let arguments = ["build", "--profile", shell::DIST, "--package", "hyperslab-cli", "--target", &target];
    shell::run(&mut shell::cargo(&[&arguments[..], &shell::FULL].concat()))?;
    let name = format!("hyperslab{}", std::env::consts::EXE_SUFFIX);
    Ok((root.join("target").join(&target).join(shell::DIST).join(name), target))
}

fn has_static_target() -> bool {
    let installed = shell::output(&mut shell::command("rustup", &["target", "list", "--installed"]));
    installed.is_some_and(|list| list.lines().any(|line| line == STATIC_TARGET))
}

/// Returns the target of the running compiler.
pub(crate) fn host() -> Result<String> {
    let text = shell::output(&mut shell::command("rustc", &["-vV"])).context("no rustc")?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc states no host")?.to_owned())
}

/// Returns the version that the program states.
fn version(program: &Path) -> Result<String> {
    let text = shell::output(&mut shell::command(program, &["--version"]));
    let text = text.with_context(|| format!("`{}` does not run", program.display()))?;
    Ok(text.split_whitespace().nth(1).context("the program states no version")?.to_owned())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
