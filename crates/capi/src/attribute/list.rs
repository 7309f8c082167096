//! Lists of an object's attributes, sorted by name or by creation order.

use std::ffi::c_int;

use hyperslab::{Attribute, Object};

use crate::ctypes::{Index, Order, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::group::links;

/// Returns the attributes of an object, sorted by an index (`H5_index_t`) and an iteration order
/// (`H5_iter_order_t`). If the object does not track the creation order, attributes keep the order
/// of their messages in the object header.
///
/// # Errors
/// Fails if the index or the order is unknown. Returns the errors of reading the object.
pub fn sorted(object: &Object, (index, order): (c_int, c_int)) -> Outcome<Vec<Attribute>> {
    let (index, order) = (links::index(index)?, links::order(order)?);
    let mut attributes = object.attributes()?;
    if index == Index::CreationOrder {
        // Attributes without a creation order keep the order of their messages in the object
        // header.
        attributes.sort_by_key(Attribute::creation_order);
    }
    if order == Order::Decreasing {
        attributes.reverse();
    }
    Ok(attributes)
}

/// Returns the name of the object's attribute at position `number` in the given index
/// (`H5_index_t`) and iteration order (`H5_iter_order_t`).
///
/// # Errors
/// Fails if the object has at most `number` attributes.
pub fn at(object: &Object, order: (c_int, c_int), number: hsize_t) -> Outcome<Vec<u8>> {
    let attributes = sorted(object, order)?;
    let number = usize::try_from(number)
        .map_err(|_| Failure::bad_value("the position of the attribute is out of range"))?;
    let found = attributes.get(number).because(
        codes::ATTR,
        codes::NOTFOUND,
        "the position of the attribute is out of range",
    )?;
    Ok(found.name_bytes().to_vec())
}
