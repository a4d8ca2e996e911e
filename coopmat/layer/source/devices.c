/* Devices: their properties, and the queries that the layer answers for devices without the extension. */
#define _GNU_SOURCE
#include "layer.h"

#if defined __x86_64__
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* `former_devices` has the records of handles that the driver has reused; a thread may still use such a record. */
static device *devices, *former_devices;

cl_int give(const void *data, size_t size, size_t room, void *to, size_t *written)
{
    if (to && room < size)
        return CL_INVALID_VALUE;
    if (to && size)
        memcpy(to, data, size);
    if (written)
        *written = size;
    return CL_SUCCESS;
}

static char *text_info(cl_device_id id, cl_device_info what)
{
    size_t size = 0;
    if (next->clGetDeviceInfo(id, what, 0, NULL, &size))
        size = 0;
    char *text = calloc(1, size + 1);
    if (text && size && next->clGetDeviceInfo(id, what, size, text, NULL))
        *text = 0;
    return text;
}

static unsigned long long number_info(cl_device_id id, cl_device_info what, size_t size)
{
    cl_ulong wide = 0;
    cl_uint narrow = 0;
    if (size == sizeof narrow)
        return next->clGetDeviceInfo(id, what, sizeof narrow, &narrow, NULL) ? 0 : narrow;
    return next->clGetDeviceInfo(id, what, sizeof wide, &wide, NULL) ? 0 : wide;
}

/* Returns whether a list of words, separated by spaces, contains a word. */
static bool has_word(const char *words, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += size)
        if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' '))
            return true;
    return false;
}

static void put_platform(message *facts, cl_device_id id)
{
    cl_platform_id platform = NULL;
    char name[256] = "";
    if (!next->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL))
        if (next->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL))
            *name = 0;
    put_text(facts, "CL_PLATFORM_NAME", name);
}

static void describe(device *d, const char *extensions)
{
    static const struct {
        const char *name;
        cl_device_info what;
    } texts[] = {
        { "CL_DEVICE_NAME", CL_DEVICE_NAME },
        { "CL_DEVICE_VERSION", CL_DEVICE_VERSION },
        { "CL_DRIVER_VERSION", CL_DRIVER_VERSION },
        { "CL_DEVICE_OPENCL_C_VERSION", CL_DEVICE_OPENCL_C_VERSION },
        { "CL_DEVICE_IL_VERSION", CL_DEVICE_IL_VERSION },
    };
    static const struct {
        const char *name;
        cl_device_info what;
        size_t size;
    } numbers[] = {
        { "CL_DEVICE_TYPE", CL_DEVICE_TYPE, sizeof(cl_ulong) },
        { "CL_DEVICE_MAX_NUM_SUB_GROUPS", CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(cl_uint) },
        { "CL_DEVICE_MAX_COMPUTE_UNITS", CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint) },
        { "CL_DEVICE_LOCAL_MEM_SIZE", CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong) },
        { "CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint) },
        { "CL_DEVICE_ADDRESS_BITS", CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint) },
    };
    enum { SUB_GROUP_SIZES_INTEL = 0x4108 };
    size_t sizes[32], size = 0;
    put_platform(&d->facts, d->id);
    put_text(&d->facts, "CL_DEVICE_EXTENSIONS", extensions);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = text_info(d->id, texts[i].what);
        put_text(&d->facts, texts[i].name, text);
        int major, minor;
        if (texts[i].what == CL_DEVICE_VERSION && text && sscanf(text, "OpenCL %d.%d", &major, &minor) == 2)
            d->is_before_2_1 = major < 2 || (major == 2 && minor < 1), d->hides_features = d->emulated && major >= 3;
        free(text);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(&d->facts, numbers[i].name, number_info(d->id, numbers[i].what, numbers[i].size));
    if (has_word(extensions, "cl_intel_required_subgroup_size")
        && !next->clGetDeviceInfo(d->id, SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &size))
        for (size_t i = 0; i < size / sizeof *sizes; i++)
            put_number(&d->facts, "sub_group_size", sizes[i]);
}

device *device_of(cl_device_id id)
{
    device *d;
    pthread_mutex_lock(&layer_lock);
    for (d = devices; d && d->id != id; d = d->next) { }
    pthread_mutex_unlock(&layer_lock);
    if (d)
        return d;
    char *extensions = text_info(id, CL_DEVICE_EXTENSIONS);
    d = extensions && *extensions ? calloc(1, sizeof *d) : NULL;
    if (d) {
        d->id = id;
        d->emulated = !has_word(extensions, EXTENSION);
        describe(d, extensions);
        pthread_mutex_lock(&layer_lock);
        device *other = devices; /* another thread may have added the device meanwhile */
        while (other && other->id != id)
            other = other->next;
        if (!other) {
            d->next = devices;
            devices = d;
        }
        pthread_mutex_unlock(&layer_lock);
        if (other) {
            release_message(&d->facts);
            free(d);
            d = other;
        }
    }
    free(extensions);
    return d;
}

