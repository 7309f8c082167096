//! Tests of the errors for types that cannot be elements.

use syn::DeriveInput;

/// Derives `H5Type` for the type in `source` and expects the error `message` at the text `at`.
#[track_caller]
fn refused(source: &str, at: &str, message: &str) {
    let input: DeriveInput = syn::parse_str(source).unwrap();
    let error = super::expand(&input).unwrap_err();
    assert_eq!(error.to_string(), message, "{source}");
    assert_eq!(error.span().source_text().as_deref(), Some(at), "{source}");
    let compiled = error.into_compile_error().to_string();
    assert!(compiled.contains("compile_error"), "{compiled}");
}

#[test]
fn an_enumeration_needs_a_fixed_width() {
    let message = "an enumeration needs a base type of fixed width, as in `#[repr(u8)]`";
    refused("enum Color { Red, Green }", "Color", message);
    refused("#[repr(usize)] enum Color { Red, Green }", "Color", message);
    refused("#[repr(C)] enum Color { Red, Green }", "Color", message);
}

#[test]
fn values_of_an_enumeration_have_no_fields() {
    let message = "a value of an enumeration cannot have fields";
    refused("#[repr(u8)] enum Shape { Point, Circle(f32) }", "Circle(f32)", message);
    refused("#[repr(u8)] enum Shape { Point { x: f32 } }", "Point { x: f32 }", message);
}

#[test]
fn members_need_names() {
    let unnamed =
        "only a struct with exactly one field may have an unnamed field: members of a compound need names";
    refused("struct Point(f32, f32);", "Point", unnamed);
    refused("struct Nothing;", "Nothing", "a compound needs at least one member");
    refused("struct Empty {}", "Empty", "a compound needs at least one member");
}

#[test]
fn names_differ_and_are_not_empty() {
    refused(
        "struct Point { x: f32, #[hyperslab(rename = \"x\")] y: f32 }",
        "y",
        "two members have the same name `x`",
    );
    refused(
        "#[repr(u8)] enum Color { Red, #[hyperslab(rename = \"\")] Green }",
        "Green",
        "a name must not be empty",
    );
}

#[test]
fn a_union_is_no_element() {
    refused("union Bits { float: f32, integer: u32 }", "Bits", "a union cannot be an element");
}

#[test]
fn options_are_known() {
    refused(
        "#[hyperslab(rename = \"point\")] struct Point { x: f32 }",
        "rename",
        "unknown option: only `crate = \"…\"` is allowed here",
    );
    refused(
        "struct Point { #[hyperslab(name = \"X\")] x: f32 }",
        "name",
        "unknown option: only `rename = \"…\"` is allowed here",
    );
}

#[test]
fn sound_types_are_elements() {
    let input: DeriveInput =
        syn::parse_str("#[hyperslab(crate = \"own::path\")] struct Point { x: f32 }").unwrap();
    let code = super::expand(&input).unwrap();
    assert!(code.to_string().contains("impl own :: path :: H5Type for Point"), "{code}");
}
