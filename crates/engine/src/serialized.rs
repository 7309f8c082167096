//! Datatypes, extents and selections as bytes, in the forms that files contain.

use hyperslab_dataspace::{Dataspace, Selection};
use hyperslab_datatype::Datatype;
use hyperslab_format::codec::{FileParams, Writer};
use hyperslab_format::message::{DataspaceMessage, DatatypeMessage, Message, MessageType};
pub use hyperslab_format::selection::SelectionFormat;
use hyperslab_format::selection::{decode_selection, encode_selection};

use crate::Result;

/// Returns the datatype message of a datatype, in the oldest version that can store it.
///
/// # Errors
/// Fails if the format cannot store the datatype.
pub fn datatype_to_bytes(datatype: &Datatype) -> Result<Vec<u8>> {
    let mut writer = Writer::new(MessageType::DATATYPE.name());
    DatatypeMessage::new(datatype.clone()).encode(FileParams::DEFAULT, &mut writer);
    Ok(writer.finish()?)
}

/// Decodes a datatype from the bytes of a datatype message. Ignores bytes after the message. The
/// sizes in the datatype are the sizes in the message, also for variable-length elements.
///
/// # Errors
/// Fails if bytes are missing or contradict the format.
pub fn datatype_from_bytes(bytes: &[u8]) -> Result<Datatype> {
    Ok(DatatypeMessage::decode(bytes, FileParams::MEMORY)?.datatype)
}

/// Returns the dataspace message of the dimensions of a dataspace, in the oldest version that can
/// store the dimensions.
///
/// # Errors
/// Fails if the format cannot store the extent.
pub fn extent_to_bytes(extent: &Dataspace) -> Result<Vec<u8>> {
    let mut writer = Writer::new(MessageType::DATASPACE.name());
    DataspaceMessage::new(extent.clone()).encode(FileParams::DEFAULT, &mut writer);
    Ok(writer.finish()?)
}

/// Decodes the dimensions of a dataspace from the bytes of a dataspace message.
///
/// # Errors
/// Fails if bytes are missing or contradict the format.
pub fn extent_from_bytes(bytes: &[u8]) -> Result<Dataspace> {
    Ok(DataspaceMessage::decode(bytes, FileParams::DEFAULT)?.dataspace)
}

/// Encodes a selection in the serialized form of the HDF5 file format.
///
/// # Errors
/// Fails if the format cannot store the selection.
pub fn selection_to_bytes(selection: &Selection, form: SelectionFormat) -> Result<Vec<u8>> {
    Ok(encode_selection(selection, form)?)
}

/// Decodes a selection from its serialized form in the HDF5 file format. Returns an error if bytes
/// follow the serialized form.
///
/// # Errors
/// Fails if bytes are missing, remain or contradict the format.
pub fn selection_from_bytes(bytes: &[u8]) -> Result<Selection> {
    Ok(decode_selection(bytes)?)
}
