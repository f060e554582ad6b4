# ecube: firmware, tool, programs, tests. `make help` lists the targets; everything built lies under build/.
MAKEFLAGS += --no-builtin-rules
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j2
endif
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE all run debug test models bench bench-sim scale campaign cliffs fuzz fuzz-merge check install uninstall clean packages packages-present format help

B := build
Q := $(if $(V),,@)
, := ,
PREFIX ?= /usr/local
# MESH is another name of it.
NETWORK ?= $(or $(MESH),cube:4)
SIZES ?= 16 100 1000 10000 65536
TESTS ?= .
BENCHES ?=
FUZZ ?= frame node host image chain debug relay plan shared
FUZZ_SECONDS ?= 600
DIMS ?= 4-16
SCALE_SECONDS ?= 300
CAMPAIGN_ARGUMENTS ?=

# Sources, by room -------------------------------------------------------------------------------------------------

DRIVERS := drivers/status.c
DRIVERS_TARGET := drivers/generic_timer.c drivers/gic.c drivers/gicv2m.c drivers/msix.c drivers/pci.c drivers/semihosting.c \
	drivers/shared_memory_link.c drivers/shared_ring.c drivers/virtio_queue.c drivers/virtio_serial.c drivers/virtio_stage.c
DRIVERS_TESTED := drivers/generic_timer.c drivers/msix.c drivers/pci.c drivers/shared_memory_link.c drivers/shared_ring.c \
	drivers/virtio_queue.c drivers/virtio_serial.c drivers/virtio_stage.c
WIRE := wire/crc.c
ROUTER := router/channel.c router/channel_receive.c router/channel_send.c router/circuit.c router/identity.c router/notice.c \
	router/packet.c router/parcel.c router/router.c router/setup.c router/source.c router/stream.c
NETWORK_ROOM := network/network.c
REDUCTION := reduction/reduction.c
NETWORK_TEXT := network/text.c
COLLECTIVES := collectives/engine.c collectives/entry.c collectives/operation.c collectives/plan.c collectives/store.c
# Makes and proves plans: for the tool, the simulator and tests.
PLANNER := collectives/planner/aap.c collectives/planner/ahead.c collectives/planner/allgather.c collectives/planner/barrier.c collectives/planner/blocks.c \
	collectives/planner/both_ways.c collectives/planner/bound.c collectives/planner/build.c collectives/planner/candidates.c collectives/planner/contents.c collectives/planner/choose.c \
	collectives/planner/desk.c collectives/planner/digest.c collectives/planner/direct.c collectives/planner/expand.c \
	collectives/planner/gray.c collectives/planner/halving.c collectives/planner/knowledge.c collectives/planner/make.c collectives/planner/multiphase.c collectives/planner/neighbours.c \
	collectives/planner/part.c collectives/planner/paths.c collectives/planner/perform.c collectives/planner/prove.c collectives/planner/replay.c collectives/planner/rounds.c \
	collectives/planner/order.c collectives/planner/scan.c collectives/planner/tree.c collectives/planner/cycle.c collectives/planner/flow.c collectives/planner/pairs.c collectives/planner/pipeline.c collectives/planner/rings.c collectives/planner/spread.c collectives/planner/permute.c collectives/planner/reverse.c collectives/planner/shift.c collectives/planner/named.c collectives/planner/named_holdings.c collectives/planner/named_sort.c collectives/planner/written.c collectives/planner/bruck.c collectives/planner/heard.c collectives/planner/leaders.c collectives/planner/parcels.c collectives/planner/pieces.c
MODELS := models/schedule_pml.c
CRC_GENERATOR := wire/gen/crc_gen.c
NODE := node/call.c node/collective.c node/load.c node/match.c node/message.c node/node.c \
	node/report.c node/request.c node/sha256.c node/wait.c
# Checks after every step of the checked builds that no flag has missed anything that could move.
AUDIT := router/audit.c node/audit.c tests/audit/hook.c
CONTROLLER := controller/boot.c controller/cables.c controller/controller.c controller/download.c controller/failure.c controller/loader.c controller/plans.c \
	controller/query.c controller/run.c controller/waits.c controller/words.c
SIM := sim/contents.c sim/fault.c sim/host.c sim/limit.c sim/link.c sim/loop.c sim/memory.c sim/messages.c sim/observe/history.c \
	sim/observe/trace.c sim/observe/trace_file.c sim/observe/trace_phases.c sim/parallel/outbox.c \
	sim/parallel/partition.c sim/parallel/prefetch.c sim/parallel/worker_pool.c sim/plans.c sim/pool.c sim/program.c sim/queue.c \
	sim/scenarios.c sim/simulation.c sim/wait_edges.c sim/wait_search.c sim/waits.c $(NETWORK_TEXT) $(CONTROLLER) $(PLANNER)
BOOT := boot/copy.S boot/main.c boot/mmu.c boot/platform.c boot/start.S
LIBRARY := lib/call.S lib/called.c lib/calloc.c lib/clock.c lib/collective.c lib/error.c lib/format.c lib/info.c lib/memalign.c \
	lib/message.c lib/sleep.c lib/start.c lib/system.c lib/thread.S lib/trap.S
