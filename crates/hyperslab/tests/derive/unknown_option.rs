use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
#[hyperslab(rename = "point")]
struct Point {
    #[hyperslab(name = "X")]
    x: f32,
}

#[derive(Clone, Copy, H5Type)]
struct Other {
    #[hyperslab(name = "X")]
    x: f32,
}

fn main() {}
