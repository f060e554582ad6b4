/* nothing.c - a program that ends at once: what remains is the boot and the download. */
int main(void)
{
    return 0;
}
