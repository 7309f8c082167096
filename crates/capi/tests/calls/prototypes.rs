//! The prototypes of the exported functions, from the headers.

use std::collections::BTreeMap;
use std::path::Path;

use crate::calls::names::{FUNCTIONS, Function};

/// Prototypes that the headers do not have: functions for macros, and functions of other releases.
const OTHERS: &str = "
H5_DLL herr_t H5Dread_chunk(hid_t dset_id, hid_t dxpl_id, const hsize_t *offset,
    uint32_t *filters, void *buf);
H5_DLL hid_t H5FD_core_init(void);
H5_DLL hid_t H5FD_family_init(void);
H5_DLL hid_t H5FD_log_init(void);
H5_DLL hid_t H5FD_multi_init(void);
H5_DLL hid_t H5FD_onion_init(void);
H5_DLL hid_t H5FD_sec2_init(void);
H5_DLL hid_t H5FD_splitter_init(void);
H5_DLL hid_t H5FD_stdio_init(void);
H5_DLL hid_t H5FDperform_init(H5FD_init_t init);
H5_DLL H5I_type_t H5Iregister_type(size_t hash_size, unsigned reserved, H5I_free_t free_func);
H5_DLL hid_t H5Tdecode(const void *buf);
H5_DLL hid_t H5VL_native_register(void);
H5_DLL hid_t H5VL_pass_through_register(void);
H5_DLL herr_t H5VLfinish_lib_state(void);
H5_DLL hid_t H5VLpeek_connector_id_by_name(const char *name);
H5_DLL hid_t H5VLpeek_connector_id_by_value(H5VL_class_value_t value);
H5_DLL herr_t H5VLstart_lib_state(void);
";

/// Types of 64 bits.
const WIDE: &[&str] = &[
    "size_t",
    "ssize_t",
    "hsize_t",
    "hssize_t",
    "haddr_t",
    "uint64_t",
    "int64_t",
    "HDoff_t",
    "unsigned long",
    "unsigned long long",
];

/// The sizes of types to which pointers to single values lead.
const SIZES: &[(&str, usize)] = &[
    ("H5A_info_t", 24),
    ("H5L_info1_t", 32),
    ("H5L_info2_t", 40),
    ("H5O_info1_t", 160),
    ("H5O_info2_t", 72),
    ("H5O_native_info_t", 96),
    ("H5O_token_t", 16),
    ("H5G_info_t", 32),
    ("H5G_stat_t", 80),
    ("H5F_info1_t", 32),
    ("H5F_info2_t", 80),
    ("H5F_retry_info_t", 176),
    ("H5AC_cache_config_t", 1216),
    ("H5AC_cache_image_config_t", 12),
    ("H5FD_onion_fapl_info_t", 296),
    ("bool", 1),
    ("H5FD_file_image_callbacks_t", 56),
    ("H5FD_splitter_vfd_config_t", 8224),
    ("double", 8),
];

/// Parameters that are arrays although their type does not say so.
const ARRAYS: &[&str] =
    &["off", "len", "obj_id_list", "sect_info", "memb_map", "memb_fapl", "memb_addr", "connector_ids"];

/// The kind of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Id,
    Text,
    TextBuffer,
    /// An integer of 32 bits or an enumerator.
    Integer,
    Wide,
    Flag,
    Number,
    /// A pointer to one value of this size.
    Single(usize),
    /// A pointer to an array of numbers of this size.
    Array(usize),
    /// A pointer to an identifier that the function returns.
    IdResult,
    /// A pointer to identifiers.
    Ids,
    Bytes,
    Reference,
    Callback(String),
    Driver,
    Stream,
    /// A token by value, in two words.
    Token,
    /// A pointer to a struct that contains pointers. It is null.
    Null,
}

/// A parameter.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_constant: bool,
}

/// An exported function with its parameters.
pub(crate) struct Prototype {
    pub(crate) name: &'static str,
    pub(crate) function: Function,
    /// The type of the result, as in C.
    pub(crate) result: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The name of the header.
    pub(crate) header: String,
}

/// Returns the prototypes of all exported functions.
pub(crate) fn load(include: &Path) -> Vec<Prototype> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(include).expect("the headers") {
        let path = entry.expect("the headers").path();
        let text = std::fs::read_to_string(&path).expect("a header");
        let header = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        collect(&text, &header, &mut found);
    }
    collect(OTHERS, "", &mut found);
    let prototype = |(name, function): &(&'static str, Function)| {
        let (result, parameters, header) =
            found.get(*name).unwrap_or_else(|| panic!("no prototype of {name}")).clone();
        Prototype { name, function: *function, result, parameters, header }
    };
    FUNCTIONS.iter().map(prototype).collect()
}

/// The type of the result, the parameters and the header.
type Found = (String, Vec<Parameter>, String);

