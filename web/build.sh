#!/usr/bin/env bash
# Builds the dashboard's scripts into web/dist, from where they are embedded.
# What is missing is said and left out: the pages are whole without scripts, and
# a build never fails for want of a network.
set -uo pipefail
cd "$(dirname "$0")"

# stale SOURCE... BUILT: whether a source is newer than what was built from it
stale() {
  local built="${!#}"
  [ -s "$built" ] || return 0
  for source in "${@:1:$#-1}"; do
    [ "$source" -nt "$built" ] && return 0
  done
  return 1
}

esbuild() {
  "${GO:-go}" tool esbuild "$@" --bundle --minify --format=esm --target=es2022 --legal-comments=linked --log-level=warning
}

if stale src/live.ts build.sh dist/live.js; then
  esbuild src/live.ts --outfile=dist/live.js || { rm -f dist/live.js; echo "no esbuild: the dashboard does not refresh itself"; }
fi

stale src/plots.ts package-lock.json build.sh dist/plots.js || exit 0
if ! command -v npm >/dev/null; then
  echo "no npm: the dashboard has no plots"
  exit 0
fi
if stale package-lock.json node_modules/.package-lock.json || [ ! -d node_modules/uplot ]; then
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error || { echo "npm could not fetch uplot: the dashboard has no plots"; exit 0; }
fi
esbuild src/plots.ts --outfile=dist/plots.js || { rm -f dist/plots.js dist/plots.css; echo "no esbuild: the dashboard has no plots"; }
exit 0