cl_int CL_API_CALL layer_CreateSubDevices(
    cl_device_id id, const cl_device_partition_property *properties, cl_uint room, cl_device_id *to, cl_uint *count)
{
    cl_uint made = 0;
    cl_int error = next->clCreateSubDevices(id, properties, room, to, &made);
    if (count && !error)
        *count = made;
    for (cl_uint i = 0; !error && to && i < made && i < room; i++) {
        pthread_mutex_lock(&layer_lock);
        for (device **at = &devices; *at; at = &(*at)->next)
            if ((*at)->id == to[i]) {
                device *former = *at;
                *at = former->next;
                former->next = former_devices;
                former_devices = former;
                break;
            }
        pthread_mutex_unlock(&layer_lock);
    }
    return error;
}

bool same_facts(const device *a, const device *b)
{
    return a->facts.size == b->facts.size && !memcmp(a->facts.bytes, b->facts.bytes, a->facts.size);
}

void put_driver(message *m, cl_device_id id)
{
    /* Objects of a driver begin with a pointer to its table of functions. */
    const cl_icd_dispatch *table = *(const cl_icd_dispatch *const *)id;
    Dl_info library;
    put_text(m, "library", dladdr((void *)table->clGetDeviceInfo, &library) ? library.dli_fname : "");
#if defined __x86_64__
    /* The processor's model and features. Values that differ between cores are left out. */
    unsigned words[6] = { 0 }, ignored;
    __get_cpuid(1, &words[0], &ignored, &words[1], &words[2]);
    __get_cpuid_count(7, 0, &ignored, &words[3], &words[4], &words[5]);
    put(m, "processor", words, sizeof words);
#endif
    for (char **at = environ; *at; at++)
        if (!strncmp(*at, "CL_CONFIG_", 10))
            put_text(m, "variable", *at);
}

static bool is_emulated(cl_device_id id)
{
    const device *d = device_of(id);
    return d && d->emulated;
}

/* Answers a query of extensions: the device's own, and cl_khr_cooperative_matrix. */
static cl_int extensions_info(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *written)
{
    size_t size = 0;
    cl_int error = next->clGetDeviceInfo(id, what, 0, NULL, &size);
    if (error)
        return error;
    char *all = calloc(1, size + sizeof EXTENSION + sizeof(cl_name_version) + 1);
    if (!all)
        return CL_OUT_OF_HOST_MEMORY;
    error = next->clGetDeviceInfo(id, what, size, all, NULL);
    if (what == CL_DEVICE_EXTENSIONS) {
        size = strlen(all);
        size += (size_t)sprintf(all + size, "%s" EXTENSION, size && all[size - 1] != ' ' ? " " : "") + 1;
    } else {
        cl_name_version version = { CL_MAKE_VERSION(1, 0, 0), EXTENSION };
        memcpy(all + size, &version, sizeof version);
        size += sizeof version;
    }
    if (!error)
        error = give(all, size, room, to, written);
    free(all);
    return error;
}

/* Answers a query of cl_khr_spirv_queries: the device's own extension names and SPV_KHR_cooperative_matrix, or its own
 * capabilities and the matrix capability. Returns the error of a device that lacks these queries. */
static cl_int spirv_info(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *written)
{
    static const char *const extension = "SPV_KHR_cooperative_matrix";
    static const cl_uint capability = COOPERATIVE_MATRIX_KHR;
    const bool is_name = what == DEVICE_SPIRV_EXTENSIONS;
    const size_t more = is_name ? sizeof extension : sizeof capability;
    size_t size = 0;
    cl_int error = next->clGetDeviceInfo(id, what, 0, NULL, &size);
    if (error)
        return error;
    char *all = malloc(size + more);
    if (!all)
        return CL_OUT_OF_HOST_MEMORY;
    error = size ? next->clGetDeviceInfo(id, what, size, all, NULL) : CL_SUCCESS;
    memcpy(all + size, is_name ? (const void *)&extension : &capability, more);
    if (!error)
        error = give(all, size + more, room, to, written);
    free(all);
    return error;
}

/* Answers a query of OpenCL C features: the device's own, without those that the compiler lacks. */
static cl_int features_info(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *written)
{
    static const char *const missing[] = { "__opencl_c_device_enqueue", "__opencl_c_pipes" };
    size_t size = 0, kept = 0;
    cl_int error = next->clGetDeviceInfo(id, what, 0, NULL, &size);
    cl_name_version *all = error ? NULL : calloc(1, size + 1);
    if (!all)
        return error ? error : CL_OUT_OF_HOST_MEMORY;
    error = size ? next->clGetDeviceInfo(id, what, size, all, NULL) : CL_SUCCESS;
    for (size_t i = 0; i < size / sizeof *all; i++) {
        bool is_missing = false;
        for (size_t j = 0; j < sizeof missing / sizeof *missing; j++)
            is_missing |= !strncmp(all[i].name, missing[j], sizeof all[i].name);
        if (!is_missing)
            all[kept++] = all[i];
    }
    if (!error)
        error = give(all, kept * sizeof *all, room, to, written);
    free(all);
    return error;
}

