//! `hyperslab import` and `export` of PNG and TIFF images, with Pillow, tifffile and h5py as
//! referees, in both directions.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::referee::{self, Referee};
use hyperslab_testkit::workspace;

/// The start of all scripts: `drawn` returns an array of random samples.
const BEGIN: &str = r#"
import os, sys
import numpy as np, h5py, tifffile
from PIL import Image
os.chdir(sys.argv[1])
def drawn(dtype, shape, seed=1):
    r = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f": return r.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return r.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)
def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, (a.shape, b.shape)
    assert a.dtype.newbyteorder("=") == b.dtype.newbyteorder("="), (a.dtype, b.dtype)
    assert a.tobytes() == b.astype(a.dtype).tobytes(), "the samples differ"
"#;

struct Bench {
    scratch: Scratch,
    python: Referee,
}

impl Bench {
    /// Returns an empty folder and the referee, or `None` without the packages.
    fn new() -> Option<Self> {
        let python = referee::python()?;
        if python.run_script("import PIL, tifffile", [""; 0]).is_err() {
            workspace::skip("tests of images", "the referee has no Pillow and tifffile");
            return None;
        }
        let program = Program::new(env!("CARGO_BIN_EXE_hyperslab"));
        Some(Self { scratch: Scratch::new(program), python })
    }

    fn run(&self, line: &str) -> Run {
        self.scratch.run_line(line)
    }

    fn done(&self, line: &str) {
        self.run(line).succeeds();
    }

    /// Runs a command that fails. Returns its message.
    fn refused(&self, line: &str) -> String {
        self.run(line).failure()
    }

    fn python(&self, code: &str) -> String {
        let answer = self.python.run_script(&format!("{BEGIN}{code}"), [self.scratch.folder()]);
        answer.unwrap().trim().to_owned()
    }

    fn exists(&self, name: &str) -> bool {
        self.scratch.path(name).exists()
    }
}

/// The modes of PNG images.
const PNG_MODES: [&str; 6] = ["gray", "wide", "opaque", "rgb", "rgba", "palette"];

#[test]
fn png_stacks_come_back() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
for name, dtype, samples in [("gray", "u1", 1), ("wide", "u2", 1), ("opaque", "u1", 2), ("rgb", "u1", 3), ("rgba", "u1", 4)]:
    for number in range(3):
        a = drawn(dtype, (5, 7) + (() if samples == 1 else (samples,)), number)
        np.save(f"{name}{number}.npy", a)
        Image.fromarray(a).save(f"{name}{number}.png")
for number in range(3):
    image = Image.fromarray(drawn("u1", (5, 7, 3), number)).quantize(6)
    image.save(f"palette{number}.png")
    np.save(f"palette{number}.npy", np.asarray(image.convert("RGB")))"#,
    );
    for name in PNG_MODES {
        bench.done(&format!("import {name}0.png {name}1.png {name}2.png s.h5 {name}"));
        bench.done(&format!("import {name}0.png s.h5 one/{name}"));
        bench.done(&format!("export s.h5 {name} back-{name}-%02d.png --pixels {}", pixels(name)));
        bench.done(&format!("export s.h5 one/{name} one-{name}.png --pixels {}", pixels(name)));
    }
    bench.done("check s.h5");
    let compared = bench.python(
        r#"
f = h5py.File("s.h5")
count = 0
for name in ["gray", "wide", "opaque", "rgb", "rgba", "palette"]:
    want = np.stack([np.load(f"{name}{number}.npy") for number in range(3)])
    d = f[name]
    same(want, d[()])
    assert d.chunks == (1, *want.shape[1:]), d.chunks
    assert d.compression == "gzip" and d.shuffle == (want.dtype.itemsize > 1)
    same(want[0], f["one"][name][()])
    for number in range(3):
        same(want[number], Image.open(f"back-{name}-{number:02}.png"))
    same(want[0], Image.open(f"one-{name}.png"))
    assert not os.path.exists(f"back-{name}-03.png")
    count += 1
assert f["one/rgb"].attrs["IMAGE_SUBCLASS"] == b"IMAGE_TRUECOLOR" and f["one/gray"].attrs["CLASS"] == b"IMAGE"
print(count)"#,
    );
    assert_eq!(compared, "6");
}

fn pixels(name: &str) -> &str {
    if ["gray", "wide"].contains(&name) { "gray" } else { "color" }
}

