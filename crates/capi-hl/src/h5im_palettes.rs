//! Palettes of images (`H5IM*palette*`).

use std::ffi::{CStr, c_int, c_uchar};

use crate::ctypes::{H5P_DEFAULT, H5R_OBJECT, H5S_ALL, class, herr_t, hid_t, hsize_t, hssize_t};
use crate::failure::{Failure, Outcome, check};
use crate::h5im::{self, CLASS, VERSION};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out, Text};
use crate::scale::reference::{Kind, Reference};
use crate::{export, h5lt_datasets, object, sys};

/// The attribute of an image with references to its palettes.
const PALETTE: &CStr = c"PALETTE";
/// The number of bytes of a reference.
const SIZE: usize = 8;

export! {
    /// Creates a palette: colors with three components.
    fn H5IMmake_palette(loc_id: hid_t, pal_name: Text, pal_dims: In<hsize_t>, pal_data: In<c_uchar>) -> herr_t {
        let (dims, data) = (pal_dims.array(2, "dimensions")?, Data::elements(pal_data));
        let palette = h5lt_datasets::make(loc_id, pal_name, &dims, sys::H5T_NATIVE_UCHAR_g, data)?;
        object::set_text(palette.get(), CLASS, c"PALETTE")?;
        object::set_text(palette.get(), c"PAL_VERSION", VERSION)?;
        palette.close()?;
        Ok(0)
    }

    /// Adds a palette to an image.
    fn H5IMlink_palette(loc_id: hid_t, image_name: Text, pal_name: Text) -> herr_t {
        let image = object::dataset(loc_id, image_name)?;
        let palette = object::dataset(loc_id, pal_name)?;
        let mut references = read(image.get())?;
        references.push(Reference::to(palette.get(), Kind::Old)?.bytes().to_vec());
        write(image.get(), &references)?;
        Ok(0)
    }

    /// Removes a palette from an image.
    fn H5IMunlink_palette(loc_id: hid_t, image_name: Text, pal_name: Text) -> herr_t {
        let image = object::dataset(loc_id, image_name)?;
        let palette = Reference::to(object::dataset(loc_id, pal_name)?.get(), Kind::Old)?;
        let mut references = read(image.get())?;
        let known = references.len();
        references.retain(|reference| !palette.is(reference));
        if references.len() == known {
            return Err(Failure::bad_value("the image does not have the palette"));
        }
        write(image.get(), &references)?;
        Ok(0)
    }

    /// Returns the number of palettes of an image.
    fn H5IMget_npalettes(loc_id: hid_t, image_name: Text, npals: Out<hssize_t>) -> herr_t {
        npals.put(count(object::dataset(loc_id, image_name)?.get())?);
        Ok(0)
    }

    /// Returns the dimensions of a palette of an image.
    fn H5IMget_palette_info(loc_id: hid_t, image_name: Text, pal_number: c_int, pal_dims: Out<hsize_t>) -> herr_t {
        if let Some(palette) = open(loc_id, image_name, pal_number)? {
            let dims = object::dataset_dims(palette.get())?;
            if dims.len() != 2 {
                return Err(Failure::bad_type("a palette has two dimensions"));
            }
            pal_dims.fill(&dims);
        }
        Ok(0)
    }

    /// Reads the colors of a palette of an image.
    fn H5IMget_palette(loc_id: hid_t, image_name: Text, pal_number: c_int, pal_data: Out<c_uchar>) -> herr_t {
        if let Some(palette) = open(loc_id, image_name, pal_number)? {
            let (all, memory) = (H5S_ALL, Buffer::elements(pal_data));
            check(sys::H5Dread(palette.get(), sys::H5T_NATIVE_UCHAR_g, all, all, H5P_DEFAULT, memory))?;
        }
        Ok(0)
    }

    /// Returns 1 if a dataset is a palette, and 0 if not.
    fn H5IMis_palette(loc_id: hid_t, dset_name: Text) -> herr_t {
        h5im::has_class(loc_id, dset_name, c"PALETTE")
    }
}

/// Returns the number of palettes of an open image.
///
/// # Errors
/// Fails if the attribute cannot be read.
pub fn count(image: hid_t) -> Outcome<hssize_t> {
    hssize_t::try_from(read(image)?.len()).map_err(|_| Failure::bad_range("too many palettes"))
}

/// Opens a palette of an image. An image without palettes has none of any number.
fn open(location: hid_t, image_name: Text, number: c_int) -> Outcome<Option<Id>> {
    let image = object::dataset(location, image_name)?;
    let references = read(image.get())?;
    if references.is_empty() {
        return Ok(None);
    }
    let reference = usize::try_from(number).ok().and_then(|number| references.get(number));
    let reference = reference.ok_or_else(|| Failure::bad_range(format!("no palette {number}")))?;
    Id::own(sys::H5Rdereference2(image.get(), H5P_DEFAULT, H5R_OBJECT, Data::to(reference))).map(Some)
}

/// Returns the references of an image.
fn read(image: hid_t) -> Outcome<Vec<Vec<u8>>> {
    let Some(attribute) = object::attribute(image, PALETTE)? else { return Ok(Vec::new()) };
    let datatype = Id::own(sys::H5Aget_type(attribute.get()))?;
    if check(sys::H5Tget_class(datatype.get()))? != class::REFERENCE {
        return Err(Failure::bad_type("PALETTE has no references"));
    }
    let space = Id::own(sys::H5Aget_space(attribute.get()))?;
    let count = check(sys::H5Sget_simple_extent_npoints(space.get()))?;
    let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(SIZE));
    let mut bytes = vec![0; length.ok_or_else(|| Failure::bad_range("too many palettes"))?];
    check(sys::H5Aread(attribute.get(), sys::H5T_STD_REF_OBJ_g, Buffer::to(&mut bytes)))?;
    Ok(bytes.chunks_exact(SIZE).map(<[u8]>::to_vec).collect())
}

/// Writes the references of an image, or removes the attribute if there are none.
fn write(image: hid_t, references: &[Vec<u8>]) -> Outcome<()> {
    if references.is_empty() {
        return check(sys::H5Adelete(image, Text::of(PALETTE))).map(drop);
    }
    let space = object::space(&[hyperslab_exact::to_u64(references.len())])?;
    let bytes = references.concat();
    object::set_attribute(image, PALETTE, sys::H5T_STD_REF_OBJ_g, &space, Data::to(&bytes))
}
