//! Comparison of the content of two files, independent of storage: checks that a rewritten file
//! holds the same data.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab::{Dataset, File, Selection};
use serde_json::{Map, Value};

use super::{describe, walk};

/// The bit of the object header flags for the tracked creation order of attributes.
const ORDER_TRACKED: u64 = 1 << 2;

/// The JSON keys of an object's description that concern storage.
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

/// The JSON keys of an object's description that only sparse datasets have.
const SPARSE: &[&str] = &["defined", "defined_sha256", "defined_skipped", "defined_error"];

/// The first object that differs between two files, and a description of the difference.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The path of the object.
    pub(crate) path: String,
    /// The difference as text.
    pub(crate) subject: String,
}

/// Compares the objects, links, attributes, types, shapes, elements and fill values of two files.
/// With `new_fill`, does not compare the fill values of datasets that became sparse.
pub(crate) fn compare(before: &File, after: &File, new_fill: bool) -> Option<Difference> {
    let (before, after) = (walk::Objects::find(before), walk::Objects::find(after));
    let (mut left, mut right) = (before.iter(), after.iter());
    loop {
        let (one, other) = match (left.next(), right.next()) {
            (None, None) => return None,
            (Some(found), None) => return Some(only(&before.path_to(found), "is missing")),
            (None, Some(found)) => return Some(only(&after.path_to(found), "is new")),
            (Some(one), Some(other)) => (one, other),
        };
        if before.hash(one) != after.hash(other) {
            let other = after.path_to(other);
            return Some(only(
                &before.path_to(one),
                &format!("has the position of `{other}` in the new file"),
            ));
        }
        let (mut first, mut second) = (describe::object(&before, one), describe::object(&after, other));
        simplify(&mut first, &mut second, new_fill);
        if let Some(subject) = difference(&first, &second, "") {
            return Some(Difference { path: before.path_to(one), subject });
        }
        if first.get("defined_sha256").is_some() {
            continue;
        }
        if first.get("data_skipped").is_some()
            && let Some(subject) = large_difference((&before, one), (&after, other))
        {
            return Some(Difference { path: before.path_to(one), subject });
        }
    }
}

fn only(path: &str, subject: &str) -> Difference {
    Difference { path: path.to_owned(), subject: subject.to_owned() }
}

/// Removes from the JSON description of an object the keys that describe the storage, and the keys
/// whose values depend on the storage.
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
    // Some programs write files in which entries share a creation order. No order can be preserved
    // then.
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
        replace_errors(map);
    }
}

/// Returns true if the creation orders of the entries determine one order of all entries: the
/// numbers are distinct.
fn is_in_order(entries: Option<&Value>) -> bool {
    let mut seen = BTreeSet::new();
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| entry.get("corder")?.as_u64()).all(|order| seen.insert(order))
}

/// Replaces the creation orders of entries by their ranks. A copy does not preserve the orders
/// themselves, because deleted entries are missing.
fn rank(entries: &mut [Value], tracked: bool) {
    let mut orders: BTreeMap<u64, u64> =
        entries.iter().filter_map(|entry| Some((entry["corder"].as_u64()?, 0))).collect();
    (0..).zip(orders.values_mut()).for_each(|(rank, order)| *order = rank);
    for entry in entries {
        let Some(map) = entry.as_object_mut() else { continue };
        let rank = map.remove("corder").and_then(|order| orders.get(&order.as_u64()?).copied());
        if let Some(rank) = rank.filter(|_| tracked) {
            map.insert("corder".into(), rank.into());
        }
        replace_errors(map);
    }
}

/// Replaces error messages in a JSON description by `true`. Messages contain addresses, so only the
/// presence of an error is compared.
fn replace_errors(map: &mut Map<String, Value>) {
    for (key, value) in map.iter_mut() {
        if key.ends_with("error") {
            *value = Value::Bool(true);
        }
    }
}

/// Returns the first difference between two JSON descriptions, with the path of the differing key.
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

/// An object under comparison, together with all objects of its file.
type In<'a> = (&'a walk::Objects, &'a walk::DigestObject);

/// Compares the elements of two datasets block by block. The datasets are too large for the hash of
/// a digest.
fn large_difference(before: In<'_>, after: In<'_>) -> Option<String> {
    /// The number of bytes that one step of a comparison reads from each dataset.
    const BLOCK_BYTES: u64 = 32 << 20;
    /// The size of the largest dataset that is compared block by block. Larger datasets count as
    /// equal, because most of their elements were never written.
    const MAX_BYTES: u64 = 16 << 30;
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
    if first.datatype().points_into_file() || bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
        return None;
    }
    for region in first.blocks(BLOCK_BYTES) {
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
        let reported = difference(&before, &after, "").unwrap();
        assert_eq!(reported, "attrs/a/corder: 0 before, 5 now");
    }
}
