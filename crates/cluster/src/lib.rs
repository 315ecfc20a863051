//! Start and stop a mini-cluster of processes
