//! The samples of a JPEG-LS scan, line by line (T.87, annexes A and B).

use super::bits::{BitSink, BitSource};
use super::model::{Model, Neighbours, RUN_BITS};

/// The current line of one component of a JPEG-LS image and the line above. Each line has an
/// additional sample before the first sample and after the last sample.
#[derive(Debug)]
struct Lines {
    above: Vec<i32>,
    line: Vec<i32>,
    /// The index of the next run length in `RUN_BITS`.
    run: usize,
}

impl Lines {
    fn new(width: usize) -> Self {
        Self { above: vec![0; width + 2], line: vec![0; width + 2], run: 0 }
    }

    /// Begins the next line of a component of a JPEG-LS image.
    fn begin(&mut self) {
        std::mem::swap(&mut self.above, &mut self.line);
        if let [.., before, last] = &mut self.above[..] {
            *last = *before;
        }
        if let (Some(first), Some(above)) = (self.line.first_mut(), self.above.get(1)) {
            *first = *above;
        }
    }

    /// Returns the neighbours of the JPEG-LS sample at the column `x` (counted from 1) and the
    /// sample above to the right.
    #[inline]
    fn neighbours(&self, x: usize) -> Option<(Neighbours, i32)> {
        let [corner, above, next] = *self.above.get(x - 1..)?.first_chunk()?;
        Some((Neighbours { left: *self.line.get(x - 1)?, above, corner }, next))
    }

    #[inline]
    fn set(&mut self, x: usize, sample: i32) {
        if let Some(to) = self.line.get_mut(x) {
            *to = sample;
        }
    }

    fn samples(&self) -> &[i32] {
        self.line.split_at(self.line.len() - 1).0.split_at(1).1
    }

    fn run_bits(&self) -> u32 {
        RUN_BITS.get(self.run).copied().unwrap_or(0)
    }

    fn shorten_run(&mut self) {
        self.run = self.run.saturating_sub(1);
    }

    fn lengthen_run(&mut self) {
        self.run = (self.run + 1).min(RUN_BITS.len() - 1);
    }
}

/// The order of the components' samples in a JPEG-LS scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interleave {
    /// The components alternate line by line; also the mode of a single component.
    Lines,
    /// The components alternate sample by sample.
    Samples,
}

/// The dimensions of a JPEG-LS scan. No dimension is 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) components: usize,
}

/// Decodes the samples of a JPEG-LS scan, and calls `each` with every line. If the scan has several
/// components, the samples of one position are adjacent. Returns [`None`] if the bits are invalid.
pub(super) fn decode(
    source: &mut BitSource<'_>,
    mut model: Model,
    size: Size,
    interleave: Interleave,
    mut each: impl FnMut(&[i32]),
) -> Option<()> {
    let mut components: Vec<Lines> = (0..size.components).map(|_| Lines::new(size.width)).collect();
    let mut interleaved = Vec::new();
    for _ in 0..size.height {
        components.iter_mut().for_each(Lines::begin);
        match interleave {
            Interleave::Lines => {
                for lines in &mut components {
                    decode_line(source, &mut model, lines)?;
                }
            }
            Interleave::Samples => decode_samples(source, &mut model, &mut components)?,
        }
        if let [only] = &components[..] {
            each(only.samples());
            continue;
        }
        interleaved.resize(size.width * size.components, 0);
        for (at, lines) in components.iter().enumerate() {
            let to = interleaved.iter_mut().skip(at).step_by(size.components);
            to.zip(lines.samples()).for_each(|(to, sample)| *to = *sample);
        }
        each(&interleaved);
    }
    Some(())
}

