//! Numbers that are the same on every machine.

/// The generator called splitmix64: a counter and a mixing function, no state beyond 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Returns the stream of numbers that belongs to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a stream of its own for the part called `label`, without advancing this one.
    pub(crate) fn part(&self, label: u64) -> Self {
        let mut part = Self(self.0 ^ label.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        part.next();
        part
    }

    /// Returns the next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which is at least 1.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end.max(1))) >> 64) as u64
    }

    /// Returns an index below `len`, or 0 for an empty list.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Says yes `percent` times of a hundred.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Says yes once in `n` times.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns one of `list`.
    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }

    /// Returns an index of `weights`, each as often as its weight says.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (index, &weight) in weights.iter().enumerate() {
            if at < weight {
                return index;
            }
            at -= weight;
        }
        0
    }

    /// Returns a number of the distribution whose quantiles at equal distances are `points`, straight between them.
    /// Integers only, since the logarithm of one machine is not the logarithm of another.
    pub(crate) fn quantile(&mut self, points: &[u64]) -> u64 {
        let parts = points.len() as u64 - 1;
        let at = self.below(parts << 16);
        let (part, within) = ((at >> 16) as usize, at & 0xFFFF);
        let (low, high) = (points[part], points[part + 1]);
        low + (((high - low) * within) >> 16)
    }
}
