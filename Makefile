# Needs Go (the version in go.mod), a C and a C++ compiler, and Python with pip
# or npm; `make test` needs Python 3.11 with pip, and `make test-all` also npm and a
# JDK, and installs Chromium, Maven and others from Debian.
# `make help` lists the targets.

# The folder with the data for training and comparison; see `make train`.
DATA ?= ../shared/data
# How long each fuzz target runs in `make test-all`.
FUZZTIME ?= 10s
# The slowest suites that `make test-all` runs after the others. CI takes turns.
SUITES ?= test-training test-programs release-test
# Number of texts in the set of `make bench` and `make bench-serve` that is not like real traffic.
TEXTS ?= 5000
# Number of short rows that `make bench` scores with the default model.
ROWS ?= 200000
# How many minutes `make bench-serve` measures the server's memory.
MINUTES ?= 30
# How many minutes `make train` trains: nearly half for a teacher, and as many for the network that it writes.
TRAIN_MINUTES ?= 1440
# The default model.
MODEL := models/toxicity-en
# What `make eval-model` and `make bench-pii` measure, on dev or test rows, at most SAMPLE per source
# (empty: all); for comparison, BASELINE is the folder of an earlier model,
# BASELINE_BINARY the toxscreen of its version, and AGAINST a file with the same weights in another precision.
FOLDER ?= $(MODEL)
SPLIT ?= dev
SAMPLE ?=
BASELINE ?=
BASELINE_BINARY ?=
AGAINST ?=

PAGE_TESTS := server/page/testdata

GOLANGCI_LINT_VERSION := 2.15.0
ACTIONLINT_VERSION := 1.7.12
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
PYTHON := .venv/bin/python
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-cache-dir
VENV := .venv/installed
SERVERS := .venv/servers-installed
PRESIDIO := .venv/presidio-installed
# All scripts except those that are installed separately: the clients, the tools for evaluation,
# what reads queues, a release, and the servers that `make bench-serve` compares with.
REQUIREMENTS := $(filter-out scripts/clients/% scripts/tools/% scripts/bench/serve/% scripts/release/% scripts/streams/%,$(sort $(shell find scripts training -name requirements.txt)))

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Set up everything and score two texts
	bin/toxscreen score "Thank you, that was a great help."
	bin/toxscreen score "You are a stupid idiot, and so is your edit."

.PHONY: build
build: library ## Build bin/toxscreen
	go build -trimpath -o bin/toxscreen ./cmd/toxscreen

.PHONY: library
library: tools ## Put ONNX Runtime's library into the user's cache
	@go run ./scripts/get-onnxruntime

.PHONY: ollama
ollama: tools ## Build a real Ollama server into the user's cache, for tests (5 minutes, once)
	@go run ./scripts/get-ollama

.PHONY: smollm2
smollm2: tools ## Put the small model SmolLM2 into the user's cache, for test-all
	@go run ./scripts/get-ollama -smollm2

# Debian's build, since it gets security updates. The tests measure the page and do
# not compare it with a picture, so the browser's version may change.
.PHONY: chromium
chromium: ## Install Debian's Chromium, as root, and axe-core, for the tests of the playground in test-all
	@$(call debian,chromium,chromium)
	@command -v npm >/dev/null || { echo "npm is missing: install Node" >&2; exit 1; }
	npm ci --prefix $(PAGE_TESTS) --ignore-scripts --no-audit --no-fund --loglevel=error

# The Ollama server takes one core the first time, so the rest is compiled and installed beside it.
.PHONY: test
test: ## All tests needed to trust the build (minutes; 5 more the first time)
	@$(MAKE) -j2 library ollama packages build/python/installed
	go test -race -timeout 20m ./...
	@$(MAKE) test-python

.PHONY: test-all
test-all: test build smollm2 chromium strace data $(VENV) ## Also the slow tests: everything, or some of SUITES (needs DATA)
	TOXSCREEN_PYTHON=$(abspath $(PYTHON)) TOXSCREEN_DATA=$(abspath $(DATA)) go test -tags slow -timeout 30m ./...
	go test -C scripts/bench/serve .
	@for suite in $(SUITES); do $(MAKE) $$suite; done

.PHONY: test-training
test-training: data $(VENV) ## Test training and scripts in Python, prove the splits, and fuzz (needs DATA)
	DATA_FOLDER=$(abspath $(DATA)) $(PYTHON) -m pytest -q scripts training
	$(PYTHON) training/check_splits.py $(DATA)
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: test-programs
test-programs: ## Test toxscreen among other programs: clients, Spark, Kafka and NATS
	@$(MAKE) test-clients
	@$(MAKE) test-spark
	@$(MAKE) test-streams

