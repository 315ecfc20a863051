//! Monitor sessions as OSDs and clients need them: hunting, tickets, subscriptions
