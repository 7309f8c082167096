//! The report of the demonstration, as text or JSON.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use anyhow::Result;
use serde_json::{Value, json};

use super::answer::Answer;
use super::storage::{Storage, StreamRegion};
use crate::output::{self, DATASET, FAINT, PLAIN, VALUE, bytes, styled, width};

/// The measurements of one file of the demonstration: its size and the times of writing and
/// reading.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) storage: Storage,
    /// The size of the file.
    pub(super) bytes: u64,
    pub(super) write: Duration,
    /// The reading times of the regions, in the order of [`READS`].
    pub(super) reads: [Duration; 4],
}

/// The results of the command `demo` for all of its files.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) frames: u32,
    pub(super) size: u32,
    pub(super) seed: u64,
    /// The summary of the whole stream.
    pub(super) whole: Answer,
    pub(super) parts: [StreamRegion; 4],
    pub(super) storages: Vec<Measured>,
    /// The folder with the files, if they are kept.
    pub(super) kept: Option<PathBuf>,
}

/// The names of the regions that the demonstration reads. They are column headings and keys of the
/// JSON document.
const READS: [(&str, &str); 4] =
    [("all", "whole_s"), ("a frame", "frame_s"), ("a region", "region_s"), ("a pixel", "pixel_s")];

const HEADS: [&str; 9] =
    ["", "file", "per pixel hit", "of raw", "write", "all", "a frame", "a region", "a pixel"];

impl Report {
    /// Returns the size of the demonstration's raw data: all pixels of all frames.
    fn raw(&self) -> u64 {
        u64::from(self.frames) * u64::from(self.size) * u64::from(self.size) * 2
    }

    /// Describes the advantages of the demonstration's sparse file: its size, and the times of
    /// reading parts of it.
    pub(super) fn gain(&self, out: &mut output::Output) -> Result<()> {
        let [sparse, dense, ..] = self.storages.as_slice() else { return Ok(()) };
        let [_, frame, region, pixel] = sparse.reads.map(time);
        let size = u64::from(self.size);
        let side = size / 8;
        styled(out, DATASET, &format!("{} frames, summed from sparse.h5.", self.frames))?;
        writeln!(
            out,
            " The file has {}: {:.0} times less than the raw frames,",
            bytes(sparse.bytes),
            ratio(self.raw(), sparse.bytes)
        )?;
        let smaller = compared(ratio(dense.bytes, sparse.bytes), ["smaller", "larger", "as large"]);
        let than = if smaller == "as large" { "as" } else { "than" };
        writeln!(out, "{smaller} {than} dense frames with gzip. Each part is read directly:")?;
        writeln!(out, "  one frame                            {frame}")?;
        writeln!(out, "  {:<36} {region}", format!("{side} × {side} pixels of all frames"))?;
        writeln!(out, "  one pixel of all frames              {pixel}")?;
        writeln!(out)?;
        Ok(())
    }

    pub(super) fn table(&self, out: &mut output::Output) -> Result<()> {
        self.introduce(out)?;
        let rows: Vec<[String; 9]> = self.storages.iter().map(|measured| self.row(measured)).collect();
        let widths: Vec<usize> = (0..HEADS.len())
            .map(|column| {
                let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
                cells.chain(HEADS.get(column).map(|head| width(head))).max().unwrap_or(0)
            })
            .collect();
        line(out, &HEADS.map(str::to_owned), &widths, FAINT, FAINT)?;
        for row in &rows {
            line(out, row, &widths, DATASET, PLAIN)?;
        }
        writeln!(out)?;
        for sentence in self.conclusion() {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out)?;
        self.next_steps(out)?;
        out.flush()?;
        Ok(())
    }

    fn introduce(&self, out: &mut output::Output) -> Result<()> {
        let (frames, size, hit) = (self.frames, self.size, self.whole.pixels);
        let all = u64::from(frames) * u64::from(size) * u64::from(size);
        writeln!(
            out,
            "An X-ray detector, simulated: {frames} frames of {size} × {size} pixels, {} raw.",
            bytes(self.raw())
        )?;
        let share = 100.0 * ratio(hit, all);
        let photons = grouped(self.whole.photons);
        writeln!(
            out,
            "{photons} photons hit {} pixels, {share:.2} % of all. Written frame by frame, in three ways:",
            grouped(hit)
        )?;
        writeln!(out)?;
        Ok(())
    }

    fn row(&self, measured: &Measured) -> [String; 9] {
        let [whole, frame, region, pixel] = measured.reads.map(time);
        let per_hit = format!("{:.2} B", ratio(measured.bytes, self.whole.pixels));
        let of_raw = format!("1 : {:.0}", ratio(self.raw(), measured.bytes));
        [
            measured.storage.name().to_owned(),
            bytes(measured.bytes),
            per_hit,
            of_raw,
            time(measured.write),
            whole,
            frame,
            region,
            pixel,
        ]
    }

