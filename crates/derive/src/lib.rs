//! The derive macro `H5Type` of the crate `hyperslab`, which documents it. The API has no stability
//! promise: programs use the crate `hyperslab`.
//!
//! The generated code is safe: it decodes values field by field from packed elements. Therefore
//! padding, unknown values of enumerations and the byte order do not depend on the memory layout.
#![forbid(unsafe_code)]

mod attribute;
mod compound;
mod enumeration;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Path, Result, parse_macro_input, parse_quote};

use attribute::Options;

/// Derives `hyperslab::H5Type` for a struct or an enum, so that its values can be elements of
/// datasets and attributes.
///
/// - A struct with named fields becomes a compound. The name of a member is the field's name, or
///   the name in `#[hyperslab(rename = "…")]`. The fields have types that implement `H5Type`:
///   numbers, arrays, other structs. A compound in a file may have more members, another order, and
///   other number types. Members that it does not have are read as zero bytes.
/// - A struct with one unnamed field has the datatype of the field.
/// - An enum without fields, with `#[repr(u8)]` or another integer of fixed width, becomes an
///   enumeration. Values are matched by name: the variant's name, or the name in
///   `#[hyperslab(rename = "…")]`. Reading a value without a matching name is an error.
///
/// The type must be `Copy`. `#[hyperslab(crate = "path")]` on the type states the path of the crate
/// `hyperslab`, if it is not `::hyperslab`.
///
/// ```
/// #![forbid(unsafe_code)]
/// use hyperslab::H5Type;
///
/// #[derive(Debug, Clone, Copy, PartialEq, H5Type)]
/// #[repr(u8)]
/// enum Weather {
///     #[hyperslab(rename = "SUN")]
///     Sun = 1,
///     #[hyperslab(rename = "RAIN")]
///     Rain = 2,
/// }
///
/// #[derive(Debug, Clone, Copy, PartialEq, H5Type)]
/// struct Day {
///     #[hyperslab(rename = "temp")]
///     temperatures: [f32; 2],
///     weather: Weather,
/// }
///
/// let days = [Day { temperatures: [1.5, 9.0], weather: Weather::Rain }];
/// assert_eq!(Day::from_bytes(&Day::to_bytes(&days))?, days);
/// let text = "compound { temp: array [2] of f32, weather: enum u8 { SUN, RAIN } }";
/// assert_eq!(Day::datatype().to_string(), text);
/// # Ok::<(), hyperslab::datatype::convert::ConvertError>(())
/// ```
///
/// Types that cannot be elements do not compile:
/// ```compile_fail,E0277
/// #[derive(Clone, Copy, hyperslab::H5Type)]
/// struct Row {
///     name: &'static str,
/// }
/// ```
/// ```compile_fail,E0277
/// #[derive(hyperslab::H5Type)]
/// struct NotCopy {
///     id: u32,
/// }
/// ```
/// ```compile_fail
/// #[derive(Clone, Copy, hyperslab::H5Type)]
/// #[repr(usize)]
/// enum WithoutFixedWidth {
///     Red,
///     Green,
/// }
/// ```
#[proc_macro_derive(H5Type, attributes(hyperslab))]
pub fn derive(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let options = Options::of_type(&input.attrs)?;
    let krate = options.krate.unwrap_or_else(|| parse_quote!(::hyperslab));
    let body = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => compound::body(&input.ident, fields, &krate)?,
            Fields::Unnamed(fields) => compound::newtype(&input.ident, fields, &krate)?,
            Fields::Unit => {
                return Err(Error::new_spanned(&input.ident, "a compound needs at least one member"));
            }
        },
        Data::Enum(data) => enumeration::body(input, data, &krate)?,
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "a union cannot be an element")),
    };
    Ok(implementation(input, &krate, &body))
}

/// Returns the `impl` block of `H5Type` with the body `body`. Type parameters must implement
/// `H5Type`.
fn implementation(input: &DeriveInput, krate: &Path, body: &TokenStream) -> TokenStream {
    let mut generics = input.generics.clone();
    let parameters: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    if !parameters.is_empty() {
        let clause = generics.make_where_clause();
        for parameter in parameters {
            clause.predicates.push(parse_quote!(#parameter: #krate::H5Type));
        }
    }
    let (of_impl, of_type, clause) = generics.split_for_impl();
    let name = &input.ident;
    quote! {
        #[automatically_derived]
        impl #of_impl #krate::H5Type for #name #of_type #clause {
            #body
        }
    }
}

/// Checks that no name of a field or variant is empty, and that all names differ.
fn check_names<'a>(names: impl Iterator<Item = (&'a str, &'a dyn ToTokens)>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for (name, item) in names {
        if name.is_empty() {
            return Err(Error::new_spanned(item, "a name must not be empty"));
        }
        if !seen.insert(name.to_owned()) {
            return Err(Error::new_spanned(item, format!("two members have the same name `{name}`")));
        }
    }
    Ok(())
}
