//! Which options of the configuration database apply to whom.
//!
//! A target is a section (`global`, a type, `osd.1`, `client.rgw`, `client.rgw.a`) with optional masks
//! (`/host:H` or another type of CRUSH bucket, `/class:C`). Among the targets that apply to an entity the
//! longest section wins, then the nearest mask.

use std::{cmp::Ordering, collections::BTreeMap, fmt};

use sepiola_osdmap::{CrushMap, crush::Bucket};
use sepiola_wire::{EntityName, EntityType};

use super::config_limits::sendable;
use crate::{MonOptions, state::MonState};

/// Whom an option is set for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    pub section: &'a str,
    /// Type and name of a CRUSH bucket.
    pub location: Option<(&'a str, &'a str)>,
    pub class: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Reads `osd/class:ssd`. `None` if it names nobody.
    pub fn parse(who: &'a str) -> Option<Self> {
        let mut parts = who.split('/');
        let section = parts.next()?;
        if section != "global" && section.parse::<EntityType>().is_err() {
            section.parse::<EntityName>().ok()?;
        }
        let mut target = Target { section, location: None, class: None };
        for mask in parts {
            match mask.split_once(':')? {
                ("", _) | (_, "") => return None,
                ("class", class) if target.class.is_none() => target.class = Some(class),
                location if location.0 != "class" && target.location.is_none() => {
                    target.location = Some(location);
                }
                _ => return None,
            }
        }
        Some(target)
    }

    /// The masks in the order that they are shown and stored in, empty without any.
    pub fn mask(&self) -> String {
        let location = self.location.map(|(kind, name)| format!("{kind}:{name}"));
        let class = self.class.map(|class| format!("class:{class}"));
        location.into_iter().chain(class).collect::<Vec<_>>().join("/")
    }

    fn level(&self, entity: &EntityName) -> Option<usize> {
        let name = entity.to_string();
        match self.section {
            "global" => Some(0),
            section if section == entity.kind.as_str() || section == name => Some(section.len()),
            // client.rgw is for client.rgw.a too.
            section if section.contains('.') && name.strip_prefix(section)?.starts_with('.') => {
                Some(section.len())
            }
            _ => None,
        }
    }

    /// How near a target is to an entity at a place, to be compared with others; `None` if it is not for it.
    fn nearness(&self, entity: &EntityName, place: &Place) -> Option<impl Ord + use<>> {
        let level = self.level(entity)?;
        let location = match self.location {
            None => None,
            Some((kind, name)) => {
                let at = place.buckets.iter().position(|(k, n)| k == kind && n == name)?;
                Some(std::cmp::Reverse(at))
            }
        };
        if self.class.is_some_and(|class| place.class.as_deref() != Some(class)) {
            return None;
        }
        Some((level, location, self.class.is_some()))
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mask() {
            mask if mask.is_empty() => f.write_str(self.section),
            mask => write!(f, "{}/{mask}", self.section),
        }
    }
}

/// Where an entity is, for masks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Types and names of the buckets around it, the nearest first.
    buckets: Vec<(String, String)>,
    class: Option<String>,
}

impl Place {
    /// An OSD is where the CRUSH map has it; others are on the host that they say they are on.
    pub fn of(entity: &EntityName, host: &str, state: &MonState) -> Self {
        let osd = entity.id.parse().ok().filter(|_| entity.kind == EntityType::Osd);
        match osd {
            Some(osd) => Self::of_device(state.osdmap().crush(), osd),
            None => Place { buckets: vec![("host".to_owned(), host.to_owned())], class: None },
        }
    }

    fn of_device(crush: &CrushMap, device: i32) -> Self {
        let named = |bucket: &Bucket| {
            let kind = crush.type_names.get(&i32::from(bucket.type_id)).cloned().unwrap_or_default();
            (kind, crush.item_names.get(&bucket.id).cloned().unwrap_or_default())
        };
        let class = crush.item_classes.get(&device).and_then(|class| crush.class_names.get(class));
        Place { buckets: crush.ancestors(device).map(named).collect(), class: class.cloned() }
    }
}

