//! Free-space managers: a header, and the section list behind it.
#![no_main]

use hyperslab_format::codec::Structure as _;
use hyperslab_format::free_space::{FreeSpaceHeader, FreeSpaceSections, FreeSpaceSectionsContext};
use hyperslab_fuzz::control::{Control, owner};
use hyperslab_fuzz::{law, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let Some(header) = law::structure::<FreeSpaceHeader>(bytes, &params) else { return };
    let rest = bytes.get(FreeSpaceHeader::size(&params)..).unwrap_or_default();
    let address = owner(rest, params, 0);
    let heap_width = usize::from(control.count(0, 4)).min(8);
    let Ok(context) = FreeSpaceSectionsContext::new(&header, address, heap_width, params) else { return };
    let used = FreeSpaceSections::size(&context).min(rest.len());
    let mut list = rest[..used].to_vec();
    seal::seal(&mut list);
    let Ok(mut sections) = FreeSpaceSections::decode(&list, &context) else { return };
    let mut header = header;
    let Ok(context) = sections.arrange(&mut header, address, heap_width, params) else { return };
    if let Ok(encoded) = sections.encode(&context) {
        assert_eq!(FreeSpaceSections::decode(&encoded, &context).as_ref(), Ok(&sections));
    }
});
