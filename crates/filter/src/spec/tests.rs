//! Tests of filter requests: prepared client data, refusals and text forms.

use hyperslab_datatype::{
    ByteOrder::{BigEndian as BE, LittleEndian as LE},
    CharacterSet, Datatype, DatatypeClass, StringPadding,
};
use proptest::prelude::*;

use super::*;
use crate::DatasetFill;

fn prepare(spec: &FilterSpec, datatype: &Datatype, chunk: &[u64]) -> Result<Vec<u32>> {
    let facts = DatasetFacts::new(datatype, chunk);
    let pipeline = Pipeline::for_dataset(std::slice::from_ref(spec), &facts, &Registry::default())?;
    Ok(pipeline.stages[0].client_data.clone())
}

fn is_refused(spec: &FilterSpec, datatype: &Datatype, chunk: &[u64]) -> bool {
    matches!(prepare(spec, datatype, chunk), Err(FilterError::Refused { id, .. }) if id == spec.id())
}

/// Returns an integer type with 20 used bits from bit 2 on, similar to the example in libhdf5's
/// documentation of nbit.
fn few_bits() -> Datatype {
    let mut datatype = Datatype::i32(LE);
    if let DatatypeClass::FixedPoint(number) = &mut datatype.class {
        (number.precision, number.bit_offset) = (20, 3);
    }
    datatype
}

#[test]
fn stages_are_named_and_flagged_as_files_have_them() {
    let specs = FilterSpec::parse_list("shuffle,gzip,fletcher32,lzf").unwrap();
    let datatype = Datatype::i16(LE);
    let facts = DatasetFacts::new(&datatype, &[10, 3]);
    let pipeline = Pipeline::for_dataset(&specs, &facts, &Registry::default()).unwrap();
    let stages: Vec<_> = pipeline
        .stages
        .iter()
        .map(|stage| (stage.name.as_deref().unwrap(), stage.flags, stage.client_data.as_slice()))
        .collect();
    let wanted: [(&str, u16, &[u32]); 4] =
        [("shuffle", 1, &[2]), ("deflate", 1, &[4]), ("fletcher32", 0, &[]), ("lzf", 1, &[4, 261, 60])];
    assert_eq!(stages, wanted);
    let own = FilterSpec::custom(FilterId::SHUFFLE, 0, [], Some("mine".to_owned()));
    let pipeline = Pipeline::for_dataset(&[own], &facts, &Registry::default()).unwrap();
    assert_eq!(pipeline.stages[0].name.as_deref(), Some("mine"));
}

#[test]
fn nbit_is_told_the_type() {
    let nbit = FilterSpec::nbit();
    assert_eq!(prepare(&nbit, &few_bits(), &[40]), Ok(vec![8, 0, 40, 1, 4, 0, 20, 3]));
    assert_eq!(prepare(&nbit, &Datatype::f64(BE), &[4, 10]), Ok(vec![8, 1, 40, 1, 8, 1, 64, 0]));
    let text = Datatype::fixed_string(3, StringPadding::NullPadded, CharacterSet::Ascii);
    assert_eq!(prepare(&nbit, &text, &[40]), Ok(vec![3, 1, 40]));
    let pairs = Datatype::array([2], text.clone());
    assert_eq!(prepare(&nbit, &pairs, &[40]), Ok(vec![7, 1, 40, 2, 6, 4, 3]));
    let record = Datatype::packed([("a", few_bits()), ("s", text)]);
    assert_eq!(prepare(&nbit, &record, &[40]), Ok(vec![15, 0, 40, 3, 7, 2, 0, 1, 4, 0, 20, 3, 4, 4, 3]));
    let sequences = Datatype::array([2], Datatype::sequence(Datatype::u8(), 8));
    assert!(is_refused(&nbit, &sequences, &[40]) && is_refused(&nbit, &Datatype::vax_f32(), &[40]));
    assert!(is_refused(&nbit, &few_bits(), &[1 << 40]));
}

