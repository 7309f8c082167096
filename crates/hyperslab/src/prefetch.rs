//! Reads of metadata in advance, level by level, for files whose reads have to wait for bytes, such
//! as remote files.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_engine::store::AddressSet;

use crate::{File, Group, Object, ObjectKind, ObjectToken};

/// The number of objects whose metadata is fetched together.
pub(crate) const TOGETHER: usize = 512;

/// The largest number of bytes that a prefetch fetches: more would not stay in memory until it is
/// read.
const MAX_FETCHED_BYTES: u64 = 128 << 20;

impl File {
    /// Fetches in advance the bytes that `work` reads from this file, if reads have to wait for
    /// bytes, as reads of a remote file do. Returns the number of fetched bytes; otherwise 0,
    /// without a call of `work`.
    ///
    /// `work` is called several times. Its reads of missing bytes return errors; all missing bytes
    /// are fetched together, and `work` is called again. Therefore `work` continues after errors,
    /// and has no effects.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::File::open(path)?;
    /// let names = ["series/temperature", "series/pressure"];
    /// file.read_ahead(|| names.iter().for_each(|name| drop(file.dataset(name))));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_ahead(&self, mut work: impl FnMut()) -> u64 {
        self.root().file().container.store.read_ahead(&mut work)
    }

    /// Fetches together the bytes that `each` reads of several objects.
    pub(crate) fn prefetch_objects(&self, tokens: &[ObjectToken], each: &mut dyn FnMut(Object)) -> u64 {
        let file = self.root().file();
        self.read_ahead(|| {
            for token in tokens {
                // An error of one object is the subject of the read after this one.
                let _ = Object::open_token(Arc::clone(file), *token, "").map(&mut *each);
            }
        })
    }
}

impl Group {
    /// Fetches in advance the metadata of all objects below this group, level by level, if reads
    /// have to wait for bytes, as reads of a remote file do. `levels` is the largest number of
    /// levels. `each` is called several times with each object, to make its further reads.
    ///
    /// Returns `false` if a part of the metadata was not fetched, because it is more than 128 MiB.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::File::open(path)?;
    /// assert!(file.prefetch(usize::MAX, |object| drop(object.attributes())));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn prefetch(&self, levels: usize, each: impl Fn(&Object)) -> bool {
        if !self.file().container.store.expects_raw() {
            return true;
        }
        let Ok(file) = self.containing_file() else { return true };
        let mut known = AddressSet::from_iter([self.token()]);
        let mut level = vec![self.token()];
        let mut fetched = 0;
        for depth in 0..=levels {
            let mut below = Vec::new();
            for together in level.chunks(TOGETHER) {
                let mut members = Vec::new();
                fetched += file.read_ahead(|| {
                    members.clear();
                    for token in together {
                        let Ok(object) = Object::open_token(Arc::clone(self.file()), *token, "") else {
                            continue;
                        };
                        each(&object);
                        if depth < levels {
                            members_of(object, &mut members);
                        }
                    }
                });
                if fetched > MAX_FETCHED_BYTES {
                    return false;
                }
                below.extend(members.into_iter().filter(|token| known.insert(*token)));
            }
            if below.is_empty() {
                break;
            }
            level = below;
        }
        true
    }
}

/// Adds the targets of a group's hard links to a list.
fn members_of(object: Object, members: &mut Vec<ObjectToken>) {
    if object.kind() != Some(ObjectKind::Group) {
        return;
    }
    // An error is the subject of the read after this one.
    let _ = object.into_group().and_then(|group| {
        group.visit_links(|link| {
            members.extend(link.hard());
            ControlFlow::Continue(())
        })
    });
}

/// Reads everything in the object header of an object, its links, and its attributes.
pub(crate) fn read_metadata(object: Object) {
    // Errors are the subject of the reads after this one.
    let attributes = object.attributes();
    attributes.iter().flatten().for_each(|attribute| drop(attribute.read_dyn()));
    match object.kind() {
        Some(ObjectKind::Group) => members_of(object, &mut Vec::new()),
        Some(ObjectKind::Dataset) => drop(object.into_dataset()),
        _ => {}
    }
}
