//! Group functions (`H5G*`).

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use hyperslab::filter::FilterSpec;
use hyperslab::{CreationOrder, Group, GroupStorage, ObjectKind};

use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, Index, Order, counted, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location};
use crate::file::open::group_options;
use crate::file::traverse::{self, Parent};
use crate::group::{GroupHandle, links};
use crate::id::{self, Entry};
use crate::plist::settings::{FilterEntry, GroupCreate, ObjectCreate};
use crate::plist::{self, Settings};
use crate::pointer::{Out, Text, TextBuffer};
use crate::symbols;

/// Information about a group (`H5G_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5G_info_t {
    /// The storage of the links: symbol table, compact or dense (`H5G_storage_type_t`).
    pub storage_type: c_int,
    /// The number of links in the group.
    pub nlinks: hsize_t,
    /// The creation order value of the next link.
    pub max_corder: i64,
    /// True if a file is mounted on the group.
    pub mounted: bool,
}

const _: () = assert!(size_of::<H5G_info_t>() == 32);

/// The C type of a user's function that visits a link of a group (`H5G_iterate_t`).
pub type Visit = unsafe extern "C" fn(hid_t, *const c_char, *mut c_void) -> herr_t;

/// Registers an open group and returns the group's new identifier.
pub fn register(group: Group, location: Location) -> hid_t {
    id::register(Entry::Group(Arc::new(GroupHandle { group, location })))
}

/// Converts hyperslab's creation order tracking to the flags `H5P_CRT_ORDER_*`.
pub fn order_flags(order: CreationOrder) -> c_uint {
    match order {
        CreationOrder::Untracked => 0,
        CreationOrder::Tracked => 1,
        CreationOrder::Indexed => 3,
    }
}

/// Returns the object creation properties of an existing object: the storage of its attributes and
/// the tracking of times. Objects of all kinds have these properties.
///
/// # Errors
/// Returns the errors of reading the object header.
pub fn object_creation_of(object: &hyperslab::Object) -> Outcome<ObjectCreate> {
    let change = object.attribute_phase_change()?;
    Ok(ObjectCreate {
        max_compact: change.max_compact.into(),
        min_dense: change.min_dense.into(),
        attribute_order: order_flags(object.attribute_order()?),
        track_times: object.tracks_times()?,
        ..ObjectCreate::default()
    })
}

/// Returns the creation properties of an existing group.
///
/// # Errors
/// Returns the errors of reading the group.
pub fn creation_of(group: &Group) -> Outcome<GroupCreate> {
    let (change, estimated) = (group.link_phase_change()?, group.estimated_links()?);
    Ok(GroupCreate {
        object: object_creation_of(group)?,
        local_heap_size: 0,
        estimated_links: estimated.count.into(),
        estimated_name_length: estimated.name_length.into(),
        max_compact: change.max_compact.into(),
        min_dense: change.min_dense.into(),
        link_order: order_flags(group.link_order()?),
        filters: group.link_filters()?.iter().map(FilterEntry::from).collect(),
    })
}

/// Returns the filters for the links of a new group, and adds them to the filters of the file.
fn filters_of(create: &GroupCreate, place: &Location) -> Outcome<Vec<FilterSpec>> {
    crate::filter::provide(&place.shared, create.filters.iter().map(|filter| filter.id));
    let missing = create.filters.iter().any(|filter| !crate::filter::is_available(filter.id));
    if missing {
        return Err(Failure::new(codes::PLINE, codes::NOFILTER, "a filter of the group is not available"));
    }
    let spec = |filter: &FilterEntry| filter.spec();
    let filters: Option<Vec<_>> = create.filters.iter().map(spec).collect();
    filters.because(codes::PLINE, codes::BADVALUE, "not a filter identifier")
}

/// Creates a group with a link at the path `name` and returns the group's identifier.
fn create(loc: hid_t, name: &[u8], lists: (hid_t, hid_t, hid_t)) -> Outcome<hid_t> {
    let (charset, intermediate) = traverse::link_creation(lists.0)?;
    let create =
        plist::group_create(lists.1).because(codes::ARGS, codes::BADTYPE, "not a group creation list")?;
    let Parent { group, place, last } = traverse::parent(loc, name, lists.2, intermediate)?;
    let filters = filters_of(&create, &place)?;
    let made = group.by_bytes().create_filtered_group(last, charset, group_options(&create)?, &filters)?;
    let location = place.with_name(place.name.join(last));
    Ok(register(made, location))
}

