use hyperslab::H5Type;

#[derive(Clone, Copy, H5Type)]
#[repr(C)]
union Bits {
    float: f32,
    integer: u32,
}

fn main() {}
