//! Dimension scales (`H5DS*`), except labels and names.

use std::ffi::{c_int, c_uint};

use crate::ctypes::{H5I_BADID, herr_t, hid_t, htri_t};
use crate::export::call_user;
use crate::failure::{Failure, Outcome};
use crate::pointer::{Opaque, Out, Text};
use crate::scale::list::{DimensionList, ReferenceList};
use crate::scale::reference::{self, Kind, Reference};
use crate::scale::{self, CLASS, CLASS_VALUE, NAME};
use crate::{export, object, sys};

/// A function of the user that an iteration calls for each scale of a dimension.
type Visitor = unsafe extern "C" fn(hid_t, c_uint, hid_t, Opaque) -> herr_t;

export! {
    /// States whether scales of an object are attached with references of the newer interface.
    /// New attributes have references of the older interface, which all programs read.
    fn H5DSwith_new_ref(obj_id: hid_t, with_new_ref: Out<bool>) -> herr_t {
        if with_new_ref.is_null() || sys::H5Iget_type(obj_id) == H5I_BADID {
            return Err(Failure::bad_value("no object, or no memory for the answer"));
        }
        with_new_ref.put(false);
        Ok(0)
    }

    /// Makes a dataset a dimension scale, with a name if `dimname` is not null.
    fn H5DSset_scale(dsid: hid_t, dimname: Text) -> herr_t {
        object::require_dataset(dsid)?;
        set_scale(dsid)?;
        if let Some(name) = dimname.get() {
            object::set_text(dsid, NAME, &name)?;
        }
        Ok(0)
    }

    /// Attaches a scale to a dimension of a dataset. Another dataset becomes a scale first.
    fn H5DSattach_scale(did: hid_t, dsid: hid_t, idx: c_uint) -> herr_t {
        require_pair(did, dsid)?;
        if scale::is_reserved(did)? {
            return Err(Failure::bad_value("an image, palette or table has no scales"));
        }
        let at = scale::dimension(did, idx)?;
        if !scale::is_scale(dsid)? {
            set_scale(dsid)?;
        }
        attach(did, dsid, at, idx)?;
        Ok(0)
    }

    /// Detaches a scale from a dimension of a dataset.
    fn H5DSdetach_scale(did: hid_t, dsid: hid_t, idx: c_uint) -> herr_t {
        require_pair(did, dsid)?;
        let at = scale::dimension(did, idx)?;
        detach(did, dsid, at, idx)?;
        Ok(0)
    }

    /// Returns the number of scales of a dimension.
    fn H5DSget_num_scales(did: hid_t, idx: c_uint) -> c_int {
        object::require_dataset(did)?;
        let at = scale::dimension(did, idx)?;
        let list = DimensionList::read(did, scale::rank(did)?)?;
        let count = list.and_then(|list| list.scales.get(at).map(Vec::len)).map_or(0, |count| count);
        c_int::try_from(count).map_err(|_| Failure::bad_range("too many scales"))
    }

    /// Returns 1 if a dataset is a dimension scale, and 0 if not.
    fn H5DSis_scale(did: hid_t) -> htri_t {
        object::require_dataset(did)?;
        Ok(i32::from(scale::is_scale(did)?))
    }

    /// Returns 1 if a scale is attached to a dimension of a dataset, and 0 if not.
    fn H5DSis_attached(did: hid_t, dsid: hid_t, idx: c_uint) -> htri_t {
        require_pair(did, dsid)?;
        let at = scale::dimension(did, idx)?;
        Ok(i32::from(is_attached(did, dsid, at, idx)?))
    }

    /// Calls a function for each scale of a dimension, from the scale `idx` on. Stops if the
    /// function returns another value than 0, and returns this value.
    fn H5DSiterate_scales(did: hid_t, dim: c_uint, idx: Out<c_int>, visitor: Option<Visitor>, visitor_data: Opaque) -> herr_t {
        let visitor = visitor.ok_or_else(|| Failure::bad_value("no function"))?;
        object::require_dataset(did)?;
        let at = scale::dimension(did, dim)?;
        let list = DimensionList::read(did, scale::rank(did)?)?;
        let scales = list.as_ref().and_then(|list| list.scales.get(at)).map_or(&[] as &[_], Vec::as_slice);
        let first = match idx.get() {
            None => Some(0),
            Some(first) => usize::try_from(first).ok().filter(|first| *first < scales.len()),
        };
        let first = first.ok_or_else(|| Failure::bad_range("the dimension has no such scale"))?;
        let kind = list.as_ref().map_or(Kind::Old, |list| list.kind);
        for (number, bytes) in scales.iter().enumerate().skip(first) {
            idx.put(c_int::try_from(number).map_err(|_| Failure::bad_range("too many scales"))?);
            let scale = reference::open(kind, did, bytes)?;
            let answer = call_user!(visitor, did, dim, scale.get(), visitor_data);
            if answer != 0 {
                return Ok(answer);
            }
        }
        Ok(0)
    }
}

