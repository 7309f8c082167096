//! Reads and writes of dataset elements that C dataspaces select.

use hyperslab::{Dataspace, Datatype, Hyperslab, RegularHyperslab, Selection};
use smallvec::smallvec;

use super::DatasetHandle;
use super::elements::{MemoryRuns, bytes, end, gather, range, runs, runs_in, scatter};
use super::selection_io::{self, Direction};
use crate::convert::heap::Heap;
use crate::convert::{Rules, reclaim, references};
use crate::ctypes::{H5S_ALL, H5S_BLOCK, hid_t};
use crate::datatype::form;
use crate::error::{Because, Failure, Outcome, codes};
use crate::pointer::{Buffer, Data};
use crate::space::{self, CSpace, effective};

/// A plan of one read or write: the selected elements of the file and their runs in memory.
#[derive(Debug)]
pub struct Plan {
    /// The selection of the dataset's elements.
    pub selection: Selection,
    /// The number of selected elements.
    pub count: usize,
    /// The runs in the memory buffer, in the order of the file selection.
    pub runs: MemoryRuns,
}

impl Plan {
    /// Plans a read or write of a dataset from the memory dataspace and the file dataspace of the
    /// call.
    ///
    /// # Errors
    /// Fails if a selection exceeds its extent, or if the two selections differ in their number of
    /// elements.
    pub fn of(dataset: &DatasetHandle, memory: hid_t, file: hid_t) -> Outcome<Self> {
        let extent = dataset.dataset.dataspace();
        let selection = match file {
            H5S_ALL => Selection::All,
            id => file_selection(&space::find(id)?.0.read(), &extent)?,
        };
        let count = space::count_in(&extent, &selection)?;
        let runs = match memory {
            H5S_ALL if file == H5S_ALL => whole(count),
            H5S_ALL => runs_in(&extent, &selection)?,
            H5S_BLOCK => whole(count),
            id => runs(&space::find(id)?.0.read())?,
        };
        let in_memory = runs.iter().map(|(_, count)| *count).fold(0, u64::saturating_add); // Only compared.
        if in_memory != count {
            let text = format!(
                "src and dest dataspaces have different number of elements selected: {count} in the file, {in_memory} in memory"
            );
            return Err(Failure::new(codes::ARGS, codes::BADVALUE, text));
        }
        Ok(Self { selection, count: hyperslab_exact::to_usize(count)?, runs })
    }

    /// Returns the memory run of a transfer whose elements are contiguous in memory. Returns `None`
    /// for other transfers.
    fn one_run(&self) -> Option<(u64, u64)> {
        match self.runs.as_slice() {
            [run] => Some(*run),
            _ => None,
        }
    }
}

/// Returns one memory run for `count` contiguous elements. Returns no run if `count` is 0.
fn whole(count: u64) -> MemoryRuns {
    if count == 0 { MemoryRuns::new() } else { smallvec![(0, count)] }
}

/// Returns the selection of a file dataspace after a check against the dimensions of the dataset.
fn file_selection(space: &CSpace, extent: &Dataspace) -> Outcome<Selection> {
    if space.extent.rank() != extent.rank() && !matches!(extent, Dataspace::Null) {
        let text = "the file dataspace has another rank than the dataset";
        return Err(Failure::new(codes::ARGS, codes::BADVALUE, text));
    }
    match extent {
        Dataspace::Simple(simple) => Ok(match (effective(space)?.into_owned(), &space.extent) {
            // All elements of the given dataspace. The dataset may have other dimensions by now.
            (Selection::All, Dataspace::Simple(given)) if given.dims != simple.dims => {
                let start = vec![0; given.dims.len()];
                Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::region(&start, &given.dims)))
            }
            (selection, _) => selection,
        }),
        _ => Ok(space.selection.clone()),
    }
}

/// The text of the error record for a failed read of a dataset.
const NO_READ: &str = "can't synchronously read data";
/// The text of the error record for a failed write of a dataset.
const NO_WRITE: &str = "can't synchronously write data";

