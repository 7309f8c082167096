//! The modules of one crate, and the uses of one module by another.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Import, definitions, paths, without_tests};
use crate::tidy::source::{File, Tree};

/// Largest number of aliases that the resolution of one name follows.
const MAX_ALIASES: usize = 16;

/// The modules of a crate, by their paths from its root.
#[derive(Debug)]
pub(crate) struct Modules<'a> {
    known: BTreeMap<Vec<String>, Module<'a>>,
}

#[derive(Debug)]
struct Module<'a> {
    file: &'a File,
    imports: Vec<Import>,
    mentions: Vec<super::paths::Mention>,
    defines: BTreeSet<String>,
}

/// One use of a module by another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    /// The path of the module that uses the other one.
    pub(crate) from: Vec<String>,
    /// The path of the module that is used.
    pub(crate) to: Vec<String>,
    /// The file, from the root of the checkout, and the line of the use.
    pub(crate) file: String,
    pub(crate) line: usize,
}

impl<'a> Modules<'a> {
    /// Reads the modules of the crate in `crates/NAME`. Test modules and inline tests are omitted.
    pub(crate) fn read(tree: &'a Tree, name: &str) -> Self {
        let mut known = BTreeMap::new();
        for file in tree.rust() {
            let Some((folder, inside)) = file.source_of().filter(|(folder, _)| *folder == name) else {
                continue;
            };
            debug_assert_eq!(folder, name);
            let code = without_tests(&file.code);
            let (imports, mentions) = paths(&code);
            let defines = definitions(&code).into_iter().collect();
            known.insert(module_path(inside), Module { file, imports, mentions, defines });
        }
        let mut modules = Self { known };
        modules.remove_tests();
        modules
    }

    /// Removes the modules that their parents declare for tests only.
    fn remove_tests(&mut self) {
        let is_test = |path: &Vec<String>| {
            path.split_last().is_some_and(|(name, parent)| {
                let declared = |parent: &Module<'_>| {
                    let declaration = format!("mod {name};");
                    let code = without_tests(&parent.file.code);
                    parent.file.code.contains(&declaration) && !code.contains(&declaration)
                };
                self.known.get(parent).is_some_and(declared)
            })
        };
        let tests: Vec<Vec<String>> = self.known.keys().filter(|path| is_test(path)).cloned().collect();
        self.known.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    }

    /// Returns every use of one module of the crate by another.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut uses = BTreeSet::new();
        for (from, module) in &self.known {
            let imports = module.imports.iter().map(|import| (&import.path, import.at));
            let mentions = module.mentions.iter().map(|mention| (&mention.path, mention.at));
            for (path, at) in imports.chain(mentions) {
                let Some(to) = self.resolve(from, path, 0).filter(|to| to != from) else { continue };
                let line = module.file.line_of(at);
                uses.insert(Use { from: from.clone(), to, file: module.file.path.clone(), line });
            }
        }
        uses.into_iter().collect()
    }

    /// Returns the module that a path names, or the module that defines the last name of the path;
    /// `None` for names of other crates.
    fn resolve(&self, from: &[String], path: &[String], aliases: usize) -> Option<Vec<String>> {
        let mut at = from.to_vec();
        for (number, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" if number == 0 => at.clear(),
                "self" if number == 0 => {}
                "super" => _ = at.pop()?,
                name => match self.step(&at, name, number == 0, aliases)? {
                    Step::Module(next) => at = next,
                    Step::Item(module) => return Some(module),
                },
            }
        }
        Some(at)
    }

    /// Resolves one name in a module.
    fn step(&self, at: &[String], name: &str, is_first: bool, aliases: usize) -> Option<Step> {
        let module = self.known.get(at)?;
        let child = [at, &[name.to_owned()]].concat();
        if self.known.contains_key(&child) {
            return Some(Step::Module(child));
        }
        if module.defines.contains(name) {
            return Some(Step::Item(at.to_vec()));
        }
        if aliases < MAX_ALIASES {
            let imports = || module.imports.iter();
            for import in imports().filter(|import| import.name == name && import.path != [name]) {
                if let Some(to) = self.resolve(at, &import.path, aliases + 1) {
                    let is_module = to.last() == import.path.last() && self.known.contains_key(&to);
                    return Some(if is_module { Step::Module(to) } else { Step::Item(to) });
                }
            }
            for import in imports().filter(|import| import.name == "*") {
                let inside = self.resolve(at, &import.path, aliases + 1).filter(|inside| inside != at);
                let defines = |path: &Vec<String>| {
                    self.known.get(path).is_some_and(|module| module.defines.contains(name))
                };
                if let Some(inside) = inside.filter(defines) {
                    return Some(Step::Item(inside));
                }
            }
        }
        // The name belongs to another crate, or a macro defines it in the module.
        (!is_first).then(|| Step::Item(at.to_vec()))
    }
}

enum Step {
    Module(Vec<String>),
    Item(Vec<String>),
}

