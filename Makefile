# make serve: build the site, open it at http://127.0.0.1:8000    make check: for every day    make test: all that must hold
# Both set up what they need in .venv, and fetch the browser runtime once into a cache folder.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
REFERENCES := .references
HOSTS := .hosts
PORT ?= 8000

.PHONY: serve build test check lint unit browsers validator references hosts attack bench messages clean

serve: $(VENV)/site
	$(RUN) build.py --serve $(PORT)

build: $(VENV)/site
	$(RUN) build.py

test: lint unit

check: lint # what needs no browser and is not slow, on fewer examples: for every day
	EVERY_DAY=1 $(RUN) -m pytest -n 2 --dist worksteal -m "not references and not hosts and not slow" --ignore tests/browser --ignore tests/hosts

lint: $(VENV)/test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

unit: $(VENV)/test browsers validator
	$(RUN) -m pytest -n 2 --dist worksteal -m "not references and not hosts"

browsers: $(VENV)/test
	$(RUN) -m tests.browser.install

validator: $(VENV)/test
	$(RUN) -m tests.browser.validator

references: $(REFERENCES)/ready
	$(REFERENCES)/bin/python -m pytest -m references tests/references
	THOUSANDS=1 $(REFERENCES)/bin/python -m pytest tests/caches tests/serving/test_engine.py \
		-k "equals or fork or codes_give or taken_over or TestPool or TestPrefixes or TestServing"

hosts: $(HOSTS)/ready # books, slides and notebooks around our pages, as their own tools build them
	$(HOSTS)/bin/python -m tests.browser.install
	$(HOSTS)/bin/python -m pytest -m hosts tests/hosts

attack: $(VENV)/test browsers # hostile input, damaged files, broken networks, dead interpreters: docs/trust.md
	$(RUN) -m tests.attack

bench: $(VENV)/test browsers
	$(RUN) -m bench $(if $(MICROGPT),--microgpt $(MICROGPT))

messages: $(VENV)/site # the catalogue of all text, then each translation as the program reads it
	$(RUN) -m babel.messages.frontend extract -F babel.cfg -k N_ -o locale/messages.pot --no-location --omit-header --sort-output .
	$(RUN) -m babel.messages.frontend compile -d locale

clean:
	rm -rf dist $(VENV) $(REFERENCES) $(HOSTS)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/site: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet -e ".[site]"
	touch $@

$(VENV)/test: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet -e ".[test]"
	touch $@ $(VENV)/site

$(REFERENCES)/ready: pyproject.toml
	$(PYTHON) -m venv $(REFERENCES)
	$(REFERENCES)/bin/python -m pip install --quiet -e ".[references]"
	touch $@

$(HOSTS)/ready: pyproject.toml
	$(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/python -m pip install --quiet -e ".[hosts]"
	npm install --silent --no-save --prefix $(HOSTS) reveal.js@6.0.2 mystmd@1.8.3
	touch $@