LIBRARY_START := lib/crt0.S
# What ecube-cc --check puts in front of the library; the first are tested on the host as well.
CHECK_TESTED := lib/check/blocks.c lib/check/transfers.c
CHECK_LIBRARY := $(CHECK_TESTED) lib/check/allocate.c lib/check/check.c lib/check/entry.S
PUBLIC_HEADERS := include/ecube/abi.h include/ecube/called.h include/ecube/ecube.h include/ecube/error.h
TOOL := host/announce.c host/available.c host/call_error.c host/cell.c host/check.c host/choice.c host/client.c host/clients.c host/console.c host/core.c host/debug.c host/debuggers.c host/describe.c \
	host/down.c host/duration.c host/errors.c host/fault.c host/finding.c host/findings.c host/fold.c host/host_link.c host/image.c host/inject.c host/jtag.c host/job.c host/json_pull.c host/launcher.c host/line.c host/list.c host/load.c \
	host/machine.c host/main.c host/message.c host/offspring.c host/openocd.c host/options.c host/output.c host/page_table.c host/plan.c host/plan_blocks.c host/plan_export.c host/plan_file.c host/plan_list.c host/plan_read.c host/plan_show.c host/placement.c host/plan_verify.c host/ps.c host/ranks.c host/report.c host/algorithm.c host/plan_catalogue.c host/plan_explain.c \
	host/rsp_client.c host/run.c host/rundir.c host/rundir_watch.c host/serve.c host/shared_links.c host/link_maker.c host/sim.c host/sim_describe.c host/sim_options.c host/sink.c host/socket_link.c \
	host/symbols.c host/target.c host/tell.c host/terminal.c host/text_lines.c host/unwind.c host/up.c host/view.c
# What of it the tool has, too.
TOOL_JTAG := jtag/notice.c jtag/rsp.c
# The program that owns a machine's debug sockets; pure modules first, then what speaks with the world.
JTAG := jtag/chain.c jtag/dap.c jtag/debug_registers.c jtag/debug_unit.c jtag/description.c jtag/excursion.c jtag/execute.c \
	jtag/instruction.c jtag/mem_ap.c jtag/notice.c jtag/points.c jtag/qtest.c jtag/registers.c jtag/relay.c \
	jtag/rom_table.c jtag/rsp.c jtag/run.c jtag/stub.c \
	jtag/chain_port.c jtag/daemon.c jtag/emulator.c jtag/gdb_port.c jtag/notifier.c jtag/main.c jtag/peer.c \
	jtag/station.c jtag/wire.c
EXAMPLES := examples/algorithms/algorithms.c examples/complete_exchange/complete_exchange.c examples/farm/farm.c examples/hello/hello.c \
	examples/mirror/mirror.c examples/nbody/nbody.c examples/pagerank/pagerank.c examples/power/power.c examples/primes/primes.c \
	examples/ring/ring.c examples/sample_sort/sample_sort.c examples/transpose/transpose.c examples/trees/trees.c
UNIT_TESTS := tests/unit/cables_test.c tests/unit/chain_port_test.c tests/unit/chain_test.c tests/unit/check_blocks_test.c tests/unit/check_transfers_test.c tests/unit/choice_test.c tests/unit/clients_test.c tests/unit/clock_test.c tests/unit/controller_test.c tests/unit/crc_test.c tests/unit/choose_test.c tests/unit/cliffs_test.c \
	tests/unit/debug_unit_test.c tests/unit/debuggers_test.c tests/unit/download_test.c tests/unit/duration_test.c tests/unit/emulator_test.c tests/unit/errors_test.c tests/unit/findings_test.c tests/unit/fold_test.c tests/unit/frame_test.c \
	tests/unit/generic_timer_test.c tests/unit/host_link_test.c tests/unit/image_test.c tests/unit/instruction_test.c tests/unit/machine_test.c tests/unit/network_test.c tests/unit/never_slower_test.c tests/unit/notice_test.c tests/unit/operation_test.c tests/unit/page_table_test.c tests/unit/plan_blocks_test.c tests/unit/plan_test.c tests/unit/plans_test.c tests/unit/exchange_plans_test.c tests/unit/multiphase_test.c \
	tests/unit/qtest_test.c tests/unit/raw_run_test.c tests/unit/reduction_all_test.c tests/unit/reduction_test.c tests/unit/relay_test.c tests/unit/report_test.c \
	tests/unit/rivals_test.c tests/unit/rsp_test.c tests/unit/rundir_test.c tests/unit/scan_test.c tests/unit/shared_memory_link_test.c tests/unit/shared_ring_test.c tests/unit/status_test.c tests/unit/stub_test.c tests/unit/target_test.c tests/unit/text_lines_test.c tests/unit/spread_test.c \
	tests/unit/planner_all_test.c tests/unit/planner_prove_test.c tests/unit/planner_test.c tests/unit/permute_test.c tests/unit/placement_test.c \
	tests/unit/unwind_test.c tests/unit/virtio_serial_test.c tests/unit/wire_test.c tests/unit/written_test.c
