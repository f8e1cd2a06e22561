# Tandem is one static Go program. `make up` starts it, `make test` proves it; the rest is for people who change it.

GO       ?= go
PREFIX   ?= $(HOME)/.local
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS   = -s -w -X tandem/internal/cli.version=$(VERSION)
STATIC    = CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: up test documents test-tools build release man install bench soak freeze generate lint clean help

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

up: bin/tandem ## build and start everything, print where it is
	bin/tandem up --replace

test: test-tools ## install what the tests need, run all of them, and lint
	scripts/run-tests lint

documents: ## how many lines that the documents print are typed by tests, and which are not, each with its reason
	@CGO_ENABLED=0 $(GO) test -count=1 ./test/proof -run TestEveryBlockSaysHowItIsTested >/dev/null
	@cat test/proof/testdata/documents.txt

test-tools: ## install the programs the tests drive, where missing
	scripts/test-tools

build: ## build for Linux, macOS and Windows into dist/
	@set -e; mkdir -p dist; for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; out=dist/tandem-$$os-$$arch; \
		if [ $$os = windows ]; then out=$$out.exe; fi; \
		echo "$$out"; GOOS=$$os GOARCH=$$arch $(STATIC) -o $$out ./cmd/tandem; done

release: ## make VERSION=v0.3.0: its changelog, then archives for six platforms with checksums in dist/v0.3.0
	scripts/release $(if $(filter command line environment,$(origin VERSION)),'$(VERSION)')

man: bin/tandem ## write the manual pages into dist/man
	bin/tandem man dist/man

install: bin/tandem ## put the program, its manual and its completion below $(PREFIX)
	scripts/install --prefix '$(PREFIX)' bin/tandem

bench: ## measure, and write bench/RESULTS.md; ONLY=authority one part; AGAINST=COMMIT ROUNDS=5 ONLY=ask,bash beside another commit
	$(if $(AGAINST),,$(if $(filter workspaces% crowd,$(or $(ONLY),crowd)),./scripts/tools-seed))
	CGO_ENABLED=0 $(GO) run ./bench/run $(if $(ONLY),-only '$(ONLY)') $(if $(AGAINST),-against '$(AGAINST)' -rounds '$(or $(ROUNDS),5)')

soak: ## run long proofs whole: make soak ROOM=journal (or a folder: ROOM=./test/proof); ROOM=race: every test, with the race detector
	@test -n '$(ROOM)' || { echo 'say which room: make soak ROOM=journal'; exit 2; }
	$(if $(filter race,$(ROOM)),scripts/run-tests race,\
	TANDEM_SOAK=1 CGO_ENABLED=0 $(GO) test -count=1 -v -timeout 12h $(if $(filter ./%,$(ROOM)),$(ROOM)/...,./internal/$(ROOM)/...))

freeze: ## write the goldens of test/freeze anew, after a change that is intended
	CGO_ENABLED=0 $(GO) test -count=1 -run 'Frozen|Kept|Conformance' ./test/freeze ./internal/daemon -args -update

generate: ## make generated files again
	$(GO) generate ./...

lint: ## formatting, go vet, generated files, compiling for every platform
	scripts/lint

clean: ## remove what was built here
	rm -rf bin dist

.PHONY: bin/tandem # the go command knows best what is stale
bin/tandem:
	$(STATIC) -o $@ ./cmd/tandem
