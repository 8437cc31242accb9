# check is what a change must pass besides the tests; live needs Node and npm,
# and downloads its peers once into the user's cache folder.
.PHONY: check test live bench update

check:
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	go mod tidy -diff
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go test ./internal/floors

test:
	go test ./...

live:
	@cache=$$(internal/live/install.sh) && test -n "$$cache" && \
	TOOLPOST_LIVE=$$cache go test -count=1 -v -timeout 20m ./internal/live/...

bench:
	go test -run '^$$' -bench . -benchmem ./...

# update rewrites the golden files of all tests; read the diff.
update:
	TOOLPOST_UPDATE=1 go test -count=1 ./...
