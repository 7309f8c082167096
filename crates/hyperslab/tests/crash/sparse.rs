//! Crashes with features that the model lacks: sparse datasets, variable-length data, copies. The
//! expected content is the content of a file in memory after the same steps.

use std::sync::Arc;

use hyperslab::datatype::CharacterSet;
use hyperslab::filter::FilterSpec;
use hyperslab::{
    Datatype, Durability, File, FileOptions, LibraryVersion, LibverBounds, Points, Region, Result, Section,
    SelectionEncoding,
};
use hyperslab_vfd::simulated::SimulatedDisk;

use crate::content;
use crate::record::{Dice, Recording, Step, medium};

/// The prefix of the names of these recordings. A number follows.
const NAME: &str = "sparse ";

/// One operation. The number determines its details.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Points(u64),
    Block(u64),
    Erase(u64),
    Resize(u64),
    Append(u64),
    RemoveMatrix,
    MakeMatrix(u64),
    MakeTexts,
    MakeWords,
    Texts(u64),
    Words(u64),
    Copy(u64),
    RemoveCopy(u64),
    Flush,
}

impl Deed {
    /// Returns random operations that belong together. The file may be committed between two
    /// results of this function.
    fn draw(dice: &mut Dice) -> Vec<Self> {
        let number = dice.below(1 << 40);
        match dice.below(18) {
            0..=3 => vec![Self::Points(number)],
            4 | 5 => vec![Self::Block(number)],
            6 => vec![Self::Erase(number)],
            7 | 8 => vec![Self::Resize(number)],
            9 | 10 => vec![Self::Append(number)],
            11 => vec![Self::RemoveMatrix, Self::MakeMatrix(number)],
            12 => vec![Self::Texts(number)],
            13 => vec![Self::Words(number)],
            14 => vec![Self::RemoveCopy(number % 4), Self::Copy(number % 4)],
            15 => (0..4).map(Self::RemoveCopy).collect(),
            _ => vec![Self::Flush],
        }
    }

    fn perform(self, file: &File) -> Result<()> {
        let matrix = || file.dataset("matrix");
        match self {
            Self::Points(seed) => {
                let dims = matrix()?.dataspace().dims().to_vec();
                let (points, values) = points(seed, &dims);
                matrix()?.sparse().write(&points, &values)
            }
            Self::Block(seed) => {
                let (region, count) = block(seed, matrix()?.dataspace().dims());
                matrix()?.write(&region, &vec![seed as i32; count])
            }
            Self::Erase(seed) => {
                let (region, _) = block(seed, matrix()?.dataspace().dims());
                matrix()?.sparse().erase(&region)
            }
            Self::Resize(seed) => matrix()?.resize(&[10 + seed % 50, 10 + (seed >> 20) % 30]),
            Self::Append(seed) => {
                let dims = [1 + seed % 3, matrix()?.dataspace().dims()[1]];
                let (points, values) = points(seed, &dims);
                matrix()?.sparse().append(0, dims[0], &points, &values)
            }
            Self::RemoveMatrix => file.remove("matrix"),
            Self::MakeMatrix(seed) => make_matrix(file, seed),
            Self::MakeTexts => file
                .new_dataset("texts")
                .datatype(texts())
                .shape(&[200])
                .sparse(&[50])
                .track_times(false)
                .create()
                .map(|_| ()),
            Self::MakeWords => file
                .new_dataset("words")
                .datatype(texts())
                .shape(&[12])
                .track_times(false)
                .create()
                .map(|_| ()),
            Self::Texts(seed) => {
                let texts: Vec<String> = (0..5).map(|number| text(seed + number)).collect();
                let coordinates = (0..5).map(|number| (seed + number * 37) % 200).collect();
                file.dataset("texts")?.sparse().write_strings(&Points { rank: 1, coordinates }, &texts)
            }
            Self::Words(seed) => {
                let texts: Vec<String> = (0..12).map(|number| text(seed * number)).collect();
                file.dataset("words")?.write_strings(.., &texts)
            }
            Self::Copy(number) => file.copy(&*matrix()?, &format!("copy {number}")).map(|_| ()),
            Self::RemoveCopy(number) => {
                let name = format!("copy {number}");
                if file.member_names()?.contains(&name) { file.remove(&name) } else { Ok(()) }
            }
            Self::Flush => file.flush(),
        }
    }
}

