# make serve: build the site, open it at http://127.0.0.1:8000    make check: for every day    make test: what a change must
# pass    make everything: all there is, every night
# Both set up what they need in .venv, and fetch the browser runtime once into a cache folder.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
REFERENCES := .references
HOSTS := .hosts
PORT ?= 8000
INSTALL := -m pip install --quiet
PYTEST := $(RUN) -m pytest -n auto --dist worksteal
FREEZE := -m pip freeze --all --exclude-editable --exclude pip --exclude setuptools
BABEL := $(RUN) -m babel.messages.frontend --quiet
PINNED = -c tests/constraints/$(1).txt

unexport PYTHONDONTWRITEBYTECODE # where it is set, each process would compile all modules, and pytest's asserts, anew

.PHONY: serve build test check everything lint style types daily unit browsers validator references hosts attack faults bench messages constraints clean

serve: $(VENV)/site
	$(RUN) build.py --serve $(PORT)

build: $(VENV)/site
	$(RUN) build.py

test: style # in each engine what the engine does of its own; mypy, which takes one core, beside it
	$(MAKE) -j2 types unit

check: style # what needs no browser and is not slow: for every day
	$(MAKE) -j2 types daily

everything: lint # every case in every engine, all examples, hosts, references by thousands, the attack, planted faults
	EVERYTHING=1 $(MAKE) unit
	EVERYTHING=1 $(MAKE) references hosts
	$(MAKE) attack faults

lint: style types

style: $(VENV)/test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(VENV)/test
	$(RUN) -m mypy

daily: $(VENV)/test
	$(PYTEST) -m "not references and not hosts and not slow" --ignore tests/browser --ignore tests/hosts

unit: $(VENV)/test browsers validator
	$(PYTEST) -m "not references and not hosts"

browsers: $(VENV)/test
	$(RUN) -m tests.browser.install

validator: $(VENV)/test
	$(RUN) -m tests.browser.validator

references: $(REFERENCES)/ready # with EVERYTHING=1 on all examples, and by thousands what caches must hold
	$(REFERENCES)/bin/python -m pytest -n auto --dist worksteal -m references tests/references
	$(if $(EVERYTHING),THOUSANDS=1 $(REFERENCES)/bin/python -m pytest --timeout 1200 tests/caches tests/serving/test_engine.py)

hosts: $(HOSTS)/ready # books, slides and notebooks around our pages, as their own tools build them
	$(HOSTS)/bin/python -m tests.browser.install
	$(HOSTS)/bin/python -m pytest -m hosts tests/hosts

faults: $(VENV)/test browsers validator # that what is planted is found: tests/faults/
	$(RUN) -m tests.faults

attack: $(VENV)/test browsers # hostile input, damaged files, broken networks, dead interpreters: docs/trust.md
	$(RUN) -m tests.attack

bench: $(VENV)/test browsers
	$(RUN) -m bench

messages: $(VENV)/test # the catalogue of all text, and each translation with what is new and without what is gone
	$(BABEL) extract -F babel.cfg -k N_ -k UserError -o locale/messages.pot --no-location --omit-header --sort-output .
	$(BABEL) update -i locale/messages.pot -d locale -w 79 --ignore-obsolete --ignore-pot-creation-date

constraints: # the newest versions that pyproject.toml allows; commit them when the tests have passed
	rm -rf $(VENV) $(REFERENCES)
	$(MAKE) PINNED= $(VENV)/test $(REFERENCES)/ready
	$(RUN) $(FREEZE) > tests/constraints/test.txt
	$(REFERENCES)/bin/python $(FREEZE) | sed 's/+cpu//' > tests/constraints/references.txt

clean:
	rm -rf dist $(VENV) $(REFERENCES) $(HOSTS)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/site: pyproject.toml tests/constraints/test.txt | $(VENV)/bin/python
	$(RUN) $(INSTALL) $(call PINNED,test) -e ".[site]"
	touch $@

$(VENV)/test: pyproject.toml tests/constraints/test.txt | $(VENV)/bin/python
	$(RUN) $(INSTALL) $(call PINNED,test) -e ".[test]"
	touch $@ $(VENV)/site

$(REFERENCES)/packages: tests/constraints/references.txt # all but ours, which may come while tests run
	$(PYTHON) -m venv $(REFERENCES)
	$(if $(PINNED),$(REFERENCES)/bin/python $(INSTALL) -r $<)
	touch $@

$(REFERENCES)/ready: pyproject.toml $(REFERENCES)/packages
	$(REFERENCES)/bin/python $(INSTALL) $(call PINNED,references) -e ".[references]"
	touch $@

$(HOSTS)/ready: pyproject.toml
	$(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/python $(INSTALL) -e ".[hosts]"
	npm install --silent --no-save --prefix $(HOSTS) reveal.js@6.0.2 mystmd@1.8.3
	touch $@
