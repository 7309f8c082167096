//! The files of a release, and their archive.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::shell;

/// The shells with completions: the name of the shell, the path in the archive, and the path in a
/// Debian package.
const SHELLS: &[(&str, &str, &str)] = &[
    ("bash", "completions/hyperslab.bash", "usr/share/bash-completion/completions/hyperslab"),
    ("zsh", "completions/_hyperslab", "usr/share/zsh/vendor-completions/_hyperslab"),
    ("fish", "completions/hyperslab.fish", "usr/share/fish/vendor_completions.d/hyperslab.fish"),
    ("elvish", "completions/hyperslab.elv", ""),
    ("powershell", "completions/hyperslab.ps1", ""),
];

/// The documents of the checkout in the archive.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The modes of programs and of other files.
const PROGRAM_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;

/// One file of a release.
#[derive(Debug)]
pub(super) struct Entry {
    /// The path in the archive.
    pub(super) path: String,
    /// The path in a Debian package. Empty if the package does not have the file.
    pub(super) installed: String,
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
}

/// The files of a release, in the order of the archive.
#[derive(Debug)]
pub(super) struct Contents(pub(super) Vec<Entry>);

impl Contents {
    /// Gathers the files. The program writes its completions and manual pages.
    pub(super) fn of(root: &Path, program: &Path) -> Result<Self> {
        let mut entries = Vec::new();
        let mut add = |path: String, installed: String, bytes: Vec<u8>, mode: u32| {
            entries.push(Entry { path, installed, bytes, mode });
        };
        let bytes = fs::read(program).with_context(|| program.display().to_string())?;
        let suffix = std::env::consts::EXE_SUFFIX;
        add(format!("hyperslab{suffix}"), "usr/bin/hyperslab".to_owned(), bytes, PROGRAM_MODE);
        for name in DOCUMENTS {
            let bytes = fs::read(root.join(name)).with_context(|| (*name).to_owned())?;
            add((*name).to_owned(), format!("usr/share/doc/hyperslab/{name}"), bytes, FILE_MODE);
        }
        for (shell, path, installed) in SHELLS {
            let script = shell::output(&mut shell::command(program, &["completions", shell]));
            let script = script.with_context(|| format!("no completions for {shell}"))?;
            add((*path).to_owned(), (*installed).to_owned(), script.into_bytes(), FILE_MODE);
        }
        let folder = tempfile::tempdir()?;
        shell::run(shell::command(program, &["man"]).arg(folder.path()))?;
        let mut pages: Vec<_> = fs::read_dir(folder.path())?.collect::<Result<_, _>>()?;
        pages.sort_by_key(fs::DirEntry::file_name);
        for page in pages {
            let name = page.file_name().to_string_lossy().into_owned();
            let installed = format!("usr/share/man/man1/{name}.gz");
            add(format!("man/{name}"), installed, fs::read(page.path())?, FILE_MODE);
        }
        Ok(Self(entries))
    }

    /// Returns the archive, whose files are in the folder `name`.
    pub(super) fn archive(&self, name: &str) -> Result<Vec<u8>> {
        let files = self.0.iter().map(|entry| (format!("{name}/{}", entry.path), &*entry.bytes, entry.mode));
        archive(files)
    }
}

/// Returns a compressed tar archive. Times and owners are zero, so that equal contents are equal
/// bytes.
pub(super) fn archive<'a>(files: impl Iterator<Item = (String, &'a [u8], u32)>) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (path, bytes, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len().try_into()?);
        header.set_mode(mode);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, path, bytes)?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Returns a compressed tar archive of a folder, with its folders and links, under another name.
/// Times and owners are zero, as in [`archive`].
pub(crate) fn tree(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let mut waiting = vec![folder.to_owned()];
    let mut paths = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.symlink_metadata()?.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        }
        paths.push(path);
    }
    paths.sort();
    for path in paths {
        let metadata = path.symlink_metadata()?;
        let place = Path::new(name).join(path.strip_prefix(folder)?);
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        header.set_mode(if is_program(&metadata) { PROGRAM_MODE } else { FILE_MODE });
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        if metadata.is_symlink() {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_mode(0o777);
            archive.append_link(&mut header, place, fs::read_link(&path)?)?;
        } else if metadata.is_dir() {
            header.set_entry_type(tar::EntryType::Directory);
            archive.append_data(&mut header, place, std::io::empty())?;
        } else {
            let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
            header.set_size(bytes.len().try_into()?);
            archive.append_data(&mut header, place, &*bytes)?;
        }
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Returns true for folders and for files that may be executed.
#[cfg(unix)]
fn is_program(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.is_dir() || metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(metadata: &fs::Metadata) -> bool {
    metadata.is_dir()
}

/// Returns compressed bytes.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}
