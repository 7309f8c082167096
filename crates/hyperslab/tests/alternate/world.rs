//! The naive model of a file: groups, links, attributes and elements in maps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::content::Content;
use crate::kinds;
use crate::ours::{numbers, text};
use crate::selected;

/// The number of an object in the model.
pub(crate) type Id = usize;

const ROOT: Id = 0;

type Links = BTreeMap<String, Link>;

#[derive(Debug, Clone)]
pub(crate) enum Link {
    Hard(Id),
    Soft(String),
}

/// One element in the form of descriptions. References contain the number of their target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Element {
    Said(String),
    Points(Id),
}

#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) kind: String,
    /// `None` for a null dataspace, which has no elements and no shape.
    pub(crate) dims: Option<Vec<u64>>,
    pub(crate) maximum: Vec<Option<u64>>,
    pub(crate) chunked: bool,
    /// True if one chunk holds the maximum shape.
    pub(crate) is_single: bool,
    pub(crate) fill: String,
    pub(crate) committed: Option<Id>,
    pub(crate) elements: Vec<Element>,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Group {
        links: Links,
        order: Option<Vec<String>>,
    },
    Dataset(Dataset),
    Datatype {
        kind: String,
    },
    /// The description of an object that another program created and that no operation changes.
    Kept(Json),
}

#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) body: Body,
    /// The descriptions of the attributes.
    pub(crate) attributes: BTreeMap<String, Json>,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) objects: BTreeMap<Id, Object>,
    next: Id,
}

/// Returns the group and the name of a path.
fn split(path: &str) -> Option<(&str, &str)> {
    let (group, name) = path.rsplit_once('/')?;
    Some((if group.is_empty() { "/" } else { group }, name))
}

impl World {
    pub(crate) fn new(track: bool) -> Self {
        let root = Object { body: new_group(track), attributes: BTreeMap::new() };
        Self { objects: [(ROOT, root)].into(), next: ROOT + 1 }
    }

    /// Returns a model that contains the objects of an existing file.
    pub(crate) fn of(content: &Content) -> Self {
        let ids: BTreeMap<&str, Id> =
            content.keys().enumerate().map(|(id, path)| (path.as_str(), id)).collect();
        assert_eq!(ids["/"], ROOT);
        let object = |(path, reported): (&String, &Json)| {
            let mut reported = reported.clone();
            let attributes = reported.as_object_mut().unwrap().remove("attributes").unwrap();
            let body = if reported["kind"] == "group" {
                let link = |(name, link): (&String, &Json)| {
                    let to = link[1].as_str().unwrap_or_default();
                    let link =
                        if link[0] == "hard" { Link::Hard(ids[to]) } else { Link::Soft(to.to_owned()) };
                    (name.clone(), link)
                };
                let order = reported.get("order").map(|order| serde_json::from_value(order.clone()).unwrap());
                Body::Group {
                    links: reported["links"].as_object().unwrap().iter().map(link).collect(),
                    order,
                }
            } else {
                Body::Kept(reported)
            };
            let attributes = attributes.as_object().unwrap().clone().into_iter().collect();
            (ids[path.as_str()], Object { body, attributes })
        };
        Self { objects: content.iter().map(object).collect(), next: content.len() }
    }

