//! Datatype messages, and conversions of what they describe.
#![no_main]

use hyperslab_datatype::convert::Conversion;
use hyperslab_datatype::{Datatype, H5Type};
use hyperslab_format::codec::Writer;
use hyperslab_format::message::DatatypeMessage;
use hyperslab_fuzz::control::Control;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let split = usize::from(control.choice(0)).min(bytes.len());
    let (bytes, data) = if split > 0 { bytes.split_at(split) } else { (bytes, bytes) };
    let Ok(message) = DatatypeMessage::decode(bytes, params) else { return };
    let _ = message.datatype.to_string();
    predicates(&message.datatype);
    let mut writer = Writer::new("datatype");
    message.encode(params, &mut writer);
    let encoded = writer.finish().unwrap_or_else(|error| panic!("{error}: {message:?}"));
    let again = DatatypeMessage::decode(&encoded, params).map(|again| again.datatype);
    assert_eq!(again.as_ref(), Ok(&message.datatype), "{encoded:02x?}");
    convert(&message.datatype, &f64::datatype(), data);
    convert(&message.datatype, &i16::datatype(), data);
    convert(&message.datatype, &message.datatype, data);
    convert(&f64::datatype(), &message.datatype, data);
    if let Ok(other) = DatatypeMessage::decode(data, params) {
        convert(&message.datatype, &other.datatype, bytes);
    }
});

fn predicates(datatype: &Datatype) {
    let _ = (datatype.is_bool(), datatype.is_number(), datatype.complex_part(), datatype.array_len());
    let _ = (datatype.points_into_file(), datatype.contains_reference(), datatype.is_string());
}

fn convert(from: &Datatype, to: &Datatype, data: &[u8]) {
    let Ok(conversion) = Conversion::new(from, to) else { return };
    let count = data.len().checked_div(conversion.source_size()).unwrap_or(0).min(16);
    let Some(room) = conversion.destination_size().checked_mul(count).filter(|room| *room < 1 << 20) else {
        return;
    };
    let mut out = vec![0; room];
    let _ = conversion.convert(&data[..count * conversion.source_size()], &mut out, count);
    if conversion.is_no_op() {
        assert_eq!(out, data[..out.len()]);
    }
}
