//! Typed messages: Ceph's, and Sepiola's own protobuf ones
