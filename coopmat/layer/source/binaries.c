/* Binaries of programs with matrices: the driver's binary, in a container with the facts about the kernels.
 *
 * A container has 16 bytes of magic, the size of the facts (64 bits in the machine's byte order), the facts (a message
 * with a field `kernel` for each kernel), and the driver's binary. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdlib.h>
#include <string.h>

static const char magic[16] = { 'c', 'o', 'o', 'p', 'm', 'a', 't', ' ', 'b', 'i', 'n', 'a', 'r', 'y', ' ', '1' };

enum { HEAD = sizeof magic + sizeof(uint64_t) };

typedef struct {
    unsigned char *bytes; /* NULL: no binary, or only its size was requested */
    size_t size;
} binary;

/* Returns the devices of a program, which the caller frees, and their number; NULL on failure. */
static cl_device_id *devices_of(cl_program id, cl_uint *count)
{
    size_t size = 0;
    cl_device_id *ids = NULL;
    if (!next->clGetProgramInfo(id, CL_PROGRAM_DEVICES, 0, NULL, &size) && size)
        ids = malloc(size);
    if (ids && next->clGetProgramInfo(id, CL_PROGRAM_DEVICES, size, ids, NULL)) {
        free(ids);
        ids = NULL;
    }
    *count = ids ? (cl_uint)(size / sizeof *ids) : 0;
    return ids;
}

/* Returns the driver's binary of a built program for a device; without `with_bytes`, only its size. */
static binary driver_binary(cl_program id, cl_device_id device, bool with_bytes)
{
    binary result = { NULL, 0 };
    cl_uint count;
    cl_device_id *ids = devices_of(id, &count);
    size_t *sizes = calloc((size_t)count + 1, sizeof *sizes);
    unsigned char **places = calloc((size_t)count + 1, sizeof *places);
    if (ids && sizes && places
        && !next->clGetProgramInfo(id, CL_PROGRAM_BINARY_SIZES, count * sizeof *sizes, sizes, NULL))
        for (cl_uint i = 0; i < count; i++)
            if (ids[i] == device && sizes[i]) {
                result.size = sizes[i];
                result.bytes = places[i] = with_bytes ? malloc(sizes[i]) : NULL;
            }
    if (result.bytes && next->clGetProgramInfo(id, CL_PROGRAM_BINARIES, count * sizeof *places, places, NULL)) {
        free(result.bytes);
        result = (binary){ NULL, 0 };
    }
    free(ids);
    free(sizes);
    free(places);
    return result;
}

static message facts_message(const kernel_facts *facts, cl_device_id device)
{
    message m = { 0 };
    for (; facts; facts = facts->next)
        if (facts->device == device) {
            message inner = { 0 };
            put_facts(&inner, facts);
            put(&m, "kernel", inner.bytes, inner.size);
            release_message(&inner);
        }
    return m;
}

/* Returns the container of an application's program for a device; without `with_bytes`, only its size. */
static binary container(cl_program id, cl_device_id device, bool with_bytes)
{
    binary result = { NULL, 0 };
    cl_program made = NULL;
    message facts = { 0 };
    pthread_mutex_lock(&layer_lock);
    const program *p = find_program(id);
    if (p) {
        made = p->code ? NULL : id;
        for (const build *b = p->builds; b; b = b->next)
            if (b->device == device)
                made = b->made;
        facts = facts_message(p->facts, device);
    }
    if (made)
        next->clRetainProgram(made);
    pthread_mutex_unlock(&layer_lock);
    binary own = made ? driver_binary(made, device, with_bytes) : result;
    if (made)
        next->clReleaseProgram(made);
    if (own.size)
        result.size = HEAD + facts.size + own.size;
    if (own.bytes && (result.bytes = malloc(result.size)) != NULL) {
        const uint64_t size = facts.size;
        memcpy(result.bytes, magic, sizeof magic);
        memcpy(result.bytes + sizeof magic, &size, sizeof size);
        if (facts.size)
            memcpy(result.bytes + HEAD, facts.bytes, facts.size);
        memcpy(result.bytes + HEAD + facts.size, own.bytes, own.size);
    }
    free(own.bytes);
    release_message(&facts);
    return result;
}

cl_int binary_sizes(cl_program id, size_t room, void *to, size_t *written)
{
    cl_uint count;
    cl_device_id *ids = devices_of(id, &count);
    size_t *sizes = calloc((size_t)count + 1, sizeof *sizes);
    cl_int error = ids && sizes ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; !error && i < count; i++)
        sizes[i] = container(id, ids[i], false).size;
    if (!error)
        error = give(sizes, count * sizeof *sizes, room, to, written);
    free(ids);
    free(sizes);
    return error;
}

