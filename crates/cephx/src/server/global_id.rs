//! Numbers for client instances.

use sepiola_wire::GlobalId;

/// The next id that the monitor of `rank` among `mons` may hand out: the smallest above `last` that is
/// congruent to its rank and not above `reserved`, the highest id that the monitors agreed to use.
///
/// `None` means that the reservation is used up; the caller has to extend it first. 0 is never given out.
pub fn next_global_id(last: GlobalId, rank: u64, mons: u64, reserved: GlobalId) -> Option<GlobalId> {
    let mons = mons.max(1);
    let first = last.0.checked_add(1)?;
    let step = (rank % mons + mons - first % mons) % mons;
    let mut id = first.checked_add(step)?;
    if id == 0 {
        id = mons;
    }
    (id <= reserved.0).then_some(GlobalId(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_hand_out_disjoint_ids_in_order() {
        let reserved = GlobalId(100);
        let of_rank = |rank| {
            let mut ids = vec![];
            let mut last = GlobalId(10);
            while let Some(id) = next_global_id(last, rank, 3, reserved) {
                ids.push(id.0);
                last = id;
            }
            ids
        };
        let mut all = [of_rank(0), of_rank(1), of_rank(2)].concat();
        all.sort_unstable();
        assert_eq!(all, (11..=100).collect::<Vec<_>>());
    }

    #[test]
    fn one_monitor_counts_up_and_stops_at_the_reservation() {
        assert_eq!(next_global_id(GlobalId(0), 0, 1, GlobalId(2)), Some(GlobalId(1)));
        assert_eq!(next_global_id(GlobalId(2), 0, 1, GlobalId(2)), None);
        assert_eq!(next_global_id(GlobalId(u64::MAX), 0, 1, GlobalId(u64::MAX)), None);
    }
}