/// An option as it applies to an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    pub value: String,
    /// The target that it was set for.
    pub who: String,
}

/// All options that apply to an entity, by name.
pub(crate) fn applied(state: &MonState, entity: &EntityName, place: &Place) -> BTreeMap<String, Applied> {
    let mut nearest = BTreeMap::new();
    for ((who, name), value) in state.config() {
        let Some(nearness) = Target::parse(who).and_then(|target| target.nearness(entity, place)) else {
            continue;
        };
        match nearest.get(name) {
            Some((other, _)) if nearness.cmp(other) == Ordering::Less => {}
            _ => {
                nearest.insert(name.clone(), (nearness, Applied { value: value.clone(), who: who.clone() }));
            }
        }
    }
    nearest.into_iter().map(|(name, (_, applied))| (name, applied)).collect()
}

/// What an entity on `host` is told.
pub(crate) fn values_for(state: &MonState, entity: &EntityName, host: &str) -> BTreeMap<String, String> {
    let applied = applied(state, entity, &Place::of(entity, host, state));
    sendable(applied.into_iter().map(|(name, option)| (name, option.value)).collect())
}

/// Makes a monitor follow what the database says of itself.
pub(crate) fn follow(state: &MonState, options: &MonOptions) {
    let name = EntityName::new(EntityType::Mon, &options.name);
    let host = options.config.read(|config| config.text("host")).unwrap_or_default();
    options.config.set_from_monitors(&values_for(state, &name, &host));
}

#[cfg(test)]
mod tests {
    use sepiola_wire::OsdId;

    use super::*;
    use crate::{state::change, testing::TestMon};

    fn mon_with(options: &[(&str, &str)]) -> TestMon {
        let mut mon = TestMon::new();
        mon.boot(0);
        mon.apply(options.iter().map(|(who, value)| change::config_set(who, "a", value)).collect());
        mon
    }

    fn value(mon: &TestMon, entity: &EntityName, host: &str) -> Option<String> {
        values_for(&mon.state, entity, host).remove("a")
    }

    #[test]
    fn the_longest_section_wins() {
        let mon = mon_with(&[("global", "1"), ("client", "2"), ("client.rgw", "3"), ("client.rgw.a", "4")]);
        for (name, expected) in
            [("client.rgw.a", "4"), ("client.rgw.b", "3"), ("client.rgwx", "2"), ("mon.a", "1")]
        {
            assert_eq!(value(&mon, &name.parse().unwrap(), "").as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn masks_select_by_place_and_the_nearer_wins() {
        // The OSD is on host h1 under root default.
        let osd = EntityName::osd(OsdId(0));
        let mon =
            mon_with(&[("osd", "1"), ("osd/root:default", "2"), ("osd/host:h1", "3"), ("osd/host:h2", "4")]);
        assert_eq!(value(&mon, &osd, "elsewhere").as_deref(), Some("3"));
        let mon = mon_with(&[("osd/class:ssd", "1"), ("global", "2")]);
        assert_eq!(value(&mon, &osd, "").as_deref(), Some("2"));
        let mon = mon_with(&[("global/host:h9", "1"), ("client/host:h1", "2")]);
        let client = EntityName::client("x");
        assert_eq!(value(&mon, &client, "h9").as_deref(), Some("1"));
        assert_eq!(value(&mon, &client, "h1").as_deref(), Some("2"));
    }

    #[test]
    fn masks_are_stored_in_one_order() {
        let target = Target::parse("osd/class:ssd/host:h").unwrap();
        assert_eq!((target.to_string(), target.section), ("osd/host:h/class:ssd".to_owned(), "osd"));
        for nobody in [
            "",
            "*",
            "OSD",
            "foo.bar",
            "osd/",
            "osd/x",
            "osd/class:",
            "osd/host:a/rack:b",
            "osd/class:a/class:b",
        ] {
            assert_eq!(Target::parse(nobody), None, "{nobody}");
        }
    }
}
