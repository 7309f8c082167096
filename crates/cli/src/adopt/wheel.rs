//! The libhdf5 that a Python wheel contains: its file, and the files that call it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::elf::{self, Symbols};
use super::library::{self, Interface, Library};
use super::replace::{self, BACKUP};

/// The program that prints the folder of a package without importing it.
const LOCATE: &str = "import importlib.util, sys\n\
    spec = importlib.util.find_spec(sys.argv[1])\n\
    places = list(spec.submodule_search_locations or []) if spec else []\n\
    print(places[0] if len(places) == 1 else '')";

/// A package with its own libhdf5.
#[derive(Debug)]
pub(super) struct Wheel {
    /// The name by which Python imports the package, if the user gave it.
    pub(super) name: Option<String>,
    /// The folder of the package.
    package: PathBuf,
    /// The folder of the libraries of the wheel.
    libraries: PathBuf,
    /// The wheel's libhdf5.
    pub(super) target: PathBuf,
    interface: Interface,
}

impl Wheel {
    /// Finds the package by its folder or by its name.
    pub(super) fn find(given: &Path, python: &Path) -> Result<Self> {
        let (name, package) = if given.is_dir() && given.components().count() > 1 {
            (None, given.to_owned())
        } else {
            let name = given
                .to_str()
                .filter(|name| is_name(name))
                .with_context(|| format!("`{}` is no folder and no name of a package", given.display()))?;
            (Some(name.to_owned()), locate(name, python)?)
        };
        let libraries = libraries_of(&package)?;
        let target = bundled(&libraries)?;
        let interface = interface_of(&target)?;
        Ok(Self { name, package, libraries, target, interface })
    }

    /// Returns the interface for which the wheel was compiled.
    pub(super) fn interface(&self) -> Interface {
        self.interface
    }

    /// Returns true if the wheel has this library already.
    pub(super) fn is_adopted_from(&self, library: &Library) -> Result<bool> {
        let bytes = fs::read(&self.target).with_context(|| self.target.display().to_string())?;
        Ok(bytes == library.bytes && replace::backup_of(&self.target).is_file())
    }

    /// Checks that the library can take the place of the wheel's library: the processor is the
    /// same, and the library has all functions and data that the files of the wheel use.
    pub(super) fn check(&self, library: &Library) -> Result<()> {
        let own = fs::read(&self.target).with_context(|| self.target.display().to_string())?;
        let own =
            if library::is_of_hyperslab(&own) { fs::read(replace::backup_of(&self.target))? } else { own };
        let own = Symbols::of(&own).with_context(|| self.target.display().to_string())?;
        ensure!(own.defined.contains("H5Fcreate"), "`{}` is not a libhdf5", self.target.display());
        ensure!(
            own.machine == library.symbols.machine,
            "the library is for another processor than the wheel"
        );
        let mut missing = Vec::new();
        let mut waiting = vec![self.package.clone(), self.libraries.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
                let path = entry?.path();
                if path.is_dir() && !path.is_symlink() {
                    waiting.push(path);
                } else if is_client(&path, &self.target) {
                    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
                    if elf::is_library(&bytes) {
                        let client = Symbols::of(&bytes).with_context(|| path.display().to_string())?;
                        missing.extend(client.used.into_iter().filter(|name| {
                            own.defined.contains(name) && !library.symbols.defined.contains(name)
                        }));
                    }
                }
            }
        }
        missing.sort();
        missing.dedup();
        ensure!(missing.is_empty(), "the library lacks {}, which the wheel uses", missing.join(", "));
        Ok(())
    }
}

/// Returns true for the shared libraries of a wheel except its libhdf5 and the backup of it.
fn is_client(path: &Path, target: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.is_some_and(|name| (name.ends_with(".so") || name.contains(".so.")) && !name.ends_with(BACKUP))
        && path != target
}

/// Returns true for the name of a package: letters, digits and `_`.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Asks Python for the folder of a package.
fn locate(name: &str, python: &Path) -> Result<PathBuf> {
    let output = Command::new(python).args(["-c", LOCATE, name]).output();
    let output = output.with_context(|| format!("cannot run `{}`", python.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let folder = Path::new(text.trim());
    if !output.status.success() || folder.as_os_str().is_empty() {
        bail!("`{}` has no package {name}", python.display());
    }
    Ok(folder.to_owned())
}

/// Returns the folder of the wheel's libraries: beside the package, with its name in any case.
fn libraries_of(package: &Path) -> Result<PathBuf> {
    let package = fs::canonicalize(package).with_context(|| package.display().to_string())?;
    let (Some(above), Some(name)) = (package.parent(), package.file_name()) else {
        bail!("`{}` is no folder of a package", package.display());
    };
    let wanted = format!("{}.libs", name.to_string_lossy()).to_lowercase();
    for entry in fs::read_dir(above)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().to_lowercase() == wanted {
            return Ok(entry.path());
        }
    }
    bail!(
        "there is no folder `{wanted}` beside `{}`: the package has no libhdf5 of its own, and LD_LIBRARY_PATH chooses the library",
        package.display()
    )
}

/// Returns the libhdf5 in a folder of libraries, whose name has a checksum, such as
/// `libhdf5-9e18f0c6.so.320.0.0`.
fn bundled(libraries: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(libraries).with_context(|| libraries.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_hdf5 = name.starts_with("libhdf5-") || name.starts_with("libhdf5.so");
        if is_hdf5 && name.contains(".so") && !name.ends_with(BACKUP) && !name.ends_with(replace::NEW) {
            found.push(entry.path());
        }
    }
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => bail!("`{}` has no libhdf5", libraries.display()),
        _ => bail!("`{}` has {} files of libhdf5", libraries.display(), found.len()),
    }
}

/// Returns the interface that the name of a library states.
fn interface_of(target: &Path) -> Result<Interface> {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
    let number = name.as_deref().and_then(|name| name.split_once(".so.")?.1.split('.').next());
    let number = number.with_context(|| format!("the name `{}` states no version", target.display()))?;
    Interface::of_number(number).with_context(|| {
        format!("hyperslab has no library with the number {number} (it has 310, 320 and 103)")
    })
}
