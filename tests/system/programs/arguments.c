/* arguments.c - prints its rank, the number of nodes and its arguments. */
#include <stdio.h>

#include <ecube.h>

int main(int argc, char **argv)
{
    printf("node %d of %d:", ecube_rank(), ecube_size());
    for (int i = 1; i < argc; i++) {
        printf(" [%s]", argv[i]);
    }
    printf("\n");
    return 0;
}