/// Reads the selected elements of a dataset into a memory buffer, with datatype conversion.
///
/// # Errors
/// Fails if the datatypes have no conversion, if the dataspaces do not match, or if the read fails.
pub fn read(
    dataset: &DatasetHandle,
    memory: &Datatype,
    spaces: (hid_t, hid_t),
    dxpl: hid_t,
    buffer: Buffer,
) -> Outcome<()> {
    let rules = Rules::of(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
    let rules = rules.in_file(&dataset.location.shared);
    let with_shape = dataset.with_set_shape();
    let dataset = with_shape.as_ref().unwrap_or(dataset);
    let plan = Plan::of(dataset, spaces.0, spaces.1)?;
    if plan.count == 0 {
        return Ok(());
    }
    let size = memory.size as usize;
    let target = buffer.bytes(bytes(end(&plan.runs)?, size)?, "output buffer")?;
    let failed = |outcome: Outcome<()>| outcome.because(codes::DATASET, codes::READERROR, NO_READ);
    if let Some((start, count)) = plan.one_run() {
        let target = target
            .get_mut(range(start, count, size)?)
            .ok_or_else(|| Failure::bad_value("the buffer is shorter than the selected elements"))?;
        failed(read_packed(dataset, memory, &plan, &rules, target))?;
    } else {
        let mut packed = gather(target, &plan.runs, size)?;
        failed(read_packed(dataset, memory, &plan, &rules, &mut packed))?;
        scatter(&packed, target, &plan.runs, size)?;
    }
    selection_io::note(dataset, &rules, &plan, memory, Direction::Read);
    Ok(())
}

/// Reads the selected elements of a dataset into a buffer that contains only these elements,
/// without gaps, and applies the data transform.
fn read_packed(
    dataset: &DatasetHandle,
    memory: &Datatype,
    plan: &Plan,
    rules: &Rules,
    target: &mut [u8],
) -> Outcome<()> {
    read_converted(dataset, memory, plan, rules, target)?;
    match &rules.transfer.transform {
        Some(transform) => transform.apply(memory, target),
        None => Ok(()),
    }
}

/// Reads the selected elements of a dataset into a buffer that contains only these elements,
/// converted to the datatype in memory.
fn read_converted(
    dataset: &DatasetHandle,
    memory: &Datatype,
    plan: &Plan,
    rules: &Rules,
    target: &mut [u8],
) -> Outcome<()> {
    let handle = &dataset.dataset;
    let in_file = handle.datatype();
    if references::apply(in_file, memory) {
        let mut stored = vec![0; bytes(plan.count, in_file.size as usize)?];
        handle.read_bytes(&plan.selection, in_file, &mut stored).map_err(conversion)?;
        return Ok(rules.plan(in_file, memory)?.convert(&stored, target, plan.count)?);
    }
    if !rules.call_user(&dataset.memory, memory) {
        return handle.read_bytes(&plan.selection, memory, target).map_err(conversion);
    }
    // The library calls callbacks of the user on this thread after it has read the elements into
    // memory.
    let mut stored = vec![0; bytes(plan.count, dataset.memory.size as usize)?];
    handle.read_bytes(&plan.selection, &dataset.memory, &mut stored).map_err(conversion)?;
    let conversion = rules.plan(&dataset.memory, memory)?;
    let outcome = conversion.convert(&stored, target, plan.count);
    free(&dataset.memory, &mut stored, &Heap::default());
    Ok(outcome?)
}

/// Frees the variable-length data of elements in memory that no caller gets. `heap` allocated the
/// data.
fn free(datatype: &Datatype, elements: &mut [u8], heap: &Heap) {
    if reclaim::is_nested(datatype) {
        for element in elements.chunks_exact_mut((datatype.size as usize).max(1)) {
            reclaim::element(datatype, element, heap);
        }
    }
}

/// Converts an error of a dataset read or write to a failure. If no conversion between the
/// datatypes exists, the failure has a separate code.
fn conversion(error: hyperslab::Error) -> Failure {
    let is_conversion = matches!(
        error.without_context(),
        hyperslab::Error::Convert(hyperslab::datatype::convert::ConvertError::Unsupported { .. })
    );
    let failure = Failure::from(error);
    if is_conversion {
        return failure.then(codes::DATATYPE, codes::CANTINIT, "no appropriate function for conversion path");
    }
    failure
}

/// Writes the selected elements of a memory buffer to a dataset, with datatype conversion.
///
/// # Errors
/// Fails in the same cases as [`read`].
pub fn write(
    dataset: &DatasetHandle,
    memory: &Datatype,
    spaces: (hid_t, hid_t),
    dxpl: hid_t,
    buffer: Data,
) -> Outcome<()> {
    let rules = Rules::of(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
    let rules = rules.in_file(&dataset.location.shared);
    let plan = Plan::of(dataset, spaces.0, spaces.1)?;
    if plan.count == 0 {
        return Ok(());
    }
    let size = memory.size as usize;
    let source = buffer.bytes(bytes(end(&plan.runs)?, size)?, "input buffer")?;
    let packed;
    let elements = if let Some((start, count)) = plan.one_run() {
        source
            .get(range(start, count, size)?)
            .ok_or_else(|| Failure::bad_value("the buffer is shorter than the selected elements"))?
    } else {
        packed = gather(source, &plan.runs, size)?;
        packed.as_slice()
    };
    let transformed;
    let elements = match &rules.transfer.transform {
        Some(transform) if !transform.is_identity() => {
            let mut copy = elements.to_vec();
            transform.apply(memory, &mut copy).because(codes::DATASET, codes::WRITEERROR, NO_WRITE)?;
            transformed = copy;
            transformed.as_slice()
        }
        _ => elements,
    };
    let written = write_packed(dataset, memory, &plan, &rules, elements);
    written.because(codes::DATASET, codes::WRITEERROR, NO_WRITE)?;
    selection_io::note(dataset, &rules, &plan, memory, Direction::Write);
    if dataset.location.shared.user_driver.is_some() {
        // A flush makes a user's driver report its write errors to this call.
        dataset.location.shared.file.flush()?;
    }
    Ok(())
}

/// Writes a buffer that contains only the selected elements, without gaps, to a dataset.
fn write_packed(
    dataset: &DatasetHandle,
    memory: &Datatype,
    plan: &Plan,
    rules: &Rules,
    elements: &[u8],
) -> Outcome<()> {
    let handle = &dataset.dataset;
    let in_file = handle.datatype();
    if references::apply(memory, in_file) {
        let mut converted = vec![0; bytes(plan.count, in_file.size as usize)?];
        if needs_old_elements(memory, in_file) {
            handle.read_bytes(&plan.selection, in_file, &mut converted)?;
        }
        rules.plan(memory, in_file)?.convert(elements, &mut converted, plan.count)?;
        return handle.write_bytes(&plan.selection, in_file, &converted).map_err(conversion);
    }
    if rules.call_user(memory, &dataset.memory) {
        let conversion = rules.plan(memory, &dataset.memory)?;
        let mut converted = vec![0; bytes(plan.count, dataset.memory.size as usize)?];
        let partial = needs_old_elements(memory, &dataset.memory);
        if partial {
            handle.read_bytes(&plan.selection, &dataset.memory, &mut converted)?;
        }
        conversion.convert(elements, &mut converted, plan.count)?;
        let outcome = handle.write_bytes_from(&plan.selection, &dataset.memory, &converted, rules.heap());
        if !partial {
            free(&dataset.memory, &mut converted, &rules.heap());
        }
        return Ok(outcome?);
    }
    if form::depends_on_form(&dataset.memory) || form::depends_on_form(memory) {
        return handle.write_bytes_from(&plan.selection, memory, elements, rules.heap()).map_err(conversion);
    }
    handle.write_bytes(&plan.selection, memory, elements).map_err(conversion)
}

/// Returns true if a write must keep members of the stored compound elements that the memory
/// datatype does not contain.
pub fn needs_old_elements(memory: &Datatype, file: &Datatype) -> bool {
    use hyperslab::DatatypeClass::Compound;
    match (&memory.class, &file.class) {
        (Compound(memory), Compound(file)) => {
            file.members.iter().any(|member| !memory.members.iter().any(|other| other.name == member.name))
        }
        _ => false,
    }
}
