# Targets: build wap-duckdb demo demo-failures test explore network mutants check bench bench-upload microbench fuzz clean

GO ?= go
FUZZTIME ?= 30s
SCHEDULES ?= 100000
BENCHTIME ?= 1s
TABLES ?= 10000
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# The go tool leaves folders named testdata out of "./...".
PROGRAMS := ./testdata/demo ./testdata/ledger ./testdata/mutants
PACKAGES := ./... ./testdata $(PROGRAMS)

# Modules of their own: DuckDB is a library of C++, and wap is to need none.
ENGINES := cmd/wap-duckdb testdata/bench

.PHONY: build wap-duckdb demo demo-failures test explore network mutants check bench bench-upload microbench fuzz clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/wap ./cmd/wap

# The engine of `sql` assertions. Needs a C compiler.
wap-duckdb:
	cd cmd/wap-duckdb && CGO_ENABLED=1 $(GO) build -trimpath -ldflags '-s -w' -o ../../bin/wap-duckdb .

demo: build
	CGO_ENABLED=0 $(GO) build -o bin/orders ./testdata/demo
	@WAP=bin/wap GEN=bin/orders testdata/demo/demo.sh

demo-failures: build
	CGO_ENABLED=0 $(GO) build -o bin/ledger ./testdata/ledger
	@bin/ledger run -wap bin/wap

# Tests against object stores add their servers to a file whose name is new each
# time, so that no cached result stands in for them.
test: explore network
	@servers=$$(mktemp); \
	echo "$(GO) test -timeout 18m -skip '^(TestExplore|TestNetwork$$)' $(PACKAGES)"; \
	WAP_TEST_SERVERS=$$servers $(GO) test -timeout 18m -skip '^(TestExplore|TestNetwork$$)' $(PACKAGES); code=$$?; \
	echo "servers: $$(sort -u $$servers | paste -sd, - | sed 's/,/, /g')"; \
	[ -s $$servers ] || { echo "no test used an object store"; code=1; }; \
	rm -f $$servers; exit $$code
	@for module in $(ENGINES); do \
		echo "cd $$module && $(GO) test ./..."; \
		(cd $$module && CGO_ENABLED=1 $(GO) test -timeout 10m ./...) || exit 1; \
	done

# Every interleaving of the small scenarios, and a hundred thousand schedules of
# four clients, each a few minutes of two cores. A plain "go test" looks at the
# beginning of each.
explore:
	$(GO) test -count=1 -v -timeout 30m -run '^TestExplore' ./wap -explore.all -explore.n $(SCHEDULES)

# Commits through a network that fails, on each object store, and their number.
network:
	@out=$$(mktemp); $(GO) test -count=1 -v -timeout 18m -run '^TestNetwork$$' ./wap >$$out 2>&1; code=$$?; \
	if [ $$code = 0 ]; then grep -E 'cases on|^ok' $$out; else cat $$out; fi; rm -f $$out; exit $$code

# Breaks the commit protocol in every known way, and wants tests to fail.
mutants:
	$(GO) run ./testdata/mutants

check:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt wanted:"; echo "$$files"; exit 1; fi
	$(GO) vet $(PACKAGES)
	$(GO) tool staticcheck $(PACKAGES)
	@tool=$$($(GO) tool -n staticcheck); for module in $(ENGINES); do \
		echo "cd $$module && $(GO) vet ./... && staticcheck ./..."; \
		(cd $$module && export CGO_ENABLED=1 && $(GO) vet ./... && "$$tool" ./...) || exit 1; \
	done
	$(GO) mod tidy -diff
	$(GO) test -count=1 ./testdata

# The comparison with DuckDB. BENCHFLAGS='-rows 2000000 -repeat 1' is a quick look.
bench: build
	cd testdata/bench && $(GO) build -o ../../bin/bench . && CGO_ENABLED=1 $(GO) build -o ../../bin/duck ./duck
	bin/bench -wap bin/wap -duck bin/duck -flights ../shared/data/flights-3m.parquet $(BENCHFLAGS)
	$(MAKE) bench-upload

# 4 GiB to a MinIO on this machine, beside "aws s3 cp" (apt-get install awscli):
# UPLOADFLAGS='-bytes 1073741824 -repeat 1' is a quick look.
bench-upload: build .tools/minio
	cd testdata/bench && $(GO) build -o ../../bin/bench-upload ./upload
	bin/bench-upload -wap bin/wap -minio .tools/minio $(UPLOADFLAGS)

# The tests know which MinIO, and build it.
.tools/minio:
	$(GO) test -run TestServers/minio/wrong ./wap/store/storetest/s3test

microbench:
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

# One target a call is all that "go test -fuzz" takes.
fuzz:
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file func; do \
		name=$${func#func }; \
		echo "$$(dirname $$file) $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$(dirname $$file) || exit 1; \
	done
	cd testdata/bench && CGO_ENABLED=1 $(GO) test -count=1 -v -timeout 0 ./differential -differential.n $(TABLES) -differential.seed $$(date +%s)
	$(GO) test -count=1 -v -timeout 0 -run '^TestExploreRandom' ./wap -explore.n 1000000 -explore.seed $$(date +%s)

clean:
	rm -rf bin
