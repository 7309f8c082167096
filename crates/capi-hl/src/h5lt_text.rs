//! Datatypes as text (`H5LTtext_to_dtype`, `H5LTdtype_to_text`).

use std::ffi::c_int;

use crate::ctypes::{herr_t, hid_t};
use crate::ddl;
use crate::export;
use crate::failure::{Failure, Outcome};
use crate::pointer::{Out, Text, TextBuffer};

/// The data description language of HDF5, the only language that the library knows.
const DDL: c_int = 0;

export! {
    /// Creates the datatype that a text describes.
    fn H5LTtext_to_dtype(text: Text, lang_type: c_int) -> hid_t {
        let text = text.value("text")?;
        require_ddl(lang_type)?;
        Ok(ddl::parse::parse(text.to_bytes())?.release())
    }

    /// Describes a datatype. Without a buffer, only returns the size that the buffer needs.
    fn H5LTdtype_to_text(dtype: hid_t, str: TextBuffer, lang_type: c_int, len: Out<usize>) -> herr_t {
        require_ddl(lang_type)?;
        let text = ddl::write::text(dtype)?;
        match (str.is_null(), len.get()) {
            (true, Some(_)) => len.put(text.len() + 1),
            (false, Some(size)) => str.put(&text, size),
            (_, None) => return Err(Failure::bad_value("no length")),
        }
        Ok(0)
    }
}

fn require_ddl(language: c_int) -> Outcome<()> {
    if language == DDL { Ok(()) } else { Err(Failure::unsupported("only the language H5LT_DDL is known")) }
}