/// Pillow does not write colored PNG images of 16 bits, and reads the upper 8 bits: an export makes
/// the file, and an import reads all bits back.
#[test]
fn png_of_sixteen_bits_and_colors() {
    let Some(bench) = Bench::new() else { return };
    bench.python(r#"h5py.File("w.h5", "w")["a"] = drawn(">u2", (4, 6, 3))"#);
    bench.done("export w.h5 a a.png");
    bench.done("import a.png b.h5 b");
    bench.python(
        r#"
a = h5py.File("w.h5")["a"][()]
same(a.astype("<u2"), h5py.File("b.h5")["b"][()])
assert (np.asarray(Image.open("a.png")) == a >> 8).all()"#,
    );
}

#[test]
fn tiff_stacks_of_all_types_come_back() {
    let Some(bench) = Bench::new() else { return };
    let names = bench.python(
        r#"
names = []
for dtype in ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]:
    for frames in [1, 4]:
        for samples in [1, 3, 4]:
            if samples > 1 and dtype not in ["u1", "u2", "f4"]: continue
            shape = (() if frames == 1 else (frames,)) + (33, 20) + (() if samples == 1 else (samples,))
            a = drawn(dtype, shape)
            name = f"{dtype}-{frames}-{samples}"
            np.save(name + ".npy", a)
            number = len(names)
            options = [{}, {"compression": "zlib"}, {"compression": "zlib", "predictor": 2}, {"tile": (16, 16)}, {"rowsperstrip": 5}, {"bigtiff": True}][number % 6]
            if dtype[0] == "f" or samples == 4: options.pop("predictor", None)
            tifffile.imwrite(name + ".tif", a, photometric="minisblack" if samples == 1 else "rgb", byteorder="<>"[number % 2], **options)
            names.append(name)
print(" ".join(names))"#,
    );
    let names: Vec<&str> = names.split(' ').collect();
    for (number, name) in names.iter().enumerate() {
        bench.done(&format!("import {name}.tif t.h5 {name}"));
        let pixels = if name.ends_with("-1") { "gray" } else { "color" };
        let deflate = ["", " --deflate 0", " --deflate 6"][number % 3];
        bench.done(&format!("export t.h5 {name} back-{name}.tif --pixels {pixels}{deflate}"));
    }
    bench.done("check t.h5");
    let compared = bench.python(
        r#"
f = h5py.File("t.h5")
for name in f:
    want = np.load(name + ".npy")
    same(want, f[name][()])
    back = tifffile.imread(f"back-{name}.tif")
    same(want.astype("f4") if want.dtype == "f2" else want, back)
    frames = int(name.split("-")[1])
    assert len(tifffile.TiffFile(f"back-{name}.tif").pages) == frames
    if want.dtype == "u1":
        image = Image.open(f"back-{name}.tif")
        for number in range(frames):
            image.seek(number)
            same(want[number] if frames > 1 else want, image)
print(len(f))"#,
    );
    assert_eq!(compared, names.len().to_string());
    assert!(names.len() > 25, "{names:?}");
}

#[test]
fn planes_bands_and_other_compressions() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
a = drawn("u2", (3, 12, 9))
tifffile.imwrite("planes.tif", a, photometric="rgb", planarconfig="separate")
tifffile.imwrite("bands.tif", drawn("f4", (12, 9, 6)), photometric="minisblack", planarconfig="contig")
Image.fromarray(drawn("u1", (12, 9))).save("lzw.tif", compression="tiff_lzw")
Image.fromarray(drawn("u1", (12, 9))).save("bits.tif", compression="packbits")
for name, dtype, shape in [("j1", ">u2", (4, 5, 7)), ("j2", "<f4", (3, 5, 7)), ("j3", "u1", (3, 5, 7, 3))]:
    tifffile.imwrite(name + ".tif", drawn(dtype, shape), imagej=True, truncate=True, byteorder=dtype[0] if dtype[0] in "<>" else None)
    assert len(tifffile.TiffFile(name + ".tif").pages) == 1
tifffile.imwrite("j4.tif", drawn("u1", (4, 5, 7)), imagej=True)
tifffile.imwrite("pages.tif", drawn("u1", (12, 9)))
tifffile.imwrite("pages.tif", drawn("u1", (12, 9), 2), append=True)"#,
    );
    for name in ["planes", "bands", "lzw", "bits", "pages", "j1", "j2", "j3", "j4"] {
        bench.done(&format!("import {name}.tif p.h5 {name}"));
    }
    bench.done("import lzw.tif pages.tif bits.tif p.h5 all");
    bench.python(
        r#"
f = h5py.File("p.h5")
same(np.moveaxis(drawn("u2", (3, 12, 9)), 0, -1), f["planes"][()])
same(drawn("f4", (12, 9, 6)), f["bands"][()])
one, two = drawn("u1", (12, 9)), drawn("u1", (12, 9), 2)
for name, dtype, shape in [("j1", ">u2", (4, 5, 7)), ("j2", "<f4", (3, 5, 7)), ("j3", "u1", (3, 5, 7, 3)), ("j4", "u1", (4, 5, 7))]:
    same(drawn(dtype, shape), f[name][()])
for name in ["lzw", "bits"]: same(one, f[name][()])
same(np.stack([one, two]), f["pages"][()])
same(np.stack([one, one, two, one]), f["all"][()])"#,
    );
}

