# ecube: firmware, tool, programs, tests. `make help` lists the targets; everything built lies under build/.
MAKEFLAGS += --no-builtin-rules
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j2
endif
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE all cluster mpi run debug test test-long test-all test-cluster mutations models bench bench-sim scale scale-out papers pictures campaign cliffs fuzz fuzz-merge check install uninstall clean packages packages-present format help

B := build
Q := $(if $(V),,@)
, := ,
PREFIX ?= /usr/local
# What the nodes are: a folder of board/. Tool and programs take it where nobody says --board.
BOARD ?= virt
# MESH is another name of it.
NETWORK ?= $(or $(MESH),cube:4)
SIZES ?= 16 100 1000 10000 65536
TESTS ?= .
BENCHES ?=
FUZZ ?= frame node host image chain debug relay plan shared $(if $(AGENT),agents)
FUZZ_SECONDS ?= 600
DIMS ?= 4-16
SCALE_SECONDS ?= 300
CAMPAIGN_ARGUMENTS ?=

# Boards ---------------------------------------------------------------------------------------------------------

BOARDS := $(sort $(patsubst board/%/board.mk,%,$(wildcard board/*/board.mk)))
ifeq ($(filter $(BOARD),$(BOARDS)),)
$(error there is no board $(BOARD): board/ has $(BOARDS))
endif
# What the tool has of each board's board.mk; the last one read is the one that is made.
define read_board
include board/$(1)/board.mk
QEMU_OF_$(1) := $$(QEMU)
QEMU_OPTIONS_OF_$(1) := $$(QEMU_OPTIONS)
endef
$(foreach b,$(filter-out $(BOARD),$(BOARDS)) $(BOARD),$(eval $(call read_board,$(b))))

# Where Debian has PMIx, and whether ecube-agent can be made here: then make test tests it.
PMIX := /usr/lib/$(shell gcc -print-multiarch)/pmix2
PMIX_HEADERS := $(PMIX)/include
AGENT := $(if $(and $(wildcard $(PMIX_HEADERS)/pmix.h),$(wildcard /usr/include/gnutls/gnutls.h)),$(B)/ecube-agent $(B)/ecube-agent-checked)

# What programs that run on this computer are made with, where it is one that can.
NATIVE := $(filter x86_64,$(shell uname -m))
include arch/x86_64/arch.mk

# What make cluster and make mpi have made here goes with the others.
FAR_MADE := $(wildcard $(B)/ecube-agent $(B)/ecube-sim-mpi)

# Sources, by room -------------------------------------------------------------------------------------------------

# in FOLDER NAMES
in = $(addprefix $(1)/,$(2))

DRIVERS := drivers/status.c
DRIVERS_TESTED := $(call in,drivers/link,shared_memory_link.c shared_ring.c virtio_queue.c virtio_serial.c virtio_stage.c) \
	drivers/interrupt/msix.c drivers/pci/pci.c drivers/timer/generic_timer.c
WIRE := wire/crc.c
ROUTER := $(call in,router,channel.c channel_receive.c channel_send.c circuit.c frame_builder.c identity.c link_counters.c notice.c packet.c \
	recorder.c router.c setup.c shares.c source.c stream.c waits.c)
NETWORK_ROOM := network/network.c network/paths.c
REDUCTION := reduction/reduction.c
NETWORK_TEXT := $(call in,network,embedding.c embedding_text.c hamilton.c text.c)
COLLECTIVES := $(call in,collectives,engine.c engine_check.c engine_copy.c engine_cursor.c engine_receive.c engine_record.c engine_row.c \
	engine_send.c entry.c movement.c operation.c plan.c store.c)
# Makes and proves plans: for the tool, the simulator and tests.
PLANNER := $(call in,planner,build.c expand.c) \
	$(call in,planner/algorithms,aap.c ahead.c alike.c all_to_some.c allgather.c barrier.c block_sets.c both_ways.c branches.c bruck.c candidates.c composed.c contained.c cycle.c direct.c \
		disjoint.c exchange_phases.c exchange_table.c flow.c flow_ports.c gossip.c gossip_search.c gray.c halving.c leaders.c mapped.c mesh_pairs.c multiphase.c neighbours.c orbits.c pairs.c parts.c permute.c pieces.c \
		pipeline.c rarest.c relayed.c reverse.c reverse_groups.c rings.c rotated.c rotated_whole.c rounds.c rounds_fit.c rounds_search.c rounds_table.c scan.c scan_digits.c segments.c shelf.c shift.c sources.c spread.c \
		superblocks.c symmetries.c table.c threes.c tree.c) \
	$(call in,planner/choose,choose.c cache.c make.c memory.c others.c range.c ranks.c) \
	$(call in,planner/output,order.c part.c perform.c) \
	$(call in,planner/proof,blocks.c bound.c contents.c digest.c knowledge.c link_load.c paths.c prove.c replay.c) \
	$(call in,planner/written,named.c named_holdings.c named_sort.c written.c)
MODELS := models/schedule_pml.c
CRC_GENERATOR := wire/gen/crc_gen.c
NODE := $(call in,node,call.c collective.c gather.c load.c map.c match.c message.c node.c parallel.c pieces.c pipeline.c receipt.c \
	record.c region.c report.c request.c sha256.c wait.c)
# Checks after every step of the checked builds that no flag has missed anything that could move.
AUDIT := $(call in,tests/audit,hook.c node_audit.c router_audit.c)
CONTROLLER := $(call in,controller,boot.c cables.c controller.c download.c failure.c fetcher.c gather_plan.c gatherer.c loader.c pipeline.c plans.c programs.c query.c regions.c silence.c \
	waits.c words.c)
SIM := $(NETWORK_TEXT) $(CONTROLLER) $(PLANNER) \
	$(call in,sim/core,fault.c host.c limit.c link.c loop.c memory.c partition.c pool.c prefetch.c queue.c several.c) \
	$(call in,trace,timeline.c trace_file.c) \
	$(call in,sim/observe,history.c trace.c wait_edges.c wait_search.c waits.c) \
	$(call in,sim/parallel,outbox.c worker_pool.c) \
	$(call in,sim/programs,contents.c messages.c native.c native_calls.c native_faults.c plans.c program.c scenarios.c) \
	$(call in,arch/x86_64,division.c fiber.c fiber_switch.S) sim/simulation.c
# A simulation over the processes of an MPI job.
SIM_MPI := $(call in,host/sim_mpi,main.c mpi_ranks.c)
BOOT := $(ARCH_KERNEL) board/$(BOARD)/platform.c boot/main.c
LIBRARY_COMMON := $(call in,lib/newlib,calloc.c files.c format.c memalign.c sleep.c start.c store.c system.c) \
	$(call in,lib/portable,called.c clock.c collective.c data.c descend.c error.c info.c message.c output.c places.c region.c)
LIBRARY := $(ARCH_LIBRARY) $(LIBRARY_COMMON)
LIBRARY_START := $(ARCH_START)
# What ecube-cc --check puts in front of the library; the first are tested on the host as well.
CHECK_TESTED := $(call in,lib/check,blocks.c transfers.c)
CHECK_COMMON := $(CHECK_TESTED) $(call in,lib/check,allocate.c check.c)
CHECK_LIBRARY := $(CHECK_COMMON) $(ARCH_CHECK)
PUBLIC_HEADERS := $(call in,include/ecube,abi.h called.h ecube.h error.h)
TOOL := $(call in,arch/armv7a/host,core_notes.c page_table.c processor.c) arch/x86_64/host/processor.c \
	$(call in,host/bench,bench.c bench_compare.c bench_figure.c bench_rows.c) \
	$(call in,host/command,algorithm.c command_line.c completion.c duration.c figure.c map_option.c options.c output.c plan_shelf.c process.c standard_input.c) \
	$(call in,host/computer,available.c input_file.c placement.c target.c) \
	$(call in,host/console,cell.c check.c choice.c fold.c kept.c line.c message.c report.c sink.c tell.c terminal.c text_lines.c \
		view.c) \
	$(call in,host/debug,core.c debug.c openocd.c rsp_client.c) \
	$(call in,host/job,data.c digest.c doing.c draft.c job.c job_list.c job_trace.c map_choice.c outputs.c pages.c programs.c records.c \
		region_job.c request.c traffic.c troubles.c) \
	$(call in,host/links,host_link.c shared_links.c socket_link.c) \
	$(call in,host/machine,announce.c client.c clients.c debuggers.c describe.c jtag.c launcher.c link_maker.c \
		machine.c meeting.c offspring.c openocd.c record_memory.c rundir.c rundir_watch.c serve.c) \
	$(call in,host/plan,json_pull.c plan.c plan_blocks.c plan_bound.c plan_catalogue.c plan_explain.c plan_export.c plan_figure.c plan_file.c \
		plan_list.c plan_page.c plan_read.c plan_show.c plan_verify.c) \
	$(call in,host/profile,fit.c fit_table.c profile_file.c profiles.c) \
	$(call in,host/program,call_error.c elf_file.c errors.c fault.c finding.c findings.c image.c ranks.c symbols.c unwind.c) \
	host/report/assets.S $(call in,host/report,circuits.c escape.c events.c link_rows.c page.c run_report.c tables.c) \
	$(call in,host/sim,native_file.c sim.c sim_describe.c sim_options.c sim_program.c watch.c) \
	$(call in,host/verbs,agent.c console.c down.c hosts.c inject.c list.c load.c main.c map.c profile.c ps.c region.c report.c run.c up.c)
# An agent of a machine over several computers (packages-cluster.txt); the first needs no library, and is tested alone.
CLUSTER_PURE := host/cluster/division.c
CLUSTER := $(CLUSTER_PURE) $(call in,host/cluster,agent.c arrivals.c connection.c far_cables.c introduction.c key.c main.c peers.c peers_pmix.c \
	root.c root_agents.c root_far.c stream.c tls.c)
# What of it the tool has, too.
TOOL_JTAG := jtag/daemon/notice.c jtag/stub/rsp.c
# The program that owns a machine's debug sockets; pure modules first, then what speaks with the world.
JTAG := $(call in,jtag/chain,chain.c dap.c mem_ap.c rom_table.c) \
	$(call in,jtag/core,debug_registers.c debug_unit.c execute.c halting.c instruction.c mode_visit.c native.c need.c \
		points.c registers.c script.c) \
	$(call in,jtag/daemon,chain_port.c daemon.c debug_node.c main.c notice.c notifier.c) \
	$(call in,jtag/socket,peer.c wire.c) \
	$(call in,jtag/stub,description.c emulator.c gdb_port.c qtest.c relay.c rsp.c stub.c)
EXAMPLES := examples/algorithms/algorithms.c examples/cannon/cannon.c examples/circle/circle.c \
	examples/complete_exchange/complete_exchange.c examples/farm/farm.c examples/fir/fir.c \
	examples/hello/hello.c examples/image/image.c examples/match/match.c examples/merge_sort/merge_sort.c examples/mirror/mirror.c examples/nbody/nbody.c examples/pagerank/pagerank.c examples/paths/paths.c \
	examples/power/power.c examples/prefix/prefix.c examples/primes/primes.c examples/ring/ring.c examples/rotate/rotate.c examples/sample_sort/sample_sort.c examples/smooth/smooth.c examples/stencil/stencil.c \
	examples/transpose/transpose.c examples/trees/trees.c examples/tridiagonal/tridiagonal.c
# Of two sources.
COLLECTIVES_EXAMPLE := $(call in,examples/collectives,collectives.c messages.c)
# Those that share sources.
LINEAR_ALGEBRA := $(call in,examples/linear_algebra,banded.c conjugate_gradient.c jacobi.c matrix_matrix.c matrix_vector.c points.c qr.c scattered.c vectors.c)
LINEAR_SHARED := $(call in,examples/linear_algebra,grid.c linear.c)
# The host's side of those that work on data.
EXAMPLE_DATA := $(call in,examples/data,fir.c image.c main.c match.c picture.c)
# Of what ecube-agent alone has.
CLUSTER_TESTS := $(if $(AGENT),$(call in,tests/host,far_cables_test.c root_test.c stream_test.c))
UNIT_TESTS := $(call in,tests/arch,page_table_test.c processor_test.c x86_64_processor_test.c) \
	$(call in,tests/bench,never_slower_test.c raw_run_test.c rivals_test.c) \
	$(call in,tests/collectives,operation_test.c plan_test.c) \
	$(call in,tests/controller,cables_test.c controller_test.c download_test.c gather_test.c pipeline_test.c plans_test.c) \
	$(call in,tests/drivers,generic_timer_test.c shared_memory_link_test.c shared_ring_test.c status_test.c \
		virtio_serial_test.c) \
	$(call in,tests/host,choice_test.c clients_test.c data_test.c debuggers_test.c division_test.c duration_test.c errors_test.c findings_test.c \
		fold_test.c host_link_test.c image_test.c job_list_test.c launcher_test.c machine_test.c native_file_test.c pages_test.c \
		placement_test.c plan_blocks_test.c region_job_test.c \
		profile_test.c report_test.c rundir_test.c target_test.c text_lines_test.c unwind_test.c written_test.c) \
	$(call in,tests/jtag,chain_port_test.c chain_test.c debug_unit_test.c emulator_test.c instruction_test.c \
		notice_test.c qtest_test.c relay_test.c rsp_test.c stub_test.c) \
	$(call in,tests/lib,check_blocks_test.c check_transfers_test.c) \
	$(call in,tests/planner,all_to_some_test.c best_known_test.c bound_search_test.c bound_test.c choose_test.c cliffs_test.c exchange_plans_test.c gossip_test.c map_test.c mapped_test.c mesh_pairs_test.c multiphase_test.c permute_test.c \
		plan_machine_test.c planner_all_test.c planner_prove_test.c planner_test.c \
		ports_test.c relations_test.c rounds_search_test.c scan_test.c spread_test.c steps_test.c) \
	$(call in,tests/reduction,reduction_all_test.c reduction_test.c) \
	$(call in,tests/wire,crc_test.c frame_test.c load_test.c parcel_test.c wire_test.c) \
	$(call in,tests/network,embedding_test.c network_test.c paths_test.c) $(call in,tests/router,clock_test.c shares_test.c waits_test.c) \
	$(call in,tests/papers,claims_test.c formula_test.c) \
	$(if $(NATIVE),tests/arch/x86_64_division_test.c $(call in,tests/lib,native_data_test.c native_test.c)) \
	$(CLUSTER_TESTS)
TARGET_TESTS := $(call in,tests/wire,crc_test.c frame_test.c) \
	tests/arch/copy_test.c tests/drivers/generic_timer_test.c tests/reduction/reduction_test.c tests/router/clock_test.c
# What runs the tests of a binary.
TEST_RUNNER := tests/main.c
TARGET_GLUE := $(call in,tests/target,start.c testing.c)
FABRIC_TESTS := $(call in,tests/fabric,abort_test.c algorithm_test.c answer_test.c any_test.c arguments_test.c \
	ask_test.c behind_test.c cancel_test.c channel_test.c circuit_test.c collective_test.c console_test.c \
	contention_test.c copy_test.c credit_test.c disagree_test.c ending_test.c engine_test.c enter_test.c exchange_test.c \
	exchangev_test.c failure_test.c fault_test.c gather_test.c incarnation_test.c load_test.c message_test.c network_test.c notice_test.c \
	open_test.c order_test.c owed_test.c parallel_test.c pipeline_test.c plan_test.c poll_test.c portion_test.c probe_test.c protect_test.c record_test.c reduce_test.c region_test.c \
	relay_test.c rendezvous_test.c route_test.c schedule_test.c silence_test.c state_test.c step_test.c stream_test.c \
	traffic_test.c window_test.c)
FABRIC_SUPPORT := $(call in,tests/fabric,bundle.c collectives.c fabric.c memory_link.c neighbour.c pair.c routers.c)
# What plans are held against.
JUDGE := $(call in,tests/judge,course.c promise.c)
UNIT_SUPPORT := $(call in,tests/drivers,fake_ivshmem.c stepped_ring.c) tests/network/shapes.c \
	$(call in,tests/planner,cliffs.c odd_plans.c plan_machine.c relations.c routings.c shared_links.c) \
	$(JUDGE) tests/controller/fake_nodes.c tests/jtag/fake_core.c tests/lib/native_host.c
CAMPAIGN := $(call in,tests/campaign,campaign.c campaign_draw.c campaign_judge.c)
CAMPAIGN_MAIN := tests/campaign/campaign_main.c
# Sweeps, all of which run without sanitizers and a share with them (tests/testing.h).
SWEEPS := tests/campaign/campaign_test.c tests/sim/time_test.c \
	$(call in,tests/planner,choose_test.c cliffs_test.c map_test.c mapped_test.c permute_test.c planner_all_test.c ports_test.c \
		relations_test.c scan_test.c spread_test.c)
SWEPT_SUPPORT := tests/network/shapes.c $(call in,tests/planner,cliffs.c plan_machine.c relations.c) $(JUDGE) $(CAMPAIGN)
MUTANTS := $(call in,tests/sim,execution.c mutants.c)
MUTANTS_MAIN := tests/sim/mutants_main.c
# What of the tool writes and reads plans.
PLAN_FILES := $(call in,host/console,message.c terminal.c) \
	$(call in,host/plan,json_pull.c plan_blocks.c plan_export.c plan_file.c plan_read.c) \
	host/command/output.c $(call in,host/computer,available.c input_file.c)
SIM_TESTS := $(call in,tests/sim,deadlock_test.c fault_test.c mutants_test.c queue_test.c roots_test.c \
		threads_test.c time_test.c trace_test.c traffic_test.c waits_test.c) \
	$(call in,tests/campaign,campaign_test.c shards_test.c)
SYSTEM_PROGRAMS := $(call in,tests/system/programs,aborter.c absorbed.c arguments.c collectives.c counter.c data.c filer.c formats.c \
	heap.c hops.c leaver.c leaves.c mathematics.c messages.c mirrors.c misbehave.c mistakes.c parallel.c places.c regions.c secret.c short_blocks.c sizes.c sleeper.c taker.c talker.c \
	thread.c traffic.c waiter.c window.c)
# This one with checks.
CHECKED_PROGRAM := tests/system/programs/misuse.c
SYSTEM_TOOLS := $(call in,tests/system,intruder.c json_get.c native_run.c plan_replay.c screen.c seals.c slow_cable.c trace_events.c)
# What of them is for any processor, and is made for this computer, too; and what is made for it alone.
NATIVE_TWINS := $(call in,tests/system/programs,aborter.c arguments.c collectives.c counter.c data.c filer.c formats.c heap.c hops.c leaves.c \
	mathematics.c messages.c mirrors.c misbehave.c mistakes.c parallel.c places.c regions.c short_blocks.c sizes.c taker.c talker.c thread.c traffic.c window.c)
NATIVE_PROGRAMS := $(call in,tests/lib/programs,native_calls.c native_data.c)
BENCH_PROGRAMS := $(call in,bench/programs,load.c nothing.c)
BENCH := $(call in,bench,bench.c collectives.c download.c figure.c machine_run.c mpi.c queue_rate.c raw_run.c simgrid_run.c simulation.c \
		timed_run.c waiting.c) \
	$(call in,host/computer,placement.c target.c) \
	$(call in,host/console,check.c choice.c message.c) \
	host/links/shared_links.c sim/core/queue.c
# The claims of the papers, held against what is measured.
PAPERS := $(call in,papers,apart.c cases.c claims.c cubes.c delta.c figures.c formula.c functions.c measured.c meshes.c networks.c programs.c report.c scatters.c)
# Other libraries' algorithms as plans.
BENCH_RIVALS := $(call in,bench/rivals,comparison.c draft.c exchange_rivals.c parts.c rivals.c selections.c \
	vector_rivals.c)
BENCH_SIMGRID := $(call in,bench/simgrid,alltoall.c collectives.c)
# The same sources for SimGrid and for us.
BENCH_MPI := $(call in,bench/mpi,allreduce.c nothing.c ring.c stencil.c)
BENCH_SIM := $(call in,bench,queue_rate.c sim_rate.c)
BENCH_SCALE := $(call in,bench,scale.c scale_show.c timed_run.c)
BENCH_RAW := $(call in,bench/raw,raw.c raw_exchange.c raw_rings.c raw_roles.c)
FUZZ_COMMON := $(call in,fuzz,fuzz.c neighbour.c pipe.c)
FUZZ_FRAME = $(CRC_TABLES) \
	$(call in,fuzz,frame_fuzz.c reference.c) \
	$(call in,router,channel.c channel_receive.c channel_send.c) \
	wire/crc.c
FUZZ_NODE := $(call in,fuzz,invariants.c node_fuzz.c world.c)
# The controller, and of the tool what programs' text and faults become.
FUZZ_HOST = arch/armv7a/host/processor.c $(BOARD_TABLE) $(NETWORK_ROOM) $(NETWORK_TEXT) $(CONTROLLER) \
	$(call in,fuzz,fake_symbols.c host_fuzz.c) \
	$(call in,host/console,cell.c choice.c message.c report.c tell.c text_lines.c) \
	$(call in,host/program,call_error.c fault.c finding.c findings.c ranks.c unwind.c) \
	collectives/movement.c collectives/operation.c host/computer/target.c node/sha256.c reduction/reduction.c tests/controller/fake_cache.c
FUZZ_DEBUG := $(call in,fuzz,debug_fuzz.c fuzz.c) \
	$(call in,jtag/core,debug_registers.c debug_unit.c execute.c halting.c instruction.c mode_visit.c native.c need.c \
		points.c registers.c script.c) \
	tests/jtag/fake_core.c
FUZZ_IMAGE = arch/armv7a/host/processor.c arch/x86_64/host/processor.c $(BOARD_TABLE) \
	$(call in,fuzz,fuzz.c image_fuzz.c) \
	host/computer/target.c host/console/choice.c host/console/message.c host/program/elf_file.c host/program/image.c \
	host/sim/native_file.c
FUZZ_PLAN := $(call in,fuzz,fuzz.c plan_fuzz.c) \
	$(call in,host/plan,json_pull.c plan_file.c plan_read.c) \
	$(call in,host/computer,available.c input_file.c) host/console/message.c tests/sim/execution.c
FUZZ_RELAY := $(call in,fuzz,fuzz.c relay_fuzz.c) \
	$(call in,jtag/stub,description.c relay.c rsp.c stub.c)
FUZZ_SHARED := $(call in,drivers/link,shared_memory_link.c shared_ring.c) \
	$(call in,fuzz,fuzz.c shared_fuzz.c) \
	drivers/interrupt/msix.c drivers/pci/pci.c tests/drivers/fake_ivshmem.c
FUZZ_CHAIN := $(call in,fuzz,chain_fuzz.c fuzz.c) \
	$(call in,jtag/chain,chain.c dap.c mem_ap.c rom_table.c)
# Rank 0 of a machine over several computers, without TLS.
FUZZ_AGENTS := $(NETWORK_ROOM) $(NETWORK_TEXT) \
	$(call in,fuzz,agents_fuzz.c fuzz.c plain_tls.c) \
	$(call in,host/cluster,arrivals.c connection.c division.c far_cables.c introduction.c key.c peers.c root.c root_agents.c root_far.c stream.c) \
	host/computer/available.c host/console/message.c

# Tools and flags --------------------------------------------------------------------------------------------------

CC := gcc
COMMON := -std=c11 -Wall -Wextra -Werror -Wshadow -Wconversion -Wmissing-prototypes -Wundef -g -MMD -MP -I.
# The processor's own CRC-32C, where it has one (drivers/crc_word.h).
CRC_FLAGS := $(if $(filter sse4_2,$(shell grep -m 1 ^flags /proc/cpuinfo)),-msse4.2) \
	$(if $(filter crc32,$(shell grep -m 1 ^Features /proc/cpuinfo)),-march=armv8-a+crc)
# Fields that gcc joins are read as one a moment after one of them was written, which stalls the processor.
TOOL_CFLAGS := $(COMMON) $(strip $(CRC_FLAGS)) -O2 -fno-tree-slp-vectorize -flto=auto -ffat-lto-objects -D_GNU_SOURCE
SIM_LIBS := -lnettle
TOOL_LIBS := -luv -ljansson -ldw -lelf -lm $(SIM_LIBS)
CLUSTER_LIBS = -lgnutls -L$(PMIX)/lib -Wl,-rpath,$(PMIX)/lib -lpmix
# What has been installed of MPI; its headers keep no rules of ours.
MPI = $(shell command -v mpirun >/dev/null && pkg-config --exists ompi-c && echo there)
MPI_CFLAGS = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags ompi-c))
MPI_LIBS = $(shell pkg-config --libs ompi-c)
SMPI_CFLAGS := $(filter-out -MMD -MP,$(COMMON)) -O2
CHECKED_CFLAGS := $(COMMON) $(strip $(CRC_FLAGS)) -O1 -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -fPIC
# Searches (planner/algorithms/*_search.c) take tens of millions of steps, which sanitizers make five times as slow.
SEARCHED_CFLAGS := $(COMMON) $(strip $(CRC_FLAGS)) -O2 -D_GNU_SOURCE -fPIC
# What finds memory that threads share by mistake.
RACE_CFLAGS := $(COMMON) -O1 -D_GNU_SOURCE -fsanitize=thread
# gcc and clang differ in which conversions they warn of; the sources are held to gcc's.
FUZZ_CC := clang
# Steps are audited: tests/audit/hook.c.
AUDIT_LINK := -Wl,--wrap=router_flush,--wrap=router_step,--wrap=node_step,--wrap=node_call
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS := $(COMMON) -Wno-implicit-int-conversion -O2 -D_GNU_SOURCE $(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link \
	-fno-omit-frame-pointer
KERNEL_CFLAGS := $(COMMON) -Iboard/$(BOARD) $(KERNEL_LTO) $(KERNEL_FLAGS) -ffreestanding -fbuiltin -ffunction-sections -fdata-sections
PROGRAM_CFLAGS := $(COMMON) -O2 $(PROGRAM_FLAGS) -Iinclude -ffunction-sections -fdata-sections
# What a program for this computer sees of it: nothing but the compiler's own headers.
NATIVE_HEADERS = -nostdinc -isystem $(shell $(CC) -print-file-name=include) -isystem $(NEWLIB_HOST)/include
NATIVE_CFLAGS = $(COMMON) -O2 $(NATIVE_FLAGS) $(NATIVE_HEADERS) -imacros $(NATIVE_MACROS) -Iinclude -ffunction-sections -fdata-sections

# What is built ----------------------------------------------------------------------------------------------------

CRC_TABLES := $(B)/gen/crc_tables.c
# The boards as the tool has them.
BOARD_TABLE := board/argv.c $(B)/gen/boards.c $(BOARDS:%=$(B)/gen/board/%.c)
ROOMS := $(DRIVERS) $(WIRE) $(NETWORK_ROOM) $(REDUCTION) $(ROUTER) $(COLLECTIVES) $(NODE)
kernel = $(patsubst %,$(B)/$(BOARD)/%.o,$(basename $(1:$(B)/%=%)))
checked = $(patsubst %,$(B)/host/%.o,$(basename $(1:$(B)/%=%)))
native = $(patsubst %,$(B)/tool/%.o,$(basename $(1:$(B)/%=%)))
raced = $(patsubst %,$(B)/race/%.o,$(basename $(1:$(B)/%=%)))
fuzzed = $(patsubst %,$(B)/fuzz/objects/%.o,$(basename $(1:$(B)/%=%)))
program = $(patsubst %,$(B)/$(BOARD)/program/%.o,$(basename $(1)))
native_program = $(patsubst %,$(B)/native/program/%.o,$(basename $(1)))

KERNEL := $(B)/$(BOARD)/kernel.elf
KERNEL_OBJECTS := $(call kernel,$(BOOT) $(BOARD_DRIVERS) $(ROOMS) $(CRC_TABLES))
BARE_OBJECTS := $(filter-out $(B)/$(BOARD)/boot/main.o,$(KERNEL_OBJECTS))
CHECKED_ROOMS := $(call checked,$(DRIVERS_TESTED) $(ROOMS) $(AUDIT) $(PLANNER) $(CRC_TABLES) lib/portable/error.c $(CHECK_TESTED) $(filter-out host/verbs/main.c,$(TOOL)) $(CLUSTER_PURE) $(BOARD_TABLE) $(SIM) \
	$(filter-out jtag/daemon/main.c,$(JTAG)))
# What OpenOCD must know of the board.
OPENOCD_BOARD := $(patsubst board/%,$(B)/%,$(wildcard board/$(BOARD)/openocd.cfg))
# What ecube-cc links and compiles with.
SDK_HOME := $(B)/$(BOARD)/lib
SDK := $(call in,$(SDK_HOME),libecube.a libecube-check.a check.wrap crt0.o program.ld compiler) $(B)/ecube-cc
# The same for programs that run on this computer.
NEWLIB_HOST := $(B)/native/newlib
NATIVE_HOME := $(B)/native/lib
NATIVE_SDK := $(call in,$(NATIVE_HOME),libecube.a libecube-check.a check.wrap start.o compiler node_macros.h) $(NEWLIB_HOST)/made $(SDK_HOME)/native.ld $(B)/ecube-cc
EXAMPLE_SOS := $(if $(NATIVE),$(foreach e,$(EXAMPLES) $(firstword $(COLLECTIVES_EXAMPLE)) $(LINEAR_ALGEBRA),$(B)/examples/$(basename $(notdir $(e))).so))
EXAMPLE_ELFS := $(foreach e,$(EXAMPLES) $(firstword $(COLLECTIVES_EXAMPLE)) $(LINEAR_ALGEBRA),$(B)/examples/$(basename $(notdir $(e))).elf)
NATIVE_SOS := $(if $(NATIVE),$(foreach p,$(NATIVE_TWINS) $(CHECKED_PROGRAM) $(NATIVE_PROGRAMS),$(B)/tests/programs/$(basename $(notdir $(p))).so))
SYSTEM_ELFS := $(patsubst tests/system/programs/%.c,$(B)/tests/programs/%.elf,$(SYSTEM_PROGRAMS) $(CHECKED_PROGRAM))
BENCH_ELFS := $(patsubst bench/programs/%.c,$(B)/bench/%.elf,$(BENCH_PROGRAMS))
BENCH_MPI_SOS := $(BENCH_MPI:bench/mpi/%.c=$(B)/bench/smpi/%.so) $(if $(NATIVE),$(BENCH_MPI:bench/mpi/%.c=$(B)/bench/native/%.so))
SWEPT_TESTS := $(SWEEPS:tests/%_test.c=$(B)/tests/%_swept_test)
UNIT_BINARIES := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT_TESTS) $(FABRIC_TESTS) $(SIM_TESTS)) $(B)/tests/sim/race_test $(SWEPT_TESTS)
FUZZ_BINARIES := $(patsubst %,$(B)/fuzz/%_fuzz,frame node host image chain debug relay plan shared $(if $(AGENT),agents))
TARGET_IMAGES := $(foreach t,$(TARGET_TESTS),$(B)/tests/target/$(basename $(notdir $(t))).elf)

# What the tests need that TESTS picks by layer/name.
picked = $(shell printf '%s\n' $(1) | grep -E -- '$(TESTS)')
SYSTEM_NEEDS := all $(SYSTEM_ELFS) $(NATIVE_SOS) $(SYSTEM_TOOLS:tests/system/%.c=$(B)/tests/%) $(B)/ecube-checked $(B)/ecube-raced $(B)/ecube-jtag-checked $(B)/bench/scale $(B)/tests/target/crc_test.elf $(AGENT)
TEST_NEEDS = $(patsubst %,$(B)/tests/%,$(call picked,$(UNIT_BINARIES:$(B)/tests/%=%))) \
	$(patsubst fuzz/%,$(B)/fuzz/%_fuzz,$(call picked,$(FUZZ_BINARIES:$(B)/fuzz/%_fuzz=fuzz/%))) \
	$(patsubst %,$(B)/tests/%.elf,$(call picked,$(TARGET_IMAGES:$(B)/tests/%.elf=%))) \
	$(if $(call picked,$(patsubst tests/%.sh,%,$(wildcard tests/campaign/*_test.sh tests/sim/*_test.sh))),$(B)/campaign $(B)/mutants $(B)/ecube $(B)/tests/json_get $(if $(NATIVE),$(B)/tests/programs/mirrors.so)) \
	$(if $(call picked,$(patsubst tests/%.sh,%,$(wildcard tests/models/*_test.sh))),$(B)/schedule_pml) \
	$(if $(call picked,$(patsubst tests/%.sh,%,$(wildcard tests/system/*_test.sh))),$(SYSTEM_NEEDS))

# Scripts that figures are drawn with.
FIGURES := $(B)/bench.gp $(B)/explain.gp

# What a machine of nodes needs; the C library for programs on this computer alone takes as long to make.
MACHINE := $(KERNEL) $(B)/ecube $(B)/ecube-jtag $(SDK) $(EXAMPLE_ELFS) $(B)/examples/data $(FIGURES) $(OPENOCD_BOARD)

## everything a user needs: firmware, tool, compiler wrapper, examples (the default)
all: $(MACHINE) $(B)/man/made $(if $(NATIVE),$(NATIVE_SDK) $(EXAMPLE_SOS))

## boot a 16-node hypercube and run the complete exchange on it (NETWORK=cube:D, SIZES="bytes ...")
run: $(MACHINE)
	$(B)/ecube run --network $(NETWORK) $(B)/examples/complete_exchange.elf $(SIZES)

RUN_TESTS = QEMU_TEST="$(QEMU) $(QEMU_OPTIONS) $(QEMU_SEMIHOSTING)" tests/run $(B) "$(TESTS)"

## what a person waits for: modules, nodes in one process, faults, model, fuzzing, on the target, the tool (TESTS=REGEX)
test: $(TEST_NEEDS)
	@$(RUN_TESTS)

## what make test leaves out: complete sweeps, 10,000 seeds, every algorithm with every root on QEMU
test-long: $(TEST_NEEDS) $(if $(MPI),$(B)/ecube-sim-mpi)
	@ECUBE_TESTS=long $(RUN_TESTS)

## every test
test-all: $(TEST_NEEDS) $(if $(MPI),$(B)/ecube-sim-mpi)
	@ECUBE_TESTS=all $(RUN_TESTS)

## what goes over several processes and computers, a part of test-all (needs packages-cluster.txt)
test-cluster: $(SYSTEM_NEEDS) $(B)/ecube-agent $(B)/ecube-sim-mpi
	@ECUBE_TESTS=all QEMU_TEST= tests/run $(B) '^system/(agent|cluster|hosts|sim_mpi|slurm)_'

## defects that are put in, one by one, each of which make test must find (tests/mutations/)
mutations: all
	@tests/mutations/run $(B) "$(TESTS)"

## GDB at every node of a machine that has loaded the complete exchange (NETWORK=..., GDB_ARGS="GDB's own arguments")
debug: all
	@scripts/debug.sh $(B) $(NETWORK) $(GDB_ARGS)

## build/ecube-agent, for machines over several computers (doc/cluster.md)
cluster: all $(B)/ecube-agent

## the simulator over the processes of an MPI job, build/ecube-sim-mpi (needs packages-cluster.txt)
mpi: $(B)/ecube-sim-mpi

## ratios against the raw device and SimGrid, as a table and as build/bench.json (BENCHES=PART: only that)
bench: all $(B)/bench/bench $(B)/bench/raw.elf $(BENCH_SIMGRID:bench/simgrid/%.c=$(B)/bench/%.so) $(BENCH_MPI_SOS) $(BENCH_ELFS)
	@$(B)/bench/bench $(B) "$(QEMU) $(QEMU_OPTIONS)" $(BENCHES)

## events per second of the simulator: its queue alone, and all of it
bench-sim: $(B)/bench/sim_rate
	@$(B)/bench/sim_rate

## how the simulator grows: a table, build/scale.json, build/scale.svg (DIMS=4-16, SCALE_SECONDS=300)
scale: all $(B)/bench/scale
	@$(B)/bench/scale $(B) $(DIMS) $(SCALE_SECONDS); status=$$?; [ $$status -lt 2 ] || exit $$status; \
	gnuplot -c bench/scale.gp $(B)/scale.dat $(B)/scale.svg && echo "drawn in $(B)/scale.svg" && exit $$status

## what a machine or a simulation past one computer would take: doc/scale.md, build/scale-out.txt (CUBES=10-16)
scale-out: all $(B)/ecube-agent $(B)/tests/json_get
	@bench/scale_out.sh measure $(B) $(CUBES) >$(B)/scale-out.txt
	@bench/scale_out.sh write $(B)/scale-out.txt doc/scale.md && bench/scale_out.sh table $(B)/scale-out.txt

## every claim of the five papers against what is measured: doc/papers.md, tables and figures in build/papers
papers: all $(B)/papers/papers $(B)/papers/figure4.so
	@$(B)/papers/papers $(B) report doc/papers.md; status=$$?; [ $$status -lt 2 ] || exit $$status; \
	$(B)/papers/papers $(B) figures && for f in $(B)/papers/*.gp; do gnuplot "$$f" || exit; done && exit $$status

## the pictures of README.md and the guides, doc/pictures/*.png (needs packages-browser.txt and packages-scale.txt)
pictures: all
	@scripts/pictures.sh $(B)

## fail every link event of many runs in every way, then 10,000 random runs (part of make test-all, all of it here)
campaign: $(B)/campaign
	@$(B)/campaign $(CAMPAIGN_ARGUMENTS)

## tests/golden/cliffs.txt anew: where one node more makes a collective much dearer (a part of the sweep is a test)
cliffs: $(B)/cliffs
	@golden=tests/golden/cliffs.txt; { sed '/^{/,$$d' $$golden; $(B)/cliffs; } >$$golden.new && mv $$golden.new $$golden

## check the protocol's five rules: Spin searches the models in models/ (the larger searches are no part of make test)
models: $(B)/schedule_pml
	@ECUBE_TESTS=all QEMU_TEST= tests/run $(B) '^models/'

## fuzz for long (FUZZ="target ...", FUZZ_SECONDS=600 for each target)
fuzz: $(FUZZ_BINARIES)
	@fuzz/run long $(B) $(FUZZ_SECONDS) $(FUZZ)

## put what make fuzz has found into fuzz/corpus, as few inputs as cover the same
fuzz-merge: $(FUZZ_BINARIES)
	@fuzz/run merge $(B) $(FUZZ)

## rules that a machine can check: rooms, state, sizes, layout
check: all $(call native,$(ROOMS))
	@scripts/check-rooms.sh $(B)
	@scripts/check-paths.sh
	@scripts/check-house.sh
	@scripts/check-format.sh

## rewrite the sources in the project's layout (needs clang-format)
format:
	@scripts/check-format.sh --fix

## copy the tool, the compiler wrapper, headers, images, man pages, completion and examples to PREFIX, and what make cluster and make mpi have made (default /usr/local; DESTDIR is honoured)
install: all $(FAR_MADE)
	scripts/install.sh $(B) $(BOARD) "$(DESTDIR)$(PREFIX)"

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

# What only the bench, the reports of scale and papers, or pictures need is installed only by it.
PACKAGE_LISTS := packages.txt $(if $(filter bench,$(MAKECMDGOALS)),packages-bench.txt) \
	$(if $(filter cluster mpi scale-out test-cluster,$(MAKECMDGOALS)),packages-cluster.txt) \
	$(if $(filter scale papers pictures,$(MAKECMDGOALS)),packages-scale.txt) $(if $(filter pictures,$(MAKECMDGOALS)),packages-browser.txt)

# Packages come first: run, debug, tests, bench, scale install what is missing; the other goals only name it.
PACKAGES := $(if $(filter run debug cluster mpi test test-cluster test-long test-all mutations bench scale scale-out papers pictures fuzz models packages,$(MAKECMDGOALS)),packages,packages-present)

# Rules ------------------------------------------------------------------------------------------------------------

$(KERNEL): $(KERNEL_OBJECTS) $(B)/$(BOARD)/node.ld
	@echo "  link  $@"
	$(Q)$(CROSS)gcc $(KERNEL_FLAGS) $(KERNEL_LINK) -T $(B)/$(BOARD)/node.ld \
		-o $@ $(KERNEL_OBJECTS)

$(B)/ecube: $(call native,$(TOOL) $(TOOL_JTAG) $(BOARD_TABLE) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES))
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(TOOL_LIBS)

$(B)/ecube-agent: $(call native,$(filter-out host/verbs/main.c,$(TOOL)) $(CLUSTER) $(TOOL_JTAG) $(BOARD_TABLE) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES))
	@echo "  link  $@"
	$(Q)$(CC) -fno-lto -o $@ $^ $(TOOL_LIBS) $(CLUSTER_LIBS)

$(call native,host/cluster/peers_pmix.c) $(call checked,host/cluster/peers_pmix.c): export C_INCLUDE_PATH := $(PMIX_HEADERS)

$(B)/ecube-sim-mpi: $(patsubst %.c,$(B)/mpi/%.o,$(SIM_MPI)) $(call native,$(filter-out host/verbs/main.c,$(TOOL)) $(TOOL_JTAG) $(BOARD_TABLE) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES))
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(TOOL_LIBS) $(MPI_LIBS)

$(B)/ecube-jtag: $(call native,$(JTAG))
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ -luv

# The same with sanitizers, for system tests.
$(B)/ecube-checked: $(call checked,host/verbs/main.c) $(B)/host/rooms.a
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ $(TOOL_LIBS)

$(B)/ecube-agent-checked: $(call checked,$(filter-out $(CLUSTER_PURE),$(CLUSTER))) $(B)/host/rooms.a
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ $(TOOL_LIBS) $(CLUSTER_LIBS)

$(B)/ecube-jtag-checked: $(call checked,$(JTAG))
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined -o $@ $^ -luv

$(B)/examples/data: $(call native,$(EXAMPLE_DATA))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ -lpng -lm

$(B)/schedule_pml: $(call native,$(MODELS) $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES) host/console/check.c)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^

$(B)/crc_gen: $(call native,$(CRC_GENERATOR))
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^

$(CRC_TABLES): $(B)/crc_gen
	@mkdir -p $(@D)
	$(Q)$(B)/crc_gen > $@

# What the page of a report is made of.
$(call native,host/report/assets.S) $(call checked,host/report/assets.S): $(call in,host/report,report.html report.css report.js)

# Made anew when another board is made: what is linked for the nodes, and the table, depend on it.
$(B)/board: FORCE
	@mkdir -p $(@D)
	@[ "$$(cat $@ 2>/dev/null)" = $(BOARD) ] || echo $(BOARD) >$@

$(B)/gen/boards.c: $(B)/board $(BOARDS:%=board/%/board.mk)
	@mkdir -p $(@D)
	$(Q){ echo '#include "board/description.h"'; $(foreach b,$(BOARDS),echo 'extern const struct board board_$(b);';) \
	echo 'const struct board *const boards[] = {'; \
	printf '    &board_%s,\n' $(BOARD) $(filter-out $(BOARD),$(BOARDS)); echo '    0};'; } >$@

$(B)/gen/board/%.c: board/%/board.mk Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#define BOARD_SELF board_$*'; echo '#define BOARD_NAME "$*"'; \
	echo '#define BOARD_EMULATOR "$(QEMU_OF_$*)"'; printf '#define BOARD_OPTIONS '; \
	printf ' "%s",' $(QEMU_OPTIONS_OF_$*) | sed 's/,$$//'; echo; echo '#include "board/$*/description.c"'; } >$@

$(B)/host/rooms.a: $(CHECKED_ROOMS) Makefile
	$(Q)rm -f $@ && ar rcs $@ $(CHECKED_ROOMS)

$(SDK_HOME)/libecube.a: $(call program,$(LIBRARY)) Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $(filter %.o,$^)

$(SDK_HOME)/libecube-check.a: $(call program,$(CHECK_LIBRARY)) Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $(filter %.o,$^)

# ecube-cc's options for it: what it stands in front of.
$(SDK_HOME)/check.wrap: NM := $(CROSS)nm
$(NATIVE_HOME)/check.wrap: NM := nm
$(SDK_HOME)/check.wrap $(NATIVE_HOME)/check.wrap: %/check.wrap: %/libecube-check.a
	$(Q)$(NM) $< | sed -n 's/.* [TW] __wrap_/-Wl,--wrap=/p' | sort >$@

$(SDK_HOME)/crt0.o: $(call program,$(LIBRARY_START))
	@mkdir -p $(@D)
	$(Q)cp $< $@

# What newlib is made of and with. Its jobs are those of this make.
$(NEWLIB_HOST)/flags: OBJECT_FLAGS := $(CC) $(NEWLIB_FLAGS)
$(NEWLIB_HOST)/made: scripts/newlib-host.sh $(NEWLIB_HOST)/flags $(wildcard /usr/src/newlib/newlib-*.tar.xz) | $(PACKAGES)
	@echo "  newlib  $(@D)"
	+$(Q)scripts/newlib-host.sh $(@D) $(CC) $(NEWLIB_FLAGS)
	@touch $@

$(NATIVE_HOME)/libecube.a: $(call native_program,$(NATIVE_LIBRARY) $(LIBRARY_COMMON)) Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

$(NATIVE_HOME)/libecube-check.a: $(call native_program,$(CHECK_COMMON) $(NATIVE_CHECK)) Makefile
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

$(NATIVE_HOME)/start.o: $(call native_program,$(NATIVE_START))
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(NATIVE_HOME)/node_macros.h: $(NATIVE_MACROS)
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(NATIVE_HOME)/compiler: $(B)/native/flags
	@mkdir -p $(@D)
	$(Q)echo "native_flags='$(NATIVE_FLAGS)'" >$@

$(SDK_HOME)/native.ld: linker/native.ld.S board/$(BOARD)/board.h | $(PACKAGES)
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x assembler-with-cpp -I. -Iboard/$(BOARD) $< -o $@

$(B)/bench.gp: host/bench/bench.gp
$(B)/explain.gp: host/plan/explain.gp
$(FIGURES):
	$(Q)cp $< $@

$(B)/$(BOARD)/openocd.cfg: board/$(BOARD)/openocd.cfg
	@mkdir -p $(@D)
	$(Q)cp $< $@

# How programs are compiled: ecube-cc reads it.
$(SDK_HOME)/compiler: $(B)/$(BOARD)/flags
	@mkdir -p $(@D)
	$(Q){ echo "prefix='$(CROSS)'"; echo "flags='$(PROGRAM_FLAGS)'"; } >$@

$(B)/ecube-cc: lib/ecube-cc $(B)/board
	$(Q)sed 's/@BOARD@/$(BOARD)/' $< >$@ && chmod 755 $@

$(B)/man/made: $(B)/ecube $(B)/ecube-cc $(filter %-mpi,$(FAR_MADE)) $(PUBLIC_HEADERS) $(call in,scripts,man.sh man-header.awk man-help.awk man-roff.awk)
	@echo "  man   $(@D)"
	$(Q)scripts/man.sh $(B)
	@touch $@

$(B)/$(BOARD)/node.ld: linker/node.ld.S board/$(BOARD)/board.h | $(PACKAGES)
	@mkdir -p $(@D)
	$(Q)$(CROSS)gcc -E -P -x assembler-with-cpp -I. -Iboard/$(BOARD) $< -o $@

$(SDK_HOME)/program.ld: linker/program.ld.S board/$(BOARD)/board.h | $(PACKAGES)
	@mkdir -p $(@D)
	$(Q)$(CROSS)gcc -E -P -x assembler-with-cpp -I. -Iboard/$(BOARD) $< -o $@

define program_rule
$(B)/$(1): $(2) $(SDK) $(PUBLIC_HEADERS) $(B)/board
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(B)/ecube-cc -Wall -Wextra -Werror $(3) $(2) -o $$@
endef
# Likewise for this computer.
define native_program_rule
$(B)/$(1): $(2) $(NATIVE_SDK) $(PUBLIC_HEADERS) $(B)/board
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(B)/ecube-cc --native -Wall -Wextra -Werror $(3) $(2) -o $$@
endef
$(EXAMPLE_ELFS) $(EXAMPLE_SOS): examples/words.h
$(foreach e,$(EXAMPLES),$(eval $(call native_program_rule,examples/$(basename $(notdir $(e))).so,$(e),-iquote .)))
$(eval $(call native_program_rule,examples/collectives.so,$(COLLECTIVES_EXAMPLE),-iquote .))
$(call in,$(B)/examples,collectives.elf collectives.so): examples/collectives/messages.h
$(foreach e,$(LINEAR_ALGEBRA),$(eval $(call native_program_rule,examples/$(basename $(notdir $(e))).so,$(e) $(LINEAR_SHARED),-iquote .)))
$(foreach e,$(LINEAR_ALGEBRA),$(call in,$(B)/examples,$(basename $(notdir $(e))).elf $(basename $(notdir $(e))).so)): $(call in,examples/linear_algebra,grid.h linear.h)
$(foreach p,$(NATIVE_TWINS),$(eval $(call native_program_rule,tests/programs/$(basename $(notdir $(p))).so,$(p),-iquote board/$(BOARD))))
$(foreach p,$(NATIVE_PROGRAMS),$(eval $(call native_program_rule,tests/programs/$(basename $(notdir $(p))).so,$(p),-I.)))
$(B)/tests/lib/native_test: | $(B)/tests/programs/native_calls.so
$(eval $(call native_program_rule,papers/figure4.so,papers/figure4.c))
$(eval $(call native_program_rule,tests/programs/native_data_checked.so,tests/lib/programs/native_data.c,--check -I.))
$(B)/tests/lib/native_data_test: | $(call in,$(B)/tests/programs,native_data.so native_data_checked.so)
$(foreach p,$(BENCH_MPI),$(eval $(call native_program_rule,bench/native/$(basename $(notdir $(p))).so,$(p),-iquote .)))
$(BENCH_MPI:bench/mpi/%.c=$(B)/bench/native/%.so): bench/mpi/names.h
$(foreach e,$(EXAMPLES),$(eval $(call program_rule,examples/$(basename $(notdir $(e))).elf,$(e),-iquote .)))
$(eval $(call program_rule,examples/collectives.elf,$(COLLECTIVES_EXAMPLE),-iquote .))
$(foreach e,$(LINEAR_ALGEBRA),$(eval $(call program_rule,examples/$(basename $(notdir $(e))).elf,$(e) $(LINEAR_SHARED),-iquote .)))
# What these must not touch lies where the board says.
$(foreach p,$(SYSTEM_PROGRAMS),$(eval $(call program_rule,tests/programs/$(basename $(notdir $(p))).elf,$(p),-iquote board/$(BOARD))))
$(eval $(call program_rule,$(CHECKED_PROGRAM:tests/system/%.c=tests/%.elf),$(CHECKED_PROGRAM),--check))
$(eval $(call native_program_rule,$(CHECKED_PROGRAM:tests/system/%.c=tests/%.so),$(CHECKED_PROGRAM),--check))
$(foreach p,$(filter-out %/load.c,$(BENCH_PROGRAMS)),$(eval $(call program_rule,bench/$(basename $(notdir $(p))).elf,$(p))))
# It hashes as the kernel does.
$(eval $(call program_rule,bench/load.elf,bench/programs/load.c node/sha256.c,-iquote .))

$(B)/tests/plan_replay: $(call native,$(JUDGE))
$(B)/tests/native_run: $(call native,tests/lib/native_host.c)
$(SYSTEM_TOOLS:tests/system/%.c=$(B)/tests/%): $(B)/tests/%: $(call native,tests/system/%.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^ -ljansson

$(B)/bench/raw.elf: $(call kernel,$(filter-out boot/main.c,$(BOOT)) $(BOARD_DRIVERS) $(DRIVERS) $(BENCH_RAW)) $(B)/$(BOARD)/node.ld $(B)/board
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CROSS)gcc $(KERNEL_FLAGS) $(KERNEL_LINK) -T $(B)/$(BOARD)/node.ld -o $@ $(filter %.o,$^)

$(B)/bench/bench: $(call native,$(BENCH) $(BOARD_TABLE) $(BENCH_RIVALS) $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^ -ljansson -lm

$(B)/bench/scale: $(call native,$(BENCH_SCALE))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -o $@ $^ -ljansson -lm

$(B)/papers/papers: $(call native,papers/papers.c $(PAPERS) host/console/check.c $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ -ljansson -lm

# SimGrid loads a program into its own process: smpicc makes a shared library of it.
$(B)/bench/%.so: bench/simgrid/%.c $(B)/flags | $(PACKAGES)
	@mkdir -p $(@D)
	@echo "  cc    $@"
	$(Q)smpicc $(SMPI_CFLAGS) $< -o $@

$(B)/bench/smpi/%.so: bench/mpi/%.c bench/mpi/names.h $(B)/flags | $(PACKAGES)
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
$(eval $(call fuzz_rule,node,$(FUZZ_COMMON) $(FUZZ_NODE) $(ROOMS) $(PLANNER) $(NETWORK_TEXT) $(AUDIT) $(CRC_TABLES),,$(AUDIT_LINK)))
$(eval $(call fuzz_rule,host,$(FUZZ_COMMON) $(FUZZ_HOST) $(DRIVERS) $(WIRE) $(ROUTER) $(CRC_TABLES),-ljansson -lnettle,-Wl$(,)--wrap=json_pack))
$(eval $(call fuzz_rule,image,$(FUZZ_IMAGE),-lelf))
$(eval $(call fuzz_rule,chain,$(FUZZ_CHAIN)))
$(eval $(call fuzz_rule,relay,$(FUZZ_RELAY)))
$(eval $(call fuzz_rule,plan,$(FUZZ_PLAN) $(SIM) $(ROOMS) $(CRC_TABLES),$(SIM_LIBS)))
$(eval $(call fuzz_rule,debug,$(FUZZ_DEBUG)))
$(eval $(call fuzz_rule,shared,$(FUZZ_SHARED)))
$(eval $(call fuzz_rule,agents,$(FUZZ_AGENTS),-luv -ljansson -lgnutls))

$(B)/bench/sim_rate: $(call native,$(BENCH_SIM) $(SIM) $(ROOMS) $(CONTROLLER) $(PLANNER) $(CRC_TABLES) host/console/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(SIM_LIBS)

$(B)/campaign: $(call native,$(CAMPAIGN_MAIN) $(CAMPAIGN) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES) host/console/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ $(SIM_LIBS)

$(B)/mutants: $(call native,$(MUTANTS_MAIN) $(MUTANTS) $(PLAN_FILES) $(SIM) $(ROOMS) $(CRC_TABLES) host/console/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^ -ljansson $(SIM_LIBS)

$(B)/relations: $(call native,tests/planner/relations_main.c tests/planner/relations.c $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES) $(ROUTER) host/console/check.c)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^

$(B)/cliffs: $(call native,tests/planner/cliffs_main.c tests/planner/cliffs.c $(PLANNER) $(COLLECTIVES) $(NETWORK_ROOM) $(NETWORK_TEXT) $(REDUCTION) $(WIRE) $(DRIVERS) $(CRC_TABLES) $(ROUTER) host/console/check.c)
	@echo "  link  $@"
	$(Q)$(CC) -O2 -flto=auto -o $@ $^

# machine_test has processes, a program's file and the computer's load of its own.
WRAPPED_TESTS := $(B)/tests/campaign/shards_test $(B)/tests/fabric/plan_test $(B)/tests/sim/deadlock_test \
	$(B)/tests/host/machine_test $(B)/tests/host/rundir_test
# A process ends amid a run, or never does.
$(B)/tests/campaign/shards_test: TEST_LINK := -Wl,--wrap=sim_result
# Parts are changed at the cache, pieces of them are lost and repeated on their way.
$(B)/tests/fabric/plan_test: TEST_LINK := -Wl,--wrap=plan_cache_part,--wrap=router_send
# Circuits out of the order of dimensions, so that real nodes deadlock.
$(B)/tests/sim/deadlock_test: TEST_LINK := -Wl,--wrap=router_next_hop
# The tool is killed where it calls them.
$(B)/tests/host/rundir_test: TEST_LINK := -Wl,--wrap=flock,--wrap=rename
# What these test is the bench's and the report's, not the tool's.
$(B)/tests/bench/raw_run_test: $(call checked,bench/raw_run.c)
$(call in,$(B)/tests/papers,claims_test formula_test): $(call checked,$(PAPERS))
$(B)/tests/bench/never_slower_test $(B)/tests/bench/rivals_test: $(call checked,$(BENCH_RIVALS))

# The same test once more, with another sanitizer.
$(B)/tests/sim/race_test: $(call raced,$(TEST_RUNNER) tests/sim/threads_test.c $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES) host/console/check.c)
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=thread -o $@ $^ -lcmocka $(SIM_LIBS)

# The same tests once more, without sanitizers.
$(SWEPT_TESTS): $(B)/tests/%_swept_test: $(B)/tool/tests/%_test.o $(call native,$(TEST_RUNNER) $(SWEPT_SUPPORT) $(filter-out host/verbs/main.c,$(TOOL)) $(TOOL_JTAG) $(BOARD_TABLE) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES))
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fno-lto -o $@ $^ -lcmocka $(TOOL_LIBS)

# The tool, for native programs on several threads (tests/system/native_races_test.sh).
$(B)/ecube-raced: $(call raced,$(TOOL) $(TOOL_JTAG) $(BOARD_TABLE) $(SIM) $(ROOMS) $(PLANNER) $(CRC_TABLES))
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=thread -o $@ $^ $(TOOL_LIBS)

# A shared library, so that a change in a room relinks this and no test.
$(B)/host/librooms.so: $(CHECKED_ROOMS)
	@echo "  link  $@"
	$(Q)$(CC) -shared -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ $(TOOL_LIBS)

# An archive, so that only the tests that use the many-node loop or campaigns carry them.
$(B)/host/fabric_support.a: $(call checked,$(TEST_RUNNER) $(FABRIC_SUPPORT) $(UNIT_SUPPORT) $(CAMPAIGN) $(MUTANTS)) Makefile
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# Another cache in place of the planner's.
$(B)/tests/controller/plans_test: $(B)/host/tests/controller/fake_cache.o

$(CLUSTER_TESTS:%.c=$(B)/%): $(call checked,$(filter-out $(CLUSTER_PURE) host/cluster/main.c,$(CLUSTER)))
$(CLUSTER_TESTS:%.c=$(B)/%): private TOOL_LIBS += $(CLUSTER_LIBS)
$(B)/tests/%: $(B)/host/tests/%.o $(B)/host/fabric_support.a | $(B)/host/librooms.so
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) -o $@ $^ -L$(B)/host -lrooms -Wl,-rpath,'$$ORIGIN/../../host' -lcmocka $(TOOL_LIBS)

# These replace functions of rooms that rooms call, which only the linker can.
$(WRAPPED_TESTS): $(B)/tests/%: $(B)/host/tests/%.o $(B)/host/fabric_support.a $(B)/host/rooms.a
	@mkdir -p $(@D)
	@echo "  link  $@"
	$(Q)$(CC) -fsanitize=address,undefined $(AUDIT_LINK) $(TEST_LINK) -o $@ $^ -lcmocka $(TOOL_LIBS)

define target_rule
$(B)/tests/target/$(basename $(notdir $(1))).elf: $(call kernel,$(1) $(TARGET_GLUE)) $(BARE_OBJECTS) $(B)/$(BOARD)/node.ld $(B)/board
	@mkdir -p $$(@D)
	@echo "  link  $$@"
	$(Q)$(CROSS)gcc $(KERNEL_FLAGS) $(KERNEL_LINK) -T $(B)/$(BOARD)/node.ld \
		-o $$@ $$(filter %.o,$$^)
endef
$(foreach t,$(TARGET_TESTS),$(eval $(call target_rule,$(t))))

# Objects are made anew when the flags change: those for the nodes, and the others.
$(B)/$(BOARD)/flags: OBJECT_FLAGS := $(CROSS) $(KERNEL_CFLAGS) $(PROGRAM_CFLAGS)
$(B)/flags: OBJECT_FLAGS := $(CHECKED_CFLAGS) $(SEARCHED_CFLAGS) $(RACE_CFLAGS) $(TOOL_CFLAGS) $(FUZZ_CFLAGS)
$(B)/native/flags: OBJECT_FLAGS = $(CC) $(NATIVE_CFLAGS)
$(B)/flags $(B)/native/flags $(B)/$(BOARD)/flags $(NEWLIB_HOST)/flags: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; echo "$(OBJECT_FLAGS)" >$$new; \
	if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi
FORCE:

# One rule per way to compile; a source lies in the tree or, generated, under build/.
define compile_rules
$(B)/$(1)/%.o: %.c $(3) | $(PACKAGES)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(2) -c $$< -o $$@

$(B)/$(1)/%.o: $(B)/%.c $(3) | $(PACKAGES)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(2) -c $$< -o $$@

$(B)/$(1)/%.o: %.S $(3) | $(PACKAGES)
	@mkdir -p $$(@D)
	@echo "  cc    $$@"
	$(Q)$(2) -c $$< -o $$@
endef
$(eval $(call compile_rules,$(BOARD),$(CROSS)gcc $(KERNEL_CFLAGS),$(B)/$(BOARD)/flags))
$(eval $(call compile_rules,$(BOARD)/program,$(CROSS)gcc $(PROGRAM_CFLAGS),$(B)/$(BOARD)/flags))
$(eval $(call compile_rules,native/program,$(CC) $(NATIVE_CFLAGS),$(B)/native/flags $(NEWLIB_HOST)/made))
$(eval $(call compile_rules,host,$(CC) $(CHECKED_CFLAGS),$(B)/flags))
$(B)/host/planner/algorithms/%_search.o: planner/algorithms/%_search.c $(B)/flags | $(PACKAGES)
	@mkdir -p $(@D)
	@echo "  cc    $@"
	$(Q)$(CC) $(SEARCHED_CFLAGS) -c $< -o $@
$(eval $(call compile_rules,race,$(CC) $(RACE_CFLAGS),$(B)/flags))
$(eval $(call compile_rules,fuzz/objects,$(FUZZ_CC) $(FUZZ_CFLAGS),$(B)/flags))
$(eval $(call compile_rules,tool,$(CC) $(TOOL_CFLAGS),$(B)/flags))
$(eval $(call compile_rules,mpi,$(CC) $(TOOL_CFLAGS) $$(MPI_CFLAGS),$(B)/flags))

-include $(shell find $(B) -name '*.d' 2>/dev/null)
