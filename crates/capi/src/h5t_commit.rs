//! Datatype functions for committed datatypes (`H5Tcommit*`, `H5Topen*`, `H5Tcommitted`).

use std::sync::Arc;

use hyperslab::{CommittedDatatype, Datatype, Group, PhaseChange};

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, htri_t};
use crate::datatype::{self, TypeState, form};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Name};
use crate::file::open::creation_order;
use crate::file::traverse::{self, Parent};
use crate::plist::{self, Settings};
use crate::pointer::Text;
use crate::symbols;

/// Checks that a datatype is neither committed nor immutable.
fn check(type_id: hid_t) -> Outcome<()> {
    let handle = datatype::find(type_id)?;
    let state = handle.0.read();
    if state.committed.is_some() {
        return Err(Failure::new(codes::ARGS, codes::BADVALUE, "datatype is already committed"));
    }
    if state.state == TypeState::Immutable {
        return Err(Failure::new(codes::ARGS, codes::BADVALUE, "datatype is immutable"));
    }
    Ok(())
}

/// Checks that two identifiers refer to a datatype creation list and a datatype access list.
fn require_lists(tcpl: hid_t, tapl: hid_t) -> Outcome<()> {
    plist::require_class(tcpl, symbols::CLASS_DATATYPE_CREATE, "datatype creation list")?;
    plist::require_class(tapl, symbols::CLASS_DATATYPE_ACCESS, "datatype access list")
}

/// Stores a datatype as an object without a link, with the properties of a datatype creation list.
fn stored(group: &Group, datatype: &Datatype, tcpl: hid_t) -> Outcome<CommittedDatatype> {
    let object = plist::object_create(tcpl)?;
    let small = |count: u32| {
        u16::try_from(count).map_err(|_| Failure::bad_value("the number of attributes exceeds 65535"))
    };
    let phase_change =
        PhaseChange { max_compact: small(object.max_compact)?, min_dense: small(object.min_dense)? };
    let order = creation_order(object.attribute_order);
    Ok(group.commit_unlinked_datatype_with(datatype, order, phase_change)?)
}

/// Stores a datatype in the file of `loc` as a committed datatype with a link at the path `name`.
fn commit(loc: hid_t, name: &[u8], type_id: hid_t, lcpl: hid_t, tcpl: hid_t) -> Outcome<()> {
    check(type_id)?;
    let handle = datatype::find(type_id)?;
    let (charset, intermediate) = traverse::link_creation(lcpl)?;
    let Parent { group, place, last } = traverse::parent(loc, name, H5P_DEFAULT, intermediate)?;
    if group.by_bytes().link(last)?.is_some() {
        return Err(Failure::new(codes::SYM, codes::EXISTS, "name already exists"));
    }
    let in_file = form::file(&handle.datatype(), place.shared.offset_bytes());
    let committed = stored(&group, &in_file, tcpl)?;
    group.by_bytes().insert(last, charset, hyperslab::LinkTarget::Hard(committed.token()))?;
    let location = place.with_name(place.name.join(last));
    let mut state = handle.0.write();
    state.committed = Some((Arc::new(committed), location));
    state.state = TypeState::ReadOnly;
    Ok(())
}

/// Opens the committed datatype at the path `name` and returns the datatype's identifier.
fn open(loc: hid_t, name: Text, tapl: hid_t) -> Outcome<hid_t> {
    let (object, place) = traverse::open(loc, name.name("datatype name")?, tapl)?;
    if object.kind() != Some(hyperslab::ObjectKind::Datatype) {
        return Err(Failure::new(codes::DATATYPE, codes::BADTYPE, "not a committed datatype"));
    }
    crate::h5o::register((object, place), H5P_DEFAULT)
}

