//! What a file holds, whatever the way in which it is stored: for telling whether a file written anew is the same.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab::{Dataset, File, Selection};
use serde_json::{Map, Value};

use super::{describe, walk};

/// Bit of the header flags: the order of attributes is tracked.
const ORDER_TRACKED: u64 = 1 << 2;

/// What an entry says of the way of storing.
const STORAGE: &[&str] = &[
    "header",
    "storage",
    "layout",
    "chunk",
    "chunk_index",
    "chunk_opts",
    "sections",
    "filters",
    "external",
    "virtual",
];

/// What is said of the defined elements of sparse datasets only.
const SPARSE: &[&str] = &["defined", "defined_sha256", "defined_skipped", "defined_error"];

/// The first object that two files do not share, and what is different about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Path of the object.
    pub(crate) path: String,
    /// What is different.
    pub(crate) what: String,
}

/// Compares what two files hold: objects, links, attributes, types, shapes, elements and fill values; but not those of
/// datasets that have become sparse, if `new_fill` says so.
pub(crate) fn compare(before: &File, after: &File, new_fill: bool) -> Option<Difference> {
    let (before, after) = (walk::Objects::find(before), walk::Objects::find(after));
    let (mut left, mut right) = (before.iter(), after.iter());
    loop {
        let (one, other) = match (left.next(), right.next()) {
            (None, None) => return None,
            (Some(found), None) => return Some(only(&before.path_to(found), "is missing")),
            (None, Some(found)) => return Some(only(&after.path_to(found), "was not there before")),
            (Some(one), Some(other)) => (one, other),
        };
        if before.hash(one) != after.hash(other) {
            let other = after.path_to(other);
            return Some(only(&before.path_to(one), &format!("stands where `{other}` is now")));
        }
        let (mut first, mut second) = (describe::object(&before, one), describe::object(&after, other));
        simplify(&mut first, &mut second, new_fill);
        if let Some(what) = difference(&first, &second, "") {
            return Some(Difference { path: before.path_to(one), what });
        }
        if first.get("defined_sha256").is_some() {
            continue;
        }
        if first.get("data_skipped").is_some()
            && let Some(what) = large_difference((&before, one), (&after, other))
        {
            return Some(Difference { path: before.path_to(one), what });
        }
    }
}

fn only(path: &str, what: &str) -> Difference {
    Difference { path: path.to_owned(), what: what.to_owned() }
}

/// Takes out what is said of the way of storing, and what changes with it.
fn simplify(before: &mut Value, after: &mut Value, new_fill: bool) {
    let grows = |entry: &Value| {
        entry
            .get("layout")
            .and_then(Value::as_str)
            .is_some_and(|layout| layout == "chunked" || layout == "structured")
    };
    let stays_growing = before.get("layout") == after.get("layout") || (grows(before) && grows(after));
    let is_sparse = |entry: &Value| entry.get("layout").is_some_and(|layout| layout == "structured");
    let new_fill = new_fill && is_sparse(after) && !is_sparse(before);
    let stays_sparse = before.get("defined").is_some() && after.get("defined").is_some();
    // Programs have written files in which several have one place; there is no order to be kept then.
    let attributes_in_order = is_in_order(before.get("attrs"));
    let links_in_order = is_in_order(before.get("links"));
    for entry in [before, after] {
        let tracked =
            entry.pointer("/header/flags").and_then(Value::as_u64).unwrap_or(0) & ORDER_TRACKED != 0;
        let tracked = tracked && attributes_in_order;
        let Some(map) = entry.as_object_mut() else { continue };
        if !stays_sparse {
            SPARSE.iter().for_each(|key| drop(map.remove(*key)));
        }
        if map.get("kind").is_some_and(|kind| kind == "datatype") {
            // Some programs do not count the datasets and attributes that use a type.
            map.remove("nlink");
        }
        STORAGE.iter().for_each(|key| drop(map.remove(*key)));
        if !stays_growing {
            map.remove("maxshape");
        }
        if new_fill {
            map.remove("fill");
        }
        if let Some(fill) = map.get_mut("fill").and_then(Value::as_object_mut) {
            fill.remove("alloc");
        }
        if let Some(attributes) = map.get_mut("attrs").and_then(Value::as_array_mut) {
            rank(attributes, tracked);
        }
        let tracked = map.get("link_order").and_then(Value::as_u64).unwrap_or(0) & 1 != 0;
        let tracked = tracked && links_in_order;
        if let Some(links) = map.get_mut("links").and_then(Value::as_array_mut) {
            rank(links, tracked);
        }
        forget_words(map);
    }
}

