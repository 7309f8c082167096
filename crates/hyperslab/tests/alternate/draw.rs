//! Random programs: the properties of the new file, the library of each turn, and the operations of
//! the turn.

use serde_json::{Value as Json, json};

use crate::kinds;
use crate::numbers::Numbers;
use crate::world::{Body, Dataset, World};

const VERSIONS: [&str; 6] = ["earliest", "v18", "v110", "v112", "v114", "v200"];

/// The group for objects that are added to a file of another program. Its name sorts after the
/// names of the other program.
const ADDED: &str = "/~added";

/// The largest number of elements of a dataset.
const MOST: u64 = 30_000;

/// One turn: the library that has the turn, the options for opening the file, and the operations.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// The keys that all requests of this turn share, and whose values may differ in other turns:
    /// `side`, `low`, `full`.
    pub(crate) how: Json,
    pub(crate) ops: Vec<Json>,
}

#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The keys of all requests: `driver`, `high`, `member_size`, and `create` for the first
    /// request.
    pub(crate) setup: Json,
    pub(crate) turns: Vec<Turn>,
}

impl Program {
    pub(crate) fn draw(seed: u64) -> Self {
        let numbers = &mut Numbers::new(seed);
        let setup = setup(numbers);
        let world = World::new(setup["create"]["track"] == true);
        Self::with(setup, world, numbers, operations)
    }

    /// Returns a program for an existing file.
    pub(crate) fn draw_on(seed: u64, world: World) -> Self {
        let setup = json!({"driver": "sec2", "high": "v110"});
        let numbers = &mut Numbers::new(seed);
        let ops = |world: &World, numbers: &mut Numbers| {
            if world.find(ADDED).is_none() {
                return vec![json!({"op": "group", "path": ADDED, "track": numbers.once_in(2)})];
            }
            if numbers.once_in(8)
                && let Some(path) = path_of(world, numbers, |body| matches!(body, Body::Kept(_)))
            {
                return vec![json!({"op": "rewrite", "path": path})];
            }
            operations(world, numbers).into_iter().filter(leaves_others).collect()
        };
        Self::with(setup, world, numbers, ops)
    }

    /// Returns the same program, with libhdf5 in all turns.
    pub(crate) fn by_libhdf5(&self) -> Self {
        let mut program = self.clone();
        program.turns.iter_mut().for_each(|turn| turn.how["side"] = json!("h5py"));
        program
    }

    fn with(
        setup: Json,
        mut world: World,
        numbers: &mut Numbers,
        operations: impl Fn(&World, &mut Numbers) -> Vec<Json>,
    ) -> Self {
        let highest = VERSIONS.iter().position(|name| setup["high"] == *name).unwrap() as u64;
        // hyperslab creates only files of one member.
        let mut ours = matches!(setup["driver"].as_str(), Some("sec2" | "core")) && numbers.once_in(2);
        let turns = (0..numbers.between(2, 7)).map(|_| {
            let low = VERSIONS[numbers.below(highest + 1) as usize];
            let side = if ours { "hyperslab" } else { "h5py" };
            let how = json!({"side": side, "low": low, "full": numbers.once_in(6)});
            // Mostly the libraries alternate. Sometimes one library has two turns in sequence.
            ours ^= !numbers.once_in(6);
            let mut ops = Vec::new();
            for _ in 0..numbers.between(1, 18) {
                for op in operations(&world, numbers) {
                    if world.apply(&op) {
                        ops.push(op);
                    }
                }
            }
            Turn { how, ops }
        });
        Self { turns: turns.collect(), setup }
    }
}

/// Returns true if an operation does not change the objects of another program, except that it may
/// add attributes.
fn leaves_others(op: &Json) -> bool {
    let inside = |name: &str| op[name].as_str().is_none_or(|path| path.starts_with(ADDED) && path != ADDED);
    let paths = inside("path") && (op["op"] == "soft" || op["op"] == "rename_attr" || inside("to"));
    paths || op["op"] == "attr" || op["op"] == "flush"
}