fn text(seed: u64) -> String {
    "abcdefgh".repeat((seed % 7) as usize) + &seed.to_string()
}

fn points(seed: u64, dims: &[u64]) -> (Points, Vec<i32>) {
    let mut dice = Dice(seed);
    let count = 1 + dice.below(20);
    let coordinates = (0..count).flat_map(|_| [dice.below(dims[0]), dice.below(dims[1])]).collect();
    (Points { rank: 2, coordinates }, (0..count).map(|number| (seed + number) as i32).collect())
}

fn block(seed: u64, dims: &[u64]) -> (Region, usize) {
    let mut dice = Dice(seed);
    let start = [dice.below(dims[0]), dice.below(dims[1])];
    let count = [1 + dice.below((dims[0] - start[0]).min(9)), 1 + dice.below((dims[1] - start[1]).min(9))];
    (Region::new(&start, &count).unwrap(), (count[0] * count[1]) as usize)
}

fn make_matrix(file: &File, seed: u64) -> Result<()> {
    let builder =
        file.new_dataset("matrix").of::<i32>().shape(&[20, 15]).max_shape(&[None, None]).sparse(&[8, 8]);
    let builder = match seed % 3 {
        0 => builder,
        1 => builder.section_filters(Section::Values, &[FilterSpec::deflate(3)]),
        _ => builder
            .selection_encoding(SelectionEncoding::Shortest)
            .section_filters(Section::Selection, &[FilterSpec::deflate(3)])
            .section_filters(Section::Values, &[FilterSpec::shuffle(), FilterSpec::fletcher32()]),
    };
    builder.track_times(false).create().map(|_| ())
}

fn texts() -> Datatype {
    Datatype::variable_string(CharacterSet::Utf8, 8)
}

fn bounds() -> LibverBounds {
    LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap()
}

/// Returns the recording with a number.
pub(crate) fn recording(number: u64) -> Option<Recording> {
    let mut dice = Dice(number ^ 0x5bd1_e995);
    let durability = if number % 4 == 3 { Durability::Ordered } else { Durability::Full };
    let (seed, cache) = (dice.below(100), [1 << 20, 0, 300][dice.below(3) as usize]);
    let deeds: Vec<Deed> = (0..4 + dice.below(16)).flat_map(|_| Deed::draw(&mut dice)).collect();
    let model = FileOptions::new().libver(bounds()).create_in_memory().unwrap();
    let name = format!("{NAME}{number}");
    let disk = SimulatedDisk::new();
    let mut medium = medium(&disk, durability);
    medium.uncommitted = [None, None, Some(2000)][dice.below(3) as usize];
    let options = FileOptions::new().libver(bounds()).chunk_cache(cache);
    let file = medium.create(options).create_driver(medium.driver.clone()).unwrap();
    let (mut steps, mut before) = (Vec::new(), 0);
    let mut step = |subject: String, commits: bool| {
        let content = Arc::new(content::of_file(&model).unwrap());
        let after = disk.operations();
        steps.push(Step { subject, before, after, commits, content });
        before = after;
    };
    step("create".into(), false);
    let first = [Deed::MakeMatrix(seed), Deed::MakeTexts, Deed::MakeWords, Deed::Flush];
    for deed in first.into_iter().chain(deeds) {
        let outcome = [&model, &file].map(|file| deed.perform(file).map_err(|error| error.to_string()));
        assert_eq!(outcome[0], outcome[1], "{deed:?}");
        step(format!("{deed:?}"), matches!(deed, Deed::Flush));
    }
    file.close().unwrap();
    step("close".into(), true);
    let history = disk.history();
    Some(Recording { name, durability, bounds: bounds(), common: false, steps, history })
}

/// Returns the recording with this name.
pub(crate) fn named(name: &str) -> Option<Recording> {
    recording(name.strip_prefix(NAME)?.parse().ok()?)
}