TARGET_TESTS := tests/unit/clock_test.c tests/unit/copy_test.c tests/unit/crc_test.c tests/unit/frame_test.c \
	tests/unit/generic_timer_test.c tests/unit/reduction_test.c
TARGET_GLUE := tests/target/start.c tests/target/testing.c
FABRIC_TESTS := tests/fabric/abort_test.c tests/fabric/answer_test.c tests/fabric/any_test.c tests/fabric/arguments_test.c tests/fabric/ask_test.c tests/fabric/behind_test.c tests/fabric/cancel_test.c tests/fabric/channel_test.c tests/fabric/circuit_test.c tests/fabric/collective_test.c tests/fabric/console_test.c tests/fabric/algorithm_test.c \
	tests/fabric/contention_test.c tests/fabric/copy_test.c tests/fabric/credit_test.c tests/fabric/disagree_test.c tests/fabric/ending_test.c tests/fabric/exchangev_test.c tests/fabric/engine_test.c tests/fabric/enter_test.c \
	tests/fabric/exchange_test.c tests/fabric/failure_test.c tests/fabric/fault_test.c tests/fabric/incarnation_test.c tests/fabric/message_test.c tests/fabric/network_test.c \
	tests/fabric/notice_test.c tests/fabric/open_test.c tests/fabric/order_test.c tests/fabric/owed_test.c tests/fabric/plan_test.c tests/fabric/poll_test.c tests/fabric/portion_test.c tests/fabric/probe_test.c tests/fabric/protect_test.c tests/fabric/reduce_test.c tests/fabric/route_test.c tests/fabric/schedule_test.c tests/fabric/silence_test.c \
	tests/fabric/state_test.c tests/fabric/step_test.c tests/fabric/stream_test.c tests/fabric/relay_test.c tests/fabric/rendezvous_test.c \
	tests/fabric/window_test.c
FABRIC_SUPPORT := tests/fabric/collectives.c tests/fabric/memory_link.c tests/fabric/fabric.c tests/fabric/neighbour.c tests/fabric/pair.c tests/fabric/routers.c
UNIT_SUPPORT := tests/unit/cliffs.c tests/unit/odd_plans.c tests/unit/fake_core.c tests/unit/fake_ivshmem.c tests/unit/fake_nodes.c tests/unit/plan_machine.c tests/unit/plan_shapes.c tests/unit/stepped_ring.c
CAMPAIGN := tests/sim/campaign.c tests/sim/campaign_draw.c tests/sim/campaign_judge.c
CAMPAIGN_MAIN := tests/sim/campaign_main.c
MUTANTS := tests/sim/execution.c tests/sim/mutants.c
MUTANTS_MAIN := tests/sim/mutants_main.c
# What of the tool writes and reads plans.
PLAN_FILES := host/available.c host/json_pull.c host/message.c host/output.c host/plan_blocks.c host/plan_export.c host/plan_file.c host/plan_read.c host/terminal.c
SIM_TESTS := tests/sim/campaign_test.c tests/sim/deadlock_test.c tests/sim/fault_test.c tests/sim/mutants_test.c tests/sim/queue_test.c tests/sim/threads_test.c \
	tests/sim/time_test.c tests/sim/trace_test.c tests/sim/traffic_test.c tests/sim/waits_test.c
SYSTEM_PROGRAMS := tests/system/programs/aborter.c tests/system/programs/absorbed.c tests/system/programs/arguments.c tests/system/programs/counter.c \
	tests/system/programs/collectives.c tests/system/programs/mistakes.c tests/system/programs/talker.c \
	tests/system/programs/formats.c tests/system/programs/heap.c tests/system/programs/hops.c tests/system/programs/leaver.c tests/system/programs/messages.c \
	tests/system/programs/misbehave.c tests/system/programs/secret.c tests/system/programs/sizes.c tests/system/programs/sleeper.c tests/system/programs/thread.c tests/system/programs/traffic.c \
	tests/system/programs/waiter.c tests/system/programs/window.c
# This one with checks.
CHECKED_PROGRAM := tests/system/programs/misuse.c
SYSTEM_TOOLS := tests/system/intruder.c tests/system/json_get.c tests/system/plan_replay.c tests/system/screen.c tests/system/seals.c
BENCH_PROGRAMS := bench/programs/exchange.c bench/programs/nothing.c bench/programs/ping.c bench/programs/stream.c
BENCH := bench/bench.c bench/collectives/report.c bench/debugger.c bench/figure.c bench/machine_run.c bench/raw_run.c bench/simgrid_run.c bench/simulation.c bench/stalls.c bench/stub_run.c \
	bench/timed_run.c bench/waiting.c bench/queue_rate.c host/message.c host/placement.c host/shared_links.c host/target.c jtag/rsp.c sim/queue.c host/check.c
# Other libraries' algorithms as plans.
BENCH_RIVALS := bench/collectives/comparison.c bench/collectives/draft.c bench/collectives/exchange_rivals.c bench/collectives/parts.c \
	bench/collectives/rivals.c bench/collectives/selections.c bench/collectives/vector_rivals.c
