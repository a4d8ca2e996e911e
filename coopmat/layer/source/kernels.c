/* Kernels of programs with matrices: the size of their subgroups is the route's, not the device's. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdlib.h>
#include <string.h>

typedef struct kernel {
    struct kernel *next;
    cl_kernel id;
    cl_program program; /* the application's program, which is retained */
    kernel_facts *facts; /* one for each device */
    size_t references;
} kernel;

enum { BUCKETS = 1024 };
static kernel *kernels[BUCKETS];

static kernel **place_of(cl_kernel id)
{
    kernel **at = &kernels[(uintptr_t)id / 64 % BUCKETS];
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

/* ---- facts */

kernel_facts *facts_of(const message *answer)
{
    kernel_facts *first = NULL;
    size_t at = 0;
    field found;
    while (next_field(answer, &at, &found)) {
        if (found.name_size != 6 || memcmp(found.name, "kernel", 6))
            continue;
        message inner = { .bytes = (unsigned char *)found.data, .size = found.size };
        char *name = text_of(&inner, "name"), *size = text_of(&inner, "sub_group_size");
        char *most = text_of(&inner, "most_items"), *uses = text_of(&inner, "uses_matrices");
        char *fixed = text_of(&inner, "is_fixed"), *imports = text_of(&inner, "imports");
        char *function = text_of(&inner, "is_function");
        kernel_facts *facts = name && size && most && uses && fixed ? calloc(1, sizeof *facts) : NULL;
        if (facts) {
            *facts = (kernel_facts){ first, NULL, name, strtoull(size, NULL, 10), strtoull(most, NULL, 10), *uses == '1',
                *fixed == '1', imports && *imports == '1', function && *function == '1' };
            first = facts;
        } else {
            free(name);
        }
        free(size);
        free(most);
        free(uses);
        free(fixed);
        free(imports);
        free(function);
    }
    return first;
}

void put_facts(message *m, const kernel_facts *facts)
{
    put_text(m, "name", facts->name);
    put_number(m, "sub_group_size", facts->sub_group_size);
    put_number(m, "most_items", facts->most_items);
    put_number(m, "uses_matrices", facts->uses_matrices);
    put_number(m, "is_fixed", facts->is_fixed);
    put_number(m, "imports", facts->imports);
    put_number(m, "is_function", facts->is_function);
}

kernel_facts *copied_facts(const kernel_facts *facts, const char *name)
{
    kernel_facts *first = NULL;
    for (; facts; facts = facts->next) {
        if (name && strcmp(name, facts->name))
            continue;
        kernel_facts *copy = malloc(sizeof *copy);
        char *own = strdup(facts->name);
        if (!copy || !own) {
            free(copy);
            free(own);
            continue;
        }
        *copy = *facts;
        copy->name = own;
        copy->next = first;
        first = copy;
    }
    return first;
}

void release_facts(kernel_facts *facts)
{
    while (facts) {
        kernel_facts *following = facts->next;
        free(facts->name);
        free(facts);
        facts = following;
    }
}

/* Copies the facts of a kernel on a device, without the name, or of its only device if `device` is NULL. Returns false
 * unless the kernel uses matrices, or its local memory limits the work-items of a work-group. */
static bool of_route(cl_kernel id, cl_device_id device, kernel_facts *facts)
{
    pthread_mutex_lock(&layer_lock);
    const kernel *k = *place_of(id);
    const kernel_facts *f = k ? k->facts : NULL;
    if (!device && f && f->next)
        f = NULL;
    while (f && device && f->device != device)
        f = f->next;
    bool found = f && (f->uses_matrices || f->most_items);
    if (found) {
        *facts = *f;
        facts->next = NULL;
        facts->name = NULL;
    }
    pthread_mutex_unlock(&layer_lock);
    return found;
}

/* ---- creation and release */

bool has_kernels(cl_program id)
{
    bool found = false;
    pthread_mutex_lock(&layer_lock);
    for (size_t i = 0; i < BUCKETS && !found; i++)
        for (const kernel *k = kernels[i]; k && !found; k = k->next)
            found = k->program == id;
    pthread_mutex_unlock(&layer_lock);
    return found;
}

static void track(cl_kernel id, cl_program program, kernel_facts *facts)
{
    kernel *k = malloc(sizeof *k);
    if (!k) {
        release_facts(facts);
        return;
    }
    layer_RetainProgram(program);
    pthread_mutex_lock(&layer_lock);
    kernel **at = place_of(id);
    kernel *stale = *at; /* the driver released an object without the layer, and has reused its id */
    *k = (kernel){ stale ? stale->next : NULL, id, program, facts, 1 };
    *at = k;
    pthread_mutex_unlock(&layer_lock);
    if (stale) {
        layer_ReleaseProgram(stale->program);
        release_facts(stale->facts);
        free(stale);
    }
}

static void track_created(cl_kernel id, cl_program program, const char *name)
{
    kernel_facts *facts = kernel_facts_in(program, name);
    /* If the application set new code after a build, the program has no facts, but there is still a program behind
     * it. */
    if (facts || program_behind(program) != program)
        track(id, program, facts);
}

cl_kernel CL_API_CALL layer_CreateKernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel id = next->clCreateKernel(program_behind(program), name, error);
    if (id)
        track_created(id, program, name);
    return id;
}

