//! `cargo xtask wasm`: builds the WebAssembly module of the page without a server, and tests it
//! with Node.js. The checkout contains the module, so that other builds need no toolchain for it.

mod licenses;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::page::{self, PAGE};
use crate::shell;

const TARGET: &str = "wasm32-unknown-unknown";
/// The module, compressed by gzip, and the licenses of the packages whose code it contains.
const MODULE: &str = "hyperslab.wasm.gz";
const LICENSES: &str = "reader-licenses.txt.gz";
/// The files that this task makes in the folder of the page.
pub(crate) const MADE: [&str; 2] = [MODULE, LICENSES];
/// The folder of the build.
const BUILT: &str = "target/wasm";
/// The largest size of the compressed module in bytes.
const MAX_BYTES: usize = 3_000_000;

/// Debian's compiler for its browsers, its `cargo`, and the sources of its standard library.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library";
/// The versions of Debian's linker, the best one first.
const LINKERS: [&str; 6] = ["wasm-ld", "wasm-ld-23", "wasm-ld-22", "wasm-ld-21", "wasm-ld-20", "wasm-ld-19"];

/// Builds and tests the module. With `--update`, replaces the module in the checkout.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let update = match arguments {
        [] => false,
        [word] if word == "--update" => true,
        _ => bail!("cargo xtask wasm [--update]"),
    };
    let Some(mut build) = toolchain() else {
        ensure!(!update, "there is no toolchain for {TARGET}");
        println!(
            "skipped: the module needs the target {TARGET} (`rustup target add {TARGET}`), or Debian's packages \
             rustc-web, cargo-web, rust-web-src and lld"
        );
        return Ok(());
    };
    build.args(["--target", TARGET, "--profile", "web", "--package", "hyperslab-wasm", "--lib"]);
    shell::run(build.args(["--target-dir", BUILT]))?;
    let module = workspace::root().join(BUILT).join(TARGET).join("web/hyperslab_wasm.wasm");
    let module = std::fs::read(&module).with_context(|| module.display().to_string())?;
    let packed = pack(&module)?;
    println!("{MODULE}: {} bytes, {} compressed", module.len(), packed.len());
    ensure!(packed.len() <= MAX_BYTES, "the module has more than {MAX_BYTES} bytes");
    let built = workspace::root().join(BUILT).join(MODULE);
    std::fs::write(&built, &packed)?;
    test(&built)?;
    let licenses = pack(licenses::text(TARGET)?.as_bytes())?;
    if update {
        let page = workspace::root().join(PAGE);
        std::fs::write(page.join(MODULE), packed)?;
        std::fs::write(page.join(LICENSES), licenses)?;
    }
    Ok(())
}

/// Returns a call of `cargo build` by a toolchain that has the target; `None` if there is none.
fn toolchain() -> Option<Command> {
    let library =
        shell::output(&mut shell::command("rustc", &["--print", "target-libdir", "--target", TARGET]));
    if library.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
        return Some(shell::cargo(&["build"]));
    }
    let is_there = [DEBIAN_RUSTC, DEBIAN_CARGO, DEBIAN_SOURCES].iter().all(|path| Path::new(path).exists());
    let linker = LINKERS.iter().find(|linker| shell::is_installed(linker, &["--version"]))?;
    if !is_there {
        return None;
    }
    let mut command = shell::command(PathBuf::from(DEBIAN_CARGO), &["build", "-Zbuild-std=std,panic_abort"]);
    command.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTUP_TOOLCHAIN");
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    Some(command)
}

/// Returns bytes compressed by gzip, without times.
fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Runs the tests of the page's sources with a module.
fn test(module: &Path) -> Result<()> {
    if !shell::is_installed("npm", &["--version"]) {
        println!("skipped: the tests of the module need Node.js and npm");
        return Ok(());
    }
    page::install()?;
    shell::run(shell::command("npm", &["test", "--prefix", "viewer"]).env("HYPERSLAB_WASM", module))
}
