//! The numbers that steer the search for a mapping.

/// Retry limits and behaviours that changed over the releases and therefore travel with the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunables {
    /// Retries in the same bucket after a collision.
    pub choose_local_tries: u32,
    /// Retries by permutation in the same bucket.
    pub choose_local_fallback_tries: u32,
    /// Retries from the top, beyond the first try.
    pub choose_total_tries: u32,
    /// 1: a `chooseleaf` tries a leaf once and then retries from the top.
    pub chooseleaf_descend_once: u32,
    /// How a leaf's replica number derives from its parent's, 0 = not at all.
    pub chooseleaf_vary_r: u8,
    /// Which computation of straw lengths an editor of the map used.
    pub straw_calc_version: u8,
    /// Bit mask of `1 << algorithm` that an editor of the map may use.
    pub allowed_bucket_algs: u32,
    /// 1: a leaf's choice does not depend on its position.
    pub chooseleaf_stable: u8,
    /// Retries of MSR rules from the top.
    pub msr_descents: u32,
    /// Retries of MSR rules after collisions.
    pub msr_collision_tries: u32,
}

impl Tunables {
    /// What a map without any tunables means.
    pub const LEGACY: Tunables = Tunables {
        choose_local_tries: 2,
        choose_local_fallback_tries: 5,
        choose_total_tries: 19,
        chooseleaf_descend_once: 0,
        chooseleaf_vary_r: 0,
        straw_calc_version: 0,
        allowed_bucket_algs: 22,
        chooseleaf_stable: 0,
        msr_descents: 100,
        msr_collision_tries: 100,
    };

    /// The profile of every cluster created since Jewel.
    pub const JEWEL: Tunables = Tunables {
        choose_local_tries: 0,
        choose_local_fallback_tries: 0,
        choose_total_tries: 50,
        chooseleaf_descend_once: 1,
        chooseleaf_vary_r: 1,
        straw_calc_version: 1,
        allowed_bucket_algs: 54,
        chooseleaf_stable: 1,
        msr_descents: 100,
        msr_collision_tries: 100,
    };
}
