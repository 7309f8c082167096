//! Writes a file, and draws one of its structured chunks. The output is `docs/sparse-chunk.svg`.
//!
//! ```console
//! $ cargo run -p hyperslab --example sparse_chunk_picture > docs/sparse-chunk.svg
//! ```

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "it draws what it wrote itself, and prints that"
)]

use hyperslab::{Block, FileOptions, Points, Region, Result, Section, StructuredChunk};

/// The dataset, its chunks, and the chunk that is drawn.
const SHAPE: [u64; 2] = [24, 32];
const CHUNK: [u64; 2] = [12, 16];
const ORIGIN: [u64; 2] = [12, 16];

/// The defined blocks, written one after the other.
const COLOURS: [&str; 6] = ["#f4a582", "#92c5de", "#a6d96a", "#d9b3e6", "#ffd966", "#8dd3c7"];
const HEAD: &str = "#e9ecef";
const EXTENT: &str = "#d5dbe3";
const KIND: &str = "#c3ccd6";
const CHECKSUM: &str = "#adb5bd";

/// The size of an element in pixels, the size of a byte in pixels, and the number of bytes in a
/// line.
const ELEMENT: usize = 24;
const BYTE: (usize, usize) = (26, 24);
const IN_LINE: usize = 32;

/// The position of the first byte in the picture.
const LEFT: usize = 60;
const TOP: usize = 430;

fn main() -> Result<()> {
    let file = FileOptions::new().create_in_memory()?;
    let counts = file.new_dataset("counts").of::<u16>().shape(&SHAPE).sparse(&CHUNK).create()?;
    let chunks = [(2, 3, 1, 4), (4, 9, 3, 3), (8, 2, 1, 1), (10, 12, 1, 3)];
    for (row, column, rows, columns) in chunks {
        let elements = (0..rows * columns).map(|number| u16::try_from(row * 10 + number + 1).unwrap_or(0));
        let region = Region::new(&[ORIGIN[0] + row, ORIGIN[1] + column], &[rows, columns]);
        counts.write(&region.map_err(hyperslab::Error::from)?, &elements.collect::<Vec<_>>())?;
    }
    counts.sparse().write(&Points { rank: 2, coordinates: vec![3, 5, 20, 4, 7, 7] }, &[1_u16, 2, 3])?;
    let Some(chunk) = counts.sparse().read_chunk(&ORIGIN)? else { return Ok(()) };
    let region = Region::new(&ORIGIN, &CHUNK).map_err(hyperslab::Error::from)?;
    let defined = counts.sparse().read::<u16>(&region)?;
    let others = counts.sparse().read::<u16>(..)?.0;
    println!("{}", picture(&chunk, &defined, &others));
    Ok(())
}

/// Returns the corners of blocks. The bytes have the form of the selection section: pairs of
/// coordinates of 2 bytes. The second corner is the last element of the block.
fn blocks(section: &[u8], begin: usize) -> Vec<Block> {
    let number = |at: usize| u64::from(section[at]) | (u64::from(section[at + 1]) << 8);
    let at = |number_of: usize| begin + 8 * number_of;
    (0..(section.len() - 4 - begin) / 8)
        .map(|block| Block {
            start: [number(at(block)), number(at(block) + 2)].into_iter().collect(),
            end: [number(at(block) + 4), number(at(block) + 6)].into_iter().collect(),
        })
        .collect()
}

