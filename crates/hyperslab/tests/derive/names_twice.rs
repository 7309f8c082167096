use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
struct Point {
    x: f32,
    #[hyperslab(rename = "x")]
    y: f32,
}

#[derive(Clone, Copy, H5Type)]
#[repr(u8)]
enum Color {
    Red,
    #[hyperslab(rename = "")]
    Green,
}

fn main() {}
