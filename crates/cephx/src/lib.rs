//! cephx authentication: tickets, authorizers, keyrings and capabilities, sans-io on both sides
