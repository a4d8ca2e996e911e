/* An OpenCL driver that computes nothing and records what it is asked for, to test what stands above it.
 *
 * Every call is a line of the file that STUB_LOG names: the function and its arguments, objects as a letter for their
 * kind and a number in the order of their making, code as its size and the FNV-1a hash of its bytes. A call with an
 * object that is no more is a line `error ...`. The process that builds for the layer records nothing. Builds succeed
 * unless the code has the word `stub_fails` in it; `stub_dies_11` ends the process by signal 11, `stub_dies_0` by exit;
 * with `stub_survives`, not if the variable with LLVM's options for Intel's CPU compiler leaves out an optimization.
 *
 * The environment tells what the devices are:
 *   STUB_DEVICES     how many there are (1)
 *   STUB_KINDS       2: every second one has another name and other sizes of work-groups and subgroups;
 *                    native: these have cl_khr_cooperative_matrix, too
 *   STUB_EXTENSIONS  more extensions, separated by spaces
 *   STUB_IL          CL_DEVICE_IL_VERSION (SPIR-V_1.4); empty for none
 *   STUB_VERSION     1.2 for a driver without the functions of OpenCL 2.1 and 2.2; 2.2 (3.0)
 *   STUB_ASYNC       1: builds with a callback end on a thread of their own
 *   STUB_BUILD_MS    how long a build takes (0); a program that is released meanwhile is an error
 *   STUB_PLATFORM    the platform's name (Stub); one that begins with Intel(R) has CPUs instead of GPUs
 *   STUB_REUSE       1: new programs and kernels take the addresses of released ones, as with most allocators
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_NO_PROTOTYPES
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define BINARY_MAGIC "stub binary "
enum { MOST_DEVICES = 16, MOST_KERNELS = 64, MOST_CONSTANTS = 64 };

/* Of extensions that the headers do not have yet. */
enum {
    DEFAULT_SUB_GROUP_VARIANTS = 0x1078,
    POINTER_ALIGNMENT = 0x107A,
    STRIDE_MULTIPLE = 0x107B,
    SPIRV_EXTENDED_INSTRUCTION_SETS = 0x12B9,
    SPIRV_EXTENSIONS = 0x12BA,
    SPIRV_CAPABILITIES = 0x12BB,
    SUB_GROUP_SIZES_INTEL = 0x4108,
};

typedef struct {
    cl_build_status status;
    cl_program_binary_type type;
    char *options, *kernels; /* names of kernels, separated by semicolons */
    unsigned char *code;
    size_t size;
} build;

/* All of OpenCL's objects; they are never freed, so that a use after the release is seen. */
typedef struct object {
    const cl_icd_dispatch *dispatch;
    char letter;
    unsigned number;
    _Atomic long references;
    struct object *following; /* of those whose address may be taken again */
    struct object *parent;    /* a sub-device's device, a kernel's program, a program's, queue's or buffer's context */
    /* devices */
    unsigned kind, units;
    /* contexts */
    struct object *devices[MOST_DEVICES];
    unsigned device_count;
    /* programs */
    bool is_il;
    unsigned char *code;
    size_t size;
    _Atomic unsigned kernel_count; /* the kernels that live */
    build builds[MOST_DEVICES];
    /* kernels */
    char *name;
} object;

static cl_icd_dispatch table;
static object platform = { .dispatch = &table, .letter = 'P', .references = 1 };
static object *root_devices[MOST_DEVICES];
static unsigned root_count;
static const char *extra_extensions = "", *il_version = "SPIR-V_1.4", *version = "3.0", *platform_name = "Stub";
static cl_device_type device_type = CL_DEVICE_TYPE_GPU;
static bool is_async, has_reuse, has_native_kind, is_silent;
static unsigned build_ms;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static object *released; /* with STUB_REUSE */
static unsigned numbers[128];
static uint32_t live_programs, live_kernels;

/* ---- the record */

static void record(const char *format, ...)
{
    char line[4096];
    const char *path = getenv("STUB_LOG");
    va_list arguments;
    if (!path || is_silent)
        return;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    size = size < (int)sizeof line - 2 ? size : (int)sizeof line - 2;
    line[size] = '\n';
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) {
        if (write(fd, line, (size_t)size + 1) < 0)
            abort();
        close(fd);
    }
}

/* A text that lives until this thread has made some dozens more. */
static char *scratch(void)
{
    static _Thread_local char ring[64][256];
    static _Thread_local unsigned at;
    return ring[at++ % 64];
}

static const char *name(const void *id)
{
    const object *o = id;
    char *text = scratch();
    if (!o)
        return "NULL";
    snprintf(text, 256, "%c%u", o->letter, o->number);
    return text;
}

static const char *names(unsigned count, const void *ids)
{
    char *text = scratch();
    size_t used = 0;
    if (!ids)
        return "NULL";
    text[0] = 0;
    for (unsigned i = 0; i < count && used < 200; i++)
        used += (size_t)sprintf(text + used, "%s%s", i ? "," : "", name(((object *const *)ids)[i]));
    return text;
}

static const char *sizes(unsigned count, const size_t *values)
{
    char *text = scratch();
    size_t used = 0;
    if (!values)
        return "NULL";
    text[0] = 0;
    for (unsigned i = 0; i < count && i < 3; i++)
        used += (size_t)sprintf(text + used, "%s%zu", i ? "," : "", values[i]);
    return text;
}

static const char *code_text(const void *code, size_t size)
{
    char *text = scratch();
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)code)[i]) * 0x100000001b3u;
    snprintf(text, 256, "%zu:%016llx", size, (unsigned long long)hash);
    return text;
}

static const char *quoted(const char *text)
{
    char *to = scratch();
    if (!text)
        return "NULL";
    snprintf(to, 256, "\"%s\"", text);
    return to;
}

/* ---- objects */

static cl_int give(const void *data, size_t size, size_t room, void *to, size_t *written)
{
    if (to && room < size)
        return CL_INVALID_VALUE;
    if (to && size)
        memcpy(to, data, size);
    if (written)
        *written = size;
    return CL_SUCCESS;
}

#define GIVE(type, value) give(&(type){ value }, sizeof(type), room, to, written)

static cl_int give_text(const char *text, size_t room, void *to, size_t *written)
{
    return give(text, strlen(text) + 1, room, to, written);
}

/* With the lock or before there are threads. */
static object *made(char letter, object *parent)
{
    object *o = NULL;
    if (has_reuse && (letter == 'p' || letter == 'k'))
        for (object **at = &released; *at; at = &(*at)->following)
            if ((*at)->letter == letter) {
                o = *at;
                *at = o->following;
                memset(o, 0, sizeof *o);
                break;
            }
    if (!o)
        o = calloc(1, sizeof *o);
    if (!o)
        abort();
    *o = (object){ .dispatch = &table, .letter = letter, .references = 1, .parent = parent };
    o->number = ++numbers[(int)letter];
    live_programs += letter == 'p';
    live_kernels += letter == 'k';
    return o;
}

static bool is_live(const void *id, char letter, const char *function)
{
    const object *o = id;
    if (!o || o->letter != letter)
        return false;
    if (o->references > 0 || o->kernel_count)
        return true;
    record("error %s: %s is no more", function, name(o));
    return false;
}

static void drop_builds(object *p)
{
    for (unsigned i = 0; i < MOST_DEVICES; i++) {
        free(p->builds[i].options);
        free(p->builds[i].kernels);
        free(p->builds[i].code);
        p->builds[i] = (build){ 0 };
    }
}

/* With the lock. */
static void bury(object *o)
{
    live_programs -= o->letter == 'p';
    live_kernels -= o->letter == 'k';
    if (o->letter == 'k')
        free(o->name);
    if (o->letter == 'p') {
        drop_builds(o);
        free(o->code);
        o->code = NULL;
    }
    o->name = NULL;
    if (has_reuse && (o->letter == 'p' || o->letter == 'k')) {
        o->following = released;
        released = o;
    }
}

