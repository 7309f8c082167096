use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
#[repr(usize)]
enum Color {
    Red,
    Green,
}

fn main() {}
