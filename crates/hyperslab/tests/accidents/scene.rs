//! The life of a writer on a simulated disk, and real files in the state of any instant of that life.

use std::path::{Path, PathBuf};

use hyperslab::{File, FileOptions, LibraryVersion, LibverBounds, OpenOptions, Result};
use hyperslab_check::CheckOptions;
use hyperslab_vfd::simulated::{Crash, Files, History, SimulatedDisk};

pub(crate) const FILE: &str = "a.h5";
pub(crate) const JOURNAL: &str = "a.h5.hjournal";

/// The versions of the structures in a file. Only new superblocks have the status flag "open for
/// writing".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    Earliest,
    Latest,
}

impl Versions {
    pub(crate) fn bounds(self) -> LibverBounds {
        match self {
            Self::Earliest => LibverBounds::EARLIEST,
            Self::Latest => LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap(),
        }
    }
}

/// The values of the datasets and attributes of a file, in words.
pub(crate) type Content = Vec<String>;

/// Returns the contents of a file.
pub(crate) fn content(file: &File) -> Result<Content> {
    let mut found = Vec::new();
    for visit in file.walk() {
        let (path, object) = (String::from_utf8_lossy(&visit.path).into_owned(), visit.object?);
        for attribute in object.attributes()? {
            found.push(format!("{path} @{} {:?}", attribute.name(), attribute.read_stored()?.bytes()));
        }
        match object.into_dataset() {
            Ok(dataset) => found.push(format!("{path} {:?}", dataset.read_raw::<i32>(..)?)),
            Err(_) => found.push(format!("{path} group")),
        }
    }
    found.sort();
    Ok(found)
}

/// A commit of the writer.
struct Step {
    /// The number of disk operations after which the commit is acknowledged.
    acknowledged: usize,
    content: Content,
}

/// The life of a writer.
pub(crate) struct Scene {
    pub(crate) versions: Versions,
    /// The file before the writer opened it.
    pub(crate) first: Vec<u8>,
    steps: Vec<Step>,
    pub(crate) history: History,
}

/// Makes the changes of the writer between its commits: new space that is written directly, several
/// small commits in one journal, reuse of freed space, and a file that becomes shorter.
fn change(file: &File, number: i32) -> Result<()> {
    match number {
        0 => {
            let values: Vec<i32> = (0..20_000).collect();
            file.new_dataset("large").write(&values).map(drop)?;
        }
        1 | 2 | 5 => file.group("group")?.set_attribute("number", number)?,
        3 => {
            file.remove("first")?;
            file.new_dataset("second").chunks(&[50]).write(&vec![number; 500]).map(drop)?;
        }
        4 => {
            let values: Vec<i32> = (0..9000).map(|value| value * 7).collect();
            file.remove("old")?;
            file.new_dataset("third").write(&values).map(drop)?;
        }
        6 => file.dataset("large")?.write(.., &vec![number; 20_000])?,
        _ => file.remove("large")?,
    }
    file.set_attribute("last", number)
}

/// Creates the file that the writer opens.
pub(crate) fn fill(file: &File) -> Result<()> {
    file.create_group("group")?.set_attribute("text", "a text that is longer than a few bytes")?;
    file.new_dataset("first").chunks(&[100]).write(&vec![1; 1000])?;
    file.new_dataset("old").write(&vec![2; 10_000])?;
    file.set_attribute("last", -1)
}

impl Scene {
    pub(crate) fn new(versions: Versions) -> Self {
        let made = FileOptions::new().libver(versions.bounds()).create_in_memory().unwrap();
        fill(&made).unwrap();
        let first = made.to_bytes().unwrap();
        let disk = SimulatedDisk::holding(Files::from([(FILE.to_owned(), first.clone())]));
        let options =
            OpenOptions::new().write(true).libver(versions.bounds()).journal(disk.side_file(JOURNAL));
        let file = options.open_driver(disk.file(FILE)).unwrap();
        let mut steps = vec![Step { acknowledged: 0, content: content(&file).unwrap() }];
        for number in 0..8 {
            change(&file, number).unwrap();
            file.flush().unwrap();
            steps.push(Step { acknowledged: disk.operations(), content: content(&file).unwrap() });
        }
        // The writer never closes the file.
        let history = disk.history();
        drop(file);
        Self { versions, first, steps, history }
    }

