//! `cargo xtask capi`: the C interface as an installed library. The prefix `target/capi/` has the
//! shared libraries, the headers, and the files by which pkg-config, CMake and makefiles find them.
//! A copy of the folder works at any place.

mod clients;
mod installed;
mod older;
mod package;
mod prefix;

use std::path::PathBuf;

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use self::prefix::Prefix;
use crate::shell;

/// The package that makes the library.
const PACKAGE: &str = "hyperslab-capi";
/// The package that makes the high-level library.
const HIGH_LEVEL: &str = "hyperslab-capi-hl";

/// The profiles of Cargo for the library.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Profile {
    /// The library that users install.
    #[default]
    Dist,
    /// A library with optimization, for tests.
    Release,
    Debug,
}

impl Profile {
    /// Returns the option of Cargo.
    fn option(self) -> &'static str {
        match self {
            Self::Dist => "--profile=dist",
            Self::Release => "--profile=release",
            Self::Debug => "--profile=dev",
        }
    }

    /// Returns the folder of the built files.
    fn folder(self) -> PathBuf {
        target_folder().join(match self {
            Self::Dist => shell::DIST,
            Self::Release => "release",
            Self::Debug => "debug",
        })
    }
}

/// The choices of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    /// The profile of the build.
    profile: Profile,
    /// The library, instead of a new build.
    library: Option<PathBuf>,
    /// True for the library of the interface of HDF5 1.10 as well.
    older: bool,
    /// True for an archive and a Debian package of the prefix.
    package: bool,
    /// True to run programs of Debian 12 on the library.
    debian: bool,
    /// True to run Python wheels on the library.
    wheels: bool,
}

/// Builds the library, or takes a built one, writes the prefix, and tries it with a C program.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let request = parse(args)?;
    let prefix = write_prefix(&request)?;
    println!("{}", prefix.folder.display());
    installed::check(&prefix.folder)?;
    if request.package {
        package::run(&prefix)?;
    }
    if request.debian {
        clients::debian(&prefix.folder)?;
    }
    if request.wheels {
        clients::wheels(&prefix.folder)?;
        clients::guide(&prefix.folder)?;
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Request> {
    let mut request = Request::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match (arg.as_str(), rest.len()) {
            ("--debug", _) => request.profile = Profile::Debug,
            ("--release", _) => request.profile = Profile::Release,
            ("--hdf5-1-10", _) => request.older = true,
            ("--wheels", _) => (request.wheels, request.older) = (true, true),
            ("--debian", _) => (request.debian, request.older) = (true, true),
            ("--package", _) => (request.package, request.older) = (true, true),
            ("--library", 1..) => request.library = rest.next().map(PathBuf::from),
            _ => bail!(
                "cargo xtask capi [--debug | --release | --library FILE] [--hdf5-1-10] [--package] [--debian] [--wheels]"
            ),
        }
    }
    Ok(request)
}

/// Builds the libraries and writes the prefix.
fn write_prefix(request: &Request) -> Result<Prefix> {
    let library = match &request.library {
        Some(file) => file.clone(),
        None => build(&[HIGH_LEVEL], request.profile)?,
    };
    let older = request.older.then(|| older::build(request.profile)).transpose()?;
    let root = workspace::root();
    let headers = vec![root.join("crates/capi/include"), root.join("crates/capi-hl/include")];
    let prefix = Prefix { folder: root.join("target/capi"), headers };
    let high_level = library.with_file_name(prefix::HIGH_LEVEL.built);
    let notes = prefix.write(&library, high_level.is_file().then_some(high_level.as_path()))?;
    if let Some(older) = older {
        prefix.add_older(&older)?;
    }
    for note in notes {
        println!("note: {note}");
    }
    Ok(prefix)
}

/// Builds the library with optimization. Returns its file.
pub(crate) fn build_release() -> Result<PathBuf> {
    build(&[], Profile::Release)
}

/// Builds the library as users install it. Returns its file.
pub(crate) fn build_dist() -> Result<PathBuf> {
    build(&[], Profile::Dist)
}

/// Builds the library of the interface of HDF5 1.10 with optimization. Returns its file.
pub(crate) fn build_older_release() -> Result<PathBuf> {
    older::build(Profile::Release)
}

/// Builds the library and other packages. Returns the file of the library.
fn build(others: &[&str], profile: Profile) -> Result<PathBuf> {
    let packages: Vec<&str> = [PACKAGE].iter().chain(others).flat_map(|name| ["--package", name]).collect();
    shell::run(&mut shell::cargo(&[&["build", profile.option()], packages.as_slice()].concat()))?;
    Ok(profile.folder().join(prefix::MAIN.built))
}

/// Returns the folder into which cargo builds.
fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    workspace::root().join(target)
}
