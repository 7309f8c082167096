//! The comparison of the objects and links of two files by their paths.

use std::collections::HashSet;

use anyhow::Result;
use hyperslab::{File, Object, ObjectKind, ObjectToken};
use indicatif::ProgressBar;

use super::DiffArguments;
use super::found::{Change, Detail, Finding};
use crate::compare::listing::{Entry, Kind, Listing, in_order};
use crate::compare::step::{Side, in_step};
use crate::ls::dataset::shape;
use crate::output::{cut, escape};
use crate::values::paths::Paths;

/// A function that receives the findings of a comparison: the result for each pair of objects or
/// links.
pub(super) type Report<'a> = &'a mut dyn FnMut(Finding) -> Result<()>;

/// A comparison of two files: the objects to compare and the state of the comparison.
pub(super) struct Comparison<'a> {
    pub(super) arguments: &'a DiffArguments,
    files: [&'a File; 2],
    pub(super) paths: [Paths; 2],
    pub(super) bar: &'a ProgressBar,
    /// Pairs of objects that were compared. Further hard links to a pair are skipped.
    known: HashSet<(ObjectToken, ObjectToken)>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(arguments: &'a DiffArguments, files: [&'a File; 2], bar: &'a ProgressBar) -> Self {
        Self { arguments, files, paths: files.map(Paths::new), bar, known: HashSet::new() }
    }

    /// Compares the two objects that the arguments name, and all objects below them.
    pub(super) fn run(&mut self, report: Report<'_>) -> Result<()> {
        let [file, other_file] = self.files;
        let path = absolute(&self.arguments.object);
        let other_path = self.arguments.other_object.as_deref().map_or_else(|| path.clone(), absolute);
        let (one, other) = (file.object(&path)?, other_file.object(&other_path)?);
        let paths = [path.trim_end_matches('/'), other_path.trim_end_matches('/')];
        if (one.kind(), other.kind()) == (Some(ObjectKind::Group), Some(ObjectKind::Group)) {
            let groups = [one.into_group()?, other.into_group()?];
            let lists = groups.each_ref().map(|group| Listing::of(group, false));
            return self.lists(&lists, paths, report);
        }
        let change = self.objects(&one, &other, paths);
        report(finding(paths, change))
    }

    /// Compares all entries of the listings of two groups, path by path.
    fn lists(&mut self, lists: &[Listing; 2], paths: [&str; 2], report: Report<'_>) -> Result<()> {
        let [list, other_list] = lists;
        for side in in_step(&list.entries, &other_list.entries, in_order) {
            let name = escape(&side.any().path);
            let here = paths.map(|path| format!("{path}{name}"));
            if here.iter().any(|path| self.is_excluded(path)) {
                continue;
            }
            let here = here.each_ref().map(String::as_str);
            self.bar.set_message(cut(here[0], 40));
            let change = match side {
                Side::Both(one, other) if self.is_known(one, other) => continue,
                Side::Both(one, other) => self.entries([(list, one), (other_list, other)], here),
                Side::One(one) => unpaired(list, one, Change::Removed),
                Side::Other(other) => unpaired(other_list, other, Change::Added),
            };
            report(finding(here, change))?;
        }
        Ok(())
    }

    /// Returns true if the comparison already knows the pair of objects, because it has compared
    /// them under other names. Otherwise records the pair.
    fn is_known(&mut self, one: &Entry, other: &Entry) -> bool {
        match (&one.kind, &other.kind) {
            (Kind::Object(_, token), Kind::Object(_, other_token)) => {
                !self.known.insert((*token, *other_token))
            }
            _ => false,
        }
    }

    fn is_excluded(&self, path: &str) -> bool {
        self.arguments.exclude.iter().any(|excluded| {
            let excluded = excluded.trim_end_matches('/');
            path.strip_prefix(excluded).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Compares two entries of the listings that have the same path in both files.
    fn entries(&mut self, sides: [(&Listing, &Entry); 2], paths: [&str; 2]) -> Change {
        let [(list, one), (other_list, other)] = sides;
        match (&one.kind, &other.kind) {
            (Kind::Damaged(why), _) | (_, Kind::Damaged(why)) => Change::Trouble(why.clone(), Vec::new()),
            (Kind::Object(..), Kind::Object(..)) => match (list.object(one), other_list.object(other)) {
                (Ok(one), Ok(other)) => self.objects(&one, &other, paths),
                (Err(error), _) | (_, Err(error)) => trouble(&error, Vec::new()),
            },
            (kind, other_kind) if kind == other_kind => Change::Same,
            (kind, other_kind) => {
                let (one, other) = (described(list, one, kind), described(other_list, other, other_kind));
                Change::Changed(vec![Detail::Property { name: "link", one, other }])
            }
        }
    }

    /// Compares two objects, one from each compared file.
    fn objects(&mut self, one: &Object, other: &Object, paths: [&str; 2]) -> Change {
        let mut details = Vec::new();
        if one.kind() != other.kind() {
            let [one, other] = [one, other].map(kind_of);
            return Change::Changed(vec![Detail::Property { name: "kind", one, other }]);
        }
        let compared = match one.kind() {
            Some(ObjectKind::Dataset) => self.datasets([one, other], &mut details),
            Some(ObjectKind::Datatype) => datatypes([one, other], &mut details),
            _ => Ok(()),
        };
        let compared = compared.and_then(|()| self.attributes([one, other], paths, &mut details));
        match compared {
            Err(error) => trouble(&error, details),
            Ok(()) if details.is_empty() => Change::Same,
            Ok(()) => Change::Changed(details),
        }
    }
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

fn finding([path, other_path]: [&str; 2], change: Change) -> Finding {
    let named = |path: &str| if path.is_empty() { "/".to_owned() } else { path.to_owned() };
    let other_path = (path != other_path).then(|| named(other_path));
    Finding { path: named(path), other_path, change }
}

pub(super) fn trouble(error: &anyhow::Error, details: Vec<Detail>) -> Change {
    Change::Trouble(crate::output::chain(error.as_ref()), details)
}

/// Returns the result of the comparison for an entry that exists in one file only.
fn unpaired(list: &Listing, entry: &Entry, change: impl Fn(String) -> Change) -> Change {
    match &entry.kind {
        Kind::Damaged(why) => Change::Trouble(why.clone(), Vec::new()),
        kind => change(described(list, entry, kind)),
    }
}

fn datatypes(objects: [&Object; 2], details: &mut Vec<Detail>) -> Result<()> {
    let [one, other] = objects.map(|object| object.clone().into_datatype());
    let (one, other) = (one?, other?);
    if one.datatype() != other.datatype() {
        let (one, other) = (one.datatype().to_string(), other.datatype().to_string());
        details.push(Detail::Property { name: "type", one, other });
    }
    Ok(())
}

/// Describes an entry of a listing in a few words, such as its kind and shape.
fn described(list: &Listing, entry: &Entry, kind: &Kind) -> String {
    match kind {
        Kind::Object(..) => match list.object(entry) {
            Ok(object) => object_text(&object),
            Err(error) => crate::output::chain(error.as_ref()),
        },
        Kind::Soft(path) => format!("soft link to {}", escape(path)),
        Kind::External { file, path } => format!("external link to {} {}", escape(file), escape(path)),
        Kind::UserDefined(class) => format!("link of class {class}"),
        Kind::Damaged(why) => why.clone(),
    }
}

fn kind_of(object: &Object) -> String {
    object.kind().map_or("an object of unknown kind", ObjectKind::name).to_owned()
}

fn object_text(object: &Object) -> String {
    match object.clone().into_dataset() {
        Ok(dataset) => format!("dataset  {}  {}", shape(&dataset.dataspace()), dataset.datatype()),
        Err(_) => match object.clone().into_datatype() {
            Ok(datatype) => format!("datatype  {}", datatype.datatype()),
            Err(_) => kind_of(object),
        },
    }
}
