# The examples, for an ecube that is installed. Copy this folder to a place of yours, then
#
#   make                        all of them, for the nodes: hello.elf, ...
#   make hello.elf              one of them
#   make hello.so               one for the simulator: ecube sim hello.so
#   make run                    hello on eight nodes
#
# Each source says at its head what it shows and how it is called. A file NAME.c of your own beside this one becomes
# NAME.elf in the same way. ecube and ecube-cc are those in PATH, unless ECUBE and ECUBE_CC name others.
ECUBE ?= ecube
ECUBE_CC ?= ecube-cc

# What the programs in linear_algebra share; a part of collectives. The words of all are read by words.h.
SHARED := linear_algebra/grid.c linear_algebra/linear.c
PARTS := $(addprefix collectives/,messages.c)
SOURCES := $(filter-out $(SHARED) $(PARTS),$(sort $(wildcard *.c */*.c)))
NAMES := $(basename $(notdir $(SOURCES)))
LINEAR := $(basename $(notdir $(filter linear_algebra/%,$(SOURCES))))

.PHONY: all run clean
all: $(NAMES:%=%.elf)

run: hello.elf
	$(ECUBE) run --network cube:3 hello.elf

clean:
	rm -f $(NAMES:%=%.elf) $(NAMES:%=%.so)

$(NAMES:%=%.elf) $(NAMES:%=%.so): words.h
vpath %.c $(sort $(dir $(SOURCES)))
$(LINEAR:%=%.elf) $(LINEAR:%=%.so): $(SHARED) $(wildcard linear_algebra/*.h)
collectives.elf collectives.so: $(PARTS) $(PARTS:.c=.h)

%.elf: %.c
	$(ECUBE_CC) -Wall -iquote . $(filter %.c,$^) -o $@

%.so: %.c
	$(ECUBE_CC) --native -Wall -iquote . $(filter %.c,$^) -o $@