fn decode_line(source: &mut BitSource<'_>, model: &mut Model, lines: &mut Lines) -> Option<()> {
    let end = lines.line.len() - 1;
    let mut x = 1;
    while x < end {
        let (mut neighbours, mut next) = lines.neighbours(x)?;
        let line = lines.line.get_mut(x..end)?.iter_mut();
        // For each following sample, the sample in the line above, one position to the right.
        let mut later = lines.above.get(x + 2..)?.iter();
        for to in line {
            let context = model.context(neighbours, next);
            if context == 0 {
                break;
            }
            let sample = model.decode(source, context, neighbours)?;
            *to = sample;
            x += 1;
            neighbours = Neighbours { left: sample, above: next, corner: neighbours.above };
            next = later.next().copied().unwrap_or(next);
        }
        if x < end {
            x = decode_run_and_end(source, model, lines, x)?;
        }
    }
    Some(())
}

/// Decodes a run of equal samples in a JPEG-LS line, and the sample after the run. The run begins
/// at the column `x`. Returns the column of the next sample.
fn decode_run_and_end(
    source: &mut BitSource<'_>,
    model: &mut Model,
    lines: &mut Lines,
    x: usize,
) -> Option<usize> {
    let end = lines.line.len() - 1;
    let left = *lines.line.get(x - 1)?;
    let run = decode_run(source, lines, end - x)?;
    lines.line.get_mut(x..x + run)?.fill(left);
    let x = x + run;
    if x == end {
        return Some(x);
    }
    let above = *lines.above.get(x)?;
    let sample = model.decode_end(source, (left, above), true, lines.run_bits())?;
    lines.set(x, sample);
    lines.shorten_run();
    Some(x + 1)
}

/// Decodes the length of a run of at most `maximum` equal samples in a JPEG-LS scan.
fn decode_run(source: &mut BitSource<'_>, lines: &mut Lines, maximum: usize) -> Option<usize> {
    let mut run = 0;
    while source.get(1)? == 1 {
        let length = 1 << lines.run_bits();
        if length <= maximum - run {
            lines.lengthen_run();
        }
        run += length.min(maximum - run);
        if run == maximum {
            return Some(run);
        }
    }
    run += usize::try_from(source.get(lines.run_bits())?).ok()?;
    // A run that reaches the end of the line is coded differently.
    (run < maximum).then_some(run)
}

fn decode_samples(source: &mut BitSource<'_>, model: &mut Model, components: &mut [Lines]) -> Option<()> {
    let end = components.first()?.line.len() - 1;
    let mut x = 1;
    while x < end {
        let is_run = is_run(model, components, x)?;
        if !is_run {
            for lines in &mut *components {
                let (neighbours, next) = lines.neighbours(x)?;
                let sample = model.decode(source, model.context(neighbours, next), neighbours)?;
                lines.set(x, sample);
            }
            x += 1;
            continue;
        }
        let run = decode_run(source, components.first_mut()?, end - x)?;
        let run_bits = components.first()?.run_bits();
        for lines in &mut *components {
            let left = *lines.line.get(x - 1)?;
            lines.line.get_mut(x..x + run)?.fill(left);
            if x + run < end {
                let above = *lines.above.get(x + run)?;
                let sample = model.decode_end(source, (left, above), false, run_bits)?;
                lines.set(x + run, sample);
            }
        }
        x += run;
        if x < end {
            components.first_mut()?.shorten_run();
            x += 1;
        }
    }
    Some(())
}

/// Returns true if a run of equal samples begins at the column `x` of a JPEG-LS line. The
/// neighbours of the sample must then be equal in all components.
fn is_run(model: &Model, components: &[Lines], x: usize) -> Option<bool> {
    for lines in components {
        let (neighbours, next) = lines.neighbours(x)?;
        if model.context(neighbours, next) != 0 {
            return Some(false);
        }
    }
    Some(true)
}

