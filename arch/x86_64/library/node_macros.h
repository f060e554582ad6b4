/*
 * node_macros.h - read before each source of a program on this computer (-imacros): what the
 * compiler says otherwise than on a node.
 *
 * There is no operating system. Integers of 64 bits are long long, so that a format that fits them
 * on the nodes fits them here; but intmax_t is what the compiler takes %jd for.
 *
 * Source   gcc -dM -E of both compilers
 */
#undef linux
#undef __linux
#undef __linux__
#undef __gnu_linux__
#undef unix
#undef __unix
#undef __unix__

#undef __INT64_TYPE__
#undef __UINT64_TYPE__
#undef __INT_LEAST64_TYPE__
#undef __UINT_LEAST64_TYPE__
#undef __INT_FAST64_TYPE__
#undef __UINT_FAST64_TYPE__
#define __INT64_TYPE__        long long int
#define __UINT64_TYPE__       long long unsigned int
#define __INT_LEAST64_TYPE__  long long int
#define __UINT_LEAST64_TYPE__ long long unsigned int
#define __INT_FAST64_TYPE__   long long int
#define __UINT_FAST64_TYPE__  long long unsigned int

#undef __INT64_C
#undef __UINT64_C
#define __INT64_C(value)  value##LL
#define __UINT64_C(value) value##ULL

#undef __INT64_MAX__
#undef __UINT64_MAX__
#undef __INT_LEAST64_MAX__
#undef __UINT_LEAST64_MAX__
#undef __INT_FAST64_MAX__
#undef __UINT_FAST64_MAX__
#define __INT64_MAX__        0x7fffffffffffffffLL
#define __UINT64_MAX__       0xffffffffffffffffULL
#define __INT_LEAST64_MAX__  0x7fffffffffffffffLL
#define __UINT_LEAST64_MAX__ 0xffffffffffffffffULL
#define __INT_FAST64_MAX__   0x7fffffffffffffffLL
#define __UINT_FAST64_MAX__  0xffffffffffffffffULL
