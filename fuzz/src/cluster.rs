//! The keys of a small cluster, the same in every run so that inputs stay meaningful.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use sepiola_cephx::{
    AllowedAuth, AuthMethod, ConMode, EntityAuth, KeyServer, MonAuthPolicy, MonAuthenticator,
    RotatingSecrets, SERVICES, ServiceAuthenticator, ServiceSecrets,
};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, EntityType, GlobalId, UTime};

/// When everything happens.
pub const NOW: UTime = UTime::from_secs(1_000_000_000);

/// Long enough for whatever happens after [`NOW`]: nothing rotates here.
const SECRET_LIFE: Duration = Duration::from_secs(72 * 3600);

/// The same bytes in every run.
pub fn rng() -> StdRng {
    StdRng::seed_from_u64(1)
}

/// A key server with one entity, and the OSD secrets that its tickets open with.
pub struct Cluster {
    /// The entity.
    pub name: EntityName,
    /// Its key.
    pub key: CryptoKey,
    rotating: BTreeMap<EntityType, Arc<RotatingSecrets>>,
}

impl Cluster {
    /// All keys are of one type.
    pub fn new(name: EntityName, kind: KeyType) -> Arc<Self> {
        let mut rng = rng();
        let mut rotating = BTreeMap::new();
        for service in SERVICES {
            let secrets = RotatingSecrets::default().rotate(NOW, SECRET_LIFE, kind, &mut rng);
            rotating.insert(service, Arc::new(secrets.expect("an empty set is due")));
        }
        Arc::new(Cluster { name, key: CryptoKey::generate(kind, NOW, &mut rng), rotating })
    }

    fn allowed() -> AllowedAuth {
        AllowedAuth::uniform(&[AuthMethod::Cephx, AuthMethod::None], &[ConMode::Secure, ConMode::Crc])
    }

    /// The monitor's side of a connection.
    pub fn mon(self: &Arc<Self>) -> MonAuthenticator {
        let policy = MonAuthPolicy::new(Self::allowed(), self.key.kind(), &mut rng());
        MonAuthenticator::new(self.clone(), Arc::new(policy))
    }

    /// An OSD's side of a connection.
    pub fn osd(&self) -> ServiceAuthenticator {
        let secrets = ServiceSecrets::new();
        secrets.install(RotatingSecrets::clone(&self.rotating[&EntityType::Osd]));
        ServiceAuthenticator::new(EntityType::Osd, Arc::new(secrets), Arc::new(Self::allowed()))
    }
}

impl KeyServer for Cluster {
    fn entity(&self, name: &EntityName) -> Option<EntityAuth> {
        let caps = [("mon", "allow *"), ("osd", "allow *")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        (*name == self.name).then(|| EntityAuth::new(self.key.clone(), caps.into()))
    }

    fn rotating(&self, service: EntityType) -> Option<Arc<RotatingSecrets>> {
        self.rotating.get(&service).cloned()
    }

    fn assign_global_id(&self) -> Option<GlobalId> {
        Some(GlobalId(4100))
    }
}
