/* Programs: their creation, lifetime and queries. The application has a driver's program without matrices; the program
 * that is built for it (builds.c) is another one, the program behind. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdlib.h>
#include <string.h>

static program *programs;

/* The caller holds the lock. */
program *find_program(cl_program id)
{
    program *p = programs;
    while (p && p->id != id)
        p = p->next;
    return p;
}

cl_program program_behind(cl_program id)
{
    pthread_mutex_lock(&layer_lock);
    const program *p = find_program(id);
    cl_program behind = p && p->behind ? p->behind : id;
    pthread_mutex_unlock(&layer_lock);
    return behind;
}

kernel_facts *kernel_facts_in(cl_program id, const char *name)
{
    kernel_facts *found;
    pthread_mutex_lock(&layer_lock);
    const program *p = find_program(id);
    found = copied_facts(p ? p->facts : NULL, name);
    pthread_mutex_unlock(&layer_lock);
    return found;
}

program *track_program(cl_program id, cl_context context, unsigned char *code, size_t size, bool is_il)
{
    program *p = calloc(1, sizeof *p);
    if (!p) {
        free(code);
        return NULL;
    }
    p->id = id;
    p->context = context;
    p->code = code;
    p->size = size;
    p->is_il = is_il;
    p->references = 1;
    pthread_mutex_lock(&layer_lock);
    p->next = programs;
    programs = p;
    pthread_mutex_unlock(&layer_lock);
    return p;
}

cl_uint devices_of_context(cl_context context, cl_device_id *ids, cl_uint room)
{
    size_t size = 0;
    if (next->clGetContextInfo(context, CL_CONTEXT_DEVICES, room * sizeof *ids, ids, &size))
        return 0;
    return (cl_uint)(size / sizeof *ids);
}

static bool has_emulated_device(cl_context context)
{
    cl_device_id ids[MOST_DEVICES];
    cl_uint count = devices_of_context(context, ids, MOST_DEVICES);
    for (cl_uint i = 0; i < count; i++) {
        const device *d = device_of(ids[i]);
        if (d && d->emulated)
            return true;
    }
    return false;
}

/* ---- creation */

void *function_of_context(cl_context context, const char *name)
{
    cl_device_id ids[MOST_DEVICES];
    cl_platform_id platform = NULL;
    if (!devices_of_context(context, ids, MOST_DEVICES)
        || next->clGetDeviceInfo(*ids, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL))
        return NULL;
    return next->clGetExtensionFunctionAddressForPlatform(platform, name);
}

cl_program create_with_il(cl_context context, const void *il, size_t size, cl_int *error)
{
    cl_device_id ids[MOST_DEVICES];
    const device *d = devices_of_context(context, ids, MOST_DEVICES) ? device_of(*ids) : NULL;
    if (!d || !d->is_before_2_1)
        return next->clCreateProgramWithIL(context, il, size, error);
    /* The loader's table has clCreateProgramWithIL, but a driver before OpenCL 2.1 has only the extension's
     * function. */
    clCreateProgramWithILKHR_fn own
        = (clCreateProgramWithILKHR_fn)function_of_context(context, "clCreateProgramWithILKHR");
    if (own)
        return own(context, il, size, error);
    if (error)
        *error = CL_INVALID_OPERATION;
    return NULL;
}

cl_program CL_API_CALL layer_CreateProgramWithIL(cl_context context, const void *il, size_t size, cl_int *error)
{
    if (!il || !il_has_matrices(il, size) || !has_emulated_device(context))
        return create_with_il(context, il, size, error);
    /* The driver gets the SPIR-V only at the build: then errors go to a build log, and the specialisation constants are
     * known. */
    const char *empty = "";
    cl_program id = next->clCreateProgramWithSource(context, 1, &empty, NULL, error);
    unsigned char *copy = id ? malloc(size) : NULL;
    if (copy)
        memcpy(copy, il, size);
    if (id && (!copy || !track_program(id, context, copy, size, true))) {
        next->clReleaseProgram(id);
        id = NULL;
        if (error)
            *error = CL_OUT_OF_HOST_MEMORY;
    }
    return id;
}

