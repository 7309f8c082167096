//! One line for every public item, field, variant, method and implementation.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, ItemImpl, TraitItem, Type};

use super::sources::{Module, Sources, exports, is_for_tests, is_public_item, name_of};

/// Largest number of exports that a name may pass through.
const MOST_STEPS: usize = 8;

/// Returns the listing of everything that `hyperslab` exports.
pub(super) fn of(sources: &Sources) -> String {
    let mut lines = BTreeSet::new();
    // The first path of an item lists the item. The other paths refer to the first path.
    let mut listed: BTreeMap<(Vec<String>, String), String> = BTreeMap::new();
    let mut open = vec![vec!["hyperslab".to_owned()]];
    while let Some(path) = open.pop() {
        let Some(module) = sources.module(&path) else { continue };
        open.extend(sources.public_modules(&path).map(|module| module.path.clone()));
        if path.len() > 1 {
            lines.insert(format!("mod {}", path.join("::")));
        }
        list(sources, module, &mut listed, &mut lines);
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn list(
    sources: &Sources,
    module: &Module,
    listed: &mut BTreeMap<(Vec<String>, String), String>,
    lines: &mut BTreeSet<String>,
) {
    let own = module.items.iter().filter(|item| is_exported(item)).filter_map(name_of);
    let own = own.map(|name| (name.clone(), [module.path.as_slice(), &[name]].concat()));
    let others = exports(module, true).into_iter().map(|export| (export.name, export.path));
    for (name, path) in own.chain(others) {
        let here = format!("{}::{name}", module.path.join("::"));
        let Some((home, item)) = sources.resolve(&path, MOST_STEPS) else {
            lines.insert(format!("use {here} = {}", path.join("::")));
            continue;
        };
        let id = (home.clone(), name_of(item).unwrap_or_default());
        if let Some(first) = listed.get(&id) {
            lines.insert(format!("use {here} = {first}"));
            continue;
        }
        listed.insert(id, here.clone());
        describe(item, &here, lines);
        let crate_name = home.first().cloned().unwrap_or_default();
        let own_name = name_of(item).unwrap_or_default();
        for name in ["hyperslab", &crate_name].into_iter().collect::<BTreeSet<_>>() {
            for block in sources.impls(name).filter(|block| is_of(block, &own_name)) {
                implementation(block, &here, lines);
            }
        }
    }
}

/// Returns `true` if a module exports the item itself.
fn is_exported(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_public_item(&item.vis),
        Item::Enum(item) => is_public_item(&item.vis),
        Item::Fn(item) => is_public_item(&item.vis),
        Item::Macro(item) => item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")),
        Item::Struct(item) => is_public_item(&item.vis),
        Item::Trait(item) => is_public_item(&item.vis),
        Item::Type(item) => is_public_item(&item.vis),
        _ => false,
    }
}

fn describe(item: &Item, here: &str, lines: &mut BTreeSet<String>) {
    match item {
        Item::Const(item) => _ = lines.insert(format!("const {here}: {}", text(&item.ty))),
        Item::Fn(item) => _ = lines.insert(format!("{here}: {}", text(&item.sig))),
        Item::Macro(_) => _ = lines.insert(format!("macro {here}!")),
        Item::Type(item) => {
            lines.insert(format!("type {here}{} = {}", text(&item.generics), text(&item.ty)));
        }
        Item::Struct(item) => {
            lines.insert(format!("struct {here}{}", text(&item.generics)));
            fields(&item.fields, here, lines);
        }
        Item::Enum(item) => {
            lines.insert(format!("enum {here}{}", text(&item.generics)));
            for variant in &item.variants {
                lines.insert(format!("{here}::{}{}", variant.ident, text(&plain(&variant.fields))));
            }
        }
        Item::Trait(item) => {
            let above = text(&item.supertraits);
            let above = if above.is_empty() { above } else { format!(": {above}") };
            lines.insert(format!("trait {here}{}{above}", text(&item.generics)));
            for item in &item.items {
                match item {
                    TraitItem::Fn(item) => _ = lines.insert(format!("{here}: {}", text(&item.sig))),
                    TraitItem::Const(item) => {
                        lines.insert(format!("const {here}::{}: {}", item.ident, text(&item.ty)));
                    }
                    TraitItem::Type(item) => _ = lines.insert(format!("type {here}::{}", item.ident)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn fields(fields: &Fields, here: &str, lines: &mut BTreeSet<String>) {
    for (number, field) in fields.iter().enumerate().filter(|(_, field)| is_public_item(&field.vis)) {
        let name = field.ident.as_ref().map_or_else(|| number.to_string(), ToString::to_string);
        lines.insert(format!("{here}::{name}: {}", text(&field.ty)));
    }
}

/// Returns the fields of a variant without their documentation.
fn plain(fields: &Fields) -> Fields {
    let mut fields = fields.clone();
    fields.iter_mut().for_each(|field| field.attrs.clear());
    fields
}

fn is_of(block: &ItemImpl, name: &str) -> bool {
    let mut ty = &*block.self_ty;
    while let Type::Reference(reference) = ty {
        ty = &reference.elem;
    }
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == name)
}

fn implementation(block: &ItemImpl, here: &str, lines: &mut BTreeSet<String>) {
    if let Some((implemented, _)) = &block.trait_ {
        lines.insert(format!("{here}: impl {} for {}", text(implemented), text(&block.self_ty)));
        return;
    }
    for item in &block.items {
        match item {
            ImplItem::Fn(item) if is_public_item(&item.vis) && !is_for_tests(&item.attrs) => {
                lines.insert(format!("{here}: {}", text(&item.sig)));
            }
            ImplItem::Const(item) if is_public_item(&item.vis) => {
                lines.insert(format!("const {here}::{}: {}", item.ident, text(&item.ty)));
            }
            _ => {}
        }
    }
}

/// Returns source text on one line, spaced as `rustfmt` spaces it where that is simple.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    let tight = [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        ("& ", "&"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        (",)", ")"),
        (", >", ">"),
        ("? Sized", "?Sized"),
    ];
    for (from, to) in tight {
        text = text.replace(from, to);
    }
    text.replace("->(", "-> (")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn signatures_stand_on_one_line() {
        let signature: syn::Signature =
            syn::parse_quote! { fn read<T: H5Type, D>(&self, at: &[u64]) -> Result<Array<T, D>> };
        assert_eq!(text(&signature), "fn read<T: H5Type, D>(&self, at: &[u64]) -> Result<Array<T, D>>");
    }
}
