# check is what a change must pass besides the tests. It vets everything, so tests that CI
# runs are not vetted again, which would take minutes of processor time. live needs Node and npm,
# and downloads its peers once into the user's cache folder.
.PHONY: warm check weight api test fuzz invariants live agent-peers claude-peers redmine-peers bench bench-search bench-hop bench-costs bench-instructions callpath soak update release

# UNDEBUGGED leaves out debug information, a tenth of the time of a build, where nobody
# keeps what is built.
UNDEBUGGED = -gcflags=all=-dwarf=false -ldflags="-s -w"

check:
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	go mod tidy -diff
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go test -vet=off ./dev/floors
	go -C sdk mod tidy -diff
	go -C sdk vet ./...
	go -C sdk tool -modfile=../tools/go.mod staticcheck ./...
	go -C sdk test -vet=off ./...
	@# "go list -export" compiles what "go build" does, but links none of the programs: one is enough.
	for os in darwin windows; do \
		GOOS=$$os go list -export $(UNDEBUGGED) ./... >/dev/null && \
		GOOS=$$os go build $(UNDEBUGGED) -o /dev/null ./cmd/toolpost || exit 1; \
	done
	GOARCH=386 go vet -gcflags=all=-dwarf=false ./...
	@$(MAKE) --no-print-directory weight

# weight prints the size of the program, the download of the modules that it links,
# what its start costs, and what programs cost that use parts of the library. It fails above the limits of dev/weight, and when code may
# call any method by name: the linker then keeps the methods of all types, a third of
# the program. FLAGS="-modules 10" lists the largest modules.
weight:
	go run ./dev/weight $(FLAGS)

# api counts the exported names of each public package. FLAGS=-list prints them with their
# signatures, UPDATE=1 records these in docs/evidence/api.txt, SINCE=v1.0.0 prints what has
# changed since a revision, breaking changes first.
api:
	@go run ./dev/api $(if $(UPDATE),-update) $(if $(SINCE),-since $(SINCE)) $(FLAGS)

test:
	go test ./...

