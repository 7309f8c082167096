//! Identifiers as arguments: predefined ones, ones that earlier calls returned, and invalid ones.

use crate::calls::names::predefined;
use crate::calls::prototypes::Prototype;
use crate::calls::state::{self, below, byte, one_of};

/// Kinds of identifiers, as `H5I_type_t` numbers them.
pub(crate) mod kind {
    pub(crate) const FILE: i64 = 1;
    pub(crate) const GROUP: i64 = 2;
    pub(crate) const DATATYPE: i64 = 3;
    pub(crate) const DATASPACE: i64 = 4;
    pub(crate) const DATASET: i64 = 5;
    pub(crate) const ATTRIBUTE: i64 = 7;
    pub(crate) const DRIVER: i64 = 8;
    pub(crate) const CONNECTOR: i64 = 9;
    pub(crate) const PROPERTY_CLASS: i64 = 10;
    pub(crate) const PROPERTY_LIST: i64 = 11;
    pub(crate) const ERROR_CLASS: i64 = 12;
    pub(crate) const ERROR_MESSAGE: i64 = 13;
    pub(crate) const ERROR_STACK: i64 = 14;
    pub(crate) const ITERATOR: i64 = 15;
    pub(crate) const EVENT_SET: i64 = 16;
}

use kind::{
    ATTRIBUTE, CONNECTOR, DATASET, DATASPACE, DATATYPE, DRIVER, ERROR_CLASS, ERROR_MESSAGE, ERROR_STACK,
    EVENT_SET, FILE, GROUP, ITERATOR, PROPERTY_CLASS, PROPERTY_LIST,
};

/// The position of the kind in an identifier.
const KIND_SHIFT: u32 = 56;

/// Parts of names of parameters, and the kinds of identifiers that fit. The first row decides.
const KINDS: &[(&str, &[i64])] = &[
    ("sel_iter", &[ITERATOR]),
    ("mem_space", &[DATASPACE]),
    ("space", &[DATASPACE]),
    ("es_id", &[EVENT_SET]),
    ("stack", &[ERROR_STACK]),
    ("driver_id", &[DRIVER]),
    ("connector", &[CONNECTOR]),
    ("vol_id", &[CONNECTOR]),
    ("pclass", &[PROPERTY_CLASS]),
    ("parent", &[PROPERTY_CLASS, DATATYPE]),
    ("cls", &[PROPERTY_CLASS, ERROR_CLASS]),
    ("class_id", &[ERROR_CLASS, PROPERTY_CLASS]),
    ("maj", &[ERROR_MESSAGE]),
    ("min_id", &[ERROR_MESSAGE]),
    ("msg", &[ERROR_MESSAGE]),
    ("err_id", &[ERROR_MESSAGE]),
    ("type", &[DATATYPE]),
    ("base", &[DATATYPE]),
    ("attr_id", &[ATTRIBUTE]),
    ("dset", &[DATASET]),
    ("did", &[DATASET]),
    ("dataset", &[DATASET]),
    ("pl_id", &[PROPERTY_LIST]),
    ("plist", &[PROPERTY_LIST]),
    ("fapl", &[PROPERTY_LIST]),
    ("file", &[FILE, GROUP]),
    ("group", &[GROUP]),
    ("grp", &[GROUP, FILE]),
    ("loc", &[FILE, GROUP, DATASET]),
    ("child", &[FILE]),
    ("obj", &[GROUP, DATASET, DATATYPE, FILE, ATTRIBUTE]),
    ("oid", &[GROUP, DATASET, DATATYPE]),
];

/// Kinds of parameters without a telling name, by the start of the function's name.
const PREFIXES: &[(&str, &[i64])] =
    &[("H5T", &[DATATYPE]), ("H5S", &[DATASPACE]), ("H5P", &[PROPERTY_LIST]), ("H5E", &[ERROR_STACK])];

