//! Keyring files: what is understood, what spoils a file, and what saving writes.

mod support;

use sepiola_cephx::{Keyring, KeyringEntry, KeyringError};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, Put};
use support::{START, rng::ScriptRng, vectors::load};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The text of a key whatever its type and length, with bytes behind it.
fn key_text(kind: u16, secret: usize, behind: usize) -> String {
    let mut bytes = Vec::new();
    bytes.put_u16(kind);
    bytes.put_u64(0);
    bytes.put_u16(secret as u16);
    bytes.resize(bytes.len() + secret + behind, 7);
    STANDARD.encode(bytes)
}

fn admin() -> EntityName {
    EntityName::client("admin")
}

/// The keyrings that the stock tool was given, one feature each.
fn samples() -> Vec<(&'static str, String)> {
    let key = key_text(1, 16, 0);
    let with = |lines: &str| format!("[client.admin]\n{lines}\n");
    vec![
        ("plain", with(&format!("\tkey = {key}"))),
        ("hash_comment", with(&format!("# text\nkey = {key}"))),
        ("semi_comment", with(&format!("; text\nkey = {key}"))),
        ("trailing_comment", with(&format!("key = {key} # text"))),
        ("caps_underscore(caps_osd = ...)", with("caps_osd = \"allow *\"")),
        ("caps_multispace(caps   mds   =   allow)", with("caps   mds   =   allow")),
        ("unquoted_caps(caps mon = allow profile rbd)", with("caps mon = allow profile rbd")),
        ("single_quoted_caps", with("caps mon = 'allow r'")),
        ("empty_caps(\"\")", with("caps mon = \"\"")),
        ("auid_line(ignored)", with(&format!("auid = 5\nkey = {key}"))),
        ("quoted_key", with(&format!("key = \"{key}\""))),
        ("no_space_around_equals", with(&format!("key={key}"))),
        ("caps_before_key", with(&format!("caps mon = \"allow r\"\nkey = {key}"))),
        ("caps_without_key", with("caps mon = \"allow r\"")),
        ("key_line_outside_any_section(ignored)", format!("key = {key}\n")),
        ("key_line_before_a_section", format!("key = {key}\n{}", with("caps mon = \"x\""))),
        ("duplicate_section(merged)", with(&format!("key = {key}")) + &with("caps mon = \"allow r\"")),
        ("crlf", with(&format!("key = {key}\ncaps mon = \"allow r\"")).replace('\n', "\r\n")),
        ("empty_file", String::new()),
        ("mon._name", format!("[mon.]\nkey = {key}\n")),
        ("auth.x_name", format!("[auth.x]\nkey = {key}\n")),
        ("type0_key_zero_length", with(&format!("key = {}", key_text(0, 0, 0)))),
        ("type1_key_20_bytes", with(&format!("key = {}", key_text(1, 20, 0)))),
        ("bytes_after_the_secret(ignored)", with(&format!("key = {}", key_text(1, 16, 5)))),
        ("space_inside_brackets", format!("[ client.admin ]\nkey = {key}\n")),
        ("unknown_field", with(&format!("key = {key}\ncolour = red"))),
        ("bad_base64", with("key = !!!!")),
        ("section_without_type_dot", format!("[admin]\nkey = {key}\n")),
        ("unknown_entity_type", format!("[user.admin]\nkey = {key}\n")),
        ("upper_case_entity_type", format!("[CLIENT.admin]\nkey = {key}\n")),
        ("backslash_continuation", with(&format!("key = \\\n{key}"))),
        ("empty_key", with("key =")),
        ("colon_instead_of_equals", with(&format!("key: {key}"))),
        ("type1_key_15_bytes", with(&format!("key = {}", key_text(1, 15, 0)))),
    ]
}

#[test]
fn what_the_stock_tool_accepts_and_refuses() {
    let recorded = load("keyring_grammar.json");
    let recorded = recorded["results"].as_object().unwrap();
    let samples = samples();
    for (name, text) in &samples {
        let accepted = Keyring::parse(text).is_ok();
        assert_eq!(accepted, recorded[*name] == "OK", "{name}:\n{text}");
    }
    // The one that is left out is a type that 16.2 did not know, and this build does.
    assert_eq!(samples.len() + 1, recorded.len());
    let type_2 = format!("[client.admin]\nkey = {}\n", key_text(2, 32, 0));
    assert_eq!(Keyring::parse(&type_2).unwrap().key(&admin()).unwrap().kind(), KeyType::Aes256k);
}

#[test]
fn a_key_of_an_unknown_type_spoils_its_own_entry_only() {
    let unknown = key_text(9, 48, 0);
    let text = format!("[client.admin]\nkey = {}\n[client.new]\nkey = {unknown}\n", key_text(1, 16, 0));
    let keyring = Keyring::parse(&text).unwrap();
    keyring.key(&admin()).unwrap();
    let error = keyring.key(&EntityName::client("new")).unwrap_err();
    assert_eq!(error.to_string(), "the key of client.new has type 9, which this build does not know");
    assert!(keyring.to_text().contains(&unknown), "saving must not lose it");
}

