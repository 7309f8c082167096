//! The creation of an object by a command. If an error occurs, the object is removed again, so that
//! no partial object remains.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::{File, FileOptions};

use super::{change, named, open_or_create};
use crate::formats::new_object::NewObject;
use crate::interrupted::new_file_for;
use crate::remote;

/// Creates an object at `path` of the file `to` by calling `work`. Creates the file if it does not
/// exist. If `work` fails or the program crashes, a new file is removed, and an existing file has
/// the same objects as before.
pub(crate) fn create_whole(
    to: &Path,
    path: &str,
    work: impl FnOnce(&NewObject<'_>) -> Result<()>,
) -> Result<()> {
    named(path)?;
    if remote::url(to).is_some() || to.exists() {
        return change(to, open_or_create(to)?, |file| create_in(file, path, work));
    }
    let cannot = || format!("cannot create `{}`", to.display());
    let made = new_file_for(to, ".h5")?;
    let file = FileOptions::new().create(made.path()).with_context(cannot)?;
    create_in(&file, path, work)?;
    file.close().with_context(|| format!("cannot write `{}`", to.display()))?;
    made.persist_noclobber(to).with_context(cannot)?;
    Ok(())
}

/// Creates an object at `path` of an open file by calling `work`.
fn create_in(file: &File, path: &str, work: impl FnOnce(&NewObject<'_>) -> Result<()>) -> Result<()> {
    check_new(file, path)?;
    let mut number = 0_u32;
    let mut holder = String::from(".hyperslab-new");
    while file.link_exists(&holder)? {
        number += 1;
        holder = format!(".hyperslab-new-{number}");
    }
    let group = file.create_group(&holder)?;
    // The object lives as long as its handle. The next writer reclaims its space after a crash.
    file.remove(&holder)?;
    let name = path.rsplit('/').find(|name| !name.is_empty()).unwrap_or(path).to_owned();
    let new = NewObject::new(file, group, name);
    work(&new)?;
    let object = new.holder().object(new.name())?;
    Ok(file.link_hard(path, &object)?)
}

/// Returns an error if an object exists at the path, or if the path leads through an object that is
/// not a group.
fn check_new(file: &File, path: &str) -> Result<()> {
    let mut prefix = String::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let parent = crate::lookup::object(file, &prefix)?;
        let Ok(parent) = parent.into_group() else { bail!("`{prefix}` is not a group") };
        if !prefix.is_empty() {
            prefix.push('/');
        }
        prefix.push_str(name);
        if !parent.link_exists(name)? {
            return Ok(());
        }
    }
    bail!("`{path}` exists already")
}
