//! `/attr`: the values of attributes.

use hyperslab::{Attribute, CreationOrder, Dataspace, Object};
use hyperslab_exact::to_usize;

use super::entity::{self, Links};
use super::json::{Nested, Texts};
use super::{Answer, Asked, Failure};

pub(super) fn answer(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let path = asked.query.path();
    let entity = entity::find(&asked.file, path, Links::OnlyValid)?;
    let object = entity
        .object()
        .ok_or_else(|| Failure::refused(format!("{path} is a link that leads to no object")))?;
    let names: Vec<&str> = asked.query.all("attr_keys").collect();
    let mut out = Vec::from(b"{");
    let limit = asked.limits.response_bytes;
    if names.is_empty() {
        for attribute in in_order(object)? {
            // One attribute that cannot be read must not hide the others.
            let value = value(&attribute, limit).unwrap_or_else(|_| b"null".to_vec());
            add(&mut out, &attribute.name(), &value)?;
        }
    } else {
        let mut seen = std::collections::HashSet::new();
        for name in names {
            if seen.insert(name) {
                let attribute = object.attribute(name)?;
                add(&mut out, name, &value(&attribute, limit)?)?;
            }
        }
    }
    out.push(b'}');
    Ok(Answer::bytes("application/json", out))
}

fn add(out: &mut Vec<u8>, name: &str, value: &[u8]) -> Result<(), Failure> {
    if out.len() > 1 {
        out.push(b',');
    }
    serde_json::to_writer(&mut *out, name).map_err(|error| Failure::internal(error.to_string()))?;
    out.push(b':');
    out.extend_from_slice(value);
    Ok(())
}

/// Returns the attributes in the order in which h5py lists them.
fn in_order(object: &Object) -> Result<Vec<Attribute>, Failure> {
    let mut attributes = object.attributes()?;
    if object.attribute_order()? != CreationOrder::Untracked {
        attributes.sort_by_key(Attribute::creation_order);
    }
    Ok(attributes)
}

/// Returns the value of an attribute as JSON.
fn value(attribute: &Attribute, limit: u64) -> Result<Vec<u8>, Failure> {
    let space = attribute.dataspace()?;
    if space == Dataspace::Null {
        return Ok(b"null".to_vec());
    }
    let stored = attribute.read_stored()?;
    if hyperslab_exact::to_u64(stored.bytes().len()) > limit {
        return Err(Failure::refused("the attribute is larger than the largest answer"));
    }
    let texts = Texts::of(stored.datatype());
    let mut out = Vec::new();
    let mut nested = Nested::new(texts.shape(space.dims()));
    nested.start(&mut out)?;
    let count = to_usize(space.element_count().unwrap_or(0)).map_err(hyperslab::Error::from)?;
    texts.write(&stored.column()?, count, &mut nested, &mut out)?;
    Ok(out)
}
