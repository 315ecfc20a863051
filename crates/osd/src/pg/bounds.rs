//! Where pgs begin and end in the order of objects.

use bytes::Bytes;
use sepiola_wire::{HObject, PgId, SnapId};

/// The value before all objects of a pg.
pub(crate) fn start_of_pg(pg: PgId) -> HObject {
    HObject { snap: SnapId(0), hash: pg.ps, pool: pg.pool, ..HObject::min() }
}

/// The start of the pg behind this one in listing order.
pub(crate) fn end_of_pg(pg: PgId, pg_num: u32) -> HObject {
    let bits = split_bits(pg.ps, pg_num);
    let rest = u32::MAX.checked_shr(bits).unwrap_or(0);
    match (pg.ps.reverse_bits() | rest).checked_add(1) {
        None => HObject::max(),
        Some(next) => HObject {
            key: Bytes::new(),
            oid: Bytes::new(),
            snap: SnapId::HEAD,
            hash: next.reverse_bits(),
            max: false,
            nspace: Bytes::new(),
            pool: pg.pool,
        },
    }
}

/// How many low bits of the hash tell a pg from the others.
fn split_bits(ps: u32, pg_num: u32) -> u32 {
    if pg_num <= 1 {
        return 0;
    }
    let p = u32::BITS - pg_num.leading_zeros();
    let half = 1 << (p - 1);
    if ps % half < pg_num % half { p } else { p - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sepiola_wire::PoolId;

    fn pg(ps: u32) -> PgId {
        PgId::new(PoolId(1), ps)
    }

    #[test]
    fn a_pg_ends_where_a_captured_backoff_says() {
        assert_eq!(end_of_pg(pg(1), 32).hash, 17);
    }

    #[test]
    fn the_ends_chain_all_pgs_in_order() {
        for pg_num in [1, 2, 3, 7, 8, 12, 32, 33] {
            let mut ps = 0;
            let mut seen = vec![ps];
            loop {
                let end = end_of_pg(pg(ps), pg_num);
                if end.max {
                    break;
                }
                let mask = pg_num.next_power_of_two() - 1;
                ps = end.hash & mask;
                if ps >= pg_num {
                    ps = end.hash & (mask >> 1);
                }
                seen.push(ps);
            }
            if pg_num == 32 {
                assert_eq!(seen[..8], [0, 16, 8, 24, 4, 20, 12, 28]);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..pg_num).collect::<Vec<_>>(), "pg_num {pg_num}");
        }
    }
}
