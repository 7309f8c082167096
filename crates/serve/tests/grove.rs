//! Answers to requests, without a server.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a failed test panics")]

use hyperslab::{Datatype, File, FileOptions};
use hyperslab_serve::grove::{Answer, AnswerLimits, Body, Entry, Failure, Library, answer};
use hyperslab_testkit::fixtures;
use serde_json::{Value, json};

/// A library of one file.
#[derive(Debug)]
struct One(File);

impl Library for One {
    fn open(&self, _: Option<&str>) -> Result<File, Failure> {
        Ok(self.0.clone())
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Failure> {
        if folder.is_empty() {
            Ok(vec![Entry { name: "a.h5".into(), size: Some(5), modified: None }])
        } else {
            Err(Failure::not_found("no"))
        }
    }
}

impl One {
    fn fixture(name: &str) -> Self {
        Self(File::open(fixtures::path(name)).unwrap())
    }

    fn answer(&self, path: &str, query: &str) -> Answer {
        answer(self, path, query, &AnswerLimits::default())
    }

    fn bytes(&self, path: &str, query: &str) -> Vec<u8> {
        let answer = self.answer(path, query);
        assert_eq!(answer.status, 200, "{path} {query}: {:?}", answer.body.into_bytes());
        let length = answer.length;
        let bytes = answer.body.into_bytes().unwrap();
        assert!(length.is_none_or(|length| length == bytes.len() as u64), "{path} {query}: {length:?}");
        bytes
    }

    fn json(&self, path: &str, query: &str) -> Value {
        serde_json::from_slice(&self.bytes(path, query)).unwrap()
    }

