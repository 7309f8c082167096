//! Datatype functions for compounds, and for members of compounds and enumerations (`H5T*`).

use std::ffi::{c_char, c_int, c_uint};

use hyperslab::datatype::{Compound, Member};
use hyperslab::{Datatype, DatatypeClass};

use crate::ctypes::{counted, herr_t, hid_t};
use crate::datatype::{self, class, unsupported};
use crate::error::{Because, Failure, Outcome, codes};
use crate::pointer::Text;
use crate::{export, memory};

/// Returns the member of a compound datatype with the given index.
fn member(datatype: &Datatype, number: c_uint) -> Outcome<&Member> {
    let DatatypeClass::Compound(compound) = &datatype.class else {
        return Err(Failure::bad_type("not a compound"));
    };
    let member = usize::try_from(number).ok().and_then(|number| compound.members.get(number));
    member.ok_or_else(|| Failure::bad_value("no member has this number"))
}

/// Returns the names of the members of a compound or enumeration datatype.
fn names(datatype: &Datatype) -> Outcome<Vec<&[u8]>> {
    match &datatype.class {
        DatatypeClass::Compound(compound) => {
            Ok(compound.members.iter().map(|member| member.name.as_slice()).collect())
        }
        DatatypeClass::Enumeration(enumeration) => {
            Ok(enumeration.members.iter().map(|member| member.name.as_slice()).collect())
        }
        _ => Err(unsupported()),
    }
}

/// Inserts a member into a compound datatype of `size` bytes. Checks the member's name and position
/// first.
fn insert(size: u32, compound: &mut Compound, new: Member) -> Outcome<()> {
    let refuse = |text| Err(Failure::new(codes::DATATYPE, codes::CANTINSERT, text));
    let end = |member: &Member| u64::from(member.offset) + u64::from(member.datatype.size);
    for member in &compound.members {
        if member.name == new.name {
            return refuse("the member name is not unique");
        }
        if u64::from(new.offset) < end(member) && u64::from(member.offset) < end(&new) {
            return refuse("the member overlaps with another member");
        }
    }
    if end(&new) > u64::from(size) {
        return refuse("the member extends past the end of the compound");
    }
    compound.members.push(new);
    Ok(())
}

/// Removes the gaps between members from a datatype and all compound datatypes inside it. Sorts the
/// members by offset.
fn pack(datatype: &mut Datatype) {
    if let DatatypeClass::Compound(compound) = &mut datatype.class {
        compound.members.sort_by_key(|member| member.offset);
        let mut size = 0_u32;
        for member in &mut compound.members {
            pack(&mut member.datatype);
            member.offset = size;
            // Saturates, but the sum cannot overflow: all members fit in the compound before.
            size = size.saturating_add(member.datatype.size);
        }
        if size > 0 {
            datatype.size = size;
        }
    } else if let Some(base) = class::base_mut(datatype) {
        pack(base);
        class::update_size(datatype);
    }
}

