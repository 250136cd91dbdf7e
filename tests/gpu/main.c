/* All tests that run on a GPU in one program: NAME [WORD] runs one of them, nothing lists them. */
#include "cuda/load.h"

#include <stdio.h>
#include <string.h>

#define TEST_PROGRAM(name) int name##_main(int argc, char **argv);
#include "names.h"
#undef TEST_PROGRAM

#undef main
int main(int argc, char **argv)
{
    cuda_pin_order();
#define TEST_PROGRAM(name)                                                                         \
    if (argc < 2)                                                                                  \
        puts(#name);                                                                               \
    else if (!strcmp(argv[1], #name))                                                              \
        return name##_main(argc - 1, argv + 1);
#include "names.h"
    return argc < 2 ? 0 : 2;
}