fn picture(chunk: &StructuredChunk, (points, values): &(Points, Vec<u16>), all: &Points) -> String {
    let selection = chunk.section(Section::Selection).unwrap_or_default();
    // The bytes before the corners: prefix, extent of two dimensions, kind of the selection, number
    // of blocks.
    let parts = [7, 20, 14, 2];
    let blocks = blocks(selection, parts.iter().sum());
    let block_of = |row: u64, column: u64| {
        blocks.iter().position(|block| {
            (block.start[0]..=block.end[0]).contains(&row)
                && (block.start[1]..=block.end[1]).contains(&column)
        })
    };
    let mut colours: Vec<&str> = Vec::new();
    for (length, colour) in parts.into_iter().zip([HEAD, EXTENT, KIND, HEAD]) {
        colours.extend([colour].repeat(length));
    }
    for number in 0..blocks.len() {
        colours.extend([COLOURS[number % COLOURS.len()]].repeat(8));
    }
    colours.extend([CHECKSUM; 4]);
    let mut svg = begin();
    dataset(&mut svg, all);
    let inside: Vec<(u64, u64)> = points
        .coordinates
        .chunks_exact(2)
        .map(|point| (point[0] - ORIGIN[0], point[1] - ORIGIN[1]))
        .collect();
    let mut cells = Vec::new();
    for ((row, column), value) in inside.iter().zip(values) {
        let colour = COLOURS[block_of(*row, *column).unwrap_or(0) % COLOURS.len()];
        colours.extend([colour; 2]);
        cells.push((*row, *column, *value, colour));
    }
    elements(&mut svg, &cells);
    stored(&mut svg, chunk, &colours);
    let lines = chunk.bytes.len().div_ceil(IN_LINE);
    legend(&mut svg, TOP + lines * (BYTE.1 + 6) + 30, selection.len(), chunk.bytes.len(), blocks.len());
    svg.push_str("</svg>");
    svg
}

fn begin() -> String {
    let (width, height) = (LEFT + IN_LINE * BYTE.0 + 30, 792);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">
<title>A structured chunk and its bytes</title>
<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    )
}

fn text(svg: &mut String, (x, y): (usize, usize), more: &str, what: &str) {
    svg.push_str(&format!("<text x=\"{x}\" y=\"{y}\" {more}>{what}</text>\n"));
}

fn rect(svg: &mut String, (x, y): (usize, usize), (width, height): (usize, usize), fill: &str, stroke: &str) {
    svg.push_str(&format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"{stroke}\"/>\n"
    ));
}

