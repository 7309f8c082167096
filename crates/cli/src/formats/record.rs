//! Packed compound datatypes for the records of tables.

use anyhow::{Context as _, Result};
use hyperslab::Datatype;
use hyperslab::datatype::Member;

/// Returns the compound datatype of the given members without gaps. Returns an error if an element
/// has 4 GiB or more.
pub(crate) fn packed<'n>(members: impl Iterator<Item = Result<(&'n str, Datatype)>>) -> Result<Datatype> {
    let mut listed = Vec::new();
    let mut size = 0_u32;
    for member in members {
        let (name, datatype) = member?;
        let next = size.checked_add(datatype.size).context("a record of the table has 4 GiB or more")?;
        listed.push(Member { name: name.as_bytes().to_vec(), offset: size, datatype });
        size = next;
    }
    Ok(Datatype::compound(size, listed))
}
