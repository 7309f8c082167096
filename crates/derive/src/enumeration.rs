//! The implementation for enums without fields: enumerations of named integers.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, DataEnum, DeriveInput, Error, Fields, Ident, Path, Result};

use crate::attribute::Options;
use crate::check_names;

/// The integer types that an enumeration datatype may have as its base: those with the same width
/// on every machine.
const BASES: &[&str] = &["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];

/// Returns the body of the `H5Type` implementation for a Rust enum: an enumeration datatype.
pub(crate) fn body(input: &DeriveInput, data: &DataEnum, krate: &Path) -> Result<TokenStream> {
    let base = base(input)?;
    if data.variants.is_empty() {
        return Err(Error::new_spanned(&input.ident, "an enumeration needs at least one value"));
    }
    let mut variants: Vec<(&Ident, String)> = Vec::with_capacity(data.variants.len());
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a value of an enumeration cannot have fields"));
        }
        variants.push((&variant.ident, Options::name(&variant.attrs, &variant.ident)?));
    }
    check_names(variants.iter().map(|(ident, name)| (name.as_str(), ident as &dyn ToTokens)))?;
    let idents: Vec<&Ident> = variants.iter().map(|(ident, _)| *ident).collect();
    let names = variants.iter().map(|(_, name)| name.as_str());
    Ok(quote! {
        const SIZE: usize = <#base as #krate::H5Type>::SIZE;

        fn datatype() -> #krate::Datatype {
            let member = |name: &str, value: #base| #krate::datatype::EnumerationMember {
                name: name.as_bytes().to_vec(),
                value: <#base as #krate::H5Type>::to_bytes(&[value]).into_owned(),
            };
            #krate::Datatype::enumeration(
                <#base as #krate::H5Type>::datatype(),
                ::std::vec![#(member(#names, Self::#idents as #base)),*],
            )
        }

        #[inline]
        fn decode(element: &[u8]) -> ::core::option::Option<Self> {
            let value = <#base as #krate::H5Type>::decode(element)?;
            #(
                if value == Self::#idents as #base {
                    return ::core::option::Option::Some(Self::#idents);
                }
            )*
            ::core::option::Option::None
        }

        #[inline]
        fn encode(&self, element: &mut [u8]) {
            <#base as #krate::H5Type>::encode(&(*self as #base), element)
        }
    })
}

/// Returns the integer type that the `#[repr(…)]` of a Rust enum names.
fn base(input: &DeriveInput) -> Result<Ident> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| is_repr(attribute)) {
        attribute.parse_nested_meta(|meta| {
            if let Some(ident) = meta.path.get_ident()
                && BASES.iter().any(|base| ident == base)
            {
                found = Some(ident.clone());
            }
            // Options like `align(…)` have an argument in parentheses.
            if meta.input.peek(syn::token::Paren) {
                meta.input.parse::<proc_macro2::TokenTree>()?;
            }
            Ok(())
        })?;
    }
    found.ok_or_else(|| {
        let message = "an enumeration needs a base type of fixed width, as in `#[repr(u8)]`";
        Error::new_spanned(&input.ident, message)
    })
}

fn is_repr(attribute: &Attribute) -> bool {
    attribute.path().is_ident("repr")
}
