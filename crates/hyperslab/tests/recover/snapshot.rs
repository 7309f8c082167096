//! The contents of a file, as text that can be compared.

use hyperslab::{Dataset, File, Object, ObjectKind, ObjectToken, Result};

/// A file.
pub(crate) struct Snapshot {
    pub(crate) objects: Vec<Shot>,
}

/// An object.
pub(crate) struct Shot {
    pub(crate) path: String,
    token: ObjectToken,
    /// The address of its header.
    pub(crate) address: u64,
    /// The addresses of its chunks.
    pub(crate) chunks: Vec<u64>,
    /// The kind and the content of the object; `None` if it cannot be read completely.
    text: Option<String>,
    /// The names of a group's links.
    links: Option<Vec<String>>,
}

impl Snapshot {
    pub(crate) fn of(file: &File) -> Self {
        let base = file.info().user_block;
        let objects = file.walk().filter_map(|visited| {
            let path = String::from_utf8_lossy(&visited.path).into_owned();
            let object = visited.object.ok()?;
            let dataset = object.clone().into_dataset().ok();
            let chunks = dataset.and_then(|dataset| dataset.chunks().list().ok()).unwrap_or_default();
            Some(Shot {
                path,
                token: visited.token,
                address: base + visited.token.address(),
                chunks: chunks.iter().map(|chunk| base + chunk.address).collect(),
                text: text(&object).ok(),
                links: links(&object),
            })
        });
        Self { objects: objects.collect() }
    }

    /// Returns true if an object with the same content exists, under the same path or another path.
    pub(crate) fn holds(&self, object: &Shot, in_place: bool) -> bool {
        self.objects.iter().any(|other| other.same(object) && (!in_place || other.path == object.path))
    }

    /// Returns true if all groups in the path of an object, and their links, can be read in a
    /// damaged copy of the file.
    pub(crate) fn leads_to(&self, object: &Shot, file: &File) -> bool {
        let above =
            |path: &str| object.path != "/" && (path == "/" || object.path.starts_with(&format!("{path}/")));
        let mut groups = self.objects.iter().filter(|group| group.links.is_some() && above(&group.path));
        groups.all(|group| file.object_at(group.token).is_ok_and(|found| links(&found) == group.links))
    }
}

impl Shot {
    /// Returns true if the object can be read completely.
    pub(crate) fn is_readable(&self) -> bool {
        self.text.is_some()
    }

    /// Returns true if both objects have the same content.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.text == other.text
    }

    /// Returns true if the object can be read completely in a damaged copy of its file.
    pub(crate) fn is_whole_in(&self, file: &File) -> bool {
        self.is_readable() && file.object_at(self.token).and_then(|object| text(&object)).ok() == self.text
    }
}

fn text(object: &Object) -> Result<String> {
    let mut text = format!("{:?} {:?}", object.kind(), object.comment()?);
    for attribute in object.attributes()? {
        let datatype = attribute.datatype()?;
        text += &format!("\n@{} {datatype} {}", attribute.name(), attribute.dataspace()?);
        if !datatype.contains_reference() {
            text += &format!(" {:?}", attribute.read_dyn()?);
        }
    }
    match object.kind() {
        Some(ObjectKind::Dataset) => text += &elements(&object.clone().into_dataset()?)?,
        Some(ObjectKind::Group) => {}
        _ => text += &object.clone().into_datatype()?.datatype().to_string(),
    }
    Ok(text)
}

fn elements(dataset: &Dataset) -> Result<String> {
    let head = format!("{} {}", dataset.datatype(), dataset.dataspace());
    if dataset.datatype().contains_reference() {
        return Ok(head);
    }
    Ok(format!("{head} {:?}", dataset.read_dyn(..)?))
}

fn links(object: &Object) -> Option<Vec<String>> {
    let links = object.clone().into_group().and_then(|group| group.links()).ok()?;
    let mut names: Vec<_> = links.iter().map(hyperslab::Link::name_lossy).collect();
    names.sort();
    Some(names)
}