fn setup(numbers: &mut Numbers) -> Json {
    let driver = numbers.pick(&["sec2", "sec2", "sec2", "core", "family", "split", "multi"]);
    let high = numbers.pick(&["v200", "v200", "v200", "v200", "v114", "v112", "v110", "v18"]);
    let members = matches!(driver, "split" | "multi");
    let strategy = match (high, numbers.below(8)) {
        // Bounds below 1.10 cannot store a strategy. Files of several members have no pages.
        ("v18", _) | (_, 0 | 1) => Json::Null,
        (_, 2 | 3) => json!("fsm"),
        (_, 4 | 5) if !members => json!("page"),
        (_, 6) => json!("aggregate"),
        _ => json!("none"),
    };
    let persist = matches!(strategy.as_str(), Some("fsm" | "page")) && !members && numbers.once_in(2);
    let page_size = numbers.pick(&[512, 1024, 4096]);
    let userblock = if members { 0 } else { numbers.pick(&[0, 0, 512, 1024]) };
    // A user block before pages has at least the size of one page.
    let userblock = if strategy == "page" && userblock > 0 { userblock.max(page_size) } else { userblock };
    json!({
        "driver": driver, "high": high, "member_size": numbers.pick(&[2048, 5000, 65536, 1 << 20]),
        "create": {
            "userblock": userblock, "strategy": strategy, "persist": persist,
            "threshold": numbers.pick(&[1, 1, 64]), "page_size": page_size, "track": numbers.once_in(3),
        },
    })
}

fn name(numbers: &mut Numbers) -> String {
    match numbers.below(12) {
        0 => format!("ein längerer Name, {} °C", numbers.below(9)),
        1 => format!("{}{}", "long".repeat(numbers.between(5, 60) as usize), numbers.below(9)),
        _ => format!("{}{}", char::from(b'a' + numbers.below(4) as u8), numbers.below(12)),
    }
}

fn path_of(world: &World, numbers: &mut Numbers, wanted: impl Fn(&Body) -> bool) -> Option<String> {
    let fits = |(_, id): &&(String, usize)| wanted(&world.objects[id].body);
    let paths = world.paths();
    let paths: Vec<&String> = paths.iter().filter(fits).map(|(path, _)| path).collect();
    (!paths.is_empty()).then(|| numbers.pick(&paths).clone())
}

/// Returns a path for a new object.
fn new_path(world: &World, numbers: &mut Numbers) -> String {
    let group = path_of(world, numbers, |body| matches!(body, Body::Group { .. }));
    format!("{}/{}", group.unwrap().trim_end_matches('/'), name(numbers))
}

fn any(world: &World, numbers: &mut Numbers) -> Option<String> {
    path_of(world, numbers, |_| true).filter(|path| path != "/")
}

/// Returns one operation, or several of one kind. The model may skip an operation that is
/// impossible.
fn operations(world: &World, numbers: &mut Numbers) -> Vec<Json> {
    let one: Option<Json> = match numbers.below(36) {
        0..=6 => return dataset(world, numbers),
        7..=13 => write(world, numbers),
        14..=17 => return resize(world, numbers),
        18..=19 => {
            Some(json!({"op": "group", "path": new_path(world, numbers), "track": numbers.once_in(3)}))
        }
        20..=23 => attribute(world, numbers),
        24 => change_attribute(world, numbers),
        25..=26 => any(world, numbers).map(|path| json!({"op": "remove", "path": path})),
        27 => any(world, numbers)
            .map(|path| json!({"op": "rename", "path": path, "to": new_path(world, numbers)})),
        28 => any(world, numbers).map(|to| json!({"op": "hard", "path": new_path(world, numbers), "to": to})),
        29 => {
            let to = if numbers.once_in(2) { any(world, numbers) } else { None };
            let to = to.unwrap_or_else(|| format!("nowhere/{}", name(numbers)));
            Some(json!({"op": "soft", "path": new_path(world, numbers), "to": to}))
        }
        30 => {
            let kind = numbers.pick(&kinds::PLAIN);
            Some(json!({"op": "commit", "path": new_path(world, numbers), "kind": kind}))
        }
        31 => any(world, numbers)
            .map(|path| json!({"op": "copy", "path": path, "to": new_path(world, numbers)})),
        32 => Some(json!({"op": "flush"})),
        33 => return many_links(world, numbers),
        34 => return many_attributes(world, numbers),
        _ => return few_attributes(world, numbers),
    };
    one.into_iter().collect()
}

fn many_links(world: &World, numbers: &mut Numbers) -> Vec<Json> {
    let group = path_of(world, numbers, |body| matches!(body, Body::Group { .. })).unwrap();
    let (group, tag) = (group.trim_end_matches('/').to_owned(), numbers.below(4));
    let long = if numbers.once_in(4) { "-long".repeat(20) } else { String::new() };
    let count = if numbers.once_in(5) { numbers.below(160) } else { numbers.below(24) };
    let remove = numbers.once_in(3);
    let link = |at| {
        let path = format!("{group}/many {tag} {at}{long}");
        if remove {
            json!({"op": "remove", "path": path})
        } else if at % 3 == 0 {
            json!({"op": "group", "path": path, "track": false})
        } else {
            json!({"op": "soft", "path": path, "to": "/elsewhere"})
        }
    };
    (0..count).map(link).collect()
}

