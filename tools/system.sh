#!/usr/bin/env bash
# Install chromium, ffmpeg and graphviz where we are root on Debian and they are missing.
set -euo pipefail
missing=()
command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
command -v ffmpeg >/dev/null || missing+=(ffmpeg)
command -v dot >/dev/null || missing+=(graphviz)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "==> not installing ${missing[*]} (not root on Debian): the tests that need them will skip"
  exit 0
fi
echo "==> installing ${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
