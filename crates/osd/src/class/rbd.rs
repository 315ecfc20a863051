//! Class `rbd`: only what tells a client which image features exist. Images themselves are not served yet.

use bytes::Bytes;
use sepiola_wire::{Decode, Errno, Reader};

use super::{Access, Method, MethodCall, ObjectClass};
use crate::op::OpResult;

/// The image features that clients of release 20.2 know.
const ALL_FEATURES: u64 = 0xfff;

pub(super) struct Rbd;

impl ObjectClass for Rbd {
    fn name(&self) -> &'static str {
        "rbd"
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method { name: "get_all_features", access: Access::READ, run: get_all_features },
            Method { name: "get_id", access: Access::READ, run: get_id },
        ]
    }
}

fn get_all_features(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    call.put_encoded(&ALL_FEATURES);
    Ok(0)
}

/// The image id that the object holds as its data.
fn get_id(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let data = call.read()?;
    if data.is_empty() {
        return Err(Errno::ENOENT.into());
    }
    let id = Bytes::decode(&mut Reader::new(&data)).map_err(|_| Errno::EIO)?;
    call.put_encoded(&id);
    Ok(0)
}
