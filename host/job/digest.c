#include "host/job/digest.h"

#include <nettle/sha2.h>

enum { SLICE_BYTES = 1 << 20 };

bool digest_of(const uint8_t *data, size_t bytes, const atomic_bool *stop,
               uint8_t digest[DIGEST_BYTES])
{
    struct sha256_ctx context;

    sha256_init(&context);
    for (size_t done = 0, slice; done < bytes; done += slice) {
        slice = bytes - done < SLICE_BYTES ? bytes - done : SLICE_BYTES;
        if (stop && atomic_load(stop)) {
            return false;
        }
        sha256_update(&context, slice, data + done);
    }
    sha256_digest(&context, DIGEST_BYTES, digest);
    return true;
}
