#!/usr/bin/env bash
# Installs what building and testing reeltree needs and this machine lacks.
#
#   scripts/setup.sh build   FFmpeg's libraries and headers, a C compiler, the page's npm packages
#   scripts/setup.sh test    the above, the FFmpeg command (to make clips) and Chromium, unless CHROMIUM names a browser
#
# It says what it does. Where it may not install, it prints the commands and exits 1.
set -euo pipefail
cd "$(dirname "$0")/.."
want=${1:-build}

build_packages=(gcc libc6-dev pkg-config libavcodec-dev libavformat-dev libavutil-dev libswscale-dev
  libswresample-dev libavfilter-dev libavdevice-dev libpostproc-dev)
test_packages=(ffmpeg)
[ -n "${CHROMIUM:-}" ] || test_packages+=(chromium)

fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf '%s\n' "$package"
  done
}

install_packages() {
  local missing root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  local commands="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then root=(sudo -n)
    else fail "these Debian packages are missing and need root to install; run: sudo sh -c '$commands'"; fi
  fi
  echo "setup: installing Debian packages: ${missing[*]}"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >/dev/null ||
    fail "the package lists could not be refreshed; run: $commands"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "the packages could not be installed; run: $commands"
}

command -v go >/dev/null || fail 'Go 1.21 or newer is missing; run: apt-get install -y golang-go (from bookworm-backports), or unpack a Go release into /usr/local'
command -v dpkg-query >/dev/null || fail "this is not Debian; install FFmpeg 5.1's development files and pkg-config by hand, then run: make build"

case "$want" in
  build) install_packages "${build_packages[@]}" ;;
  test) install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
  *) fail "want build or test, not $want" ;;
esac

if [ ! -f web/page/package-lock.json ]; then exit 0; fi
if ! command -v node >/dev/null; then
  [ "$want" = build ] && { echo 'setup: Node is missing, so the plain page is built in; for the full page install Node 20.19 or newer'; exit 0; }
  fail 'Node 20.19 or newer is missing; run: apt-get install -y nodejs npm (from a newer suite), or unpack a Node release into /usr/local'
fi
if [ ! -d web/page/node_modules ] || [ web/page/package-lock.json -nt web/page/node_modules/.package-lock.json ]; then
  echo 'setup: installing the npm packages of the page'
  (cd web/page && npm ci --no-audit --no-fund --loglevel=error) || fail 'npm packages could not be installed; run: (cd web/page && npm ci)'
fi
