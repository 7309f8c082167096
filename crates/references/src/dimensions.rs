//! The names of the dimensions of arrays.

use std::collections::HashMap;

use hyperslab::{Dataset, File};

/// The beginning of the name of a dimension scale that only states the size of a dimension.
const WITHOUT_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// The names of the dimensions of one group that have no scale. A name stands for one size.
#[derive(Debug, Default)]
pub(crate) struct PhonyNames {
    sizes: HashMap<u64, u64>,
}

/// Returns whether a dataset states only the size of a dimension of netCDF-4.
pub(crate) fn is_only_a_size(dataset: &Dataset) -> bool {
    let name = dataset.dimensions().scale_name();
    matches!(name, Ok(Some(name)) if name.starts_with(WITHOUT_VARIABLE))
}

/// The paths of datasets by the addresses of their headers, which references to scales state.
#[derive(Debug, Default)]
pub(crate) struct ScalePaths {
    known: HashMap<u64, String>,
    is_complete: bool,
}

impl ScalePaths {
    /// Adds the path of a dataset.
    pub(crate) fn add(&mut self, dataset: &Dataset, path: &str) {
        self.known.entry(dataset.token().address()).or_insert_with(|| path.to_owned());
    }

    /// Returns the path of a scale. Walks through the file if the path is not known yet.
    fn path(&mut self, file: &File, scale: &Dataset) -> Option<String> {
        let address = scale.token().address();
        if !self.known.contains_key(&address) && !self.is_complete {
            self.is_complete = true;
            for visited in file.walk() {
                if let Ok(path) = String::from_utf8(visited.path) {
                    self.known.entry(visited.token.address()).or_insert(path);
                }
            }
        }
        self.known.get(&address).cloned()
    }
}

/// Returns the names of the dimensions of a dataset of the group at `group`: the names of its
/// dimension scales (of several scales, the last one), its own name if it is a scale, or
/// `phony_dim_N`.
pub(crate) fn names(
    (file, dataset): (&File, &Dataset),
    (group, name): (&str, &str),
    shape: &[u64],
    (paths, phony): (&mut ScalePaths, &mut PhonyNames),
) -> Vec<String> {
    let is_scale = shape.len() == 1 && is_scale(dataset);
    let mut names: Vec<String> = Vec::with_capacity(shape.len());
    for (axis, size) in shape.iter().enumerate() {
        let found = match attached(dataset, axis).and_then(|scale| paths.path(file, &scale)) {
            Some(scale) => Some(scale_name(&scale, group)),
            None if is_scale => Some(name.to_owned()),
            None => None,
        };
        let found = found.filter(|found| !names.contains(found));
        names.push(found.unwrap_or_else(|| phony.name(axis, *size, &names)));
    }
    names
}

/// Returns the last scale that is attached to an axis. A damaged list of scales has none.
fn attached(dataset: &Dataset, axis: usize) -> Option<Dataset> {
    dataset.dimensions().scales(axis).ok()?.pop()
}

fn is_scale(dataset: &Dataset) -> bool {
    matches!(dataset.dimensions().is_scale(), Ok(true))
}

/// Returns the scale that names an axis: the last one that is attached to the axis, or the dataset
/// itself if it is a scale of one dimension.
pub(crate) fn scale_of(dataset: &Dataset, axis: usize) -> Option<Dataset> {
    attached(dataset, axis).or_else(|| (dataset.ndim() == 1 && is_scale(dataset)).then(|| dataset.clone()))
}

/// Returns the name of a dimension: the name of a scale in the group of the dataset or in a group
/// that contains it, otherwise the whole path.
fn scale_name(scale: &str, group: &str) -> String {
    let path = scale.trim_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let group = group.trim_matches('/');
    let is_visible = folder.is_empty()
        || group == folder
        || group.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if is_visible { name.to_owned() } else { path.to_owned() }
}

impl PhonyNames {
    /// Returns the name of a dimension without a scale. It is `phony_dim_N` with the number of the
    /// dimension, or with a later number if that name has another size in this group.
    fn name(&mut self, axis: usize, size: u64, used: &[String]) -> String {
        let mut number = hyperslab_exact::to_u64(axis);
        loop {
            let name = format!("phony_dim_{number}");
            if !used.contains(&name) && *self.sizes.entry(number).or_insert(size) == size {
                return name;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_of_enclosing_groups_have_short_names() {
        assert_eq!(scale_name("/time", ""), "time");
        assert_eq!(scale_name("/time", "a/b"), "time");
        assert_eq!(scale_name("/a/time", "a/b"), "time");
        assert_eq!(scale_name("/a/time", "ab"), "a/time");
        assert_eq!(scale_name("/a/time", ""), "a/time");
    }

    #[test]
    fn a_phony_name_has_one_size() {
        let mut phony = PhonyNames::default();
        assert_eq!(phony.name(0, 5, &[]), "phony_dim_0");
        assert_eq!(phony.name(1, 5, &["phony_dim_0".into()]), "phony_dim_1");
        assert_eq!(phony.name(0, 7, &[]), "phony_dim_2");
        assert_eq!(phony.name(0, 7, &[]), "phony_dim_2");
    }
}
