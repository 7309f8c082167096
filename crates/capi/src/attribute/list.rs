//! The attributes of an object in the orders in which programs ask for them.

use std::ffi::c_int;

use hyperslab::{Attribute, Object};

use crate::ctypes::{Index, Order, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::group::links;

/// Returns the attributes of an object in an order, with the numbers of `H5_index_t` and
/// `H5_iter_order_t`. Without a tracked order of creation, the order in the file is used.
///
/// # Errors
/// Fails for other numbers. Returns the errors of reading the object.
pub fn sorted(object: &Object, (index, order): (c_int, c_int)) -> Outcome<Vec<Attribute>> {
    let (index, order) = (links::index(index)?, links::order(order)?);
    let mut attributes = object.attributes()?;
    if index == Index::CreationOrder {
        // Attributes without a creation order keep the order of their messages.
        attributes.sort_by_key(Attribute::creation_order);
    }
    if order == Order::Decreasing {
        attributes.reverse();
    }
    Ok(attributes)
}

/// Returns the name of an attribute by its position in an order.
///
/// # Errors
/// Fails if there are fewer attributes.
pub fn at(object: &Object, order: (c_int, c_int), number: hsize_t) -> Outcome<Vec<u8>> {
    let attributes = sorted(object, order)?;
    let number = usize::try_from(number).map_err(|_| Failure::bad_value("the position is out of range"))?;
    let found =
        attributes.get(number).because(codes::ATTR, codes::NOTFOUND, "the position is out of range")?;
    Ok(found.name_bytes().to_vec())
}
