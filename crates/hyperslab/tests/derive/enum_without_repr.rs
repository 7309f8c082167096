use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
enum Color {
    Red,
    Green,
}

fn main() {}
