//! Paths of requests, and the objects or links that they lead to.

use hyperslab::{
    CommittedDatatype, Dataset, Error, ErrorKind, File, Group, Link, LinkTarget, Object, ObjectKind,
};

use super::Failure;
use super::query::Query;

/// The links that are followed to the objects that they name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// No soft or external links.
    None,
    /// Links whose objects exist.
    OnlyValid,
    /// All links. A link whose object does not exist is a failure.
    All,
}

impl Links {
    /// Returns the choice of a request.
    pub(super) fn of(query: &Query) -> Result<Self, Failure> {
        let Some(text) = query.get("resolve_links") else { return Ok(Self::OnlyValid) };
        match text.to_ascii_lowercase().as_str() {
            "none" | "false" => Ok(Self::None),
            "only_valid" => Ok(Self::OnlyValid),
            "all" | "true" => Ok(Self::All),
            _ => Err(Failure::refused(format!(
                "`{text}` is not a value of resolve_links: none, only_valid or all"
            ))),
        }
    }
}

/// An object, or a link that is not followed.
#[derive(Debug)]
pub(super) enum Entity {
    Group(Group),
    Dataset(Box<Dataset>),
    Datatype(CommittedDatatype),
    /// A soft link to a path.
    Soft(Vec<u8>),
    /// An external link to a path in a file.
    External {
        file: Vec<u8>,
        path: Vec<u8>,
    },
    /// A link of a user-defined class.
    Other,
}

impl Entity {
    /// Returns the object behind the entity; `None` for a link.
    pub(super) fn object(&self) -> Option<&Object> {
        match self {
            Self::Group(group) => Some(group),
            Self::Dataset(dataset) => Some(dataset),
            Self::Datatype(datatype) => Some(datatype),
            Self::Soft(_) | Self::External { .. } | Self::Other => None,
        }
    }

    fn of(object: Object) -> Result<Self, Error> {
        match object.kind() {
            Some(ObjectKind::Group) => object.into_group().map(Self::Group),
            Some(ObjectKind::Dataset) => {
                object.into_dataset().map(|dataset| Self::Dataset(Box::new(dataset)))
            }
            Some(ObjectKind::Datatype) => object.into_datatype().map(Self::Datatype),
            _ => Err(Error::unsupported("an object of an unknown kind")),
        }
    }
}

/// Finds the object or link at a path of a file.
pub(super) fn find(file: &File, path: &str, links: Links) -> Result<Entity, Failure> {
    let trimmed = path.trim_matches('/');
    if trimmed.is_empty() {
        return Ok(Entity::Group(file.root().clone()));
    }
    let no_path = || Failure::not_found(format!("{path} is not a valid path in {}", name_of(file)));
    let (parent, name) = match trimmed.rsplit_once('/') {
        Some((parent, name)) => match file.root().group(parent) {
            Ok(group) => (group, name),
            Err(error) if is_missing(&error) => return Err(no_path()),
            Err(error) => return Err(error.into()),
        },
        None => (file.root().clone(), trimmed),
    };
    if name == "." {
        return Ok(Entity::Group(parent));
    }
    match parent.link(name)? {
        Some(link) => follow(&parent, &link, links, path),
        None => Err(no_path()),
    }
}

/// Returns true if an object does not exist, or its path leads through something else than groups.
fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Misuse)
}

/// Returns the entity of a link of a group. `path` is the path of the link for messages.
pub(super) fn follow(group: &Group, link: &Link, links: Links, path: &str) -> Result<Entity, Failure> {
    let unfollowed = match &link.target {
        LinkTarget::Hard(token) => return Ok(Entity::of(group.object_at(*token)?)?),
        LinkTarget::Soft(target) => Entity::Soft(target.clone()),
        LinkTarget::External { file, path } => Entity::External { file: file.clone(), path: path.clone() },
        _ => return Ok(Entity::Other),
    };
    if links == Links::None {
        return Ok(unfollowed);
    }
    let found = std::str::from_utf8(&link.name).map_err(|_| "a name that is not UTF-8".to_owned());
    let found =
        found.and_then(|name| group.object(name).and_then(Entity::of).map_err(|error| error.to_string()));
    match found {
        Ok(entity) => Ok(entity),
        Err(_) if links == Links::OnlyValid => Ok(unfollowed),
        Err(_) => Err(Failure::not_found(format!("Cannot resolve the link at {path}"))),
    }
}

/// Returns the last component of a file's name.
fn name_of(file: &File) -> &str {
    let name = file.file_name();
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}
