//! The files and folders that a server shows, and the names that lead to them.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The files and folders that a server shows.
#[derive(Debug)]
pub(crate) struct Roots {
    roots: Vec<Root>,
}

/// A file or folder that a server shows.
#[derive(Debug)]
struct Root {
    /// The first component of names; several roots have different names.
    name: String,
    /// The real path.
    path: PathBuf,
    is_file: bool,
}

impl Roots {
    /// Finds the real paths of files and folders.
    pub(crate) fn new(paths: &[PathBuf]) -> io::Result<Self> {
        let mut roots: Vec<Root> = Vec::new();
        for path in paths {
            let real = path.canonicalize()?;
            // Links keep the name by which the user knows them.
            let own = path.file_name().or_else(|| real.file_name());
            let own = own.map_or_else(|| "files".into(), |name| name.to_string_lossy().into_owned());
            let is_taken = |name: &str| roots.iter().any(|root| root.name == name);
            let numbered = (2..).map(|number| format!("{own}-{number}"));
            let name = std::iter::once(own.clone()).chain(numbered).find(|name| !is_taken(name));
            let is_file = real.is_file();
            roots.push(Root { name: name.unwrap_or(own), path: real, is_file });
        }
        Ok(Self { roots })
    }

    /// Returns true if there are no roots.
    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Returns the name of the only root, if it is a file.
    pub(crate) fn only_file(&self) -> Option<&str> {
        match self.roots.as_slice() {
            [root] if root.is_file => Some(&root.name),
            _ => None,
        }
    }

    /// Returns the names of all roots; `None` if names begin below the only folder.
    pub(crate) fn names(&self) -> Option<impl Iterator<Item = &str>> {
        match self.roots.as_slice() {
            [root] if !root.is_file => None,
            roots => Some(roots.iter().map(|root| root.name.as_str())),
        }
    }

    /// Returns the real path of the file or folder that a request names; `None` if it does not
    /// exist or is outside of the roots.
    pub(crate) fn resolve(&self, name: &str) -> Option<PathBuf> {
        let mut parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.iter().any(|part| !is_plain(part)) {
            return None;
        }
        let root = match self.roots.as_slice() {
            [root] if !root.is_file => root,
            roots => {
                let first = *parts.first()?;
                parts.remove(0);
                roots.iter().find(|root| root.name == first)?
            }
        };
        if root.is_file {
            return parts.is_empty().then(|| root.path.clone());
        }
        let path = parts.iter().fold(root.path.clone(), |path, part| path.join(part)).canonicalize().ok()?;
        path.starts_with(&root.path).then_some(path)
    }

    /// Returns true if a file that another one names may be read: it is in a folder that the
    /// server shows, or beside or below a file that the server shows.
    pub(crate) fn allows(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| match root.path.parent().filter(|_| root.is_file) {
            Some(folder) => real.starts_with(folder),
            None => real.starts_with(&root.path),
        })
    }

    /// Returns a text in which the paths of the folders around the roots are missing.
    pub(crate) fn without_paths(&self, text: &str) -> String {
        let folders = self.roots.iter().filter_map(|root| root.path.parent()?.to_str());
        folders
            .filter(|folder| folder.len() > 1)
            .fold(text.to_owned(), |text, folder| text.replace(&format!("{folder}/"), ""))
    }
}

/// Returns true if a part of a name is one component of a path on all systems.
fn is_plain(part: &str) -> bool {
    let mut components = Path::new(part).components();
    let is_normal = matches!(components.next(), Some(Component::Normal(_)));
    is_normal && components.next().is_none() && !part.contains(['\\', '\0']) && !part.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(inside.join("sub/a.h5"), "").unwrap();
        std::fs::write(outside.join("b.h5"), "").unwrap();
        let roots = Roots::new(std::slice::from_ref(&inside)).unwrap();
        let real = inside.canonicalize().unwrap();
        assert_eq!(roots.resolve("sub/a.h5"), Some(real.join("sub/a.h5")));
        assert_eq!(roots.resolve("/sub//./a.h5"), Some(real.join("sub/a.h5")));
        let absolute = outside.join("b.h5").to_str().unwrap().to_owned();
        for name in
            ["../out/b.h5", "sub/../../out/b.h5", "..", &absolute, "sub\\a.h5", "a\0.h5", "c:a", "none"]
        {
            assert_eq!(roots.resolve(name), None, "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
            std::os::unix::fs::symlink("a.h5", inside.join("sub/alias.h5")).unwrap();
            assert_eq!(roots.resolve("link/b.h5"), None);
            assert_eq!(roots.resolve("sub/alias.h5"), Some(real.join("sub/a.h5")));
        }
        assert!(roots.allows(&real.join("sub/a.h5")) && !roots.allows(Path::new(&absolute)));
    }

    #[test]
    fn several_roots_have_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one/data", "two/data"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("a.h5"), name).unwrap();
        }
        let path = |name| folder.path().join(name);
        let roots = Roots::new(&[path("one/data"), path("two/data"), path("one/data/a.h5")]).unwrap();
        assert!(roots.names().unwrap().eq(["data", "data-2", "a.h5"]));
        let read = |name| std::fs::read_to_string(roots.resolve(name).unwrap()).unwrap();
        assert_eq!(read("data/a.h5"), "one/data");
        assert_eq!(read("data-2/a.h5"), "two/data");
        assert_eq!(read("a.h5"), "one/data");
        assert_eq!(roots.resolve("a.h5/b"), None);
        assert_eq!(roots.resolve(""), None);
        let file = Roots::new(&[path("one/data/a.h5")]).unwrap();
        assert_eq!(file.only_file(), Some("a.h5"));
        assert!(file.allows(&path("one/data/beside.h5").parent().unwrap().canonicalize().unwrap().join("x")));
        assert!(!file.allows(&path("two")));
    }
}
