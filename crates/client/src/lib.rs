//! A RADOS client: async, with deadlines on every call