BENCH_SIMGRID := bench/simgrid/alltoall.c bench/simgrid/collectives.c
BENCH_SIM := bench/sim_rate.c bench/queue_rate.c
BENCH_SCALE := bench/scale.c bench/scale_show.c bench/timed_run.c
BENCH_RAW := bench/raw/raw.c bench/raw/raw_exchange.c bench/raw/raw_rings.c bench/raw/raw_roles.c
FUZZ_COMMON := fuzz/fuzz.c fuzz/pipe.c fuzz/neighbour.c
FUZZ_FRAME = $(CRC_TABLES) fuzz/frame_fuzz.c fuzz/reference.c router/channel.c router/channel_receive.c router/channel_send.c wire/crc.c
FUZZ_NODE := fuzz/node_fuzz.c fuzz/world.c fuzz/invariants.c
# The controller, and of the tool what programs' text and faults become.
FUZZ_HOST = $(TARGET_OPTIONS) $(NETWORK_ROOM) $(NETWORK_TEXT) $(CONTROLLER) fuzz/host_fuzz.c fuzz/fake_symbols.c tests/unit/fake_desk.c collectives/operation.c reduction/reduction.c node/sha256.c host/call_error.c host/fault.c host/finding.c host/findings.c host/message.c \
	host/cell.c host/ranks.c host/report.c host/target.c host/tell.c host/text_lines.c host/unwind.c
FUZZ_DEBUG := fuzz/debug_fuzz.c fuzz/fuzz.c tests/unit/fake_core.c jtag/debug_registers.c jtag/debug_unit.c jtag/excursion.c jtag/execute.c \
	jtag/instruction.c jtag/points.c jtag/registers.c jtag/run.c
FUZZ_IMAGE = $(TARGET_OPTIONS) fuzz/image_fuzz.c fuzz/fuzz.c host/image.c host/message.c host/target.c
FUZZ_PLAN := fuzz/plan_fuzz.c fuzz/fuzz.c host/available.c host/json_pull.c host/message.c host/plan_file.c host/plan_read.c \
	tests/sim/execution.c
FUZZ_RELAY := fuzz/relay_fuzz.c fuzz/fuzz.c jtag/description.c jtag/relay.c jtag/rsp.c jtag/stub.c
FUZZ_SHARED := fuzz/shared_fuzz.c fuzz/fuzz.c tests/unit/fake_ivshmem.c drivers/msix.c drivers/pci.c drivers/shared_memory_link.c drivers/shared_ring.c
FUZZ_CHAIN := fuzz/chain_fuzz.c fuzz/fuzz.c jtag/chain.c jtag/dap.c jtag/mem_ap.c jtag/rom_table.c

# Tools and flags --------------------------------------------------------------------------------------------------

include board/virt/board.mk

CC := gcc
COMMON := -std=c11 -Wall -Wextra -Werror -Wshadow -Wconversion -Wmissing-prototypes -Wundef -g -MMD -MP -I.
# The processor's own CRC-32C, where it has one (drivers/crc_word.h).
CRC_FLAGS := $(if $(filter sse4_2,$(shell grep -m 1 ^flags /proc/cpuinfo)),-msse4.2) \
	$(if $(filter crc32,$(shell grep -m 1 ^Features /proc/cpuinfo)),-march=armv8-a+crc)
