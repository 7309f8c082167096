//! The output of h5stat.

use std::io::{self, Write};

use hyperslab::{FileInfo, FileSpaceStrategy};
use hyperslab_check::{BlockKind, MetadataBytes, Owner, Report};

use super::arguments::{H5statArguments, Section};
use super::spread::{Spread, total};
use super::survey::{FILTERS, Survey};

/// The limit in bytes for small sections of free space in h5stat's output. Smaller sections count
/// as small.
const SMALL_SECTION_BYTES: u64 = 10;

/// The number of addresses of an extensible array that h5stat does not count. The number follows
/// from the parameters that the C library gives to all extensible arrays.
const ADDRESSES_OF_EXTENSIBLE_ARRAY: u64 = 29;

/// The statistics of a file that h5stat prints.
pub(super) struct Statistics<'a> {
    pub(super) arguments: &'a H5statArguments,
    pub(super) info: FileInfo,
    pub(super) survey: Survey,
    /// The owners of the bytes. Empty if no section needs the sizes of metadata.
    pub(super) report: Report,
}

impl Statistics<'_> {
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let has_datasets = self.survey.datasets > 0;
        let shows = |part| self.arguments.shows(part);
        if shows(Section::File) {
            self.file(out)?;
        }
        if shows(Section::FileMetadata) {
            self.file_metadata(out)?;
        }
        if shows(Section::Groups) {
            self.groups(out)?;
        }
        if shows(Section::GroupMetadata) {
            self.group_metadata(out)?;
        }
        if shows(Section::Datasets) && has_datasets {
            self.dimensions(out)?;
            self.storage(out)?;
        }
        if shows(Section::DatasetMetadata) {
            self.dataset_metadata(out)?;
        }
        if shows(Section::Datatypes) && has_datasets {
            self.datatypes(out)?;
        }
        if shows(Section::Attributes) {
            self.attributes(out)?;
        }
        if shows(Section::FreeSpace) {
            self.free_space(out)?;
        }
        if shows(Section::Summary) {
            self.summary(out)?;
        }
        Ok(())
    }

    fn file(&self, out: &mut impl Write) -> io::Result<()> {
        let survey = &self.survey;
        writeln!(out, "File information")?;
        writeln!(out, "\t# of unique groups: {}", survey.groups)?;
        writeln!(out, "\t# of unique datasets: {}", survey.datasets)?;
        writeln!(out, "\t# of unique named datatypes: {}", survey.datatypes)?;
        writeln!(out, "\t# of unique links: {}", survey.links)?;
        writeln!(out, "\t# of unique other: {}", survey.others)?;
        writeln!(out, "\tMax. # of links to object: {}", survey.max_links)?;
        writeln!(out, "\tMax. # of objects in group: {}", survey.members.max)
    }

    fn of(&self, owner: Owner) -> MetadataBytes {
        self.report.metadata_of(owner)
    }

    /// Subtracts the compact elements from a size of object headers. Compact elements lie in object
    /// headers but are not metadata. Returns 0 for a damaged file whose compact elements exceed its
    /// headers.
    fn without_compact(&self, bytes: u64) -> u64 {
        without(bytes, self.survey.compact)
    }

    /// Returns the total size of the object headers of datasets.
    fn dataset_headers(&self) -> u64 {
        self.without_compact(self.of(Owner::Dataset).headers)
    }

    /// Returns the total size of the chunk indexes. As in the C tool, some addresses of extensible
    /// arrays do not count.
    fn chunk_indexes(&self) -> u64 {
        without(self.of(Owner::Dataset).chunk_index, self.uncounted_addresses())
    }

    fn uncounted_addresses(&self) -> u64 {
        let bytes = ADDRESSES_OF_EXTENSIBLE_ARRAY * u64::from(self.info.size_of_offsets);
        // No overflow: the number of datasets is far below 2⁴⁰.
        self.survey.extensible_arrays * bytes
    }

    fn superblock(&self) -> u64 {
        let of = |kind| self.report.usage_of(kind).bytes;
        total([of(BlockKind::Superblock), of(BlockKind::DriverInformation)])
    }

    /// Returns the total sizes of the indexes and heaps of dense attributes.
    fn dense_attributes(&self) -> (u64, u64) {
        let bytes = || self.report.metadata.values();
        (total(bytes().map(|bytes| bytes.attribute_index)), total(bytes().map(|bytes| bytes.attribute_heap)))
    }

    fn free_bytes(&self) -> u64 {
        self.report.usage_of(BlockKind::Free).bytes
    }

    fn file_metadata(&self, out: &mut impl Write) -> io::Result<()> {
        let (file, groups, datasets) = (self.of(Owner::File), self.of(Owner::Group), self.of(Owner::Dataset));
        let (datatypes, unused_in_datatypes) = self.survey.datatype_headers;
        let (attribute_index, attribute_heap) = self.dense_attributes();
        writeln!(out, "File space information for file metadata (in bytes):")?;
        writeln!(out, "\tSuperblock: {}", self.superblock())?;
        writeln!(out, "\tSuperblock extension: {}", file.headers)?;
        writeln!(out, "\tUser block: {}", self.info.user_block)?;
        writeln!(out, "\tObject headers: (total/unused)")?;
        writeln!(out, "\t\tGroups: {}/{}", groups.headers, groups.unused_in_headers)?;
        let headers = self.dataset_headers();
        writeln!(out, "\t\tDatasets(exclude compact data): {headers}/{}", datasets.unused_in_headers)?;
        writeln!(out, "\t\tDatatypes: {datatypes}/{unused_in_datatypes}")?;
        writeln!(out, "\tGroups:\n\t\tB-tree/List: {}\n\t\tHeap: {}", groups.link_index, groups.link_heap)?;
        writeln!(out, "\tAttributes:\n\t\tB-tree/List: {attribute_index}\n\t\tHeap: {attribute_heap}")?;
        writeln!(out, "\tChunked datasets:\n\t\tIndex: {}", self.chunk_indexes())?;
        writeln!(out, "\tDatasets:\n\t\tHeap: {}", total([datasets.external_heap, datasets.mappings]))?;
        writeln!(out, "\tShared Messages:\n\t\tHeader: {}", file.shared_table)?;
        writeln!(out, "\t\tB-tree/List: {}\n\t\tHeap: {}", file.shared_index, file.shared_heap)?;
        writeln!(out, "\tFree-space managers:\n\t\tHeader: {}", file.free_space_managers)?;
        writeln!(out, "\t\tAmount of free space: {}", self.free_bytes())
    }

    fn groups(&self, out: &mut impl Write) -> io::Result<()> {
        let members = &self.survey.members;
        writeln!(out, "Small groups (with 0 to {} links):", self.arguments.links - 1)?;
        let line = |number| format!("# of groups with {number} link(s)");
        members.print_small(out, "\t", line, "Total # of small groups")?;
        writeln!(out, "Group bins:")?;
        let around = ("# of groups with ", " links");
        members.print_bins(out, "\t", "# of groups with 0 link", around, "Total # of groups")
    }

    fn group_metadata(&self, out: &mut impl Write) -> io::Result<()> {
        let groups = self.of(Owner::Group);
        writeln!(out, "File space information for groups' metadata (in bytes):")?;
        writeln!(out, "\tObject headers (total/unused): {}/{}", groups.headers, groups.unused_in_headers)?;
        writeln!(out, "\tB-tree/List: {}\n\tHeap: {}", groups.link_index, groups.link_heap)
    }

    fn dataset_metadata(&self, out: &mut impl Write) -> io::Result<()> {
        let (datasets, headers) = (self.of(Owner::Dataset), self.dataset_headers());
        writeln!(out, "File space information for datasets' metadata (in bytes):")?;
        writeln!(out, "\tObject headers (total/unused): {headers}/{}", datasets.unused_in_headers)?;
        writeln!(out, "\tIndex for Chunked datasets: {}", self.chunk_indexes())?;
        writeln!(out, "\tHeap: {}", total([datasets.external_heap, datasets.mappings]))
    }

    fn dimensions(&self, out: &mut impl Write) -> io::Result<()> {
        let (ranks, dimensions) = (&self.survey.ranks, &self.survey.dimensions);
        let max = ranks.last_key_value().map_or(0, |(rank, _)| *rank);
        writeln!(out, "Dataset dimension information:\n\tMax. rank of datasets: {max}")?;
        writeln!(out, "\tDataset ranks:")?;
        for (rank, count) in ranks {
            writeln!(out, "\t\t# of dataset with rank {rank}: {count}")?;
        }
        writeln!(out, "1-D Dataset information:")?;
        writeln!(out, "\tMax. dimension size of 1-D datasets: {}", dimensions.max)?;
        let largest = self.arguments.dims - 1;
        writeln!(out, "\tSmall 1-D datasets (with dimension sizes 0 to {largest}):")?;
        let line = |number| format!("# of datasets with dimension sizes {number}");
        dimensions.print_small(out, "\t\t", line, "Total # of small datasets")?;
        if dimensions.total == 0 {
            return Ok(());
        }
        writeln!(out, "\t1-D Dataset dimension bins:")?;
        let (zero, around) =
            ("# of datasets with dimension size 0", ("# of datasets with dimension size ", ""));
        dimensions.print_bins(out, "\t\t", zero, around, "Total # of datasets")
    }

    fn storage(&self, out: &mut impl Write) -> io::Result<()> {
        let survey = &self.survey;
        writeln!(out, "Dataset storage information:\n\tTotal raw data size: {}", survey.raw)?;
        writeln!(out, "\tTotal external raw data size: {}", survey.external)?;
        writeln!(out, "Dataset layout information:")?;
        let layouts = &survey.layouts;
        for (name, count) in [
            ("COMPACT", layouts.compact),
            ("CONTIG", layouts.contiguous),
            ("CHUNKED", layouts.chunked),
            ("VIRTUAL", layouts.mapped),
        ] {
            writeln!(out, "\tDataset layout counts[{name}]: {count}")?;
        }
        for (name, count) in [("SPARSE", layouts.sparse), ("VL", layouts.variable)] {
            if count > 0 {
                writeln!(out, "\tDataset layout counts[STRUCTURED CHUNK {name}]: {count}")?;
            }
        }
        writeln!(out, "\tNumber of external files : {}", survey.external_files)?;
        writeln!(out, "Dataset filters information:\n\tNumber of datasets with:")?;
        writeln!(out, "\t\tNO filter: {}", survey.unfiltered)?;
        for (name, count) in FILTERS.iter().zip(survey.filters) {
            writeln!(out, "\t\t{name} filter: {count}")?;
        }
        writeln!(out, "\t\tUSER-DEFINED filter: {}", survey.user_filters)
    }

    fn datatypes(&self, out: &mut impl Write) -> io::Result<()> {
        let used = &self.survey.used.used;
        writeln!(out, "Dataset datatype information:")?;
        writeln!(out, "\t# of unique datatypes used by datasets: {}", used.len())?;
        for (number, one) in used.iter().enumerate() {
            writeln!(out, "\tDataset datatype #{number}:")?;
            writeln!(out, "\t\tCount (total/named) = ({}/{})", one.datasets, one.named)?;
            writeln!(out, "\t\tSize (desc./elmt) = ({}/{})", one.description, one.element)?;
        }
        writeln!(out, "\tTotal dataset datatype count: {}", self.survey.datasets)
    }

    fn attributes(&self, out: &mut impl Write) -> io::Result<()> {
        let attributes = &self.survey.attributes;
        writeln!(out, "Small # of attributes (objects with 1 to {} attributes):", self.arguments.attributes)?;
        let line = |number| format!("# of objects with {number} attributes");
        attributes.print_small(out, "\t", line, "Total # of objects with small # of attributes")?;
        writeln!(out, "Attribute bins:")?;
        let around = ("# of objects with ", " attributes");
        attributes.print_bins(out, "\t", "", around, "Total # of objects with attributes")?;
        writeln!(out, "\tMax. # of attributes to objects: {}", attributes.max)
    }

    fn free_space(&self, out: &mut impl Write) -> io::Result<()> {
        let space = self.info.file_space;
        let mut sections = Spread::new(0..=SMALL_SECTION_BYTES - 1);
        for (size, count) in &self.report.free_sections {
            sections.add_many(*size, *count);
        }
        writeln!(out, "Free-space persist: {}", if space.persist { "TRUE" } else { "FALSE" })?;
        writeln!(out, "Free-space section threshold: {} bytes", space.threshold)?;
        writeln!(out, "Small size free-space sections (< {SMALL_SECTION_BYTES} bytes):")?;
        let line = |number| format!("# of sections of size {number}");
        sections.print_small(out, "\t", line, "Total # of small size sections")?;
        writeln!(out, "Free-space section bins:")?;
        let around = ("# of sections of size ", "");
        sections.print_bins(out, "\t", "# of sections of size 0", around, "Total # of sections")
    }

    fn summary(&self, out: &mut impl Write) -> io::Result<()> {
        let space = self.info.file_space;
        let strategy = match space.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => "H5F_FSPACE_STRATEGY_FSM_AGGR",
            FileSpaceStrategy::Page => "H5F_FSPACE_STRATEGY_PAGE",
            FileSpaceStrategy::Aggregators => "H5F_FSPACE_STRATEGY_AGGR",
            FileSpaceStrategy::None => "H5F_FSPACE_STRATEGY_NONE",
        };
        writeln!(out, "File space management strategy: {strategy}")?;
        writeln!(out, "File space page size: {} bytes", space.page_size)?;
        writeln!(out, "Summary of file space information:")?;
        let of_objects = self.report.metadata.values().map(MetadataBytes::total);
        let blocks = [self.superblock(), self.info.user_block];
        let metadata = self.without_compact(total(of_objects.chain(blocks)));
        // Committed datatypes without links do not count.
        let unlinked = without(self.of(Owner::Datatype).headers, self.survey.datatype_headers.0);
        let metadata = without(metadata, total([unlinked, self.uncounted_addresses()]));
        let (raw, free, length) = (self.survey.raw, self.free_bytes(), self.info.length);
        writeln!(out, "  File metadata: {metadata} bytes")?;
        writeln!(out, "  Raw data: {raw} bytes")?;
        let percent = percent(free, length);
        writeln!(out, "  Amount/Percent of tracked free space: {free} bytes/{percent:.1}%")?;
        let known = total([metadata, raw, free]);
        if known > length {
            let more = known.abs_diff(length);
            writeln!(out, "  ??? File has {more} more bytes accounted for than its size! ???")?;
        } else {
            writeln!(out, "  Unaccounted space: {} bytes", length.abs_diff(known))?;
        }
        writeln!(out, "Total space: {length} bytes")?;
        if self.survey.external_files > 0 {
            writeln!(out, "External raw data: {} bytes", self.survey.external)?;
        }
        Ok(())
    }
}

/// Subtracts a part of a size. Returns 0 for a damaged file whose part exceeds the size.
fn without(bytes: u64, part: u64) -> u64 {
    bytes.saturating_sub(part)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64 * 100.0
}