.PHONY: test-python
test-python: python-package ## Type-check and test the Python package (needs pip, 0.6 GB in build/)
	cd python && ../build/python/bin/mypy && ../build/python/bin/ruff check && ../build/python/bin/ruff format --check
	cd python && ../build/python/bin/pytest -q

.PHONY: test-spark
test-spark: python-package build/python/spark-installed ## Test Spark on a cluster of its own (needs a JDK, 0.6 GB in build/)
	cd python && ../build/python/bin/pytest -q -m slow

.PHONY: test-streams
test-streams: python-package build/python/streams-installed build/streams/kafka build/streams/nats-server ## Test what reads Kafka and NATS, beside real ones (needs a JDK and Maven, 0.1 GB more in build/)
	build/python/bin/pytest -q scripts/streams

.PHONY: test-clients
test-clients: library ## Test other systems' clients against the server (needs pip and npm, 1.3 GB in build/)
	cd scripts/clients/go && go vet .
	go test -tags clients -count=1 -timeout 30m -v ./scripts/clients

.PHONY: test-tools
test-tools: library ## Test other systems' tools for evaluation against the server (needs pip and npm, 2 GB in build/)
	go test -tags evaltools -count=1 -v -timeout 60m ./scripts/tools

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check the code's style with the pinned golangci-lint, and the workflow with actionlint
	$(GOLANGCI_LINT) run ./...
	go run github.com/rhysd/actionlint/cmd/actionlint@v$(ACTIONLINT_VERSION) -shellcheck= .github/workflows/*.yml

.PHONY: bench
bench: build bench-sets bench-answers ## Measure the figures of docs/benchmarks.md (needs DATA, an idle machine and an hour; half an hour more the first time)
	go build -o build/bench/worker ./scripts/bench/worker
	$(PYTHON) scripts/bench/early.py --worker build/bench/worker $(foreach set,natural github chat answers texts,build/bench/$(set).jsonl)
	$(PYTHON) scripts/bench/plain.py --worker build/bench/worker --model build/bench/whole --plain build/bench/plain.onnx --json build/bench/plain.json build/bench/natural.jsonl build/bench/texts.jsonl
	for texts in natural texts; do \
	  $(PYTHON) scripts/bench/compare.py --worker build/bench/worker --model build/bench/whole --texts build/bench/$$texts.jsonl; \
	done
	TOXSCREEN_TEXTS=build/bench/texts.jsonl go test -run '^$$' -bench EndToEnd -benchtime 1x -count 3 ./encoder
	go run ./scripts/bench/tokenize -python $(PYTHON) -data $(DATA) $(MODEL)/tokenizer.json
	$(PYTHON) scripts/bench/length.py --worker build/bench/worker --texts build/bench/texts.jsonl
	$(PYTHON) scripts/bench/start.py --binary bin/toxscreen
	$(PYTHON) scripts/bench/batch.py --binary bin/toxscreen --rows 1000000 --folder build/bench --model testdata/models/tiny
	$(PYTHON) scripts/bench/batch.py --binary bin/toxscreen --rows $(ROWS) --folder build/bench

.PHONY: bench-serve
bench-serve: build bench-sets $(SERVERS) ## Measure toxscreen serve, alone and against Python servers (needs DATA, an idle machine and MINUTES and an hour)
	go build -C scripts/bench/serve -o $(abspath build/bench/serve) .
	TOXSCREEN_TEXTS=build/bench/chat.jsonl go test -run '^$$' -bench SharedRuns -benchtime 1x -count 3 ./encoder
	build/bench/serve -minutes $(MINUTES) $(foreach set,natural chat github texts,build/bench/$(set).jsonl)
	build/bench/serve -background build/bench/natural.jsonl build/bench/chat.jsonl
	build/bench/serve -compare scripts/bench/serve/compare -python $(PYTHON) -turns 10 -piece 200 build/bench/natural.jsonl build/bench/chat.jsonl

.PHONY: bench-python
bench-python: build bench-sets $(SERVERS) ## Measure the Python package beside batch and beside Detoxify's architecture (needs DATA and an idle machine)
	PYTHONPATH=python/src $(PYTHON) scripts/bench/python.py --binary bin/toxscreen --texts build/bench/natural.jsonl --texts build/bench/chat.jsonl --bert 128

.PHONY: bench-pii
bench-pii: build data $(PRESIDIO) ## Measure personal data beside Presidio, the figures of docs/personal-data.md (needs DATA and an idle machine)
	$(PYTHON) scripts/bench/pii.py --toxscreen bin/toxscreen --data $(DATA) --split $(SPLIT) --json build/bench-pii.json
	go test -run '^$$' -bench Find -benchtime 2s -count 3 ./pii

.PHONY: train-entities
train-entities: data $(VENV) ## Train the network of names from DATA into build/entities (an hour on two cores)
	$(PYTHON) training/entities_data.py --data $(DATA) > /dev/null
	$(PYTHON) training/entities.py --data $(DATA) --out build/entities
	$(PYTHON) training/entities_export.py --data $(DATA) --out build/entities --folder build/entities/entities-en

# From the base model, with what DATA has. If it is stopped, the same command continues; remove build/train after a change of DATA.
.PHONY: train
train: data $(VENV) ## Train a model like the default one from DATA into build/train/toxicity-en (TRAIN_MINUTES, and the steps around it)
	$(PYTHON) training/check_splits.py $(DATA)
	$(PYTHON) training/remote/pack.py --data $(DATA) --out build/train/remote --base minilm
	$(PYTHON) build/train/remote/train.py --minutes $(TRAIN_MINUTES) --out build/train/weights --teachers minilm --pupils minilm
	$(PYTHON) training/export.py --data $(DATA) --out build/train --weights build/train/weights --name pupil-1-minilm
	$(PYTHON) training/thresholds.py --data $(DATA) --folder build/train/toxicity-en
	$(PYTHON) training/windows.py --data $(DATA) --folder build/train/toxicity-en
	$(PYTHON) training/exits.py --data $(DATA) --folder build/train/toxicity-en --out build/train/exits

.PHONY: eval-model
eval-model: build data $(VENV) ## Measure FOLDER against its goals and other systems (needs DATA; SAMPLE=500 is quick)
	$(PYTHON) training/evaluate.py --data $(DATA) --folder $(FOLDER) --split $(SPLIT) --json build/eval-model.json \
	  $(if $(SAMPLE),--rows $(SAMPLE)) $(if $(BASELINE),--baseline $(BASELINE)) $(if $(BASELINE_BINARY),--baseline-binary $(BASELINE_BINARY)) $(if $(AGAINST),--against $(AGAINST))

.PHONY: same
same: build data ## Compare the results of bin/toxscreen with those of BASELINE_BINARY on 1,200 texts of DATA
	python3 scripts/bench/same.py --data $(DATA) --before $(BASELINE_BINARY) --after bin/toxscreen

SIMULATED = $(if $(SAMPLE),build/simulate,docs/fusion)

.PHONY: simulate
simulate: build data $(VENV) ## Make the tables and the plots of docs/fusion/ (needs DATA; SAMPLE=700 is quick, and goes to build/)
	mkdir -p build/simulate
	for split in dev test; do \
	  $(PYTHON) scripts/bench/simulate/rows.py --data $(DATA) --split $$split --out build/simulate/$$split.jsonl $(if $(SAMPLE),--rows $(SAMPLE)); \
	  bin/toxscreen batch --no-judge --full --overwrite -i build/simulate/$$split.jsonl -o build/simulate/$$split-both.jsonl; \
	  grep '"id":"jigsaw/' build/simulate/$$split-both.jsonl > build/simulate/$$split-jigsaw.jsonl; \
	done
	for rows in jigsaw both; do \
	  go run ./scripts/bench/simulate -dev build/simulate/dev-$$rows.jsonl -test build/simulate/test-$$rows.jsonl \
	    -plot $(SIMULATED)/$$rows.svg | tee $(SIMULATED)/$$rows.md; \
	done
	TOXSCREEN_DATA=$(abspath $(DATA)) go test -tags slow -timeout 5h ./screen -run TestSimulatedJudges -count 1 \
	  -rows $(or $(SAMPLE),0) -seeds $(if $(SAMPLE),2,20) -table $(abspath $(SIMULATED))/self-test.md
	for attacks in tuning measured; do \
	  go test -tags slow -timeout 1h ./screen -run TestAttacks -count 1 -attacks $$attacks.jsonl -carriers $(if $(SAMPLE),1,4) \
	    -table $(abspath $(SIMULATED))/attacks-$$attacks.md; \
	done

.PHONY: picture
picture: build chromium ## Make the picture of the playground in README.md from the real page
	go run ./scripts/make/picture -binary bin/toxscreen -o docs/playground.png

ZIG := $(abspath build/release/zig/bin/python) -m ziglang

.PHONY: release
release: tools mmdebstrap build/release/zig/installed ## Make the archives, Debian packages, wheels and images of a release in dist/ (1 GB in build/ and Go's cache)
	go build -C scripts/release -o $(abspath build/release/release) .
	build/release/release -zig "$(ZIG)" -o dist

.PHONY: release-test
release-test: release confinement ## Make a release, make it again, try it on a bare Debian (needs namespaces; 12 minutes, 20 for some commits)
	go test -C scripts/release -tags release -count 1 -timeout 40m . -zig "$(ZIG)"

.PHONY: wheel
wheel: tools ## Make the Python package for this machine in build/wheel/
	rm -rf build/wheel
	python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel ./python

.PHONY: clean
clean: ## Remove the output of these targets, except in the user's cache
	rm -rf bin build dist .venv python/build

# The targets below are prerequisites of those above.

.PHONY: tools
tools:
	@command -v go >/dev/null || { echo "Go is missing: install the version that go.mod names" >&2; exit 1; }
	@command -v "$$(go env CC)" >/dev/null || { echo "A C compiler is missing: ONNX Runtime's binding needs cgo; install gcc or clang" >&2; exit 1; }

.PHONY: packages
packages: tools
	go vet ./...
	go build -race ./...

# The sets of texts, and the network in one file for Python.
.PHONY: bench-sets
bench-sets: data $(VENV)
	$(PYTHON) scripts/bench/texts.py --data $(DATA) --model $(MODEL) --count $(TEXTS) --out build/bench
	$(PYTHON) scripts/bench/whole.py --model $(MODEL) --out build/bench/whole

# The set of a language model's answers takes long, and is only made if it is not complete.
.PHONY: bench-answers
bench-answers: data ollama smollm2
	mkdir -p build/bench
	TOXSCREEN_DATA=$(abspath $(DATA)) go test -tags slow -timeout 3h -count 1 -v ./scripts/bench/answers -run '^TestAnswers$$' \
	  -out $(abspath build/bench/answers.jsonl)

# debian installs a package of Debian if a program is missing.
debian = command -v $(1) >/dev/null || { command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq --no-install-recommends $(2); } || \
  { echo "$(1) is missing: install it, on Debian as root with apt-get install $(2)" >&2; exit 1; }

# Shows what the server connects to.
.PHONY: strace
strace:
	@$(call debian,strace,strace)

.PHONY: maven
maven:
	@$(call debian,mvn,maven)

# Gets the packages of Debian for the image, and for the bare machines of the tests.
.PHONY: mmdebstrap
mmdebstrap:
	@$(call debian,mmdebstrap,mmdebstrap debian-archive-keyring)

# Run the release: a root file system in namespaces, and the image.
.PHONY: confinement
confinement:
	@$(call debian,bwrap,bubblewrap)
	@$(call debian,podman,podman crun uidmap)
	@$(call debian,curl,curl)

.PHONY: data
data:
	@test -d "$(DATA)" || { echo "There is no folder $(DATA): give the folder with the data, make TARGET DATA=folder" >&2; exit 1; }

# The stamps come last, so an interrupted installation is repeated. PyTorch needs
# 5 GB of disk space, and half of that again during installation; pip's cache would
# also keep the archives.
$(VENV): $(REQUIREMENTS)
	python3 -m venv .venv
	$(PIP) $(addprefix -r ,$(REQUIREMENTS))
	touch $@

$(SERVERS): $(VENV) scripts/bench/serve/compare/requirements.txt
	$(PIP) $(addprefix -r ,$(filter %.txt,$^))
	touch $@

$(PRESIDIO): $(VENV) scripts/bench/pii-requirements.txt
	$(PIP) $(addprefix -r ,$(filter %.txt,$^))
	touch $@

.PHONY: python-package
python-package: wheel build/python/installed
	build/python/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/toxscreen-*.whl

build/python/installed: python/requirements.txt
	python3 -m venv build/python
	build/python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@

build/python/spark-installed: python/requirements-spark.txt build/python/installed
	build/python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@

build/release/zig/installed: scripts/release/requirements.txt
	python3 -m venv build/release/zig
	build/release/zig/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@


build/python/streams-installed: scripts/streams/requirements.txt build/python/installed
	build/python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r $<
	touch $@

# Kafka as its jars; the classes are those that the scripts of its archive start.
build/streams/kafka: scripts/streams/pom.xml
	@$(MAKE) maven
	rm -rf $@ $@.part
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $@.part)
	mv $@.part $@

build/streams/nats-server: scripts/streams/nats-server/go.mod
	go build -C $(<D) -o $(abspath $@) github.com/nats-io/nats-server/v2

$(GOLANGCI_LINT):
	GOBIN=$(abspath bin) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@
