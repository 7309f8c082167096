use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
#[repr(u8)]
enum Shape {
    Point,
    Circle(f32),
}

fn main() {}