export! {
    /// Stores a datatype in the file as a committed datatype with a link at the path `name`.
    fn H5Tcommit2(loc: hid_t, name: Text, type_id: hid_t, lcpl: hid_t, tcpl: hid_t, tapl: hid_t) -> herr_t {
        require_lists(tcpl, tapl)?;
        let name = name.name("datatype name")?;
        commit(loc, name, type_id, lcpl, tcpl)
            .because(codes::DATATYPE, codes::CANTINIT, "unable to synchronously commit datatype")?;
        Ok(0)
    }

    /// Stores a datatype in the file as a committed datatype with a link at the path `name` (HDF5
    /// 1.6 form).
    fn H5Tcommit1(loc: hid_t, name: Text, type_id: hid_t) -> herr_t {
        let name = name.name("datatype name")?;
        commit(loc, name, type_id, H5P_DEFAULT, H5P_DEFAULT)
            .because(codes::DATATYPE, codes::CANTINIT, "unable to commit datatype")?;
        Ok(0)
    }

    /// Stores a datatype as a committed datatype without a link in the file of `loc`.
    fn H5Tcommit_anon(loc: hid_t, type_id: hid_t, tcpl: hid_t, tapl: hid_t) -> herr_t {
        require_lists(tcpl, tapl)?;
        check(type_id)?;
        let handle = datatype::find(type_id)?;
        let (_, place) = location::find(loc)?;
        let in_file = form::file(&handle.datatype(), place.shared.offset_bytes());
        let committed = stored(place.shared.file.root(), &in_file, tcpl)
            .because(codes::DATATYPE, codes::CANTINIT, "unable to commit datatype")?;
        let location = place.with_name(Name::default());
        let mut state = handle.0.write();
        state.committed = Some((Arc::new(committed), location));
        state.state = TypeState::ReadOnly;
        Ok(0)
    }

    /// Opens the committed datatype at the path `name` and returns its identifier.
    fn H5Topen2(loc: hid_t, name: Text, tapl: hid_t) -> hid_t {
        open(loc, name, tapl)
            .because(codes::DATATYPE, codes::CANTOPENOBJ, "unable to synchronously open named datatype")
    }

    /// Opens the committed datatype at the path `name` with default properties and returns its
    /// identifier.
    fn H5Topen1(loc: hid_t, name: Text) -> hid_t {
        open(loc, name, H5P_DEFAULT).because(codes::DATATYPE, codes::CANTOPENOBJ, "unable to open named datatype")
    }

    /// Returns whether a datatype is a committed datatype.
    fn H5Tcommitted(type_id: hid_t) -> htri_t {
        Ok(htri_t::from(datatype::find(type_id)?.0.read().committed.is_some()))
    }

    /// Returns the identifier of a new datatype creation list with the committed datatype's
    /// creation properties.
    fn H5Tget_create_plist(type_id: hid_t) -> hid_t {
        let committed = datatype::find(type_id)?.0.read().committed.clone();
        let create = match committed {
            Some((committed, _)) => crate::h5g::object_creation_of(&committed)?,
            None => plist::settings::ObjectCreate::default(),
        };
        plist::make::register(symbols::CLASS_DATATYPE_CREATE, Settings::ObjectCreate(create))
    }

    /// Writes the dirty data of the file that contains a committed datatype.
    fn H5Tflush(type_id: hid_t) -> herr_t {
        if datatype::find(type_id)?.0.read().committed.is_none() {
            return Err(Failure::bad_type("not a committed datatype"));
        }
        crate::h5f::flush_object(type_id).because(codes::DATATYPE, codes::CANTFLUSH, "unable to flush datatype")
    }

    /// Discards cached metadata of a committed datatype and reads the metadata again from the file.
    fn H5Trefresh(type_id: hid_t) -> herr_t {
        if datatype::find(type_id)?.0.read().committed.is_none() {
            return Err(Failure::bad_type("not a committed datatype"));
        }
        crate::h5o::refresh(type_id).because(codes::DATATYPE, codes::CANTLOAD, "unable to refresh datatype")
    }
}
