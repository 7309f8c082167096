//! Traversal of a path from a location to an object, through mounted files, external links and
//! user-defined links.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::{CharacterSet, Found, Group, GroupOptions, Object, ObjectKind};

use super::location::{self, Location, Name};
use super::open::Request;
use super::{H5F_ACC_RDWR, H5F_ACC_SWMR_READ, H5F_ACC_SWMR_WRITE, SharedFile};
use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::plist;
use crate::plist::settings::{DEFAULT_EXTERNAL_FLAGS, FileAccess, LinkAccess};

/// An object, together with its location: its file and its name.
pub type Place = (Object, Location);

/// Opens the object at a path relative to the object to which an identifier refers.
///
/// # Errors
/// Fails if a link does not exist, or if its target does not exist.
pub fn open(loc: hid_t, path: &[u8], lapl: hid_t) -> Outcome<Place> {
    let start = location::find(loc)?;
    let access = plist::link_access(lapl).because(codes::ARGS, codes::BADTYPE, "not a link access list")?;
    follow(start, path, &access)
}

/// Opens the object at a path relative to an open object.
///
/// # Errors
/// Fails if a link does not exist, or if its target does not exist.
pub fn follow((object, place): Place, path: &[u8], access: &LinkAccess) -> Outcome<Place> {
    let name = place.name.join(path);
    let group = match start(&object, &place, path)? {
        Some(group) => group,
        None => return Ok((object, place)),
    };
    if !place.shared.mounts.read().is_empty() {
        return through_mounts(group, &place, path, access, name);
    }
    let at = place.with_name(name);
    links(group, at, path.to_vec(), access)
}

/// Returns the group at which a path relative to an object starts. Returns `None` if the path is
/// empty and therefore names the object itself.
fn start(object: &Object, place: &Location, path: &[u8]) -> Outcome<Option<Group>> {
    if path.starts_with(b"/") {
        return Ok(Some(place.shared.file.root().clone()));
    }
    if object.kind() == Some(ObjectKind::Group) {
        return Ok(Some(object.clone().into_group()?));
    }
    if components(path).next().is_none() {
        return Ok(None);
    }
    Err(Failure::new(codes::SYM, codes::BADTYPE, "the path starts at an object that is not a group"))
}

/// Follows a path across external and user-defined links and returns the object at its end.
fn links(group: Group, place: Location, path: Vec<u8>, access: &LinkAccess) -> Outcome<Place> {
    let (mut group, mut place, mut path) = (group, place, path);
    for _ in 0..=access.max_links {
        match group.by_bytes().find(&path)? {
            Found::Object(object) => return Ok((object, place)),
            Found::External { file, path: target, group: parent } => {
                let other = external(&place.shared, &file, &target, &parent, access)?;
                group = other.file.root().clone();
                place = Location { shared: other, name: Name::known(absolute(&target)), handle: 0 };
                path = target;
            }
            Found::UserDefined { class, value, name, group: parent, rest } => {
                let found = crate::h5l::traverse(class, &value, &name, (parent, &place), access)?;
                if components(&rest).next().is_none() {
                    return Ok(found);
                }
                (group, place, path) = (found.0.into_group()?, found.1, rest);
            }
        }
    }
    Err(Failure::new(codes::LINK, codes::NLINKS, "the path contains too many soft or external links"))
}

/// Converts a path relative to the root group to an absolute path.
fn absolute(path: &[u8]) -> Vec<u8> {
    Name::known(b"/".to_vec()).join(path).get().unwrap_or_default()
}

/// Returns an iterator over the link names in a path, without empty names and `.`.
fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

/// Follows a path link by link and returns the object at its end. Enters the files that are mounted
/// on groups of the path.
fn through_mounts(
    group: Group,
    place: &Location,
    path: &[u8],
    access: &LinkAccess,
    name: Name,
) -> Outcome<Place> {
    let mut at: Place = ((*group).clone(), place.with_name(name.clone()));
    at = mounted(at);
    for part in components(path) {
        let group = at.0.into_group()?;
        at = mounted(links(group, at.1, part.to_vec(), access)?);
    }
    at.1.name = name;
    Ok(at)
}

