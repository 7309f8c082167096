//! The prefix: the library with its links, the headers, and the files for build systems.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// The file that cargo builds.
pub(super) const BUILT: &str = "libhdf5.so";
/// The file of the library in the prefix, and the links that lead to it. The numbers are those of
/// the C library of the same version.
const FILE: &str = "libhdf5.so.320.2.0";
const SONAME: &str = "libhdf5.so.320";
const LINKS: &[&str] = &[SONAME, BUILT];

/// The header that states the version, and the beginning of the line.
const VERSION_HEADER: &str = "H5pubconf.h";
const VERSION_LINE: &str = "#define H5_VERSION \"";

/// Texts for build systems: the path in the prefix, the text with `@NAME@` for values, and true if
/// the file is a program.
const TEXTS: &[(&str, &str, bool)] = &[
    ("lib/pkgconfig/hdf5.pc", include_str!("../files/hdf5.pc"), false),
    ("lib/cmake/hdf5/hdf5-config.cmake", include_str!("../files/hdf5-config.cmake"), false),
    ("lib/cmake/hdf5/hdf5-config-version.cmake", include_str!("../files/hdf5-config-version.cmake"), false),
    ("bin/h5cc", include_str!("../files/h5cc"), true),
];

/// A prefix to write, and the folder of the headers.
#[derive(Debug)]
pub(super) struct Prefix {
    pub(super) folder: PathBuf,
    pub(super) headers: PathBuf,
}

impl Prefix {
    /// Writes the prefix anew. Returns remarks on the library.
    pub(super) fn write(&self, library: &Path) -> Result<Vec<String>> {
        let bytes = fs::read(library).with_context(|| library.display().to_string())?;
        let version = self.version()?;
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        self.write_library(&bytes)?;
        self.copy_headers()?;
        self.write_texts(&version)?;
        Ok(notes(&bytes))
    }

    /// Returns the version that the headers state.
    fn version(&self) -> Result<String> {
        let path = self.headers.join(VERSION_HEADER);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let line = text.lines().find_map(|line| line.strip_prefix(VERSION_LINE));
        let version = line.and_then(|rest| rest.strip_suffix('"'));
        Ok(version.with_context(|| format!("no version in {}", path.display()))?.to_owned())
    }

    fn write_library(&self, bytes: &[u8]) -> Result<()> {
        let lib = self.folder.join("lib");
        fs::create_dir_all(&lib)?;
        let file = lib.join(FILE);
        fs::write(&file, bytes)?;
        make_program(&file)?;
        for link in LINKS {
            link_to(FILE, &lib.join(link))?;
        }
        Ok(())
    }

    fn copy_headers(&self) -> Result<()> {
        let include = self.folder.join("include");
        fs::create_dir_all(&include)?;
        let mut count = 0;
        for entry in fs::read_dir(&self.headers)? {
            let entry = entry?;
            if Path::new(&entry.file_name()).extension().is_some_and(|end| end == "h") {
                fs::copy(entry.path(), include.join(entry.file_name()))?;
                count += 1;
            }
        }
        ensure!(count > 0, "no headers in {}", self.headers.display());
        Ok(())
    }

    fn write_texts(&self, version: &str) -> Result<()> {
        let major = version.split('.').next().unwrap_or(version);
        let pointer = size_of::<usize>().to_string();
        let values = [
            ("@VERSION@", version),
            ("@MAJOR@", major),
            ("@POINTER@", &pointer),
            ("@FILE@", FILE),
            ("@SONAME@", SONAME),
        ];
        for (path, text, is_program) in TEXTS {
            let path = self.folder.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let text =
                values.iter().fold((*text).to_owned(), |text, (name, value)| text.replace(name, value));
            fs::write(&path, text)?;
            if *is_program {
                make_program(&path)?;
            }
        }
        Ok(())
    }
}

/// Returns remarks on the library: programs that link it look for the name that it states.
fn notes(bytes: &[u8]) -> Vec<String> {
    let mut name = SONAME.as_bytes().to_vec();
    name.push(0);
    if bytes.windows(name.len()).any(|window| window == name) {
        return Vec::new();
    }
    vec![format!("the library does not state the name {SONAME}: programs will look for {BUILT}")]
}

#[cfg(unix)]
fn make_program(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(unix)]
fn link_to(target: &str, link: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(target, link)?)
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> Result<()> {
    Ok(())
}

/// Copies instead, because links need a privilege.
#[cfg(not(unix))]
fn link_to(target: &str, link: &Path) -> Result<()> {
    fs::copy(link.with_file_name(target), link)?;
    Ok(())
}

#[cfg(test)]
mod tests;
