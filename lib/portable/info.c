/*
 * info.c - what the kernel told the program about its node, and the calls that read it.
 */
#include "lib/portable/call.h"
#include "include/ecube/ecube.h"

static struct ecube_abi_info info;
static struct ecube_profile profile;

void ecube_program_info_load(void)
{
    ecube_call(ECUBE_CALL_INFO, ecube_address(&info), 0);
    profile = (struct ecube_profile){
        .xi_ns = info.xi_ns,
        .tau_ns = info.tau_ns,
        .element_ns = info.element_ns,
        .sigma_permille = info.sigma_permille,
        .ports = info.ports,
        .element_bytes = info.element_bytes,
    };
}

const struct ecube_abi_info *ecube_program_info(void)
{
    return &info;
}

int ecube_rank(void)
{
    return (int)info.rank;
}

int ecube_size(void)
{
    return (int)info.size;
}

int ecube_dims(void)
{
    return (int)info.dims;
}

const struct ecube_profile *ecube_profile(void)
{
    return &profile;
}
