//! Resolution of paths: follows hard and soft links from name to name.

use std::sync::Arc;

use hyperslab_format::codec::Address;

use super::container::Container;
use super::group;
use super::header::ObjectHeader;
use super::link::LinkTarget;
use crate::error::{Error, Result};

/// Largest number of soft links that the resolution of one path follows (libhdf5's H5L_NUM_LINKS).
const MAX_SOFT_LINKS: usize = 16;

/// The result of the resolution of a path: an object of this file, an external link, or a
/// user-defined link.
#[derive(Debug)]
pub enum Resolved {
    /// An object of this file.
    Object(Arc<ObjectHeader>),
    /// An external link, and the rest of the path in the other file.
    External {
        /// Name of the file, as stored in the link.
        file: Vec<u8>,
        /// Path in that file.
        path: Vec<u8>,
        /// Path of the names before the link in this file.
        group: Vec<u8>,
    },
    /// A user-defined link, and the rest of the path.
    UserDefined {
        /// The class.
        class: u8,
        /// The value.
        value: Vec<u8>,
        /// The name of the link.
        name: Vec<u8>,
        /// The group that has the link.
        group: Address,
        /// The remaining names.
        rest: Vec<u8>,
    },
}

/// Finds the object or link at the path `path`, which begins at the group at `start`. If the path
/// begins with `/`, it starts at the root group instead. The same rule holds for the paths of soft
/// links. Empty names and `.` are skipped.
pub fn resolve(container: &Container, start: Address, path: &[u8]) -> Result<Resolved> {
    resolve_from(container, Arc::new(ObjectHeader::load(&container.store, start)?), path)
}

/// Finds the object or link at the path `path`, which begins at the group with the object header
/// `start`, like [`resolve`].
pub fn resolve_from(container: &Container, start: Arc<ObjectHeader>, path: &[u8]) -> Result<Resolved> {
    let root = container.store.superblock().root();
    let mut at = if path.starts_with(b"/") { root } else { start.address() };
    // The names that remain, in reverse order.
    let mut names: Vec<Vec<u8>> = components(path).rev().map(<[u8]>::to_vec).collect();
    let mut soft_links = 0;
    let mut walked = Vec::new();
    let mut header = start;
    if header.address() != at {
        header = Arc::new(ObjectHeader::load(&container.store, at)?);
    }
    while let Some(name) = names.pop() {
        let link = group::find(container, &header, &name)?
            .ok_or_else(|| Error::NotFound { subject: "link", name: lossy(&name) })?;
        match link.target {
            LinkTarget::Hard(address) => {
                at = address;
                walked.push(b'/');
                walked.extend_from_slice(&name);
            }
            LinkTarget::Soft(target) => {
                soft_links += 1;
                if soft_links > MAX_SOFT_LINKS {
                    return Err(Error::Misuse(format!(
                        "the path `{}` has more than {MAX_SOFT_LINKS} soft links",
                        lossy(path)
                    )));
                }
                if target.starts_with(b"/") {
                    at = root;
                    walked.clear();
                }
                names.extend(components(&target).rev().map(<[u8]>::to_vec));
            }
            LinkTarget::External { file, path } => {
                return Ok(Resolved::External { file, path: rest(path, &names), group: walked });
            }
            LinkTarget::UserDefined { class, value } => {
                let rest: Vec<&[u8]> = names.iter().rev().map(Vec::as_slice).collect();
                let rest = rest.join(&b'/');
                return Ok(Resolved::UserDefined { class, value, name, group: header.address(), rest });
            }
        }
        if header.address() != at {
            header = Arc::new(ObjectHeader::load(&container.store, at)?);
        }
    }
    Ok(Resolved::Object(header))
}

fn components(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".")
}

/// Returns the path in the other file to which an external link leads: the path of the link,
/// followed by the names of the resolved path that remain.
fn rest(mut path: Vec<u8>, names: &[Vec<u8>]) -> Vec<u8> {
    for name in names.iter().rev() {
        path.push(b'/');
        path.extend_from_slice(name);
    }
    path
}

impl Resolved {
    /// Returns the object header of the object that the resolution of a path has found. If the path
    /// leads out of the file, returns an error.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] for an external link, and [`Error::Unsupported`] for a
    /// user-defined link.
    pub fn in_file(self, path: &[u8]) -> Result<Arc<ObjectHeader>> {
        match self {
            Self::Object(header) => Ok(header),
            Self::External { .. } => Err(Error::Misuse(format!("`{}` leads to another file", lossy(path)))),
            Self::UserDefined { class, name, .. } => Err(user_defined(class, &name)),
        }
    }
}

/// Creates an error about a user-defined link that the library cannot follow.
pub fn user_defined(class: u8, name: &[u8]) -> Error {
    Error::unsupported(format!("following the user-defined link `{}` of class {class}", lossy(name)))
}

/// Converts the bytes of a link or attribute name to text, with replacement characters for invalid
/// UTF-8.
pub fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
