//! Groups, datasets, datatypes and attributes in the output of h5dump.

use anyhow::{Result, anyhow};
use hyperslab::{
    Attribute, CommittedDatatype, Dataset, Group, Link, LinkTarget, Object, ObjectKind, ObjectToken,
};

use super::Dump;
use super::arguments::{Kind, Wanted};
use crate::tools::ddl::data::MARGIN_COLUMNS;
use crate::tools::ddl::space::{dataspace, list};
use crate::tools::ddl::types::datatype;
use crate::tools::ddl::{LEVEL, quoted};
use crate::tools::known::MAX_LEVELS;
use crate::tools::subset::SubsetInDataset;

impl Dump<'_> {
    /// Prints an object or attribute that an argument of h5dump requests.
    pub(super) fn wanted(&mut self, wanted: &Wanted) -> Result<()> {
        let shown = match wanted.kind {
            Kind::Attribute => self.wanted_attribute(&wanted.path),
            Kind::Link => self.wanted_link(&wanted.path),
            Kind::Any => self.wanted_anything(&wanted.path),
            Kind::Dataset | Kind::Group | Kind::Datatype => self.wanted_object(wanted),
        };
        shown.or_else(|error| self.failed(error))
    }

    fn wanted_object(&mut self, wanted: &Wanted) -> Result<()> {
        let object = self.file.object(&wanted.path)?;
        let name = quoted(wanted.path.as_bytes());
        match (wanted.kind, object.kind()) {
            (Kind::Dataset, Some(ObjectKind::Dataset)) => {
                let dataset = object.into_dataset()?;
                let dims = dataset.dataspace().dims().to_vec();
                let taken = wanted.subset.as_ref().map(|subset| subset.of(&dims)).transpose()?;
                if dataset.link_count()? > 1 && self.known.is_shown(dataset.token()) {
                    return self.linked(&dataset, &name, 0);
                }
                self.dataset(&dataset, &name, taken.as_ref(), 0)
            }
            (Kind::Group, Some(ObjectKind::Group)) | (Kind::Datatype, Some(ObjectKind::Datatype)) => {
                self.linked(&object, &name, 0)
            }
            (kind, _) => Err(anyhow!("unable to open {} \"{}\"", in_words(kind), wanted.path)),
        }
    }

    fn wanted_attribute(&mut self, path: &str) -> Result<()> {
        // A slash after a backslash belongs to the attribute's name.
        let ends = path.char_indices().filter(|(at, letter)| {
            *letter == '/' && !path.get(..*at).is_some_and(|before| before.ends_with('\\'))
        });
        let (object, name) = match ends.map(|(at, _)| at).next_back() {
            Some(at) => path.split_at(at),
            None => ("/", path),
        };
        let name = name.strip_prefix('/').unwrap_or(name).replace("\\/", "/");
        let object = if object.is_empty() { "/" } else { object };
        let attribute = self.file.object(object)?.attribute(&name)?;
        self.attribute(&attribute, 0)
    }

    fn wanted_link(&mut self, path: &str) -> Result<()> {
        let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
        let group = if group.is_empty() { self.file.root().clone() } else { self.file.group(group)? };
        let link = group.link(name)?.filter(|link| !matches!(link.target, LinkTarget::Hard(_)));
        let link = link.ok_or_else(|| anyhow!("unable to get link info from \"{path}\""))?;
        self.link(&Link { name: path.as_bytes().to_vec(), ..link }, None, 0)
    }

    /// Prints the object or link with a given name, and all attributes with the same name.
    fn wanted_anything(&mut self, path: &str) -> Result<()> {
        let mut found = false;
        let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
        let inside = if group.is_empty() { Ok(self.file.root().clone()) } else { self.file.group(group) };
        if let Ok(Some(link)) = inside.and_then(|group| group.link(name)) {
            found = true;
            match link.target {
                LinkTarget::Hard(token) => {
                    let object = self.file.object_at(token)?;
                    self.linked(&object, &quoted(path.as_bytes()), 0)?;
                }
                _ => self.link(&Link { name: path.as_bytes().to_vec(), ..link }, None, 0)?,
            }
        }
        if !path.contains('/') {
            found |= self.attributes_named(path)?;
        } else if !found && self.wanted_attribute(path).is_ok() {
            found = true;
        }
        if found { Ok(()) } else { Err(anyhow!("unable to find \"{path}\"")) }
    }

    /// Prints all attributes with a given name, of any object. Returns true if any attribute has
    /// the name.
    fn attributes_named(&mut self, name: &str) -> Result<bool> {
        let mut found = false;
        for token in self.known.in_order() {
            let object = self.file.object_at(token)?;
            if object.attribute_names()?.iter().any(|one| one == name) {
                self.attribute(&object.attribute(name)?, 0)?;
                found = true;
            }
        }
        Ok(found)
    }

    /// Prints a group and all objects below it for h5dump.
    pub(super) fn group(&mut self, group: &Group, name: &str, indent: usize) -> Result<()> {
        if indent > MAX_LEVELS * LEVEL {
            return Err(anyhow!("group {name} is deeper than {MAX_LEVELS} levels"));
        }
        let name = if name.starts_with('"') { name.to_owned() } else { quoted(name.as_bytes()) };
        self.line(indent, &format!("GROUP {name} {{"))?;
        let inside = indent + LEVEL;
        if group.token() == self.file.root().token() {
            for token in self.known.unnamed.clone() {
                let object = self.file.object_at(token)?.into_datatype()?;
                self.known.was_shown(token);
                self.committed_datatype(&object, &format!("\"#{}\"", token.address()), inside)?;
            }
        }
        self.comment(group, inside)?;
        self.attributes(group, inside)?;
        for link in self.sorted(group)? {
            let shown = match link.target {
                LinkTarget::Hard(token) => self.hard_link(token, &quoted(&link.name), inside),
                _ => self.link(&link, Some(group), inside),
            };
            shown.or_else(|error| self.failed(error))?;
        }
        self.line(indent, "}")?;
        Ok(())
    }

    /// Returns the links of a group in the order that the options of h5dump request.
    pub(super) fn sorted(&self, group: &Group) -> Result<Vec<Link>> {
        let mut links = group.links()?;
        if self.arguments.by_creation && group.link_order()?.is_tracked() {
            links.sort_by_key(|link| link.creation_order);
        } else {
            links.sort_by(|one, other| one.name.cmp(&other.name));
        }
        if self.arguments.descending {
            links.reverse();
        }
        Ok(links)
    }

    fn hard_link(&mut self, token: ObjectToken, name: &str, indent: usize) -> Result<()> {
        let object = self.file.object_at(token)?;
        self.linked(&object, name, indent)
    }

    /// Prints an object at a hard link for h5dump. If the object was printed before, prints only
    /// its first path.
    pub(super) fn linked(&mut self, object: &Object, name: &str, indent: usize) -> Result<()> {
        let kind = object.kind();
        let before = self.known.was_shown(object.token()).then(|| self.known.path(object.token()));
        let before = before.flatten().map(|path| quoted(path.as_bytes()));
        match (kind, before) {
            (Some(ObjectKind::Datatype), Some(path)) => {
                self.line(indent, &format!("DATATYPE {name} HARDLINK {path}"))?;
            }
            (Some(kind), Some(path)) => {
                let word = if kind == ObjectKind::Group { "GROUP" } else { "DATASET" };
                self.line(indent, &format!("{word} {name} {{"))?;
                self.line(indent + LEVEL, &format!("HARDLINK {path}"))?;
                self.line(indent, "}")?;
            }
            (Some(ObjectKind::Group), None) => {
                return self.group(&object.clone().into_group()?, name, indent);
            }
            (Some(ObjectKind::Dataset), None) => {
                return self.dataset(&object.clone().into_dataset()?, name, None, indent);
            }
            (Some(ObjectKind::Datatype), None) => {
                return self.committed_datatype(&object.clone().into_datatype()?, name, indent);
            }
            _ => return Err(anyhow!("object {name} has an unknown kind")),
        }
        Ok(())
    }

    fn committed_datatype(&mut self, object: &CommittedDatatype, name: &str, indent: usize) -> Result<()> {
        let text = datatype(object.datatype(), indent);
        let is_record = matches!(object.datatype().class, hyperslab::DatatypeClass::Compound(_));
        let end = if is_record { "" } else { ";" };
        // The C tool breaks long lines after the name.
        let first = text.lines().next().unwrap_or(&text);
        let line = format!("DATATYPE {name} {first}{end}");
        if indent + line.chars().count() + MARGIN_COLUMNS > self.arguments.width {
            self.line(indent, &format!("DATATYPE {name} "))?;
            self.line(indent, &format!("{text}{end}"))?;
        } else {
            self.line(indent, &format!("DATATYPE {name} {text}{end}"))?;
        }
        self.attributes(object, indent + LEVEL)
    }

    pub(super) fn dataset(
        &mut self,
        dataset: &Dataset,
        name: &str,
        taken: Option<&SubsetInDataset>,
        indent: usize,
    ) -> Result<()> {
        self.known.was_shown(dataset.token());
        self.line(indent, &format!("DATASET {name} {{"))?;
        let inside = indent + LEVEL;
        self.comment(dataset, indent)?;
        self.type_and_space(dataset.committed_datatype(), dataset.datatype(), &dataset.dataspace(), inside)?;
        if self.arguments.properties {
            self.properties(dataset, inside)?;
        }
        if !self.arguments.header && !self.arguments.only_attributes {
            match taken {
                Some(taken) => {
                    self.line(inside, "SUBSET {")?;
                    let numbers = [
                        ("START", &taken.start),
                        ("STRIDE", &taken.stride),
                        ("COUNT", &taken.count),
                        ("BLOCK", &taken.block),
                    ];
                    for (subject, numbers) in numbers {
                        self.line(inside + LEVEL, &format!("{subject} {};", list(numbers)))?;
                    }
                    self.dataset_data(dataset, Some(taken), inside + LEVEL)?;
                    self.line(inside, "}")?;
                }
                None => self.dataset_data(dataset, None, inside)?,
            }
        }
        self.attributes(dataset, inside)?;
        self.line(indent, "}")?;
        Ok(())
    }

    /// Prints the lines for the datatype and the dataspace of a dataset or attribute.
    fn type_and_space(
        &mut self,
        committed: Option<ObjectToken>,
        of: &hyperslab::Datatype,
        space: &hyperslab::Dataspace,
        indent: usize,
    ) -> Result<()> {
        let path = committed.and_then(|token| self.known.path(token)).map(|path| quoted(path.as_bytes()));
        let text = path.unwrap_or_else(|| datatype(of, indent));
        self.line(indent, &format!("DATATYPE  {text}"))?;
        self.line(indent, &format!("DATASPACE  {}", dataspace(space)))?;
        Ok(())
    }

    fn comment(&mut self, object: &Object, indent: usize) -> Result<()> {
        if let Some(comment) = object.comment()? {
            let text = format!("COMMENT \"{}\"", crate::output::in_line(&comment));
            self.line(indent, &text)?;
        }
        Ok(())
    }

    fn attributes(&mut self, object: &Object, indent: usize) -> Result<()> {
        if !self.arguments.attributes || self.arguments.binary.is_some() {
            return Ok(());
        }
        let mut attributes = object.attributes()?;
        if self.arguments.by_creation && object.attribute_order()?.is_tracked() {
            attributes.sort_by_key(Attribute::creation_order);
        } else {
            attributes.sort_by(|one, other| one.name_bytes().cmp(other.name_bytes()));
        }
        if self.arguments.descending {
            attributes.reverse();
        }
        for attribute in attributes {
            self.attribute(&attribute, indent).or_else(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute, indent: usize) -> Result<()> {
        self.line(indent, &format!("ATTRIBUTE {} {{", quoted(attribute.name_bytes())))?;
        let inside = indent + LEVEL;
        let (of, space) = (attribute.datatype()?, attribute.dataspace()?);
        self.type_and_space(attribute.committed_datatype()?, &of, &space, inside)?;
        if !self.arguments.header {
            self.attribute_data(attribute, inside)?;
        }
        self.line(indent, "}")?;
        Ok(())
    }
}

fn in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Attribute => "attribute",
        Kind::Dataset => "dataset",
        Kind::Group => "group",
        Kind::Link => "link",
        Kind::Datatype => "datatype",
        Kind::Any => "object",
    }
}
