//! ObjectStore: transactions on objects; MemStore and DiskStore; knows no network