# Fields that gcc joins are read as one a moment after one of them was written, which stalls the processor.
TOOL_CFLAGS := $(COMMON) $(strip $(CRC_FLAGS)) -O2 -fno-tree-slp-vectorize -flto=auto -ffat-lto-objects -D_GNU_SOURCE
SIM_LIBS := -lnettle
TOOL_LIBS := -luv -ljansson -ldw -lelf $(SIM_LIBS)
SMPI_CFLAGS := $(filter-out -MMD -MP,$(COMMON)) -O2
CHECKED_CFLAGS := $(COMMON) $(strip $(CRC_FLAGS)) -O1 -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -fPIC
# What finds memory that threads share by mistake.
RACE_CFLAGS := $(COMMON) -O1 -D_GNU_SOURCE -fsanitize=thread
# gcc and clang differ in which conversions they warn of; the sources are held to gcc's.
FUZZ_CC := clang
# Steps are audited: tests/audit/hook.c.
AUDIT_LINK := -Wl,--wrap=router_flush,--wrap=router_step,--wrap=node_step,--wrap=node_call
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS := $(COMMON) -Wno-implicit-int-conversion -O2 -D_GNU_SOURCE $(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link \
	-fno-omit-frame-pointer
KERNEL_CFLAGS := $(COMMON) -Iboard/virt $(KERNEL_LTO) $(KERNEL_FLAGS) -ffreestanding -fbuiltin -ffunction-sections -fdata-sections
PROGRAM_CFLAGS := $(COMMON) -O2 $(PROGRAM_FLAGS) -Iinclude -ffunction-sections -fdata-sections

# What is built ----------------------------------------------------------------------------------------------------

CRC_TABLES := $(B)/gen/crc_tables.c
TARGET_OPTIONS := $(B)/gen/target_options.c
ROOMS := $(DRIVERS) $(WIRE) $(NETWORK_ROOM) $(REDUCTION) $(ROUTER) $(COLLECTIVES) $(NODE)
kernel = $(patsubst %,$(B)/virt/%.o,$(basename $(1:$(B)/%=%)))
checked = $(patsubst %,$(B)/host/%.o,$(basename $(1:$(B)/%=%)))
native = $(patsubst %,$(B)/tool/%.o,$(basename $(1:$(B)/%=%)))
raced = $(patsubst %,$(B)/race/%.o,$(basename $(1:$(B)/%=%)))
fuzzed = $(patsubst %,$(B)/fuzz/objects/%.o,$(basename $(1:$(B)/%=%)))
program = $(patsubst %,$(B)/program/%.o,$(basename $(1)))

KERNEL := $(B)/virt/kernel.elf
KERNEL_OBJECTS := $(call kernel,$(BOOT) $(DRIVERS_TARGET) $(ROOMS) $(CRC_TABLES))
BARE_OBJECTS := $(filter-out $(B)/virt/boot/main.o,$(KERNEL_OBJECTS))
CHECKED_ROOMS := $(call checked,$(DRIVERS_TESTED) $(ROOMS) $(AUDIT) $(PLANNER) $(CRC_TABLES) lib/error.c $(CHECK_TESTED) $(filter-out host/main.c,$(TOOL)) $(TARGET_OPTIONS) $(SIM) \
	$(filter-out jtag/main.c,$(JTAG)))
# What OpenOCD must know of the board.
OPENOCD_BOARD := $(patsubst board/%,$(B)/%,$(wildcard board/virt/openocd.cfg))
SDK := $(B)/lib/libecube.a $(B)/lib/libecube-check.a $(B)/lib/check.wrap $(B)/lib/crt0.o $(B)/lib/program.ld $(B)/ecube-cc
EXAMPLE_ELFS := $(foreach e,$(EXAMPLES),$(B)/examples/$(basename $(notdir $(e))).elf)
SYSTEM_ELFS := $(patsubst tests/system/programs/%.c,$(B)/tests/programs/%.elf,$(SYSTEM_PROGRAMS) $(CHECKED_PROGRAM))
BENCH_ELFS := $(patsubst bench/programs/%.c,$(B)/bench/%.elf,$(BENCH_PROGRAMS))
UNIT_BINARIES := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT_TESTS) $(FABRIC_TESTS) $(SIM_TESTS)) $(B)/tests/sim/race_test
FUZZ_BINARIES := $(patsubst %,$(B)/fuzz/%_fuzz,frame node host image chain debug relay plan shared)
TARGET_IMAGES := $(patsubst tests/unit/%.c,$(B)/tests/target/%.elf,$(TARGET_TESTS))

