//! Comparison of two descriptions of a file: the output of `hyperslab digest`, and the truth, as
//! libhdf5 reads the file.
//!
//! A different value is *wrong*. A value that the digest leaves out is *missing*; the object may
//! state an `error` or a `data_error` instead. Values that libhdf5 could not read are not compared,
//! and some keys are only informational.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The value is missing.
    Missing,
    /// The value is different.
    Wrong,
}

/// A difference between the truth and the digest.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The path of the HDF5 object, or `(file)`.
    pub object: String,
    /// The path of the value in the object's description, for example `attrs[units].data_sha256`.
    pub path: String,
    /// The kind of the difference.
    pub kind: Kind,
    /// The value in the truth; `None` for a value that only the digest has.
    pub truth: Option<Value>,
    /// The value in the digest.
    pub got: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Missing => "missing",
            Kind::Wrong => "wrong",
        };
        write!(
            f,
            "{} {}: {kind}: truth {} got {}",
            self.object,
            self.path,
            short(&self.truth),
            short(&self.got)
        )
    }
}

/// Formats a value as text of at most 80 characters.
fn short(value: &Option<Value>) -> String {
    let text = value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
    if text.chars().count() <= 80 { text } else { text.chars().take(79).chain(['…']).collect() }
}

/// The result of the comparison of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The number of objects without differences.
    pub right: usize,
    /// The number of objects with a wrong value.
    pub wrong: usize,
    /// The number of objects that only have missing values.
    pub missing: usize,
    /// All differences, in the order of the objects.
    pub differences: Vec<Difference>,
}

impl Comparison {
    /// Returns whether there are no differences.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.differences.is_empty()
    }

    /// Returns whether any value is wrong.
    #[must_use]
    pub fn has_wrong(&self) -> bool {
        self.differences.iter().any(|difference| difference.kind == Kind::Wrong)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        write!(f, "{} right, {} wrong, {} missing", self.right, self.wrong, self.missing)
    }
}

/// Compares two documents of the digest schema.
#[must_use]
pub fn compare(truth: &Value, got: &Value) -> Comparison {
    let mut result = Comparison::default();
    if truth.get("open_error").is_some() || truth.get("crash").is_some() {
        return result; // libhdf5 cannot read the file: there is no truth
    }
    let ours = objects(got);
    let theirs = objects(truth);
    let mut whole = Walk::default();
    if let Some(file) = truth.get("file") {
        let nothing = Value::Object(Map::new());
        whole.value(file, got.get("file").unwrap_or(&nothing), "file");
    }
    if truth.get("root_error").is_none() {
        whole.object_list(truth, &theirs, &ours);
    }
    result.differences.extend(whole.into_differences("(file)"));

    let mut by_path = BTreeMap::new();
    for object in ours {
        by_path.entry(text(object, "path")).or_insert(object);
    }
    for object in theirs {
        result.object(object, by_path.get(text(object, "path")).copied());
    }
    result
}

impl Comparison {
    /// Compares one object of the truth with the object of the digest.
    fn object(&mut self, truth: &Value, got: Option<&Value>) {
        if text(truth, "kind") == "error" {
            self.right += 1;
            return;
        }
        let mut walk = Walk::default();
        match got {
            None => walk.missing("(object)", &truth["kind"]),
            Some(got) => walk.value(truth, got, ""),
        }
        match walk.found.iter().map(|found| found.kind).max() {
            None => self.right += 1,
            Some(Kind::Wrong) => self.wrong += 1,
            Some(Kind::Missing) => self.missing += 1,
        }
        self.differences.extend(walk.into_differences(text(truth, "path")));
    }
}

/// Returns the objects of a document.
fn objects(document: &Value) -> Vec<&Value> {
    let list = document.get("objects").and_then(Value::as_array);
    list.into_iter().flatten().filter(|object| object.is_object()).collect()
}

/// Returns the text at a key; empty if there is none.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The comparison of one object. The differences have no object path yet.
#[derive(Default)]
struct Walk {
    found: Vec<Difference>,
}

impl Walk {
    fn into_differences(self, object: &str) -> impl Iterator<Item = Difference> {
        self.found.into_iter().map(move |found| Difference { object: object.to_owned(), ..found })
    }

    fn note(&mut self, path: &str, kind: Kind, truth: Option<Value>, got: Option<Value>) {
        self.found.push(Difference { object: String::new(), path: path.to_owned(), kind, truth, got });
    }

    fn missing(&mut self, path: &str, truth: &Value) {
        self.note(path, Kind::Missing, Some(truth.clone()), None);
    }

