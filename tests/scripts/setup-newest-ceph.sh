#!/bin/bash
# Unpacks the newest Ceph that Debian has (20.2.4 or later) into a folder, beside the installed release and without
# touching the system. Done once per folder; prints the version.
# usage: setup-newest-ceph.sh [--unpacked] [ROOT [SHARE]]
#   --unpacked  ROOT is there already, or this fails: nothing is fetched, and nothing but ROOT.bin is written
#   ROOT   the unpacked system; default: $SEPIOLA_NEWEST_CEPH, or newest-ceph in the target folder
#   SHARE  a folder that has the same path inside and outside; default: sepiola-interop in the temporary folder
# Afterwards ROOT.bin/rados, ROOT.bin/ceph, ROOT.bin/ceph-mon, ROOT.bin/ceph_test_rados_api_io and so on run inside ROOT. Each run has mounts of its own,
# which end with it. Needs root, or a kernel that lets users make namespaces.
set -euo pipefail
unpacked=
if [ "${1:-}" = --unpacked ]; then
  unpacked=yes
  shift
fi
workspace=$(realpath "$(dirname "$0")/../..")
root=$(realpath -m "${1:-${SEPIOLA_NEWEST_CEPH:-${CARGO_TARGET_DIR:-$workspace/target}/newest-ceph}}")
share=$(realpath -m "${2:-${TMPDIR:-/tmp}/sepiola-interop}")
apt_state=$root.apt bin=$root.bin
oldest_wanted=20.2.4

unshare=(unshare --mount --propagation private)
if [ "$(id -u)" != 0 ]; then
  unshare=(unshare --user --map-root-user --mount --propagation private)
  if ! "${unshare[@]}" true 2>/dev/null; then
    echo "unpacking the newest Ceph needs root: its programs run in a chroot, and this kernel lets only root make one" >&2
    exit 1
  fi
fi

fetch() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg archive suite
  archive=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^#' \
    | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ') || true
  if [ -z "$archive" ]; then
    echo "no Debian archive is configured in /etc/apt, so there is nowhere to take the newest Ceph from" >&2
    exit 1
  fi
  mkdir -p "$apt_state"/{lists/partial,cache/archives/partial}
  # An empty status file: nothing counts as installed, so every library comes along.
  : > "$apt_state/status"
  for suite in trixie sid; do
    echo "deb [signed-by=$keyring] $archive $suite main"
  done > "$apt_state/sources"
  local apt=(apt-get -q -y
    -o Dir::Etc::SourceList="$apt_state/sources" -o Dir::Etc::SourceParts=-
    -o Dir::State="$apt_state" -o Dir::State::Lists="$apt_state/lists" -o Dir::State::Status="$apt_state/status"
    -o Dir::Cache="$apt_state/cache" -o APT::Sandbox::User="$(id -un)"
    -o APT::Install-Recommends=false -o APT::Default-Release=sid -o Acquire::Retries=3)
  "${apt[@]}" update >&2
  "${apt[@]}" --download-only install ceph-mon ceph-osd ceph-common ceph-test python3-rados bash coreutils libc-bin >&2
}

unpack() {
  local merged deb
  rm -rf "$root.part"
  # A merged /usr has to be there before the first package, or its links become folders.
  for merged in bin sbin lib lib64; do
    mkdir -p "$root.part/usr/$merged"
    ln -s "usr/$merged" "$root.part/$merged"
  done
  for deb in "$apt_state"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root.part" --keep-directory-symlink --no-same-owner
  done
  mkdir -p "$root.part"/{dev,proc,run,tmp,etc}
  echo 'root:x:0:0:root:/root:/bin/bash' > "$root.part/etc/passwd"
  echo 'root:x:0:' > "$root.part/etc/group"
  echo '127.0.0.1 localhost' > "$root.part/etc/hosts"
  "${unshare[@]}" chroot "$root.part" /sbin/ldconfig
  rm -rf "$root"
  mv "$root.part" "$root"
  # The packages take as much room as what came out of them.
  rm -rf "$apt_state"
}

wrap() {
  local program
  mkdir -p "$bin" "$root$share"
  # One script for all programs: it enters the root with the system's devices, its processes, and the shared folder.
  cat > "$bin/.enter" <<EOF
#!/bin/bash
set -e
mkdir -p "$share"
export SEPIOLA_PROGRAM=\$1; shift
exec ${unshare[*]} /bin/bash -c '
  mount --rbind /dev "$root/dev"
  mount --rbind /proc "$root/proc"
  mount --rbind "$share" "$root$share"
  exec chroot "$root" "/usr/bin/\$SEPIOLA_PROGRAM" "\$@"' enter "\$@"
EOF
  chmod +x "$bin/.enter"
  for program in "$root"/usr/bin/{ceph,rados,monmaptool,osdmaptool,crushtool,ceph-*,ceph_test_{rados_api,neorados,cls}_*,python3}; do
    [ -e "$program" ] || continue
    program=$(basename "$program")
    printf '#!/bin/bash\nexec "%s/.enter" %s "$@"\n' "$bin" "$program" > "$bin/$program"
    chmod +x "$bin/$program"
  done
}

if [ -n "$unpacked" ]; then
  if [ ! -x "$root/usr/bin/ceph-osd" ]; then
    echo "$root is no unpacked Ceph: it has no usr/bin/ceph-osd" >&2
    exit 1
  fi
elif [ ! -x "$root/usr/bin/ceph-osd" ] || [ ! -x "$root/usr/bin/ceph_test_rados_api_io" ]; then
  mkdir -p "$(dirname "$root")"
  fetch
  unpack
fi
wrap
version=$("$bin/rados" --version)
echo "$version"
number=$(grep -oE '[0-9]+\.[0-9]+\.[0-9]+' <<< "$version" | head -n 1)
if [ "$(printf '%s\n' "$oldest_wanted" "$number" | sort -V | head -n 1)" != "$oldest_wanted" ]; then
  echo "that is older than $oldest_wanted" >&2
  exit 1
fi