# What the tests need that TESTS picks by layer/name.
picked = $(shell printf '%s\n' $(1) | grep -E -- '$(TESTS)')
SYSTEM_NEEDS := all $(SYSTEM_ELFS) $(SYSTEM_TOOLS:tests/system/%.c=$(B)/tests/%) $(B)/ecube-checked $(B)/ecube-jtag-checked $(B)/bench/scale $(B)/tests/target/crc_test.elf
TEST_NEEDS = $(patsubst %,$(B)/tests/%,$(call picked,$(UNIT_BINARIES:$(B)/tests/%=%))) \
	$(patsubst fuzz/%,$(B)/fuzz/%_fuzz,$(call picked,$(FUZZ_BINARIES:$(B)/fuzz/%_fuzz=fuzz/%))) \
	$(patsubst %,$(B)/tests/%.elf,$(call picked,$(TARGET_IMAGES:$(B)/tests/%.elf=%))) \
	$(if $(call picked,$(patsubst tests/%.sh,%,$(wildcard tests/sim/*_test.sh))),$(B)/campaign $(B)/mutants $(B)/ecube) \
	$(if $(call picked,$(patsubst tests/%.sh,%,$(wildcard tests/models/*_test.sh))),$(B)/schedule_pml) \
	$(if $(call picked,$(patsubst tests/%.sh,%,$(wildcard tests/system/*_test.sh))),$(SYSTEM_NEEDS))

## everything a user needs: firmware, tool, compiler wrapper, examples (the default)
all: $(KERNEL) $(B)/ecube $(B)/ecube-jtag $(SDK) $(EXAMPLE_ELFS) $(OPENOCD_BOARD)

## boot a 16-node hypercube and run the complete exchange on it (NETWORK=cube:D, SIZES="bytes ...")
run: all
	$(B)/ecube run --network $(NETWORK) $(B)/examples/complete_exchange.elf $(SIZES)

## every test: modules, nodes in one process, the model, a little fuzzing, on the target, the tool as a user drives it
test: $(TEST_NEEDS)
	@QEMU_TEST="$(QEMU) $(QEMU_OPTIONS) $(QEMU_SEMIHOSTING)" tests/run $(B) "$(TESTS)"

## GDB at every node of a machine that has loaded the complete exchange (NETWORK=..., GDB_ARGS="GDB's own arguments")
debug: all
	@scripts/debug.sh $(B) $(NETWORK) $(GDB_ARGS)

## ratios against the raw device and SimGrid, as a table and as build/bench.json (BENCHES=PART: only that)
bench: all $(B)/bench/bench $(B)/bench/raw.elf $(BENCH_SIMGRID:bench/simgrid/%.c=$(B)/bench/%.so) $(BENCH_ELFS)
	@$(B)/bench/bench $(B) "$(QEMU) $(QEMU_OPTIONS)" $(BENCHES)

## events per second of the simulator: its queue alone, and all of it
bench-sim: $(B)/bench/sim_rate
	@$(B)/bench/sim_rate

## how the simulator grows: a table, build/scale.json, build/scale.svg (DIMS=4-16, SCALE_SECONDS=300)
scale: all $(B)/bench/scale
	@$(B)/bench/scale $(B) $(DIMS) $(SCALE_SECONDS); status=$$?; [ $$status -lt 2 ] || exit $$status; \
	gnuplot -c bench/scale.gp $(B)/scale.dat $(B)/scale.svg && echo "drawn in $(B)/scale.svg" && exit $$status

## fail every link event of many runs in every way, then 10,000 random runs (part of make test, all of it here)
campaign: $(B)/campaign
	@$(B)/campaign $(CAMPAIGN_ARGUMENTS)

## tests/golden/cliffs.txt anew: where one node more makes a collective much dearer (a part of the sweep is a test)
cliffs: $(B)/cliffs
	@golden=tests/golden/cliffs.txt; { sed '/^{/,$$d' $$golden; $(B)/cliffs; } >$$golden.new && mv $$golden.new $$golden

## check the protocol's five rules: Spin searches the model in models/ (part of make test)
models: $(B)/schedule_pml
	@QEMU_TEST= tests/run $(B) '^models/'

## fuzz for long (FUZZ="target ...", FUZZ_SECONDS=600 for each target)
fuzz: $(FUZZ_BINARIES)
	@fuzz/run long $(B) $(FUZZ_SECONDS) $(FUZZ)

## put what make fuzz has found into fuzz/corpus, as few inputs as cover the same
fuzz-merge: $(FUZZ_BINARIES)
	@fuzz/run merge $(B) $(FUZZ)

## rules that a machine can check: rooms, state, sizes, layout
check: all $(call native,$(ROOMS))
	@scripts/check-rooms.sh $(B)
	@scripts/check-format.sh

## rewrite the sources in the project's layout (needs clang-format)
format:
	@scripts/check-format.sh --fix

## copy the tool, the compiler wrapper, headers and images to PREFIX (default /usr/local; DESTDIR is honoured)
install: all
	scripts/install.sh $(B) "$(DESTDIR)$(PREFIX)"

## remove what install put there
uninstall:
	scripts/install.sh --remove "$(DESTDIR)$(PREFIX)"

## install the Debian packages in packages.txt that are missing (run, debug, test, bench, scale, fuzz do this themselves)
packages:
	@scripts/packages.sh $(PACKAGE_LISTS)

packages-present:
	@scripts/packages.sh --check $(PACKAGE_LISTS)

## remove everything built
clean:
	rm -rf $(B)

## this list
help:
	@awk '/^## /{text = substr($$0, 4)} /^[a-z-]+:/ && text {sub(/:.*/, ""); printf "%-10s %s\n", $$0, text; text = ""}' Makefile

# What only the bench or the scale report needs is installed only by it.
PACKAGE_LISTS := packages.txt $(if $(filter bench,$(MAKECMDGOALS)),packages-bench.txt) \
	$(if $(filter scale,$(MAKECMDGOALS)),packages-scale.txt)

# Packages come first: run, debug, test, bench, scale install what is missing; the other goals only name it.
PACKAGES := $(if $(filter run debug test bench scale fuzz models packages,$(MAKECMDGOALS)),packages,packages-present)

# Rules ------------------------------------------------------------------------------------------------------------

$(KERNEL): $(KERNEL_OBJECTS) $(B)/virt/node.ld
	@echo "  link  $@"
	$(Q)$(CROSS)gcc $(KERNEL_FLAGS) $(KERNEL_LINK) -T $(B)/virt/node.ld \
		-o $@ $(KERNEL_OBJECTS)

$(B)/ecube: $(call native,$(TOOL) $(TOOL_JTAG) $(TARGET_OPTIONS) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES))
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(TOOL_LIBS)

$(B)/ecube-jtag: $(call native,$(JTAG))
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ -luv

# The same with sanitizers, for system tests.
$(B)/ecube-checked: $(call checked,host/main.c) $(B)/host/rooms.a
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ $(TOOL_LIBS)

$(B)/ecube-jtag-checked: $(call checked,$(JTAG))
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined -o $@ $^ -luv

$(B)/schedule_pml: $(call native,$(MODELS) $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES) host/check.c)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^

$(B)/crc_gen: $(call native,$(CRC_GENERATOR))
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^

$(CRC_TABLES): $(B)/crc_gen
	@mkdir -p $(@D)
	$(Q)$(B)/crc_gen > $@

