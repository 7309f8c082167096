//! Datatypes from descriptions.

use std::ffi::{CString, c_int, c_uint};

use crate::ctypes::{H5T_VARIABLE, class, hid_t, hsize_t};
use crate::ddl::names;
use crate::ddl::scan::{self, Word};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::object;
use crate::pointer::{Data, In, Text};
use crate::sys;

/// The largest number of datatypes within one another.
const DEPTH: usize = 64;

/// Creates the datatype that a text describes.
///
/// # Errors
/// Fails if the text is no description of one datatype.
pub fn parse(text: &[u8]) -> Outcome<Id> {
    let words = scan::words(text)?;
    let mut parser = Parser { words: &words, depth: 0 };
    let datatype = parser.datatype()?;
    match parser.words {
        [] => Ok(datatype),
        [word, ..] => Err(unexpected(Some(word), "the end")),
    }
}

/// The words that are not parsed yet, and the number of open datatypes.
struct Parser<'a> {
    words: &'a [Word<'a>],
    depth: usize,
}

fn unexpected(word: Option<&Word<'_>>, wanted: &str) -> Failure {
    let found = match word {
        None => "the end".to_owned(),
        Some(Word::Name(name)) => format!("`{}`", name.escape_ascii()),
        Some(Word::Number(number)) => format!("`{number}`"),
        Some(Word::Text(text)) => format!("\"{}\"", text.escape_ascii()),
        Some(Word::Mark(mark)) => format!("`{}`", mark.escape_ascii()),
    };
    Failure::bad_value(format!("{found} in the place of {wanted}"))
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a Word<'a>> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn mark(&mut self, mark: u8) -> Outcome<()> {
        match self.next() {
            Some(Word::Mark(found)) if *found == mark => Ok(()),
            other => Err(unexpected(other, &format!("`{}`", mark.escape_ascii()))),
        }
    }

    fn is_mark(&self, mark: u8) -> bool {
        self.words.first() == Some(&Word::Mark(mark))
    }

    fn name(&mut self) -> Outcome<&'a [u8]> {
        match self.next() {
            Some(Word::Name(name)) => Ok(name),
            other => Err(unexpected(other, "a name")),
        }
    }

    /// Takes a certain name.
    fn keyword(&mut self, keyword: &str) -> Outcome<()> {
        match self.next() {
            Some(Word::Name(name)) if *name == keyword.as_bytes() => Ok(()),
            other => Err(unexpected(other, keyword)),
        }
    }

    fn text(&mut self) -> Outcome<CString> {
        match self.next() {
            Some(Word::Text(text)) => object::c_text(text.clone()),
            other => Err(unexpected(other, "a text")),
        }
    }

    fn number<T: TryFrom<i128>>(&mut self) -> Outcome<T> {
        match self.next() {
            Some(Word::Number(number)) => {
                T::try_from(*number).map_err(|_| Failure::bad_range(format!("the number {number}")))
            }
            other => Err(unexpected(other, "a number")),
        }
    }

    fn datatype(&mut self) -> Outcome<Id> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Failure::bad_range(format!("more than {DEPTH} datatypes within one another")));
        }
        let name = self.name()?;
        let datatype = match name {
            b"H5T_COMPOUND" => self.braced(Self::compound),
            b"H5T_ENUM" => self.braced(Self::enumeration),
            b"H5T_STRING" => self.braced(Self::string),
            b"H5T_OPAQUE" => self.braced(Self::opaque),
            b"H5T_ARRAY" => self.braced(Self::array),
            b"H5T_VLEN" => self.braced(|it| Id::own(sys::H5Tvlen_create(it.datatype()?.get()))),
            b"H5T_COMPLEX" => self.braced(|it| Id::own(sys::H5Tcomplex_create(it.datatype()?.get()))),
            b"H5T_REFERENCE" => self.braced(Self::datatype),
            name => predefined(name),
        }?;
        self.depth -= 1;
        Ok(datatype)
    }

    fn braced(&mut self, body: impl FnOnce(&mut Self) -> Outcome<Id>) -> Outcome<Id> {
        self.mark(b'{')?;
        let datatype = body(self)?;
        self.mark(b'}')?;
        Ok(datatype)
    }

    fn compound(&mut self) -> Outcome<Id> {
        let mut members: Vec<(CString, usize, Id)> = Vec::new();
        let (mut end, mut size) = (0_usize, 0);
        while !self.is_mark(b'}') {
            let member = self.datatype()?;
            let name = self.text()?;
            let offset = if self.is_mark(b':') {
                self.mark(b':')?;
                self.number()?
            } else {
                end
            };
            self.mark(b';')?;
            let length = object::size(member.get())?;
            end = offset.checked_add(length).ok_or_else(|| Failure::bad_range("the offset of a member"))?;
            size = end.max(size);
            members.push((name, offset, member));
        }
        let datatype = Id::own(sys::H5Tcreate(class::COMPOUND, size.max(1)))?;
        for (name, offset, member) in &members {
            check(sys::H5Tinsert(datatype.get(), Text::of(name), *offset, member.get()))?;
        }
        Ok(datatype)
    }

    fn enumeration(&mut self) -> Outcome<Id> {
        let base = self.datatype()?;
        self.mark(b';')?;
        let native = object::native(base.get())?;
        let size = object::size(native.get())?;
        let datatype = Id::own(sys::H5Tenum_create(base.get()))?;
        while !self.is_mark(b'}') {
            let name = self.text()?;
            let value: i128 = self.number()?;
            self.mark(b';')?;
            let bytes = value.to_le_bytes();
            let bytes = bytes.get(..size).ok_or_else(|| Failure::bad_type("the base of an enumeration"))?;
            insert(&datatype, &base, &name, bytes)?;
        }
        Ok(datatype)
    }

    fn string(&mut self) -> Outcome<Id> {
        self.keyword("STRSIZE")?;
        let size = if matches!(self.words.first(), Some(Word::Name(_))) {
            self.keyword("H5T_VARIABLE")?;
            H5T_VARIABLE
        } else {
            self.number()?
        };
        self.mark(b';')?;
        self.keyword("STRPAD")?;
        let padding = choice(self.name()?, &[b"H5T_STR_NULLTERM", b"H5T_STR_NULLPAD", b"H5T_STR_SPACEPAD"])?;
        self.mark(b';')?;
        self.keyword("CSET")?;
        let set = choice(self.name()?, &[b"H5T_CSET_ASCII", b"H5T_CSET_UTF8"])?;
        self.mark(b';')?;
        self.keyword("CTYPE")?;
        let base = choice(self.name()?, &[b"H5T_C_S1", b"H5T_FORTRAN_S1"])?;
        self.mark(b';')?;
        let base = if base == 0 { sys::H5T_C_S1_g } else { sys::H5T_FORTRAN_S1_g };
        let datatype = Id::own(sys::H5Tcopy(base))?;
        check(sys::H5Tset_size(datatype.get(), size))?;
        check(sys::H5Tset_strpad(datatype.get(), padding))?;
        check(sys::H5Tset_cset(datatype.get(), set))?;
        Ok(datatype)
    }

    fn opaque(&mut self) -> Outcome<Id> {
        self.keyword("OPQ_SIZE")?;
        let size = self.number()?;
        self.mark(b';')?;
        self.keyword("OPQ_TAG")?;
        let tag = self.text()?;
        self.mark(b';')?;
        let datatype = Id::own(sys::H5Tcreate(class::OPAQUE, size))?;
        check(sys::H5Tset_tag(datatype.get(), Text::of(&tag)))?;
        Ok(datatype)
    }

    fn array(&mut self) -> Outcome<Id> {
        let mut dims: Vec<hsize_t> = Vec::new();
        while self.is_mark(b'[') {
            self.mark(b'[')?;
            dims.push(self.number()?);
            self.mark(b']')?;
        }
        let base = self.datatype()?;
        let rank = c_uint::try_from(dims.len()).map_err(|_| Failure::bad_range("too many dimensions"))?;
        Id::own(sys::H5Tarray_create2(base.get(), rank, In::to(&dims)))
    }
}

/// Adds a name to an enumeration. The value has little-endian bytes in the size of the native
/// datatype.
fn insert(datatype: &Id, base: &Id, name: &CString, bytes: &[u8]) -> Outcome<()> {
    let mut value = bytes.to_vec();
    // The elements of the base may have the other byte order.
    let is_big = check(sys::H5Tget_order(base.get()))? == 1;
    if is_big {
        value.reverse();
    }
    check(sys::H5Tenum_insert(datatype.get(), Text::of(name), Data::to(&value))).map(drop)
}

/// Returns the number of a name in a list.
fn choice(name: &[u8], names: &[&[u8]]) -> Outcome<c_int> {
    let found = names.iter().position(|known| *known == name).and_then(|at| c_int::try_from(at).ok());
    found.ok_or_else(|| unexpected(Some(&Word::Name(name)), "a known name"))
}

/// Returns a copy of a predefined datatype.
fn predefined(name: &[u8]) -> Outcome<Id> {
    let found: Option<(&str, hid_t)> = names::all().into_iter().find(|(known, _)| known.as_bytes() == name);
    match found {
        Some((_, id)) => Id::own(sys::H5Tcopy(id)),
        None => Err(unexpected(Some(&Word::Name(name)), "the name of a datatype")),
    }
}