/// Returns the path of the module in the file `inside`, a path below the `src` folder.
fn module_path(inside: &str) -> Vec<String> {
    let mut path: Vec<String> = inside.trim_end_matches(".rs").split('/').map(String::from).collect();
    let is_own = path.last().is_some_and(|last| last == "mod")
        || matches!(path.as_slice(), [only] if only == "lib" || only == "main");
    if is_own {
        path.pop();
    }
    path
}

/// The uses of one submodule of a folder by another.
#[derive(Debug)]
pub(crate) struct Arrow {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The files and lines of the uses.
    pub(crate) places: Vec<(String, usize)>,
}

/// Returns the arrows between the submodules of `folder`, a module path. A submodule is a module
/// directly in the folder, with all modules inside it.
pub(crate) fn arrows(uses: &[Use], folder: &[String]) -> Vec<Arrow> {
    let submodule = |path: &[String]| path.strip_prefix(folder).and_then(|inside| inside.first()).cloned();
    let mut found: BTreeMap<(String, String), Vec<(String, usize)>> = BTreeMap::new();
    for one in uses {
        if let (Some(from), Some(to)) = (submodule(&one.from), submodule(&one.to))
            && from != to
        {
            found.entry((from, to)).or_default().push((one.file.clone(), one.line));
        }
    }
    let arrow = |((from, to), places)| Arrow { from, to, places };
    found.into_iter().map(arrow).collect()
}

/// Returns the groups of submodules that use each other, directly or through others.
pub(crate) fn cycles(arrows: &[Arrow]) -> Vec<Vec<String>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in arrows {
        reach.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    loop {
        let before: usize = reach.values().map(BTreeSet::len).sum();
        let known = reach.clone();
        for reached in reach.values_mut() {
            let further: BTreeSet<&str> =
                reached.iter().filter_map(|submodule| known.get(submodule)).flatten().copied().collect();
            reached.extend(further);
        }
        if reach.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let both = |one: &str, other: &str| {
        let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|reached| reached.contains(to));
        reaches(one, other) && reaches(other, one)
    };
    let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
    for submodule in reach.keys().filter(|submodule| both(submodule, submodule)) {
        let group =
            reach.keys().filter(|other| both(submodule, other)).map(|submodule| (*submodule).to_owned());
        groups.insert(group.collect());
    }
    groups.into_iter().collect()
}

/// Returns the folders of a crate that contain modules, as module paths.
pub(crate) fn folders(uses: &[Use]) -> BTreeSet<Vec<String>> {
    let paths = uses.iter().flat_map(|one| [&one.from, &one.to]);
    paths
        .flat_map(|path| (0..path.len()).filter_map(|length| path.get(..length).map(<[_]>::to_vec)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split("::").filter(|part| !part.is_empty()).map(String::from).collect()
    }

    fn found(files: &[(&str, &str)], folder: &str) -> Vec<String> {
        let tree = Tree::of(files);
        let arrows = arrows(&Modules::read(&tree, "x").uses(), &path(folder));
        arrows.iter().map(|arrow| format!("{}->{} {}", arrow.from, arrow.to, arrow.places[0].1)).collect()
    }

    #[test]
    fn names_are_followed_to_where_they_are_defined() {
        let files = [
            ("crates/x/src/lib.rs", "mod data;"),
            ("crates/x/src/data/mod.rs", "mod a; mod b; mod c; pub use b::Thing; use c::deep::*;"),
            (
                "crates/x/src/data/a.rs",
                "//! x\nuse super::Thing;\nfn f() { super::c::g(); crate::data::h() }",
            ),
            ("crates/x/src/data/b.rs", "pub struct Thing;"),
            ("crates/x/src/data/c/mod.rs", "pub mod deep; use super::b;\nfn g() { b::Thing::new() }"),
            ("crates/x/src/data/c/deep.rs", "pub fn h() { g() }"),
        ];
        assert_eq!(found(&files, "data"), ["a->b 2", "a->c 3", "c->b 1"]);
        assert!(found(&files, "data::c").is_empty());
    }

    #[test]
    fn tests_and_other_crates_make_no_arrows() {
        let files = [
            ("crates/x/src/lib.rs", "mod a; mod b; mod c;"),
            ("crates/x/src/a.rs", "use rayon::b;\n#[cfg(test)]\nmod tests { use crate::b::X; }"),
            ("crates/x/src/b.rs", "pub struct X;"),
            ("crates/x/src/c/mod.rs", "#[cfg(test)]\nmod tests;"),
            ("crates/x/src/c/tests.rs", "use crate::b::X;"),
        ];
        assert!(found(&files, "").is_empty());
    }

    #[test]
    fn cycles_are_found_as_groups() {
        let arrow = |from: &str, to: &str| Arrow { from: from.into(), to: to.into(), places: Vec::new() };
        let arrows = [arrow("a", "b"), arrow("b", "c"), arrow("c", "a"), arrow("c", "d"), arrow("e", "a")];
        assert_eq!(cycles(&arrows), [["a", "b", "c"]]);
        assert!(cycles(&[arrow("a", "b"), arrow("a", "c"), arrow("b", "c")]).is_empty());
    }
}
