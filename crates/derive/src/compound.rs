//! The implementation for structs: a compound of the named fields, or the type of the only unnamed
//! field.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Error, FieldsNamed, FieldsUnnamed, Ident, Path, Result, Type};

use crate::attribute::Options;
use crate::check_names;

/// Returns the body of the `H5Type` implementation for a struct: a compound datatype of the fields,
/// packed in their order.
pub(crate) fn body(ident: &Ident, fields: &FieldsNamed, krate: &Path) -> Result<TokenStream> {
    let fields: Vec<(&Ident, &Type, String)> = fields
        .named
        .iter()
        .filter_map(|field| field.ident.as_ref().map(|ident| (ident, field)))
        .map(|(ident, field)| Ok((ident, &field.ty, Options::name(&field.attrs, ident)?)))
        .collect::<Result<_>>()?;
    if fields.is_empty() {
        return Err(Error::new_spanned(ident, "a compound needs at least one member"));
    }
    check_names(fields.iter().map(|(ident, _, name)| (name.as_str(), ident as &dyn ToTokens)))?;
    let idents: Vec<&Ident> = fields.iter().map(|(ident, ..)| *ident).collect();
    let types: Vec<&Type> = fields.iter().map(|(_, ty, _)| *ty).collect();
    let names = fields.iter().map(|(.., name)| name.as_str());
    let parts: Vec<Ident> = (0..fields.len()).map(|index| format_ident!("part_{index}")).collect();
    Ok(quote! {
        const SIZE: usize = 0 #(+ <#types as #krate::H5Type>::SIZE)*;

        fn datatype() -> #krate::Datatype {
            #krate::Datatype::packed([#((#names, <#types as #krate::H5Type>::datatype())),*])
        }

        #[inline]
        fn decode(element: &[u8]) -> ::core::option::Option<Self> {
            #(let (#parts, element) = element.split_at_checked(<#types as #krate::H5Type>::SIZE)?;)*
            let _ = element;
            ::core::option::Option::Some(Self { #(#idents: <#types as #krate::H5Type>::decode(#parts)?),* })
        }

        #[inline]
        fn encode(&self, element: &mut [u8]) {
            #(
                let ::core::option::Option::Some((part, element)) =
                    element.split_at_mut_checked(<#types as #krate::H5Type>::SIZE)
                else {
                    return;
                };
                <#types as #krate::H5Type>::encode(&self.#idents, part);
            )*
            let _ = element;
        }
    })
}

/// Returns the body of the `H5Type` implementation for a newtype, which delegates to the type of
/// the only field.
pub(crate) fn newtype(ident: &Ident, fields: &FieldsUnnamed, krate: &Path) -> Result<TokenStream> {
    let mut all = fields.unnamed.iter();
    let (Some(field), None) = (all.next(), all.next()) else {
        let message = "only a struct with exactly one field may have an unnamed field: members of a compound need names";
        return Err(Error::new_spanned(ident, message));
    };
    if let Some(attribute) = field.attrs.iter().find(|attribute| attribute.path().is_ident("hyperslab")) {
        return Err(Error::new_spanned(attribute, "an unnamed field has no options"));
    }
    let ty = &field.ty;
    Ok(quote! {
        const SIZE: usize = <#ty as #krate::H5Type>::SIZE;

        fn datatype() -> #krate::Datatype {
            <#ty as #krate::H5Type>::datatype()
        }

        #[inline]
        fn decode(element: &[u8]) -> ::core::option::Option<Self> {
            <#ty as #krate::H5Type>::decode(element).map(Self)
        }

        #[inline]
        fn encode(&self, element: &mut [u8]) {
            <#ty as #krate::H5Type>::encode(&self.0, element)
        }
    })
}