# fuzz runs every fuzz target for FUZZTIME, one after the other.
FUZZTIME ?= 30s
fuzz:
	@failed=0; \
	for target in $$(grep -r --include='*_test.go' '^func Fuzz' . | sed 's|/[^/]*:func |:|; s|(.*||' | sort); do \
		folder=$${target%:*}; name=$${target#*:}; \
		if log=$$(go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$folder" 2>&1); then \
			echo "ok   $$folder $$name $$(printf '%s' "$$log" | sed -n 's/.*\(execs: [0-9]*\).*/\1/p' | tail -n 1)"; \
		else \
			echo "FAIL $$folder $$name"; printf '%s\n' "$$log"; failed=1; \
		fi; \
	done; exit $$failed

# invariants draws DRAWS values of each schema for each dialect, and writes
# docs/evidence/invariants.md.
DRAWS ?= 1000
invariants:
	TOOLPOST_DRAWS=$(DRAWS) go test -count=1 -timeout 60m ./dev/invariants

# What failed is said again at the end, because CI may show no more than that. The
# FAULT_RUNS conversations with fake providers that fail, and the KILLS, take two minutes.
# What is too slow for the race detector runs here without it.
FAULT_RUNS ?= 10000
KILLS ?= 200
live:
	@set -e; cache=$$(dev/live/install.sh); test -n "$$cache"; log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	{ TOOLPOST_FAULT_RUNS=$(FAULT_RUNS) go test -vet=off -count=1 -run '^(TestFaults|TestHistories|TestExactLargeBytes)' ./dev/e2e && \
	TOOLPOST_KILLS=$(KILLS) go test -vet=off -count=1 -run '^TestKill' ./agent ./store && \
	TOOLPOST_LIVE=$$cache go test -vet=off -count=1 -v -timeout 30m ./dev/release ./dev/live/... && echo "live: passed"; } 2>&1 | tee "$$log"; \
	tail -n 1 "$$log" | grep -q '^live: passed$$' || { \
		echo; grep -aE -A 9 '^ *--- FAIL|^panic: |^FAIL' "$$log" | cut -c 1-300 | head -n 60; exit 1; }

# warm measures a start over ten servers, one of which takes 20 seconds, and one over
# three, with the program as it is released.
warm:
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o "$$dir/toolpost" ./cmd/toolpost; \
	go build -o "$$dir/fixture" ./dev/fixture/program; \
	TOOLPOST_BINARY="$$dir/toolpost" TOOLPOST_FIXTURE="$$dir/fixture" TOOLPOST_SLOW=20s go test -count=1 ./cmd/toolpost -run TestWarmStart -bench FirstList -benchtime 30x -v | grep -E 'want|cold|^(---|ok|FAIL)|median'

# agent-peers compares the agent loop with others on a model on loopback, and
# writes the table of docs/evidence/agent-peers.md.
agent-peers:
	go -C dev/bench/agentpeers run . -doc ../../../docs/evidence/agent-peers.md

# claude-peers compares the Claude Agent SDK with others on the real CLI, and
# writes the table of docs/evidence/claude-peers.md.
claude-peers:
	@cache=$$(dev/live/install.sh dev/live/peers.txt dev/bench/claudepeers/pypi.txt) && test -n "$$cache" && \
	go -C dev/bench/claudepeers run . -doc ../../../docs/evidence/claude-peers.md -python "$$(ls "$$cache"/pypi-claude-agent-sdk-*/bin/python | tail -n 1)" \
		-cli "$$(ls "$$cache"/claude-code-*/node_modules/@anthropic-ai/claude-code-*/claude | tail -n 1)"

# redmine-peers compares the Redmine tools with other Redmine servers on a real
# Redmine, and writes the table of docs/evidence/redmine-peers.md. FLAGS=-v prints the answers.
redmine-peers:
	@set -e; folder=$$(mktemp -d); up=dev/live/testdata/redmine; \
	trap 'REDMINE_DIR="$$folder/redmine" PURGE=1 bash $$up/down.sh; rm -rf "$$folder"' EXIT; \
	cache=$$(dev/live/install.sh /dev/null dev/bench/redminepeers/pypi.txt); test -n "$$cache"; \
	go build -o "$$folder" ./cmd/toolpost ./dev/bench/redminepeers; \
	REDMINE_DIR="$$folder/redmine" PORT=$(or $(PORT),3998) bash $$up/up.sh >"$$folder/env"; \
	set -a; . "$$folder/env"; set +a; \
	"$$folder/redminepeers" -toolpost "$$folder/toolpost" -cache "$$cache" -doc docs/evidence/redmine-peers.md $(FLAGS)

bench:
	go test -run '^$$' -bench . -benchmem ./...

# bench-search compares storing, reading and searching with cat and ripgrep, in
# processes of their own.
bench-search:
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	go build -o "$$folder" ./dev/bench/search && "$$folder/search" -rounds $(or $(ROUNDS),15)

# bench-hop measures the built "toolpost serve" beside a direct call, a reverse
# proxy and a naive aggregator; docs/evidence/performance.md describes its variables:
# CELLS, ROUNDS, DURATION, RAW, DOC, PROFILE, TOOLPOST, PEERS, SESSIONS, FLAGS.
DURATION ?= 2s
bench-hop:
	@$(if $(PEERS),peers=$$(dev/bench/hop/install.sh) &&) \
	go -C dev/bench/hop run . -cells "$(CELLS)" -rounds $(or $(ROUNDS),5) -duration $(DURATION) \
		-raw "$(abspath $(RAW))" -doc "$(abspath $(DOC))" -profile "$(abspath $(PROFILE))" -toolpost "$(TOOLPOST)" \
		-peers "$$peers" -sessions $(or $(SESSIONS),0) $(FLAGS)

# bench-costs compares the allocations, the system calls and the copied bytes of a call
# with those in dev/bench/hop/costs.txt; UPDATE=1 records them there. Linux only.
bench-costs:
	go -C dev/bench/hop run . -costs costs.txt $(if $(UPDATE),-update)

# bench-instructions compares the instructions of a call, counted by valgrind's
# callgrind, with those in dev/bench/hop/instructions.txt; UPDATE=1 records them there.
# TOOLPOST=old=FILE,new=FILE counts those of these builds.
bench-instructions:
	go -C dev/bench/hop run . -instructions instructions.txt -toolpost "$(TOOLPOST)" $(if $(UPDATE),-update)

# callpath lists the functions that one call enters, and which of them wait for its answer.
callpath:
	go run ./dev/callpath $(FLAGS)

# soak runs the built "toolpost serve" under many clients and disturbs its servers;
# DOC=docs/evidence/soak.md writes the tables and the plot there. Linux only.
SOAK ?= 10m
soak:
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	go build -o "$$folder" ./cmd/toolpost ./dev/soak && \
	"$$folder/soak" -toolpost "$$folder/toolpost" -time $(SOAK) -clients $(or $(CLIENTS),200) -doc "$(abspath $(DOC))"

# update rewrites the golden files of all tests; read the diff.
update:
	TOOLPOST_UPDATE=1 go test -count=1 ./...

# release builds the archives of all platforms, SBOMs, checksums and packages into
# dist, of the tag of the commit or of VERSION; TOOLPOST_SIGNING_KEY signs the checksums.
VERSION ?=
release:
	go run ./dev/release -version "$(VERSION)" -out dist
