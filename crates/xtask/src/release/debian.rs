//! Debian packages. A package is an `ar` archive with the version of the package format, the
//! control file and the files to install.

use std::path::Path;

use anyhow::Result;

use super::contents::{Contents, archive, gzip, tree};

/// Returns Debian's name of the processor of a target. Returns `None` for other systems.
pub(crate) fn architecture(target: &str) -> Option<&'static str> {
    match target {
        "x86_64-unknown-linux-musl" | "x86_64-unknown-linux-gnu" => Some("amd64"),
        "aarch64-unknown-linux-musl" | "aarch64-unknown-linux-gnu" => Some("arm64"),
        _ => None,
    }
}

/// Returns the package. A static program depends on no library.
pub(super) fn package(
    contents: &Contents,
    version: &str,
    architecture: &str,
    is_static: bool,
) -> Result<Vec<u8>> {
    let mut files = Vec::new();
    for entry in contents.0.iter().filter(|entry| !entry.installed.is_empty()) {
        let is_page = entry.installed.ends_with(".gz");
        let bytes = if is_page { gzip(&entry.bytes)? } else { entry.bytes.clone() };
        files.push((format!("./{}", entry.installed), bytes, entry.mode));
    }
    let size: usize = files.iter().map(|(_, bytes, _)| bytes.len()).sum();
    let control = control(version, architecture, is_static, size.div_ceil(1024));
    let control = archive([("./control".to_owned(), control.as_bytes(), 0o644)].into_iter())?;
    let data = archive(files.iter().map(|(path, bytes, mode)| (path.clone(), &**bytes, *mode)))?;
    assemble(&control, &data)
}

/// Returns the package with the compressed archives of its control file and of its files.
fn assemble(control: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let mut package = ar::Builder::new(Vec::new());
    for (name, bytes) in
        [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", control), ("data.tar.gz", data)]
    {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), bytes.len().try_into()?);
        header.set_mode(0o100_644);
        package.append(&header, bytes)?;
    }
    Ok(package.into_inner()?)
}

/// Returns the package of a folder. The paths in the folder are those of the installed files.
pub(crate) fn package_of(folder: &Path, control: &str) -> Result<Vec<u8>> {
    let control = archive([("./control".to_owned(), control.as_bytes(), 0o644)].into_iter())?;
    assemble(&control, &tree(folder, ".")?)
}

/// Returns the control file. `size` is the installed size in KiB.
fn control(version: &str, architecture: &str, is_static: bool, size: usize) -> String {
    let depends = if is_static { "" } else { "Depends: libc6, libgcc-s1\n" };
    format!(
        "Package: hyperslab\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: the hyperslab developers <hyperslab@localhost>\n{depends}Installed-Size: {size}\n\
         Section: science\nPriority: optional\n\
         Description: inspect and change HDF5 files\n \
         The command reads, writes, compares, plots, checks and repairs HDF5 files\n \
         without the C library, and has the tools h5dump, h5diff and h5repack.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::contents::Entry;
    use super::*;

    #[test]
    fn packages_have_the_three_members_in_order() {
        let entry = |path: &str, installed: &str| Entry {
            path: path.into(),
            installed: installed.into(),
            bytes: b"text".to_vec(),
            mode: 0o644,
        };
        let contents = Contents(vec![
            entry("hyperslab", "usr/bin/hyperslab"),
            entry("hyperslab.ps1", ""),
            entry("man/a.1", "usr/share/man/man1/a.1.gz"),
        ]);
        let bytes = package(&contents, "0.1.0", "amd64", true).unwrap();
        let mut archive = ar::Archive::new(&bytes[..]);
        let mut names = Vec::new();
        let mut paths = Vec::new();
        while let Some(member) = archive.next_entry() {
            let mut member = member.unwrap();
            names.push(String::from_utf8(member.header().identifier().to_vec()).unwrap());
            if names.last().unwrap() == "data.tar.gz" {
                let mut data = tar::Archive::new(flate2::read::GzDecoder::new(&mut member));
                for file in data.entries().unwrap() {
                    paths.push(file.unwrap().path().unwrap().display().to_string());
                }
            }
        }
        assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        // The tar library removes the leading `./`, which dpkg accepts too.
        let paths: Vec<&str> = paths.iter().map(|path| path.trim_start_matches("./")).collect();
        assert_eq!(paths, ["usr/bin/hyperslab", "usr/share/man/man1/a.1.gz"]);
        assert!(!control("0.1.0", "amd64", true, 1).contains("Depends"));
    }
}
