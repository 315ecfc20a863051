//! ceph.conf, options and the keyring search path