/// Encodes the samples of a JPEG-LS scan. The samples have the order in which [`decode`] returns
/// them. Returns [`None`] if there are too few samples.
pub(super) fn encode(
    sink: &mut BitSink<'_>,
    mut model: Model,
    size: Size,
    interleave: Interleave,
    samples: &[i32],
) -> Option<()> {
    let mut components: Vec<Lines> = (0..size.components).map(|_| Lines::new(size.width)).collect();
    for line in samples.chunks_exact(size.width * size.components).take(size.height) {
        for (at, lines) in components.iter_mut().enumerate() {
            lines.begin();
            let from = line.iter().skip(at).step_by(size.components);
            lines.line.iter_mut().skip(1).zip(from).for_each(|(to, sample)| *to = *sample);
        }
        match interleave {
            Interleave::Lines => {
                for lines in &mut components {
                    encode_line(sink, &mut model, lines)?;
                }
            }
            Interleave::Samples => encode_samples(sink, &mut model, &mut components)?,
        }
    }
    Some(())
}

fn encode_line(sink: &mut BitSink<'_>, model: &mut Model, lines: &mut Lines) -> Option<()> {
    let end = lines.line.len() - 1;
    let mut x = 1;
    while x < end {
        let (neighbours, next) = lines.neighbours(x)?;
        let context = model.context(neighbours, next);
        let sample = *lines.line.get(x)?;
        if context != 0 {
            let taken = model.encode(sink, context, neighbours, sample)?;
            lines.set(x, taken);
            x += 1;
            continue;
        }
        let rest = lines.line.get_mut(x..end)?;
        let run = rest.iter().take_while(|sample| model.continues_run(**sample, neighbours.left)).count();
        rest.get_mut(..run)?.fill(neighbours.left);
        encode_run(sink, lines, run, end - x);
        x += run;
        if x < end {
            let (sample, above) = (*lines.line.get(x)?, *lines.above.get(x)?);
            let taken = model.encode_end(sink, (neighbours.left, above), true, lines.run_bits(), sample)?;
            lines.set(x, taken);
            lines.shorten_run();
            x += 1;
        }
    }
    Some(())
}

/// Encodes the length of a run of equal samples in a JPEG-LS scan. `maximum` is the number of
/// samples up to the end of the line.
fn encode_run(sink: &mut BitSink<'_>, lines: &mut Lines, run: usize, maximum: usize) {
    let mut rest = run;
    while rest >= 1 << lines.run_bits() {
        sink.put(1, 1);
        rest -= 1 << lines.run_bits();
        lines.lengthen_run();
    }
    if run < maximum {
        sink.put(0, 1);
        sink.put(rest.cast_signed() as i64, lines.run_bits());
    } else if rest > 0 {
        sink.put(1, 1);
    }
}

fn encode_samples(sink: &mut BitSink<'_>, model: &mut Model, components: &mut [Lines]) -> Option<()> {
    let end = components.first()?.line.len() - 1;
    let mut x = 1;
    while x < end {
        let is_run = is_run(model, components, x)?;
        if !is_run {
            for lines in &mut *components {
                let (neighbours, next) = lines.neighbours(x)?;
                let sample = *lines.line.get(x)?;
                let taken = model.encode(sink, model.context(neighbours, next), neighbours, sample)?;
                lines.set(x, taken);
            }
            x += 1;
            continue;
        }
        let length = |lines: &Lines| {
            let left = lines.line.get(x - 1).copied().unwrap_or(0);
            let rest = lines.line.get(x..end).unwrap_or_default();
            rest.iter().take_while(|sample| model.continues_run(**sample, left)).count()
        };
        let run = components.iter().map(length).min()?;
        encode_run(sink, components.first_mut()?, run, end - x);
        let run_bits = components.first()?.run_bits();
        for lines in &mut *components {
            let left = *lines.line.get(x - 1)?;
            lines.line.get_mut(x..x + run)?.fill(left);
            if x + run < end {
                let (sample, above) = (*lines.line.get(x + run)?, *lines.above.get(x + run)?);
                let taken = model.encode_end(sink, (left, above), false, run_bits, sample)?;
                lines.set(x + run, taken);
            }
        }
        x += run;
        if x < end {
            components.first_mut()?.shorten_run();
            x += 1;
        }
    }
    Some(())
}