cl_int CL_API_CALL layer_CreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *to, cl_uint *count)
{
    cl_uint made = 0;
    cl_int error = next->clCreateKernelsInProgram(program_behind(program), room, to, &made);
    if (count)
        *count = made;
    pthread_mutex_lock(&layer_lock);
    bool is_known = find_program(program) != NULL;
    pthread_mutex_unlock(&layer_lock);
    for (cl_uint i = 0; !error && is_known && to && i < made && i < room; i++) {
        char name[1024] = "";
        if (!next->clGetKernelInfo(to[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL))
            track_created(to[i], program, name);
    }
    return error;
}

cl_kernel CL_API_CALL layer_CloneKernel(cl_kernel source, cl_int *error)
{
    cl_kernel id = next->clCloneKernel(source, error);
    if (id) {
        pthread_mutex_lock(&layer_lock);
        const kernel *k = *place_of(source);
        cl_program program = k ? k->program : NULL;
        kernel_facts *facts = copied_facts(k ? k->facts : NULL, NULL);
        pthread_mutex_unlock(&layer_lock);
        if (program)
            track(id, program, facts);
    }
    return id;
}

cl_int CL_API_CALL layer_RetainKernel(cl_kernel id)
{
    cl_int error = next->clRetainKernel(id);
    pthread_mutex_lock(&layer_lock);
    kernel *k = *place_of(id);
    if (k && !error)
        k->references++;
    pthread_mutex_unlock(&layer_lock);
    return error;
}

cl_int CL_API_CALL layer_ReleaseKernel(cl_kernel id)
{
    kernel *gone = NULL;
    pthread_mutex_lock(&layer_lock);
    kernel **at = place_of(id);
    if (*at && --(*at)->references == 0) {
        gone = *at;
        *at = gone->next;
    }
    pthread_mutex_unlock(&layer_lock);
    cl_int error = next->clReleaseKernel(id);
    if (gone) {
        layer_ReleaseProgram(gone->program);
        release_facts(gone->facts);
        free(gone);
    }
    return error;
}

/* ---- queries */

cl_int CL_API_CALL layer_GetKernelInfo(cl_kernel id, cl_kernel_info what, size_t room, void *to, size_t *written)
{
    if (what == CL_KERNEL_PROGRAM) {
        pthread_mutex_lock(&layer_lock);
        const kernel *k = *place_of(id);
        cl_program program = k ? k->program : NULL;
        pthread_mutex_unlock(&layer_lock);
        if (program)
            return give(&program, sizeof program, room, to, written);
    }
    return next->clGetKernelInfo(id, what, room, to, written);
}

static size_t largest_group(cl_kernel id, cl_device_id device, const kernel_facts *facts)
{
    size_t size = 1;
    if (next->clGetKernelWorkGroupInfo(id, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, NULL))
        size = 1;
    return facts->most_items && facts->most_items < size ? facts->most_items : size;
}

/* Returns an extension function of the driver, which the loader's table does not contain. */
static void *function_of(cl_kernel id, const char *name)
{
    cl_context context = NULL;
    if (next->clGetKernelInfo(id, CL_KERNEL_CONTEXT, sizeof context, &context, NULL))
        return NULL;
    return function_of_context(context, name);
}

typedef cl_int(CL_API_CALL *sub_group_query)(
    cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void *, size_t, void *, size_t *);

static cl_int sub_group_info(sub_group_query drivers, cl_kernel id, cl_device_id device, cl_kernel_sub_group_info what,
    size_t input_size, const void *input, size_t room, void *to, size_t *written)
{
    enum { COMPILE_SUB_GROUP_SIZE_INTEL = 0x410A };
    kernel_facts facts;
    if (!of_route(id, device, &facts) || !facts.sub_group_size)
        return drivers(id, device, what, input_size, input, room, to, written);
    const size_t *sizes = input;
    size_t size = facts.sub_group_size, most = largest_group(id, device, &facts), items = 1;
    switch (what) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        if (!sizes || !input_size || input_size % sizeof *sizes || input_size > 3 * sizeof *sizes)
            return CL_INVALID_VALUE;
        for (size_t i = 0; i < input_size / sizeof *sizes; i++)
            items *= sizes[i];
        items = what == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE ? (items + size - 1) / size : size;
        return give(&items, sizeof items, room, to, written);
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
        if (!sizes || input_size != sizeof *sizes || (to && room < sizeof *sizes))
            return CL_INVALID_VALUE;
        bool fits = *sizes && *sizes <= most / size;
        size_t local[3] = { fits ? *sizes * size : 0, fits, fits };
        size_t count = to ? room / sizeof *local : 3;
        return give(local, (count < 3 ? count : 3) * sizeof *local, room, to, written);
    }
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        items = most / size;
        return give(&items, sizeof items, room, to, written);
    case COMPILE_SUB_GROUP_SIZE_INTEL:
        return give(&size, sizeof size, room, to, written);
    }
    return drivers(id, device, what, input_size, input, room, to, written);
}

