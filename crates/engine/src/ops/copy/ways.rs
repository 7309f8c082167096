//! Paths of objects that are copied. What waits holds a name and a number each: whole paths of deep groups would take memory
//! in proportion to the square of the depth.

use std::sync::Arc;

use super::Task;

/// The way to an object that may be entered.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// The number of the way to the group that it is in.
    above: Option<usize>,
    name: Box<str>,
    /// The whole path.
    pub(super) text: Arc<str>,
}

/// The ways to all objects that were entered.
#[derive(Debug, Default)]
pub(super) struct Ways {
    all: Vec<(Option<usize>, Box<str>)>,
    /// The way whose path was put together last: the next one is often below it.
    recent: Option<(usize, Arc<str>)>,
}

impl Way {
    /// A way that does not lead through another object.
    pub(super) fn whole(path: impl Into<Arc<str>>) -> Self {
        let text = path.into();
        Self { above: None, name: text.as_ref().into(), text }
    }

    /// The way to what a link in the object of a task leads to.
    pub(super) fn below(task: &Task, name: &str) -> Self {
        let text = format!("{}/{name}", task.path.trim_end_matches('/'));
        Self { above: Some(task.way), name: name.into(), text: text.into() }
    }
}

impl Ways {
    /// Takes down a way, and returns its number.
    pub(super) fn add(&mut self, way: &Way) -> usize {
        self.all.push((way.above, way.name.clone()));
        self.all.len().saturating_sub(1)
    }

    /// The whole path of a way.
    pub(super) fn text(&mut self, way: usize) -> Arc<str> {
        let mut names = Vec::new();
        let mut at = Some(way);
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
        self.recent = Some((way, Arc::clone(&text)));
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
        let mut ways = Ways::default();
        let enter = |ways: &mut Ways, way: &Way| {
            let original = Original { file: 0, address: Address::new(1) };
            Task {
                original,
                copy: Address::new(2),
                path: Arc::clone(&way.text),
                way: ways.add(way),
                depth: 0,
            }
        };
        for (root, expected) in [("/", "/a/b"), ("", "/a/b"), ("object at 7", "object at 7/a/b")] {
            let root = enter(&mut ways, &Way::whole(root));
            let a = enter(&mut ways, &Way::below(&root, "a"));
            let b = enter(&mut ways, &Way::below(&a, "b"));
            assert_eq!(&*b.path, expected);
            for task in [root, a, b] {
                assert_eq!(ways.text(task.way), task.path);
            }
        }
        assert_eq!(&*ways.text(1000), "");
    }
}
