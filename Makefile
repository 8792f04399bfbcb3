# Everything runs in a virtual environment that the targets make themselves. PYTHON may name an interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export OMP_WAIT_POLICY := passive
export OMP_NUM_THREADS := 1

.PHONY: install install-chattts demo test test-chattts test-clients test-web test-slow soak screenshots vendor chromium judge \
	normalisers check format docs clean

install: $(VENV)/.server  ## what the server and its voices need

install-chattts: $(VENV)/.chattts  ## what the ChatTTS engine needs

demo: $(VENV)/.server  ## hear it: server, streamed text, a file, the page's address
	$(BIN)/python clients/examples/demo.py

test: $(VENV)/.test  ## every test that needs minutes at most
	$(BIN)/python -m pytest -m "not slow and not web"

test-chattts: $(VENV)/.chattts  ## the ChatTTS engine, side by side with upstream's model
	$(BIN)/python -m pytest -m "not slow and not web" tests/streaming/chattts tests/gpu

test-web: $(VENV)/.web chromium  ## the page in a real browser
	$(BIN)/python -m pytest tests/web

screenshots: $(VENV)/.web chromium  ## the pictures in docs/screenshots
	$(BIN)/python -m docs.screenshots

vendor:  ## fetch again what the page takes from npm, as clients/web/vendor/packages.txt pins it
	clients/web/vendor/fetch.sh

chromium:  # from the system's packages, unless one is there
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium)

soak: $(VENV)/.test  ## listeners that come, go, vanish and stall for MINUTES, and a worker killed now and then
	$(BIN)/python -m tests.bench.soak --minutes $(or $(MINUTES),20)

test-slow: $(VENV)/.chattts
	$(BIN)/python -m pytest -m slow

test-clients: $(VENV)-clients/.clients  ## with the libraries people already have, as they are today
	$(VENV)-clients/bin/python -m pytest -o filterwarnings=default tests/clients  # their warnings are theirs

judge: $(VENV)/.judge  ## what a recogniser hears of twenty sentences in each language, and of the numbers in forty
	$(BIN)/python -m tests.bench.speech --language en
	$(BIN)/python -m tests.bench.speech --language zh
	$(BIN)/python -m tests.bench.speech --language mixed
	$(BIN)/python -m tests.bench.speech --language en --numbers
	$(BIN)/python -m tests.bench.speech --language zh --numbers
	$(BIN)/python -m pytest -m slow tests/server/test_words.py

normalisers: $(VENV)/.normalisers  ## the texts that we say rightly, and those that other normalisers do
	$(BIN)/python -m tests.bench.text

check: $(VENV)/.test $(VENV)/.lint  ## format, lint, types, Dockerfile
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile

format: $(VENV)/.lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.test  ## write docs/protocol.md from the message types and a running server
	$(BIN)/python -m docs.build

clean:
	rm -rf $(VENV) $(VENV)-clients dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The virtual environment grows by what a target needs; a stamp says what is in it.
$(VENV)/.pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/.server: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable . --group server --group embedded
	touch $@

$(VENV)/.test: $(VENV)/.server pyproject.toml
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(VENV)/.web: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet --group web
	touch $@

# The packaged torchaudio is built for CUDA and can't load its libraries beside a CPU torch; only upstream's package wants it.
$(VENV)/.chattts: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --group parity
	rm -f $(VENV)/lib/python3*/site-packages/torchaudio/lib/*.so
	touch $@

$(VENV)/.judge: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet --group judge
	touch $@

# Other people's clients need much that we do not, so they live apart. One of them asks for an older soxr, which it can do
# without here: ours comes last and wins, and pip says so.
$(VENV)-clients/.clients: pyproject.toml
	$(PYTHON) -m venv $(VENV)-clients
	$(VENV)-clients/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-clients/bin/python -m pip install --quiet --upgrade --group clients
	$(VENV)-clients/bin/python -m pip install --quiet --editable . --group test
	touch $@

# 750 MB. Beside them the bench compares upstream's, where `make install-chattts` brought it.
$(VENV)/.normalisers: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet --group normalisers
	touch $@

$(VENV)/.lint: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --group lint
	touch $@