cl_int CL_API_CALL layer_GetKernelSubGroupInfo(cl_kernel id, cl_device_id device, cl_kernel_sub_group_info what,
    size_t input_size, const void *input, size_t room, void *to, size_t *written)
{
    return sub_group_info(next->clGetKernelSubGroupInfo, id, device, what, input_size, input, room, to, written);
}

/* Of cl_khr_subgroups; a driver of OpenCL 1.2 may have it without clGetKernelSubGroupInfo. */
cl_int CL_API_CALL layer_GetKernelSubGroupInfoKHR(cl_kernel id, cl_device_id device, cl_kernel_sub_group_info what,
    size_t input_size, const void *input, size_t room, void *to, size_t *written)
{
    sub_group_query own = (sub_group_query)function_of(id, "clGetKernelSubGroupInfoKHR");
    return sub_group_info(own ? own : next->clGetKernelSubGroupInfo, id, device, what, input_size, input, room, to,
        written);
}

cl_int CL_API_CALL layer_GetKernelWorkGroupInfo(cl_kernel id, cl_device_id device, cl_kernel_work_group_info what,
    size_t room, void *to, size_t *written)
{
    kernel_facts facts;
    if (of_route(id, device, &facts)) {
        if (what == CL_KERNEL_WORK_GROUP_SIZE && facts.most_items) {
            size_t size = largest_group(id, device, &facts);
            return give(&size, sizeof size, room, to, written);
        }
        if (what == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE && facts.sub_group_size > 1)
            return give(&facts.sub_group_size, sizeof facts.sub_group_size, room, to, written);
    }
    return next->clGetKernelWorkGroupInfo(id, device, what, room, to, written);
}

/* ---- launches */

static cl_device_id device_of_queue(cl_command_queue queue)
{
    cl_device_id id = NULL;
    if (!queue || next->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL))
        id = NULL;
    return id;
}

