//! Rules 2 and 3: a submodule uses only the submodules below it, in the order of
//! `submodules::order`; only `store` uses drivers; the façade names no submodule below `ops` except
//! `store`.

use std::collections::BTreeMap;

use super::Finding;
use super::source::Tree;
use crate::submodules::graph::{Arrow, Modules, Use, arrows, cycles, folders};
use crate::submodules::order::{ENGINE, ORDERS, Order};
use crate::submodules::paths::paths;
use crate::submodules::{crate_of, module_of, upward_arrows};

/// Submodules of the engine whose modules must not form a cycle.
const WITHOUT_CYCLES: &[&str] = &["store", "index", "object", "data", "ops"];

/// Submodules of the engine that the façade must not name.
const BELOW_OPS: &[&str] = &["index", "object", "data"];

/// Submodules of the engine that must not name a driver.
const WITHOUT_DRIVERS: &[&str] = &["index", "object", "data"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut uses: BTreeMap<&str, Vec<Use>> = BTreeMap::new();
    let mut findings = Vec::new();
    for order in ORDERS {
        let name = crate_of(order);
        let uses = uses.entry(name).or_insert_with(|| Modules::read(tree, name).uses());
        for arrow in upward_arrows(uses, order) {
            for (file, line) in &arrow.places {
                let message = format!("`{}` must not use `{}`: {}", arrow.from, arrow.to, order.text());
                findings.push(Finding::new(file, *line, message));
            }
        }
        findings.extend(without_level(uses, order));
    }
    findings.extend(circular(uses.get("engine").map(Vec::as_slice).unwrap_or_default()));
    findings.extend(drivers(tree));
    findings.extend(below_ops(tree));
    findings
}

/// Finds submodules of the engine below `ops` that the façade names. It may name `store`, which
/// holds settings and handles.
fn below_ops(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        if !matches!(file.source_of(), Some(("hyperslab", _))) {
            continue;
        }
        let (imports, mentions) = paths(&file.code);
        let imports = imports.iter().map(|import| (&import.path, import.at));
        for (path, at) in imports.chain(mentions.iter().map(|mention| (&mention.path, mention.at))) {
            let submodule = path.get(1).map(String::as_str).filter(|_| is_engine(path));
            if let Some(submodule) = submodule.filter(|submodule| BELOW_OPS.contains(submodule)) {
                let message = format!(
                    "the façade must not name `{submodule}` of the engine: `ops` exports what it needs"
                );
                findings.push(Finding::new(&file.path, file.line_of(at), message));
            }
        }
    }
    findings
}

fn is_engine(path: &[String]) -> bool {
    path.first().is_some_and(|name| name == "hyperslab_engine")
}

/// Finds cycles of modules in one folder.
fn circular(uses: &[Use]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in folders(uses) {
        if !folder.first().is_some_and(|submodule| WITHOUT_CYCLES.contains(&submodule.as_str())) {
            continue;
        }
        let arrows = arrows(uses, &folder);
        for group in cycles(&arrows) {
            let inside = |arrow: &&Arrow| group.contains(&arrow.from) && group.contains(&arrow.to);
            let Some((file, line)) = arrows.iter().find(inside).and_then(|arrow| arrow.places.first()) else {
                continue;
            };
            let message = format!("cycle of modules: {}", group.join(", "));
            findings.push(Finding::new(file, *line, message));
        }
    }
    findings
}

/// Finds the submodules of a folder that are missing in its order.
fn without_level(uses: &[Use], order: &Order) -> Vec<Finding> {
    let folder = module_of(order);
    let mut unknown = BTreeMap::new();
    for one in uses {
        let submodule = one.from.strip_prefix(folder.as_slice()).and_then(|inside| inside.first());
        if let Some(submodule) = submodule.filter(|submodule| order.level(submodule).is_none()) {
            unknown.entry(submodule.clone()).or_insert(&one.file);
        }
    }
    let finding = |(submodule, file): (String, &String)| {
        Finding::new(
            file,
            1,
            format!("`{submodule}` is missing in the order of submodules: {}", order.text()),
        )
    };
    unknown.into_iter().map(finding).collect()
}