/// Checks that a dataset and a scale are two datasets, of which the first one is not a scale.
fn require_pair(dataset: hid_t, scale: hid_t) -> Outcome<()> {
    object::require_dataset(dataset)?;
    object::require_dataset(scale)?;
    if Reference::to(dataset, Kind::Old)?.is(Reference::to(scale, Kind::Old)?.bytes()) {
        return Err(Failure::bad_value("a dataset is not its own scale"));
    }
    if scale::is_scale(dataset)? {
        return Err(Failure::bad_value("a dimension scale has no scales"));
    }
    Ok(())
}

fn set_scale(dataset: hid_t) -> Outcome<()> {
    if object::has_attribute(dataset, scale::DIMENSION_LIST)? {
        return Err(Failure::bad_value("a dataset with scales is not a scale"));
    }
    object::set_text(dataset, CLASS, CLASS_VALUE)
}

fn attach(dataset: hid_t, scale: hid_t, at: usize, index: c_uint) -> Outcome<()> {
    let rank = scale::rank(dataset)?;
    let number = c_int::try_from(index).map_err(|_| Failure::bad_range("dimension"))?;
    let (dimensions, datasets) = (DimensionList::read(dataset, rank)?, ReferenceList::read(scale)?);
    let kind = dimensions.as_ref().map(|list| list.kind).or(datasets.as_ref().map(|list| list.kind));
    let kind = kind.unwrap_or(Kind::Old);
    let mut dimensions = dimensions.unwrap_or_else(|| DimensionList::empty(kind, rank));
    let mut datasets = datasets.unwrap_or_else(|| ReferenceList::empty(kind));
    let to_scale = Reference::to(scale, dimensions.kind)?;
    let to_dataset = Reference::to(dataset, datasets.kind)?;
    let scales = dimensions.scales.get_mut(at).ok_or_else(|| Failure::bad_range("dimension"))?;
    if !scales.iter().any(|known| to_scale.is(known)) {
        scales.push(to_scale.bytes().to_vec());
        dimensions.write(dataset)?;
    }
    if !datasets.entries.iter().any(|(known, of)| *of == number && to_dataset.is(known)) {
        datasets.entries.push((to_dataset.bytes().to_vec(), number));
        datasets.write(scale)?;
    }
    Ok(())
}

fn detach(dataset: hid_t, scale: hid_t, at: usize, index: c_uint) -> Outcome<()> {
    let not_attached = || Failure::bad_value("the scale is not attached to the dimension");
    let mut dimensions = DimensionList::read(dataset, scale::rank(dataset)?)?.ok_or_else(not_attached)?;
    let mut datasets = ReferenceList::read(scale)?.ok_or_else(not_attached)?;
    let to_scale = Reference::to(scale, dimensions.kind)?;
    let to_dataset = Reference::to(dataset, datasets.kind)?;
    let scales = dimensions.scales.get_mut(at).ok_or_else(not_attached)?;
    let found = scales.iter().position(|known| to_scale.is(known)).ok_or_else(not_attached)?;
    scales.remove(found);
    let entries = &mut datasets.entries;
    entries.retain(|(known, of)| c_int::try_from(index).ok() != Some(*of) || !to_dataset.is(known));
    dimensions.write(dataset)?;
    datasets.write(scale)
}

fn is_attached(dataset: hid_t, scale: hid_t, at: usize, index: c_uint) -> Outcome<bool> {
    let dimensions = DimensionList::read(dataset, scale::rank(dataset)?)?;
    let (Some(dimensions), Some(datasets)) = (dimensions, ReferenceList::read(scale)?) else {
        return Ok(false);
    };
    let to_scale = Reference::to(scale, dimensions.kind)?;
    let to_dataset = Reference::to(dataset, datasets.kind)?;
    let has_scale = dimensions.scales.get(at).is_some_and(|list| list.iter().any(|it| to_scale.is(it)));
    let mut entries = datasets.entries.iter();
    let same =
        |(known, of): &(Vec<u8>, c_int)| c_int::try_from(index).ok() == Some(*of) && to_dataset.is(known);
    Ok(has_scale && entries.any(same))
}
