//! The prefix: the library with its links, the headers, and the files for build systems.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// The names of a library. The numbers are those of the C library of the same version.
#[derive(Debug)]
pub(super) struct Library {
    /// The file that cargo builds, and a link in the prefix.
    pub(super) built: &'static str,
    /// The file in the prefix.
    file: &'static str,
    /// The name that the library states, and a link in the prefix.
    soname: &'static str,
    /// The names by which programs of HDF5 1.14 look for the library: links in the prefix.
    earlier: &'static [&'static str],
}

/// The library of the C interface.
pub(super) const MAIN: Library = Library {
    built: "libhdf5.so",
    file: "libhdf5.so.320.2.0",
    soname: "libhdf5.so.320",
    earlier: &["libhdf5.so.310", "libhdf5_serial.so.310"],
};
/// The high-level library.
pub(super) const HIGH_LEVEL: Library = Library {
    built: "libhdf5_hl.so",
    file: "libhdf5_hl.so.320.2.0",
    soname: "libhdf5_hl.so.320",
    earlier: &["libhdf5_hl.so.310", "libhdf5_serial_hl.so.310"],
};
/// The library of the interface of HDF5 1.10.
const OLDER: Library = Library {
    built: "libhdf5_serial.so",
    file: "libhdf5_serial.so.103.3.1",
    soname: super::older::SONAME,
    earlier: &[],
};

/// The header that states the version, and the beginning of the line.
const VERSION_HEADER: &str = "H5pubconf.h";
const VERSION_LINE: &str = "#define H5_VERSION \"";

/// Texts for build systems: the path in the prefix, the text with `@NAME@` for values, and true if
/// the file is a program.
const TEXTS: &[(&str, &str, bool)] = &[
    ("lib/pkgconfig/hdf5.pc", include_str!("../files/hdf5.pc"), false),
    (HIGH_LEVEL_TEXT, include_str!("../files/hdf5_hl.pc"), false),
    ("lib/cmake/hdf5/hdf5-config.cmake", include_str!("../files/hdf5-config.cmake"), false),
    ("lib/cmake/hdf5/hdf5-config-version.cmake", include_str!("../files/hdf5-config-version.cmake"), false),
    ("bin/h5cc", include_str!("../files/h5cc"), true),
];

/// The text that a prefix without the high-level library does not have.
const HIGH_LEVEL_TEXT: &str = "lib/pkgconfig/hdf5_hl.pc";

/// A prefix to write, and the folders of the headers. The first folder has the version.
#[derive(Debug)]
pub(super) struct Prefix {
    pub(super) folder: PathBuf,
    pub(super) headers: Vec<PathBuf>,
}

impl Prefix {
    /// Writes the prefix anew. Returns remarks on the libraries.
    pub(super) fn write(&self, library: &Path, high_level: Option<&Path>) -> Result<Vec<String>> {
        let mut libraries = vec![(&MAIN, library)];
        libraries.extend(high_level.map(|file| (&HIGH_LEVEL, file)));
        let read = |(names, file): &(&'static Library, &Path)| {
            Ok((*names, fs::read(file).with_context(|| file.display().to_string())?))
        };
        let libraries = libraries.iter().map(read).collect::<Result<Vec<_>>>()?;
        let version = self.version()?;
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut remarks = Vec::new();
        for (names, bytes) in &libraries {
            self.write_library(names, bytes)?;
            remarks.extend(notes(names, bytes));
        }
        let is_whole = high_level.is_some();
        if !is_whole {
            remarks.push(format!("no {}: the prefix has no high-level library", HIGH_LEVEL.built));
        }
        for folder in self.headers.iter().take(if is_whole { self.headers.len() } else { 1 }) {
            self.copy_headers(folder)?;
        }
        self.write_texts(&version, is_whole)?;
        Ok(remarks)
    }

    /// Returns the version that the headers state.
    fn version(&self) -> Result<String> {
        let folder = self.headers.first().context("no folder of headers")?;
        let path = folder.join(VERSION_HEADER);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let line = text.lines().find_map(|line| line.strip_prefix(VERSION_LINE));
        let version = line.and_then(|rest| rest.strip_suffix('"'));
        Ok(version.with_context(|| format!("no version in {}", path.display()))?.to_owned())
    }

    fn write_library(&self, names: &Library, bytes: &[u8]) -> Result<()> {
        let lib = self.folder.join("lib");
        fs::create_dir_all(&lib)?;
        let file = lib.join(names.file);
        fs::write(&file, bytes)?;
        make_program(&file)?;
        for link in [names.soname].iter().chain(names.earlier) {
            link_to(names.file, &lib.join(link))?;
        }
        // Programs are linked with the newest interface only.
        if names.soname != OLDER.soname {
            link_to(names.file, &lib.join(names.built))?;
        }
        Ok(())
    }

    /// Adds the library of the interface of HDF5 1.10.
    pub(super) fn add_older(&self, library: &Path) -> Result<()> {
        let bytes = fs::read(library).with_context(|| library.display().to_string())?;
        self.write_library(&OLDER, &bytes)
    }

    fn copy_headers(&self, headers: &Path) -> Result<()> {
        let include = self.folder.join("include");
        fs::create_dir_all(&include)?;
        let mut count = 0;
        for entry in fs::read_dir(headers)? {
            let entry = entry?;
            if Path::new(&entry.file_name()).extension().is_some_and(|end| end == "h") {
                fs::copy(entry.path(), include.join(entry.file_name()))?;
                count += 1;
            }
        }
        ensure!(count > 0, "no headers in {}", headers.display());
        Ok(())
    }

    fn write_texts(&self, version: &str, is_whole: bool) -> Result<()> {
        let major = version.split('.').next().unwrap_or(version);
        let pointer = size_of::<usize>().to_string();
        let values = [
            ("@VERSION@", version),
            ("@MAJOR@", major),
            ("@POINTER@", &pointer),
            ("@FILE@", MAIN.file),
            ("@SONAME@", MAIN.soname),
            ("@HL_FILE@", HIGH_LEVEL.file),
            ("@HL_SONAME@", HIGH_LEVEL.soname),
        ];
        for (path, text, is_program) in TEXTS.iter().filter(|(path, ..)| is_whole || *path != HIGH_LEVEL_TEXT)
        {
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

/// Returns remarks on a library: programs that link it look for the name that it states.
fn notes(names: &Library, bytes: &[u8]) -> Vec<String> {
    let mut name = names.soname.as_bytes().to_vec();
    name.push(0);
    if bytes.windows(name.len()).any(|window| window == name) {
        return Vec::new();
    }
    vec![format!(
        "the library does not state the name {}: programs will look for {}",
        names.soname, names.built
    )]
}

#[cfg(unix)]
fn make_program(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(unix)]
pub(super) fn link_to(target: impl AsRef<Path>, link: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(target, link)?)
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> Result<()> {
    Ok(())
}

/// Copies instead, because links need a privilege.
#[cfg(not(unix))]
pub(super) fn link_to(target: impl AsRef<Path>, link: &Path) -> Result<()> {
    fs::copy(link.with_file_name(target.as_ref()), link)?;
    Ok(())
}

#[cfg(test)]
mod tests;
