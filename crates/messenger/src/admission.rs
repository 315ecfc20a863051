//! How many connections may be in their handshake at once, in all and from one address.
//!
//! Before authentication a peer costs memory and key-server work and has proved nothing, so that is where
//! connections are counted by address. Authenticated ones only count towards the total.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::Arc,
};

use parking_lot::Mutex;

#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmissionLimits {
    pub handshakes_per_address: usize,
    pub handshakes: usize,
}

#[derive(Debug)]
pub(crate) struct Admission {
    limits: AdmissionLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection in its handshake; dropped when it is authenticated or gone.
#[derive(Debug)]
pub(crate) struct HandshakePermit {
    admission: Arc<Admission>,
    address: IpAddr,
}

impl Admission {
    pub(crate) fn new(limits: AdmissionLimits) -> Arc<Self> {
        Arc::new(Admission { limits, state: Mutex::default() })
    }

    /// A permit for a connection from `address`, or `None` when a limit is reached.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<HandshakePermit> {
        let address = address.to_canonical();
        let mut state = self.state.lock();
        if state.total >= self.limits.handshakes {
            return None;
        }
        let of_address = state.by_address.entry(address).or_default();
        if *of_address >= self.limits.handshakes_per_address {
            return None;
        }
        *of_address += 1;
        state.total += 1;
        Some(HandshakePermit { admission: self.clone(), address })
    }
}

impl Drop for HandshakePermit {
    fn drop(&mut self) {
        let mut state = self.admission.state.lock();
        state.total -= 1;
        if let Entry::Occupied(mut count) = state.by_address.entry(self.address) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_take_every_place() {
        let admission = Admission::new(AdmissionLimits { handshakes_per_address: 2, handshakes: 3 });
        let (a, b, c) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into(), [127, 0, 0, 3].into());
        let first = admission.admit(a);
        let second = admission.admit(a);
        assert!(first.is_some() && second.is_some());
        assert!(admission.admit(a).is_none());
        let other = admission.admit(b);
        assert!(other.is_some());
        assert!(admission.admit(c).is_none(), "the total is reached");
        drop(first);
        assert!(admission.admit(c).is_some());
        drop((second, other));
        assert!(admission.state.lock().by_address.is_empty(), "addresses that left are forgotten");
    }

    #[test]
    fn a_mapped_address_is_the_ipv4_one() {
        let admission = Admission::new(AdmissionLimits { handshakes_per_address: 1, handshakes: 9 });
        let _first = admission.admit([127, 0, 0, 1].into()).unwrap();
        assert!(admission.admit("::ffff:127.0.0.1".parse().unwrap()).is_none());
    }
}
