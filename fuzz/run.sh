#!/bin/bash
# Fuzzes every target, or those named, one after another.
#   fuzz/run.sh [SECONDS PER TARGET, default 60] [TARGET]...
# Needs cargo-fuzz, which is installed when missing. With a nightly toolchain the targets run under
# AddressSanitizer, without one they run plain. Corpora grow in fuzz/corpus, crashing inputs land in
# fuzz/artifacts. Exits 1 when a target failed.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz/src/bin/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

command -v cargo-fuzz > /dev/null || cargo install cargo-fuzz --locked
toolchain=$(rustup toolchain list 2> /dev/null | sed -nE 's/^(nightly[^ ]*).*/\1/p' | head -n 1)
if [ -n "$toolchain" ]; then
    cargo=(cargo "+$toolchain") sanitizer=address
else
    echo "no nightly toolchain: fuzzing without AddressSanitizer"
    cargo=(cargo) sanitizer=none
fi

passed=0 failed=()
for target in "${targets[@]}"; do
    mkdir -p "fuzz/corpus/$target"
    corpora=("fuzz/corpus/$target")
    [ -d "fuzz/seeds/$target" ] && corpora+=("fuzz/seeds/$target")
    echo "== $target, $seconds s"
    if "${cargo[@]}" fuzz run --sanitizer "$sanitizer" "$target" "${corpora[@]}" -- \
        -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 \
        -print_final_stats=1; then
        passed=$((passed + 1))
    else
        failed+=("$target")
    fi
done
[ ${#failed[@]} -eq 0 ] || echo "failed: ${failed[*]}"
echo "fuzz: $passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
