#!/usr/bin/env bash
# Runs every fuzz target of the module for a given time:
#
#   scripts/fuzz.sh [TIME]     TIME as `go test -fuzztime` takes it, default 10s
#
# Go stores a failing input under testdata/fuzz of its package.
set -euo pipefail

time=${1:-10s}
found=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for package in $(go list ./...); do
  targets=$(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
  for target in $targets; do
    found=$((found + 1))
    echo "fuzzing $target of $package for $time"
    # By default, minimising an input may take a minute, during which nothing is tested.
    if go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x "$package" 2>&1 | tee "$output"; then
      continue
    fi
    # Before version 1.27, Go sometimes reports the end of TIME itself as a failure
    # (golang/go#75804). Such a failure has this line alone; a real one names its input.
    if grep -qx '    context deadline exceeded' "$output" && ! grep -q 'Failing input written' "$output"; then
      echo "$target of $package ran for $time and found nothing: the failure above is golang/go#75804"
      continue
    fi
    exit 1
  done
done
if [ "$found" -eq 0 ]; then
  echo "no fuzz target was found: run this in the module's root" >&2
  exit 1
fi
