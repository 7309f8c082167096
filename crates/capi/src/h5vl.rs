//! Virtual object layer functions (`H5VL*`). The only connector is `native`, which stands for
//! hyperslab itself.

use std::ffi::{c_int, c_void};

use crate::ctypes::{H5O_token_t, haddr_t, herr_t, hid_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location;
use crate::id::{self, Entry};
use crate::pointer::{In, Out, Text, TextBuffer};
use crate::symbols::NATIVE_CONNECTOR;

/// The name of the native virtual object layer connector.
const NATIVE: &[u8] = b"native";
/// The number of the native virtual object layer connector (`H5VL_NATIVE_VALUE`).
const NATIVE_VALUE: c_int = 0;

/// Adds a reference to the native virtual object layer connector and returns its identifier. Fails
/// for other names.
fn native(name: &[u8]) -> Outcome<hid_t> {
    if name != NATIVE {
        return Err(Failure::new(codes::VOL, codes::UNSUPPORTED, "only the native connector exists"));
    }
    id::increment(NATIVE_CONNECTOR);
    Ok(NATIVE_CONNECTOR)
}

/// Returns the name of the virtual object layer connector to which an identifier refers.
fn find(id: hid_t) -> Outcome<&'static str> {
    match id::find(id) {
        Some(Entry::Connector(name)) => Ok(name),
        _ => Err(Failure::bad_type("not a VOL connector ID")),
    }
}

export! {
    /// Returns the identifier of the virtual object layer connector with the given name.
    fn H5VLregister_connector_by_name(name: Text, list: hid_t) -> hid_t {
        let _ = list;
        native(name.name("connector name")?).because(codes::VOL, codes::CANTREGISTER, "unable to register VOL connector")
    }

    /// Returns the identifier of the virtual object layer connector with the given number.
    fn H5VLregister_connector_by_value(value: c_int, list: hid_t) -> hid_t {
        let _ = list;
        let name = if value == NATIVE_VALUE { NATIVE } else { b"" };
        native(name).because(codes::VOL, codes::CANTREGISTER, "unable to register VOL connector")
    }

    /// Returns whether a virtual object layer connector with the given name is registered.
    fn H5VLis_connector_registered_by_name(name: Text) -> htri_t {
        Ok(htri_t::from(name.name("connector name")? == NATIVE))
    }

    /// Returns whether a virtual object layer connector with the given number is registered.
    fn H5VLis_connector_registered_by_value(value: c_int) -> htri_t {
        Ok(htri_t::from(value == NATIVE_VALUE))
    }

    /// Returns the identifier of the virtual object layer connector through which an object was
    /// opened.
    fn H5VLget_connector_id(object: hid_t) -> hid_t {
        location::find(object)?;
        native(NATIVE)
    }

    /// Returns the identifier of the virtual object layer connector with the given name.
    fn H5VLget_connector_id_by_name(name: Text) -> hid_t {
        native(name.name("connector name")?).because(codes::VOL, codes::CANTGET, "can't get VOL connector ID")
    }

    /// Returns the identifier of the virtual object layer connector with the given number.
    fn H5VLget_connector_id_by_value(value: c_int) -> hid_t {
        native(if value == NATIVE_VALUE { NATIVE } else { b"" })
            .because(codes::VOL, codes::CANTGET, "can't get VOL connector ID")
    }

    /// Copies the name of an object's virtual object layer connector to `name` and returns the
    /// name's length.
    fn H5VLget_connector_name(object: hid_t, name: TextBuffer, size: usize) -> isize {
        if find(object).is_err() {
            location::find(object)?;
        }
        name.put(NATIVE, size);
        crate::text::length(NATIVE)
    }

    /// Releases a reference to the identifier of a virtual object layer connector.
    fn H5VLclose(connector: hid_t) -> herr_t {
        find(connector)?;
        crate::h5i::release(connector).because(codes::VOL, codes::CANTDEC, "unable to close VOL connector ID")?;
        Ok(0)
    }

    /// Releases a reference to the identifier of a virtual object layer connector. Fails for the
    /// native connector.
    fn H5VLunregister_connector(connector: hid_t) -> herr_t {
        find(connector)?;
        if connector == NATIVE_CONNECTOR {
            let text = "unregistering the native VOL connector is not allowed";
            return Err(Failure::new(codes::VOL, codes::BADVALUE, text));
        }
        crate::h5i::release(connector)?;
        Ok(0)
    }

    /// Stores in `result` whether two virtual object layer connectors differ.
    fn H5VLcmp_connector_cls(result: Out<c_int>, one: hid_t, other: hid_t) -> herr_t {
        let order = find(one)?.cmp(find(other)?);
        result.require("result")?.put(order as c_int);
        Ok(0)
    }

    /// Stores `true` in `is_native`, because all objects belong to the native virtual object layer
    /// connector.
    fn H5VLobject_is_native(object: hid_t, is_native: Out<bool>) -> herr_t {
        is_native.require("`is_native` argument")?;
        location::find(object)?;
        is_native.put(true);
        Ok(0)
    }

    /// Returns the identifier of the native virtual object layer connector.
    fn H5VL_native_register() -> hid_t {
        native(NATIVE)
    }

    /// Stores in `token` the object token of the object whose header is at `address`.
    fn H5VLnative_addr_to_token(loc: hid_t, address: haddr_t, token: Out<H5O_token_t>) -> herr_t {
        location::find(loc)?;
        token.require("token")?.put(H5O_token_t::of(address));
        Ok(0)
    }

    /// Stores in `address` the address of the object header that an object token names.
    fn H5VLnative_token_to_addr(loc: hid_t, token: H5O_token_t, address: Out<haddr_t>) -> herr_t {
        location::find(loc)?;
        address.require("address")?.put(token.address());
        Ok(0)
    }

    /// Stores in `flags` that an object's connector supports an optional operation. The native
    /// connector supports all operations of the interface.
    fn H5VLquery_optional(object: hid_t, kind: c_int, operation: c_int, flags: Out<u64>) -> herr_t {
        let _ = (kind, operation);
        location::find(object)?;
        flags.require("flags")?.put(1);
        Ok(0)
    }

    /// Stores in `flags` the capabilities of a virtual object layer connector (`H5VL_CAP_FLAG_*`).
    fn H5VLintrospect_get_cap_flags(info: In<c_void_t>, connector: hid_t, flags: Out<u64>) -> herr_t {
        let _ = info;
        find(connector)?;
        flags.require("capability flags")?.put(u64::MAX >> 38);
        Ok(0)
    }

    /// Stores null in `info`, because the native virtual object layer connector has no
    /// configuration.
    fn H5VLconnector_str_to_info(text: Text, connector: hid_t, info: Out<*mut c_void>) -> herr_t {
        let _ = text;
        find(connector)?;
        info.put(std::ptr::null_mut());
        Ok(0)
    }

    /// Returns success without an effect: the native virtual object layer connector has no
    /// configuration.
    fn H5VLfree_connector_info(connector: hid_t, info: *mut c_void) -> herr_t {
        let _ = info;
        find(connector)?;
        Ok(0)
    }
}

/// One byte of the configuration of a virtual object layer connector, which the library does not
/// read.
pub type c_void_t = u8;
