//! `Debug` for messages that carry secrets: names are shown, secrets are not.

use std::fmt;

use crate::{MonConfigKey, MonEntity, MonRotating};

impl fmt::Debug for MonEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonEntity")
            .field("name", &self.name)
            .field("caps", &self.caps)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MonRotating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonRotating").field("service", &self.service).finish_non_exhaustive()
    }
}

impl fmt::Debug for MonConfigKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonConfigKey").field("key", &self.key).finish_non_exhaustive()
    }
}
