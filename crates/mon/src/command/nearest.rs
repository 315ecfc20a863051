//! What an unknown command may have been meant to be.

use strsim::levenshtein;

use super::{ALIASES, commands};

/// As many suggestions as a line holds.
const MOST: usize = 4;
/// Longer ones are nothing that anybody mistyped.
const LONGEST: usize = 64;

/// The status text for a command that is not known.
pub(super) fn unknown(prefix: &str) -> String {
    let names = nearest(prefix);
    if names.is_empty() {
        return "command not known".to_owned();
    }
    format!("command not known; did you mean: {}?", names.join(", "))
}

/// The names of commands that differ in a few letters, or share all words but the last, nearest first.
fn nearest(prefix: &str) -> Vec<&'static str> {
    if prefix.len() > LONGEST {
        return Vec::new();
    }
    let head = prefix.rsplit_once(' ').map(|(head, _)| head);
    let names = commands().map(|c| c.words).chain(ALIASES.iter().map(|(alias, _)| *alias));
    let mut near: Vec<_> = names
        .filter_map(|name| {
            let distance = levenshtein(prefix, name);
            let typo = distance <= 1 + prefix.len() / 5;
            let sibling = head.is_some() && name.rsplit_once(' ').map(|(head, _)| head) == head;
            (typo || sibling || name.starts_with(prefix)).then_some((!typo, distance, name))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, _, name)| name).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_siblings_are_suggested() {
        assert_eq!(nearest("osd dupm")[0], "osd dump");
        assert_eq!(nearest("stauts")[0], "status");
        assert_eq!(nearest("osd pool quota").len(), MOST);
        assert!(nearest("osd pool quota").iter().all(|name| name.starts_with("osd pool ")));
        assert!(nearest("frobnicate").is_empty());
        assert_eq!(unknown("frobnicate"), "command not known");
        assert!(unknown("pg stta").contains("did you mean: pg stat"));
        assert!(nearest(&"osd ".repeat(100)).is_empty());
    }
}
