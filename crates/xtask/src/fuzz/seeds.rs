//! Seeds of the fuzz targets: pieces of the fixtures, cut out at the signatures of structures.

use std::path::Path;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

/// Bytes before the structure, which choose widths and other parameters. Zeros choose the usual
/// ones.
const CONTROL_BYTES: [u8; 8] = [0; 8];
/// Bytes of the largest fixture that is itself a seed, and of the longest piece.
const MAX_SEED_BYTES: usize = 48 << 10;
const MAX_PIECE_BYTES: usize = 2048;
/// Largest number of pieces of one kind from one fixture.
const MAX_PIECES: usize = 6;

/// The rules for the seeds of a target.
struct Cut {
    target: &'static str,
    /// Signatures of the structures at which a piece begins.
    heads: &'static [&'static [u8]],
    /// Bytes of the first structure, and signatures of the blocks that may follow.
    next: Option<(usize, &'static [&'static [u8]])>,
}

const CUTS: &[Cut] = &[
    Cut { target: "object_header", heads: &[b"OHDR", b"OCHK"], next: None },
    Cut { target: "btree_v1", heads: &[b"TREE", b"SNOD"], next: None },
    Cut { target: "btree_v2", heads: &[b"BTHD"], next: Some((38, &[b"BTLF", b"BTIN"])) },
    Cut { target: "btree_v2", heads: &[b"SMTB", b"SMLI"], next: None },
    Cut { target: "fractal_heap", heads: &[b"FRHP"], next: Some((146, &[b"FHDB", b"FHIB"])) },
    Cut { target: "fixed_array", heads: &[b"FAHD"], next: Some((28, &[b"FADB"])) },
    Cut { target: "extensible_array", heads: &[b"EAHD"], next: Some((72, &[b"EAIB", b"EASB", b"EADB"])) },
    Cut { target: "local_heap", heads: &[b"HEAP"], next: None },
    Cut { target: "global_heap", heads: &[b"GCOL"], next: None },
    Cut { target: "free_space", heads: &[b"FSHD"], next: Some((82, &[b"FSSE"])) },
];

/// The requests of the seeds for the server.
const REQUESTS: [&str; 2] =
    ["/data?selection=0,0:2&flatten=true&format=npy", "/meta?resolve_links=all&path=/"];

/// Writes the seeds of a target into its corpus. Returns the number of seeds.
pub(super) fn harvest(target: &str, corpus: &Path) -> Result<usize> {
    let fixtures = workspace::root().join("fixtures");
    let mut count = 0_usize;
    for entry in std::fs::read_dir(&fixtures).context("fixtures")? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "h5") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = std::fs::read(&path).with_context(|| path.display().to_string())?;
        for (number, seed) in of_file(target, &file).into_iter().enumerate() {
            std::fs::write(corpus.join(format!("seed-{name}-{number}")), seed)?;
            count = count.saturating_add(1);
        }
    }
    Ok(count)
}

fn of_file(target: &str, file: &[u8]) -> Vec<Vec<u8>> {
    match target {
        "whole_file" | "whole_change" => {
            [file.to_vec()].into_iter().filter(|file| file.len() <= MAX_SEED_BYTES).collect()
        }
        "serve_request" => {
            let file = [file].into_iter().filter(|file| file.len() <= MAX_SEED_BYTES);
            file.flat_map(|file| REQUESTS.iter().map(move |request| requested(file, request))).collect()
        }
        "superblock" => vec![file.iter().take(256).copied().collect()],
        // The target tries each message decoder on a message body.
        "datatype" | "selection" => bodies(file),
        _ => CUTS.iter().filter(|cut| cut.target == target).flat_map(|cut| cut.pieces(file)).collect(),
    }
}

/// Returns a file, a request, and the length of the request.
fn requested(file: &[u8], request: &str) -> Vec<u8> {
    let length = u8::try_from(request.len()).unwrap_or(0);
    [file, request.as_bytes(), &[length]].concat()
}

impl Cut {
    fn pieces(&self, file: &[u8]) -> Vec<Vec<u8>> {
        let heads = self.heads.iter().flat_map(|signature| starts(file, signature));
        let Some((head_size, nodes)) = self.next else {
            return heads.map(|start| piece(file, start, MAX_PIECE_BYTES, &[])).collect();
        };
        let nodes: Vec<usize> = nodes.iter().flat_map(|signature| starts(file, signature)).collect();
        heads.flat_map(|head| nodes.iter().map(move |node| pair(file, head, head_size, *node))).collect()
    }
}

/// Returns a piece with a structure and the node that follows.
fn pair(file: &[u8], head: usize, head_size: usize, node: usize) -> Vec<u8> {
    let node: Vec<u8> = file.iter().skip(node).take(MAX_PIECE_BYTES).copied().collect();
    piece(file, head, head_size, &node)
}

/// Returns control bytes, `length` bytes from `start`, and the bytes of `next`.
fn piece(file: &[u8], start: usize, length: usize, next: &[u8]) -> Vec<u8> {
    let bytes = file.iter().skip(start).take(length);
    CONTROL_BYTES.iter().chain(bytes).chain(next).copied().collect()
}

fn starts(file: &[u8], signature: &[u8]) -> Vec<usize> {
    let found = file.windows(signature.len()).enumerate().filter(|(_, window)| *window == signature);
    found.map(|(start, _)| start).take(MAX_PIECES).collect()
}

/// Returns the bytes after the envelopes of version 2 object headers, and the blocks of global
/// heaps.
fn bodies(file: &[u8]) -> Vec<Vec<u8>> {
    let headers = starts(file, b"OHDR").into_iter().flat_map(|start| [start + 11, start + 27]);
    let blocks = starts(file, b"GCOL").into_iter().map(|start| start + 32);
    headers.chain(blocks).map(|start| piece(file, start, 256, &[])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gets_each_node_behind_it() {
        let file = [&b"..FAHD"[..], &[7; 24], b"FADBxFADBy"].concat();
        let seeds = of_file("fixed_array", &file);
        assert_eq!(seeds.len(), 2);
        for (seed, tail) in seeds.iter().zip([&b"FADBxFADBy"[..], b"FADBy"]) {
            assert!(seed.starts_with(b"\0\0\0\0\0\0\0\0FAHD\x07"));
            assert!(seed.ends_with(tail), "{}", seed.escape_ascii());
        }
    }

    #[test]
    fn every_target_but_the_generated_ones_has_seeds() {
        let file = std::fs::read(workspace::root().join("fixtures/weather_station.h5")).unwrap();
        assert!(!of_file("superblock", &file).is_empty());
        assert!(of_file("filters", &file).is_empty());
    }
}
