//! The comparison of objects and links by h5diff, by their paths.

use anyhow::{Context as _, Result, anyhow};
use hyperslab::{ErrorKind, Group, LinkTarget, Object, ObjectKind};

use super::{Diff, marks};
use crate::compare::listing::{Entry, Kind, Listing, in_order};
use crate::compare::step::{Side, in_step};
use crate::output::in_line;
use crate::tools::subset::Subset;

/// An object or link at a path of a compared file.
#[derive(Debug, Clone)]
struct Located {
    /// The path from the root group.
    path: String,
    kind: Kind,
    /// The object. For a link, its target if links are followed and the target exists.
    object: Option<Object>,
    /// True if the path leads to the object without soft or external links.
    is_direct: bool,
}

impl Located {
    /// Returns the C library's name for the kind of the object or link, such as `H5G_GROUP`.
    fn word(&self) -> &'static str {
        let kind = self.object.as_ref().and_then(Object::kind);
        match (&self.kind, kind) {
            (_, Some(ObjectKind::Group)) => "H5G_GROUP",
            (_, Some(ObjectKind::Dataset)) => "H5G_DATASET",
            (_, Some(ObjectKind::Datatype)) => "H5G_TYPE",
            (Kind::Soft(_), None) => "H5G_LINK",
            (Kind::External { .. } | Kind::UserDefined(_), None) => "H5G_UDLINK",
            _ => "H5G_UNKNOWN",
        }
    }
}