# QEMU's options as the board has them, for the tool.
$(TARGET_OPTIONS): board/virt/board.mk Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "host/target.h"'; echo 'const char *const target_options[] = {'; \
	printf '    "%s",\n' $(QEMU_OPTIONS); echo '    0};'; } >$@

$(B)/host/rooms.a: $(CHECKED_ROOMS) Makefile
	$(Q)rm -f $@ && ar rcs $@ $(CHECKED_ROOMS)

$(B)/lib/libecube.a: $(call program,$(LIBRARY)) Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $(filter %.o,$^)

$(B)/lib/libecube-check.a: $(call program,$(CHECK_LIBRARY)) Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $(filter %.o,$^)

# ecube-cc's options for it: what it stands in front of.
$(B)/lib/check.wrap: $(B)/lib/libecube-check.a
	$(Q)$(CROSS)nm $< | sed -n 's/.* [TW] __wrap_/-Wl,--wrap=/p' | sort >$@

$(B)/lib/crt0.o: $(call program,$(LIBRARY_START))
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(B)/virt/openocd.cfg: board/virt/openocd.cfg
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(B)/ecube-cc: lib/ecube-cc
	$(Q)cp $< $@

$(B)/virt/node.ld: linker/node.ld.S board/virt/board.h | $(PACKAGES)
	@mkdir -p $(@D)
	$(Q)$(CROSS)gcc -E -P -x assembler-with-cpp -I. -Iboard/virt $< -o $@

$(B)/lib/program.ld: linker/program.ld.S board/virt/board.h | $(PACKAGES)
	@mkdir -p $(@D)
	$(Q)$(CROSS)gcc -E -P -x assembler-with-cpp -I. -Iboard/virt $< -o $@

define program_rule
$(B)/$(1): $(2) $(SDK) $(PUBLIC_HEADERS)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(B)/ecube-cc -Wall -Wextra -Werror $(3) $(2) -o $$@
endef
$(foreach e,$(EXAMPLES),$(eval $(call program_rule,examples/$(basename $(notdir $(e))).elf,$(e))))
$(foreach p,$(SYSTEM_PROGRAMS),$(eval $(call program_rule,tests/programs/$(basename $(notdir $(p))).elf,$(p))))
$(eval $(call program_rule,$(CHECKED_PROGRAM:tests/system/%.c=tests/%.elf),$(CHECKED_PROGRAM),--check))
$(foreach p,$(BENCH_PROGRAMS),$(eval $(call program_rule,bench/$(basename $(notdir $(p))).elf,$(p))))

$(SYSTEM_TOOLS:tests/system/%.c=$(B)/tests/%): $(B)/tests/%: $(call native,tests/system/%.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^ -ljansson

$(B)/bench/raw.elf: $(call kernel,$(filter-out boot/main.c,$(BOOT)) $(DRIVERS_TARGET) $(DRIVERS) $(BENCH_RAW)) $(B)/virt/node.ld
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CROSS)gcc $(KERNEL_FLAGS) $(KERNEL_LINK) -T $(B)/virt/node.ld -o $@ $(filter %.o,$^)