#[test]
fn scaleoffset_is_told_type_and_fill_value() {
    let mut data = vec![2, 0, 40, 0, 2, 1, 1, 1, 65533, 0];
    data.resize(20, 0);
    let (datatype, registry) = (Datatype::i16(BE), Registry::default());
    let of_fill = |fill| {
        let facts = DatasetFacts::new(&datatype, &[40]).with_fill(fill);
        Ok::<_, FilterError>(
            Pipeline::for_dataset(&[FilterSpec::scale_offset_int(0)], &facts, &registry)?.stages[0]
                .client_data
                .clone(),
        )
    };
    assert_eq!(of_fill(DatasetFill::Element(&[0xff, 0xfd])).as_ref(), Ok(&data));
    assert!(matches!(of_fill(DatasetFill::Element(&[0xff])), Err(FilterError::Refused { .. })));
    data[8] = 0;
    assert_eq!(of_fill(DatasetFill::Default).as_ref(), Ok(&data));
    data[7] = 0;
    assert_eq!(of_fill(DatasetFill::Undefined).as_ref(), Ok(&data));
    let digits = prepare(&FilterSpec::scale_offset_float(-2), &Datatype::f32(LE), &[7]).unwrap();
    assert_eq!(digits[..8], [0, 4_294_967_294, 7, 1, 4, 0, 0, 1]);
    for (spec, datatype) in [
        (FilterSpec::scale_offset_int(0), Datatype::f32(LE)),
        (FilterSpec::scale_offset_float(2), Datatype::i32(LE)),
        (FilterSpec::scale_offset_int(9), Datatype::i8()),
        (FilterSpec::scale_offset_float(2), Datatype::f16(LE)),
        (FilterSpec::scale_offset_int(0), Datatype::bool()),
        (FilterSpec::custom(FilterId::SCALEOFFSET, 1, [1, 2], None), Datatype::f32(LE)),
        (FilterSpec::custom(FilterId::SCALEOFFSET, 1, [], None), Datatype::f32(LE)),
    ] {
        assert!(is_refused(&spec, &datatype, &[40]), "{spec} {datatype}");
        assert!(is_refused(&spec.mandatory(), &datatype, &[40]));
    }
}

#[test]
fn szip_is_told_samples_and_lines() {
    let szip = FilterSpec::szip(SzipCoding::NearestNeighbour, 8);
    for (chunk, line) in [(&[40][..], 40), (&[3, 4], 12), (&[2, 20], 20), (&[5000], 1024), (&[8], 8)] {
        assert_eq!(prepare(&szip, &Datatype::i32(BE), chunk), Ok(vec![177, 8, 32, line]), "{chunk:?}");
    }
    let entropy = FilterSpec::szip(SzipCoding::Entropy, 32);
    assert_eq!(prepare(&entropy, &Datatype::f64(LE), &[2, 3000]), Ok(vec![141, 32, 64, 3000]));
    assert_eq!(prepare(&szip, &few_bits(), &[40]), Ok(vec![169, 8, 32, 40]));
    assert!(is_refused(&szip, &Datatype::i32(LE), &[7]), "fewer elements than a block");
    let record = Datatype::packed([("x", Datatype::f32(LE)), ("y", Datatype::f32(LE))]);
    assert!(is_refused(&szip, &record, &[40]), "compounds");
    assert!(is_refused(&szip, &Datatype::opaque(4, ""), &[40]), "no byte order");
    // Three integers are too many. An optional filter accepts them nevertheless, as in libhdf5.
    let triples = Datatype::array([3], Datatype::i32(LE));
    assert_eq!(prepare(&szip, &triples, &[40]), Ok(vec![169, 8, 32, 40]));
    assert!(is_refused(&szip.clone().mandatory(), &triples, &[40]));
    for pixels in [0, 7, 34] {
        assert!(is_refused(&FilterSpec::szip(SzipCoding::Entropy, pixels), &Datatype::i32(LE), &[400]));
    }
}