/// Returns whether all entries have different places in the order of creation.
fn is_in_order(entries: Option<&Value>) -> bool {
    let mut seen = BTreeSet::new();
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| entry.get("corder")?.as_u64()).all(|order| seen.insert(order))
}

/// Orders of creation as places in that order: numbers of what was deleted are not kept.
fn rank(entries: &mut [Value], tracked: bool) {
    let mut orders: BTreeMap<u64, u64> =
        entries.iter().filter_map(|entry| Some((entry["corder"].as_u64()?, 0))).collect();
    (0..).zip(orders.values_mut()).for_each(|(place, order)| *order = place);
    for entry in entries {
        let Some(map) = entry.as_object_mut() else { continue };
        let place = map.remove("corder").and_then(|order| orders.get(&order.as_u64()?).copied());
        if let Some(place) = place.filter(|_| tracked) {
            map.insert("corder".into(), place.into());
        }
        forget_words(map);
    }
}

/// Errors name addresses; that there is one is all that is compared.
fn forget_words(map: &mut Map<String, Value>) {
    for (key, value) in map.iter_mut() {
        if key.ends_with("error") {
            *value = Value::Bool(true);
        }
    }
}

/// The first difference of two values, with the way to it.
fn difference(before: &Value, after: &Value, path: &str) -> Option<String> {
    match (before, after) {
        (Value::Object(first), Value::Object(second)) => {
            let keys: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
            keys.into_iter().find_map(|key| {
                let null = &Value::Null;
                difference(
                    first.get(key).unwrap_or(null),
                    second.get(key).unwrap_or(null),
                    &format!("{path}/{key}"),
                )
            })
        }
        (Value::Array(first), Value::Array(second)) if first.len() == second.len() => {
            let pairs = first.iter().zip(second).enumerate();
            let mut differences = pairs.filter_map(|(number, (first, second))| {
                let name = first["name"].as_str().map_or(number.to_string(), str::to_owned);
                difference(first, second, &format!("{path}/{name}"))
            });
            differences.next()
        }
        _ if before == after => None,
        _ => Some(format!("{}: {before} before, {after} now", path.trim_start_matches('/'))),
    }
}

/// An object in a file.
type In<'a> = (&'a walk::Objects, &'a walk::DigestObject);

/// Compares the elements of datasets that a digest leaves out, block by block.
fn large_difference(before: In<'_>, after: In<'_>) -> Option<String> {
    /// Bytes at once.
    const BLOCK: u64 = 32 << 20;
    /// More are taken to be the same: they are mostly those that were never written.
    const MOST: u64 = 16 << 30;
    let dataset = |found: &walk::DigestObject| found.object.as_ref().ok()?.clone().into_dataset().ok();
    let (Some(first), Some(second)) = (dataset(before.1), dataset(after.1)) else { return None };
    let sparse = |dataset: &Dataset| dataset.sparse().chunking().is_some_and(|chunks| chunks.sparse);
    if sparse(&first) && sparse(&second) {
        let hashes = (describe::defined_hash(before.0, &first), describe::defined_hash(after.0, &second));
        return match hashes {
            (Ok(first), Ok(second)) if first == second => None,
            (Err(_), Err(_)) => None,
            _ => Some("defined elements".into()),
        };
    }
    let count = first.dataspace().element_count();
    let bytes = count.and_then(|count| count.checked_mul(u64::from(first.datatype().size)));
    if first.datatype().points_into_file() || bytes.is_none_or(|bytes| bytes > MOST) {
        return None;
    }
    for region in first.blocks(BLOCK) {
        let selection = Selection::region(&region);
        let read = |dataset: &Dataset| dataset.read_stored(&selection);
        match (read(&first), read(&second)) {
            (Ok(first), Ok(second)) if first.bytes() == second.bytes() => {}
            (Err(_), Err(_)) => return None,
            _ => return Some(format!("elements from {:?} on", region.start)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ways_of_storing_are_no_difference() {
        let mut before = json!({"layout": "chunked", "maxshape": [-1], "chunk": [2], "shape": [3],
            "attrs": [{"name": "b", "corder": 7}, {"name": "a", "corder": 3}], "header": {"flags": 4}});
        let mut after = json!({"layout": "contiguous", "maxshape": [3], "shape": [3],
            "attrs": [{"name": "b", "corder": 1}, {"name": "a", "corder": 0}], "header": {"flags": 4}});
        simplify(&mut before, &mut after, false);
        assert_eq!(difference(&before, &after, ""), None);
        after["attrs"][1]["corder"] = json!(5);
        let said = difference(&before, &after, "").unwrap();
        assert_eq!(said, "attrs/a/corder: 0 before, 5 now");
    }
}
