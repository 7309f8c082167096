//! Mounts of files on groups of other files (`H5Fmount`, `H5Funmount`).

use std::sync::Arc;

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};
use crate::error::{Because, Failure, codes};
use crate::file::{self, SharedFile, closing, location};
use crate::pointer::Text;
use crate::{export, plist};

/// Returns true if `file` is `start`, or if it is mounted below `start`.
fn contains(start: &Arc<SharedFile>, file: &Arc<SharedFile>) -> bool {
    let below: Vec<_> = start.mounts.read().iter().map(|mount| Arc::clone(&mount.child.shared)).collect();
    Arc::ptr_eq(start, file) || below.iter().any(|child| contains(child, file))
}

/// Returns the file on which `child` is mounted: `start` or a file that is mounted below it.
fn owner(start: &Arc<SharedFile>, child: &Arc<SharedFile>) -> Option<Arc<SharedFile>> {
    let below: Vec<_> = start.mounts.read().iter().map(|mount| Arc::clone(&mount.child.shared)).collect();
    if below.iter().any(|mounted| Arc::ptr_eq(mounted, child)) {
        return Some(Arc::clone(start));
    }
    below.iter().find_map(|mounted| owner(mounted, child))
}

export! {
    /// Mounts the file `child` on the group at the path `name` of another file.
    fn H5Fmount(loc: hid_t, name: Text, child: hid_t, fmpl: hid_t) -> herr_t {
        let (child, name) = (file::find(child)?, name.name("name")?);
        plist::file_mount(fmpl).because(codes::ARGS, codes::BADTYPE, "not a file mount list")?;
        let (object, place) = file::traverse::open(loc, name, H5P_DEFAULT)
            .because(codes::FILE, codes::MOUNT, "unable to mount file")?;
        if contains(&child.shared, &place.shared) {
            return Err(Failure::new(codes::FILE, codes::MOUNT, "a file cannot be mounted on itself"));
        }
        let token = object.into_group()?.token();
        let mut mounts = place.shared.mounts.write();
        if mounts.iter().any(|mount| mount.group == token) {
            return Err(Failure::new(codes::FILE, codes::MOUNT, "a file is already mounted on this group"));
        }
        mounts.push(file::Mount { group: token, child });
        Ok(0)
    }

    /// Unmounts the file that is mounted on the group at the path `name` of another file.
    fn H5Funmount(loc: hid_t, name: Text) -> herr_t {
        let name = name.name("name")?;
        let (_, start) = location::find(loc)?;
        let (object, place) = file::traverse::open(loc, name, H5P_DEFAULT)
            .because(codes::FILE, codes::MOUNT, "unable to unmount file")?;
        let is_root = object.token() == place.shared.file.root().token();
        let owner = if is_root { owner(&start.shared, &place.shared) } else { None };
        let owner = owner.unwrap_or_else(|| Arc::clone(&start.shared));
        let removed = {
            let mut mounts = owner.mounts.write();
            let at = mounts.iter().position(|mount| {
                is_root && Arc::ptr_eq(&mount.child.shared, &place.shared) || mount.group == object.token()
            });
            at.map(|at| mounts.remove(at))
        };
        drop(object);
        drop(place);
        if removed.is_none() {
            return Err(Failure::new(codes::FILE, codes::MOUNT, "no file is mounted on this group"));
        }
        closing(|| drop(removed))?;
        Ok(0)
    }
}
