//! The name of the library, and the name of the library that it needs: `libhdf5.so.320`.
//!
//! The dynamic linker must load `libhdf5.so.320` with this library, so its name must be in the
//! list of needed libraries. The linker writes this list from the libraries that it finds; an
//! empty library with the name is enough.

use std::path::Path;
use std::process::Command;

/// The name of this library.
const NAME: &str = "libhdf5_hl.so.320";
/// The name of the library with the functions that this library calls.
const NEEDED: &str = "libhdf5.so.320";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{NAME}");
    match std::env::var("OUT_DIR").map(|folder| empty_library(Path::new(&folder))) {
        Ok(Ok(file)) => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,--no-as-needed");
            println!("cargo::rustc-cdylib-link-arg={file}");
        }
        other => println!("cargo::warning=the library does not name {NEEDED}: {other:?}"),
    }
}

/// Links the empty library. Returns its path.
fn empty_library(folder: &Path) -> Result<String, String> {
    let file = folder.join(NEEDED);
    let source = folder.join("empty.s");
    std::fs::write(&source, "").map_err(|error| error.to_string())?;
    let linker = std::env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&linker);
    command.args(["-shared", "-nostdlib", &format!("-Wl,-soname,{NEEDED}"), "-o"]).arg(&file).arg(&source);
    let status = command.status().map_err(|error| format!("{linker}: {error}"))?;
    if !status.success() {
        return Err(format!("{linker}: {status}"));
    }
    Ok(file.display().to_string())
}
