//! The SWMR writer. It appends random numbers of rows to all datasets, and flushes at random times.

use std::path::Path;
use std::time::{Duration, Instant};

use hyperslab::{Dataset, File, FileOptions, H5Type, LibraryVersion, LibverBounds, Region, Selection};
use ndarray::{Array, IxDyn};

use crate::rules::{shapes_in, values};

/// A generator of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of(&mut self, choice: &[u64]) -> u64 {
        choice[self.below(choice.len() as u64) as usize]
    }
}

fn make(path: &Path) -> File {
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds).create(path).unwrap();
    let new = |name: &str| file.new_dataset(name);
    new("line").of::<i64>().shape(&[0]).max_shape(&[None]).chunks(&[64]).deflate(4).create().unwrap();
    new("plain").of::<u32>().shape(&[0]).max_shape(&[None]).chunks(&[100]).create().unwrap();
    let fixed = new("fixed").of::<i64>().shape(&[0, 3]).max_shape(&[Some(4000), Some(3)]);
    fixed.chunks(&[7, 3]).deflate(4).create().unwrap();
    new("rows").of::<f64>().shape(&[0, 5]).max_shape(&[None, Some(5)]).chunks(&[16, 3]).create().unwrap();
    let plane = new("plane").of::<i64>().shape(&[0, 0]).max_shape(&[None, None]);
    plane.chunks(&[4, 5]).deflate(4).create().unwrap();
    file
}

fn append<T: H5Type>(dataset: &Dataset, width: u64, more: u64, convert: impl Fn(i64) -> T) {
    let mut dims = dataset.dataspace().dims().to_vec();
    let mut starts = vec![0; dims.len()];
    starts[0] = std::mem::replace(&mut dims[0], more);
    let elements: Vec<T> = values(width, &starts, &dims).into_iter().map(convert).collect();
    let shape: Vec<usize> = dims.iter().map(|size| *size as usize).collect();
    dataset.append(0, &Array::from_shape_vec(IxDyn(&shape), elements).unwrap()).unwrap();
}

/// Appends to a dataset. Like other programs, the function first changes the shape, and then writes
/// the elements.
fn grow(dataset: &Dataset, axis: usize, more: u64) {
    let mut dims = dataset.dataspace().dims().to_vec();
    let mut starts = vec![0; dims.len()];
    starts[axis] = dims[axis];
    dims[axis] += more;
    dataset.resize(&dims).unwrap();
    dims[axis] = more;
    if !dims.contains(&0) {
        let region = Selection::region(&Region::new(&starts, &dims).unwrap());
        dataset.write(&region, &values(5, &starts, &dims)).unwrap();
    }
}

#[expect(clippy::print_stdout, reason = "who started this process reads it")]
pub(crate) fn run(path: &Path, seconds: f64, seed: u64) {
    let file = make(path);
    let [line, plain, fixed, rows, plane] =
        ["line", "plain", "fixed", "rows", "plane"].map(|name| file.dataset(name).unwrap());
    file.start_swmr_write().unwrap();
    println!("ready");
    let (mut numbers, end) = (Numbers(seed), Instant::now() + Duration::from_secs_f64(seconds));
    let (mut appends, mut flushes) = (0_u64, 0_u64);
    while Instant::now() < end {
        let size = |dataset: &Dataset, axis: usize| dataset.dataspace().dims()[axis];
        match numbers.below(5) {
            0 => append(&line, 1, numbers.one_of(&[1, 3, 64, 200]), |value| value),
            1 => append(&plain, 2, numbers.one_of(&[1, 3, 64, 200]), |value| value as u32),
            2 => {
                let more = numbers.one_of(&[1, 2, 16, 40]).min(4000 - size(&fixed, 0));
                if more > 0 {
                    append(&fixed, 3, more, |value| value);
                }
            }
            3 => append(&rows, 4, numbers.one_of(&[1, 2, 16, 40]), |value| value as f64),
            _ if numbers.below(10) < 7 && size(&plane, 0) < 3000 => {
                grow(&plane, 0, numbers.one_of(&[1, 4, 9]));
            }
            _ if size(&plane, 1) < 60 => grow(&plane, 1, 1),
            _ => {}
        }
        appends += 1;
        if numbers.below(10) < 3 {
            file.flush().unwrap();
            println!("flushed {}", shapes_in(&file));
            flushes += 1;
            std::thread::sleep(Duration::from_millis(numbers.one_of(&[0, 1, 10])));
        }
    }
    drop((line, plain, fixed, rows, plane));
    file.close().unwrap();
    println!("appends {appends} flushes {flushes}");
}
