//! Sets of services, as `other_keys` masks name them.

use std::fmt;

use sepiola_wire::EntityType;

/// A set of services that tickets are wanted for.
///
/// There is no client service. A real monitor breaks its list of tickets off at that bit, so the set
/// cannot hold it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ServiceSet(u32);

/// Every service that has rotating secrets, in the order of their numbers.
pub const SERVICES: [EntityType; 5] =
    [EntityType::Mon, EntityType::Mds, EntityType::Osd, EntityType::Mgr, EntityType::Auth];

impl ServiceSet {
    /// No service.
    pub const EMPTY: ServiceSet = ServiceSet(0);
    /// What a client that does I/O wants, as the stock ones do: monitors, OSDs, managers, and AUTH itself.
    pub const CLIENT: ServiceSet = ServiceSet(
        EntityType::Mon.as_u32()
            | EntityType::Osd.as_u32()
            | EntityType::Mgr.as_u32()
            | EntityType::Auth.as_u32(),
    );
    /// What an OSD wants.
    pub const OSD: ServiceSet = Self::CLIENT;

    /// The set of the services in `bits` that exist; others are dropped.
    pub fn from_bits(bits: u32) -> Self {
        let known = SERVICES.iter().fold(0, |all, s| all | s.as_u32());
        ServiceSet(bits & known)
    }

    /// The wire form.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// This set and `service`.
    #[must_use]
    pub fn with(self, service: EntityType) -> Self {
        ServiceSet(self.0 | Self::from_bits(service.as_u32()).0)
    }

    /// This set without `service`.
    #[must_use]
    pub const fn without(self, service: EntityType) -> Self {
        ServiceSet(self.0 & !service.as_u32())
    }

    /// True if `service` is in the set.
    pub const fn contains(self, service: EntityType) -> bool {
        self.0 & service.as_u32() != 0
    }

    /// True for the empty set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The services, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = EntityType> {
        SERVICES.into_iter().filter(move |s| self.contains(*s))
    }
}

impl FromIterator<EntityType> for ServiceSet {
    fn from_iter<I: IntoIterator<Item = EntityType>>(services: I) -> Self {
        services.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Debug for ServiceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_bit_cannot_be_asked_for() {
        let all = ServiceSet::from_bits(u32::MAX);
        assert_eq!(all.bits(), 0x37);
        assert_eq!(ServiceSet::EMPTY.with(EntityType::Client), ServiceSet::EMPTY);
        assert_eq!(all.without(EntityType::Auth).iter().count(), 4);
    }
}
