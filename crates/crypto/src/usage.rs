//! What a key seals.

/// The purposes that sealed bytes have. Type 2 derives separate keys for each, so that bytes sealed for
/// one purpose open for no other; type 1 ignores it. Closed on purpose: the derived contexts are cached in
/// an array indexed by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Usage {
    /// Anything without a number of its own.
    Plain = 0,
    /// The connection secret in a monitor's AUTH_DONE, under the AUTH session key.
    ConnectionSecret = 0x03,
    /// The client's half of a ticket, under the principal's key or the AUTH session key.
    TicketSessionKey = 0x04,
    /// A ticket blob sealed again under the old AUTH session key.
    TicketBlob = 0x05,
    /// Part B of an authorizer, under the service session key.
    Authorizer = 0x10,
    /// A service's challenge to an authorizer.
    AuthorizerChallenge = 0x11,
    /// A service's answer to an authorizer.
    AuthorizerReply = 0x12,
    /// Rotating service secrets, under the daemon's own key.
    RotatingSecret = 0x20,
    /// A ticket as the service reads it, under a rotating secret.
    TicketInfo = 0x30,
}

impl Usage {
    /// Every usage, in cache order.
    pub const ALL: [Usage; 9] = [
        Usage::Plain,
        Usage::ConnectionSecret,
        Usage::TicketSessionKey,
        Usage::TicketBlob,
        Usage::Authorizer,
        Usage::AuthorizerChallenge,
        Usage::AuthorizerReply,
        Usage::RotatingSecret,
        Usage::TicketInfo,
    ];

    /// The number that enters the key derivation.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Position in [`Usage::ALL`] and in every cache array.
    pub(crate) const fn index(self) -> usize {
        match self {
            Usage::Plain => 0,
            Usage::ConnectionSecret => 1,
            Usage::TicketSessionKey => 2,
            Usage::TicketBlob => 3,
            Usage::Authorizer => 4,
            Usage::AuthorizerChallenge => 5,
            Usage::AuthorizerReply => 6,
            Usage::RotatingSecret => 7,
            Usage::TicketInfo => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usage_has_its_own_place_in_the_cache() {
        for (position, usage) in Usage::ALL.into_iter().enumerate() {
            assert_eq!(usage.index(), position, "{usage:?}");
        }
    }
}
