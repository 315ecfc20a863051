//! Writing keyring text.

use zeroize::Zeroizing;

use super::Keyring;

pub(super) fn to_text(keyring: &Keyring) -> Zeroizing<String> {
    let mut parts = Vec::new();
    for (name, entry) in keyring.iter() {
        parts.push(Zeroizing::new(format!("[{name}]\n")));
        if let Some(key) = &entry.key {
            parts.push(field("key", &key.to_base64()));
        } else if let Some(unusable) = &entry.unusable {
            parts.push(field("key", &unusable.text));
        }
        if let Some(key) = &entry.pending_key {
            parts.push(field("pending key", &key.to_base64()));
        }
        for (service, text) in &entry.caps {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            parts.push(field(&format!("caps {service}"), &format!("\"{text}\"")));
        }
    }
    // Joined at the end: a string that grows leaves copies of keys behind in memory.
    let mut text = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
    for part in &parts {
        text.push_str(part);
    }
    text
}

fn field(name: &str, value: &str) -> Zeroizing<String> {
    Zeroizing::new(format!("\t{name} = {value}\n"))
}