    /// Returns the status and the message of a failure.
    fn failure(&self, path: &str, query: &str) -> (u16, String) {
        let answer = self.answer(path, query);
        let body: Value = serde_json::from_slice(&answer.body.into_bytes().unwrap()).unwrap();
        (
            answer.status,
            body["message"].as_str().unwrap_or_else(|| panic!("{path} {query}: {body}")).to_owned(),
        )
    }
}

fn in_memory(fill: impl FnOnce(&File)) -> One {
    let file = FileOptions::new().create_in_memory().unwrap();
    fill(&file);
    One(file)
}

#[test]
fn the_root_says_that_the_server_is_there() {
    assert_eq!(in_memory(|_| ()).bytes("/", ""), b"ok");
    assert_eq!(in_memory(|_| ()).failure("/other", "").0, 404);
    assert_eq!(
        in_memory(|_| ()).json("/list", ""),
        json!([{"name": "a.h5", "kind": "file", "size": 5, "modified": null}])
    );
}

#[test]
fn metadata_of_groups_have_one_level_of_children() {
    let one = One::fixture("weather_station.h5");
    let root = one.json("/meta", "");
    assert_eq!((&root["kind"], &root["name"]), (&json!("group"), &json!("")));
    let children = root["children"].as_array().unwrap();
    let names: Vec<&str> = children.iter().map(|child| child["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"series") && names.contains(&"quality"), "{names:?}");
    assert!(children.iter().all(|child| child.get("children").is_none()));
    let temperature = one.json("/meta", "path=/series/temperature");
    assert_eq!(temperature["shape"], json!([8760]));
    assert_eq!(temperature["type"]["dtype"], "<f4");
}

#[test]
fn links_are_followed_as_requested() {
    let one = in_memory(|file| {
        file.new_dataset("data").write(&[1, 2]).unwrap();
        file.link_soft("good", "/data").unwrap();
        file.link_soft("broken", "/none").unwrap();
        file.link_external("outside", "other.h5", "/x").unwrap();
    });
    let kind = |query: &str| one.json("/meta", query)["kind"].clone();
    assert_eq!(kind("path=/good"), "dataset");
    assert_eq!(kind("path=/good&resolve_links=none"), "soft_link");
    assert_eq!(kind("path=/broken"), "soft_link");
    assert_eq!(one.json("/meta", "path=/outside")["target_file"], "other.h5");
    assert_eq!(one.failure("/meta", "path=/broken&resolve_links=all").0, 404);
    assert_eq!(one.failure("/meta", "path=/broken&resolve_links=perhaps").0, 422);
    assert!(one.failure("/meta", "path=/none").1.contains("not a valid path"));
    assert_eq!(one.failure("/meta", "path=/data/below").0, 404);
    assert_eq!(one.failure("/data", "path=/broken").0, 422);
    assert_eq!(one.json("/paths", ""), json!(["/", "/broken", "/data", "/good", "/outside"]));
}

#[test]
fn paths_end_in_cycles() {
    let one = in_memory(|file| {
        let group = file.create_group("a").unwrap();
        group.link_hard("again", &group).unwrap();
        group.link_hard("root", file.root()).unwrap();
    });
    assert_eq!(one.json("/paths", ""), json!(["/", "/a", "/a/again", "/a/root"]));
}

#[test]
fn attributes_have_values() {
    let one = in_memory(|file| {
        file.set_attribute("b", "text").unwrap();
        file.set_attribute("a", &[0.1_f32, f32::NAN][..]).unwrap();
    });
    assert_eq!(one.bytes("/attr", ""), br#"{"a":[0.1,null],"b":"text"}"#);
    assert_eq!(one.bytes("/attr", "attr_keys=b&attr_keys=b"), br#"{"b":"text"}"#);
    assert_eq!(one.failure("/attr", "attr_keys=c").0, 404);
    assert_eq!(one.json("/meta", "")["attributes"][0]["name"], "a");
}

#[test]
fn elements_have_several_formats() {
    let one = in_memory(|file| {
        file.new_dataset("d")
            .shape(&[2, 3])
            .of::<f64>()
            .create()
            .unwrap()
            .write_raw(&[0.5, 1.0, -2.0, 1e300, 4.0, 5.0]);
    });
    assert_eq!(one.bytes("/data", "path=d"), b"[[0.5,1.0,-2.0],[1e+300,4.0,5.0]]");
    assert_eq!(one.bytes("/data", "path=d&flatten=true&selection=0"), b"[0.5,1.0,-2.0]");
    assert_eq!(one.bytes("/data", "path=d&flatten=true&selection=1,1"), b"4.0");
    assert_eq!(
        one.bytes("/data", "path=d&format=bin&selection=0,:2"),
        [0.5_f64.to_le_bytes(), 1.0_f64.to_le_bytes()].concat()
    );
    assert!(
        one.bytes("/data", "path=d&format=npy").starts_with(
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
        )
    );
    assert!(
        one.bytes("/data", "path=d&format=csv")
            .starts_with(b"5.000000000000000000e-01,1.000000000000000000e+00,-2.")
    );
    let tiff = one.bytes("/data", "path=d&format=tiff");
    assert!(tiff.starts_with(b"II*\0") && tiff.ends_with(&5.0_f64.to_le_bytes()));
    let stats = one.bytes("/stats", "path=d&selection=1,1:");
    let expected =
        r#"{"strict_positive_min":4.0,"positive_min":4.0,"min":4.0,"max":5.0,"mean":4.5,"std":0.5}"#;
    assert_eq!(String::from_utf8(stats).unwrap(), expected);
    for (query, text) in [
        ("format=xml", "Unsupported encoding"),
        ("dtype=odd", "Unsupported dtype"),
        ("selection=2", "out of range"),
        ("selection=0,0,0", "too many members"),
        ("selection=a", "not a valid slice"),
        ("flatten=perhaps", "flatten"),
    ] {
        let (status, message) = one.failure("/data", &format!("path=d&{query}"));
        assert!(status == 422 && message.contains(text), "{query}: {status} {message}");
    }
}

/// Writes raw values to a dataset.
trait WriteRaw {
    fn write_raw(&self, values: &[f64]);
}

impl WriteRaw for hyperslab::Dataset {
    fn write_raw(&self, values: &[f64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        self.write_stored(.., &bytes).unwrap();
    }
}

#[test]
fn numbers_are_converted_for_javascript() {
    use hyperslab::datatype::ByteOrder::BigEndian;
    let one = in_memory(|file| {
        let half = file.new_dataset("half").datatype(Datatype::f16(BigEndian)).shape(&[2]).create().unwrap();
        half.write(.., &[1.5_f32, -2.0]).unwrap();
        let big = file.new_dataset("big").datatype(Datatype::i32(BigEndian)).shape(&[1]).create().unwrap();
        big.write(.., &[7]).unwrap();
        file.new_dataset("bool")
            .datatype(Datatype::bool())
            .shape(&[2])
            .create()
            .unwrap()
            .write_stored(.., &[1, 0])
            .unwrap();
        file.new_dataset("text").write_strings(&["a", "b"]).unwrap();
    });
    assert_eq!(
        one.bytes("/data", "path=half&format=bin&dtype=safe"),
        [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat()
    );
    assert_eq!(one.bytes("/data", "path=half&format=bin"), [0x3e, 0, 0xc0, 0]);
    assert_eq!(one.bytes("/data", "path=big&format=bin"), [0, 0, 0, 7]);
    assert_eq!(one.bytes("/data", "path=big&format=bin&dtype=safe"), [7, 0, 0, 0]);
    assert_eq!(one.bytes("/data", "path=bool"), b"[true,false]");
    assert_eq!(one.bytes("/data", "path=bool&format=bin&dtype=safe"), [1, 0]);
    assert_eq!(one.bytes("/data", "path=text"), br#"["a","b"]"#);
    assert_eq!(one.bytes("/data", "path=text&selection=1&format=bin"), b"b");
    for query in ["path=text&dtype=safe", "path=text&format=npy", "path=text&format=bin"] {
        assert_eq!(one.failure("/data", query).0, 422, "{query}");
    }
}

#[test]
fn sparse_datasets_are_dense_slices() {
    let one = in_memory(|file| {
        let sparse = file.new_dataset("s").of::<i32>().shape(&[4, 5]).sparse(&[2, 5]).create().unwrap();
        let points = hyperslab::Points::from_rows([[1, 2], [3, 4]]);
        sparse.sparse().write(&points, &[7, -8]).unwrap();
    });
    assert_eq!(one.bytes("/data", "path=s&selection=1:4:2"), b"[[0,0,7,0,0],[0,0,0,0,-8]]");
    assert_eq!(one.json("/meta", "path=s")["chunks"], json!([2, 5]));
    assert_eq!(one.json("/stats", "path=s")["min"], -8);
}

#[test]
fn large_answers_are_streams_with_bounded_pieces() {
    let values: Vec<i32> = (0..100_000).collect();
    let one = in_memory(|file| {
        file.new_dataset("d").chunks(&[1000]).write(&values).unwrap();
    });
    let limits = AnswerLimits { piece_bytes: 10_000, response_bytes: 1 << 20, ..AnswerLimits::default() };
    let expected = serde_json::to_vec(&values).unwrap();
    for (format, text) in
        [("json", expected), ("bin", values.iter().flat_map(|value| value.to_le_bytes()).collect())]
    {
        let answer = answer(&one, "/data", &format!("path=d&format={format}"), &limits);
        assert_eq!(answer.length, (format == "bin").then_some(400_000));
        let Body::Pieces(pieces) = answer.body else { panic!("{format} has one piece") };
        let pieces: Vec<Vec<u8>> = pieces.map(Result::unwrap).collect();
        assert_eq!(pieces.len(), 50);
        assert!(pieces.concat() == text, "{format}");
    }
    let small = AnswerLimits { response_bytes: 1000, ..limits };
    let refused = answer(&one, "/data", "path=d", &small);
    assert_eq!(refused.status, 422);
    assert!(String::from_utf8(refused.body.into_bytes().unwrap()).unwrap().contains("selection=0:100"));
    assert_eq!(answer(&one, "/data", "path=d&selection=:250", &small).status, 200);
    // Statistics need no large answer.
    assert_eq!(answer(&one, "/stats", "path=d", &small).status, 200);
}

#[test]
fn statistics_of_vast_datasets_end() {
    let one = One(FileOptions::new().create_in_memory().unwrap());
    let vast = [1 << 45];
    one.0.new_dataset("vast").of::<f64>().shape(&vast).chunks(&[1 << 16]).create().unwrap();
    let limits = AnswerLimits::default();
    let refused = answer(&one, "/stats", "path=vast", &limits);
    assert_eq!(refused.status, 422);
    assert!(String::from_utf8(refused.body.into_bytes().unwrap()).unwrap().contains("selection=0:100"));
    assert_eq!(answer(&one, "/stats", "path=vast&selection=:100000", &limits).status, 200);
    // The time of the request is over.
    let limits = AnswerLimits { until: Some(std::time::Instant::now()), ..limits };
    assert_eq!(answer(&one, "/stats", "path=vast&selection=:10000000", &limits).status, 504);
}

#[test]
fn every_object_of_the_fixtures_has_answers() {
    for name in fixtures::names().unwrap() {
        let file = File::open(fixtures::path(&name)).unwrap();
        let one = One(file);
        for path_in_file in one.json("/paths", "").as_array().unwrap() {
            let query = format!(
                "path={}",
                path_in_file.as_str().unwrap().replace('%', "%25").replace('&', "%26").replace('+', "%2B")
            );
            let meta = one.json("/meta", &query);
            if meta["kind"] == "dataset" {
                one.answer("/data", &query).body.into_bytes().unwrap();
                one.answer("/stats", &query).body.into_bytes().unwrap();
            }
            if ["group", "dataset", "datatype"].contains(&meta["kind"].as_str().unwrap()) {
                one.json("/attr", &query);
            }
        }
    }
}

#[test]
fn null_references_show_the_kind_of_their_datatype() {
    let library = in_memory(|file| {
        let types = [("object", Datatype::object_reference(8)), ("region", Datatype::region_reference(8))];
        for (name, datatype) in types {
            file.new_dataset(name).datatype(datatype.clone()).shape(&[1]).create().unwrap();
            let array = Datatype::array(vec![2], datatype);
            file.new_dataset(&format!("{name}s")).datatype(array).shape(&[1]).create().unwrap();
        }
    });
    for kind in ["object", "region"] {
        let text = format!("<HDF5 {kind} reference (null)>");
        assert_eq!(library.json("/data", &format!("path={kind}")), json!([text]));
        assert_eq!(library.json("/data", &format!("path={kind}s")), json!([[text, text]]));
    }
}
