#include "host/profile/profiles.h"

#include <string.h>
#include <unistd.h>

#include "host/console/choice.h"
#include "host/profile/profile_file.h"

const char profile_default[] = "ipsc860";

/*
 * Papers give a + b k + c i for k bytes over i hops. By clock.h that is xi + i tau + (i + k - 1) e:
 * e = b, tau = c - b, xi = a + b.
 *
 * Example  iPSC/860, 65 + 0.425 k + 10 i us: e = 425, tau = 9575, xi = 65425 ns
 */
static const struct machine_profile built_in[] = {
    {.name = "ipsc860",
     .profile = {.xi_ns = 65425,
                 .tau_ns = 9575,
                 .element_ns = 425,
                 .sigma_permille = 1500,
                 .element_bytes = 1},
     .source = "Boppana & Raghavendra, CENG 90-20 (1990), section 3.2: 65 + 0.425 k + 10 i us for "
               "k bytes over i hops, as measured by Bokhari (ICASE Technical Report 10, 1990)"},
    {.name = "ipsc2",
     .profile = {.xi_ns = 340425,
                 .tau_ns = 9575,
                 .element_ns = 357,
                 .sigma_permille = 1500,
                 .element_bytes = 1},
     .source = "Intel's figures for the Direct-Connect routers: 350 us for an empty message to a "
               "neighbour, 2.8 Mbyte/s over a link each way; set-up of a hop as on the iPSC/860",
     .note = "the 350 us were what Intel aimed at; the first software took 490"},
    {.name = "delta",
     .profile = {.xi_ns = 318736,
                 .tau_ns = 0,
                 .element_ns = 243,
                 .sigma_permille = 1500,
                 .element_bytes = 1},
     .source =
         "Thakur, Choudhary & Fox, Complete Exchange on a Wormhole Routed Mesh (1993), table 2: "
         "least squares of the 15 steps on 4 x 4 nodes; no set-up of a hop, as their model",
     .note =
         "its links are not shared here: a circuit has them alone. On the Delta two messages went "
         "over a link as fast as one (beta = 2 beta_sat), so what contends takes longer here"},
    {.name = "t800",
     .profile = {.xi_ns = 0,
                 .tau_ns = 2000,
                 .element_ns = 575,
                 .sigma_permille = 1000,
                 .ports = PORTS_ALL,
                 .element_bytes = 1},
     .source = "INMOS, Transputer Reference Manual (1988), IMS T800: links of 20 Mbit/s carry 1.74 "
               "Mbyte/s one way; an output and an input instruction of some 20 cycles of 50 ns for "
               "each hop",
     .note = "a transputer has four links; nodes on the way pass bytes on as they come here, where "
             "it stores messages or packets"},
    {.name = "unit",
     .profile = {.xi_ns = 1000,
                 .tau_ns = 1000,
                 .element_ns = 1000,
                 .sigma_permille = 1500,
                 .element_bytes = 1},
     .source = "no machine: start-up, hop and byte take 1 us each, for sums by hand"},
};

const struct machine_profile *profile_built_in(unsigned index)
{
    return index < sizeof built_in / sizeof built_in[0] ? &built_in[index] : NULL;
}

/* Whether a word that is no name means a file: it looks like a path, or there is one; or standard
 * input. */
static bool means_file(const char *word)
{
    return strcmp(word, "-") == 0 || strpbrk(word, "/.") || access(word, F_OK) == 0;
}

int profile_find(const char *word, struct machine_profile *found, struct message *message)
{
    const struct machine_profile *one;
    struct choice choice;

    choice_begin(&choice, word);
    for (unsigned i = 0; (one = profile_built_in(i)); i++) {
        if (choice_offer(&choice, one->name)) {
            *found = *one;
            return 0;
        }
    }
    if (means_file(word)) {
        return profile_file_read(word, found, message);
    }
    return choice.near ? choice_refuse(&choice, "unknown profile", message)
                       : message_set(message, "unknown profile '%.40s': use %s, or a file", word,
                                     choice.names);
}