fn many_attributes(world: &World, numbers: &mut Numbers) -> Vec<Json> {
    let Some(path) = path_of(world, numbers, |_| true) else { return Vec::new() };
    let count = if numbers.once_in(6) { numbers.between(20, 90) } else { numbers.between(2, 14) };
    let kind = numbers.pick(&["u1", "f8", "vstr", "record", "text"]);
    let attribute = |at| {
        let size = numbers.below(5);
        let data: Vec<Json> = (0..size).map(|_| kinds::draw(kind, numbers)).collect();
        json!({"op": "attr", "path": path, "name": format!("many {at}"), "kind": kind, "dims": [size], "data": data})
    };
    (0..count).map(attribute).collect()
}

fn few_attributes(world: &World, numbers: &mut Numbers) -> Vec<Json> {
    let Some(path) = path_of(world, numbers, |_| true) else { return Vec::new() };
    let id = world.find(&path).unwrap();
    let step = numbers.between(1, 3) as usize;
    let names = world.objects[&id].attributes.keys().step_by(step);
    names.map(|name| json!({"op": "remove_attr", "path": path, "name": name})).collect()
}

fn attribute(world: &World, numbers: &mut Numbers) -> Option<Json> {
    let path = path_of(world, numbers, |_| true)?;
    let kind = if numbers.once_in(3) {
        numbers.pick(&["vstr", "vseq", "cvar"])
    } else {
        numbers.pick(&kinds::PLAIN)
    };
    let dims = match numbers.below(8) {
        0 => Json::Null,
        1 | 2 => json!([]),
        3 => json!([numbers.between(1, 4), numbers.between(1, 9)]),
        // Larger than the limit of an object header.
        4 if numbers.once_in(3) => json!([numbers.between(1000, 9000)]),
        _ => json!([numbers.below(14)]),
    };
    let count = dims.as_array().map_or(0, |dims| dims.iter().map(|size| size.as_u64().unwrap()).product());
    // The message of an attribute in an old object header has at most 64 KiB.
    if count > 60_000 / kinds::size(kind) as u64 {
        return None;
    }
    let data: Vec<Json> = (0..count).map(|_| kinds::draw(kind, numbers)).collect();
    Some(json!({"op": "attr", "path": path, "name": name(numbers), "kind": kind, "dims": dims, "data": data}))
}

fn change_attribute(world: &World, numbers: &mut Numbers) -> Option<Json> {
    let with: Vec<_> =
        world.paths().into_iter().filter(|(_, id)| !world.objects[id].attributes.is_empty()).collect();
    if with.is_empty() {
        return None;
    }
    let (path, id) = numbers.pick(&with);
    let names: Vec<&String> = world.objects[&id].attributes.keys().collect();
    let old = numbers.pick(&names);
    Some(if numbers.once_in(2) {
        json!({"op": "remove_attr", "path": path, "name": old})
    } else {
        json!({"op": "rename_attr", "path": path, "name": old, "to": name(numbers)})
    })
}

fn filters(kind: &str, chunk: &[u64], numbers: &mut Numbers) -> Vec<Json> {
    let mut found = Vec::new();
    let number = kinds::is_number(kind);
    match numbers.below(12) {
        0 if kinds::is_integer(kind) => found.push(json!(["scaleoffset", 0])),
        1 if number => found.push(json!(["nbit"])),
        2 if number && chunk.iter().product::<u64>() >= 8 => {
            found.push(json!(["szip", numbers.pick(&["nn", "ec"]), 8]));
        }
        3 => found.push(json!(["lzf"])),
        4 => found.extend([json!(["shuffle"]), json!(["lzf"])]),
        5 => found.extend([json!(["shuffle"]), json!(["deflate", numbers.between(1, 9)])]),
        6 => found.push(json!(["deflate", numbers.between(0, 9)])),
        _ => {}
    }
    // libhdf5 does not support checksums of elements with variable-length data.
    if numbers.once_in(6) && kinds::is_plain(kind) {
        found.push(json!(["fletcher32"]));
    }
    found
}

