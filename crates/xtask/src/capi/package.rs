//! The packages of the prefix: an archive that works in any folder, and a Debian package, which
//! installs the prefix in a folder of its own beside the C library of the system. Both are unpacked
//! and tried with a C program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use hyperslab_testkit::workspace;

use super::installed;
use super::prefix::Prefix;
use crate::release::{self, contents, debian};
use crate::shell;

/// The name of the packages.
const NAME: &str = "hyperslab-hdf5";
/// The folder of the prefix after the installation of the Debian package. `hyperslab adopt` looks
/// for the library there.
const INSTALLED: &str = "usr/lib/hyperslab/hdf5";
/// The documents of the checkout in the packages.
const DOCUMENTS: &[&str] = &[
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "CHANGELOG.md",
    "docs/capi.md",
    "docs/capi-exceptions.md",
    "docs/guide/from-libhdf5.md",
];
/// The checksums of the packages.
const SUMS: &str = "SHA256SUMS-hdf5";

/// Writes the packages of a prefix and tries them.
pub(super) fn run(prefix: &Prefix) -> Result<()> {
    let root = workspace::root();
    let (version, target) = (env!("CARGO_PKG_VERSION"), release::host()?);
    let folder = root.join("target/archives");
    fs::create_dir_all(&folder)?;
    let made = write(&prefix.folder, &root, &folder, version, &target)?;
    release::write_sums(&folder.join(SUMS), &made)?;
    for package in &made {
        let scratch = tempfile::tempdir()?;
        if let Some(prefix) = unpack(package, scratch.path())? {
            installed::check(&prefix).with_context(|| package.display().to_string())?;
        }
    }
    Ok(())
}

/// Writes the packages into a folder. Returns their files.
fn write(prefix: &Path, root: &Path, folder: &Path, version: &str, target: &str) -> Result<Vec<PathBuf>> {
    let scratch = tempfile::tempdir()?;
    let system = scratch.path().join("system");
    let installed = system.join(INSTALLED);
    copy_folder(prefix, &installed)?;
    let documents = installed.join("share/doc").join(NAME);
    fs::create_dir_all(&documents)?;
    for name in DOCUMENTS {
        let to = documents.join(Path::new(name).file_name().context("a document has no name")?);
        fs::copy(root.join(name), to).with_context(|| (*name).to_owned())?;
    }
    let name = format!("{NAME}-{version}-{target}");
    let archive = folder.join(format!("{name}.tar.gz"));
    fs::write(&archive, contents::tree(&installed, &name)?)?;
    let mut made = vec![archive];
    if let Some(architecture) = debian::architecture(target) {
        let of_package = system.join("usr/share/doc").join(NAME);
        fs::create_dir_all(&of_package)?;
        fs::copy(root.join("LICENSE-MIT"), of_package.join("copyright"))?;
        let package = folder.join(format!("{NAME}_{version}_{architecture}.deb"));
        fs::write(&package, debian::package_of(&system, &control(version, architecture, size(&system)?))?)?;
        made.push(package);
    }
    Ok(made)
}

/// Returns the control file. `size` is the installed size in KiB.
fn control(version: &str, architecture: &str, size: u64) -> String {
    format!(
        "Package: {NAME}\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: the hyperslab developers <hyperslab@localhost>\nDepends: libc6, libgcc-s1\n\
         Installed-Size: {size}\nSection: libs\nPriority: optional\n\
         Description: libraries that programs can load in place of libhdf5\n \
         The folder /{INSTALLED}/lib has libhdf5.so.320, libhdf5.so.310 and\n \
         libhdf5_serial.so.103, and libhdf5_hl. Programs load them with LD_LIBRARY_PATH;\n \
         the C library of the system stays as it is.\n"
    )
}

/// Returns the size of all files of a folder in KiB.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata()?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else {
            bytes += metadata.len();
        }
    }
    Ok(bytes.div_ceil(1024))
}

/// Copies a folder with its links.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&source, &copy)?;
        } else if kind.is_symlink() {
            super::prefix::link_to(&fs::read_link(&source)?, &copy)?;
        } else {
            fs::copy(&source, &copy)?;
        }
    }
    Ok(())
}

/// Unpacks a package. Returns the prefix, or `None` with a message if a program is missing.
fn unpack(package: &Path, folder: &Path) -> Result<Option<PathBuf>> {
    let is_debian = package.extension().is_some_and(|end| end == "deb");
    let program = if is_debian { "dpkg-deb" } else { "tar" };
    if !shell::is_installed(program, &["--version"]) {
        println!("skipped: {}: no {program}", package.display());
        return Ok(None);
    }
    let mut command = shell::command(program, &[if is_debian { "-x" } else { "-xzf" }]);
    command.arg(package);
    if !is_debian {
        command.arg("-C");
    }
    shell::run(command.arg(folder))?;
    if is_debian {
        return Ok(Some(folder.join(INSTALLED)));
    }
    let first = fs::read_dir(folder)?.next().context("the archive is empty")??;
    Ok(Some(first.path()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn packages_contain_the_prefix_with_its_links_and_the_documents() {
        let folder = tempfile::tempdir().unwrap();
        let (prefix, out) = (folder.path().join("prefix"), folder.path().join("out"));
        fs::create_dir_all(prefix.join("lib")).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(prefix.join("lib/libhdf5.so.320.2.0"), "bytes").unwrap();
        super::super::prefix::link_to(Path::new("libhdf5.so.320.2.0"), &prefix.join("lib/libhdf5.so.310"))
            .unwrap();
        let made = write(&prefix, &workspace::root(), &out, "0.1.0", "x86_64-unknown-linux-gnu").unwrap();
        assert_eq!(made.len(), 2, "{made:?}");
        for (package, number) in made.iter().zip(0..) {
            let scratch = folder.path().join(format!("{number}"));
            fs::create_dir(&scratch).unwrap();
            let Some(prefix) = unpack(package, &scratch).unwrap() else { continue };
            assert_eq!(fs::read_to_string(prefix.join("lib/libhdf5.so.310")).unwrap(), "bytes");
            for name in ["LICENSE-MIT", "capi.md", "from-libhdf5.md"] {
                assert!(prefix.join("share/doc/hyperslab-hdf5").join(name).is_file(), "{name}");
            }
        }
    }
}