#[test]
fn blosc_is_told_sizes() {
    let blosc = FilterSpec::blosc(BloscCodec::BloscLz, 5, BloscTransform::Shuffle);
    let blosc2 = FilterSpec::blosc2(BloscCodec::Zlib, 7, BloscTransform::Delta);
    let triples = Datatype::array([3], Datatype::i32(LE));
    assert_eq!(prepare(&blosc, &triples, &[4, 10]), Ok(vec![2, 2, 4, 480, 5, 1, 0]));
    assert_eq!(prepare(&blosc, &Datatype::opaque(300, ""), &[2]), Ok(vec![2, 2, 1, 600, 5, 1, 0]));
    assert_eq!(prepare(&blosc2, &Datatype::opaque(300, ""), &[2]), Ok(vec![1, 0, 300, 600, 7, 3, 4]));
    assert_eq!(prepare(&blosc2, &triples, &[4, 10]), Ok(vec![1, 0, 4, 480, 7, 3, 4, 2, 4, 10]));
    let bare = FilterSpec::custom(FilterId::BLOSC2, 1, [0, 4096], None);
    assert_eq!(prepare(&bare, &triples, &[4, 10]), Ok(vec![1, 4096, 4, 480, 5, 1, 0, 2, 4, 10]));
    assert_eq!(prepare(&bare, &triples, &[40]), Ok(vec![1, 4096, 4, 480]));
    for spec in ["blosc=zlib:10", "blosc=zlib:5:delta", "blosc2=snappy", "blosc2=zlib:10"] {
        assert!(is_refused(&spec.parse().unwrap(), &triples, &[40]), "{spec}");
    }
}

#[test]
fn other_parameters_are_looked_at() {
    let datatype = Datatype::f64(LE);
    let plain = FilterSpec::bitshuffle(64, BitshuffleCodec::None);
    assert_eq!(prepare(&plain, &datatype, &[40]), Ok(vec![0, 4, 8, 64, 0]));
    for spec in ["gzip=10", "bitshuffle=none:7", "32008=8:1"] {
        assert!(is_refused(&spec.parse().unwrap(), &datatype, &[40]), "{spec}");
    }
    #[cfg(feature = "bzip2")]
    assert!(is_refused(&FilterSpec::bzip2(0), &datatype, &[40]));
    #[cfg(feature = "lz4")]
    assert!(is_refused(&FilterSpec::lz4(u32::MAX), &datatype, &[40]));
    #[cfg(any(feature = "zstd-rs", feature = "zstd"))]
    assert!(is_refused(&FilterSpec::zstd(23), &datatype, &[40]));
}

#[cfg(feature = "zfp")]
#[test]
fn zfp_is_told_the_shape() {
    let rate = FilterSpec::zfp_rate(8.0);
    assert_eq!(rate.client_data(), [1, 0, 0, 1_075_838_976, 0, 0]);
    let stored = vec![269_504_785, 91_252_346, 147, 32_505_856];
    assert_eq!(prepare(&rate, &Datatype::f64(LE), &[10]), Ok(stored));
    let text = Datatype::fixed_string(8, StringPadding::NullPadded, CharacterSet::Ascii);
    for (datatype, chunk) in
        [(&text, &[10][..]), (&Datatype::f32(LE), &[1]), (&Datatype::f32(LE), &[2, 2, 2, 2, 2])]
    {
        assert_eq!(prepare(&rate, datatype, chunk), Ok(rate.client_data().to_vec()));
        assert!(is_refused(&rate.clone().mandatory(), datatype, chunk));
    }
    assert!(is_refused(&rate, &Datatype::f16(LE), &[10]));
    assert!(is_refused(&rate, &Datatype::f32(BE), &[10]), "its bytes would be taken for other numbers");
    assert!(prepare(&FilterSpec::zfp_reversible(), &Datatype::f32(BE), &[10]).is_ok());
    assert!(is_refused(&FilterSpec::zfp_precision(0), &Datatype::f32(LE), &[10]));
}

#[test]
fn elements_of_variable_length_take_only_optional_filters() {
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    assert_eq!(prepare(&FilterSpec::deflate(4), &text, &[40]), Ok(vec![4]));
    assert_eq!(prepare(&FilterSpec::shuffle(), &text, &[40]), Ok(vec![]));
    assert!(is_refused(&FilterSpec::fletcher32(), &text, &[40]));
}

