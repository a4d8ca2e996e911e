/* Links: the driver links the programs that were built for the application's programs. The linked program gets the
 * facts of their kernels, and the facts of kernels that call functions with matrices in other programs. */
#define _GNU_SOURCE
#include "layer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void(CL_CALLBACK *callback)(cl_program, void *);

/* The facts of a program that is being linked. The driver may call back before its link function returns. */
typedef struct {
    cl_context context;
    kernel_facts *facts;
    bool has_callers; /* kernels without facts may call functions with matrices */
    callback function;
    void *data;
} linkage;

/* ---- kernels that call functions with matrices */

/* Returns the first function for a device that requires subgroups of a certain size; NULL if there is none. Kernels
 * that call the function must have this size. */
static const kernel_facts *function_for(const kernel_facts *facts, cl_device_id device)
{
    while (facts && !(facts->is_function && facts->device == device))
        facts = facts->next;
    return facts;
}

/* Gives each kernel that calls other programs the requirements of these programs' functions. Returns false if a kernel
 * was compiled for subgroups of another size. */
static bool settle(kernel_facts *facts)
{
    for (kernel_facts *k = facts; k; k = k->next) {
        if (k->is_function || !k->imports)
            continue;
        for (const kernel_facts *f = facts; (f = function_for(f, k->device)); f = f->next) {
            if (k->sub_group_size && f->sub_group_size != 1 && k->sub_group_size != f->sub_group_size)
                return false;
            k->sub_group_size = f->sub_group_size;
            k->uses_matrices = k->uses_matrices || f->uses_matrices;
            if (f->most_items && (!k->most_items || f->most_items < k->most_items))
                k->most_items = f->most_items;
        }
    }
    return true;
}

static bool names(const char *text, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += size)
        if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            && !(isalnum((unsigned char)at[size]) || at[size] == '_'))
            return true;
    return false;
}

/* Returns a function with matrices that a program may call which the driver compiled; NULL if there is none. */
static const kernel_facts *called_by(cl_program id, const kernel_facts *facts)
{
    size_t size = 0;
    char *text = source_of(id, &size);
    const kernel_facts *found = facts;
    while (found && !(found->is_function && (!text || names(text, found->name))))
        found = found->next;
    free(text);
    return found;
}

static bool is_known(const kernel_facts *facts, const char *kernel, cl_device_id device)
{
    while (facts && (facts->is_function || facts->device != device || strcmp(facts->name, kernel)))
        facts = facts->next;
    return facts;
}

/* Adds facts for the kernels that have none: each is assumed to call the functions with matrices. Returns the list. */
static kernel_facts *with_callers(cl_program id, kernel_facts *facts)
{
    size_t size = 0;
    char *all = NULL, *rest = NULL;
    if (!next->clGetProgramInfo(id, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size) && size)
        all = calloc(1, size + 1);
    if (all && next->clGetProgramInfo(id, CL_PROGRAM_KERNEL_NAMES, size, all, NULL))
        *all = 0;
    const kernel_facts *given = facts;
    for (char *name = all ? strtok_r(all, ";", &rest) : NULL; name; name = strtok_r(NULL, ";", &rest))
        for (const kernel_facts *f = given; f; f = f->next) {
            if (!f->is_function || is_known(facts, name, f->device))
                continue;
            kernel_facts *caller = calloc(1, sizeof *caller);
            char *own = strdup(name);
            if (!caller || !own) {
                free(caller);
                free(own);
                continue;
            }
            *caller = *f;
            caller->name = own;
            caller->is_function = false;
            caller->next = facts;
            facts = caller;
        }
    free(all);
    return facts;
}

/* ---- the linked program */

static void track_linked(cl_program id, const linkage *l)
{
    pthread_mutex_lock(&layer_lock);
    bool is_known = find_program(id) != NULL;
    pthread_mutex_unlock(&layer_lock);
    program *p = is_known ? NULL : track_program(id, l->context, NULL, 0, false);
    if (p) {
        kernel_facts *facts = copied_facts(l->facts, NULL);
        if (l->has_callers)
            facts = with_callers(id, facts);
        pthread_mutex_lock(&layer_lock);
        p->facts = facts;
        pthread_mutex_unlock(&layer_lock);
    }
}

