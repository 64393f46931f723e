# The front door: each target sets up what is missing, then calls CMake. `make help` lists them.

PRESET ?= release
CUDA_PRESET ?= cuda
BUILD := build/$(PRESET)

# One compile job per core, but no more than one per 1.5 GB of free memory: the plugin's sources take over 1 GB each.
JOBS ?= $(shell awk -v cores=$$(nproc) '/MemAvailable/ { n = int($$2 / 1500000); if (n > cores) n = cores; \
                                         print n < 1 ? 1 : n }' /proc/meminfo)

# Where `make install` puts the library, the plugin and the program.
PREFIX ?= /usr/local

# A text file or folder to train on; without one, the built-in stories. ARGS goes to the command as it stands.
TEXT ?=
ARGS ?=

# What each command needs is built and no more: $(call build,TARGETS,WHAT FOLLOWS).
build = tools/build $(BUILD) $(JOBS) "$(1)" "$(2)"

.PHONY: build train test test-cuda bench bench-cuda install docs format clean setup help

build: setup $(BUILD)/build.ninja
	@$(call build,all,the end)

train: setup $(BUILD)/build.ninja
	@$(call build,cladtorch_cli,training)
	@$(BUILD)/apps/cladtorch train $(if $(TEXT),--text "$(TEXT)") $(ARGS)

test: setup $(BUILD)/build.ninja
	@$(call build,all,the tests)
	@ctest --test-dir $(BUILD) --output-on-failure --no-label-summary -j 2

# The tests need a GPU; the rest of the build is not needed.
test-cuda: setup
	@cmake --preset $(CUDA_PRESET)
	@cmake --build build/$(CUDA_PRESET) -j $(JOBS) --target cuda_test cuda_train_test
	@tools/test-cuda build/$(CUDA_PRESET)

bench: setup $(BUILD)/build.ninja
	@$(call build,cladtorch_cli ceilings,the measurements)
	@python3 bench/compare --build $(BUILD) $(ARGS)

# Needs a GPU, and of the build only what is measured.
bench-cuda: setup
	@cmake --preset $(CUDA_PRESET)
	@cmake --build build/$(CUDA_PRESET) -j $(JOBS) --target cladtorch_cli cuda_bench
	@python3 bench/compare --device cuda --build build/$(CUDA_PRESET) $(ARGS)

install: setup $(BUILD)/build.ninja
	@$(call build,cladtorch_installed,the installation)
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

# The pages and the reference of the public headers; fails on a link that leads nowhere.
docs:
	@tools/setup --quiet --docs
	@docs/site/build build/docs

format: setup
	@git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 -r clang-format-19 -i

clean:
	rm -rf $(BUILD)

setup:
	@tools/setup --quiet

$(BUILD)/build.ninja: CMakePresets.json | setup
	@cmake --preset $(PRESET)

help:
	@echo "make build            compile everything into $(BUILD)"
	@echo "make train            train a GPT-2 on the built-in stories and print samples"
	@echo "make train TEXT=path  the same on your own text file or folder"
	@echo "make test             build, then run all tests"
	@echo "make test-cuda        build the code for NVIDIA GPUs and run its tests on one"
	@echo "make bench            GPT-2 124M beside PyTorch and JAX, into docs/benchmarks.md; ARGS=--quick for a glance"
	@echo "make bench-cuda       GPT-2 124M and 1558M beside PyTorch on an NVIDIA GPU, into docs/benchmarks.md"
	@echo "make install          build what is installed, and install it into PREFIX (default: $(PREFIX))"
	@echo "make docs             the pages and the reference of the headers as a site, into build/docs/html"
	@echo "make format           format the C++ sources"
	@echo "make clean            remove $(BUILD)"
	@echo "Variables: PRESET=release|dev|asan|tsan|gcc|cuda, CUDA_PRESET=cuda-90a|..., JOBS=n, ARGS='further arguments of the command'"
