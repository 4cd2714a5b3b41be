# reeltree. The two commands a newcomer needs: make run, make test.
SHELL := /bin/bash
.DEFAULT_GOAL := build
.PHONY: run test build page lint fmt docs docs-check bench eval e2e e2e-short fuzz cover test-nocgo clean setup setup-test train minilm

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/reeltree/reeltree/cli.Version=$(VERSION)
GOFLAGS_BUILD := -trimpath -ldflags '$(LDFLAGS)'
TOOL := go tool -modfile=tools/go.mod
PAGE_SOURCES := $(shell find web/page -path web/page/node_modules -prune -o -type f -print 2>/dev/null)

## run: install what is missing, build, ingest VIDEO (or the demo), ask QUESTION, keep serving
run: build
	@scripts/run.sh

## build: bin/reeltree with the page embedded
build: setup page
	@echo 'building bin/reeltree'
	@GOEXPERIMENT=$(if $(filter amd64,$(shell go env GOARCH)),simd) go build $(GOFLAGS_BUILD) -o bin/reeltree .

page: web/static/dist/index.html

web/static/dist/index.html: $(PAGE_SOURCES)
	@if [ -d web/page/node_modules ]; then echo 'building the page'; cd web/page && npm run --silent build; fi

## test: everything that needs no network beyond the package registries
test: setup-test build
	@scripts/test.sh

setup:
	@scripts/setup.sh build

setup-test:
	@scripts/setup.sh test

## test-nocgo: every room builds and vets without C (the media worker then refuses)
test-nocgo:
	CGO_ENABLED=0 go vet ./...

## lint: formatters and linters, pinned in tools/go.mod
lint: setup
	go vet ./...
	$(TOOL) golangci-lint run ./...
	$(TOOL) golangci-lint fmt --diff ./...
	$(MAKE) --no-print-directory test-nocgo

fmt:
	$(TOOL) golangci-lint fmt ./...

## docs: rewrite the generated pages
docs: build
	@scripts/docs.sh

## docs-check: fails when a generated page is stale or a link is dead
docs-check: docs
	@git diff --exit-code -- docs README.md || { echo 'docs: generated pages were stale, commit what make docs wrote'; exit 1; }
	@scripts/docs-links.sh

## fuzz: 30 s for every fuzz target
fuzz: setup
	@scripts/fuzz.sh

cover: setup
	go test -coverprofile=bin/cover.out ./... && go tool cover -func=bin/cover.out | tail -1

## e2e-short: the real binary against real peers, part of .ci/run
e2e-short: setup-test build
	go test -race -count=1 -tags e2e -timeout 20m ./e2e/...

## eval: every benchmark task with its ablation, written into docs/results.md
eval: build
	@bench/eval.sh

## bench: index and embedder beside their peers, written into docs/performance.md
bench: build
	@bench/run.sh

clean:
	rm -rf bin web/static/dist

## minilm: fetch the sentence encoder of --embedder minilm and ONNX Runtime, 60 MB
minilm:
	@scripts/minilm.sh

## train: learn the weights in model/weights and retrieve/weights again (train/README.md)
train:
	@train/run.sh

## demo/talk.mp4: made again from demo/talk.txt (needs espeak-ng, imagemagick, ffmpeg)
demo/talk.mp4: demo/talk.txt demo/make.sh
	demo/make.sh