static void CL_CALLBACK forward_linked(cl_program id, void *data)
{
    linkage *l = data;
    if (id)
        track_linked(id, l);
    l->function(id, l->data);
    release_facts(l->facts);
    free(l);
}

/* Returns a program whose link failed, with a log for each device. */
static cl_program failed_link(const linkage *l, const char *options, const char *why, cl_int *error)
{
    const char *empty = "";
    cl_device_id ids[MOST_DEVICES];
    cl_program id = next->clCreateProgramWithSource(l->context, 1, &empty, NULL, error);
    program *p = id ? track_program(id, l->context, NULL, 0, false) : NULL;
    cl_uint count = p ? devices_of_context(l->context, ids, MOST_DEVICES) : 0;
    for (cl_uint i = 0; i < count; i++) {
        const build failed = { NULL, ids[i], NULL, (char *)(options ? options : ""), (char *)why };
        build *b = copied_build(&failed);
        pthread_mutex_lock(&layer_lock);
        if (b) {
            b->next = p->builds;
            p->builds = b;
        }
        pthread_mutex_unlock(&layer_lock);
    }
    if (id && error)
        *error = CL_LINK_PROGRAM_FAILURE;
    if (l->function)
        l->function(id, l->data);
    return id;
}

/* Collects the facts of the inputs of a link, and whether programs that the driver compiled may call functions with
 * matrices. If the inputs cannot be linked, returns the reason, which the caller frees; otherwise returns NULL. */
static char *gather(cl_uint count, const cl_program *inputs, linkage *l)
{
    char *why = NULL;
    for (cl_uint i = 0; i < count; i++) {
        pthread_mutex_lock(&layer_lock);
        const program *p = find_program(inputs[i]);
        kernel_facts *more = copied_facts(p ? p->facts : NULL, NULL), **end = &more;
        pthread_mutex_unlock(&layer_lock);
        while (*end)
            end = &(*end)->next;
        *end = l->facts;
        l->facts = more;
    }
    if (!settle(l->facts))
        return strdup("error: coopmat: a kernel calls a function of another program that has matrices, and both were"
                      " compiled for subgroups of different sizes\n");
    for (cl_uint i = 0; i < count && !why; i++) {
        pthread_mutex_lock(&layer_lock);
        const program *p = find_program(inputs[i]);
        bool is_ours = p && (p->builds || !p->code);
        pthread_mutex_unlock(&layer_lock);
        const kernel_facts *f = is_ours ? NULL : called_by(inputs[i], l->facts);
        l->has_callers = l->has_callers || f;
        if (f && f->sub_group_size != 1
            && asprintf(&why,
                   "error: coopmat: the function '%s' has matrices, and a program without matrices, which the device's"
                   " compiler compiled, may call it: enable " EXTENSION " in that program by a pragma\n",
                   f->name) < 0)
            why = NULL;
    }
    return why;
}

cl_program CL_API_CALL layer_LinkProgram(cl_context context, cl_uint count, const cl_device_id *ids, const char *options,
    cl_uint input_count, const cl_program *inputs, callback function, void *data, cl_int *error)
{
    cl_program *behind = inputs ? calloc((size_t)input_count + 1, sizeof *behind) : NULL;
    linkage own = { context, NULL, false, function, data };
    cl_program id;
    if (!behind)
        return next->clLinkProgram(context, count, ids, options, input_count, inputs, function, data, error);
    for (cl_uint i = 0; i < input_count; i++)
        behind[i] = program_behind(inputs[i]);
    char *why = gather(input_count, inputs, &own);
    linkage *l = own.facts && function && !why ? malloc(sizeof *l) : NULL;
    if (why) {
        id = failed_link(&own, options, why, error);
    } else if (l) {
        *l = (linkage){ context, copied_facts(own.facts, NULL), own.has_callers, function, data };
        id = next->clLinkProgram(context, count, ids, options, input_count, behind, forward_linked, l, error);
    } else {
        id = next->clLinkProgram(context, count, ids, options, input_count, behind, function, data, error);
    }
    free(behind);
    if (id && own.facts && !why)
        track_linked(id, &own);
    free(why);
    release_facts(own.facts);
    return id;
}
