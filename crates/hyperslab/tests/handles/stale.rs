//! Stale references and tokens return an error, and never another object at the same address.

use hyperslab::{ErrorKind, File, IxDyn, ObjectToken, ReferenceTarget, Region};

use super::{new_file, sound};

/// Creates datasets until the header of one is at this address. Returns its name.
fn take_place(file: &File, address: u64) -> String {
    for number in 0..1000 {
        let name = format!("taker {number}");
        if file.new_dataset(&name).write(&[number]).unwrap().token().address() == address {
            return name;
        }
    }
    panic!("nobody takes the address {address:#x}");
}

fn gone(file: &File, token: ObjectToken) -> bool {
    file.object_at(token).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[test]
fn an_old_token_does_not_open_a_new_object_at_its_address() {
    let (file, medium) = new_file();
    for _ in 0..3 {
        let token = file.new_dataset("x").write(&[1]).unwrap().token();
        assert_eq!(file.object_at(token).unwrap().token(), token);
        file.remove("x").unwrap();
        assert!(gone(&file, token), "before the flush");
        file.flush().unwrap();
        assert!(gone(&file, token), "after the flush");
        let taker = take_place(&file, token.address());
        assert!(gone(&file, token), "when others have the place");
        let now = file.object(&taker).unwrap().token();
        assert_ne!(now, token);
        assert_eq!(file.object_at(now).unwrap().token(), now);
        let seen = file.links().unwrap().into_iter().find(|link| link.name == taker.as_bytes()).unwrap();
        assert_eq!(seen.target, hyperslab::LinkTarget::Hard(now));
        for name in file.member_names().unwrap() {
            file.remove(&name).unwrap();
        }
    }
    file.close().unwrap();
    sound(&medium);
}

#[test]
fn no_reference_to_a_deleted_object_is_written() {
    let (file, medium) = new_file();
    let width = hyperslab::Datatype::object_reference(file.info().size_of_offsets);
    let references = file.new_dataset("references").datatype(width).shape(&[1]).create().unwrap();
    let x = file.new_dataset("x").write(&[1]).unwrap();
    let target = ReferenceTarget::object(&x);
    references.write_references(.., std::slice::from_ref(&target)).unwrap();
    file.remove("x").unwrap();
    // The object is open.
    references.write_references(.., std::slice::from_ref(&target)).unwrap();
    assert_eq!(references.read_references::<IxDyn>(..).unwrap()[0].object().unwrap().token(), x.token());
    drop(x);
    file.flush().unwrap();
    assert_eq!(references.write_references(.., &[target]).unwrap_err().kind(), ErrorKind::NotFound);
    let followed = references.read_references::<IxDyn>(..).unwrap()[0].object().unwrap_err();
    assert_eq!(followed.kind(), ErrorKind::NotFound);
    file.remove("references").unwrap();
    drop(references);
    file.close().unwrap();
    sound(&medium);
}

#[test]
fn handles_read_the_current_attributes() {
    let (file, medium) = new_file();
    let object = file.create_group("a").unwrap();
    for count in [1, 30] {
        for number in 0..count {
            object.set_attribute(&format!("n{number}"), number).unwrap();
        }
        object.set_attribute("text", "before").unwrap();
        let (text, n0) = (object.attribute("text").unwrap(), object.attribute("n0").unwrap());
        let all = object.attributes().unwrap();
        object.set_attribute("text", "after, and much longer than before").unwrap();
        object.set_attribute("n0", [1.5, 2.5]).unwrap();
        assert_eq!(text.read_string().unwrap(), "after, and much longer than before");
        assert_eq!(text.clone().read_strings::<IxDyn>().unwrap().len(), 1);
        assert_eq!(n0.read::<f64, IxDyn>().unwrap().len(), 2);
        assert_eq!(n0.dataspace().unwrap().dims(), [2]);
        object.remove_attribute("text").unwrap();
        object.rename_attribute("n0", "m0").unwrap();
        file.new_dataset("others").write_strings(&["they", "take", "the", "space"]).unwrap();
        for stale in [&text, &n0] {
            assert_eq!(stale.read_dyn().unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(stale.datatype().unwrap_err().kind(), ErrorKind::NotFound);
        }
        let sound = i32::try_from(all.iter().filter(|one| one.read_dyn().is_ok()).count()).unwrap();
        assert_eq!(sound, count - 1);
        object.remove_attribute("m0").unwrap();
        file.remove("others").unwrap();
    }
    file.close().unwrap();
    assert!(object.attributes().is_ok(), "what is linked can be read after the close");
    sound(&medium);
}

#[test]
fn a_handle_says_that_the_file_is_closed() {
    let (file, medium) = new_file();
    let text = file.new_dataset("x").write_strings(&["abc"]).unwrap();
    let group = file.create_group("g").unwrap();
    group.set_attribute("n", 1).unwrap();
    let attribute = group.attribute("n").unwrap();
    let other = new_file().0;
    file.remove("x").unwrap();
    file.remove("g").unwrap();
    file.close().unwrap();
    let errors = [
        text.read_strings::<IxDyn>(..).unwrap_err(),
        text.write_strings(.., &["d"]).unwrap_err(),
        text.resize(&[2]).unwrap_err(),
        group.links().unwrap_err(),
        group.len().map(drop).unwrap_err(),
        group.create_group("h").map(drop).unwrap_err(),
        group.set_attribute("n", 2).unwrap_err(),
        attribute.read_scalar::<i32>().unwrap_err(),
        other.copy(&group, "copy").map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error:?}");
        let mut cause: &dyn std::error::Error = &error;
        while let Some(next) = cause.source() {
            cause = next;
        }
        assert!(cause.to_string().contains("closed"), "{cause}");
    }
    drop((text, group, attribute));
    sound(&medium);
}

#[test]
fn no_part_of_a_chunk_is_written_after_the_close() {
    for whole in [true, false] {
        let (file, medium) = new_file();
        let new = file.new_dataset("x").of::<i64>().shape(&[100_000]).chunks(&[10_000]).deflate(1);
        let dataset = new.create().unwrap();
        dataset.write(.., &vec![1; 100_000]).unwrap();
        dataset.write(Region::new(&[15_000], &[10]).unwrap(), &[2; 10]).unwrap();
        file.close().unwrap();
        let (start, count) = if whole { (10_000, 20_000) } else { (15_000, 10) };
        let region = Region::new(&[start], &[count]).unwrap();
        let late = dataset.write(&region, &vec![3_i64; usize::try_from(count).unwrap()]);
        assert_eq!(late.unwrap_err().kind(), ErrorKind::Misuse, "whole chunks: {whole}");
        assert_eq!(dataset.append(0, &[4_i64; 10]).unwrap_err().kind(), ErrorKind::Misuse);
        assert_eq!(dataset.read_raw::<i64>(..).unwrap()[15_000], 2);
        drop(dataset);
        sound(&medium);
    }
}