static cl_int retain(const char *function, void *id, char letter, cl_int error)
{
    object *o = id;
    record("%s %s", function, name(o));
    pthread_mutex_lock(&lock);
    bool found = is_live(o, letter, function);
    if (found)
        o->references++;
    pthread_mutex_unlock(&lock);
    return found ? CL_SUCCESS : error;
}

static cl_int release(const char *function, void *id, char letter, cl_int error)
{
    object *o = id;
    record("%s %s", function, name(o));
    pthread_mutex_lock(&lock);
    bool found = is_live(o, letter, function) && o->references > 0;
    if (found && --o->references == 0 && !o->kernel_count) {
        object *program = letter == 'k' ? o->parent : NULL;
        bury(o);
        if (program && --program->kernel_count == 0 && !program->references)
            bury(program);
    }
    pthread_mutex_unlock(&lock);
    return found ? CL_SUCCESS : error;
}

/* How many programs and kernels there are. */
API void stub_live_objects(uint32_t *programs, uint32_t *kernels);
API void stub_live_objects(uint32_t *programs, uint32_t *kernels)
{
    pthread_mutex_lock(&lock);
    *programs = live_programs;
    *kernels = live_kernels;
    pthread_mutex_unlock(&lock);
}

static void *fail(cl_int *error, cl_int value)
{
    if (error)
        *error = value;
    return NULL;
}

static void *succeed(cl_int *error, object *o)
{
    if (error)
        *error = CL_SUCCESS;
    return o;
}

/* ---- platforms and devices */

static bool has_extension(const char *extension)
{
    size_t size = strlen(extension);
    for (const char *at = extra_extensions; (at = strstr(at, extension)); at += size)
        if ((at == extra_extensions || at[-1] == ' ') && (!at[size] || at[size] == ' '))
            return true;
    return false;
}

static const char *variable(const char *key, const char *otherwise)
{
    const char *value = getenv(key);
    return value ? strdup(value) : otherwise;
}

static void configure(void)
{
    const char *kinds = variable("STUB_KINDS", "1");
    has_native_kind = !strcmp(kinds, "native");
    root_count = (unsigned)atoi(variable("STUB_DEVICES", "1"));
    root_count = root_count < MOST_DEVICES ? root_count : MOST_DEVICES;
    extra_extensions = variable("STUB_EXTENSIONS", "");
    il_version = variable("STUB_IL", il_version);
    version = variable("STUB_VERSION", version);
    platform_name = variable("STUB_PLATFORM", platform_name);
    char command[4096] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, command, sizeof command);
    is_silent = size > 0 && memmem(command, (size_t)size, "build_server", 12);
    close(fd);
    if (!strncmp(platform_name, "Intel(R)", 8))
        device_type = CL_DEVICE_TYPE_CPU;
    is_async = *variable("STUB_ASYNC", "0") == '1';
    build_ms = (unsigned)atoi(variable("STUB_BUILD_MS", "0"));
    has_reuse = *variable("STUB_REUSE", "0") == '1';
    for (unsigned i = 0; i < root_count; i++) {
        root_devices[i] = made('d', NULL);
        root_devices[i]->kind = strcmp(kinds, "1") ? i % 2 : 0;
        root_devices[i]->units = 4;
    }
}

