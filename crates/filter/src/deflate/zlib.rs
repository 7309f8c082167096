//! The deflate filter's codec: decoded by `fdeflate`, the fastest decoder without unsafe code, or
//! with the feature `zlib-rs-inflate` by zlib-rs. Encoded by zlib-rs.

use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status};

use super::DeflateSettings;
use crate::codec::inflate::inflate;
use crate::codec::remaining_input;
use crate::{FilterError, FilterId, Result};

const ID: FilterId = FilterId::DEFLATE;

/// The encoders of the deflate filter, each with its level, that are reused from chunk to chunk.
#[derive(Default)]
pub(super) struct State {
    encoders: [Option<(u32, Deflate)>; 3],
}

/// Decodes the zlib stream `input` of the deflate filter into `output` and returns the number of
/// decoded bytes. Returns [`None`] if `output` is too short.
pub(super) fn decode(_state: &mut State, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
    inflate(input, output).map_err(|detail| FilterError::corrupt(ID, detail))
}

fn encoder(level: u32, runs_only: bool) -> Result<Deflate> {
    let level = i32::try_from(level)
        .map_err(|_| FilterError::failed(ID, format!("level {level} is not supported")))?;
    let mut config = DeflateConfig { level, ..DeflateConfig::default() };
    if runs_only {
        config.strategy = zlib_rs::Strategy::Rle;
    }
    Ok(Deflate::new_with_config(config))
}

/// Encodes `input` with deflate and replaces the content of `output` by the zlib stream.
pub(super) fn encode(
    state: &mut State,
    settings: &DeflateSettings,
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<()> {
    let [whole, runs, fast] = &mut state.encoders;
    let kept = match settings.level {
        0 | 1 => fast,
        _ if settings.runs_only => runs,
        _ => whole,
    };
    let mut stream = match kept.take() {
        Some((level, mut stream)) if level == settings.level => {
            stream.reset();
            stream
        }
        _ => encoder(settings.level, settings.runs_only && settings.level > 1)?,
    };
    // Stored blocks of at least 8 KiB cost 5 bytes each; stream header and checksum cost 6 bytes.
    output.clear();
    output.resize(input.len() + input.len() / 1000 + 64, 0);
    let mut parts = settings.parts(input).peekable();
    let mut written = 0_usize;
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        written = encode_part(&mut stream, part, last, output, written)?;
    }
    output.truncate(written);
    *kept = Some((settings.level, stream));
    Ok(())
}

/// Encodes one part of a chunk into the zlib stream of the deflate filter, and ends the zlib block.
/// `written` is the number of bytes of `output` that are already used. Returns the new number.
fn encode_part(
    stream: &mut Deflate,
    part: &[u8],
    last: bool,
    output: &mut Vec<u8>,
    mut written: usize,
) -> Result<usize> {
    let flush = if last { DeflateFlush::Finish } else { DeflateFlush::Block };
    let mut rest = part;
    loop {
        let (before_in, before_out) = (stream.total_in(), stream.total_out());
        let free = output.split_at_mut(written).1;
        let is_full = |written: usize, output: &[u8]| written >= output.len();
        let status = stream
            .compress(rest, free, flush)
            .map_err(|error| FilterError::failed(ID, error.as_str().to_owned()))?;
        rest = remaining_input(ID, rest, stream.total_in() - before_in)?;
        let given = usize::try_from(stream.total_out() - before_out).ok();
        let end = given.and_then(|given| written.checked_add(given)).filter(|end| *end <= output.len());
        let invariant = "the encoder writes no more bytes than the buffer has";
        written = end.ok_or(FilterError::Internal { id: ID, invariant })?;
        let done =
            if last { status == Status::StreamEnd } else { rest.is_empty() && !is_full(written, output) };
        if done {
            return Ok(written);
        }
        if is_full(written, output) {
            output.resize((output.len() * 2).max(64), 0);
        }
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}
