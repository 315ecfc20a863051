//! Mappings of every bucket algorithm, tunable profile and rule against published ones.

use std::{fs, path::PathBuf};

use sepiola_osdmap::{CANONICAL_FEATURES, CrushMap};
use sepiola_wire::{decode_all, encode_to_vec};

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/crush")
}

fn maps() -> Vec<(String, Vec<u8>)> {
    let mut maps: Vec<_> = fs::read_dir(data())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "bin"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    maps.sort();
    maps
}

#[test]
fn maps_reencode_byte_for_byte() {
    for (name, blob) in maps() {
        let map: CrushMap = decode_all(&blob).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(encode_to_vec(&map, CANONICAL_FEATURES) == blob, "{name} differs");
    }
}

#[test]
fn every_published_mapping_is_reproduced() {
    const OSDS: usize = 9;
    let mut seen = 0;
    for (name, blob) in maps() {
        let map: CrushMap = decode_all(&blob).unwrap();
        let args = map.choose_args.get(&0);
        for line in fs::read_to_string(data().join(format!("{name}.mappings.txt"))).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let ["rule", rule, "num_rep", size, "reweight", reweight, "x", x, mapping] = words[..] else {
                panic!("{name}: {line}")
            };
            let mut weights = vec![0x10000; OSDS];
            if reweight == "1" {
                weights[2] = 0x8000;
                weights[6] = (0.3_f32 * 65536.0) as u32;
                weights[7] = 0;
            }
            let found =
                map.do_rule(rule.parse().unwrap(), x.parse().unwrap(), size.parse().unwrap(), &weights, args);
            let expected: Vec<i32> = mapping
                .trim_matches(['[', ']'])
                .split(',')
                .filter(|item| !item.is_empty())
                .map(|item| item.parse().unwrap())
                .collect();
            assert_eq!(found, expected, "{name}: {line}");
            seen += 1;
        }
    }
    assert_eq!(seen, 1536 + 224);
}
