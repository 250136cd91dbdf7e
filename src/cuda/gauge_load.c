/* cuda/gauge_load.c: NVML's functions out of the driver's shared library, declared by hand. */
#include "cuda/gauge.h"
#include "cuda/rt/libs.h"

#include "base/system/library.h"
#include "base/mem.h"

#include <dlfcn.h>

const struct cuda_nvml *cuda_nvml_load(void)
{
    static struct cuda_nvml table;
    const struct cuda_lib_entry entries[] = {
        {&table.init, "nvmlInit_v2"},
        {&table.by_bus, "nvmlDeviceGetHandleByPciBusId_v2"},
        {&table.utilisation, "nvmlDeviceGetUtilizationRates"},
        {&table.memory, "nvmlDeviceGetMemoryInfo"},
        {&table.temperature, "nvmlDeviceGetTemperature"},
        {&table.power, "nvmlDeviceGetPowerUsage"},
        {&table.driver, "nvmlSystemGetDriverVersion"},
    };
    const char *file = "libnvidia-ml.so.1"; /* the driver puts it where the loader looks */
    void *library = library_open(file, RTLD_NOW, NULL);

    if (!library || cuda_lib_bind(library, file, entries, MEM_COUNT(entries), NULL) != ERR_OK)
        return NULL;
    return table.init() == 0 ? &table : NULL;
}
