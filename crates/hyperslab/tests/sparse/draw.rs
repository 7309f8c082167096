//! Numbers that decide what is done.

/// Numbers; zeros when there are no more.
#[derive(Debug, Clone)]
pub(crate) struct Numbers<'n>(std::slice::Iter<'n, u16>);

impl<'n> Numbers<'n> {
    pub(crate) fn new(numbers: &'n [u16]) -> Self {
        Self(numbers.iter())
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.next().copied().unwrap_or(0)) % bound.max(1)
    }

    /// True once in `of` times, but not for a number that is 0.
    pub(crate) fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == of - 1
    }

    /// One of some things.
    pub(crate) fn one_of<T: Clone>(&mut self, things: &[T]) -> T {
        let at = self.below(things.len() as u64) as usize;
        things[at].clone()
    }

    /// So many random numbers as they come, made of few.
    pub(crate) fn stream(&mut self) -> Stream {
        Stream(self.below(1 << 16) << 16 | self.below(1 << 16) | 1 << 40)
    }
}

/// Pseudo-random numbers from one that was drawn.
#[derive(Debug, Clone)]
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }
}
