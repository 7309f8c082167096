//! The description of an object in a listing, which is complete before it is printed.

use hyperslab::{
    CommittedDatatype, CreationOrder, Datatype, Group, GroupStorage, Object, ObjectKind, Result,
};

use super::dataset::DatasetFacts;
use super::describer::{AttributeFacts, Describer, noted};

/// The attributes that state the class of a group: in NeXus, MATLAB, AnnData, and PyTables or
/// netCDF.
const CLASS_ATTRIBUTES: [&str; 4] = ["NX_class", "MATLAB_class", "encoding-type", "CLASS"];

/// The description of an object in a listing, with its problems.
#[derive(Debug)]
pub(crate) struct ObjectFacts {
    pub(crate) object: Object,
    pub(crate) address: u64,
    pub(crate) link_count: Option<u32>,
    pub(crate) comment: Option<Vec<u8>>,
    pub(crate) modified: Option<i64>,
    pub(crate) detail: Detail,
    pub(crate) attributes: Vec<AttributeFacts>,
    /// The errors of parts of the object that could not be read.
    pub(crate) problems: Vec<String>,
}

/// The part of an object's description that depends on the kind of the object: group, dataset or
/// committed datatype.
#[derive(Debug)]
pub(crate) enum Detail {
    Group(GroupFacts),
    Dataset(Box<DatasetFacts>),
    Datatype(Datatype),
    Unknown,
}

/// The description of a group in a listing, without its links.
#[derive(Debug)]
pub(crate) struct GroupFacts {
    /// The class of the group, from one of the [`CLASS_ATTRIBUTES`].
    pub(crate) class: Option<String>,
    pub(crate) members: Option<usize>,
    pub(crate) storage: Option<GroupStorage>,
    pub(crate) order_tracked: bool,
}

impl Describer {
    /// Describes an object. `links` is the number of links of a group, or `None` if the number is
    /// not known yet.
    ///
    /// # Errors
    /// Returns an error if the object cannot be opened as its kind. Other errors are problems of
    /// the description.
    pub(crate) fn object(&self, object: &Object, links: Option<usize>) -> Result<ObjectFacts> {
        let mut problems = Vec::new();
        let detail = match object.kind() {
            Some(ObjectKind::Group) => {
                Detail::Group(self.group(&object.clone().into_group()?, links, &mut problems))
            }
            Some(ObjectKind::Dataset) => {
                let dataset = object.clone().into_dataset()?;
                Detail::Dataset(Box::new(DatasetFacts::of(self, &dataset, &mut problems)))
            }
            Some(ObjectKind::Datatype) => {
                Detail::Datatype(CommittedDatatype::datatype(&object.clone().into_datatype()?).clone())
            }
            _ => Detail::Unknown,
        };
        let comment = noted(object.comment(), &mut problems).flatten();
        let mut facts = ObjectFacts {
            object: object.clone(),
            address: object.token().address(),
            link_count: None,
            comment: comment.filter(|comment| !comment.is_empty()),
            modified: None,
            detail,
            attributes: Vec::new(),
            problems,
        };
        if self.all {
            facts.link_count = noted(object.link_count(), &mut facts.problems);
            facts.modified = noted(object.modified(), &mut facts.problems).flatten();
        }
        if let Some(attributes) = noted(self.attributes(object), &mut facts.problems) {
            facts.attributes = attributes;
        }
        Ok(facts)
    }

    fn group(&self, group: &Group, links: Option<usize>, problems: &mut Vec<String>) -> GroupFacts {
        let class = CLASS_ATTRIBUTES.iter().find_map(|name| self.label(group, name, problems));
        let order = if self.all { noted(group.link_order(), problems) } else { None };
        GroupFacts {
            class,
            members: links.or_else(|| noted(group.len(), problems)),
            storage: if self.all { noted(group.storage(), problems) } else { None },
            order_tracked: order.is_some_and(CreationOrder::is_tracked),
        }
    }
}

impl ObjectFacts {
    /// Returns the number of parts of the described object that could not be read.
    pub(crate) fn failures(&self) -> usize {
        let attributes = self.attributes.iter().filter(|attribute| attribute.value.is_err()).count();
        self.problems.len() + attributes
    }
}