static cl_int CL_API_CALL GetPlatformInfo(
    cl_platform_id id, cl_platform_info what, size_t room, void *to, size_t *written)
{
    (void)id;
    switch (what) {
    case CL_PLATFORM_PROFILE:
        return give_text("FULL_PROFILE", room, to, written);
    case CL_PLATFORM_VERSION:
        return give_text(!strcmp(version, "1.2") ? "OpenCL 1.2 stub" : "OpenCL 3.0 stub", room, to, written);
    case CL_PLATFORM_NAME:
        return give_text(platform_name, room, to, written);
    case CL_PLATFORM_VENDOR:
        return give_text("coopmat's tests", room, to, written);
    case CL_PLATFORM_EXTENSIONS:
        return give_text("cl_khr_icd", room, to, written);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return give_text("STUB", room, to, written);
    case CL_PLATFORM_NUMERIC_VERSION:
        return GIVE(cl_version, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        return GIVE(cl_ulong, 0);
    }
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL GetDeviceIDs(
    cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *to, cl_uint *count)
{
    (void)id;
    if (!(type & (device_type | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    for (unsigned i = 0; to && i < room && i < root_count; i++)
        to[i] = (cl_device_id)root_devices[i];
    if (count)
        *count = root_count;
    return CL_SUCCESS;
}

static cl_int versions_info(const char *words, size_t room, void *to, size_t *written)
{
    cl_name_version list[64] = { 0 };
    size_t count = 0;
    for (const char *at = words; *at && count < 64; count++) {
        size_t size = strcspn(at, " ");
        list[count].version = CL_MAKE_VERSION(1, 0, 0);
        memcpy(list[count].name, at, size < sizeof list->name ? size : sizeof list->name - 1);
        at += size + strspn(at + size, " ");
    }
    return give(list, count * sizeof *list, room, to, written);
}

static cl_int spirv_info(cl_device_info what, size_t room, void *to, size_t *written)
{
    static const char *const sets[] = { "OpenCL.std" };
    static const char *const extensions[] = { "SPV_KHR_expect_assume", "SPV_KHR_linkonce_odr" };
    static const cl_uint capabilities[] = { 4, 5, 6 };
    if (what == SPIRV_EXTENDED_INSTRUCTION_SETS)
        return give(sets, sizeof sets, room, to, written);
    if (what == SPIRV_EXTENSIONS)
        return give(extensions, sizeof extensions, room, to, written);
    return give(capabilities, sizeof capabilities, room, to, written);
}

static cl_int CL_API_CALL GetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *written)
{
    const object *d = (const object *)id;
    static const cl_uint variants[8] = { 8, 8, 16, 0, 0, 2, 2, 0 };
    const bool is_old = !strcmp(version, "1.2");
    const bool is_native = has_extension("cl_khr_cooperative_matrix") || (has_native_kind && d && d->kind);
    char words[1024];
    record("clGetDeviceInfo %s 0x%x room=%zu", name(id), what, room);
    if (!is_live(d, 'd', "clGetDeviceInfo"))
        return CL_INVALID_DEVICE;
    snprintf(words, sizeof words, "cl_khr_byte_addressable_store%s%s%s", *extra_extensions ? " " : "", extra_extensions,
        has_native_kind && d->kind ? " cl_khr_cooperative_matrix" : "");
    switch (what) {
    case CL_DEVICE_TYPE:
        return GIVE(cl_device_type, device_type);
    case CL_DEVICE_PLATFORM:
        return GIVE(cl_platform_id, (cl_platform_id)&platform);
    case CL_DEVICE_NAME:
        return give_text(d->kind ? "Other stub" : "Stub", room, to, written);
    case CL_DEVICE_VENDOR:
        return give_text("coopmat's tests", room, to, written);
    case CL_DRIVER_VERSION:
        return give_text("1.0", room, to, written);
    case CL_DEVICE_PROFILE:
        return give_text("FULL_PROFILE", room, to, written);
    case CL_DEVICE_VERSION:
        snprintf(words, sizeof words, "OpenCL %s stub", version);
        return give_text(words, room, to, written);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return is_old ? CL_INVALID_VALUE
                      : versions_info("__opencl_c_pipes __opencl_c_int64 __opencl_c_device_enqueue", room, to, written);
    case CL_DEVICE_PIPE_SUPPORT:
        return GIVE(cl_bool, CL_TRUE);
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
        return GIVE(cl_bitfield, 3);
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
        return GIVE(cl_uint, 16);
    case CL_DEVICE_OPENCL_C_VERSION:
        return give_text(is_old ? "OpenCL C 1.2 " : "OpenCL C 3.0 ", room, to, written);
    case CL_DEVICE_NUMERIC_VERSION:
        return is_old ? CL_INVALID_VALUE : GIVE(cl_version, CL_MAKE_VERSION(3, 0, 0));
    case CL_DEVICE_IL_VERSION:
        return give_text(il_version, room, to, written);
    case CL_DEVICE_EXTENSIONS:
        return give_text(words, room, to, written);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return is_old ? CL_INVALID_VALUE : versions_info(words, room, to, written);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return GIVE(cl_uint, d->units);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return GIVE(size_t, d->kind ? 256 : 1024);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return GIVE(cl_uint, 3);
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
        return GIVE(cl_uint, 32);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return GIVE(cl_ulong, 65536);
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        return GIVE(cl_uint, 1);
    case CL_DEVICE_ADDRESS_BITS:
        return GIVE(cl_uint, 64);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
        return GIVE(cl_bool, CL_TRUE);
    case CL_DEVICE_PARENT_DEVICE:
        return GIVE(cl_device_id, (cl_device_id)d->parent);
    case CL_DEVICE_REFERENCE_COUNT:
        return GIVE(cl_uint, (cl_uint)d->references);
    case SUB_GROUP_SIZES_INTEL:
        if (!has_extension("cl_intel_required_subgroup_size"))
            break;
        return d->kind ? give((size_t[]){ 8, 32 }, 2 * sizeof(size_t), room, to, written)
                       : give((size_t[]){ 8, 16 }, 2 * sizeof(size_t), room, to, written);
    case SPIRV_EXTENDED_INSTRUCTION_SETS:
    case SPIRV_EXTENSIONS:
    case SPIRV_CAPABILITIES:
        if (has_extension("cl_khr_spirv_queries"))
            return spirv_info(what, room, to, written);
        break;
    case DEFAULT_SUB_GROUP_VARIANTS:
        if (is_native)
            return give(variants, sizeof variants, room, to, written);
        break;
    case POINTER_ALIGNMENT:
    case STRIDE_MULTIPLE:
        if (is_native)
            return GIVE(cl_uint, 64);
        break;
    }
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL GetDeviceCooperativeMatrixInfoKHR(
    cl_device_id id, cl_uint what, size_t size, const void *input, size_t room, void *to, size_t *written)
{
    (void)input;
    record("clGetDeviceCooperativeMatrixInfoKHR %s 0x%x input=%zu room=%zu", name(id), what, size, room);
    return GetDeviceInfo(id, DEFAULT_SUB_GROUP_VARIANTS, room, to, written);
}

static cl_int CL_API_CALL CreateSubDevices(
    cl_device_id id, const cl_device_partition_property *properties, cl_uint room, cl_device_id *to, cl_uint *count)
{
    object *d = (object *)id;
    record("clCreateSubDevices %s", name(id));
    if (!is_live(d, 'd', "clCreateSubDevices"))
        return CL_INVALID_DEVICE;
    if (!properties || properties[0] != CL_DEVICE_PARTITION_EQUALLY || properties[1] < 1)
        return CL_INVALID_VALUE;
    unsigned units = (unsigned)properties[1], parts = d->units / units;
    if (!parts)
        return CL_DEVICE_PARTITION_FAILED;
    if (to && room < parts)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; to && i < parts; i++) {
        object *part = made('d', d);
        part->kind = d->kind;
        part->units = units;
        to[i] = (cl_device_id)part;
    }
    pthread_mutex_unlock(&lock);
    if (count)
        *count = parts;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL RetainDevice(cl_device_id id)
{
    return ((object *)id)->parent ? retain("clRetainDevice", id, 'd', CL_INVALID_DEVICE) : CL_SUCCESS;
}

static cl_int CL_API_CALL ReleaseDevice(cl_device_id id)
{
    return ((object *)id)->parent ? release("clReleaseDevice", id, 'd', CL_INVALID_DEVICE) : CL_SUCCESS;
}

/* ---- contexts, queues, buffers, events */

static cl_context CL_API_CALL CreateContext(const cl_context_properties *properties, cl_uint count,
    const cl_device_id *ids, void(CL_CALLBACK *function)(const char *, const void *, size_t, void *), void *data,
    cl_int *error)
{
    (void)properties;
    (void)function;
    (void)data;
    record("clCreateContext devices=%s", names(count, ids));
    if (!ids || !count || count > MOST_DEVICES)
        return fail(error, CL_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++)
        if (!is_live(ids[i], 'd', "clCreateContext"))
            return fail(error, CL_INVALID_DEVICE);
    pthread_mutex_lock(&lock);
    object *c = made('c', NULL);
    pthread_mutex_unlock(&lock);
    memcpy(c->devices, ids, count * sizeof *ids);
    c->device_count = count;
    return succeed(error, c);
}

static cl_int CL_API_CALL RetainContext(cl_context id)
{
    return retain("clRetainContext", id, 'c', CL_INVALID_CONTEXT);
}

static cl_int CL_API_CALL ReleaseContext(cl_context id)
{
    return release("clReleaseContext", id, 'c', CL_INVALID_CONTEXT);
}

static cl_int CL_API_CALL GetContextInfo(cl_context id, cl_context_info what, size_t room, void *to, size_t *written)
{
    const object *c = (const object *)id;
    record("clGetContextInfo %s 0x%x", name(id), what);
    if (!is_live(c, 'c', "clGetContextInfo"))
        return CL_INVALID_CONTEXT;
    if (what == CL_CONTEXT_DEVICES)
        return give(c->devices, c->device_count * sizeof *c->devices, room, to, written);
    if (what == CL_CONTEXT_NUM_DEVICES)
        return GIVE(cl_uint, c->device_count);
    if (what == CL_CONTEXT_REFERENCE_COUNT)
        return GIVE(cl_uint, (cl_uint)c->references);
    if (what == CL_CONTEXT_PROPERTIES)
        return give(NULL, 0, room, to, written);
    return CL_INVALID_VALUE;
}

static bool is_of(const object *context, const void *device)
{
    for (unsigned i = 0; i < context->device_count; i++)
        if (context->devices[i] == device)
            return true;
    return false;
}

static cl_command_queue CL_API_CALL CreateCommandQueueWithProperties(
    cl_context id, cl_device_id device, const cl_queue_properties *properties, cl_int *error)
{
    object *c = (object *)id;
    (void)properties;
    record("clCreateCommandQueueWithProperties %s %s", name(id), name(device));
    if (!is_live(c, 'c', "clCreateCommandQueueWithProperties"))
        return fail(error, CL_INVALID_CONTEXT);
    if (!is_of(c, device))
        return fail(error, CL_INVALID_DEVICE);
    pthread_mutex_lock(&lock);
    object *q = made('q', c);
    pthread_mutex_unlock(&lock);
    q->devices[0] = (object *)device;
    return succeed(error, q);
}

static cl_command_queue CL_API_CALL CreateCommandQueue(
    cl_context id, cl_device_id device, cl_command_queue_properties properties, cl_int *error)
{
    (void)properties;
    return CreateCommandQueueWithProperties(id, device, NULL, error);
}

static cl_int CL_API_CALL ReleaseCommandQueue(cl_command_queue id)
{
    return release("clReleaseCommandQueue", id, 'q', CL_INVALID_COMMAND_QUEUE);
}

static cl_int CL_API_CALL GetCommandQueueInfo(
    cl_command_queue id, cl_command_queue_info what, size_t room, void *to, size_t *written)
{
    const object *q = (const object *)id;
    if (!is_live(q, 'q', "clGetCommandQueueInfo"))
        return CL_INVALID_COMMAND_QUEUE;
    if (what == CL_QUEUE_CONTEXT)
        return GIVE(cl_context, (cl_context)q->parent);
    if (what == CL_QUEUE_DEVICE)
        return GIVE(cl_device_id, (cl_device_id)q->devices[0]);
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL Finish(cl_command_queue id)
{
    return is_live(id, 'q', "clFinish") ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL ReleaseEvent(cl_event id) { return release("clReleaseEvent", id, 'e', CL_INVALID_EVENT); }

/* ---- programs */

static unsigned char *copied(const void *data, size_t size)
{
    unsigned char *copy = malloc(size + 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    copy[size] = 0;
    return copy;
}

static object *program_of(cl_context context, unsigned char *code, size_t size, bool is_il)
{
    pthread_mutex_lock(&lock);
    object *p = made('p', (object *)context);
    p->code = code;
    p->size = size;
    p->is_il = is_il;
    pthread_mutex_unlock(&lock);
    return p;
}

static cl_program CL_API_CALL CreateProgramWithSource(
    cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *error)
{
    size_t size = 0;
    if (!is_live(context, 'c', "clCreateProgramWithSource"))
        return fail(error, CL_INVALID_CONTEXT);
    for (cl_uint i = 0; strings && i < count; i++)
        if (!strings[i])
            strings = NULL;
    if (!count || !strings) {
        record("clCreateProgramWithSource %s count=%u strings=NULL", name(context), count);
        return fail(error, CL_INVALID_VALUE);
    }
    for (cl_uint i = 0; i < count; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    char *text = malloc(size + 1), *end = text;
    if (!text)
        abort();
    for (cl_uint i = 0; i < count; i++) {
        size_t part = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        memcpy(end, strings[i], part);
        end += part;
    }
    *end = 0;
    object *p = program_of(context, (unsigned char *)text, size, false);
    record("clCreateProgramWithSource %s count=%u code=%s -> %s", name(context), count, code_text(text, size), name(p));
    return succeed(error, p);
}

static cl_program CL_API_CALL CreateProgramWithIL(cl_context context, const void *il, size_t size, cl_int *error)
{
    if (!is_live(context, 'c', "clCreateProgramWithIL"))
        return fail(error, CL_INVALID_CONTEXT);
    if (!il || size < 20 || memcmp(il, "\x03\x02\x23\x07", 4)) {
        record("clCreateProgramWithIL %s size=%zu refused", name(context), size);
        return fail(error, CL_INVALID_VALUE);
    }
    if (!*il_version)
        return fail(error, CL_INVALID_OPERATION);
    object *p = program_of(context, copied(il, size), size, true);
    record("clCreateProgramWithIL %s code=%s -> %s", name(context), code_text(il, size), name(p));
    return succeed(error, p);
}

static void add_name(char *to, size_t room, const char *word, size_t size)
{
    size_t used = strlen(to);
    if (used + size + 2 < room)
        snprintf(to + used, room - used, "%s%.*s", used ? ";" : "", (int)size, word);
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The kernels' names, to be freed: those of OpEntryPoint, or in source what stands before the parenthesis after
 * "kernel" and "void". */
static char *kernels_of(const unsigned char *code, size_t size, bool is_il)
{
    enum { HEADER = 20, OP_ENTRY_POINT = 15 };
    char found[4096] = "";
    uint32_t word;
    for (size_t at = HEADER; is_il && at + 16 <= size; at += 4 * (word >> 16)) {
        memcpy(&word, code + at, 4);
        if (!(word >> 16))
            break;
        if ((word & 0xffff) == OP_ENTRY_POINT)
            add_name(found, sizeof found, (const char *)code + at + 12, strlen((const char *)code + at + 12));
    }
    for (const char *at = (const char *)code; !is_il && (at = strstr(at, "kernel")); at++) {
        const char *type = strstr(at, "void "), *end = type ? strchr(type, '(') : NULL, *brace = strchr(at, '{');
        if (!end || !brace || end > brace)
            continue;
        while (end[-1] == ' ')
            end--;
        const char *begin = end;
        while (is_word(begin[-1]))
            begin--;
        if (begin > type && begin < end)
            add_name(found, sizeof found, begin, (size_t)(end - begin));
    }
    return strdup(found);
}

/* What CL_PROGRAM_BINARIES gives: a line with the device's kind, the type, the size of the code and the kernels, and
 * the code. */
static unsigned char *binary_of(const object *p, unsigned device, size_t *size)
{
    const build *b = &p->builds[device];
    char head[4200];
    *size = 0;
    if (!b->code || b->status != CL_BUILD_SUCCESS)
        return NULL;
    int used = snprintf(head, sizeof head, BINARY_MAGIC "%u %u %zu %s\n",
        ((object *)p->parent)->devices[device]->kind, b->type, b->size, b->kernels);
    unsigned char *whole = malloc((size_t)used + b->size);
    if (!whole)
        abort();
    memcpy(whole, head, (size_t)used);
    memcpy(whole + used, b->code, b->size);
    *size = (size_t)used + b->size;
    return whole;
}

static bool read_binary(const unsigned char *binary, size_t size, unsigned kind, build *to)
{
    const unsigned char *end = binary ? memchr(binary, '\n', size) : NULL;
    unsigned of, type;
    size_t code_size;
    int at = 0;
    if (!end || size < sizeof BINARY_MAGIC || memcmp(binary, BINARY_MAGIC, sizeof BINARY_MAGIC - 1))
        return false;
    char *head = (char *)copied(binary, (size_t)(end - binary));
    bool is_right = sscanf(head, BINARY_MAGIC "%u %u %zu %n", &of, &type, &code_size, &at) == 3 && at && of == kind
        && code_size == size - (size_t)(end + 1 - binary);
    if (is_right) {
        to->size = code_size;
        to->code = copied(end + 1, to->size);
        to->kernels = strdup(head + at);
        to->type = type;
    }
    free(head);
    return is_right;
}

static cl_program CL_API_CALL CreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *ids,
    const size_t *lengths, const unsigned char **binaries, cl_int *status, cl_int *error)
{
    object *c = (object *)context;
    if (!is_live(c, 'c', "clCreateProgramWithBinary"))
        return fail(error, CL_INVALID_CONTEXT);
    if (count > c->device_count)
        return fail(error, CL_INVALID_DEVICE);
    record("clCreateProgramWithBinary %s devices=%s", name(context), names(count, ids));
    if (!count || !ids || !lengths || !binaries)
        return fail(error, CL_INVALID_VALUE);
    object *p = program_of(context, NULL, 0, false);
    cl_int result = CL_SUCCESS;
    for (cl_uint i = 0; i < count; i++) {
        unsigned at = 0;
        while (at < c->device_count && c->devices[at] != (object *)ids[i])
            at++;
        bool is_valid = lengths[i] && binaries[i];
        bool is_right = at < c->device_count && is_valid
            && read_binary(binaries[i], lengths[i], c->devices[at]->kind, &p->builds[at]);
        record("  binary %s %s %s", name(ids[i]), code_text(binaries[i], binaries[i] ? lengths[i] : 0),
            is_right ? "taken" : "refused");
        if (status)
            status[i] = is_right ? CL_SUCCESS : is_valid ? CL_INVALID_BINARY : CL_INVALID_VALUE;
        if (!is_right)
            result = at == c->device_count ? CL_INVALID_DEVICE : is_valid ? CL_INVALID_BINARY : CL_INVALID_VALUE;
    }
    record("  -> %s", result ? "NULL" : name(p));
    if (!result)
        return succeed(error, p);
    pthread_mutex_lock(&lock);
    p->references = 0;
    bury(p);
    pthread_mutex_unlock(&lock);
    return fail(error, result);
}

static cl_int CL_API_CALL RetainProgram(cl_program id)
{
    return retain("clRetainProgram", id, 'p', CL_INVALID_PROGRAM);
}

static cl_int CL_API_CALL ReleaseProgram(cl_program id)
{
    return release("clReleaseProgram", id, 'p', CL_INVALID_PROGRAM);
}

static cl_int CL_API_CALL SetProgramSpecializationConstant(
    cl_program id, cl_uint number, size_t size, const void *value)
{
    const object *p = (const object *)id;
    char digits[64] = "NULL";
    for (size_t i = 0; value && i < size && i < 16; i++)
        sprintf(digits + 2 * i, "%02x", ((const unsigned char *)value)[i]);
    record("clSetProgramSpecializationConstant %s id=%u size=%zu value=%s", name(id), number, size, digits);
    if (!is_live(p, 'p', "clSetProgramSpecializationConstant") || !p->is_il)
        return CL_INVALID_PROGRAM;
    if (!value)
        return CL_INVALID_VALUE;
    /* OpDecorate id SpecId number */
    for (size_t at = 20; at + 16 <= p->size;) {
        uint32_t words[4];
        memcpy(words, p->code + at, 16);
        if ((words[0] & 0xffff) == 71 && words[2] == 1 && words[3] == number)
            return size == 1 || size == 2 || size == 4 || size == 8 ? CL_SUCCESS : CL_INVALID_VALUE;
        if (!(words[0] >> 16))
            break;
        at += 4 * (words[0] >> 16);
    }
    return CL_INVALID_SPEC_ID;
}

/* Checks what clBuildProgram, clCompileProgram and clLinkProgram have in common, and makes a bit set of devices. */
static cl_int chosen_devices(const object *c, cl_uint count, const cl_device_id *ids, const char *options,
    const void *function, const void *data, unsigned *chosen)
{
    *chosen = 0;
    if (!ids != !count || (!function && data))
        return CL_INVALID_VALUE;
    for (unsigned i = 0; i < c->device_count; i++) {
        bool is_asked = !ids;
        for (cl_uint j = 0; j < count; j++)
            is_asked |= (object *)ids[j] == c->devices[i];
        *chosen |= (unsigned)is_asked << i;
    }
    for (cl_uint j = 0; j < count; j++)
        if (!is_of(c, ids[j]))
            return CL_INVALID_DEVICE;
    if (options && strstr(options, "-stub-invalid"))
        return CL_INVALID_BUILD_OPTIONS;
    return CL_SUCCESS;
}

typedef struct {
    void(CL_CALLBACK *function)(cl_program, void *);
    cl_program id;
    void *data;
} notice;

static void *notify(void *given)
{
    notice *n = given;
    usleep(20000);
    n->function(n->id, n->data);
    free(n);
    return NULL;
}

static void finish(void(CL_CALLBACK *function)(cl_program, void *), object *p, void *data)
{
    pthread_t thread;
    notice *n = function && is_async ? malloc(sizeof *n) : NULL;
    if (n) {
        *n = (notice){ function, (cl_program)p, data };
        if (!pthread_create(&thread, NULL, notify, n)) {
            pthread_detach(thread);
            return;
        }
        free(n);
    }
    if (function)
        function((cl_program)p, data);
}

/* Ends the process as the code says. */
static void die(const unsigned char *code, size_t size)
{
    const char *word = memmem(code, size, "stub_dies_", 10);
    const char *options = getenv("CL_CONFIG_LLVM_OPTIONS");
    int number = word ? atoi(word + 10) : -1;
    if (memmem(code, size, "stub_survives", 13) && options && strstr(options, "-opt-disable="))
        return;
    if (number > 0)
        raise(number);
    if (!number)
        exit(1);
}

/* With the lock. Whether it succeeded on all devices. */
static bool build_each(object *p, unsigned chosen, const char *options, cl_program_binary_type type)
{
    bool has_succeeded = true;
    for (unsigned i = 0; i < MOST_DEVICES; i++) {
        build *b = &p->builds[i];
        if (!(chosen >> i & 1))
            continue;
        free(b->options);
        b->options = strdup(options ? options : "");
        if (p->code) {
            free(b->code);
            free(b->kernels);
            b->size = p->size;
            b->code = copied(p->code, p->size);
            b->kernels = kernels_of(p->code, p->size, p->is_il);
            if (type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
                die(p->code, p->size);
        }
        b->type = type;
        bool is_right = b->code && !memmem(b->code, b->size, "stub_fails", 10);
        b->status = is_right ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
        has_succeeded &= is_right;
    }
    return has_succeeded;
}

/* Takes the time of a build. Whether the program was the same one all the while. */
static bool outlives_build(const object *p, const char *function)
{
    unsigned number = p->number;
    usleep(1000 * build_ms);
    if (p->number == number)
        return is_live(p, 'p', function);
    record("error %s: p%u is no more", function, number);
    return false;
}

static cl_int CL_API_CALL BuildProgram(cl_program id, cl_uint count, const cl_device_id *ids, const char *options,
    void(CL_CALLBACK *function)(cl_program, void *), void *data)
{
    object *p = (object *)id;
    unsigned chosen;
    record("clBuildProgram %s devices=%s options=%s%s", name(id), names(count, ids), quoted(options),
        function ? " callback" : "");
    if (!is_live(p, 'p', "clBuildProgram"))
        return CL_INVALID_PROGRAM;
    cl_int error = chosen_devices(p->parent, count, ids, options, (const void *)function, data, &chosen);
    if (error)
        return error;
    if (!outlives_build(p, "clBuildProgram"))
        return CL_INVALID_PROGRAM;
    pthread_mutex_lock(&lock);
    bool is_used = p->kernel_count;
    bool is_right = !is_used && build_each(p, chosen, options, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    pthread_mutex_unlock(&lock);
    if (is_used)
        return CL_INVALID_OPERATION;
    finish(function, p, data);
    return is_right || (function && is_async) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

static cl_int CL_API_CALL CompileProgram(cl_program id, cl_uint count, const cl_device_id *ids, const char *options,
    cl_uint header_count, const cl_program *headers, const char **header_names,
    void(CL_CALLBACK *function)(cl_program, void *), void *data)
{
    object *p = (object *)id;
    unsigned chosen;
    record("clCompileProgram %s devices=%s options=%s headers=%s%s", name(id), names(count, ids), quoted(options),
        names(header_count, headers), function ? " callback" : "");
    for (cl_uint i = 0; header_names && i < header_count; i++)
        record("  header %s", quoted(header_names[i]));
    if (!is_live(p, 'p', "clCompileProgram"))
        return CL_INVALID_PROGRAM;
    if (!headers != !header_count || !header_names != !header_count)
        return CL_INVALID_VALUE;
    cl_int error = chosen_devices(p->parent, count, ids, options, (const void *)function, data, &chosen);
    if (error)
        return error == CL_INVALID_BUILD_OPTIONS ? CL_INVALID_COMPILER_OPTIONS : error;
    if (!p->code)
        return CL_INVALID_OPERATION;
    if (!outlives_build(p, "clCompileProgram"))
        return CL_INVALID_PROGRAM;
    pthread_mutex_lock(&lock);
    bool is_used = p->kernel_count;
    bool is_right = !is_used && build_each(p, chosen, options, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    pthread_mutex_unlock(&lock);
    if (is_used)
        return CL_INVALID_OPERATION;
    finish(function, p, data);
    return is_right || (function && is_async) ? CL_SUCCESS : CL_COMPILE_PROGRAM_FAILURE;
}

/* With the lock. The code and the kernels of all inputs, one after the other; false where one was not compiled. */
static bool link_device(object *to, unsigned device, cl_uint count, const cl_program *inputs, const char *options)
{
    build *b = &to->builds[device];
    char found[4096] = "";
    b->code = copied("", 0);
    for (cl_uint i = 0; i < count; i++) {
        const build *from = &((object *)inputs[i])->builds[device];
        if (from->status != CL_BUILD_SUCCESS || from->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE || !from->code)
            return false;
        unsigned char *whole = realloc(b->code, b->size + from->size + 1);
        if (!whole)
            abort();
        memcpy(whole + b->size, from->code, from->size);
        b->code = whole;
        b->size += from->size;
        b->code[b->size] = 0;
        if (*from->kernels)
            add_name(found, sizeof found, from->kernels, strlen(from->kernels));
    }
    b->kernels = strdup(found);
    b->options = strdup(options ? options : "");
    b->status = options && strstr(options, "-stub-fails") ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
    bool is_library = options && strstr(options, "-create-library");
    b->type = is_library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return true;
}

static cl_program CL_API_CALL LinkProgram(cl_context context, cl_uint count, const cl_device_id *ids,
    const char *options, cl_uint input_count, const cl_program *inputs, void(CL_CALLBACK *function)(cl_program, void *),
    void *data, cl_int *error)
{
    object *c = (object *)context;
    unsigned chosen;
    record("clLinkProgram %s devices=%s options=%s inputs=%s%s", name(context), names(count, ids), quoted(options),
        names(input_count, inputs), function ? " callback" : "");
    if (!is_live(c, 'c', "clLinkProgram"))
        return fail(error, CL_INVALID_CONTEXT);
    if (!input_count || !inputs)
        return fail(error, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < input_count; i++)
        if (!is_live(inputs[i], 'p', "clLinkProgram"))
            return fail(error, CL_INVALID_PROGRAM);
    cl_int wrong = chosen_devices(c, count, ids, options, (const void *)function, data, &chosen);
    if (wrong)
        return fail(error, wrong == CL_INVALID_BUILD_OPTIONS ? CL_INVALID_LINKER_OPTIONS : wrong);
    object *p = program_of(context, NULL, 0, false);
    bool is_compiled = true, is_right = true;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST_DEVICES; i++)
        if (chosen >> i & 1) {
            is_compiled &= link_device(p, i, input_count, inputs, options);
            is_right &= p->builds[i].status == CL_BUILD_SUCCESS;
        }
    if (!is_compiled) {
        p->references = 0;
        bury(p);
    }
    pthread_mutex_unlock(&lock);
    record("  -> %s", is_compiled ? name(p) : "NULL");
    if (!is_compiled)
        return fail(error, CL_INVALID_OPERATION);
    finish(function, p, data);
    if (error)
        *error = is_right ? CL_SUCCESS : CL_LINK_PROGRAM_FAILURE;
    return (cl_program)p;
}

/* The build whose kernels are a program's: that of its first device with one. */
static const build *executable(const object *p)
{
    for (unsigned i = 0; i < MOST_DEVICES; i++)
        if (p->builds[i].status == CL_BUILD_SUCCESS && p->builds[i].type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE
            && p->builds[i].options)
            return &p->builds[i];
    return NULL;
}

static unsigned count_of(const char *kernels)
{
    unsigned count = *kernels ? 1 : 0;
    for (; *kernels; kernels++)
        count += *kernels == ';';
    return count;
}

static cl_int binaries_info(const object *p, size_t room, void *to, size_t *written)
{
    const object *c = p->parent;
    if (to && room < c->device_count * sizeof(void *))
        return CL_INVALID_VALUE;
    for (unsigned i = 0; to && i < c->device_count; i++) {
        size_t size;
        unsigned char *binary = binary_of(p, i, &size), *place = ((unsigned char **)to)[i];
        if (binary && place)
            memcpy(place, binary, size);
        free(binary);
    }
    if (written)
        *written = c->device_count * sizeof(void *);
    return CL_SUCCESS;
}

static cl_int program_info(const object *p, cl_program_info what, size_t room, void *to, size_t *written)
{
    const object *c = p->parent;
    const build *b = executable(p);
    size_t binary_sizes[MOST_DEVICES];
    switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return GIVE(cl_uint, (cl_uint)p->references);
    case CL_PROGRAM_CONTEXT:
        return GIVE(cl_context, (cl_context)p->parent);
    case CL_PROGRAM_NUM_DEVICES:
        return GIVE(cl_uint, c->device_count);
    case CL_PROGRAM_DEVICES:
        return give(c->devices, c->device_count * sizeof *c->devices, room, to, written);
    case CL_PROGRAM_SOURCE:
        return p->is_il || !p->code ? give_text("", room, to, written) : give(p->code, p->size + 1, room, to, written);
    case CL_PROGRAM_IL:
        return give(p->code, p->is_il ? p->size : 0, room, to, written);
    case CL_PROGRAM_BINARY_SIZES:
        for (unsigned i = 0; i < c->device_count; i++)
            free(binary_of(p, i, &binary_sizes[i]));
        return give(binary_sizes, c->device_count * sizeof(size_t), room, to, written);
    case CL_PROGRAM_BINARIES:
        return binaries_info(p, room, to, written);
    case CL_PROGRAM_NUM_KERNELS:
        return b ? GIVE(size_t, count_of(b->kernels)) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_KERNEL_NAMES:
        return b ? give_text(b->kernels, room, to, written) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
        return GIVE(cl_bool, CL_FALSE);
    }
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL GetProgramInfo(cl_program id, cl_program_info what, size_t room, void *to, size_t *written)
{
    record("clGetProgramInfo %s 0x%x room=%zu", name(id), what, room);
    if (!is_live(id, 'p', "clGetProgramInfo"))
        return CL_INVALID_PROGRAM;
    pthread_mutex_lock(&lock);
    cl_int result = program_info((const object *)id, what, room, to, written);
    pthread_mutex_unlock(&lock);
    return result;
}

static cl_int build_info(const build *b, cl_program_build_info what, size_t room, void *to, size_t *written)
{
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS:
        return GIVE(cl_build_status, b->options ? b->status : CL_BUILD_NONE);
    case CL_PROGRAM_BUILD_OPTIONS:
        return give_text(b->options ? b->options : "", room, to, written);
    case CL_PROGRAM_BUILD_LOG:
        return give_text(!b->options ? "" : b->status ? "stub: failed\n" : "stub: built\n", room, to, written);
    case CL_PROGRAM_BINARY_TYPE:
        return GIVE(cl_program_binary_type, b->status ? CL_PROGRAM_BINARY_TYPE_NONE : b->type);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return GIVE(size_t, b->options ? 77 : 0);
    }
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL GetProgramBuildInfo(
    cl_program id, cl_device_id device, cl_program_build_info what, size_t room, void *to, size_t *written)
{
    const object *p = (const object *)id;
    record("clGetProgramBuildInfo %s %s 0x%x room=%zu", name(id), name(device), what, room);
    if (!is_live(p, 'p', "clGetProgramBuildInfo"))
        return CL_INVALID_PROGRAM;
    if (!is_of(p->parent, device))
        return CL_INVALID_DEVICE;
    unsigned at = 0;
    while (p->parent->devices[at] != (object *)device)
        at++;
    pthread_mutex_lock(&lock);
    cl_int result = build_info(&p->builds[at], what, room, to, written);
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- kernels */

/* With the lock. */
static object *kernel_of(object *p, const char *kernel_name, size_t size)
{
    object *k = made('k', p);
    k->name = (char *)copied(kernel_name, size);
    p->kernel_count++;
    return k;
}

static cl_kernel CL_API_CALL CreateKernel(cl_program id, const char *kernel_name, cl_int *error)
{
    object *p = (object *)id, *k = NULL;
    cl_int wrong = CL_INVALID_KERNEL_NAME;
    if (!is_live(p, 'p', "clCreateKernel"))
        return fail(error, CL_INVALID_PROGRAM);
    pthread_mutex_lock(&lock);
    const build *b = executable(p);
    if (!b)
        wrong = CL_INVALID_PROGRAM_EXECUTABLE;
    else if (!kernel_name)
        wrong = CL_INVALID_VALUE;
    for (const char *at = b && kernel_name ? b->kernels : ""; *at; at += strspn(at, ";")) {
        size_t size = strcspn(at, ";");
        if (!k && size == strlen(kernel_name) && !memcmp(at, kernel_name, size))
            k = kernel_of(p, at, size);
        at += size;
    }
    pthread_mutex_unlock(&lock);
    record("clCreateKernel %s %s -> %s", name(id), quoted(kernel_name), name(k));
    return k ? succeed(error, k) : fail(error, wrong);
}

static cl_int CL_API_CALL CreateKernelsInProgram(cl_program id, cl_uint room, cl_kernel *to, cl_uint *count)
{
    object *p = (object *)id;
    record("clCreateKernelsInProgram %s room=%u", name(id), room);
    if (!is_live(p, 'p', "clCreateKernelsInProgram"))
        return CL_INVALID_PROGRAM;
    pthread_mutex_lock(&lock);
    const build *b = executable(p);
    unsigned found = b ? count_of(b->kernels) : 0, at_kernel = 0;
    cl_int result = !b ? CL_INVALID_PROGRAM_EXECUTABLE : to && room < found ? CL_INVALID_VALUE : CL_SUCCESS;
    for (const char *at = !result && to ? b->kernels : ""; *at; at += strspn(at, ";")) {
        size_t size = strcspn(at, ";");
        to[at_kernel++] = (cl_kernel)kernel_of(p, at, size);
        at += size;
    }
    pthread_mutex_unlock(&lock);
    if (!result && count)
        *count = found;
    return result;
}

static cl_kernel CL_API_CALL CloneKernel(cl_kernel id, cl_int *error)
{
    const object *k = (const object *)id;
    if (!is_live(k, 'k', "clCloneKernel"))
        return fail(error, CL_INVALID_KERNEL);
    pthread_mutex_lock(&lock);
    object *copy = kernel_of(k->parent, k->name, strlen(k->name));
    pthread_mutex_unlock(&lock);
    record("clCloneKernel %s -> %s", name(id), name(copy));
    return succeed(error, copy);
}

static cl_int CL_API_CALL RetainKernel(cl_kernel id) { return retain("clRetainKernel", id, 'k', CL_INVALID_KERNEL); }
static cl_int CL_API_CALL ReleaseKernel(cl_kernel id) { return release("clReleaseKernel", id, 'k', CL_INVALID_KERNEL); }

static cl_int CL_API_CALL SetKernelArg(cl_kernel id, cl_uint index, size_t size, const void *value)
{
    (void)value;
    record("clSetKernelArg %s %u size=%zu", name(id), index, size);
    return is_live(id, 'k', "clSetKernelArg") ? CL_SUCCESS : CL_INVALID_KERNEL;
}

static cl_int CL_API_CALL GetKernelInfo(cl_kernel id, cl_kernel_info what, size_t room, void *to, size_t *written)
{
    const object *k = (const object *)id;
    record("clGetKernelInfo %s 0x%x room=%zu", name(id), what, room);
    if (!is_live(k, 'k', "clGetKernelInfo"))
        return CL_INVALID_KERNEL;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME:
        return give_text(k->name, room, to, written);
    case CL_KERNEL_NUM_ARGS:
        return GIVE(cl_uint, 3);
    case CL_KERNEL_REFERENCE_COUNT:
        return GIVE(cl_uint, (cl_uint)k->references);
    case CL_KERNEL_CONTEXT:
        return GIVE(cl_context, (cl_context)k->parent->parent);
    case CL_KERNEL_PROGRAM:
        return GIVE(cl_program, (cl_program)k->parent);
    case CL_KERNEL_ATTRIBUTES:
        return give_text("", room, to, written);
    }
    return CL_INVALID_VALUE;
}

/* The device that is asked about: NULL is right where there is but one. */
static const object *device_of_kernel(const object *k, cl_device_id device)
{
    const object *c = k->parent->parent;
    if (!device)
        return c->device_count == 1 ? c->devices[0] : NULL;
    return is_of(c, device) ? (const object *)device : NULL;
}

static cl_int CL_API_CALL GetKernelWorkGroupInfo(
    cl_kernel id, cl_device_id device, cl_kernel_work_group_info what, size_t room, void *to, size_t *written)
{
    static const size_t none[3];
    record("clGetKernelWorkGroupInfo %s %s 0x%x room=%zu", name(id), name(device), what, room);
    if (!is_live(id, 'k', "clGetKernelWorkGroupInfo"))
        return CL_INVALID_KERNEL;
    const object *d = device_of_kernel((const object *)id, device);
    if (!d)
        return CL_INVALID_DEVICE;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return GIVE(size_t, d->kind ? 256 : 1024);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return give(none, sizeof none, room, to, written);
    case CL_KERNEL_LOCAL_MEM_SIZE:
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return GIVE(cl_ulong, 0);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return GIVE(size_t, 4);
    }
    return CL_INVALID_VALUE;
}

/* Of subgroups of four: no route of coopmat's has these. */
static cl_int CL_API_CALL GetKernelSubGroupInfo(cl_kernel id, cl_device_id device, cl_kernel_sub_group_info what,
    size_t input_size, const void *input, size_t room, void *to, size_t *written)
{
    enum { SIZE = 4, COMPILE_SUB_GROUP_SIZE_INTEL = 0x410A };
    const size_t *values = input;
    size_t items = 1;
    record("clGetKernelSubGroupInfo %s %s 0x%x input=%zu room=%zu", name(id), name(device), what, input_size, room);
    if (!is_live(id, 'k', "clGetKernelSubGroupInfo"))
        return CL_INVALID_KERNEL;
    if (!device_of_kernel((const object *)id, device))
        return CL_INVALID_DEVICE;
    switch (what) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        if (!values || !input_size || input_size % sizeof *values || input_size > 3 * sizeof *values)
            return CL_INVALID_VALUE;
        for (size_t i = 0; i < input_size / sizeof *values; i++)
            items *= values[i];
        return GIVE(size_t, what == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE ? (items + SIZE - 1) / SIZE : SIZE);
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
        if (!values || input_size != sizeof *values || (to && (room < sizeof *values || room > 3 * sizeof *values)))
            return CL_INVALID_VALUE;
        return give((size_t[]){ *values * SIZE, 1, 1 },
            to ? room / sizeof *values * sizeof *values : 3 * sizeof *values, room, to, written);
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        return GIVE(size_t, 99);
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
        return GIVE(size_t, 0);
    case COMPILE_SUB_GROUP_SIZE_INTEL:
        return GIVE(size_t, SIZE);
    }
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel id, cl_uint dimensions,
    const size_t *offset, const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
    cl_event *event)
{
    record("clEnqueueNDRangeKernel %s %s dimensions=%u offset=%s global=%s local=%s", name(queue), name(id), dimensions,
        sizes(dimensions, offset), sizes(dimensions, global), sizes(dimensions, local));
    if (!is_live(queue, 'q', "clEnqueueNDRangeKernel"))
        return CL_INVALID_COMMAND_QUEUE;
    if (!is_live(id, 'k', "clEnqueueNDRangeKernel"))
        return CL_INVALID_KERNEL;
    if (((object *)queue)->parent != ((object *)id)->parent->parent)
        return CL_INVALID_CONTEXT;
    if (dimensions < 1 || dimensions > 3)
        return CL_INVALID_WORK_DIMENSION;
    if (!events != !count)
        return CL_INVALID_EVENT_WAIT_LIST;
    const object *c = ((object *)queue)->parent;
    for (unsigned i = 0; i < c->device_count; i++)
        if (c->devices[i] == ((object *)queue)->devices[0] && !((object *)id)->parent->builds[i].code)
            return CL_INVALID_PROGRAM_EXECUTABLE;
    for (cl_uint i = 0; local && i < dimensions; i++)
        if (!local[i])
            return CL_INVALID_WORK_GROUP_SIZE;
    if (event) {
        pthread_mutex_lock(&lock);
        *event = (cl_event)made('e', NULL);
        pthread_mutex_unlock(&lock);
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL GetKernelSuggestedLocalWorkSizeKHR(cl_command_queue queue, cl_kernel id, cl_uint dimensions,
    const size_t *offset, const size_t *global, size_t *suggested)
{
    (void)offset;
    record("clGetKernelSuggestedLocalWorkSizeKHR %s %s global=%s", name(queue), name(id), sizes(dimensions, global));
    if (!is_live(id, 'k', "clGetKernelSuggestedLocalWorkSizeKHR"))
        return CL_INVALID_KERNEL;
    if (!global || !suggested)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < dimensions; i++)
        suggested[i] = 2;
    return CL_SUCCESS;
}

/* ---- command buffers */

static cl_command_buffer_khr CL_API_CALL CreateCommandBufferKHR(
    cl_uint count, const cl_command_queue *queues, const cl_command_buffer_properties_khr *properties, cl_int *error)
{
    (void)properties;
    pthread_mutex_lock(&lock);
    object *b = made('b', NULL);
    pthread_mutex_unlock(&lock);
    record("clCreateCommandBufferKHR queues=%s -> %s", names(count, queues), name(b));
    return succeed(error, b);
}

static cl_int CL_API_CALL FinalizeCommandBufferKHR(cl_command_buffer_khr id)
{
    record("clFinalizeCommandBufferKHR %s", name(id));
    return is_live(id, 'b', "clFinalizeCommandBufferKHR") ? CL_SUCCESS : CL_INVALID_COMMAND_BUFFER_KHR;
}

static cl_int CL_API_CALL RetainCommandBufferKHR(cl_command_buffer_khr id)
{
    return retain("clRetainCommandBufferKHR", id, 'b', CL_INVALID_COMMAND_BUFFER_KHR);
}

static cl_int CL_API_CALL ReleaseCommandBufferKHR(cl_command_buffer_khr id)
{
    return release("clReleaseCommandBufferKHR", id, 'b', CL_INVALID_COMMAND_BUFFER_KHR);
}

static cl_int CL_API_CALL EnqueueCommandBufferKHR(cl_uint queue_count, cl_command_queue *queues,
    cl_command_buffer_khr id, cl_uint count, const cl_event *events, cl_event *event)
{
    (void)count;
    (void)events;
    (void)event;
    record("clEnqueueCommandBufferKHR %s queues=%s", name(id), names(queue_count, queues));
    return is_live(id, 'b', "clEnqueueCommandBufferKHR") ? CL_SUCCESS : CL_INVALID_COMMAND_BUFFER_KHR;
}

static cl_int CL_API_CALL CommandNDRangeKernelKHR(cl_command_buffer_khr id, cl_command_queue queue,
    const cl_ndrange_kernel_command_properties_khr *properties, cl_kernel kernel, cl_uint dimensions,
    const size_t *offset, const size_t *global, const size_t *local, cl_uint count, const cl_sync_point_khr *points,
    cl_sync_point_khr *point, cl_mutable_command_khr *handle)
{
    (void)properties;
    (void)count;
    (void)points;
    (void)point;
    (void)handle;
    record("clCommandNDRangeKernelKHR %s %s %s dimensions=%u offset=%s global=%s local=%s", name(id), name(queue),
        name(kernel), dimensions, sizes(dimensions, offset), sizes(dimensions, global), sizes(dimensions, local));
    if (!is_live(id, 'b', "clCommandNDRangeKernelKHR"))
        return CL_INVALID_COMMAND_BUFFER_KHR;
    return is_live(kernel, 'k', "clCommandNDRangeKernelKHR") ? CL_SUCCESS : CL_INVALID_KERNEL;
}

/* ---- the loader's side */

static cl_int CL_API_CALL PlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);
    if ((to && !room) || (!to && !count))
        return CL_INVALID_VALUE;
    if (!strcmp(version, "1.2")) {
        table.clCloneKernel = NULL;
        table.clCreateProgramWithIL = NULL;
        table.clGetKernelSubGroupInfo = NULL;
        table.clSetProgramSpecializationConstant = NULL;
    }
    if (to)
        to[0] = (cl_platform_id)&platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static void *CL_API_CALL function_address(const char *function)
{
    static const struct {
        const char *function, *extension;
        void *address;
    } functions[] = {
        { "clIcdGetPlatformIDsKHR", NULL, (void *)PlatformIDs },
        { "clGetPlatformInfo", NULL, (void *)GetPlatformInfo },
        { "clGetDeviceCooperativeMatrixInfoKHR", "cl_khr_cooperative_matrix",
            (void *)GetDeviceCooperativeMatrixInfoKHR },
        { "clCreateProgramWithILKHR", "cl_khr_il_program", (void *)CreateProgramWithIL },
        { "clGetKernelSubGroupInfoKHR", "cl_khr_subgroups", (void *)GetKernelSubGroupInfo },
        { "clGetKernelSuggestedLocalWorkSizeKHR", "cl_khr_suggested_local_work_size",
            (void *)GetKernelSuggestedLocalWorkSizeKHR },
        { "clCreateCommandBufferKHR", "cl_khr_command_buffer", (void *)CreateCommandBufferKHR },
        { "clFinalizeCommandBufferKHR", "cl_khr_command_buffer", (void *)FinalizeCommandBufferKHR },
        { "clRetainCommandBufferKHR", "cl_khr_command_buffer", (void *)RetainCommandBufferKHR },
        { "clReleaseCommandBufferKHR", "cl_khr_command_buffer", (void *)ReleaseCommandBufferKHR },
        { "clEnqueueCommandBufferKHR", "cl_khr_command_buffer", (void *)EnqueueCommandBufferKHR },
        { "clCommandNDRangeKernelKHR", "cl_khr_command_buffer", (void *)CommandNDRangeKernelKHR },
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(function, functions[i].function)
            && (!functions[i].extension || has_extension(functions[i].extension)
                || (has_native_kind && !strcmp(functions[i].extension, "cl_khr_cooperative_matrix"))))
            return functions[i].address;
    return NULL;
}

static void *CL_API_CALL platform_function_address(cl_platform_id id, const char *function)
{
    (void)id;
    record("clGetExtensionFunctionAddressForPlatform %s", quoted(function));
    return function_address(function);
}

/* A symbol of the loader's may have the name of one of these: calls from here do not go by the name. */
API cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    return PlatformIDs(room, to, count);
}

API void *CL_API_CALL clGetExtensionFunctionAddress(const char *function) { return function_address(function); }

API cl_int CL_API_CALL clGetPlatformInfo(
    cl_platform_id id, cl_platform_info what, size_t room, void *to, size_t *written)
{
    return GetPlatformInfo(id, what, room, to, written);
}

static cl_icd_dispatch table = {
    .clGetPlatformIDs = PlatformIDs,
    .clGetPlatformInfo = GetPlatformInfo,
    .clGetDeviceIDs = GetDeviceIDs,
    .clGetDeviceInfo = GetDeviceInfo,
    .clCreateSubDevices = CreateSubDevices,
    .clRetainDevice = RetainDevice,
    .clReleaseDevice = ReleaseDevice,
    .clCreateContext = CreateContext,
    .clRetainContext = RetainContext,
    .clReleaseContext = ReleaseContext,
    .clGetContextInfo = GetContextInfo,
    .clCreateCommandQueue = CreateCommandQueue,
    .clCreateCommandQueueWithProperties = CreateCommandQueueWithProperties,
    .clReleaseCommandQueue = ReleaseCommandQueue,
    .clGetCommandQueueInfo = GetCommandQueueInfo,
    .clFinish = Finish,
    .clReleaseEvent = ReleaseEvent,
    .clCreateProgramWithSource = CreateProgramWithSource,
    .clCreateProgramWithBinary = CreateProgramWithBinary,
    .clCreateProgramWithIL = CreateProgramWithIL,
    .clRetainProgram = RetainProgram,
    .clReleaseProgram = ReleaseProgram,
    .clSetProgramSpecializationConstant = SetProgramSpecializationConstant,
    .clBuildProgram = BuildProgram,
    .clCompileProgram = CompileProgram,
    .clLinkProgram = LinkProgram,
    .clGetProgramInfo = GetProgramInfo,
    .clGetProgramBuildInfo = GetProgramBuildInfo,
    .clCreateKernel = CreateKernel,
    .clCreateKernelsInProgram = CreateKernelsInProgram,
    .clCloneKernel = CloneKernel,
    .clRetainKernel = RetainKernel,
    .clReleaseKernel = ReleaseKernel,
    .clSetKernelArg = SetKernelArg,
    .clGetKernelInfo = GetKernelInfo,
    .clGetKernelWorkGroupInfo = GetKernelWorkGroupInfo,
    .clGetKernelSubGroupInfo = GetKernelSubGroupInfo,
    .clGetKernelSubGroupInfoKHR = GetKernelSubGroupInfo,
    .clEnqueueNDRangeKernel = EnqueueNDRangeKernel,
    .clGetExtensionFunctionAddress = function_address,
    .clGetExtensionFunctionAddressForPlatform = platform_function_address,
};