    pub(crate) fn find(&self, path: &str) -> Option<Id> {
        let mut at = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let Body::Group { links, .. } = &self.objects[&at].body else { return None };
            let Link::Hard(id) = links.get(name)? else { return None };
            at = *id;
        }
        Some(at)
    }

    fn links(&mut self, id: Id) -> Option<(&mut Links, &mut Option<Vec<String>>)> {
        match &mut self.objects.get_mut(&id)?.body {
            Body::Group { links, order } => Some((links, order)),
            _ => None,
        }
    }

    fn has(&self, group: Id, name: &str) -> bool {
        matches!(&self.objects[&group].body, Body::Group { links, .. } if links.contains_key(name))
    }

    /// Creates a link at an unused path.
    fn link(&mut self, path: &str, link: Link) -> bool {
        let Some((group, name)) = split(path) else { return false };
        let Some(group) = self.find(group) else { return false };
        let Some((links, order)) = self.links(group) else { return false };
        if name.is_empty() || links.contains_key(name) {
            return false;
        }
        links.insert(name.to_owned(), link);
        if let Some(order) = order {
            order.push(name.to_owned());
        }
        true
    }

    fn unlink(&mut self, path: &str) -> Option<Link> {
        let (group, name) = split(path)?;
        let group = self.find(group)?;
        let (links, order) = self.links(group)?;
        let link = links.remove(name)?;
        if let Some(order) = order {
            order.retain(|other| other != name);
        }
        Some(link)
    }

    fn is_free(&self, path: &str) -> bool {
        let Some((group, name)) = split(path) else { return false };
        let group = self.find(group);
        group.is_some_and(|id| matches!(self.objects[&id].body, Body::Group { .. }) && !self.has(id, name))
    }

    fn add(&mut self, path: &str, body: Body) -> bool {
        let id = self.next;
        if !self.is_free(path) {
            return false;
        }
        self.next += 1;
        self.objects.insert(id, Object { body, attributes: BTreeMap::new() });
        self.link(path, Link::Hard(id))
    }

    /// Returns the objects that paths from an object reach, including the object.
    pub(crate) fn reached(&self, from: Id) -> BTreeSet<Id> {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(id) = waiting.pop() {
            if reached.insert(id)
                && let Body::Group { links, .. } = &self.objects[&id].body
            {
                waiting.extend(links.values().filter_map(|link| match link {
                    Link::Hard(id) => Some(*id),
                    Link::Soft(_) => None,
                }));
            }
        }
        reached
    }

    /// Returns every path of hard links to an object.
    pub(crate) fn paths(&self) -> Vec<(String, Id)> {
        let (mut paths, mut waiting) = (Vec::new(), vec![("/".to_owned(), ROOT)]);
        while let Some((path, id)) = waiting.pop() {
            if let Body::Group { links, .. } = &self.objects[&id].body {
                for (name, link) in links {
                    if let Link::Hard(id) = link {
                        waiting.push((format!("{}/{name}", path.trim_end_matches('/')), *id));
                    }
                }
            }
            paths.push((path, id));
        }
        paths
    }

    /// Removes the objects that no path reaches. Returns false if a reference points to one of
    /// these objects.
    fn sweep(&mut self) -> bool {
        let reached = self.reached(ROOT);
        let points = |object: &Object| match &object.body {
            Body::Dataset(dataset) => dataset
                .elements
                .iter()
                .any(|element| matches!(element, Element::Points(id) if !reached.contains(id))),
            _ => false,
        };
        if reached.iter().any(|id| points(&self.objects[id])) {
            return false;
        }
        self.objects.retain(|id, _| reached.contains(id));
        true
    }

    /// Executes one operation. If the operation is impossible in this state, changes nothing and
    /// returns false.
    pub(crate) fn apply(&mut self, op: &Json) -> bool {
        let before = matches!(text(op, "op"), "remove" | "rename").then(|| self.clone());
        let done = self.try_apply(op);
        if let (false, Some(before)) = (done, before) {
            *self = before;
        }
        done
    }

    fn try_apply(&mut self, op: &Json) -> bool {
        let path = op["path"].as_str().unwrap_or_default();
        match text(op, "op") {
            "group" => self.add(path, new_group(op["track"] == true)),
            "dataset" => self.make_dataset(path, op),
            "write" => self.write(path, op).is_some(),
            "resize" => self.resize(path, &numbers(&op["dims"])).is_some(),
            "attr" => self.set_attribute(path, op).is_some(),
            "remove_attr" => self.attributes(path).is_some_and(|all| all.remove(text(op, "name")).is_some()),
            "rename_attr" => self.rename_attribute(path, text(op, "name"), text(op, "to")).is_some(),
            "remove" => self.unlink(path).is_some() && self.sweep(),
            "rename" => self.rename(path, text(op, "to")),
            "hard" => self.link_hard(path, text(op, "to")),
            "soft" => self.link(path, Link::Soft(text(op, "to").to_owned())),
            "commit" => self.add(path, Body::Datatype { kind: text(op, "kind").to_owned() }),
            // The operation reads and writes elements unchanged.
            "rewrite" => self.find(path).is_some_and(|id| match &self.objects[&id].body {
                Body::Kept(reported) => reported["data"].as_str().is_some_and(|data| !data.is_empty()),
                _ => false,
            }),
            "copy" => self.copy(path, text(op, "to")).is_some(),
            _ => true,
        }
    }

    fn rename(&mut self, path: &str, to: &str) -> bool {
        // A group must not be copied into itself.
        if !self.is_free(to) || to == path || to.starts_with(&format!("{path}/")) {
            return false;
        }
        if let (Some(id), Some((group, _))) = (self.find(path), split(to))
            && self.find(group).is_none_or(|group| self.reached(id).contains(&group))
        {
            return false;
        }
        self.unlink(path).is_some_and(|link| self.link(to, link)) && self.sweep()
    }

    fn link_hard(&mut self, path: &str, to: &str) -> bool {
        let (Some(id), Some((group, _))) = (self.find(to), split(path)) else { return false };
        let Some(group) = self.find(group) else { return false };
        !self.reached(id).contains(&group) && self.link(path, Link::Hard(id))
    }

    fn attributes(&mut self, path: &str) -> Option<&mut BTreeMap<String, Json>> {
        let id = self.find(path)?;
        Some(&mut self.objects.get_mut(&id)?.attributes)
    }

    fn set_attribute(&mut self, path: &str, op: &Json) -> Option<()> {
        let kind = text(op, "kind");
        let reported = op["data"].as_array()?.iter().map(|element| kinds::said(kind, element));
        let data = match op["dims"].is_null() {
            true => Json::Null,
            false if kinds::is_plain(kind) => json!(reported.collect::<String>()),
            false => json!(reported.collect::<Vec<_>>()),
        };
        let reported = json!({"type": kinds::words(kind), "dims": op["dims"], "data": data});
        self.attributes(path)?.insert(text(op, "name").to_owned(), reported);
        Some(())
    }

    fn rename_attribute(&mut self, path: &str, name: &str, to: &str) -> Option<()> {
        let all = self.attributes(path)?;
        if all.contains_key(to) {
            return None;
        }
        let reported = all.remove(name)?;
        all.insert(to.to_owned(), reported);
        Some(())
    }

    fn make_dataset(&mut self, path: &str, op: &Json) -> bool {
        let kind = text(op, "kind").to_owned();
        let committed = match op["committed"].as_str() {
            None => None,
            Some(path) => match self.find(path).map(|id| (id, &self.objects[&id].body)) {
                Some((id, Body::Datatype { kind: other })) if *other == kind => Some(id),
                _ => return false,
            },
        };
        let dims = (!op["dims"].is_null()).then(|| numbers(&op["dims"]));
        let fill = op["fill"].as_str().map_or_else(|| kinds::zero(&kind), str::to_owned);
        let count = dims.as_ref().map_or(0, |dims| dims.iter().product::<u64>() as usize);
        let maximum = match op["max"].as_array() {
            Some(maximum) => maximum.iter().map(Json::as_u64).collect(),
            None => dims.iter().flatten().copied().map(Some).collect(),
        };
        let elements = vec![Element::Said(fill.clone()); count];
        let chunked = op["layout"] == "chunked";
        let is_single = chunked && op["chunk"] == op["max"];
        self.add(
            path,
            Body::Dataset(Dataset { kind, dims, maximum, chunked, is_single, fill, committed, elements }),
        )
    }

    fn dataset(&mut self, path: &str) -> Option<&mut Dataset> {
        let id = self.find(path)?;
        match &mut self.objects.get_mut(&id)?.body {
            Body::Dataset(dataset) => Some(dataset),
            _ => None,
        }
    }

    fn write(&mut self, path: &str, op: &Json) -> Option<()> {
        let kind = text(op, "kind");
        let element = |element: &Json| match (kind, element.as_str()) {
            ("objref", None) => Some(Element::Said("r".into())),
            ("objref", Some(path)) => self.find(path).map(Element::Points),
            _ => Some(Element::Said(kinds::said(kind, element))),
        };
        let elements: Vec<Element> = op["data"].as_array()?.iter().map(element).collect::<Option<_>>()?;
        let dataset = self.dataset(path)?;
        let places = selected::places(&op["sel"], dataset.dims.as_ref()?)?;
        if dataset.kind != kind || places.len() != elements.len() {
            return None;
        }
        for (place, element) in places.into_iter().zip(elements) {
            dataset.elements[place] = element;
        }
        Some(())
    }

    fn resize(&mut self, path: &str, dims: &[u64]) -> Option<()> {
        let dataset = self.dataset(path)?;
        let old = dataset.dims.clone()?;
        // libhdf5 keeps the address of a single chunk whose space it frees:
        // docs/format/alternating.md.
        if dims.contains(&0) && old.iter().product::<u64>() > 0 && dataset.is_single {
            return None;
        }
        let fits = dims
            .iter()
            .zip(&dataset.maximum)
            .all(|(size, maximum)| maximum.is_none_or(|maximum| *size <= maximum));
        if !dataset.chunked || old.len() != dims.len() || !fits {
            return None;
        }
        let before = std::mem::take(&mut dataset.elements);
        let kept = |at: usize| {
            let coordinates = selected::coordinates(at as u64, dims);
            let inside = coordinates.iter().zip(&old).all(|(at, size)| at < size);
            inside.then(|| before[selected::place(&coordinates, &old)].clone())
        };
        let fill = Element::Said(dataset.fill.clone());
        let count = dims.iter().product::<u64>() as usize;
        dataset.elements = (0..count).map(|at| kept(at).unwrap_or_else(|| fill.clone())).collect();
        dataset.dims = Some(dims.to_vec());
        Some(())
    }

    fn copy(&mut self, path: &str, to: &str) -> Option<()> {
        let from = self.find(path)?;
        let (group, _) = split(to)?;
        let group = self.find(group)?;
        let all = self.reached(from);
        let kept = |id: &Id| matches!(self.objects[id].body, Body::Kept(_));
        // References between copied objects lead to the copies if hyperslab copies, and to the
        // originals if libhdf5 copies.
        let points = |id: &Id| match &self.objects[id].body {
            // libhdf5 cannot copy chunked references that were never written:
            // docs/format/alternating.md.
            Body::Dataset(dataset) if dataset.kind == "objref" && dataset.chunked => true,
            Body::Dataset(dataset) => dataset
                .elements
                .iter()
                .any(|element| matches!(element, Element::Points(to) if all.contains(to))),
            _ => false,
        };
        if all.iter().any(points) {
            return None;
        }
        if from == ROOT || !self.is_free(to) || all.contains(&group) || all.iter().any(kept) {
            return None;
        }
        let first = self.next;
        let ids: BTreeMap<Id, Id> = all.iter().enumerate().map(|(at, id)| (*id, first + at)).collect();
        self.next += ids.len();
        for (old, new) in &ids {
            let mut object = self.objects[old].clone();
            match &mut object.body {
                Body::Group { links, .. } => {
                    for link in links.values_mut() {
                        if let Link::Hard(id) = link {
                            *id = ids[id];
                        }
                    }
                }
                // The datatype of a copied dataset is a copy too: the datatype in the copied tree,
                // or a datatype without a name.
                Body::Dataset(dataset) => {
                    dataset.committed = dataset.committed.map(|id| ids.get(&id).copied().unwrap_or(Id::MAX));
                }
                _ => {}
            }
            self.objects.insert(*new, object);
        }
        self.link(to, Link::Hard(ids[&from])).then_some(())
    }

    /// Returns the description of the whole file in the form of the readers.
    pub(crate) fn content(&self) -> Content {
        let mut names = BTreeMap::new();
        self.name(ROOT, "/", &mut names);
        let name = |id: &Id| names.get(id).cloned().unwrap_or_else(|| "?".to_owned());
        let reported = |(id, path): (&Id, &String)| {
            let object = &self.objects[id];
            let mut reported = match &object.body {
                Body::Group { links, order } => {
                    let link = |(of, link): (&String, &Link)| match link {
                        Link::Hard(id) => (of.clone(), json!(["hard", name(id)])),
                        Link::Soft(path) => (of.clone(), json!(["soft", path])),
                    };
                    let all: serde_json::Map<String, Json> = links.iter().map(link).collect();
                    let mut reported = json!({"kind": "group", "links": all});
                    if let Some(order) = order {
                        reported["order"] = json!(order);
                    }
                    reported
                }
                Body::Dataset(dataset) => dataset.content(&name),
                Body::Datatype { kind } => json!({"kind": "datatype", "type": kinds::words(kind)}),
                Body::Kept(reported) => reported.clone(),
            };
            reported["attributes"] = json!(object.attributes);
            (path.clone(), reported)
        };
        names.iter().map(reported).collect()
    }

    fn name(&self, id: Id, path: &str, names: &mut BTreeMap<Id, String>) {
        names.insert(id, path.to_owned());
        let Body::Group { links, .. } = &self.objects[&id].body else { return };
        for (name, link) in links {
            if let Link::Hard(id) = link
                && !names.contains_key(id)
            {
                self.name(*id, &format!("{}/{name}", path.trim_end_matches('/')), names);
            }
        }
    }
}

impl Dataset {
    fn content(&self, name: &impl Fn(&Id) -> String) -> Json {
        let reported = self.elements.iter().map(|element| match element {
            Element::Said(text) => text.clone(),
            Element::Points(id) => format!("r{}", name(id)),
        });
        let data = match self.dims {
            None => Json::Null,
            Some(_) if kinds::is_plain(&self.kind) => json!(reported.collect::<String>()),
            Some(_) => json!(reported.collect::<Vec<_>>()),
        };
        json!({"kind": "dataset", "type": kinds::words(&self.kind), "dims": self.dims, "max": self.maximum,
               "committed": self.committed.map(|id| name(&id)), "data": data})
    }
}

fn new_group(track: bool) -> Body {
    Body::Group { links: BTreeMap::new(), order: track.then(Vec::new) }
}
