/*
 * mirrors.c - mirrors [SECONDS]: each node leaves as its output what it was given: its window of
 * the input, its private data, then what is common. Rank 0 sleeps so long before.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ecube.h>

int main(int argc, char **argv)
{
    if (argc > 1 && ecube_rank() == 0) {
        sleep((unsigned)atoi(argv[1]));
    }
    size_t input_bytes, private_bytes, common_bytes;
    const void *input = ecube_input(&input_bytes);
    const void *own = ecube_private(&private_bytes);
    const void *common = ecube_common(&common_bytes);
    size_t bytes = input_bytes + private_bytes + common_bytes;
    char *output = malloc(bytes + 1);

    if (!output) {
        return 1;
    }
    memcpy(output, input ? input : "", input_bytes);
    memcpy(output + input_bytes, own ? own : "", private_bytes);
    memcpy(output + input_bytes + private_bytes, common ? common : "", common_bytes);
    return ecube_output(output, bytes) == ECUBE_OK ? 0 : 2;
}
