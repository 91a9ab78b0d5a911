# warmroute. `make run` and `make test` are all a newcomer needs; `make help` lists the rest.
GO        ?= go
BIN       := bin/warmroute
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
# testdata is left out of ./..., and the official clients are driven from there
PKGS      := ./... ./testdata/conformance
FUZZTIME  ?= 10m
BENCHTIME ?= 1s
COUNT     ?= 1

.PHONY: help run build test test-faults check bench soak web fmt clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build, then the gateway over simulated vendors (no keys, nothing kept); ARGS='--listen 127.0.0.1:8081' passes flags
	$(BIN) demo $(ARGS)

build: web ## build bin/warmroute
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/warmroute

test: check ## everything a change must pass: checks, races, official clients against the built binary
	testdata/scripts/needs.sh
	$(GO) test -race -timeout 20m $(PKGS)
	$(GO) test -count 1 ./routes -run 'TestTheLedgerIsWhatTheVendorsBill'

test-faults: ## the built gateway through the faults of vendors and clients (testdata/faults); needs Linux, a few minutes
	$(GO) test -race -timeout 10m -parallel 12 ./testdata/faults

check: ## formatting, vet, staticcheck, catalog examples
	@unformatted=$$(find . -name '*.go' -not -path '*/node_modules/*' | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) vet $(PKGS) ./testdata/faults
	$(GO) tool staticcheck $(PKGS) ./testdata/faults
	@for catalog in testdata/catalogs/full.yaml testdata/catalogs/minimal.yaml; do \
	  $(GO) run ./cmd/warmroute check $$catalog >/dev/null || exit 1; done

bench: ## the figures of the hot path, in the format benchstat reads
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(COUNT) \
	  ./pricing ./catalog ./engine/... ./routes/...

soak: ## full-size runs: long fuzzing and long random facts (FUZZTIME each target)
	testdata/scripts/soak.sh $(FUZZTIME)

web: ## the dashboard's scripts; without npm it has no plots, without scripts it is whole all the same
	@GO=$(GO) web/build.sh

fmt: ## format the Go code
	find . -name '*.go' -not -path '*/node_modules/*' | xargs gofmt -w

clean: ## remove what building made
	rm -rf bin dist