    fn wrong(&mut self, path: &str, truth: &Value, got: &Value) {
        self.note(path, Kind::Wrong, Some(truth.clone()), Some(got.clone()));
    }

    fn extra(&mut self, path: &str, got: Value) {
        self.note(path, Kind::Wrong, None, Some(got));
    }

    /// Compares two values recursively.
    fn value(&mut self, truth: &Value, got: &Value, path: &str) {
        match (truth, got) {
            (Value::Object(truth), Value::Object(got)) => self.keys(truth, got, path),
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    self.wrong(&format!("{path}.length"), &a.len().into(), &b.len().into());
                }
                for (i, (a, b)) in a.iter().zip(b).enumerate() {
                    self.value(a, b, &format!("{path}[{i}]"));
                }
            }
            _ if truth != got => self.wrong(path, truth, got),
            _ => {}
        }
    }

    /// Compares the keys of two objects.
    fn keys(&mut self, truth: &Map<String, Value>, got: &Map<String, Value>, path: &str) {
        for (key, value) in truth {
            let value_path = join(path, key);
            if is_informational(path, key) || truth.contains_key(&format!("{key}_error")) {
                continue;
            }
            match got.get(key) {
                None => self.missing(&value_path, value),
                Some(ours) if key == "links" || key == "attrs" => self.entries(value, ours, &value_path),
                Some(ours) => self.value(value, ours, &value_path),
            }
        }
        for key in ["committed", "external", "virtual", "comment"] {
            if let (Some(ours), false, false) =
                (got.get(key), truth.contains_key(key), truth.contains_key("error"))
            {
                self.extra(&join(path, key), ours.clone());
            }
        }
    }

    /// Compares two lists of links or attributes by the names of their entries.
    fn entries(&mut self, truth: &Value, got: &Value, path: &str) {
        let (Value::Array(truth), Value::Array(got)) = (truth, got) else {
            return self.value(truth, got, path);
        };
        let names: Vec<&str> = truth.iter().map(|entry| text(entry, "name")).collect();
        let ours: Vec<&str> = got.iter().map(|entry| text(entry, "name")).collect();
        for entry in truth {
            let name = text(entry, "name");
            let value_path = format!("{path}[{name}]");
            match got.iter().find(|ours| text(ours, "name") == name) {
                None => self.missing(&value_path, &Value::from("(entry)")),
                Some(_) if entry.get("error").is_some() => {}
                Some(ours) => self.value(entry, ours, &value_path),
            }
        }
        self.list(&names, &ours, path);
    }

    /// Compares the lists of objects.
    fn object_list(&mut self, document: &Value, theirs: &[&Value], ours: &[&Value]) {
        let paths = |list: &[&'_ Value]| -> Vec<String> {
            list.iter().map(|object| text(object, "path").to_owned()).collect()
        };
        let (theirs_paths, ours_paths) = (paths(theirs), paths(ours));
        let incomplete = document.get("truncated").is_some()
            || theirs.iter().any(|o| o.get("links_error").is_some() || text(o, "kind") == "error");
        if incomplete && ours_paths.iter().any(|path| !theirs_paths.contains(path)) {
            return;
        }
        self.list(&theirs_paths, &ours_paths, "objects");
    }

    /// Checks that `got` has no names that `truth` does not have, and that the names have the same
    /// order.
    fn list<S: AsRef<str>>(&mut self, truth: &[S], got: &[S], path: &str) {
        let truth: Vec<&str> = truth.iter().map(AsRef::as_ref).collect();
        let got: Vec<&str> = got.iter().map(AsRef::as_ref).collect();
        let known: BTreeSet<&str> = truth.iter().copied().collect();
        let extra: Vec<&str> = got.iter().copied().filter(|name| !known.contains(name)).take(5).collect();
        if !extra.is_empty() {
            self.extra(path, extra.into());
        } else if truth.len() == got.len()
            && let Some((a, b)) = truth.iter().zip(&got).find(|(a, b)| a != b)
        {
            self.wrong(&format!("{path}.order"), &Value::from(*a), &Value::from(*b));
        }
    }
}