/// Returns the root group of the file that is mounted on a group. If no file is mounted, returns
/// the group itself.
fn mounted(place: Place) -> Place {
    let token = place.0.token();
    let mounts = place.1.shared.mounts.read();
    let child = mounts.iter().find(|mount| mount.group == token).map(|mount| Arc::clone(&mount.child));
    drop(mounts);
    match child {
        Some(child) => {
            let root = (**child.shared.file.root()).clone();
            mounted((root, Location { shared: Arc::clone(&child.shared), ..place.1 }))
        }
        None => place,
    }
}

/// Returns the file to which an external link leads. Opens the file if it is not open yet.
fn external(
    from: &Arc<SharedFile>,
    file: &[u8],
    target: &[u8],
    group: &[u8],
    access: &LinkAccess,
) -> Outcome<Arc<SharedFile>> {
    let mut file_access = match &access.external_access {
        Some(list) => match &*list.settings.read() {
            plist::Settings::FileAccess(access) => access.clone(),
            _ => FileAccess::default(),
        },
        None => FileAccess { close_degree: 0, image: None, ..from.access.read().clone() },
    };
    file_access.close_degree = 0;
    let own = *from.flags.read() & (H5F_ACC_RDWR | H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE);
    let mut flags = if access.external_flags == DEFAULT_EXTERNAL_FLAGS { own } else { access.external_flags };
    if let Some(callback) = access.external_callback.function {
        let text = |bytes: &[u8]| crate::error::stack::text(bytes);
        let (parent, group, child, object) = (text(&from.name), text(group), text(file), text(target));
        let list = plist::make::register(
            crate::symbols::CLASS_FILE_ACCESS,
            plist::Settings::FileAccess(file_access.clone()),
        )?;
        let (parent, group, child, object): (&CString, _, _, _) = (&parent, &group, &child, &object);
        let outcome = call_user!(
            callback,
            parent.as_ptr(),
            group.as_ptr(),
            child.as_ptr(),
            object.as_ptr(),
            &raw mut flags,
            list,
            access.external_callback.data,
        );
        file_access = plist::file_access(list)?;
        crate::id::take(list);
        if outcome < 0 {
            return Err(Failure::new(codes::LINK, codes::CALLBACK, "the user's function failed"));
        }
    }
    let mut failure = None;
    for path in candidates(from, file, access.external_prefix.as_deref()) {
        let name = path.into_os_string().into_vec();
        match (Request { name: &name, flags, access: file_access.clone(), create: None }).run() {
            Ok(file) => return Ok(file),
            Err(error) => failure = Some(failure.unwrap_or(error)),
        }
    }
    let failure = failure.unwrap_or_else(|| {
        Failure::new(codes::LINK, codes::CANTOPENFILE, "the external link contains no file name")
    });
    Err(failure.then(codes::LINK, codes::CANTOPENFILE, "cannot open the file of an external link"))
}

/// Returns the paths at which the C library searches for the file of an external link, in the order
/// of its search.
fn candidates(from: &SharedFile, file: &[u8], prefix: Option<&[u8]>) -> Vec<PathBuf> {
    let path = Path::new(OsStr::from_bytes(file));
    let last = path.file_name().map_or_else(|| path.to_owned(), PathBuf::from);
    let mut found = Vec::new();
    let name = if path.is_absolute() {
        found.push(path.to_owned());
        last
    } else {
        path.to_owned()
    };
    let folder = Path::new(OsStr::from_bytes(&from.name)).parent().unwrap_or(Path::new("")).to_owned();
    if let Some(prefixes) = std::env::var_os("HDF5_EXT_PREFIX") {
        for part in prefixes.as_bytes().split(|byte| *byte == b':') {
            found.push(in_folder(part, &folder).join(&name));
        }
    }
    if let Some(prefix) = prefix {
        found.push(in_folder(prefix, &folder).join(&name));
    }
    found.push(folder.join(&name));
    found.push(name);
    if let Some(folder) = std::fs::canonicalize(OsStr::from_bytes(&from.name))
        .ok()
        .and_then(|path| path.parent().map(Path::to_owned))
    {
        found.push(folder.join(path.file_name().unwrap_or_default()));
    }
    found.dedup();
    found
}

