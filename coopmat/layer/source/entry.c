/* The entry points that the loader calls, and the lookup of extension functions by name. */
#define _GNU_SOURCE
#include "layer.h"

#include <CL/cl_layer.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

/* If the loader knows fewer functions than these headers, the remaining entries are NULL. */
static cl_icd_dispatch below, table;
const cl_icd_dispatch *next;
pthread_mutex_t layer_lock = PTHREAD_MUTEX_INITIALIZER;

static void *own_function(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        { "clGetDeviceCooperativeMatrixInfoKHR", (void *)layer_GetDeviceCooperativeMatrixInfo },
        { "clCreateProgramWithILKHR", (void *)layer_CreateProgramWithIL },
        { "clGetKernelSubGroupInfoKHR", (void *)layer_GetKernelSubGroupInfoKHR },
        { "clCommandNDRangeKernelKHR", (void *)layer_CommandNDRangeKernel },
        { "clGetKernelSuggestedLocalWorkSizeKHR", (void *)layer_GetKernelSuggestedLocalWorkSize },
    };
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(name, functions[i].name))
            return functions[i].function;
    return NULL;
}

static void *CL_API_CALL GetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    void *own = own_function(name), *drivers = next->clGetExtensionFunctionAddressForPlatform(platform, name);
    bool is_new = platform && own == (void *)layer_GetDeviceCooperativeMatrixInfo;
    return own && (drivers || is_new) ? own : drivers;
}

static void *CL_API_CALL GetExtensionFunctionAddress(const char *name)
{
    void *own = own_function(name), *drivers = next->clGetExtensionFunctionAddress(name);
    return own && (drivers || own == (void *)layer_GetDeviceCooperativeMatrixInfo) ? own : drivers;
}

/* Keep the locks free in the child of a fork, which will start its own helper. */
static void before_fork(void)
{
    lock_helper();
    pthread_mutex_lock(&layer_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&layer_lock);
    unlock_helper();
}

API cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *to, size_t *written)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "coopmat";
    if (what == CL_LAYER_API_VERSION)
        return give(&version, sizeof version, room, to, written);
    if (what == CL_LAYER_NAME)
        return give(name, sizeof name, room, to, written);
    return CL_INVALID_VALUE;
}

API cl_int CL_API_CALL clInitLayer(
    cl_uint count, const cl_icd_dispatch *target, cl_uint *written, const cl_icd_dispatch **result)
{
    const cl_uint known = sizeof table / sizeof(void *);
    if (!target || !written || !result)
        return CL_INVALID_VALUE;
    if (!next)
        pthread_atfork(before_fork, after_fork, after_fork);
    memset(&below, 0, sizeof below);
    memcpy(&below, target, (count < known ? count : known) * sizeof(void *));
    next = &below;
    table = below;
#define OVERRIDE(name) table.cl##name = below.cl##name ? layer_##name : NULL
    OVERRIDE(GetDeviceInfo);
    OVERRIDE(CreateSubDevices);
    OVERRIDE(CreateProgramWithIL);
    OVERRIDE(CreateProgramWithSource);
    OVERRIDE(CreateProgramWithBinary);
    OVERRIDE(RetainProgram);
    OVERRIDE(ReleaseProgram);
    OVERRIDE(SetProgramSpecializationConstant);
    OVERRIDE(BuildProgram);
    OVERRIDE(CompileProgram);
    OVERRIDE(LinkProgram);
    OVERRIDE(GetProgramInfo);
    OVERRIDE(GetProgramBuildInfo);
    OVERRIDE(CreateKernel);
    OVERRIDE(CreateKernelsInProgram);
    OVERRIDE(CloneKernel);
    OVERRIDE(RetainKernel);
    OVERRIDE(ReleaseKernel);
    OVERRIDE(GetKernelInfo);
    OVERRIDE(GetKernelSubGroupInfo);
    OVERRIDE(GetKernelWorkGroupInfo);
    OVERRIDE(EnqueueNDRangeKernel);
#undef OVERRIDE
    if (below.clGetKernelSubGroupInfoKHR)
        table.clGetKernelSubGroupInfoKHR = layer_GetKernelSubGroupInfoKHR;
    table.clGetExtensionFunctionAddress = GetExtensionFunctionAddress;
    table.clGetExtensionFunctionAddressForPlatform = GetExtensionFunctionAddressForPlatform;
    *written = count < known ? count : known;
    *result = &table;
    return CL_SUCCESS;
}

API cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count, const cl_icd_dispatch *target, cl_uint *written,
    const cl_icd_dispatch **result, const cl_properties *properties)
{
    (void)properties;
    return clInitLayer(count, target, written, result);
}

API cl_int CL_API_CALL clDeinitLayer(void)
{
    stop_helper();
    return CL_SUCCESS;
}
