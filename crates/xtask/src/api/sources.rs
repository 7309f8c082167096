//! The items of crates, by crate and module.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syn::{Attribute, Item, ItemImpl, ItemUse, UseTree, Visibility};

/// Every item of the crates that are read.
#[derive(Default)]
pub(super) struct Sources {
    modules: Vec<Module>,
}

/// A module with its own items.
pub(super) struct Module {
    /// The name of the crate, with underscores, and the names of the modules.
    pub(super) path: Vec<String>,
    pub(super) is_public: bool,
    pub(super) items: Vec<Item>,
}

/// A name that a module exports, and the path of the exported item.
pub(super) struct Export {
    pub(super) name: String,
    pub(super) path: Vec<String>,
}

impl Sources {
    /// Reads the crate in a folder, without its tests.
    pub(super) fn read(&mut self, folder: &Path, name: &str) -> Result<()> {
        let root = if name == "hyperslab" { name.to_owned() } else { format!("hyperslab_{name}") };
        let source = folder.join("src");
        self.read_file(&source.join("lib.rs"), &source, vec![root], true)
    }

    fn read_file(&mut self, file: &Path, inside: &Path, path: Vec<String>, is_public: bool) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
        self.add(parsed.items, inside, path, is_public)
    }

    fn add(&mut self, items: Vec<Item>, inside: &Path, path: Vec<String>, is_public: bool) -> Result<()> {
        let mut own = Vec::new();
        for item in items {
            let Item::Mod(module) = item else {
                own.push(item);
                continue;
            };
            // A module with a `path` attribute is a codec of a feature. The codec exports nothing.
            let has_path = module.attrs.iter().any(|attribute| attribute.path().is_ident("path"));
            if has_path || is_for_tests(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let public = is_public_item(&module.vis);
            let below = [path.as_slice(), std::slice::from_ref(&name)].concat();
            if let Some((_, items)) = module.content {
                self.add(items, &inside.join(&name), below, public)?;
                continue;
            }
            let flat = inside.join(format!("{name}.rs"));
            let file = if flat.is_file() { flat } else { inside.join(&name).join("mod.rs") };
            self.read_file(&file, &inside.join(&name), below, public)?;
        }
        self.modules.push(Module { path, is_public, items: own });
        Ok(())
    }

    pub(super) fn module(&self, path: &[String]) -> Option<&Module> {
        self.modules.iter().find(|module| module.path == path)
    }

    /// Returns the public modules directly inside a module.
    pub(super) fn public_modules<'a>(&'a self, path: &'a [String]) -> impl Iterator<Item = &'a Module> {
        self.modules.iter().filter(move |module| {
            module.is_public && module.path.split_last().is_some_and(|(_, parent)| parent == path)
        })
    }

    /// Returns the implementations in a crate.
    pub(super) fn impls<'a>(&'a self, of: &'a str) -> impl Iterator<Item = &'a ItemImpl> {
        let inside =
            self.modules.iter().filter(move |module| module.path.first().is_some_and(|one| one == of));
        inside.flat_map(|module| &module.items).filter_map(|item| match item {
            Item::Impl(block) if !is_for_tests(&block.attrs) => Some(block),
            _ => None,
        })
    }

    /// Returns the item that a path names, and the path of the item's module. Follows reexports.
    pub(super) fn resolve(&self, path: &[String], steps: usize) -> Option<(Vec<String>, &Item)> {
        let steps = steps.checked_sub(1)?;
        let (name, parent) = path.split_last()?;
        let Some(module) = self.module(parent) else {
            // One of the modules in the path may be exported under another path.
            return (1..parent.len()).rev().find_map(|length| {
                let (before, after) = path.split_at_checked(length)?;
                let (alias, rest) = after.split_first()?;
                let export =
                    exports(self.module(before)?, false).into_iter().find(|export| export.name == *alias)?;
                self.resolve(&[export.path.as_slice(), rest].concat(), steps)
            });
        };
        let own = module.items.iter().find(|item| name_of(item).is_some_and(|own| own == *name));
        if let Some(item) = own {
            return Some((parent.to_vec(), item));
        }
        let export = exports(module, false).into_iter().find(|export| export.name == *name)?;
        self.resolve(&export.path, steps)
    }
}

/// Returns the names that a module exports or, on request, also the names that it imports.
pub(super) fn exports(module: &Module, only_public: bool) -> Vec<Export> {
    let mut all = Vec::new();
    for item in &module.items {
        if let Item::Use(item) = item
            && (!only_public || is_public_item(&item.vis))
        {
            collect(item, module, &mut all);
        }
    }
    all
}

fn collect(item: &ItemUse, module: &Module, all: &mut Vec<Export>) {
    let mut open = vec![(Vec::new(), &item.tree)];
    while let Some((before, tree)) = open.pop() {
        let with = |name: &syn::Ident| -> Vec<String> { [before.as_slice(), &[name.to_string()]].concat() };
        match tree {
            UseTree::Path(path) => open.push((with(&path.ident), &path.tree)),
            UseTree::Group(group) => open.extend(group.items.iter().map(|tree| (before.clone(), tree))),
            UseTree::Name(name) => {
                let path = absolute(&with(&name.ident), module);
                all.push(Export { name: name.ident.to_string(), path });
            }
            UseTree::Rename(rename) => {
                let path = absolute(&with(&rename.ident), module);
                all.push(Export { name: rename.rename.to_string(), path });
            }
            UseTree::Glob(_) => {}
        }
    }
}

/// Returns the path of a `use`, with the name of the crate as the first segment.
fn absolute(path: &[String], module: &Module) -> Vec<String> {
    let crate_name = module.path.iter().take(1).cloned();
    match path.split_first() {
        Some((first, rest)) if first == "crate" => crate_name.chain(rest.iter().cloned()).collect(),
        Some((first, rest)) if first == "self" => module.path.iter().chain(rest).cloned().collect(),
        Some((first, rest)) if first == "super" => {
            let parent = module.path.split_last().map_or(&[][..], |(_, parent)| parent);
            parent.iter().chain(rest).cloned().collect()
        }
        Some((first, _)) if first.starts_with("hyperslab") || is_foreign(first) => path.to_vec(),
        _ => module.path.iter().chain(path).cloned().collect(),
    }
}

fn is_foreign(name: &str) -> bool {
    ["std", "core", "ndarray", "sprs", "half", "num_complex"].contains(&name)
}

pub(super) fn is_public_item(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns `true` for items that only tests have, or that the documentation hides.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = quote::quote!(#attribute).to_string();
        text == "# [cfg (test)]" || text == "# [doc (hidden)]"
    })
}

/// Returns the name of an item that may be exported.
pub(super) fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}