/// Returns the path of the folder that `prefix` names. The folder `origin` replaces the word
/// `$ORIGIN` at the start of `prefix`.
pub fn in_folder(prefix: &[u8], origin: &Path) -> PathBuf {
    match prefix.strip_prefix(b"$ORIGIN") {
        Some(rest) => {
            let mut path = OsString::from(origin.as_os_str());
            if path.is_empty() {
                path.push(".");
            }
            path.push(OsStr::from_bytes(rest));
            PathBuf::from(path)
        }
        None => PathBuf::from(OsStr::from_bytes(prefix)),
    }
}

/// The group that contains the last link of a path, and the name of this last link.
#[derive(Debug)]
pub struct Parent<'a> {
    /// The group that contains the last link of the path.
    pub group: Group,
    /// The location of the group that contains the last link.
    pub place: Location,
    /// The name of the last link of the path.
    pub last: &'a [u8],
}

/// Returns the group that contains the last link of a path relative to the object of an identifier.
/// If `intermediate` is true, creates missing groups of the path.
///
/// # Errors
/// Fails if the path is empty, or if a group of the path does not exist.
pub fn parent<'a>(loc: hid_t, path: &'a [u8], lapl: hid_t, intermediate: bool) -> Outcome<Parent<'a>> {
    let access = plist::link_access(lapl).because(codes::ARGS, codes::BADTYPE, "not a link access list")?;
    parent_of(location::find(loc)?, path, &access, intermediate)
}

/// Returns the group that contains the last link of a path relative to an open object. If
/// `intermediate` is true, creates missing groups of the path.
///
/// # Errors
/// Fails in the same cases as [`parent`].
pub fn parent_of<'a>(
    (object, place): Place,
    path: &'a [u8],
    access: &LinkAccess,
    intermediate: bool,
) -> Outcome<Parent<'a>> {
    let trimmed = {
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
        path.get(..end).unwrap_or_default()
    };
    let cut = trimmed.iter().rposition(|byte| *byte == b'/');
    let (before, last) = match cut {
        Some(at) => (trimmed.get(..at.max(1)).unwrap_or_default(), trimmed.get(at + 1..).unwrap_or_default()),
        None => (&[][..], trimmed),
    };
    if last.is_empty() || last == b"." {
        return Err(Failure::new(codes::SYM, codes::BADVALUE, "the path contains no link name"));
    }
    let (object, place) = if before.is_empty() {
        mounted((object, place))
    } else if intermediate {
        create_missing((object, place), before, access)?
    } else {
        follow((object, place), before, access)?
    };
    let group = object.into_group().map_err(Failure::from);
    Ok(Parent { group: group.because(codes::SYM, codes::BADTYPE, "not a group")?, place, last })
}

/// Opens the group at a path relative to an object. Creates the missing groups of the path.
fn create_missing(start: Place, path: &[u8], access: &LinkAccess) -> Outcome<Place> {
    let mut at = start;
    if path.starts_with(b"/") {
        at = ((**at.1.shared.file.root()).clone(), at.1.with_name(Name::known(b"/".to_vec())));
    }
    for part in components(path) {
        let group = at.0.clone().into_group()?;
        if group.by_bytes().link(part)?.is_none() {
            // As in the C library, a new group tracks the creation order of its links if its parent
            // does.
            let options = GroupOptions::new().link_order(group.link_order()?);
            group.by_bytes().create_group(part, charset_of(part), options)?;
        }
        at = follow(at, part, access)?;
    }
    Ok(at)
}

/// Returns the character set of a link or attribute name for which the caller states none. A UTF-8
/// name with characters outside of ASCII gets UTF-8; all other names get ASCII.
pub fn charset_of(name: &[u8]) -> CharacterSet {
    if name.is_ascii() || std::str::from_utf8(name).is_err() {
        CharacterSet::Ascii
    } else {
        CharacterSet::Utf8
    }
}

/// Returns two properties of a link creation list: the character set of the link name, and whether
/// missing groups are created.
///
/// # Errors
/// Fails with a bad type if `lcpl` is not a link creation list.
pub fn link_creation(lcpl: hid_t) -> Outcome<(CharacterSet, bool)> {
    if lcpl == H5P_DEFAULT {
        return Ok((CharacterSet::Ascii, false));
    }
    let create = plist::link_create(lcpl).because(codes::ARGS, codes::BADTYPE, "not a link creation list")?;
    let charset = if create.name.charset == 1 { CharacterSet::Utf8 } else { CharacterSet::Ascii };
    Ok((charset, create.intermediate_groups != 0))
}
