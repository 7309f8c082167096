//! The derive macro `H5Type` of the crate `hyperslab`, where it is documented. No stability promise: use
//! the crate `hyperslab`.
//!
//! The code that it makes holds no `unsafe`: values are read field by field from packed elements, so padding,
//! unknown values of enumerations and byte order are no matter of memory layout.
#![forbid(unsafe_code)]

mod attribute;
mod compound;
mod enumeration;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Path, Result, parse_macro_input, parse_quote};

use attribute::Options;

/// Makes a struct or an enum a type of elements: a `hyperslab::H5Type`.
///
/// - A struct with named fields is a compound. Fields are members by their names or by
///   `#[hyperslab(rename = "…")]`; their types are again `H5Type`: numbers, arrays, other structs. A file's
///   compound may have more members, in another order and of other number types; members that it does not have
///   are zero bytes.
/// - A struct with one unnamed field is what the field is.
/// - An enum without fields, with `#[repr(u8)]` or another integer of fixed width, is an enumeration. Values are
///   matched by name, as the file spells it or by `#[hyperslab(rename = "…")]`; a value that has no such name is
///   an error where it is read.
///
/// The type must be `Copy`. `#[hyperslab(crate = "path")]` on the type says where the crate `hyperslab` is, if
/// not at `::hyperslab`.
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
/// What is no type of elements does not compile:
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
            Fields::Unit => return Err(Error::new_spanned(&input.ident, "a compound needs a member")),
        },
        Data::Enum(data) => enumeration::body(input, data, &krate)?,
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "a union is no type of elements")),
    };
    Ok(implementation(input, &krate, &body))
}

/// The `impl` around the body. Parameters of the type must be types of elements themselves.
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

/// The names must differ from each other, and none may be empty.
fn check_names<'a>(names: impl Iterator<Item = (&'a str, &'a dyn ToTokens)>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for (name, place) in names {
        if name.is_empty() {
            return Err(Error::new_spanned(place, "a name must not be empty"));
        }
        if !seen.insert(name.to_owned()) {
            return Err(Error::new_spanned(place, format!("there are two members of the name `{name}`")));
        }
    }
    Ok(())
}
