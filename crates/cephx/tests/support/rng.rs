//! Randomness that a test decides.

use std::{collections::VecDeque, convert::Infallible};

use rand_core::{TryCryptoRng, TryRng};

/// Gives the scripted bytes first, and then a fixed, endless sequence.
pub struct ScriptRng {
    script: VecDeque<u8>,
    state: u64,
}

impl ScriptRng {
    /// Without script.
    pub fn new() -> Self {
        ScriptRng { script: VecDeque::new(), state: 0x5e91_01a5 }
    }

    /// A sequence that differs from that of other seeds.
    #[allow(dead_code)]
    pub fn seeded(seed: u64) -> Self {
        ScriptRng { script: VecDeque::new(), state: seed }
    }

    /// The next `u64` that is drawn.
    #[allow(dead_code)]
    pub fn then_u64(mut self, value: u64) -> Self {
        self.script.extend(value.to_le_bytes());
        self
    }

    /// The next bytes that are drawn.
    #[allow(dead_code)]
    pub fn then(mut self, bytes: &[u8]) -> Self {
        self.script.extend(bytes);
        self
    }

    /// Everything scripted was drawn.
    #[allow(dead_code)]
    pub fn is_spent(&self) -> bool {
        self.script.is_empty()
    }

    fn byte(&mut self) -> u8 {
        self.script.pop_front().unwrap_or_else(|| {
            self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.state >> 56) as u8
        })
    }
}

impl TryRng for ScriptRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(std::array::from_fn(|_| self.byte())))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(std::array::from_fn(|_| self.byte())))
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        dst.iter_mut().for_each(|byte| *byte = self.byte());
        Ok(())
    }
}

impl TryCryptoRng for ScriptRng {}
