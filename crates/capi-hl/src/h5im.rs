//! Images (`H5IM*`), except palettes.

use std::ffi::{CStr, c_uchar};

use crate::ctypes::{H5P_DEFAULT, H5S_ALL, herr_t, hid_t, hsize_t, hssize_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out, Text, TextBuffer};
use crate::{export, h5im_palettes, h5lt_datasets, object, sys};

/// The attribute with the class of images and palettes.
pub const CLASS: &CStr = c"CLASS";
/// The version of the specification of images and palettes.
pub const VERSION: &CStr = c"1.2";
/// The attribute with the order of the components of pixels.
const INTERLACE: &CStr = c"INTERLACE_MODE";
/// The order in which the components of each pixel are together.
const BY_PIXEL: &[u8] = b"INTERLACE_PIXEL";
/// The order in which each component has a plane of its own.
const BY_PLANE: &[u8] = b"INTERLACE_PLANE";

export! {
    /// Creates an image whose pixels are indexes into a palette.
    fn H5IMmake_image_8bit(loc_id: hid_t, dset_name: Text, width: hsize_t, height: hsize_t, buffer: In<c_uchar>) -> herr_t {
        let data = Data::elements(buffer);
        let image = h5lt_datasets::make(loc_id, dset_name, &[height, width], sys::H5T_NATIVE_UCHAR_g, data)?;
        describe(&image, c"IMAGE_INDEXED")?;
        image.close()?;
        Ok(0)
    }

    /// Creates an image whose pixels have three components.
    fn H5IMmake_image_24bit(loc_id: hid_t, dset_name: Text, width: hsize_t, height: hsize_t, interlace: Text, buffer: In<c_uchar>) -> herr_t {
        let interlace = interlace.value("interlace mode")?;
        let dims = match interlace.to_bytes() {
            mode if mode.starts_with(BY_PIXEL) => [height, width, 3],
            mode if mode.starts_with(BY_PLANE) => [3, height, width],
            _ => return Err(Failure::bad_value("unknown interlace mode")),
        };
        let data = Data::elements(buffer);
        let image = h5lt_datasets::make(loc_id, dset_name, &dims, sys::H5T_NATIVE_UCHAR_g, data)?;
        describe(&image, c"IMAGE_TRUECOLOR")?;
        object::set_text(image.get(), INTERLACE, &interlace)?;
        image.close()?;
        Ok(0)
    }

    /// Returns the size of an image, the number and order of its components, and the number of its
    /// palettes.
    fn H5IMget_image_info(loc_id: hid_t, dset_name: Text, width: Out<hsize_t>, height: Out<hsize_t>, planes: Out<hsize_t>, interlace: TextBuffer, npals: Out<hssize_t>) -> herr_t {
        let image = object::dataset(loc_id, dset_name)?;
        let mode = object::text_attribute(image.get(), INTERLACE)?;
        if let (Some(mode), false) = (&mode, interlace.is_null()) {
            interlace.put_whole(mode.to_bytes());
        }
        let by_plane = mode.is_some_and(|mode| mode.to_bytes().starts_with(BY_PLANE));
        let (rows, columns, components) = match *object::dataset_dims(image.get())?.as_slice() {
            [components, rows, columns] if by_plane => (rows, columns, components),
            [rows, columns, components] => (rows, columns, components),
            [rows, columns] => (rows, columns, 1),
            _ => return Err(Failure::bad_type("an image has two or three dimensions")),
        };
        height.put(rows);
        width.put(columns);
        planes.put(components);
        npals.put(h5im_palettes::count(image.get())?);
        Ok(0)
    }

    /// Reads the pixels of an image.
    fn H5IMread_image(loc_id: hid_t, dset_name: Text, buffer: Out<c_uchar>) -> herr_t {
        let image = object::dataset(loc_id, dset_name)?;
        let (all, memory) = (H5S_ALL, Buffer::elements(buffer));
        check(sys::H5Dread(image.get(), sys::H5T_NATIVE_UCHAR_g, all, all, H5P_DEFAULT, memory))
    }

    /// Returns 1 if a dataset is an image, and 0 if not.
    fn H5IMis_image(loc_id: hid_t, dset_name: Text) -> herr_t {
        has_class(loc_id, dset_name, c"IMAGE")
    }
}

/// Returns 1 if a dataset has the class, and 0 if not.
///
/// # Errors
/// Fails if no dataset has the name.
pub fn has_class(location: hid_t, name: Text, wanted: &CStr) -> Outcome<herr_t> {
    let dataset = object::dataset(location, name)?;
    let found = object::text_attribute(dataset.get(), CLASS)?;
    Ok(i32::from(found.is_some_and(|found| found.as_c_str() == wanted)))
}

/// Writes the attributes that all images have.
fn describe(image: &Id, subclass: &CStr) -> Outcome<()> {
    object::set_text(image.get(), CLASS, c"IMAGE")?;
    object::set_text(image.get(), c"IMAGE_VERSION", VERSION)?;
    object::set_text(image.get(), c"IMAGE_SUBCLASS", subclass)
}
