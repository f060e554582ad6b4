/*
 * hello.c - every node says who it is and what arguments it got.
 */
#include <ecube.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    printf("hello from node %d of %d", ecube_rank(), ecube_size());
    if (ecube_dims() >= 0) {
        printf(", a cube of %d dimensions", ecube_dims());
    }
    printf("\n");
    for (int i = 1; i < argc; i++) {
        printf("argument %d: %s\n", i, argv[i]);
    }
    return 0;
}
