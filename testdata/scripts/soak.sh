#!/usr/bin/env bash
# Every fuzz target for the given time, one after the other, then the random facts and prices at length, then the timing of keys.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-10m}
for pkg in $(go list ./...); do
  dir=.${pkg#github.com/warmroute/warmroute}
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null | sed 's/func //'); do
    echo "== $pkg $target $time"
    go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time"
  done
done
WARMROUTE_FACTS=5000000 go test ./engine -run 'TestDecideHoldsItsPromises' -count 1 -v -timeout 30m
WARMROUTE_TEST_LONG=1 go test ./engine/badgerstore -run 'TestNothingSettledIsLostOrDoubledByKills' -count 1 -v -timeout 30m
WARMROUTE_KILLS=50 go test ./cmd/warmroute -run 'TestTheLedgerSurvivesBeingKilledUnderLoad' -count 1 -v -timeout 30m
WARMROUTE_PRICES=1000000 go test ./catalog -run 'TestEveryCostIsThatOfTheYAMLInFractions' -count 1 -v -timeout 30m
go test -tags soak ./routes -run 'TestTheTimeOfAKey' -count 1 -v