/// Appends a key to a path.
fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns whether a value is informational: it is not compared.
fn is_informational(path: &str, key: &str) -> bool {
    match key {
        "error" | "data_skipped" | "header" | "num_chunks" | "storage_size" | "data_offset" => true,
        "superblock_ext_size" | "sohm_version" | "sohm_index_size" | "sohm_heap_size" | "open_mode" => {
            path == "file"
        }
        "name" => path.contains("filters["),
        "time" | "alloc" => path.ends_with("fill"),
        _ => key.ends_with("_error"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(dataset: Value) -> Value {
        json!({
            "schema": 1,
            "file": {"superblock_version": 0, "open_mode": "rdonly"},
            "objects": [
                {"path": "/", "kind": "group", "links": [{"name": "d", "kind": "hard", "object": "/d"}], "attrs": []},
                dataset,
            ],
        })
    }

    fn dataset() -> Value {
        json!({
            "path": "/d", "kind": "dataset", "shape": [2, 3], "data_sha256": "ab", "header": {"nmesgs": 4},
            "filters": [{"id": 1, "flags": 1, "cd_values": [6], "name": "deflate"}],
            "fill": {"status": "default", "time": "ifset"},
            "attrs": [{"name": "a", "data_len": 4}, {"name": "b", "data_len": 8}],
        })
    }

    fn changed(change: impl FnOnce(&mut Value)) -> Comparison {
        let mut ours = dataset();
        change(&mut ours);
        compare(&document(dataset()), &document(ours))
    }

    fn lines(result: &Comparison) -> Vec<String> {
        result.differences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_same_is_equal() {
        let result = changed(|_| {});
        assert!(result.is_equal() && result.right == 2, "{result}");
    }

    #[test]
    fn another_value_is_wrong_and_says_where() {
        let result = changed(|d| d["shape"][1] = json!(4));
        assert_eq!(lines(&result), ["/d shape[1]: wrong: truth 3 got 4"]);
        assert_eq!((result.right, result.wrong, result.missing), (1, 1, 0));
    }

    #[test]
    fn true_is_not_one() {
        assert!(changed(|d| d["shape"][0] = json!(true)).has_wrong());
    }

    #[test]
    fn a_value_left_out_is_missing() {
        let result = changed(|d| {
            d.as_object_mut().unwrap().remove("data_sha256");
            d["data_error"] = json!("unsupported filter");
        });
        assert_eq!(lines(&result), ["/d data_sha256: missing: truth \"ab\" got nothing"]);
        assert_eq!((result.right, result.wrong, result.missing), (1, 0, 1));
    }

    #[test]
    fn informational_keys_are_not_compared() {
        let result = changed(|d| {
            d.as_object_mut().unwrap().remove("header");
            d["filters"][0]["name"] = json!("gzip");
            d["fill"]["time"] = json!("never");
        });
        assert!(result.is_equal(), "{result}");
    }

    #[test]
    fn attributes_are_matched_by_name() {
        let result = changed(|d| {
            d["attrs"] = json!([{"name": "b", "data_len": 9}, {"name": "c", "data_len": 1}]);
        });
        assert_eq!(
            lines(&result),
            [
                "/d attrs[a]: missing: truth \"(entry)\" got nothing",
                "/d attrs[b].data_len: wrong: truth 8 got 9",
                "/d attrs: wrong: truth nothing got [\"c\"]",
            ]
        );
        let swapped = changed(|d| d["attrs"].as_array_mut().unwrap().reverse());
        assert_eq!(lines(&swapped), ["/d attrs.order: wrong: truth \"a\" got \"b\""]);
    }

    #[test]
    fn too_much_is_wrong() {
        assert!(changed(|d| d["comment"] = json!("invented")).has_wrong());
        let mut ours = document(dataset());
        ours["objects"].as_array_mut().unwrap().push(json!({"path": "/x", "kind": "group"}));
        let result = compare(&document(dataset()), &ours);
        assert_eq!(lines(&result), ["(file) objects: wrong: truth nothing got [\"/x\"]"]);
    }

    #[test]
    fn an_object_left_out_is_missing() {
        let mut ours = document(dataset());
        ours["objects"].as_array_mut().unwrap().pop();
        let result = compare(&document(dataset()), &ours);
        assert_eq!(lines(&result), ["/d (object): missing: truth \"dataset\" got nothing"]);
    }

    #[test]
    fn what_libhdf5_could_not_read_is_not_held_against_us() {
        let mut truth = document(dataset());
        truth["objects"][1]["attrs_error"] = json!("broken");
        truth["objects"][1]["data_error"] = json!("broken");
        let mut ours = document(dataset());
        ours["objects"][1]["attrs"] = json!([]);
        assert!(compare(&truth, &ours).is_equal());
        assert!(compare(&json!({"open_error": "no"}), &json!({})).is_equal());
    }

    #[test]
    fn an_empty_answer_is_not_equal() {
        assert!(!compare(&document(dataset()), &json!({})).is_equal());
    }
}