#[test]
fn selections_become_images() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
f = h5py.File("v.h5", "w")
f["t"] = drawn("u2", (2, 3, 8, 10))
f["narrow"] = drawn("u1", (5, 8, 3))
f["big"] = drawn(">f8", (8, 10))"#,
    );
    bench.done("export v.h5 t all.tif");
    bench.done("export v.h5 t one.png --select 1,2,::2,1:9");
    bench.done("export v.h5 t n-%d.png --select :,1");
    bench.done("export v.h5 narrow color.png --select 2:,:,:");
    bench.done("export v.h5 narrow gray.tif --pixels gray");
    bench.done("export v.h5 big big.tif");
    bench.python(
        r#"
f = h5py.File("v.h5")
t = f["t"][()]
same(t.reshape(6, 8, 10), tifffile.imread("all.tif"))
same(t[1, 2, ::2, 1:9], Image.open("one.png"))
for number in range(2): same(t[number, 1], Image.open(f"n-{number}.png"))
same(f["narrow"][2:], Image.open("color.png"))
same(f["narrow"][()], tifffile.imread("gray.tif"))
same(f["big"][()].astype("<f8"), tifffile.imread("big.tif"))"#,
    );
}

#[test]
fn unlike_and_damaged_images_leave_nothing() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
for number in range(3): Image.fromarray(drawn("u1", (5, 7), number)).save(f"a{number}.png")
Image.fromarray(drawn("u1", (5, 8))).save("wider.png")
Image.fromarray(drawn("u2", (5, 7))).save("deeper.png")
data = open("a2.png", "rb").read()
open("cut.png", "wb").write(data[:-30])
flipped = bytearray(data); flipped[-20] ^= 1
open("flipped.png", "wb").write(flipped)
open("huge.png", "wb").write(b"")
import struct, zlib
def chunk(name, body): return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
open("huge.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1 << 20, 1 << 20, 16, 6, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"x")) + chunk(b"IEND", b""))
open("text.png", "w").write("text")
frames = [Image.fromarray(drawn("u1", (5, 7), number)) for number in range(3)]
frames[0].save("moving.png", save_all=True, append_images=frames[1:])
tifffile.imwrite("two.tif", drawn("u1", (5, 7)))
tifffile.imwrite("two.tif", drawn("u1", (5, 9)), append=True)
tifffile.imwrite("j.tif", drawn("u1", (4, 5, 7)), imagej=True, truncate=True)
data = open("j.tif", "rb").read(); open("j.tif", "wb").write(data[:-5])
whole = tifffile.imwrite("s.tif", drawn("u2", (4, 50, 70)), compression="zlib")
data = open("s.tif", "rb").read(); open("cut.tif", "wb").write(data[:len(data) // 2])
h5py.File("old.h5", "w")["kept"] = [1, 2]"#,
    );
    for (inputs, why) in [
        ("a0.png wider.png", "`wider.png` has 8 × 5 pixels"),
        ("a0.png deeper.png", "same size and type"),
        ("a0.png a1.png cut.png", "`cut.png`"),
        ("a0.png flipped.png", "`flipped.png`"),
        ("huge.png", "which a file of"),
        ("text.png", "neither a PNG nor a TIFF"),
        ("a0.png nothing.png", "`nothing.png`"),
        ("moving.png", "animation of 3 frames"),
        ("two.tif", "9 × 5 pixels"),
        ("cut.tif", "`cut.tif`"),
        ("j.tif", "ImageJ stored 4 images"),
    ] {
        let refused = bench.refused(&format!("import {inputs} new.h5 deep/x"));
        assert!(refused.contains(why), "{inputs}: {refused}");
        assert!(!bench.exists("new.h5"), "{inputs}");
        bench.refused(&format!("import {inputs} old.h5 deep/x"));
    }
    bench.done("check old.h5");
    bench.python(r#"assert list(h5py.File("old.h5")) == ["kept"]"#);
    let usage = bench.run("import a0.png old.h5");
    assert_eq!(usage.code(), 2);
    assert!(usage.error().contains("Usage: hyperslab import [OPTIONS] <INPUT>... <FILE> <PATH>"));
}

#[test]
fn exports_that_images_cannot_hold_are_refused() {
    let Some(bench) = Bench::new() else { return };
    bench.python(
        r#"
f = h5py.File("x.h5", "w")
f["f"] = drawn("f4", (4, 5)); f["s"] = drawn("u1", (3, 4, 5)); f["line"] = drawn("u1", (9,))
f["flags"] = np.ones((4, 5), bool); f["none"] = drawn("u1", (0, 4, 5)); f["late"] = drawn("i2", (3, 4, 5))"#,
    );
    for (path, out, why) in [
        ("f", "f.png", "unsigned integers of 8 or 16 bits"),
        ("s", "s.png", "such as `frame-%04d.png`"),
        ("line", "l.png", "rows and columns"),
        ("flags", "b.tif", "truth values"),
        ("none", "n.tif", "no images"),
        ("late", "late-%d.png", "late-0.png"),
    ] {
        let refused = bench.refused(&format!("export x.h5 {path} {out}"));
        assert!(refused.contains(why), "{path}: {refused}");
    }
    assert_eq!(bench.python("print(sorted(os.listdir()))"), "['x.h5']");
}