/// Finds drivers in submodules that must not use them.
fn drivers(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let submodule = file.path.strip_prefix(ENGINE.folder).and_then(|inside| inside.split('/').nth(1));
        let Some(submodule) = submodule.map(|submodule| submodule.trim_end_matches(".rs")) else { continue };
        if WITHOUT_DRIVERS.contains(&submodule) {
            for (at, _) in file.code.match_indices("hyperslab_vfd") {
                let message = format!("`{submodule}` must not use drivers: only `store` may");
                findings.push(Finding::new(&file.path, file.line_of(at), message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: (&str, &str) = ("crates/engine/src/lib.rs", "");
    const SUBMODULES: [(&str, &str); 3] = [
        ("crates/engine/src/object/mod.rs", "pub mod link; pub struct Link;"),
        ("crates/engine/src/data/mod.rs", "pub mod transfer; pub mod linear;"),
        ("crates/engine/src/ops/mod.rs", ""),
    ];

    fn lines(files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![ROOT];
        all.extend(SUBMODULES.iter().filter(|(path, _)| files.iter().all(|(other, _)| other != path)));
        all.extend(files);
        check(&Tree::of(&all)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_down_and_into_the_own_room_are_fine() {
        let link = ("crates/engine/src/object/link.rs", "use crate::{error::Error, object::Link};");
        assert!(lines(&[link]).is_empty());
        let read = ("crates/engine/src/ops/write.rs", "use crate::object; use crate::data::transfer;");
        assert!(lines(&[read]).is_empty());
        assert!(lines(&[("crates/engine/src/lib.rs", "use crate::ops;")]).is_empty());
        assert!(lines(&[("crates/hyperslab/src/data/x.rs", "use crate::ops;")]).is_empty());
    }

    #[test]
    fn arrows_up_are_found_in_every_spelling() {
        let path = "crates/engine/src/index/btree.rs";
        for text in [
            "//! x\nuse crate::object::link;",
            "use crate::{\n store::{data, Bytes}, object};\nfn f() { object::link() }",
            "\nfn f(x: super::super::object::Link) {}",
            "\nlet x = crate::object::f();",
        ] {
            let found = lines(&[(path, text)]);
            assert!(!found.is_empty(), "{text}");
            assert!(
                found[0].starts_with("crates/engine/src/index/btree.rs:2: `index` must not use `object`"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn object_and_data_do_not_know_each_other() {
        assert_eq!(lines(&[("crates/engine/src/object/mod.rs", "use super::data::linear;")]).len(), 1);
        assert_eq!(lines(&[("crates/engine/src/data/mod.rs", "use crate::object::f;")]).len(), 1);
    }

    #[test]
    fn the_rooms_of_raw_data_are_in_order_and_all_named() {
        let up = ("crates/engine/src/data/transfer/mod.rs", "use super::linear::read;");
        let linear = ("crates/engine/src/data/linear/mod.rs", "pub fn read() {}");
        let found = lines(&[up, linear]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("transfer/mod.rs:1: `transfer` must not use `linear`"), "{found:?}");
        let new = ("crates/engine/src/data/attic.rs", "use super::transfer::f;");
        let found = lines(&[new, ("crates/engine/src/data/transfer/mod.rs", "pub fn f() {}")]);
        assert!(found.len() == 1 && found[0].contains("`attic` is missing"), "{found:?}");
    }

    #[test]
    fn modules_that_use_each_other_in_a_circle_are_found() {
        let one = ("crates/engine/src/object/one.rs", "use super::two::g; pub fn f() {}");
        let found = lines(&[one, ("crates/engine/src/object/two.rs", "use super::one::f; pub fn g() {}")]);
        assert_eq!(found, ["crates/engine/src/object/one.rs:1: cycle of modules: one, two"]);
        assert!(lines(&[one, ("crates/engine/src/object/two.rs", "pub fn g() {}")]).is_empty());
    }

    #[test]
    fn the_facade_names_no_room_below_ops() {
        let path = "crates/hyperslab/src/group.rs";
        let fine = "use hyperslab_engine::{ops::{groups, sparse}, store::Edit, Error};";
        assert!(lines(&[(path, fine)]).is_empty());
        for text in [
            "//! x\nuse hyperslab_engine::object::link::Link;",
            "//! x\nuse hyperslab_engine::{data::transfer, Error};",
            "\nfn f() { hyperslab_engine::index::walk() }",
        ] {
            let found = lines(&[(path, text)]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with("crates/hyperslab/src/group.rs:2: the façade"), "{found:?}");
        }
    }

    #[test]
    fn only_store_sees_drivers() {
        assert_eq!(lines(&[("crates/engine/src/data/read.rs", "use hyperslab_vfd::Driver;")]).len(), 1);
        assert!(lines(&[("crates/engine/src/store/open.rs", "use hyperslab_vfd::Driver;")]).is_empty());
    }
}
