/*
 * thread.c - where the variables of the one thread lie (_Thread_local), as the linker script says.
 *
 * Source   U. Drepper, ELF Handling For Thread-Local Storage, 3.4.6 (__tls_get_addr) and 4.1.6
 */
struct thread_variable {
    unsigned long module, offset;
};

/* From the linker script: the first of them. */
extern char program_thread[];

void *__tls_get_addr(const struct thread_variable *variable);

void *__tls_get_addr(const struct thread_variable *variable)
{
    return program_thread + variable->offset;
}