    /// Writes the conclusion of the demonstration. The wording depends on the measurements.
    fn conclusion(&self) -> Vec<String> {
        let [sparse, dense, lists] = self.storages.as_slice() else { return Vec::new() };
        let comparison = |other: &Measured| {
            let [whole, frame, ..] = sparse.reads;
            let [other_whole, other_frame, ..] = other.reads;
            let size = compared(ratio(other.bytes, sparse.bytes), ["smaller", "larger", "as large"]);
            let speed = |one: Duration, other: Duration| {
                let times = other.as_secs_f64() / one.as_secs_f64().max(1e-9);
                compared(times, ["faster", "slower", "as fast"])
            };
            let (write, read) = (speed(sparse.write, other.write), speed(whole, other_whole));
            format!("{size}, written {write}, read {read}, a single frame {}", speed(frame, other_frame))
        };
        vec![
            "All three files return the data that were written.".to_owned(),
            format!("Compared with dense frames, the sparse file is {}.", comparison(dense)),
            format!("Compared with lists of photons, the sparse file is {}.", comparison(lists)),
            "The sparse file remains an array: programs can read any selection and change any pixel."
                .to_owned(),
        ]
    }

    fn next_steps(&self, out: &mut output::Output) -> Result<()> {
        let Some(folder) = &self.kept else {
            write!(out, "To look into the files: ")?;
            styled(out, VALUE, "hyperslab demo --keep")?;
            writeln!(out)?;
            return Ok(());
        };
        writeln!(out, "The files are kept. To look into them:")?;
        let folder = output::escape(folder.to_string_lossy().as_bytes());
        for (command, path) in [
            ("ls -rv", ""),
            ("cat --defined -s 0", " entry/frames"),
            ("cat --sparse-locations -s 0", " entry/frames"),
        ] {
            write!(out, "  ")?;
            styled(out, VALUE, &format!("hyperslab {command} {folder}/sparse.h5{path}"))?;
            writeln!(out)?;
        }
        Ok(())
    }

    pub(super) fn json(&self, out: &mut output::Output) -> Result<()> {
        let entry = |measured: &Measured| {
            let reads = READS
                .iter()
                .zip(&measured.reads)
                .map(|((_, key), time)| ((*key).to_owned(), json!(time.as_secs_f64())));
            json!({
                "name": measured.storage.key(),
                "bytes": measured.bytes,
                "bytes_per_pixel_hit": ratio(measured.bytes, self.whole.pixels),
                "raw_to_file": ratio(self.raw(), measured.bytes),
                "write_s": measured.write.as_secs_f64(),
                "read": Value::Object(reads.collect()),
            })
        };
        let [_, frame, region, pixel] = &self.parts;
        let document = json!({
            "schema": 1,
            "frames": self.frames,
            "size": self.size,
            "seed": self.seed,
            "pixels_hit": self.whole.pixels,
            "photons": self.whole.photons,
            "raw_bytes": self.raw(),
            "parts": {
                "frame": frame.start.first(),
                "region": {"start": region.start, "count": region.count},
                "pixel": pixel.start.get(1..),
            },
            "storages": self.storages.iter().map(entry).collect::<Vec<_>>(),
            "agree": true,
            "folder": self.kept.as_ref().map(|folder| folder.to_string_lossy()),
        });
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }
}

/// Prints the cells of a row of the demonstration's table. Numbers are aligned to the right.
fn line(
    out: &mut output::Output,
    cells: &[String],
    widths: &[usize],
    name: Style,
    rest: Style,
) -> Result<()> {
    for (number, (cell, columns)) in cells.iter().zip(widths).enumerate() {
        let gap = " ".repeat(columns - width(cell));
        if number == 0 {
            styled(out, name, cell)?;
            write!(out, "{gap}")?;
        } else {
            write!(out, "   {gap}")?;
            styled(out, rest, cell)?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// Returns a comparison such as `4.2 times smaller`. The first word is for `times` above 1, the
/// second for `times` below 1. If `times` is about 1, the result is only the third word.
fn compared(times: f64, [better, worse, same]: [&str; 3]) -> String {
    let shown = |times: f64| if times < 9.95 { format!("{times:.1}") } else { format!("{times:.0}") };
    if (0.95..1.05).contains(&times) {
        same.to_owned()
    } else if times > 1.0 {
        format!("{} times {better}", shown(times))
    } else {
        format!("{} times {worse}", shown(1.0 / times.max(1e-9)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / (other as f64).max(1.0)
}

fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.009_995 => format!("{:.2} ms", seconds * 1e3),
        ..0.999_5 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Formats a number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_the_figures() {
        let reported = [4.24, 25.4, 1.01, 0.5].map(|times| compared(times, ["faster", "slower", "as fast"]));
        assert_eq!(reported, ["4.2 times faster", "25 times faster", "as fast", "2.0 times slower"]);
        let shown =
            [0.000_12, 0.0099, 0.01, 0.25, 0.9999, 2.0].map(|seconds| time(Duration::from_secs_f64(seconds)));
        assert_eq!(shown, ["0.12 ms", "9.90 ms", "10 ms", "250 ms", "1.00 s", "2.00 s"]);
        assert_eq!([1, 999, 1000, 52_428_800].map(grouped), ["1", "999", "1 000", "52 428 800"]);
    }
}
