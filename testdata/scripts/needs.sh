#!/usr/bin/env bash
# Says what this machine has for the tests that need more than Go, and fetches what it can:
# the npm clients, the browser tests' packages, and chromium where apt can install it.
# A test whose need is not met says so itself and skips.
set -uo pipefail
cd "$(dirname "$0")/../.."

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "needs: no node or npm here; the npm clients and the pages in a browser will not be tested"
  exit 0
fi
if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)'; then
  echo "needs: node $(node --version) is older than 20; the npm clients and the pages in a browser will not be tested"
  exit 0
fi

# fetch DIR WHAT: the packages of a folder, once for each lock file
fetch() {
  if [ -d "$1/node_modules" ] && [ "$1/node_modules/.tested" -nt "$1/package-lock.json" ]; then return; fi
  if (cd "$1" && npm ci --no-audit --no-fund --loglevel=error >/dev/null); then
    touch "$1/node_modules/.tested"
  else
    echo "needs: npm could not fetch $2; they will not be tested"
  fi
}
fetch testdata/conformance/js "the npm clients"
fetch web "the browser tests' packages"

if [ ! -x /usr/bin/chromium ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1
  fi
  [ -x /usr/bin/chromium ] || echo "needs: no /usr/bin/chromium, and apt cannot install it here; the pages will not be tested in a browser"
fi
exit 0