/* Chooses a work-group of one subgroup in `chosen` if the application leaves the choice to the device; returns false if
 * the device may choose. The device might choose partial subgroups, or more work-items than local memory suffices
 * for. */
static bool chooses_group(const kernel_facts *facts, cl_uint dimensions, const size_t *global, size_t chosen[3])
{
    if (facts->is_fixed || !global || !dimensions || dimensions > 3)
        return false;
    /* A manipulated binary may state a subgroup that is larger than the work-group. */
    bool fits = !facts->most_items || facts->sub_group_size <= facts->most_items;
    bool is_whole = fits && facts->sub_group_size > 1 && global[0] % facts->sub_group_size == 0;
    chosen[0] = is_whole ? facts->sub_group_size : 1;
    chosen[1] = chosen[2] = 1;
    return is_whole || facts->most_items;
}

/* Sets `*local` to a work-group that the kernel requires if it is NULL; returns an error if `*local` does not fit. */
static cl_int adjust_group(cl_command_queue queue, cl_kernel id, cl_uint dimensions, const size_t *global,
    const size_t **local, size_t chosen[3])
{
    kernel_facts facts;
    size_t items = 1;
    if (!of_route(id, device_of_queue(queue), &facts) || !dimensions || dimensions > 3)
        return CL_SUCCESS;
    if (!*local) {
        if (chooses_group(&facts, dimensions, global, chosen))
            *local = chosen;
        return CL_SUCCESS;
    }
    for (cl_uint i = 0; i < dimensions; i++)
        if (__builtin_mul_overflow(items, (*local)[i], &items))
            return CL_INVALID_WORK_GROUP_SIZE;
    bool is_partial = facts.uses_matrices && facts.sub_group_size > 1 && items % facts.sub_group_size;
    return is_partial || (facts.most_items && items > facts.most_items) ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

cl_int CL_API_CALL layer_EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel id, cl_uint dimensions,
    const size_t *offset, const size_t *global, const size_t *local, cl_uint count, const cl_event *events, cl_event *event)
{
    size_t chosen[3];
    cl_int error = adjust_group(queue, id, dimensions, global, &local, chosen);
    return error ? error
                 : next->clEnqueueNDRangeKernel(queue, id, dimensions, offset, global, local, count, events, event);
}

cl_int CL_API_CALL layer_CommandNDRangeKernel(cl_command_buffer_khr buffer, cl_command_queue queue,
    const cl_ndrange_kernel_command_properties_khr *properties, cl_kernel id, cl_uint dimensions, const size_t *offset,
    const size_t *global, const size_t *local, cl_uint count, const cl_sync_point_khr *points, cl_sync_point_khr *point,
    cl_mutable_command_khr *command)
{
    size_t chosen[3];
    clCommandNDRangeKernelKHR_fn own = (clCommandNDRangeKernelKHR_fn)function_of(id, "clCommandNDRangeKernelKHR");
    cl_int error = own ? adjust_group(queue, id, dimensions, global, &local, chosen) : CL_INVALID_KERNEL;
    return error ? error
                 : own(buffer, queue, properties, id, dimensions, offset, global, local, count, points, point, command);
}

cl_int CL_API_CALL layer_GetKernelSuggestedLocalWorkSize(cl_command_queue queue, cl_kernel id, cl_uint dimensions,
    const size_t *offset, const size_t *global, size_t *suggested)
{
    kernel_facts facts;
    size_t chosen[3];
    clGetKernelSuggestedLocalWorkSizeKHR_fn own
        = (clGetKernelSuggestedLocalWorkSizeKHR_fn)function_of(id, "clGetKernelSuggestedLocalWorkSizeKHR");
    if (suggested && of_route(id, device_of_queue(queue), &facts)
        && chooses_group(&facts, dimensions, global, chosen)) {
        memcpy(suggested, chosen, dimensions * sizeof *chosen);
        return CL_SUCCESS;
    }
    return own ? own(queue, id, dimensions, offset, global, suggested) : CL_INVALID_KERNEL;
}