fn shape(numbers: &mut Numbers) -> Vec<u64> {
    let rank = numbers.pick(&[1, 1, 2, 2, 3]);
    let size = |numbers: &mut Numbers| if numbers.once_in(20) { 0 } else { numbers.between(1, 14) };
    let mut dims: Vec<u64> = (0..rank).map(|_| size(numbers)).collect();
    if numbers.once_in(5) {
        dims[0] = numbers.below(700);
    }
    dims
}

/// Returns the kind of a new dataset, and its committed datatype if it has one.
fn kind(world: &World, numbers: &mut Numbers) -> (String, Json) {
    if numbers.once_in(5)
        && let Some(path) = path_of(world, numbers, |body| matches!(body, Body::Datatype { .. }))
        && let Body::Datatype { kind } = &world.objects[&world.find(&path).unwrap()].body
    {
        return (kind.clone(), json!(path));
    }
    let kind = if numbers.once_in(4) { numbers.pick(&kinds::VARIABLE) } else { numbers.pick(&kinds::PLAIN) };
    (kind.to_owned(), Json::Null)
}

/// Returns the maximum shape and the chunk shape of a chunked dataset. Each combination leads to
/// one kind of chunk index.
fn chunking(sizes: &[u64], numbers: &mut Numbers) -> (Vec<Option<u64>>, Vec<u64>) {
    let maximum: Vec<Option<u64>> = match numbers.below(4) {
        0 => sizes.iter().map(|_| None).collect(),
        1 => {
            let open = numbers.below(sizes.len() as u64) as usize;
            let maximum = |(at, size): (usize, &u64)| (at != open).then_some((*size).max(1));
            sizes.iter().enumerate().map(maximum).collect()
        }
        _ => sizes.iter().map(|size| Some(size.max(&1) + numbers.pick(&[0, 0, 5, 20]))).collect(),
    };
    let mut chunk = |(maximum, size): (&Option<u64>, &u64)| {
        let wanted = if numbers.once_in(4) { (*size).max(1) } else { numbers.between(1, 9) };
        wanted.min(maximum.unwrap_or(u64::MAX))
    };
    let chunk = maximum.iter().zip(sizes).map(&mut chunk).collect();
    (maximum, chunk)
}

/// Returns the operations that create a dataset and, in most cases, write to it.
fn dataset(world: &World, numbers: &mut Numbers) -> Vec<Json> {
    let (kind, committed) = kind(world, numbers);
    let path = new_path(world, numbers);
    let mut layout = numbers.pick(&["compact", "contiguous", "chunked", "chunked", "chunked"]);
    let dims = match numbers.below(16) {
        0 => None,
        1 => Some(Vec::new()),
        _ => Some(shape(numbers)),
    };
    if layout == "compact" && dims.iter().flatten().product::<u64>() > 60_000 / kinds::size(&kind) as u64 {
        layout = "contiguous";
    }
    if dims.as_ref().is_none_or(Vec::is_empty) && layout == "chunked" {
        layout = "contiguous";
    }
    let chunked = layout == "chunked";
    let (maximum, chunk) = match &dims {
        Some(sizes) if chunked => chunking(sizes, numbers),
        _ => Default::default(),
    };
    let filters = if chunked { filters(&kind, &chunk, numbers) } else { Vec::new() };
    let alloc = match (layout, numbers.below(5)) {
        // libhdf5 leaves zeros, not the fill value, at the edges of chunks under late allocation:
        // docs/format/alternating.md.
        ("compact", _) | ("chunked", 3) | (_, 0) => "default",
        ("chunked", 1) => "incremental",
        (_, 2) => "early",
        (_, 3) => "late",
        _ => "default",
    };
    let fill = (kinds::is_plain(&kind) && numbers.once_in(3)).then(|| kinds::draw(&kind, numbers));
    // Without a fill value of the user, "if set" leaves contiguous elements undefined.
    let time = if (fill.is_some() || chunked) && numbers.once_in(2) { "ifset" } else { "alloc" };
    let op = json!({
        "op": "dataset", "path": path, "kind": kind, "dims": dims, "layout": layout,
        "max": if chunked { json!(maximum) } else { Json::Null }, "chunk": chunk, "filters": filters,
        "fill": fill, "alloc": alloc, "fill_time": time, "committed": committed,
        "track": numbers.once_in(4), "times": numbers.once_in(4),
    });
    let mut ops = vec![op.clone()];
    let mut world = world.clone();
    if !numbers.once_in(4)
        && world.apply(&op)
        && let Body::Dataset(made) = &world.objects[&world.find(&path).unwrap()].body
    {
        ops.extend(write_to(&path, made, &world, numbers));
    }
    ops
}