/// Parts of names of parameters, and names of the classes of property lists that fit, as the
/// predefined lists and classes have them.
const LISTS: &[(&str, &[&str])] = &[
    ("fapl", &["FILE_ACCESS"]),
    ("fcpl", &["FILE_CREATE"]),
    ("dcpl", &["DATASET_CREATE"]),
    ("dapl", &["DATASET_ACCESS"]),
    ("dxpl", &["DATASET_XFER"]),
    ("lcpl", &["LINK_CREATE"]),
    ("lapl", &["LINK_ACCESS"]),
    ("gcpl", &["GROUP_CREATE"]),
    ("ocpypl", &["OBJECT_COPY"]),
    ("acpl", &["ATTRIBUTE_CREATE"]),
    ("file.h", &["FILE_ACCESS", "FILE_CREATE"]),
    ("dataset.h", &["DATASET_CREATE", "DATASET_ACCESS", "DATASET_XFER"]),
    ("object.h", &["OBJECT_COPY", "LINK_CREATE", "LINK_ACCESS", "GROUP_CREATE", "DATASET_CREATE"]),
    ("public.h", &["DATASET_CREATE", "DATASET_XFER", "FILE_ACCESS", "GROUP_CREATE"]),
];

/// Returns the kind of an identifier.
pub(crate) fn kind_of(id: i64) -> i64 {
    id >> KIND_SHIFT
}

/// Returns an identifier for a parameter of a function.
pub(crate) fn choose(prototype: &Prototype, parameter: &str) -> u64 {
    let id = match byte() {
        0..200 => fitting(prototype, parameter),
        200..225 => any(),
        225..230 => one_of(predefined()).1,
        230..240 => 0,
        240..244 => -1,
        244..250 => i64::from(byte()),
        _ => i64::from(byte()) << KIND_SHIFT | i64::from(byte()),
    };
    id as u64
}

/// Returns one of the identifiers that calls returned, of any kind.
fn any() -> i64 {
    let ids = state::with(|state| state.ids.clone());
    if ids.is_empty() { 0 } else { ids[below(ids.len())] }
}

/// Returns the newest or another identifier of a kind that the parameter takes, or 0.
fn fitting(prototype: &Prototype, parameter: &str) -> i64 {
    let function = prototype.name;
    let by_prefix = PREFIXES.iter().find(|(prefix, _)| function.starts_with(prefix));
    let is_list = LISTS.iter().take(10).any(|(part, _)| parameter.contains(part));
    let by_name = KINDS.iter().find(|(part, _)| parameter.contains(part));
    let by_name = by_name.filter(|(part, _)| !(function.starts_with("H5T") && *part == "obj"));
    let kinds = match by_name.or(by_prefix) {
        _ if is_list => &[PROPERTY_LIST][..],
        Some((_, kinds)) => kinds,
        None => return any(),
    };
    if kinds == [PROPERTY_LIST] {
        return list(prototype, parameter);
    }
    if kinds == [DATATYPE] && byte() < 96 || matches!(kinds[0], DRIVER | CONNECTOR | PROPERTY_CLASS) {
        return of_kinds(kinds, predefined().iter().map(|(_, id)| *id));
    }
    of_kinds(kinds, state::with(|state| state.ids.clone()).into_iter())
}

fn of_kinds(kinds: &[i64], ids: impl Iterator<Item = i64>) -> i64 {
    let ids: Vec<i64> = ids.filter(|id| kinds.contains(&kind_of(*id))).collect();
    match (ids.last(), byte()) {
        (None, _) => 0,
        (Some(last), 0..80) => *last,
        (_, at) => ids[usize::from(at) % ids.len()],
    }
}

/// Returns a property list of a class that the parameter takes.
fn list(prototype: &Prototype, parameter: &str) -> i64 {
    let by_name = LISTS.iter().take(10).find(|(part, _)| parameter.contains(part));
    let by_header = LISTS.iter().skip(10).find(|(part, _)| prototype.header.contains(part));
    let is_property = prototype.name.starts_with("H5P");
    let Some((_, classes)) = by_name.or(by_header) else { return any() };
    let class = one_of(classes);
    if !is_property && byte() < 150 {
        return 0;
    }
    let class =
        predefined().iter().find(|(name, _)| *name == format!("H5P_CLS_{class}_ID_g")).map_or(0, |row| row.1);
    let ids = state::with(|state| state.ids.clone());
    let fits = |id: &i64| {
        kind_of(*id) == PROPERTY_LIST && super::query("H5Pisa_class", &[*id as u64, class as u64]) == 1
    };
    let lists: Vec<i64> = ids.into_iter().filter(fits).collect();
    if lists.is_empty() { 0 } else { one_of(&lists) }
}
