//! Class `hello`: small methods that clients test class calls with.

use sepiola_wire::Errno;

use super::{Access, Method, MethodCall, ObjectClass};
use crate::op::OpResult;

/// Bytes of a name that is greeted.
const MAX_NAME: usize = 100;

pub(super) struct Hello;

impl ObjectClass for Hello {
    fn name(&self) -> &'static str {
        "hello"
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method { name: "say_hello", access: Access::READ, run: say_hello },
            Method { name: "record_hello", access: Access::WRITE, run: record_hello },
            Method { name: "replay", access: Access::READ, run: replay },
            Method { name: "turn_it_to_11", access: Access::READ_WRITE, run: turn_it_to_11 },
            Method { name: "write_return_data", access: Access::WRITE, run: write_return_data },
            Method {
                name: "write_too_much_return_data",
                access: Access::WRITE,
                run: write_too_much_return_data,
            },
            // These two do what they do not declare, to show that it is noticed.
            Method { name: "bad_reader", access: Access::WRITE, run: replay },
            Method { name: "bad_writer", access: Access::READ, run: bad_writer },
        ]
    }
}

fn greeting(call: &MethodCall<'_, '_, '_>) -> Result<Vec<u8>, Errno> {
    match call.input {
        [] => Ok(b"Hello, world!".to_vec()),
        name if name.len() <= MAX_NAME => Ok([b"Hello, ", name, b"!"].concat()),
        _ => Err(Errno::EINVAL),
    }
}

fn say_hello(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let greeting = greeting(call)?;
    call.put(&greeting);
    Ok(0)
}

/// Greets into an object that must not exist.
fn record_hello(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let greeting = greeting(call)?;
    if call.exists() {
        return Err(Errno::EEXIST.into());
    }
    call.write_full(greeting)?;
    call.set_xattr("said_by", call.caller().to_string())?;
    Ok(0)
}

fn replay(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let data = call.read()?;
    call.put(&data);
    Ok(0)
}

/// Makes the recorded greeting loud.
fn turn_it_to_11(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    let loud = call.read()?.to_ascii_uppercase();
    call.write_full(loud)?;
    call.set_xattr("amplified_by", call.caller().to_string())?;
    Ok(0)
}

/// Returns data and a value from a write, which only RETURNVEC lets through, and fails with an output when
/// it is given any input.
fn write_return_data(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    call.set_xattr("foo", &b"bar"[..])?;
    if !call.input.is_empty() {
        call.put(b"too much input data!");
        return Err(Errno::EINVAL.into());
    }
    call.put(b"you might see this");
    Ok(42)
}

/// Returns more than a write may.
fn write_too_much_return_data(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    call.set_xattr("foo", &b"bar"[..])?;
    call.put(&b"you should not see this because it is too long. ".repeat(10));
    Ok(42)
}

fn bad_writer(call: &mut MethodCall<'_, '_, '_>) -> OpResult {
    call.write_full(call.input.to_vec())?;
    Ok(0)
}
