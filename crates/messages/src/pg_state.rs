//! Bits of a pg's state and their text, `active+clean`.

macro_rules! states {
    ($($name:ident = $bit:literal, $text:literal;)*) => {
        $(#[doc = concat!("`", $text, "`.")] pub const $name: u64 = 1 << $bit;)*
        const NAMES: &[(u64, &str)] = &[$(($name, $text)),*];
    };
}

// In the order in which the names are joined.
states! {
    CREATING = 0, "creating";
    ACTIVE = 1, "active";
    CLEAN = 2, "clean";
    DOWN = 3, "down";
    RECOVERING = 4, "recovering";
    BACKFILLING = 5, "backfilling";
    UNDERSIZED = 6, "undersized";
    DEGRADED = 7, "degraded";
    REMAPPED = 8, "remapped";
    STALE = 9, "stale";
    PEERING = 10, "peering";
    INCOMPLETE = 11, "incomplete";
    PEERED = 12, "peered";
}

/// The state in text, the names joined by `+`; `unknown` for no bit.
pub fn to_text(state: u64) -> String {
    let names: Vec<_> = NAMES.iter().filter(|(bit, _)| state & bit != 0).map(|(_, name)| *name).collect();
    if names.is_empty() { "unknown".to_owned() } else { names.join("+") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined() {
        assert_eq!(to_text(CLEAN | ACTIVE), "active+clean");
        assert_eq!(to_text(0), "unknown");
    }
}