fn write(world: &World, numbers: &mut Numbers) -> Option<Json> {
    let path = path_of(world, numbers, |body| matches!(body, Body::Dataset(_)))?;
    let Body::Dataset(dataset) = &world.objects[&world.find(&path)?].body else { return None };
    write_to(&path, dataset, world, numbers)
}

fn write_to(path: &str, dataset: &Dataset, world: &World, numbers: &mut Numbers) -> Option<Json> {
    let dims = dataset.dims.as_ref()?;
    let (total, whole) = (dims.iter().product::<u64>(), dims.is_empty() || dataset.kind == "objref");
    if total == 0 {
        return None;
    }
    let (reported, count) = match numbers.below(5) {
        0 if !whole => points(dims, numbers),
        1..=3 if !whole => slab(dims, numbers),
        _ => (json!("all"), total),
    };
    // Sometimes all elements have the same value, which filters compress well.
    let same = numbers.once_in(3).then(|| kinds::draw(&dataset.kind, numbers));
    let element = |numbers: &mut Numbers| match (&same, dataset.kind.as_str()) {
        (_, "objref") if numbers.once_in(3) => Json::Null,
        (_, "objref") => path_of(world, numbers, |_| true).map_or(Json::Null, Json::from),
        (Some(same), _) => same.clone(),
        (None, kind) => kinds::draw(kind, numbers),
    };
    let data: Vec<Json> = (0..count).map(|_| element(numbers)).collect();
    Some(json!({"op": "write", "path": path, "kind": dataset.kind, "sel": reported, "data": data}))
}

fn points(dims: &[u64], numbers: &mut Numbers) -> (Json, u64) {
    let mut found: Vec<Vec<u64>> = Vec::new();
    for _ in 0..numbers.between(1, 9) {
        let point: Vec<u64> = dims.iter().map(|size| numbers.below(*size)).collect();
        if !found.contains(&point) {
            found.push(point);
        }
    }
    let count = found.len() as u64;
    (json!({"points": found}), count)
}

fn slab(dims: &[u64], numbers: &mut Numbers) -> (Json, u64) {
    let mut parts: [Vec<u64>; 4] = Default::default();
    for size in dims {
        let start = numbers.below(*size);
        let left = size - start;
        let block =
            if numbers.once_in(3) { numbers.between(1, left.min(3)) } else { numbers.between(1, left) };
        let stride = block + numbers.below(3);
        let maximum = (left - block) / stride + 1;
        let count = numbers.between(1, maximum);
        for (part, number) in parts.iter_mut().zip([start, stride, count, block]) {
            part.push(number);
        }
    }
    let count = parts[2].iter().zip(&parts[3]).map(|(count, block)| count * block).product();
    (json!({"slab": parts}), count)
}

/// Returns a new shape. If the dataset grows, sometimes also a write.
fn resize(world: &World, numbers: &mut Numbers) -> Vec<Json> {
    let chunked = |body: &Body| matches!(body, Body::Dataset(dataset) if dataset.chunked);
    let Some(path) = path_of(world, numbers, chunked) else { return Vec::new() };
    let Body::Dataset(dataset) = &world.objects[&world.find(&path).unwrap()].body else { return Vec::new() };
    let old = dataset.dims.clone().unwrap_or_default();
    let new_size = |(size, maximum): (&u64, &Option<u64>)| {
        let wanted = match numbers.below(6) {
            0 => *size,
            1 => numbers.below(size + 1),
            2 => size + numbers.between(20, 150),
            3 => size / 2,
            _ => size + numbers.between(1, 9),
        };
        wanted.min(maximum.unwrap_or(u64::MAX))
    };
    let dims: Vec<u64> = old.iter().zip(&dataset.maximum).map(new_size).collect();
    if dims.iter().product::<u64>() > MOST / kinds::size(&dataset.kind).min(4) as u64 {
        return Vec::new();
    }
    let op = json!({"op": "resize", "path": path, "dims": dims});
    let mut ops = vec![op.clone()];
    let mut world = world.clone();
    if numbers.once_in(2)
        && world.apply(&op)
        && let Body::Dataset(dataset) = &world.objects[&world.find(&path).unwrap()].body
    {
        ops.extend(write_to(&path, dataset, &world, numbers));
    }
    ops
}
