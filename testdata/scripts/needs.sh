#!/usr/bin/env bash
# Says what this machine has for the tests that need more than Go; fetches what it can.
# A test whose need is not met says so itself and skips.
set -euo pipefail
cd "$(dirname "$0")/../conformance/js"
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "needs: no node or npm here; the npm clients will not be tested"
  exit 0
fi
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || {
  echo "needs: node $(node --version) is older than 20; the npm clients will not be tested"
  exit 0
}
npm ci --no-audit --no-fund --loglevel=error || echo "needs: npm could not fetch the clients; they will not be tested"
