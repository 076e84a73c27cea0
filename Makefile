# Two commands matter: `make demo` and `make test`. Both set up everything they need first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STORM_VERSION := 2.8.3
STORM_HOME := build/storm/apache-storm-$(STORM_VERSION)
CLASSES := $(STORM_HOME)/lib.jsa
KAFKA := build/kafka/.ready
SHIM := java-shim/target/stormplace-shim-0.1.0.jar
SHIM_SOURCES := $(shell find java-shim/src -type f 2>/dev/null) pom.xml java-shim/pom.xml bridge/placement.thrift
MVN := mvn -B -ntp

.PHONY: help setup system demo test lint unit servers spark java lab clusters measured evaluation evaluation-tiers bench-shim bench-large bench-large-growth bench-large-made bench-emulator bench-placement bench-replacement simulate-replacement simulate-elasticity bench-tiers bench-data experiment-response-time experiment-adaptation experiment-replacement experiment-tiers experiment-elasticity dist clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

setup: $(VENV)/.ready $(STORM_HOME)/RELEASE $(SHIM)  ## Python environment, Storm, the shim's jar

demo: setup  ## the taxi query on an emulated wide area, under three schedulers (STRATEGY=ils: ours by another strategy)
	$(BIN)/stormplace demo $(if $(STRATEGY),--strategy $(STRATEGY))

# What keeps one processor busy, or mostly waits, runs beside something else; what measures runs alone. So do clusters: beside Spark,
# workers that start late are started once more, and on slow processors both take three times as long.
test: setup  ## everything that must pass
	$(MAKE) --no-print-directory --output-sync=target -j 2 lint java $(CLASSES)
	$(MAKE) --no-print-directory unit
	@echo "tests on Spark and with servers, beside each other: the output of each comes when it has ended (four minutes)"
	$(MAKE) --no-print-directory --output-sync=target -j 2 spark servers
	$(MAKE) --no-print-directory clusters measured
	@echo "all checks passed"

lint: $(VENV)/.ready  ## ruff, mypy --strict, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: setup  ## Python tests that need no server, no program of their own, no Spark and no cluster
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not lab and not spark and not servers and not programs"

servers: setup $(KAFKA)  ## tests against a real ZooKeeper, a real Redis and a real Kafka, and of whole programs
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "servers or programs"

spark: setup  ## tests of the data pipeline
	$(BIN)/python -m pytest -n 2 --dist worksteal -m spark

java: system  ## the shim's tests
	$(MVN) verify

lab: clusters measured  ## tests on real Storm clusters in network namespaces

clusters: setup $(CLASSES)
	$(BIN)/python -m pytest -m "lab and not alone"

measured: setup $(CLASSES)
	$(BIN)/python -m pytest -m alone

bench-shim: setup  ## round trip of the shim against the real daemon
	$(BIN)/python -m benchmarks.shim_round_trip

bench-large: setup  ## Storm's recorded clusters under Stormplace, Storm's resource-aware and default schedulers (ARGS="--cluster recorded-03")
	$(BIN)/python -m benchmarks.large_clusters $(ARGS)

bench-large-growth: setup  ## time over size, 1,000 to 100,000 executors, under the same schedulers, with a plot (up to an hour)
	mkdir -p runs
	$(BIN)/python -m benchmarks.large_clusters --cluster growth --repeats 3 --rounds 20 --limit-s 120 \
	  --no-losses --no-bound --json runs/large-growth.json $(ARGS)
	$(BIN)/python -m benchmarks.large_clusters.growth runs/large-growth.json --plot runs/large-growth.png

bench-large-made: setup  ## 38,000 executors on 1,900 hosts, one topology of 5,400, 10,000 topologies of one executor; memory (half an hour)
	mkdir -p runs
	$(BIN)/python -m benchmarks.large_clusters --cluster made --rounds 20 --limit-s 600 \
	  --unchanged-rounds 13 --unchanged-pause-ms 10000 --json runs/large-made.json $(ARGS)

bench-emulator: setup  ## accuracy and throughput of the wide-area emulator
	$(BIN)/python -m benchmarks.lab_accuracy --sites lab/sites/demo.toml
	$(BIN)/python -m benchmarks.lab_bandwidth
	$(BIN)/python -m benchmarks.lab_trains

bench-placement: setup  ## strategies on a reduced grid of the paper's problems (under 15 minutes), with a report
	$(BIN)/python -m benchmarks.placement --out runs/placement
	$(BIN)/python -m benchmarks.placement.steps --out runs/placement --seeds 0 --steps 3
	$(BIN)/python -m benchmarks.placement.report runs/placement

