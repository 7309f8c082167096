//! Lists of a group's links, sorted by name or by creation order.

use std::ffi::c_int;

use hyperslab::{CreationOrder, Group, Link};

use crate::ctypes::{Index, Order, counted, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};

/// Converts the number of an iteration index (`H5_index_t`) to the index: by name or by creation
/// order.
///
/// # Errors
/// Fails if the number is unknown.
pub fn index(number: c_int) -> Outcome<Index> {
    match number {
        0 => Ok(Index::Name),
        1 => Ok(Index::CreationOrder),
        _ => Err(Failure::bad_value("unknown iteration index")),
    }
}

/// Converts the number of an iteration order (`H5_iter_order_t`) to the order: increasing,
/// decreasing or native.
///
/// # Errors
/// Fails if the number is unknown.
pub fn order(number: c_int) -> Outcome<Order> {
    match number {
        0 => Ok(Order::Increasing),
        1 => Ok(Order::Decreasing),
        2 => Ok(Order::Native),
        _ => Err(Failure::bad_value("unknown iteration order")),
    }
}

/// Returns the links of a group, sorted by an index (`H5_index_t`) in an iteration order.
///
/// # Errors
/// Fails if the index is the creation order and the group does not track it.
pub fn sorted(group: &Group, index: Index, order: Order) -> Outcome<Vec<Link>> {
    if index == Index::CreationOrder && group.link_order()? == CreationOrder::Untracked {
        let text = "the group does not track the creation order of its links";
        return Err(Failure::new(codes::SYM, codes::NOTFOUND, text));
    }
    let mut links = group.links()?;
    match index {
        Index::Name => links.sort_by(|one, other| one.name.cmp(&other.name)),
        Index::CreationOrder => links.sort_by_key(|link| link.creation_order),
    }
    if order == Order::Decreasing {
        links.reverse();
    }
    Ok(links)
}

/// Returns the group's link at position `number` in the given index (`H5_index_t`) and iteration
/// order.
///
/// # Errors
/// Fails if the group has at most `number` links.
pub fn at(group: &Group, index: Index, order: Order, number: hsize_t) -> Outcome<Link> {
    let links = sorted(group, index, order)?;
    let number = usize::try_from(number)
        .map_err(|_| Failure::bad_value("the position of the link is out of range"))?;
    links.into_iter().nth(number).because(
        codes::ARGS,
        codes::BADVALUE,
        "the position of the link is out of range",
    )
}

/// Returns the creation order number for the next new link of the group. Returns 0 if the group
/// does not track the creation order.
///
/// # Errors
/// Returns the errors of reading the group.
pub fn next_creation_order(group: &Group) -> Outcome<i64> {
    let next = group.next_link_order()?.unwrap_or(0); // As the C library reports for other groups.
    counted(next)
}
