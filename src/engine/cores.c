/* Parts of the cores, for runs side by side: pinned apart, none waits for another one's threads. */
#include "engine/engine_int.h"

void cores_take(int share, int shares, cpu_set_t *before)
{
    cpu_set_t allowed, mine;
    int each, first, n = 0;

    CPU_ZERO(&allowed);
    CPU_ZERO(&mine);
    if (pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) == 0 && shares > 1 &&
        CPU_COUNT(&allowed) > 0) {
        /* more runs than cores: several on one */
        each = CPU_COUNT(&allowed) / shares > 1 ? CPU_COUNT(&allowed) / shares : 1;
        first = share * each % CPU_COUNT(&allowed);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &allowed))
                continue;
            if (n >= first && n < first + each)
                CPU_SET(cpu, &mine);
            n++;
        }
        pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
    }
    if (before)
        *before = allowed;
}

void cores_give_back(const cpu_set_t *before)
{
    if (CPU_COUNT(before) > 0) /* else nobody knows what it was */
        pthread_setaffinity_np(pthread_self(), sizeof *before, before);
}
