//! Protobuf types compiled from `proto/`: what Sepiola's daemons say to each other and write to disk.
#![allow(missing_docs)]

mod redacted;

include!(concat!(env!("OUT_DIR"), "/sepiola.rs"));