/* Returns the size in bytes of the answer to a query about device-side queues or pipes, whose value is 0 if the device
 * has none; returns 0 for other queries. */
static size_t size_of_missing(cl_device_info what)
{
    switch (what) {
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
        return sizeof(cl_device_device_enqueue_capabilities);
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
        return sizeof(cl_command_queue_properties);
    case CL_DEVICE_PIPE_SUPPORT:
        return sizeof(cl_bool);
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
        return sizeof(cl_uint);
    }
    return 0;
}

static bool hides_features(cl_device_id id)
{
    const device *d = device_of(id);
    return d && d->hides_features;
}

cl_int CL_API_CALL layer_GetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *written)
{
    static const cl_ulong zero;
    const cl_uint one = 1;
    if (size_of_missing(what) && hides_features(id))
        return give(&zero, size_of_missing(what), room, to, written);
    switch (what) {
    case CL_DEVICE_EXTENSIONS:
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        if (is_emulated(id))
            return extensions_info(id, what, room, to, written);
        break;
    case CL_DEVICE_OPENCL_C_FEATURES:
        if (hides_features(id))
            return features_info(id, what, room, to, written);
        break;
    case DEVICE_SPIRV_EXTENSIONS:
    case DEVICE_SPIRV_CAPABILITIES:
        if (is_emulated(id))
            return spirv_info(id, what, room, to, written);
        break;
    case DEVICE_POINTER_ALIGNMENT:
    case DEVICE_STRIDE_MULTIPLE:
        if (is_emulated(id))
            return give(&one, sizeof one, room, to, written);
        break;
    case DEVICE_DEFAULT_SUB_GROUP_VARIANTS:
        if (is_emulated(id))
            return layer_GetDeviceCooperativeMatrixInfo(id, what, 0, NULL, room, to, written);
        break;
    }
    return next->clGetDeviceInfo(id, what, room, to, written);
}

typedef cl_int(CL_API_CALL *matrix_info)(cl_device_id, cl_uint, size_t, const void *, size_t, void *, size_t *);

static cl_int own_matrix_info(cl_device_id id, cl_uint what, size_t size, const void *input, size_t room, void *to,
    size_t *written)
{
    cl_platform_id platform = NULL;
    cl_int error = next->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (error)
        return error;
    matrix_info own = (matrix_info)next->clGetExtensionFunctionAddressForPlatform(
        platform, "clGetDeviceCooperativeMatrixInfoKHR");
    return own ? own(id, what, size, input, room, to, written) : CL_INVALID_OPERATION;
}

/* Answers with the records for a subgroup size, or the default size for 0. The records for the default size are
 * kept. */
static cl_int variants_of(device *d, cl_uint sub_group_size, size_t room, void *to, size_t *written)
{
    pthread_mutex_lock(&layer_lock);
    bool is_kept = !sub_group_size && d->variants;
    cl_int result = is_kept ? give(d->variants, d->variants_size, room, to, written) : CL_SUCCESS;
    pthread_mutex_unlock(&layer_lock);
    if (is_kept)
        return result;
    message request = { 0 }, answer;
    field found;
    char *why;
    put_text(&request, "operation", "variants");
    put(&request, "device", d->facts.bytes, d->facts.size);
    put_number(&request, "sub_group_size", sub_group_size);
    put_text(&request, "chosen", getenv("COOPMAT_LAYER_VARIANTS"));
    bool answered = ask(&request, &answer, &why);
    release_message(&request);
    free(why);
    if (!answered || !find(&answer, "variants", &found) || found.size % VARIANT_SIZE) {
        release_message(&answer);
        return CL_OUT_OF_RESOURCES;
    }
    result = give(found.data, found.size, room, to, written);
    if (!sub_group_size) {
        cl_uint *copy = malloc(found.size ? found.size : 1);
        if (copy && found.size)
            memcpy(copy, found.data, found.size);
        pthread_mutex_lock(&layer_lock);
        if (!d->variants && copy) {
            d->variants = copy;
            d->variants_size = found.size;
            copy = NULL;
        }
        pthread_mutex_unlock(&layer_lock);
        free(copy);
    }
    release_message(&answer);
    return result;
}

cl_int CL_API_CALL layer_GetDeviceCooperativeMatrixInfo(
    cl_device_id id, cl_uint what, size_t size, const void *input, size_t room, void *to, size_t *written)
{
    device *d = device_of(id);
    cl_uint sub_group_size = 0;
    if (!d)
        return CL_INVALID_DEVICE;
    if (!d->emulated)
        return own_matrix_info(id, what, size, input, room, to, written);
    if (what == DEVICE_SUB_GROUP_VARIANTS) {
        if (!input || size != sizeof sub_group_size)
            return CL_INVALID_VALUE;
        memcpy(&sub_group_size, input, sizeof sub_group_size);
        if (!sub_group_size)
            return CL_INVALID_VALUE;
    } else if (what != DEVICE_DEFAULT_SUB_GROUP_VARIANTS) {
        return CL_INVALID_VALUE;
    }
    return variants_of(d, sub_group_size, room, to, written);
}