fn collect(text: &str, header: &str, found: &mut BTreeMap<String, Found>) {
    let without = without_comments(text);
    let lines = without.lines().filter(|line| !line.trim_start().starts_with('#'));
    let text = lines.collect::<Vec<_>>().join(" ");
    for declaration in text.split("H5_DLL ").skip(1) {
        let Some((declaration, _)) = declaration.split_once(';') else { continue };
        let Some((head, parameters)) = declaration.split_once('(') else { continue };
        let parameters = parameters.trim_end().trim_end_matches(')');
        let head = head.trim();
        let name = head.rsplit([' ', '*']).next().unwrap_or_default();
        let result = head.strip_suffix(name).unwrap_or_default().trim().to_owned();
        let parameters = parameters
            .split(',')
            .map(str::trim)
            .filter(|text| !["void", "..."].contains(text))
            .map(parameter);
        found.insert(name.to_owned(), (result, parameters.collect(), header.to_owned()));
    }
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, rest)| rest))
}

fn parameter(text: &str) -> Parameter {
    let words = text.replace('*', " * ").replace('[', " [");
    let mut words: Vec<&str> = words.split_whitespace().collect();
    let is_array = words.iter().any(|word| word.starts_with('['));
    words.retain(|word| !word.starts_with('[') && *word != "]");
    let name = words.pop().unwrap_or_default().to_owned();
    let stars = words.iter().filter(|word| **word == "*").count();
    let is_constant = words.contains(&"const");
    words.retain(|word| !["*", "const"].contains(word));
    let base = words.join(" ");
    let kind = kind(&base, &name, stars, is_array, is_constant);
    Parameter { name, kind, is_constant }
}

fn kind(base: &str, name: &str, stars: usize, is_array: bool, is_constant: bool) -> Kind {
    let is_many = is_array || ARRAYS.contains(&name);
    match (base, stars) {
        ("hid_t", 0) if !is_array => Kind::Id,
        ("hid_t", 1) if !is_many => Kind::IdResult,
        ("hid_t", _) => Kind::Ids,
        ("char", 1) if is_constant => Kind::Text,
        ("char", 0 | 1) => Kind::TextBuffer,
        ("bool", 0) => Kind::Flag,
        ("double", 0) => Kind::Number,
        ("void", 1) if !is_array => Kind::Bytes,
        ("H5R_ref_t", 1) => Kind::Reference,
        ("H5FD_t", 1) => Kind::Driver,
        ("FILE", 1) => Kind::Stream,
        ("H5O_token_t", 0) => Kind::Token,
        (_, 0) if is_callback(base) => Kind::Callback(base.to_owned()),
        (_, 0) if !is_array => {
            if WIDE.contains(&base) {
                Kind::Wide
            } else {
                Kind::Integer
            }
        }
        // Arrays of pointers, and pointers that a function returns.
        ("char", 2) if name == "memb_name" && !is_constant => Kind::Array(8),
        ("void" | "char", _) if is_array || is_constant || is_many => Kind::Null,
        (_, 2) => Kind::Single(8),
        (_, 1) if is_callback(base) => Kind::Single(8),
        _ => pointer(base, name, is_many, is_constant),
    }
}

fn pointer(base: &str, name: &str, is_many: bool, is_constant: bool) -> Kind {
    let width = if WIDE.contains(&base) { 8 } else { 4 };
    let size = SIZES.iter().find(|(known, _)| *known == base).map(|(_, size)| *size);
    let is_number = WIDE.contains(&base) || ["unsigned", "unsigned int", "int", "uint32_t"].contains(&base);
    let is_enumerator = base.starts_with("H5") && base.ends_with("_t") && !base.contains("_info_t");
    match size {
        Some(size) => Kind::Single(size),
        None if is_number && (is_many || is_constant || name.contains("offset")) => Kind::Array(width),
        None if WIDE.contains(&base) => Kind::Single(8),
        None if is_number => Kind::Single(4),
        None if base == "H5F_sect_info_t" => Kind::Array(8),
        None if base.starts_with("H5VL") || base.contains("class") || base.contains("H5D_struct") => {
            Kind::Null
        }
        None if is_enumerator && is_many => Kind::Array(width),
        None if is_enumerator => Kind::Single(4),
        _ => Kind::Null,
    }
}

/// Returns whether a type is a pointer to a function.
fn is_callback(base: &str) -> bool {
    const OTHERS: &[&str] = &[
        "H5D_append_cb_t",
        "H5D_chunk_iter_op_t",
        "H5D_operator_t",
        "H5D_struct_chunk_iter_op_t",
        "H5E_auto1_t",
        "H5E_auto2_t",
        "H5E_walk1_t",
        "H5E_walk2_t",
        "H5F_flush_cb_t",
        "H5FD_init_t",
        "H5G_iterate_t",
        "H5L_elink_traverse_t",
        "H5L_iterate1_t",
        "H5L_iterate2_t",
        "H5A_operator1_t",
        "H5A_operator2_t",
        "H5MM_allocate_t",
        "H5MM_free_t",
        "H5I_free_t",
        "H5M_iterate_t",
        "H5O_iterate1_t",
        "H5O_iterate2_t",
        "H5O_mcdt_search_cb_t",
        "H5P_iterate_t",
        "H5T_conv_t",
        "H5VL_request_notify_t",
    ];
    base.ends_with("_func_t") || OTHERS.contains(&base)
}
