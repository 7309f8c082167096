//! The numbers that determine a sequence of operations.

/// A list of numbers. After its end every number is zero.
#[derive(Debug, Clone)]
pub(crate) struct Numbers<'n>(std::slice::Iter<'n, u16>);

impl<'n> Numbers<'n> {
    pub(crate) fn new(numbers: &'n [u16]) -> Self {
        Self(numbers.iter())
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.0.next().copied().unwrap_or(0)) % bound.max(1)
    }

    /// Returns `true` once in `of` times, but never for the number 0.
    pub(crate) fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == of - 1
    }

    /// Returns one of some values.
    pub(crate) fn one_of<T: Clone>(&mut self, things: &[T]) -> T {
        let at = self.below(things.len() as u64) as usize;
        things[at].clone()
    }

    /// Returns a generator of pseudo-random numbers, seeded by two drawn numbers.
    pub(crate) fn stream(&mut self) -> Stream {
        Stream(self.below(1 << 16) << 16 | self.below(1 << 16) | 1 << 40)
    }
}

/// A generator of pseudo-random numbers.
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
