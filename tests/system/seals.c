/*
 * seals.c - seals FILE: what can no more be done with a file in memory: "shrink grow seal" and
 * perhaps "write", in one line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words)
{
    int fd = count == 2 ? open(words[1], O_RDWR | O_CLOEXEC) : -1;
    int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);

    if (seals < 0) {
        perror(count == 2 ? words[1] : "seals FILE");
        return 1;
    }
    printf("%s%s%s%s\n", seals & F_SEAL_SHRINK ? "shrink " : "", seals & F_SEAL_GROW ? "grow " : "",
           seals & F_SEAL_SEAL ? "seal " : "", seals & F_SEAL_WRITE ? "write" : "");
    close(fd);
    return 0;
}
