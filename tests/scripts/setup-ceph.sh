#!/bin/bash
# Installs the distribution's own Ceph (Debian 12: 16.2.15) for the interop tests: monitor, OSD, manager, command line
# tools and the Python binding. Does nothing when they are there. Prints the version.
# usage: setup-ceph.sh
set -euo pipefail
packages=(ceph-mon ceph-osd ceph-mgr ceph-common python3-rados)

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "these packages are missing and installing them needs root: ${missing[*]}" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  # The packages would start their services; the tests start their own on private ports.
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  apt-get -q -y update >&2
  apt-get -q -y install --no-install-recommends "${missing[@]}" >&2
fi
rados --version