/// Opens the group at the path `name` and returns the group's identifier.
fn open(loc: hid_t, name: Text, gapl: hid_t) -> Outcome<hid_t> {
    let (object, place) = traverse::open(loc, name.name("group name")?, gapl)?;
    let group = object.into_group().map_err(Failure::from);
    let group = group.because(codes::SYM, codes::BADTYPE, "not a group")?;
    let filters = group.link_filters()?;
    crate::filter::provide(&place.shared, filters.iter().map(|filter| filter.id().0.into()));
    Ok(register(group, place))
}

/// Returns information about an open group in the C form (`H5G_info_t`).
fn info_of(group: &Group, place: &Location) -> Outcome<H5G_info_t> {
    let storage_type = match group.storage()? {
        GroupStorage::SymbolTable => 0,
        GroupStorage::Compact => 1,
        GroupStorage::Dense => 2,
    };
    let count = hyperslab_exact::to_u64(group.len()?);
    let max_corder = match group.link_order()? {
        CreationOrder::Untracked => 0,
        _ => links::next_creation_order(group)?,
    };
    let mounted = place.shared.mounts.read().iter().any(|mount| mount.group == group.token());
    Ok(H5G_info_t { storage_type, nlinks: count, max_corder, mounted })
}

/// Returns the group to which an identifier refers. A file identifier stands for the root group.
fn group_of(loc: hid_t) -> Outcome<(Group, Location)> {
    let (object, place) = location::find(loc)?;
    let group = object.into_group().map_err(Failure::from);
    Ok((group.because(codes::ARGS, codes::BADTYPE, "not a group")?, place))
}

/// Returns the kind of the object at a link of the group, in the numbering of HDF5 1.6
/// (`H5G_obj_t`).
fn old_kind(group: &Group, place: &Location, name: &[u8]) -> Outcome<c_int> {
    let link =
        group.by_bytes().link(name)?.because(codes::SYM, codes::NOTFOUND, "the link does not exist")?;
    match link.target {
        hyperslab::LinkTarget::Hard(_) => {}
        hyperslab::LinkTarget::Soft(_) => return Ok(3),
        _ => return Ok(4),
    }
    let start = ((**group).clone(), place.clone());
    let (object, _place) = traverse::follow(start, name, &plist::settings::LinkAccess::default())?;
    Ok(match object.kind() {
        Some(ObjectKind::Group) => 0,
        Some(ObjectKind::Dataset) => 1,
        Some(ObjectKind::Datatype) => 2,
        _ => -1,
    })
}

