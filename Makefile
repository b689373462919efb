# weir: `make run` serves, `make test` tests; both need nothing but Go.
GO          ?= go
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
NFPM        := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS     := -s -w -X github.com/weir-broker/weir/broker/cli.Version=$(VERSION)
export CGO_ENABLED = 0

.PHONY: build run test race check fmt interop bench release clean campaign-clients campaign-crash campaign-frames campaign-oracle campaign-assign campaign-groups campaign-clean

build:                ## bin/weir, one static binary
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/weir ./broker/cmd/weir

run: build            ## a broker on 127.0.0.1:9092 with no configuration
	./bin/weir dev

test:                 ## every test that needs only Go
	$(GO) test -timeout 10m ./...

race:                 ## the same under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 15m ./...

check:                ## format, vet, staticcheck, import list, tidy modules, licences, clean tree
	@out=$$($(GO) run $(GOFUMPT) -l .); [ -z "$$out" ] || { echo "not gofumpt-clean:"; echo "$$out"; exit 1; }
	$(GO) vet ./... && $(GO) vet -tags interop,campaign,failpoints ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./broker
	$(GO) mod tidy -diff
	python3 release/notice --check
	@[ -z "$$(git status --porcelain)" ] || { echo "the tree is not clean:"; git status --porcelain; exit 1; }

fmt:
	$(GO) run $(GOFUMPT) -w .

interop: build        ## Kafka 4.4's classes, tools and other people's clients against this build
	./interop/run

# Long campaigns: what they print belongs into docs/evidence. CI runs small versions of them.
campaign-clients: build   ## a million records per codec through six clients
	WEIR_INTEROP_RECORDS=1000000 ./interop/run -v -run TestEveryClient ./interop/clients
campaign-crash: build     ## 100 kills at random, 5 at each named failpoint; recovery of 10 GB
	$(GO) test -tags campaign -count=1 -v -timeout 60m -run TestAcked ./interop/crash
	WEIR_RECOVERY_GB=10 $(GO) test -tags campaign -count=1 -v -timeout 20m -run TestRecoveryTime ./interop/crash
campaign-crash: export WEIR_CRASH_ROUNDS = 100
campaign-crash: export WEIR_CRASH_PER_FAILPOINT = 5
campaign-clean: build     ## 50,000 random logs through Kafka's cleaner and ours, 20 live topics beside Kafka; 100 kills while logs are cleaned
	WEIR_CLEAN_CASES=50000 WEIR_CLEAN_LIVE=20 $(GO) test -tags interop -count=1 -v -timeout 180m ./interop/clean
	WEIR_CRASH_ROUNDS=60 WEIR_CRASH_PER_FAILPOINT=8 $(GO) test -tags campaign -count=1 -v -timeout 60m -run TestNewestValues ./interop/crash
campaign-frames:          ## 10 million mutated frames
	WEIR_FUZZ_FRAMES=10000000 $(GO) test -count=1 -v -timeout 20m -run TestMutatedFrames ./broker/api
campaign-oracle:          ## 200,000 batches and 200,000 idempotent sequences through Kafka's own classes
	WEIR_VALIDATE_CASES=200000 WEIR_IDEMPOTENCE_SEQUENCES=200000 $(GO) test -tags interop -count=1 -v -timeout 40m ./interop/validate ./interop/idempotence
campaign-assign:          ## 100,000 groups through Kafka's server-side assignors, 500,000 steps through its reconciliation
	WEIR_ASSIGN_CASES=100000 WEIR_RECONCILE_CASES=500000 $(GO) test -tags interop -count=1 -v -timeout 60m ./interop/assign ./interop/reconcile

campaign-groups:          ## 20,000 runs of classic groups and of consumer groups and 200,000 group records beside Kafka's coordinator
	WEIR_GROUPS_CASES=20000 WEIR_GROUPS_RECORDS=200000 $(GO) test -tags interop -count=1 -v -timeout 60m ./interop/groups

bench:                ## Go benchmarks of the hot path
	$(GO) test -run '^$$' -bench . -benchmem ./broker/batch ./broker/commitlog ./broker/partition ./broker/api ./broker/policy

release: clean        ## static amd64 and arm64 binaries, .deb packages, checksums
	./release/build $(VERSION)

clean:
	rm -rf bin dist