#[test]
fn errors_name_the_line() {
    let at = |text: &str| match Keyring::parse(text).unwrap_err() {
        error @ KeyringError::Line { line, .. } => (line, error.to_string()),
        other => panic!("{other}"),
    };
    let (line, text) = at("\n# comment\n[client.a]\nkey = !!\n");
    assert_eq!((line, &*text), (4, "keyring line 4: a key must be base64 text"));
    assert_eq!(at("[client.a]\ncaps mon = \"open\n").0, 2);
    assert_eq!(at("[client.a]\n\n[client.b\n").0, 3);
    assert_eq!(at("# comment\ncaps mon = allow\n[client.a]\n").0, 2);
    assert_eq!(at("[client.a]\ncaps mon = \"a\" b\n").0, 2);
}

#[test]
fn missing_entries_and_keys_are_told_apart() {
    let keyring = Keyring::parse("[client.a]\ncaps mon = \"allow r\"\n").unwrap();
    assert!(matches!(keyring.key(&EntityName::client("a")), Err(KeyringError::NoKey(_))));
    assert!(matches!(keyring.key(&EntityName::client("b")), Err(KeyringError::NoEntry(_))));
    let none = Keyring::parse(&format!("[client.a]\nkey = {}\n", key_text(0, 0, 0))).unwrap();
    assert!(matches!(none.key(&EntityName::client("a")), Err(KeyringError::NoKey(_))));
}

fn sample_keyring() -> Keyring {
    let mut rng = ScriptRng::new();
    let mut keyring = Keyring::new();
    let caps = [("mon", "allow r"), ("osd", "allow rw pool=\"a b\", allow r namespace='n'")];
    for (name, kind) in [("osd.0", KeyType::Aes), ("client.admin", KeyType::Aes256k)] {
        let caps = caps.iter().map(|(s, t)| ((*s).to_owned(), (*t).to_owned())).collect();
        let entry = KeyringEntry::new(CryptoKey::generate(kind, START, &mut rng), caps);
        keyring.insert(name.parse().unwrap(), entry);
    }
    keyring.entry(admin()).pending_key = Some(CryptoKey::generate(KeyType::Aes, START, &mut rng));
    keyring
}

#[test]
fn what_is_written_is_read_back() {
    let keyring = sample_keyring();
    let text = keyring.to_text();
    assert_eq!(Keyring::parse(&text).unwrap(), keyring);
    let first = text.lines().collect::<Vec<_>>();
    assert_eq!(first[0], "[osd.0]");
    assert!(first[1].starts_with("\tkey = AQ"));
    assert_eq!(first[2], "\tcaps mon = \"allow r\"");
    assert_eq!(first[3], "\tcaps osd = \"allow rw pool=\\\"a b\\\", allow r namespace='n'\"");
    assert!(first[5].starts_with("\tkey = Ag"));
}

#[test]
fn secrets_are_not_printed() {
    let keyring = sample_keyring();
    let printed = format!("{keyring:?}");
    for (_, entry) in keyring.iter() {
        let secret = entry.key.as_ref().unwrap();
        assert!(!printed.contains(secret.to_base64().as_str()));
        assert!(!printed.contains(&hex::encode(secret.secret())));
        assert!(!printed.contains(&format!("{:?}", secret.secret())));
    }
}

#[test]
fn a_saved_file_is_private_and_replaces_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keyring");
    std::fs::write(&path, "old").unwrap();
    let keyring = sample_keyring();
    keyring.save(&path).unwrap();
    assert_eq!(Keyring::load(&path).unwrap(), keyring);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left behind");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let missing = Keyring::load(dir.path().join("nowhere")).unwrap_err();
    assert!(matches!(missing, KeyringError::Io { .. }));
    assert!(missing.to_string().contains("nowhere"));
}

proptest::proptest! {
    #[test]
    fn any_text_parses_or_is_refused(text in "(\\[client\\.a\\]\n)?([ -~\n]|key|caps|=|\"|'|\\\\){0,80}") {
        if let Ok(keyring) = Keyring::parse(&text) {
            proptest::prop_assert_eq!(Keyring::parse(&keyring.to_text()).unwrap(), keyring);
        }
    }

    #[test]
    fn any_caps_survive_saving(caps in "[ -~]{0,60}") {
        let mut keyring = Keyring::new();
        keyring.entry(admin()).caps.insert("osd".to_owned(), caps);
        proptest::prop_assert_eq!(Keyring::parse(&keyring.to_text()).unwrap(), keyring);
    }
}