    /// Returns real files in the state after the writer was killed. The writer completed the given
    /// number of operations.
    pub(crate) fn killed_at(&self, point: usize) -> State<'_> {
        let mut replay = self.history.replay();
        replay.go_to(point);
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in replay.crash(Crash::ProcessEnd, 0) {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        State { scene: self, point, folder }
    }
}

/// Real files after the end of a writer.
pub(crate) struct State<'s> {
    pub(crate) scene: &'s Scene,
    pub(crate) point: usize,
    pub(crate) folder: tempfile::TempDir,
}

impl State<'_> {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path(FILE)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path(JOURNAL)
    }

    pub(crate) fn options(&self) -> OpenOptions {
        OpenOptions::new().write(true).libver(self.scene.versions.bounds())
    }

    /// Returns files in the state after a power loss at the same instant.
    pub(crate) fn power_lost(&self, seed: u64) -> Files {
        let mut replay = self.scene.history.replay();
        replay.go_to(self.point);
        replay.crash(Crash::Torn, seed)
    }

    /// Returns the contents that the file may have: the content after the last acknowledged commit,
    /// and the content after the running commit.
    pub(crate) fn committed(&self) -> Vec<&Content> {
        let steps = &self.scene.steps;
        let last = steps.iter().rposition(|step| step.acknowledged <= self.point).unwrap();
        steps[last..steps.len().min(last + 2)].iter().map(|step| &step.content).collect()
    }

    /// Returns all contents that the file had.
    pub(crate) fn ever(&self) -> Vec<&Content> {
        self.scene.steps.iter().map(|step| &step.content).collect()
    }

    /// Reads the file, then opens it for writing. Both times the file must have one of the given
    /// contents. After the close, the file must be sound and have no journal.
    pub(crate) fn expect(&self, path: &Path, contents: &[&Content]) -> std::result::Result<Content, String> {
        let before = listing(path.parent().unwrap());
        let read =
            File::open(path).and_then(|file| content(&file)).map_err(|error| format!("read: {error:?}"))?;
        if !contents.contains(&&read) {
            return Err(format!("read: {} lines of none of {} contents", read.len(), contents.len()));
        }
        if before != listing(path.parent().unwrap()) {
            return Err("reading changed a file".into());
        }
        let file = self.options().open(path).map_err(|error| format!("opened for writing: {error:?}"))?;
        let written = content(&file).map_err(|error| format!("opened for writing: {error:?}"))?;
        if written != read {
            return Err("opened for writing, the file has another content".into());
        }
        file.close().map_err(|error| format!("closed: {error:?}"))?;
        check(path)?;
        Ok(read)
    }

    /// Expects a committed content, and no journal that was set aside.
    pub(crate) fn expect_committed(&self, path: &Path) -> std::result::Result<(), String> {
        self.expect(path, &self.committed())?;
        match stale(path.parent().unwrap()).first() {
            Some(name) => Err(format!("`{name}` was set aside")),
            None => Ok(()),
        }
    }
}

/// Returns the names in a folder, with the bytes of the files.
pub(crate) fn listing(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Returns the names of journals that were set aside.
pub(crate) fn stale(folder: &Path) -> Vec<String> {
    let names =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".stale-")).collect()
}

/// Checks that a closed file is sound.
pub(crate) fn check(path: &Path) -> std::result::Result<(), String> {
    let driver = hyperslab::vfd::Sec2::open(path, hyperslab::vfd::Access::ReadOnly).unwrap();
    let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
    let report = hyperslab_check::check(std::sync::Arc::new(driver), &options)
        .map_err(|error| format!("check: {error:?}"))?;
    if report.faults == 0 { Ok(()) } else { Err(format!("not sound: {:?}", report.findings)) }
}
