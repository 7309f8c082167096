//! Datatypes, extents and selections as bytes, in the forms that the HDF5 File Format
//! Specification defines.
//!
//! Programs that store or send a datatype, an extent or a selection outside of a file use these
//! functions. Addresses and lengths have eight bytes.
//!
//! ```
//! use hyperslab::{Dataspace, Datatype, Region, Selection, serialized};
//! use hyperslab::serialized::SelectionFormat;
//! # fn main() -> hyperslab::Result<()> {
//! let bytes = serialized::datatype_to_bytes(&Datatype::u8())?;
//! assert_eq!(bytes, [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0]);
//! assert_eq!(serialized::datatype_from_bytes(&bytes)?, Datatype::u8());
//!
//! let extent = Dataspace::simple(&[4, 6]);
//! assert_eq!(serialized::extent_from_bytes(&serialized::extent_to_bytes(&extent)?)?, extent);
//!
//! let selection = Selection::region(&Region::from([1..3, 0..6]));
//! let bytes = serialized::selection_to_bytes(&selection, SelectionFormat::Compact)?;
//! assert_eq!(serialized::selection_from_bytes(&bytes)?, selection);
//! # Ok(()) }
//! ```

pub use hyperslab_engine::serialized::{
    SelectionFormat, datatype_from_bytes, datatype_to_bytes, extent_from_bytes, extent_to_bytes,
    selection_from_bytes, selection_to_bytes,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CharacterSet, Dataspace, Datatype, Selection};

    #[test]
    fn bytes_come_back() {
        let points = Datatype::array([2, 3], Datatype::i8());
        assert_eq!(datatype_from_bytes(&datatype_to_bytes(&points).unwrap()).unwrap(), points);
        let text = Datatype { size: 8, ..Datatype::variable_string(CharacterSet::Utf8, 8) };
        let row = Datatype::packed([("text", text), ("number", Datatype::i8())]);
        assert_eq!(datatype_from_bytes(&datatype_to_bytes(&row).unwrap()).unwrap(), row);
        let null = extent_to_bytes(&Dataspace::Null).unwrap();
        assert_eq!(null, [2, 0, 0, 2]);
        assert_eq!(extent_from_bytes(&null).unwrap(), Dataspace::Null);
        let all = selection_to_bytes(&Selection::All, SelectionFormat::Compatible).unwrap();
        assert_eq!(all, [3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(selection_from_bytes(&all).unwrap(), Selection::All);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        assert!(datatype_from_bytes(&[0x10, 0, 0]).is_err());
        assert!(extent_from_bytes(&[9]).is_err());
        assert!(selection_from_bytes(&[7, 0, 0, 0, 1, 0, 0, 0]).is_err());
        assert!(datatype_to_bytes(&Datatype::opaque(0, "")).is_err());
    }
}