export! {
    /// Creates a group with a link at the path `name` and returns the group's identifier.
    fn H5Gcreate2(loc: hid_t, name: Text, lcpl: hid_t, gcpl: hid_t, gapl: hid_t) -> hid_t {
        let name = name.name("group name")?;
        create(loc, name, (lcpl, gcpl, gapl))
            .because(codes::SYM, codes::CANTCREATE, "unable to synchronously create group")
    }

    /// Creates a group with a link at the path `name` and returns its identifier (HDF5 1.6 form).
    fn H5Gcreate1(loc: hid_t, name: Text, size_hint: usize) -> hid_t {
        let _ = size_hint;
        let name = name.name("group name")?;
        create(loc, name, (H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))
            .because(codes::SYM, codes::CANTINIT, "unable to create group")
    }

    /// Creates a group without a link in the file of `loc` and returns the group's identifier.
    fn H5Gcreate_anon(loc: hid_t, gcpl: hid_t, gapl: hid_t) -> hid_t {
        plist::require_class(gapl, symbols::CLASS_GROUP_ACCESS, "group access list")?;
        let create =
            plist::group_create(gcpl).because(codes::ARGS, codes::BADTYPE, "not a group creation list")?;
        if !create.filters.is_empty() {
            return Err(Failure::unsupported("filters of groups without a link are not supported"));
        }
        let (_, place) = location::find(loc)?;
        let root = place.shared.file.root();
        let made = root.create_unlinked_group(group_options(&create)?)
            .because(codes::SYM, codes::CANTCREATE, "unable to create group")?;
        let location = place.with_name(location::Name::default());
        Ok(register(made, location))
    }

    /// Opens the group at the path `name` and returns its identifier.
    fn H5Gopen2(loc: hid_t, name: Text, gapl: hid_t) -> hid_t {
        open(loc, name, gapl).because(codes::SYM, codes::CANTOPENOBJ, "unable to synchronously open group")
    }

    /// Opens the group at the path `name` with default properties and returns its identifier.
    fn H5Gopen1(loc: hid_t, name: Text) -> hid_t {
        open(loc, name, H5P_DEFAULT).because(codes::SYM, codes::CANTOPENOBJ, "unable to open group")
    }

    /// Closes a group identifier.
    fn H5Gclose(group: hid_t) -> herr_t {
        crate::group::find(group)?;
        crate::h5i::release(group).because(codes::SYM, codes::CANTRELEASE, "unable to close group")?;
        Ok(0)
    }

    /// Returns the identifier of a new group creation list with the group's creation properties.
    fn H5Gget_create_plist(group: hid_t) -> hid_t {
        let create = creation_of(&crate::group::find(group)?.group)?;
        plist::make::register(symbols::CLASS_GROUP_CREATE, Settings::GroupCreate(create))
    }

    /// Stores information about the group `loc` in `info`.
    fn H5Gget_info(loc: hid_t, info: Out<H5G_info_t>) -> herr_t {
        let (group, place) = group_of(loc)?;
        info.require("info")?.put(info_of(&group, &place)?);
        Ok(0)
    }

    /// Stores information about the group at the path `name` in `info`.
    fn H5Gget_info_by_name(loc: hid_t, name: Text, info: Out<H5G_info_t>, lapl: hid_t) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("group name")?, lapl)
            .because(codes::SYM, codes::CANTGET, "unable to get group info")?;
        info.require("info")?.put(info_of(&object.into_group()?, &place)?);
        Ok(0)
    }

    /// Stores information about a group: the group to which the link at position `number` of
    /// another group leads.
    fn H5Gget_info_by_idx(
        loc: hid_t,
        name: Text,
        index: c_int,
        order: c_int,
        number: hsize_t,
        info: Out<H5G_info_t>,
        lapl: hid_t,
    ) -> herr_t {
        let (object, place) = traverse::open(loc, name.name("group name")?, lapl)?;
        let link = links::at(&object.clone().into_group()?, links::index(index)?, links::order(order)?, number)?;
        let (object, place) = traverse::follow((object, place), &link.name, &plist::link_access(lapl)?)?;
        info.require("info")?.put(info_of(&object.into_group()?, &place)?);
        Ok(0)
    }

    /// Writes the dirty data of the file that contains the group.
    fn H5Gflush(group: hid_t) -> herr_t {
        crate::group::find(group)?;
        crate::h5f::flush_object(group).because(codes::SYM, codes::CANTFLUSH, "unable to flush group")
    }

    /// Discards cached metadata of a group and reads the metadata again from the file.
    fn H5Grefresh(group: hid_t) -> herr_t {
        crate::h5o::refresh(group).because(codes::SYM, codes::CANTLOAD, "unable to refresh group")
    }

    /// Stores in `count` the number of links of a group.
    fn H5Gget_num_objs(loc: hid_t, count: Out<hsize_t>) -> herr_t {
        let (group, _) = group_of(loc)?;
        count.require("count")?.put(hyperslab_exact::to_u64(group.len()?));
        Ok(0)
    }

    /// Copies the name of the group's link at position `number` in name order to `name`, and
    /// returns its length.
    fn H5Gget_objname_by_idx(loc: hid_t, number: hsize_t, name: TextBuffer, size: usize) -> isize {
        let (group, _) = group_of(loc)?;
        let link = links::at(&group, Index::Name, Order::Increasing, number)?;
        name.put(&link.name, size);
        crate::text::length(&link.name)
    }

    /// Returns the kind of an object (`H5G_obj_t`): the object at the group's link at position
    /// `number` in name order.
    fn H5Gget_objtype_by_idx(loc: hid_t, number: hsize_t) -> c_int {
        let (group, place) = group_of(loc)?;
        let link = links::at(&group, Index::Name, Order::Increasing, number)?;
        old_kind(&group, &place, &link.name)
    }

    /// Calls the user's function `function` for each link of the group at path `name` until the
    /// function returns a nonzero value.
    fn H5Giterate(
        loc: hid_t,
        name: Text,
        position: Out<c_int>,
        function: Option<Visit>,
        data: *mut c_void,
    ) -> herr_t {
        let function = function.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        let (object, place) = traverse::open(loc, name.name("group name")?, H5P_DEFAULT)?;
        let group = object.into_group()?;
        let listed = links::sorted(&group, Index::Name, Order::Increasing)?;
        let first = usize::try_from(position.get().unwrap_or(0)).map_err(|_| Failure::bad_value("the start position is too large"))?;
        if first > 0 && first >= listed.len() {
            return Err(Failure::bad_value("the start position is beyond the last link"));
        }
        let group_id = register(group, place);
        let mut outcome = 0;
        for (at, link) in listed.iter().enumerate().skip(first) {
            let name = crate::error::stack::text(&link.name);
            outcome = call_user!(function, group_id, name.as_ptr(), data);
            position.put(counted(at + 1)?);
            if outcome != 0 {
                break;
            }
        }
        crate::h5i::release(group_id)?;
        if outcome < 0 {
            return Err(Failure::new(codes::SYM, codes::BADITER, "the user's function failed"));
        }
        Ok(outcome)
    }
}
