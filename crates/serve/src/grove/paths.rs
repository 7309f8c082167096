//! `/paths`: the paths of all objects below a group.

use std::collections::HashSet;

use hyperslab::{Group, LinkTarget, Object, ObjectToken};
use serde_json::{Value, json};

use super::entity::{self, Entity, Links};
use super::{Answer, Asked, Failure};

/// The largest number of paths in an answer.
const MAX_PATHS: usize = 2_000_000;

pub(super) fn answer(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let links = Links::of(asked.query)?;
    let path = asked.query.path();
    let Entity::Group(group) = entity::find(&asked.file, path, links)? else {
        return Err(Failure::refused(format!("{path} is not a group")));
    };
    let mut walk = Walk { links, paths: vec![json!(path)], seen: HashSet::from([group.token()]) };
    walk.visit(group, path.trim_end_matches('/'))?;
    Ok(Answer::json(&Value::Array(walk.paths)))
}

/// A walk over the links below a group. Soft and external links are listed, but only hard links
/// are followed, to each group once.
struct Walk {
    links: Links,
    paths: Vec<Value>,
    seen: HashSet<ObjectToken>,
}

impl Walk {
    fn visit(&mut self, group: Group, path: &str) -> Result<(), Failure> {
        // Links in reverse order, so that the next one is at the end.
        let mut open = vec![(group.links()?.into_iter().rev().collect::<Vec<_>>(), group, path.to_owned())];
        while let Some((links, group, path)) = open.last_mut() {
            let Some(link) = links.pop() else {
                open.pop();
                continue;
            };
            if self.paths.len() >= MAX_PATHS {
                return Err(Failure::refused(format!("the group has more than {MAX_PATHS} paths below it")));
            }
            let child = format!("{path}/{}", link.name_lossy());
            self.paths.push(json!(child));
            if let LinkTarget::Hard(token) = link.target {
                let found = group.object_at(token).and_then(Object::into_group);
                // Datasets, datatypes and damaged objects have nothing below them.
                if let Ok(group) = found
                    && self.seen.insert(token)
                {
                    open.push((group.links()?.into_iter().rev().collect(), group, child));
                }
            } else if self.links == Links::All {
                entity::follow(group, &link, self.links, &child)?;
            }
        }
        Ok(())
    }
}