#[test]
fn what_cannot_be_written_is_refused() {
    let sz = FilterSpec::custom(FilterId::SZ, 1, [], None);
    let error = prepare(&sz, &Datatype::f32(LE), &[40]).unwrap_err();
    assert_eq!(error.to_string(), "filter SZ (32017): encoding is not supported");
    let unknown = FilterSpec::custom(FilterId::FLAC, 1, [], None);
    let error = prepare(&unknown, &Datatype::f32(LE), &[40]).unwrap_err();
    assert_eq!(error.to_string(), "filter FLAC (32027) is not available");
    let zfp = FilterSpec::custom(FilterId::ZFP, 1, [5], None);
    let facts = (&Datatype::f32(LE), [40]);
    let error =
        Pipeline::for_dataset(&[zfp], &DatasetFacts::new(facts.0, &facts.1), &Registry::empty()).unwrap_err();
    assert!(matches!(error, FilterError::Missing { id: FilterId::ZFP, .. }), "{error}");
}

#[test]
fn texts() {
    let same = [
        ("gzip", "gzip=4"),
        ("deflate=9", "gzip=9"),
        ("szip", "szip=nn:8"),
        ("szip=ec:16!", "szip=ec:16!"),
        ("shuffle?", "shuffle"),
        ("fletcher32", "fletcher32"),
        ("fletcher32?", "fletcher32?"),
        ("scaleoffset=int", "scaleoffset=int:0"),
        ("scaleoffset=float:-3", "scaleoffset=float:-3"),
        ("bitshuffle", "bitshuffle=lz4:0"),
        ("bitshuffle=zstd:9:64", "bitshuffle=zstd:9:64"),
        ("blosc", "blosc=lz4:5:bytes"),
        ("blosc2=zstd:9:delta", "blosc2=zstd:9:delta"),
        ("32015=7", "zstd=7"),
        ("4000", "4000"),
        (" 4000=1:2 ", "4000=1:2"),
        ("2=9", "2=9"),
        #[cfg(feature = "zfp")]
        ("zfp=rate:8", "zfp=rate:8"),
        #[cfg(feature = "zfp")]
        ("zfp=accuracy:1e-3", "zfp=accuracy:0.001"),
        #[cfg(feature = "zfp")]
        ("zfp=expert:1:2:3:-4!", "zfp=expert:1:2:3:-4!"),
    ];
    for (text, shown) in same {
        assert_eq!(text.parse::<FilterSpec>().unwrap().to_string(), shown);
    }
    assert_eq!(FilterSpec::parse_list(" ").unwrap(), []);
    assert_eq!(
        FilterSpec::parse_list("shuffle, lzf!").unwrap(),
        [FilterSpec::shuffle(), FilterSpec::lzf().mandatory()]
    );
    for (text, part) in [
        ("", "the known filters are gzip, shuffle"),
        ("gzip=", "\"\" is not a number in range; expected gzip[=LEVEL]"),
        ("gzip=4:5", "unexpected parameter \"5\""),
        ("shuffle=4", "unexpected parameter \"4\""),
        ("szip=xx", "\"xx\" is neither nn nor ec"),
        ("scaleoffset", "the first parameter is neither int nor float"),
        ("blosc=gzip", "\"gzip\" is unknown"),
        ("70000", "the known filters are gzip"),
        ("4000=x", "\"x\" is not a number in range"),
        ("é", "the known filters are"),
    ] {
        let error = text.parse::<FilterSpec>().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(FilterSpec::parse_list("gzip,,lzf").is_err());
}

proptest! {
    #[test]
    fn texts_come_back(
        id in proptest::sample::select(FilterId::KNOWN),
        flags in 0..2_u16,
        data in proptest::collection::vec(prop_oneof![0..6_u32, any::<u32>(), Just(161)], 0..9),
    ) {
        let spec = FilterSpec::custom(id, flags, data, None);
        prop_assert_eq!(&spec.to_string().parse::<FilterSpec>().unwrap(), &spec);
    }

    #[test]
    fn arbitrary_texts_do_not_panic(text in "[a-z0-9=:,!?é.-]{0,20}") {
        if let Ok(specs) = FilterSpec::parse_list(&text) {
            let shown: Vec<String> = specs.iter().map(ToString::to_string).collect();
            prop_assert_eq!(FilterSpec::parse_list(&shown.join(",")).unwrap(), specs);
        }
    }
}
