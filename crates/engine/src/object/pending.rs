//! What the writers of heaps and symbol tables will take over.

use hyperslab_format::codec::Address;
use hyperslab_format::message::SymbolTable;

use super::container::Container;
use super::link::Link;
use crate::error::{Error, Result};
use crate::store::Edit;

fn dense<T>() -> Result<T> {
    Err(Error::unsupported("writing dense links and attributes"))
}

pub(super) fn create_heap(_: &mut Edit<'_>, _id_length: u16) -> Result<Address> {
    dense()
}

pub(super) fn insert(_: &mut Edit<'_>, _heap: Address, _bytes: &[u8]) -> Result<Vec<u8>> {
    dense()
}

pub(super) fn remove(_: &mut Edit<'_>, _heap: Address, _id: &[u8]) -> Result<()> {
    dense()
}

pub(super) fn delete_heap(_: &mut Edit<'_>, _heap: Address) -> Result<()> {
    dense()
}

pub(super) mod symbol_table {
    use super::*;

    fn old<T>() -> Result<T> {
        Err(Error::unsupported("writing groups of the old style"))
    }

    pub(in super::super) fn create(_: &Container, _: &mut Edit<'_>) -> Result<SymbolTable> {
        old()
    }

    pub(in super::super) fn insert(
        _: &Container,
        _: &mut Edit<'_>,
        _: &SymbolTable,
        _: &Link,
        _cached: Option<SymbolTable>,
    ) -> Result<bool> {
        old()
    }

    pub(in super::super) fn remove(
        _: &Container,
        _: &mut Edit<'_>,
        _: &SymbolTable,
        _name: &[u8],
    ) -> Result<Option<Link>> {
        old()
    }

    pub(in super::super) fn delete(_: &Container, _: &mut Edit<'_>, _: &SymbolTable) -> Result<()> {
        old()
    }
}
