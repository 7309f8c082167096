use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
struct Point(f32, f32);

#[derive(Clone, Copy, H5Type)]
struct Nothing;

#[derive(Clone, Copy, H5Type)]
struct Empty {}

fn main() {}
