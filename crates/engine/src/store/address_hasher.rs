//! The hash of addresses in tables.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use hyperslab_format::codec::Address;

/// A hash map whose keys are file addresses.
pub(crate) type AddressMap<T> = HashMap<Address, T, BuildHasherDefault<AddressHasher>>;

/// A set of file addresses, or of values that contain a file address.
pub type AddressSet<T = Address> = HashSet<T, BuildHasherDefault<AddressHasher>>;

/// A fast hasher for file addresses, which multiplies once. Each node of a walk and each handle
/// needs a look-up of an address. The hasher does not resist addresses that were chosen to collide:
/// such a file only slows down work on itself.
#[derive(Debug, Default)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        #[expect(clippy::cast_possible_truncation, reason = "the halves")]
        let [low, high] = [product as u64, (product >> 64) as u64];
        self.0 = low ^ high;
    }
}