cl_int binaries(cl_program id, size_t room, void *to, size_t *written)
{
    cl_uint count;
    cl_device_id *ids = devices_of(id, &count);
    const size_t size = count * sizeof(unsigned char *);
    cl_int error = ids ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!error && to && room < size)
        error = CL_INVALID_VALUE;
    for (cl_uint i = 0; !error && to && i < count; i++) {
        unsigned char *place = ((unsigned char **)to)[i];
        binary whole = { NULL, 0 };
        if (place)
            whole = container(id, ids[i], true);
        if (whole.bytes)
            memcpy(place, whole.bytes, whole.size);
        else if (whole.size)
            error = CL_OUT_OF_HOST_MEMORY;
        free(whole.bytes);
    }
    if (!error && written)
        *written = size;
    free(ids);
    return error;
}

cl_program CL_API_CALL layer_CreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *ids,
    const size_t *lengths, const unsigned char **given, cl_int *status, cl_int *error)
{
    kernel_facts *facts = NULL;
    bool has_container = false;
    /* No context has more devices: the driver refuses such a count before it reads the lists. */
    const bool is_list = ids && lengths && given && count <= MOST_DEVICES;
    size_t *sizes = is_list ? calloc((size_t)count + 1, sizeof *sizes) : NULL;
    const unsigned char **bytes = sizes ? calloc((size_t)count + 1, sizeof *bytes) : NULL;
    for (cl_uint i = 0; bytes && i < count; i++) {
        uint64_t size = 0;
        bytes[i] = given[i];
        sizes[i] = lengths[i];
        if (!given[i] || lengths[i] < HEAD || memcmp(given[i], magic, sizeof magic))
            continue;
        memcpy(&size, given[i] + sizeof magic, sizeof size);
        message stored = { .bytes = (unsigned char *)given[i] + HEAD, .size = size };
        if (size > lengths[i] - HEAD || !is_well_formed(&stored))
            continue;
        kernel_facts *more = facts_of(&stored), **end = &more;
        for (; *end; end = &(*end)->next)
            (*end)->device = ids[i];
        *end = facts;
        facts = more;
        bytes[i] += HEAD + size;
        sizes[i] -= HEAD + size;
        has_container = true;
    }
    cl_program id = has_container
        ? next->clCreateProgramWithBinary(context, count, ids, sizes, bytes, status, error)
        : next->clCreateProgramWithBinary(context, count, ids, lengths, given, status, error);
    free(sizes);
    free(bytes);
    program *p = id && has_container ? track_program(id, context, NULL, 0, false) : NULL;
    if (p) {
        pthread_mutex_lock(&layer_lock);
        p->facts = facts;
        pthread_mutex_unlock(&layer_lock);
    } else {
        release_facts(facts);
    }
    return id;
}

cl_program joined_program(program *p, bool is_build, cl_int *error)
{
    cl_device_id ids[MOST_DEVICES];
    cl_program made[MOST_DEVICES], joined = NULL;
    binary parts[MOST_DEVICES];
    size_t sizes[MOST_DEVICES];
    const unsigned char *bytes[MOST_DEVICES];
    cl_uint count = 0;
    *error = CL_SUCCESS;
    pthread_mutex_lock(&layer_lock);
    for (const build *b = p->builds; b && count < MOST_DEVICES; b = b->next)
        if (b->made && is_built(b->made)) {
            ids[count] = b->device;
            made[count++] = b->made;
            next->clRetainProgram(b->made);
        }
    pthread_mutex_unlock(&layer_lock);
    for (cl_uint i = 0; i < count; i++) {
        parts[i] = driver_binary(made[i], ids[i], true);
        sizes[i] = parts[i].size;
        bytes[i] = parts[i].bytes;
        if (!parts[i].bytes)
            *error = CL_INVALID_BINARY;
    }
    if (!*error)
        joined = next->clCreateProgramWithBinary(p->context, count, ids, sizes, bytes, NULL, error);
    if (joined && is_build) {
        *error = next->clBuildProgram(joined, count, ids, "", NULL, NULL);
        if (*error) {
            next->clReleaseProgram(joined);
            joined = NULL;
        }
    }
    for (cl_uint i = 0; i < count; i++) {
        free(parts[i].bytes);
        next->clReleaseProgram(made[i]);
    }
    return joined;
}
