//! Paths of copied objects. A path is stored as a name and the index of its parent, because
//! complete paths of deep groups would take memory in proportion to the square of the depth.

use std::sync::Arc;

use super::Task;

/// The path of a source object whose object header is to be copied.
#[derive(Debug, Clone)]
pub(super) struct ObjectPath {
    /// The index of the parent's path.
    above: Option<usize>,
    name: Box<str>,
    /// The complete path.
    pub(super) text: Arc<str>,
}

/// The paths of all objects that a copy of objects has copied, by index.
#[derive(Debug, Default)]
pub(super) struct ObjectPaths {
    all: Vec<(Option<usize>, Box<str>)>,
    /// The complete path that was assembled last. The next path is often below it.
    recent: Option<(usize, Arc<str>)>,
}

impl ObjectPath {
    /// Creates an object path of a copy from the whole path of the object, without a parent path.
    pub(super) fn whole(path: impl Into<Arc<str>>) -> Self {
        let text = path.into();
        Self { above: None, name: text.as_ref().into(), text }
    }

    /// Returns the path of a link in the group that the task `task` copies.
    pub(super) fn below(task: &Task, name: &str) -> Self {
        let text = format!("{}/{name}", task.path.trim_end_matches('/'));
        Self { above: Some(task.path_id), name: name.into(), text: text.into() }
    }
}

impl ObjectPaths {
    /// Stores the path of a copied object, and returns the index of the path.
    pub(super) fn add(&mut self, object_path: &ObjectPath) -> usize {
        let path_id = self.all.len();
        self.all.push((object_path.above, object_path.name.clone()));
        path_id
    }

    /// Returns the complete path of a copied object with the index `path_id` as text.
    pub(super) fn text(&mut self, path_id: usize) -> Arc<str> {
        let mut names = Vec::new();
        let mut at = Some(path_id);
        let known = self.recent.as_ref();
        while let Some((above, name)) = at.and_then(|at| self.all.get(at)) {
            if let Some((_, path)) = known.filter(|(recent, _)| Some(*recent) == at) {
                names.push(path.as_ref());
                break;
            }
            names.push(name.as_ref());
            at = *above;
        }
        names.reverse();
        let text: Arc<str> = match names.as_slice() {
            [] => "".into(),
            [one] => (*one).into(),
            [first, rest @ ..] => format!("{}/{}", first.trim_end_matches('/'), rest.join("/")).into(),
        };
        self.recent = Some((path_id, Arc::clone(&text)));
        text
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::codec::Address;

    use super::*;
    use crate::ops::copy::Original;

    #[test]
    fn paths_are_put_together_again() {
        let mut paths = ObjectPaths::default();
        let enter = |paths: &mut ObjectPaths, object_path: &ObjectPath| {
            let original = Original { file: 0, address: Address::new(1) };
            Task {
                original,
                copy: Address::new(2),
                path: Arc::clone(&object_path.text),
                path_id: paths.add(object_path),
                is_top: true,
            }
        };
        for (root, expected) in [("/", "/a/b"), ("", "/a/b"), ("object at 7", "object at 7/a/b")] {
            let root = enter(&mut paths, &ObjectPath::whole(root));
            let a = enter(&mut paths, &ObjectPath::below(&root, "a"));
            let b = enter(&mut paths, &ObjectPath::below(&a, "b"));
            assert_eq!(&*b.path, expected);
            for task in [root, a, b] {
                assert_eq!(paths.text(task.path_id), task.path);
            }
        }
        assert_eq!(&*paths.text(1000), "");
    }
}
