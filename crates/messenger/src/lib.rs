//! The tokio edge: listen, dial, read, write, dispatch, deadlines, throttles
