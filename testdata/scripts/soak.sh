#!/usr/bin/env bash
# Every fuzz target for the given time, one after the other, then the random facts, tenants and prices at length, 10,000 reloads, then the timing of keys.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-10m}
for pkg in $(go list ./...); do
  dir=.${pkg#github.com/warmroute/warmroute}
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null | sed 's/func //'); do
    echo "== $pkg $target $time"
    go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10s
  done
done
WARMROUTE_FACTS=5000000 go test ./engine -run 'TestDecideHoldsItsPromises' -count 1 -v -timeout 30m
WARMROUTE_STEPS=1000000 go test ./engine -run 'TestOneTenantDoesNotSeeAnother' -count 1 -v -timeout 2h
WARMROUTE_TEST_LONG=1 go test ./engine -run 'TestThreeTurnsOverlapInEveryOrder' -count 1 -v -timeout 30m
WARMROUTE_TEST_LONG=1 go test ./engine/badgerstore -run 'TestNothingSettledIsLostOrDoubledByKills' -count 1 -v -timeout 30m
WARMROUTE_KILLS=200 go test ./cmd/warmroute -run 'TestTheLedgerSurvivesBeingKilledUnderLoad' -count 1 -v -timeout 60m
WARMROUTE_PRICES=1000000 go test ./catalog -run 'TestEveryCostIsThatOfTheYAMLInFractions' -count 1 -v -timeout 30m
WARMROUTE_TEST_LONG=1 go test ./catalog -run 'TestASchemaRefusesNothingThatIsGood' -count 1 -v -timeout 60m
WARMROUTE_RELOADS=10000 WARMROUTE_RELOAD_MODELS=500 go test ./routes -run 'TestReloadsUnderTraffic' -count 1 -v -timeout 3h
WARMROUTE_TURNS=1000000 go test ./routes -run 'TestTheLedgerIsWhatTheVendorsBill' -count 1 -v -timeout 6h
WARMROUTE_CONVERSATIONS=100 go test ./routes -run 'TestMarkersPlacedForAClientReadAsMuchAsByHand' -count 1 -v -timeout 60m
go test -tags soak ./routes -run 'TestTheTimeOfAKey' -count 1 -v