export! {
    /// Inserts a member with the given name, offset and datatype into a compound datatype.
    fn H5Tinsert(parent: hid_t, name: Text, offset: usize, member: hid_t) -> herr_t {
        if parent == member {
            return Err(Failure::bad_value("a compound cannot contain itself"));
        }
        let datatype = match datatype::find(parent) {
            Ok(_) => datatype::copy_of(member)?,
            Err(_) => return Err(Failure::bad_type("not a compound")),
        };
        datatype::change(parent, |parent| {
            let size = parent.size;
            let DatatypeClass::Compound(compound) = &mut parent.class else {
                return Err(Failure::bad_type("not a compound"));
            };
            let name = name.name("member name")?.to_vec();
            let text = "the member extends past the end of the compound";
            let offset = u32::try_from(offset)
                .map_err(|_| Failure::new(codes::DATATYPE, codes::CANTINSERT, text))?;
            insert(size, compound, Member { name, offset, datatype }).because(
                codes::DATATYPE,
                codes::CANTINSERT,
                "cannot insert the member",
            )
        })?;
        Ok(0)
    }

    /// Removes the gaps between the members of a compound datatype.
    fn H5Tpack(id: hid_t) -> herr_t {
        datatype::with(id, |datatype| match class::contains(datatype, class::COMPOUND) {
            true => Ok(()),
            false => Err(Failure::bad_type("not a compound")),
        })?;
        datatype::change(id, |datatype| {
            pack(datatype);
            Ok(0)
        })
    }

    /// Returns the number of members of a compound or enumeration datatype.
    fn H5Tget_nmembers(id: hid_t) -> c_int {
        datatype::with(id, |datatype| {
            let names = names(datatype).because(codes::DATATYPE, codes::CANTCOUNT, "cannot count members")?;
            c_int::try_from(names.len()).map_err(|_| Failure::bad_value("too many members"))
        })
    }

    /// Returns a copy of the name of a member of a compound or enumeration datatype, which the
    /// program frees.
    fn H5Tget_member_name(id: hid_t, number: c_uint) -> *mut c_char {
        datatype::with(id, |datatype| {
            let names = names(datatype).because(codes::DATATYPE, codes::CANTGET, "cannot get the name")?;
            let name = usize::try_from(number).ok().and_then(|number| names.get(number));
            let name = name.ok_or_else(|| Failure::bad_value("no member has this number")).because(
                codes::DATATYPE,
                codes::CANTGET,
                "cannot get the name",
            )?;
            Ok(memory::text(name))
        })
    }

    /// Returns the index of a member in a compound or enumeration datatype. Returns -1 without an
    /// error record if no member has the name.
    fn H5Tget_member_index(id: hid_t, name: Text) -> c_int {
        datatype::with(id, |datatype| {
            let names = names(datatype)?;
            let name = name.bytes("member name")?;
            let index = names.iter().position(|other| *other == name);
            index.map_or(Ok(-1), counted)
        })
    }

    /// Returns the offset in bytes of a member of a compound datatype.
    fn H5Tget_member_offset(id: hid_t, number: c_uint) -> usize {
        datatype::with(id, |datatype| {
            usize::try_from(member(datatype, number)?.offset).map_err(|_| Failure::bad_value("the offset"))
        })
    }

    /// Returns the datatype class of a member of a compound datatype.
    fn H5Tget_member_class(id: hid_t, number: c_uint) -> c_int {
        datatype::with(id, |datatype| Ok(class::number(&member(datatype, number)?.datatype)))
    }

    /// Returns a new identifier of the datatype of a member of a compound datatype.
    fn H5Tget_member_type(id: hid_t, number: c_uint) -> hid_t {
        let member = datatype::with(id, |datatype| Ok(member(datatype, number)?.datatype.clone()))?;
        Ok(datatype::register(member))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::h5t::{H5Tcreate, H5Tget_size, H5Tset_size};
    use crate::symbols::datatypes::{H5T_NATIVE_DOUBLE_g, H5T_NATIVE_INT_g};

    #[test]
    fn members() {
        let name = |text: &'static std::ffi::CStr| Text::of(text.as_ptr());
        // SAFETY: the names end with zero bytes.
        unsafe {
            let id = H5Tcreate(class::COMPOUND, 24);
            assert_eq!(H5Tinsert(id, name(c"b"), 16, H5T_NATIVE_DOUBLE_g), 0);
            assert_eq!(H5Tinsert(id, name(c"a"), 4, H5T_NATIVE_INT_g), 0);
            assert_eq!(H5Tinsert(id, name(c"a"), 8, H5T_NATIVE_INT_g), -1);
            assert_eq!(H5Tinsert(id, name(c"c"), 6, H5T_NATIVE_INT_g), -1);
            assert_eq!(H5Tinsert(id, name(c"c"), 22, H5T_NATIVE_INT_g), -1);
            assert_eq!(H5Tinsert(id, name(c""), 8, H5T_NATIVE_INT_g), -1);
            assert_eq!(H5Tinsert(id, name(c"c"), 8, id), -1);
            assert_eq!((H5Tget_nmembers(id), H5Tget_member_index(id, name(c"a"))), (2, 1));
            assert_eq!(H5Tget_member_index(id, name(c"x")), -1);
            assert_eq!((H5Tget_member_offset(id, 1), H5Tget_member_class(id, 0)), (4, class::FLOAT));
            assert_eq!((H5Tset_size(id, 20), H5Tget_member_class(id, 2)), (-1, -1));
            assert_eq!((H5Tpack(id), H5Tget_size(id), H5Tget_member_offset(id, 1)), (0, 12, 4));
            let text = H5Tget_member_name(id, 0);
            assert_eq!(std::ffi::CStr::from_ptr(text), c"a");
            memory::free(text.cast());
            assert!(H5Tget_member_name(id, 2).is_null());
            assert_eq!(H5Tpack(H5T_NATIVE_INT_g), -1);
        }
    }
}
