/* cli/args/backends.c: the backends of this program, the preferred ones first. */
#include "cli/args/backends.h"

#include "cli/args/options.h"
#include "cli/version.h"

#include "cuda/load.h"
#include "engine/backend.h"

#include <stdlib.h>
#include <string.h>

/* fake computes nothing: it is there for tests, and only when they ask for it; alone, it is what every
 * experiment without a backend of its own trains on. */
const struct backend *const *cli_backends(void)
{
    static const struct backend *const all[] = {&cuda_backend, &cpu_backend, &ref_backend,
                                                &fake_backend, NULL};
    static const struct backend *const usual[] = {&cuda_backend, &cpu_backend, &ref_backend, NULL};
    static const struct backend *const alone[] = {&fake_backend, NULL};
    const char *fake = getenv("CHORUS_FAKE");

    if (fake && !strcmp(fake, "only"))
        return alone;
    return fake && !strcmp(fake, "1") ? all : usual;
}

struct engine_config cli_engine_config(void)
{
    return (struct engine_config){.results = cli_results(),
                                  .places = *cli_places(),
                                  .backends = cli_backends(),
                                  .version = chorus_version};
}
