//! Descriptions of datatypes.

use std::ffi::c_uint;
use std::io::Write as _;

use crate::ctypes::{class, hid_t, hsize_t};
use crate::ddl::names;
use crate::failure::{Failure, Outcome, check, truth};
use crate::handle::Id;
use crate::object;
use crate::pointer::{Buffer, Out};
use crate::sys;

/// The spaces of a level.
const STEP: usize = 3;
/// The width of the names of an enumeration.
const NAME_WIDTH: usize = 16;

/// Returns the description of a datatype.
///
/// # Errors
/// Fails if the datatype is not valid.
pub fn text(datatype: hid_t) -> Outcome<Vec<u8>> {
    let mut writer = Writer { text: Vec::new(), indent: STEP };
    writer.datatype(datatype)?;
    Ok(writer.text)
}

/// A description that grows.
struct Writer {
    text: Vec<u8>,
    indent: usize,
}

impl Writer {
    fn put(&mut self, text: impl AsRef<[u8]>) {
        self.text.extend_from_slice(text.as_ref());
    }

    /// Starts a line.
    fn line(&mut self) {
        self.put("\n");
        self.text.resize(self.text.len() + self.indent, b' ');
    }

    /// Writes a name and a part in braces, whose lines have more indentation.
    fn braced(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<()> {
        self.put(name);
        self.put(" {");
        self.indent += STEP;
        body(self)?;
        self.indent -= STEP;
        self.line();
        self.put("}");
        Ok(())
    }

    fn datatype(&mut self, datatype: hid_t) -> Outcome<()> {
        match check(sys::H5Tget_class(datatype))? {
            class::INTEGER => self.predefined(datatype, "undefined integer"),
            class::FLOAT => self.predefined(datatype, "undefined float"),
            class::BITFIELD => self.predefined(datatype, "undefined bitfield"),
            class::TIME => {
                self.put("H5T_TIME: not yet implemented");
                Ok(())
            }
            class::STRING => self.braced("H5T_STRING", |it| it.string(datatype)),
            class::OPAQUE => self.braced("H5T_OPAQUE", |it| it.opaque(datatype)),
            class::COMPOUND => self.braced("H5T_COMPOUND", |it| it.compound(datatype)),
            class::REFERENCE => self.reference(datatype),
            class::ENUM => self.braced("H5T_ENUM", |it| it.enumeration(datatype)),
            class::VLEN => self.braced("H5T_VLEN", |it| it.base(datatype)),
            class::ARRAY => self.braced("H5T_ARRAY", |it| it.array(datatype)),
            class::COMPLEX => self.braced("H5T_COMPLEX", |it| it.base(datatype)),
            _ => Err(Failure::unsupported("the class of the datatype has no description")),
        }
    }

    /// Writes the name of a predefined datatype.
    fn predefined(&mut self, datatype: hid_t, otherwise: &str) -> Outcome<()> {
        for (name, id) in names::all() {
            if truth(sys::H5Tequal(datatype, id))? {
                self.put(name);
                return Ok(());
            }
        }
        self.put(otherwise);
        Ok(())
    }

    fn reference(&mut self, datatype: hid_t) -> Outcome<()> {
        self.put("H5T_REFERENCE { ");
        self.predefined(datatype, "undefined")?;
        self.put(" }");
        Ok(())
    }

    /// Writes the base of a datatype on a line of its own.
    fn base(&mut self, datatype: hid_t) -> Outcome<()> {
        self.line();
        self.datatype(Id::own(sys::H5Tget_super(datatype))?.get())
    }

    fn string(&mut self, datatype: hid_t) -> Outcome<()> {
        let is_variable = truth(sys::H5Tis_variable_str(datatype))?;
        let size = if is_variable { "H5T_VARIABLE".to_owned() } else { object::size(datatype)?.to_string() };
        let padding = match check(sys::H5Tget_strpad(datatype))? {
            0 => "H5T_STR_NULLTERM",
            1 => "H5T_STR_NULLPAD",
            2 => "H5T_STR_SPACEPAD",
            _ => "H5T_STR_ERROR",
        };
        let set = match check(sys::H5Tget_cset(datatype))? {
            0 => "H5T_CSET_ASCII",
            1 => "H5T_CSET_UTF8",
            _ => "unknown",
        };
        for (name, value) in
            [("STRSIZE", size.as_str()), ("STRPAD", padding), ("CSET", set), ("CTYPE", "H5T_C_S1")]
        {
            self.line();
            self.put(format!("{name} {value};"));
        }
        Ok(())
    }

    fn opaque(&mut self, datatype: hid_t) -> Outcome<()> {
        self.line();
        self.put(format!("OPQ_SIZE {};", object::size(datatype)?));
        let tag = object::take_text(sys::H5Tget_tag(datatype))?;
        self.line();
        self.put("OPQ_TAG \"");
        self.put(tag.as_bytes());
        self.put("\";");
        Ok(())
    }

    fn compound(&mut self, datatype: hid_t) -> Outcome<()> {
        for index in members(datatype)? {
            let member = Id::own(sys::H5Tget_member_type(datatype, index))?;
            self.line();
            // The lines of a compound datatype within another one have one more step.
            let is_compound = check(sys::H5Tget_class(member.get()))? == class::COMPOUND;
            let step = if is_compound { STEP } else { 0 };
            self.indent += step;
            self.datatype(member.get())?;
            self.indent -= step;
            self.put(" \"");
            self.put(object::take_text(sys::H5Tget_member_name(datatype, index))?.as_bytes());
            self.put(format!("\" : {};", sys::H5Tget_member_offset(datatype, index)));
        }
        Ok(())
    }

    fn array(&mut self, datatype: hid_t) -> Outcome<()> {
        let rank = check(sys::H5Tget_array_ndims(datatype))?;
        let mut dims: Vec<hsize_t> = vec![0; usize::try_from(rank).map_err(|_| Failure::Reported)?];
        check(sys::H5Tget_array_dims2(datatype, Out::to(&mut dims)))?;
        self.line();
        for dim in dims {
            self.put(format!("[{dim}]"));
        }
        self.put(" ");
        self.datatype(Id::own(sys::H5Tget_super(datatype))?.get())
    }

    fn enumeration(&mut self, datatype: hid_t) -> Outcome<()> {
        let base = Id::own(sys::H5Tget_super(datatype))?;
        self.line();
        self.datatype(base.get())?;
        self.put(";");
        let is_signed = check(sys::H5Tget_sign(base.get()))? != 0;
        let is_big = check(sys::H5Tget_order(base.get()))? == 1;
        let size = object::size(base.get())?;
        for index in members(datatype)? {
            let name = object::take_text(sys::H5Tget_member_name(datatype, index))?;
            let mut bytes = vec![0; size];
            check(sys::H5Tget_member_value(datatype, index, Buffer::to(&mut bytes)))?;
            if is_big {
                bytes.reverse();
            }
            let value = integer(&bytes, is_signed);
            let length = name.count_bytes();
            let spaces = NAME_WIDTH.max(length) - length;
            self.line();
            self.put("\"");
            self.put(name.as_bytes());
            // A write to a vector does not fail.
            let _ = write!(self.text, "\"{:spaces$} {value};", "");
        }
        Ok(())
    }
}

/// Returns the numbers of the members of a datatype.
fn members(datatype: hid_t) -> Outcome<std::ops::Range<c_uint>> {
    Ok(0..check(sys::H5Tget_nmembers(datatype))?.cast_unsigned())
}

/// Returns the integer of little-endian bytes.
fn integer(bytes: &[u8], is_signed: bool) -> i128 {
    let is_negative = is_signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let start = if is_negative { -1 } else { 0 };
    bytes.iter().rev().fold(start, |value: i128, byte| value << 8 | i128::from(*byte))
}
