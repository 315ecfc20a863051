//! The nonces of one direction.

use super::NONCE_LEN;

/// `u32 fixed | u64 LE counter`; the counter moves by one for each message and wraps.
///
/// A repeated nonce gives AES-GCM's authentication key away, so the counter refuses to come round to where
/// it started.
pub(super) struct NonceCounter {
    fixed: [u8; 4],
    first: u64,
    /// Messages so far; the next nonce is `first + used`.
    used: u64,
    exhausted: bool,
}

/// Every nonce was used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

impl NonceCounter {
    /// Counts from the nonce that the connection secret holds, which the first message uses as it is.
    pub(super) fn new(initial: &[u8; NONCE_LEN]) -> Self {
        let [a, b, c, d, counter @ ..] = *initial;
        NonceCounter { fixed: [a, b, c, d], first: u64::from_le_bytes(counter), used: 0, exhausted: false }
    }

    /// The nonce of the next message.
    pub(super) fn next(&mut self) -> Result<[u8; NONCE_LEN], Exhausted> {
        if self.exhausted {
            return Err(Exhausted);
        }
        let counter = self.first.wrapping_add(self.used);
        // All 2^64 values are usable; the one after the last would be the first again.
        match self.used.checked_add(1) {
            Some(used) => self.used = used,
            None => self.exhausted = true,
        }
        let mut nonce = [0; NONCE_LEN];
        nonce[..4].copy_from_slice(&self.fixed);
        nonce[4..].copy_from_slice(&counter.to_le_bytes());
        Ok(nonce)
    }

    /// Passes over `messages` unused nonces. It only ever moves forward, so it cannot cause a repetition.
    pub(super) fn skip(&mut self, messages: u64) {
        match self.used.checked_add(messages) {
            Some(used) => self.used = used,
            None => self.exhausted = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter_of(nonce: [u8; NONCE_LEN]) -> u64 {
        u64::from_le_bytes(nonce[4..].try_into().unwrap())
    }

    #[test]
    fn the_first_nonce_is_the_initial_one_and_the_fixed_part_never_moves() {
        let initial = [1, 2, 3, 4, 0xff, 0, 0, 0, 0, 0, 0, 0];
        let mut nonces = NonceCounter::new(&initial);
        assert_eq!(nonces.next(), Ok(initial));
        assert_eq!(nonces.next(), Ok([1, 2, 3, 4, 0, 1, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn the_counter_wraps_without_touching_the_fixed_part() {
        let mut nonces = NonceCounter::new(&[0xff; NONCE_LEN]);
        nonces.next().unwrap();
        assert_eq!(nonces.next(), Ok([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn it_stops_exactly_where_the_first_nonce_would_repeat() {
        let mut nonces = NonceCounter::new(&[7; NONCE_LEN]);
        let first = counter_of(nonces.next().unwrap());
        nonces.skip(u64::MAX - 2);
        assert_eq!(counter_of(nonces.next().unwrap()), first.wrapping_sub(2));
        assert_eq!(counter_of(nonces.next().unwrap()), first.wrapping_sub(1));
        for _ in 0..3 {
            assert_eq!(nonces.next(), Err(Exhausted));
        }
    }

    #[test]
    fn skipping_past_the_end_exhausts() {
        let mut nonces = NonceCounter::new(&[0; NONCE_LEN]);
        nonces.skip(u64::MAX);
        nonces.skip(2);
        assert_eq!(nonces.next(), Err(Exhausted));
    }
}
