//! Rule 10: the name of a file or folder describes its contents.

use super::Finding;
use super::source::Tree;

const FORBIDDEN: &[&str] = &["utils", "util", "misc", "common", "helper", "helpers"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let named = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        FORBIDDEN.contains(&stem.to_lowercase().as_str())
    };
    let message = "name the file or folder after its contents";
    tree.paths.iter().filter(named).map(|path| Finding::new(path, 1, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_found() {
        let tree = Tree {
            paths: ["a/utils", "a/Helpers.rs", "a/utility.rs", "b"].map(String::from).into(),
            ..Tree::default()
        };
        assert_eq!(check(&tree).len(), 2);
    }
}