fn at(number: u64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Draws the whole dataset at a small scale, with its chunks.
fn dataset(svg: &mut String, points: &Points) {
    let (x, y, size) = (LEFT, 70, 8);
    text(svg, (x, 34), "font-size=\"16\" font-weight=\"bold\"", "The dataset");
    text(svg, (x, 56), "fill=\"#555\"", "24 × 32, in chunks of 12 × 16");
    for row in 0..2 {
        for column in 0..2 {
            let drawn = (row, column) == (1, 1);
            let corner = (x + column * at(CHUNK[1]) * size, y + row * at(CHUNK[0]) * size);
            let fill = if drawn { "#fff8e1" } else { "white" };
            rect(svg, corner, (at(CHUNK[1]) * size, at(CHUNK[0]) * size), fill, "#888");
        }
    }
    for point in points.coordinates.chunks_exact(2) {
        rect(svg, (x + at(point[1]) * size, y + at(point[0]) * size), (size, size), "#495057", "none");
    }
    let below = y + at(SHAPE[0]) * size;
    text(svg, (x, below + 24), "fill=\"#555\"", "Only the dark elements were written:");
    text(svg, (x, below + 42), "fill=\"#555\"", "they are defined. All others read as the");
    text(svg, (x, below + 60), "fill=\"#555\"", "fill value. Empty chunks are not stored.");
    svg.push_str(&format!(
        "<path d=\"M{} {} L430 70 M{} {} L430 {}\" stroke=\"#bbb\" stroke-dasharray=\"4 3\" fill=\"none\"/>\n",
        x + 32 * size,
        y + 12 * size,
        x + 32 * size,
        below,
        70 + at(CHUNK[0]) * ELEMENT
    ));
}

/// Draws the chunk with its defined elements.
fn elements(svg: &mut String, cells: &[(u64, u64, u16, &str)]) {
    let (x, y) = (430, 70);
    text(svg, (x, 34), "font-size=\"16\" font-weight=\"bold\"", "One chunk");
    text(svg, (x, 56), "fill=\"#555\"", "coordinates count from its own corner; a colour is a block");
    for row in 0..at(CHUNK[0]) {
        for column in 0..at(CHUNK[1]) {
            rect(svg, (x + column * ELEMENT, y + row * ELEMENT), (ELEMENT, ELEMENT), "none", "#e3e3e3");
        }
        text(
            svg,
            (x - 6, y + row * ELEMENT + 16),
            "font-size=\"10\" fill=\"#888\" text-anchor=\"end\"",
            &row.to_string(),
        );
    }
    for column in 0..at(CHUNK[1]) {
        let corner = (x + column * ELEMENT + ELEMENT / 2, y + at(CHUNK[0]) * ELEMENT + 13);
        text(svg, corner, "font-size=\"10\" fill=\"#888\" text-anchor=\"middle\"", &column.to_string());
    }
    for (row, column, value, colour) in cells {
        let corner = (x + at(*column) * ELEMENT, y + at(*row) * ELEMENT);
        rect(svg, corner, (ELEMENT, ELEMENT), colour, "#555");
        let middle = (corner.0 + ELEMENT / 2, corner.1 + 16);
        text(svg, middle, "font-size=\"11\" text-anchor=\"middle\"", &value.to_string());
    }
}

/// Draws every byte of the chunk in the colour of its meaning.
fn stored(svg: &mut String, chunk: &StructuredChunk, colours: &[&str]) {
    let title = format!("Its {} bytes in the file, before filters", chunk.bytes.len());
    text(svg, (LEFT, TOP - 14), "font-size=\"16\" font-weight=\"bold\"", &title);
    for (number, (byte, colour)) in chunk.bytes.iter().zip(colours).enumerate() {
        let (line, place) = (number / IN_LINE, number % IN_LINE);
        let corner = (LEFT + place * BYTE.0, TOP + line * (BYTE.1 + 6));
        if place == 0 {
            let more = "font-size=\"11\" fill=\"#888\" text-anchor=\"end\"";
            text(svg, (corner.0 - 8, corner.1 + 16), more, &number.to_string());
        }
        rect(svg, corner, BYTE, colour, "white");
        let middle = (corner.0 + BYTE.0 / 2, corner.1 + 16);
        text(
            svg,
            middle,
            "font-family=\"monospace\" font-size=\"12\" text-anchor=\"middle\"",
            &format!("{byte:02x}"),
        );
    }
    // The position of the second section.
    if let Some(section) = chunk.info.sections.get(1) {
        let start = usize::try_from(section.offset).unwrap_or(0);
        let corner = (LEFT + (start % IN_LINE) * BYTE.0, TOP + (start / IN_LINE) * (BYTE.1 + 6));
        svg.push_str(&format!(
            "<path d=\"M{} {} v{}\" stroke=\"#c92a2a\" stroke-width=\"3\"/>\n",
            corner.0,
            corner.1 - 3,
            BYTE.1 + 6
        ));
    }
}

/// Draws the legend of the colours.
fn legend(svg: &mut String, top: usize, selection: usize, all: usize, blocks: usize) {
    let colour = |at: usize| COLOURS[at % COLOURS.len()];
    let corners = format!("43–{}", selection - 5);
    let checksum = format!("{}–{}", selection - 4, selection - 1);
    let values = format!("{selection}–{}", all - 1);
    let count = format!("how many blocks: {blocks}");
    let rows: [(&str, &str, &[&str]); 7] = [
        ("0–6", "prefix: what follows is the description of a dataspace", &[HEAD]),
        ("7–26", "extent: 2 dimensions, 12 × 16", &[EXTENT]),
        ("27–40", "selection: a hyperslab, version 3, irregular, 2 bytes a number, 2 dimensions", &[KIND]),
        ("41–42", &count, &[HEAD]),
        (
            &corners,
            "for each block its first and its last element: row, column, row, column",
            &[colour(0), colour(1), colour(2), colour(3)],
        ),
        (&checksum, "checksum of this section", &[CHECKSUM]),
        (
            &values,
            "values of the defined elements, row by row",
            &[colour(0), colour(1), colour(2), colour(3)],
        ),
    ];
    let mut y = top;
    for (number, (bytes, what, colours)) in rows.into_iter().enumerate() {
        if number == 0 || number == 6 {
            let section = if number == 0 {
                "Section 0: which elements are defined"
            } else {
                "Section 1: their values (from the red line on)"
            };
            y += if number == 0 { 0 } else { 8 };
            text(svg, (LEFT, y + 12), "font-weight=\"bold\"", section);
            y += 22;
        }
        for (place, colour) in colours.iter().enumerate() {
            rect(svg, (LEFT + place * 14, y), (14, 16), colour, "white");
        }
        text(svg, (LEFT + 70, y + 13), "fill=\"#555\"", bytes);
        text(svg, (LEFT + 140, y + 13), "", what);
        y += 22;
    }
}