$(B)/bench/bench: $(call native,$(BENCH) $(TARGET_OPTIONS) $(BENCH_RIVALS) $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^ -ljansson -lm

$(B)/bench/scale: $(call native,$(BENCH_SCALE))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^ -ljansson -lm

# SimGrid loads a program into its own process: smpicc makes a shared library of it.
$(B)/bench/%.so: bench/simgrid/%.c $(B)/flags | $(PACKAGES)
	@mkdir -p $(@D)
	@echo "  cc    $@"
	$(Q)smpicc $(SMPI_CFLAGS) $< -o $@

define fuzz_rule
$(B)/fuzz/$(1)_fuzz: $(call fuzzed,$(2))
	@mkdir -p $$(@D)
	@echo "  link  $$@"
	$(Q)$(FUZZ_CC) $(FUZZ_SANITIZE) -fsanitize=fuzzer $(4) -o $$@ $$^ $(3)
endef
$(eval $(call fuzz_rule,frame,$(FUZZ_COMMON) $(FUZZ_FRAME)))
$(eval $(call fuzz_rule,node,$(FUZZ_COMMON) $(FUZZ_NODE) $(ROOMS) $(PLANNER) $(AUDIT) $(CRC_TABLES),,$(AUDIT_LINK)))
$(eval $(call fuzz_rule,host,$(FUZZ_COMMON) $(FUZZ_HOST) $(DRIVERS) $(WIRE) $(ROUTER) $(CRC_TABLES),-ljansson -lnettle,-Wl$(,)--wrap=json_pack))
$(eval $(call fuzz_rule,image,$(FUZZ_IMAGE),-lelf))
$(eval $(call fuzz_rule,chain,$(FUZZ_CHAIN)))
$(eval $(call fuzz_rule,relay,$(FUZZ_RELAY)))
$(eval $(call fuzz_rule,plan,$(FUZZ_PLAN) $(SIM) $(ROOMS) $(CRC_TABLES),$(SIM_LIBS)))
$(eval $(call fuzz_rule,debug,$(FUZZ_DEBUG)))
$(eval $(call fuzz_rule,shared,$(FUZZ_SHARED)))

$(B)/bench/sim_rate: $(call native,$(BENCH_SIM) $(SIM) $(ROOMS) $(CONTROLLER) $(PLANNER) $(CRC_TABLES) host/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(SIM_LIBS)

$(B)/campaign: $(call native,$(CAMPAIGN_MAIN) $(CAMPAIGN) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES) host/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(SIM_LIBS)

$(B)/mutants: $(call native,$(MUTANTS_MAIN) $(MUTANTS) $(PLAN_FILES) $(SIM) $(ROOMS) $(CRC_TABLES) host/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ -ljansson $(SIM_LIBS)

$(B)/cliffs: $(call native,tests/unit/cliffs_main.c tests/unit/cliffs.c $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES) $(ROUTER) host/check.c)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^

# machine_test has processes, a program's file and the computer's load of its own.
WRAPPED_TESTS := $(B)/tests/fabric/plan_test $(B)/tests/sim/deadlock_test $(B)/tests/unit/machine_test $(B)/tests/unit/rundir_test
# Parts are changed at the desk, pieces of them are lost and repeated on their way.
$(B)/tests/fabric/plan_test: TEST_LINK := -Wl,--wrap=plan_desk_part,--wrap=router_send
# Circuits out of the order of dimensions, so that real nodes deadlock.
$(B)/tests/sim/deadlock_test: TEST_LINK := -Wl,--wrap=router_next_hop
# The tool is killed where it calls them.
$(B)/tests/unit/rundir_test: TEST_LINK := -Wl,--wrap=flock,--wrap=rename
# What it tests is the bench's, not the tool's.
$(B)/tests/unit/raw_run_test: $(call checked,bench/raw_run.c)
$(B)/tests/unit/never_slower_test $(B)/tests/unit/rivals_test: $(call checked,$(BENCH_RIVALS))

# The same test once more, with another sanitizer.
$(B)/tests/sim/race_test: $(call raced,tests/sim/threads_test.c $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES) host/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=thread -o $@ $^ -lcmocka $(SIM_LIBS)

# A shared library, so that a change in a room relinks this and no test.
$(B)/host/librooms.so: $(CHECKED_ROOMS)
	@echo "  link  $@"
	$(Q)$(CC) -shared -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ $(TOOL_LIBS)

# An archive, so that only the tests that use the many-node loop or campaigns carry them.
$(B)/host/fabric_support.a: $(call checked,$(FABRIC_SUPPORT) $(UNIT_SUPPORT) $(CAMPAIGN) $(MUTANTS)) Makefile
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# Another desk in place of the planner's.
$(B)/tests/unit/plans_test: $(B)/host/tests/unit/fake_desk.o

$(B)/tests/%: $(B)/host/tests/%.o $(B)/host/fabric_support.a | $(B)/host/librooms.so
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ -L$(B)/host -lrooms -Wl,-rpath,'$$ORIGIN/../../host' -lcmocka $(TOOL_LIBS)

# These replace functions of rooms that rooms call, which only the linker can.
$(WRAPPED_TESTS): $(B)/tests/%: $(B)/host/tests/%.o $(B)/host/fabric_support.a $(B)/host/rooms.a
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) $(TEST_LINK) -o $@ $^ -lcmocka $(TOOL_LIBS)

$(B)/tests/target/%.elf: $(B)/virt/tests/unit/%.o $(call kernel,$(TARGET_GLUE)) $(BARE_OBJECTS) $(B)/virt/node.ld
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CROSS)gcc $(KERNEL_FLAGS) $(KERNEL_LINK) -T $(B)/virt/node.ld \
		-o $@ $(filter %.o,$^)

# Objects are made anew when the flags change.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; echo "$(KERNEL_CFLAGS) $(PROGRAM_CFLAGS) $(CHECKED_CFLAGS) $(RACE_CFLAGS) $(TOOL_CFLAGS) $(FUZZ_CFLAGS)" >$$new; \
	if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi
FORCE:

# One rule per way to compile; a source lies in the tree or, generated, under build/.
define compile_rules
$(B)/$(1)/%.o: %.c $(B)/flags | $(PACKAGES)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(2) -c $$< -o $$@

$(B)/$(1)/%.o: $(B)/%.c $(B)/flags | $(PACKAGES)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(2) -c $$< -o $$@

$(B)/$(1)/%.o: %.S $(B)/flags | $(PACKAGES)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(2) -c $$< -o $$@
endef
$(eval $(call compile_rules,virt,$(CROSS)gcc $(KERNEL_CFLAGS)))
$(eval $(call compile_rules,program,$(CROSS)gcc $(PROGRAM_CFLAGS)))
$(eval $(call compile_rules,host,$(CC) $(CHECKED_CFLAGS)))
$(eval $(call compile_rules,race,$(CC) $(RACE_CFLAGS)))
$(eval $(call compile_rules,fuzz/objects,$(FUZZ_CC) $(FUZZ_CFLAGS)))
$(eval $(call compile_rules,tool,$(CC) $(TOOL_CFLAGS)))

-include $(shell find $(B) -name '*.d' 2>/dev/null)
