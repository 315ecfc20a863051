//! The messenger v2.1 protocol as state machines without I/O
