//! Side-by-side benches.