impl Diff<'_> {
    /// Compares the two objects that the arguments of h5diff name.
    pub(super) fn run(&mut self) -> Result<()> {
        let Some(first) = self.arguments.objects.first() else {
            let roots = self.files.each_ref().map(|file| file.root().clone());
            return self.groups(&roots, ["", ""], true);
        };
        let second = self.arguments.objects.get(1).unwrap_or(first);
        let mut subsets = [None, None];
        let mut found = Vec::new();
        for (number, (text, subset)) in [first, second].into_iter().zip(&mut subsets).enumerate() {
            let (path, part) =
                if self.arguments.no_subset { (text.clone(), None) } else { Subset::split(text)? };
            *subset = part;
            match self.find(number, &path)? {
                Some(located) => found.push(located),
                None => return Ok(()),
            }
        }
        let [one, other] = found.as_slice() else { return Ok(()) };
        if let Some((one, other)) = one.object.as_ref().zip(other.object.as_ref())
            && let (Some(ObjectKind::Group), Some(ObjectKind::Group)) = (one.kind(), other.kind())
        {
            let paths = [found.first(), found.get(1)]
                .map(|located| located.map_or("", |located| located.path.as_str()));
            let are_roots = paths == ["/", "/"];
            let groups = [one.clone().into_group()?, other.clone().into_group()?];
            return self.groups(&groups, paths.map(|path| if path == "/" { "" } else { path }), are_roots);
        }
        if self.arguments.follow && !self.arguments.no_dangling && self.is_verbose() {
            for (name, located) in ["obj1", "obj2"].into_iter().zip(&found) {
                if is_dangling(located) && found.iter().all(is_dangling) {
                    writeln!(self.out, "{name} <{}> is a dangling link.", in_line(&located.path))?;
                }
            }
        }
        self.pair(one, other, &subsets)
    }

    /// Returns the object or link at a path of a compared file. If nothing has this path, prints a
    /// message and returns `None`.
    fn find(&mut self, number: usize, path: &str) -> Result<Option<Located>> {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let Some(file) = self.files.get(number) else { return Ok(None) };
        let (inside, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", ""));
        if name.is_empty() {
            let object: Object = (**file.root()).clone();
            let kind = Kind::Object(ObjectKind::Group, object.token());
            return Ok(Some(Located { path: "/".into(), kind, object: Some(object), is_direct: true }));
        }
        let group = if inside.is_empty() { Ok(file.root().clone()) } else { file.group(inside) };
        let link: hyperslab::Result<_> = group.and_then(|group| Ok((group.link(name)?, group)));
        let Ok((Some(link), group)) = link else {
            let name = self.names.get(number).map_or("", String::as_str);
            writeln!(self.out, "Object <{}> could not be found in <{}>", in_line(&path), in_line(name))?;
            self.failed = true;
            return match link {
                Err(error) if error.kind() != ErrorKind::NotFound => self.fail(error.into()).map(|()| None),
                _ => Ok(None),
            };
        };
        let follow = self.arguments.follow;
        let target = || if follow { group.object(name).ok() } else { None };
        let (kind, object) = match link.target {
            LinkTarget::Hard(token) => {
                let object = group.object_at(token)?;
                let kind = object.kind().ok_or_else(|| anyhow!("{path} has an unknown kind"))?;
                (Kind::Object(kind, token), Some(object))
            }
            LinkTarget::Soft(path) => (Kind::Soft(path), target()),
            LinkTarget::External { file, path } => (Kind::External { file, path }, target()),
            LinkTarget::UserDefined { class, .. } => (Kind::UserDefined(class), None),
            _ => return Err(anyhow!("{path} is a link of an unknown kind")),
        };
        Ok(Some(Located { path, is_direct: matches!(kind, Kind::Object(..)), kind, object }))
    }

    /// Compares two groups and all objects below them.
    fn groups(&mut self, groups: &[Group; 2], paths: [&str; 2], are_files: bool) -> Result<()> {
        let lists = [0, 1].map(|number: usize| {
            let group = groups.get(number).unwrap_or(&groups[0]);
            let mut list = Listing::of(group, self.arguments.follow);
            // The path of the root group is a single slash.
            let is_root = paths.get(number).is_some_and(|path| path.is_empty());
            if let Some(first) = list.entries.first_mut().filter(|_| is_root) {
                first.path = b"/".to_vec();
            }
            list.entries.retain(|entry| !self.is_excluded(entry));
            list
        });
        let [list, other_list] = &lists;
        let sides = in_step(&list.entries, &other_list.entries, in_order);
        if self.is_verbose() {
            self.table(&sides, are_files)?;
        }
        for side in sides {
            let Side::Both(one, other) = side else {
                self.differs = true;
                self.has_single = true;
                let entry = side.any();
                if let Kind::Damaged(why) = &entry.kind {
                    self.fail(anyhow!("{}: {why}", entry.text()))?;
                }
                continue;
            };
            let compared = (|| {
                let [path, other_path] = paths;
                let one = self.located(list, one, path)?;
                let other = self.located(other_list, other, other_path)?;
                self.pair(&one, &other, &[None, None])
            })();
            compared.or_else(|error| self.fail(error))?;
        }
        Ok(())
    }

    fn is_excluded(&self, entry: &Entry) -> bool {
        let path = entry.text();
        self.arguments.excluded.iter().any(|excluded| {
            path.strip_prefix(excluded.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Prints h5diff's table of objects, which shows the files that contain each object.
    fn table(&mut self, sides: &[Side<'_, Entry>], are_files: bool) -> Result<()> {
        if self.level() == 3 {
            writeln!(self.out, "file1: {}\nfile2: {}", in_line(&self.names[0]), in_line(&self.names[1]))?;
        }
        let head = if are_files { "file1     file2" } else { "group1   group2" };
        writeln!(self.out, "\n{head}\n{}", "-".repeat(39))?;
        for side in sides {
            let [one, other] = marks(side);
            writeln!(self.out, "    {one}      {other}    {:<15}", in_line(side.any().text()))?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    fn located(&self, list: &Listing, entry: &Entry, group: &str) -> Result<Located> {
        let path = format!("{group}{}", entry.text());
        let object = match entry.kind {
            _ if entry.is_symbolic() => self.arguments.follow.then(|| list.target(entry).ok()).flatten(),
            Kind::UserDefined(_) => None,
            _ => Some(list.object(entry).with_context(|| path.clone())?),
        };
        Ok(Located { path, kind: entry.kind.clone(), object, is_direct: entry.is_direct() })
    }

    /// Compares two objects or links and prints the differences.
    fn pair(&mut self, one: &Located, other: &Located, subsets: &[Option<Subset>; 2]) -> Result<()> {
        if self.arguments.follow && (is_dangling(one) || is_dangling(other)) {
            return self.dangling(one, other);
        }
        if one.word() != other.word() {
            let line = format!(
                "Not comparable: <{}> is of type {} and <{}> is of type {}",
                one.path,
                one.word(),
                other.path,
                other.word()
            );
            return Ok(self.incomparable(&line)?);
        }
        if let (Some(object), Some(other_object)) = (&one.object, &other.object) {
            let objects = [object, other_object];
            let paths = [one.path.as_str(), other.path.as_str()];
            let is_same = self.is_one_file && one.kind == other.kind && one.is_direct && other.is_direct;
            if is_same && matches!(one.kind, Kind::Object(..)) {
                return self.same(object, paths);
            }
            return match object.kind() {
                Some(ObjectKind::Dataset) => self.datasets(objects, paths, subsets),
                Some(ObjectKind::Datatype) => self.datatypes(objects, paths),
                _ => self.group(objects, paths),
            };
        }
        let kind = match one.kind {
            Kind::Soft(_) => "link   ",
            Kind::External { .. } => "external link",
            _ => "user defined link",
        };
        self.plain(kind, [&one.path, &other.path], one.kind != other.kind)
    }

    /// Prints the result of comparing an object with itself.
    fn same(&mut self, object: &Object, paths: [&str; 2]) -> Result<()> {
        let kind = match object.kind() {
            Some(ObjectKind::Dataset) => "dataset",
            Some(ObjectKind::Datatype) => "datatype",
            _ => "group  ",
        };
        if self.arguments.lists_differences() {
            self.gap()?;
            let [one, other] = paths;
            self.title(kind, [&one, &other])?;
            self.count(0)?;
        }
        Ok(())
    }

    /// Prints the result of comparing two links. At least one of them has no target.
    fn dangling(&mut self, one: &Located, other: &Located) -> Result<()> {
        let sides = [("obj1", one), ("obj2", other)];
        if self.arguments.no_dangling {
            if let Some((_, located)) = sides.into_iter().find(|(_, located)| is_dangling(located))
                && self.is_verbose()
            {
                writeln!(self.out, "Warning: <{}> is a dangling link.", in_line(&located.path))?;
            }
            self.failed = true;
            return Ok(());
        }
        if is_dangling(one) && is_dangling(other) {
            return self.plain("dangling link", [&one.path, &other.path], false);
        }
        if self.is_verbose() {
            for (name, located) in sides.into_iter().filter(|(_, located)| is_dangling(located)) {
                writeln!(self.out, "{name} <{}> is a dangling link.", in_line(&located.path))?;
            }
        }
        self.differs = true;
        if !self.arguments.quiet {
            self.count(1)?;
        }
        Ok(())
    }

    /// Prints the result of comparing objects or links that have no elements.
    fn plain(&mut self, kind: &str, paths: [&String; 2], differ: bool) -> Result<()> {
        self.differs |= differ;
        let [one, other] = paths;
        if self.is_verbose() {
            self.gap()?;
            self.title(kind, [one, other])?;
            self.count(differ.into())?;
        } else if differ && !self.arguments.quiet {
            self.title(kind, [one, other])?;
        }
        Ok(())
    }

    fn group(&mut self, objects: [&Object; 2], paths: [&str; 2]) -> Result<()> {
        if self.is_verbose() {
            self.gap()?;
            let [one, other] = paths;
            self.title("group  ", [&one, &other])?;
            self.count(0)?;
        }
        self.attributes(objects, paths)
    }

    fn datatypes(&mut self, objects: [&Object; 2], paths: [&str; 2]) -> Result<()> {
        let [one, other] = objects.map(|object| object.clone().into_datatype());
        let differ = one?.datatype() != other?.datatype();
        let [path, other_path] = paths.map(str::to_owned);
        self.plain("datatype", [&path, &other_path], differ)?;
        self.attributes(objects, paths)
    }
}

/// Returns true if the compared item is a link without a target.
fn is_dangling(located: &Located) -> bool {
    matches!(located.kind, Kind::Soft(_) | Kind::External { .. }) && located.object.is_none()
}
