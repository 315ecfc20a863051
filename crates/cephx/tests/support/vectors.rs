//! Recorded exchanges with real daemons, in tests/data.
#![allow(dead_code)]

use serde_json::Value;

pub fn load(file: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/").to_owned() + file;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

pub fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().expect("hex text")).unwrap()
}

/// A challenge or nonce, written as a big-endian number.
pub fn number(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().expect("hex number"), 16).unwrap()
}

/// `[seconds, nanoseconds]`.
pub fn time(value: &Value) -> sepiola_wire::UTime {
    let part = |i: usize| u32::try_from(value[i].as_u64().unwrap()).unwrap();
    sepiola_wire::UTime { sec: part(0), nsec: part(1) }
}

/// One recorded exchange.
pub struct Recording(Vec<Value>);

impl Recording {
    pub fn load(file: &str) -> Self {
        Self::of(load(file))
    }

    pub fn of(value: Value) -> Self {
        match value {
            Value::Array(entries) => Recording(entries),
            mut case => Recording(case["log"].take().as_array().unwrap().clone()),
        }
    }

    /// The first note whose title starts with `title`.
    pub fn note<'a>(&'a self, title: &'a str) -> &'a Value {
        self.notes(title).next().unwrap_or_else(|| panic!("no note {title}"))
    }

    pub fn notes<'a>(&'a self, title: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |e| e["note"].as_str().is_some_and(|note| note.starts_with(title)))
    }

    /// First segments of the frames of a kind, in order.
    pub fn frames(&self, what: &str) -> Vec<Vec<u8>> {
        self.0.iter().filter(|e| e["what"] == what).map(|e| bytes(&e["segments"][0])).collect()
    }

    /// Fronts of the messages of a type, in order.
    pub fn messages(&self, kind: u16) -> Vec<Vec<u8>> {
        let messages = self.0.iter().filter(|e| e["what"] == "MESSAGE");
        let of_kind = messages.filter(|e| bytes(&e["segments"][0])[16..18] == kind.to_le_bytes());
        of_kind.map(|e| bytes(&e["segments"][1])).collect()
    }

    /// The authentication payload of the first AUTH_REQUEST.
    pub fn request(&self) -> Vec<u8> {
        let frame = &self.frames("AUTH_REQUEST")[0];
        let modes = u32::from_le_bytes(frame[4..8].try_into().unwrap()) as usize;
        blob(&frame[8 + 4 * modes..])
    }

    pub fn reply_more(&self) -> Vec<u8> {
        blob(&self.frames("AUTH_REPLY_MORE")[0])
    }

    pub fn request_more(&self) -> Vec<u8> {
        blob(&self.frames("AUTH_REQUEST_MORE")[0])
    }

    /// global_id, mode and payload.
    pub fn done(&self) -> (u64, u32, Vec<u8>) {
        let frame = &self.frames("AUTH_DONE")[0];
        let global_id = u64::from_le_bytes(frame[..8].try_into().unwrap());
        let mode = u32::from_le_bytes(frame[8..12].try_into().unwrap());
        (global_id, mode, blob(&frame[12..]))
    }

    /// Payloads of the MAuth messages that were sent.
    pub fn mauth(&self) -> Vec<Vec<u8>> {
        // paxos version, two unused session fields, protocol
        self.messages(17).iter().map(|front| blob_at(front, 8 + 2 + 8 + 4)).collect()
    }

    /// result, global_id and payload of the MAuthReply messages that came.
    pub fn mauth_replies(&self) -> Vec<(i32, u64, Vec<u8>)> {
        let parse = |front: &Vec<u8>| {
            let result = i32::from_le_bytes(front[4..8].try_into().unwrap());
            let global_id = u64::from_le_bytes(front[8..16].try_into().unwrap());
            (result, global_id, blob_at(front, 16))
        };
        self.messages(18).iter().map(parse).collect()
    }
}

fn blob_at(bytes: &[u8], at: usize) -> Vec<u8> {
    let len = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    bytes[at + 4..at + 4 + len].to_vec()
}

/// A blob that ends the frame.
fn blob(bytes: &[u8]) -> Vec<u8> {
    let blob = blob_at(bytes, 0);
    assert_eq!(blob.len() + 4, bytes.len());
    blob
}