cl_program CL_API_CALL layer_CreateProgramWithSource(
    cl_context context, cl_uint count, const char **strings, const size_t *lengths, cl_int *error)
{
    cl_program id = next->clCreateProgramWithSource(context, count, strings, lengths, error);
    size_t size = 0;
    if (!id)
        return NULL;
    for (cl_uint i = 0; i < count; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    char *text = malloc(size + 1), *end = text;
    for (cl_uint i = 0; text && i < count; i++) {
        size_t length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        memcpy(end, strings[i], length);
        end += length;
    }
    if (!text)
        return id;
    *end = 0;
    /* Only the build knows the directories of includes, and so whether the program has matrices. */
    if ((text_has_matrices(text) || text_includes(text)) && has_emulated_device(context))
        track_program(id, context, (unsigned char *)text, size, false);
    else
        free(text);
    return id;
}

cl_int CL_API_CALL layer_RetainProgram(cl_program id)
{
    cl_int error = next->clRetainProgram(id);
    pthread_mutex_lock(&layer_lock);
    program *p = find_program(id);
    if (p && !error)
        p->references++;
    pthread_mutex_unlock(&layer_lock);
    return error;
}

cl_int CL_API_CALL layer_ReleaseProgram(cl_program id)
{
    program *gone = NULL;
    pthread_mutex_lock(&layer_lock);
    for (program **at = &programs; *at; at = &(*at)->next)
        if ((*at)->id == id) {
            if (--(*at)->references == 0) {
                gone = *at;
                *at = gone->next;
            }
            break;
        }
    pthread_mutex_unlock(&layer_lock);
    if (gone) {
        if (gone->behind)
            next->clReleaseProgram(gone->behind);
        release_builds(gone->builds);
        release_facts(gone->facts);
        free(gone->code);
        free(gone->constants);
        free(gone);
    }
    return next->clReleaseProgram(id);
}

cl_int CL_API_CALL layer_SetProgramSpecializationConstant(cl_program id, cl_uint number, size_t size, const void *value)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&layer_lock);
    program *p = find_program(id);
    bool is_ours = p && p->is_il;
    if (is_ours) {
        size_t expected = il_constant_size(p->code, p->size, number);
        error = !expected ? CL_INVALID_SPEC_ID : !value || size != expected ? CL_INVALID_VALUE : CL_SUCCESS;
    }
    if (is_ours && !error) {
        size_t at = 0;
        while (at < p->constant_count && p->constants[at].id != number)
            at++;
        constant *grown = at < p->constant_count ? p->constants : realloc(p->constants, (at + 1) * sizeof *grown);
        if (grown) {
            p->constants = grown;
            grown[at].id = number;
            grown[at].size = size;
            memcpy(grown[at].value, value, size);
            p->constant_count = at < p->constant_count ? p->constant_count : at + 1;
        } else {
            error = CL_OUT_OF_HOST_MEMORY;
        }
    }
    pthread_mutex_unlock(&layer_lock);
    return is_ours ? error : next->clSetProgramSpecializationConstant(id, number, size, value);
}

/* ---- queries */

cl_int CL_API_CALL layer_GetProgramInfo(cl_program id, cl_program_info what, size_t room, void *to, size_t *written)
{
    cl_program asked = id;
    bool is_answered = false, is_of_matrices;
    cl_int result = CL_SUCCESS;
    pthread_mutex_lock(&layer_lock);
    const program *p = find_program(id);
    is_of_matrices = p && (p->behind || !p->code);
    if (p && p->is_il && (what == CL_PROGRAM_IL || what == CL_PROGRAM_SOURCE)) {
        is_answered = true;
        result = what == CL_PROGRAM_IL ? give(p->code, p->size, room, to, written) : give("", 1, room, to, written);
    } else if (p && p->behind
        && (what == CL_PROGRAM_NUM_KERNELS || what == CL_PROGRAM_KERNEL_NAMES
            || what == CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT || what == CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT)) {
        asked = p->behind;
    }
    pthread_mutex_unlock(&layer_lock);
    if (is_of_matrices && what == CL_PROGRAM_BINARY_SIZES)
        return binary_sizes(id, room, to, written);
    if (is_of_matrices && what == CL_PROGRAM_BINARIES)
        return binaries(id, room, to, written);
    return is_answered ? result : next->clGetProgramInfo(asked, what, room, to, written);
}

/* Returns the helper's log, followed by the driver's. */
static cl_int whole_log(const build *b, size_t room, void *to, size_t *written)
{
    size_t size = 0, own = b->log ? strlen(b->log) : 0;
    cl_int error = b->made ? next->clGetProgramBuildInfo(b->made, b->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) : 0;
    char *log = calloc(1, own + size + 1);
    if (!log)
        return CL_OUT_OF_HOST_MEMORY;
    if (own)
        memcpy(log, b->log, own);
    if (size && !error)
        error = next->clGetProgramBuildInfo(b->made, b->device, CL_PROGRAM_BUILD_LOG, size, log + own, NULL);
    if (!error)
        error = give(log, strlen(log) + 1, room, to, written);
    free(log);
    return error;
}

cl_int CL_API_CALL layer_GetProgramBuildInfo(
    cl_program id, cl_device_id device_id, cl_program_build_info what, size_t room, void *to, size_t *written)
{
    static const cl_build_status failed = CL_BUILD_ERROR;
    pthread_mutex_lock(&layer_lock);
    const program *p = find_program(id);
    const build *own = p ? p->builds : NULL;
    while (own && own->device != device_id)
        own = own->next;
    build *b = own ? copied_build(own) : NULL;
    pthread_mutex_unlock(&layer_lock);
    cl_int result;
    if (!b)
        result = next->clGetProgramBuildInfo(id, device_id, what, room, to, written);
    else if (what == CL_PROGRAM_BUILD_OPTIONS)
        result = give(b->options, strlen(b->options) + 1, room, to, written);
    else if (what == CL_PROGRAM_BUILD_LOG)
        result = whole_log(b, room, to, written);
    else if (what == CL_PROGRAM_BUILD_STATUS && !b->made)
        result = give(&failed, sizeof failed, room, to, written);
    else
        result = next->clGetProgramBuildInfo(b->made ? b->made : id, device_id, what, room, to, written);
    release_builds(b);
    return result;
}