experiment-response-time: setup $(CLASSES)  ## the paper's wide-area experiment on 32 supervisors (over an hour; goes on after an interruption)
	$(BIN)/stormplace experiment response-time --out runs/response-time

experiment-adaptation: setup $(CLASSES)  ## the network changes while the query runs (about two hours; goes on after an interruption)
	$(BIN)/stormplace experiment adaptation --out runs/adaptation

experiment-replacement: setup $(CLASSES)  ## a fast, cheap host joins while a chain runs, and its site is drained (over an hour; goes on after an interruption)
	$(BIN)/stormplace experiment replacement --out runs/replacement $(ARGS)

experiment-tiers: setup $(CLASSES)  ## the taxi query over edge, fog and cloud behind narrow uplinks, by cost (half an hour; goes on after an interruption)
	$(BIN)/stormplace experiment lab-tiers --out runs/lab-tiers $(ARGS)

experiment-elasticity: setup $(CLASSES)  ## executors and hosts follow a load that goes up and down, under each policy (an hour and a half; goes on after an interruption)
	$(BIN)/stormplace experiment elasticity --out runs/elasticity $(ARGS)

evaluation: setup $(CLASSES)  ## taxi queries under two strategies, verified and analysed, with an HTML report (ARGS="--strategies ras,stormplace:odp")
	$(BIN)/stormplace evaluate $(ARGS)

evaluation-tiers: setup  ## placement over edge, fog and cloud on the problems of paper 002, on Spark; a report (an hour; goes on after an interruption)
	$(BIN)/stormplace experiment tiers $(ARGS)

bench-replacement: setup  ## re-placement: 10,000 second plans, search and optimum, several topologies, noise, looking ahead (half an hour)
	$(BIN)/python -m benchmarks.replacement $(ARGS)
	$(BIN)/python -m benchmarks.joint_placement
	$(BIN)/python -m benchmarks.rolling_horizon

simulate-elasticity: setup  ## executors and hosts simulated on Spark: policies of papers 003 and 004, ours; a report (half an hour)
	$(BIN)/stormplace experiment elasticity-simulation $(ARGS)

simulate-replacement: setup  ## re-placement simulated on Spark: the paper's rule, ours, hindsight; a report (five minutes)
	$(BIN)/stormplace experiment replacement-simulation $(ARGS)

bench-tiers: setup  ## placement over edge, fog and cloud: thousands of graphs on thousands of nodes (a quarter of an hour)
	$(BIN)/python -m benchmarks.many_graphs $(ARGS)

bench-data: setup  ## taxi data and queries: made, cleaned, answered on Spark, replayed and answered on Storm (half an hour)
	$(BIN)/python -m benchmarks.trips
	$(BIN)/python -m benchmarks.expected_answers
	$(BIN)/python -m benchmarks.sweep_speedup
	$(BIN)/python -m benchmarks.replay_schedule
	$(BIN)/stormplace data generate --days 5 --rows-per-day 400000 --seed 1 --out runs/trips-2m
	$(BIN)/python -m benchmarks.taxi_throughput runs/trips-2m --query 1 --idle-rows 300
	$(BIN)/python -m benchmarks.taxi_throughput runs/trips-2m --query both

dist: $(VENV)/.ready $(SHIM)  ## what hosts of a cluster need: the wheel, the pinned versions and the shim's jar
	rm -rf dist build/lib  # where setuptools would find modules of an earlier build and pack them too
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	cp constraints.txt $(SHIM) dist/

clean:  ## remove what the targets above made
	rm -rf $(VENV) build dist java-shim/target

system:
	@./lab/system-packages.sh

$(VENV)/.ready: pyproject.toml constraints.txt | system
	@echo "setting up the Python environment in $(VENV)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools
	@# its one warning, that an editable install looks like the folder it comes from, is meant so
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e ".[all,test]"
	touch $@

$(STORM_HOME)/RELEASE: lab/storm/pom.xml | system
	@echo "assembling Storm $(STORM_VERSION) in $(STORM_HOME)"
	$(MVN) -q -f lab/storm/pom.xml package
	test -f $@ && touch $@

$(KAFKA): tests/provisioning/kafka/pom.xml | system
	@echo "assembling the Kafka of the tests (43 MB)"
	$(MVN) -q -f tests/provisioning/kafka/pom.xml package
	touch $@

$(CLASSES): $(STORM_HOME)/RELEASE lab/storm/class-archives.sh lab/storm/LoadedClasses.java
	@echo "archiving the classes that Storm loads"
	lab/storm/class-archives.sh $(STORM_HOME) || echo "without archived classes the lab starts more slowly" >&2

$(SHIM): $(SHIM_SOURCES) | system
	@echo "building the shim"
	$(MVN) -q -DskipTests package
	touch $@
