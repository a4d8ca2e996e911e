/* Builds: for each kind of device, the helper compiles the application's program, and the driver builds the result. If
 * there are several kinds, their binaries are joined into one program behind the application's. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void(CL_CALLBACK *callback)(cl_program, void *);

/* The application's request: a build, or a compilation, which may have headers. */
typedef struct {
    bool is_build;
    const char *options;
    cl_uint header_count;
    const cl_program *headers;
    const char **header_names;
} order;

/* The program that was made for the devices of one kind. */
typedef struct {
    cl_program id; /* NULL: the compilation failed */
    bool is_binary; /* the program was created from a device binary, not from the helper's code */
    kernel_facts *facts;
    char *device_options, *log;
} product;

static char *formatted(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return text;
}

/* ---- records of builds */

build *copied_build(const build *b)
{
    build *copy = malloc(sizeof *copy);
    if (copy) {
        *copy = (build){ NULL, b->device, b->made, strdup(b->options), b->log ? strdup(b->log) : NULL };
        if (copy->made)
            next->clRetainProgram(copy->made);
        if (!copy->options) {
            release_builds(copy);
            copy = NULL;
        }
    }
    return copy;
}

void release_builds(build *b)
{
    while (b) {
        build *following = b->next;
        if (b->made)
            next->clReleaseProgram(b->made);
        free(b->options);
        free(b->log);
        free(b);
        b = following;
    }
}

/* Moves the builds and facts of a device from a program to the given lists. The caller holds the lock. */
static void drop_device(program *p, cl_device_id id, build **old_builds, kernel_facts **old_facts)
{
    for (build **at = &p->builds; *at;)
        if ((*at)->device == id) {
            build *gone = *at;
            *at = gone->next;
            gone->next = *old_builds;
            *old_builds = gone;
        } else {
            at = &(*at)->next;
        }
    for (kernel_facts **at = &p->facts; *at;)
        if ((*at)->device == id) {
            kernel_facts *gone = *at;
            *at = gone->next;
            gone->next = *old_facts;
            *old_facts = gone;
        } else {
            at = &(*at)->next;
        }
}

/* Replaces the builds and facts of these devices by the new product's. */
static void record(program *p, cl_uint count, const cl_device_id *ids, const product *made, const char *options)
{
    build *old_builds = NULL;
    kernel_facts *old_facts = NULL;
    for (cl_uint i = 0; i < count; i++) {
        const build like = { NULL, ids[i], made->id, (char *)(options ? options : ""), made->log };
        build *b = copied_build(&like);
        kernel_facts *facts = copied_facts(made->facts, NULL), **end = &facts;
        for (; *end; end = &(*end)->next)
            (*end)->device = ids[i];
        pthread_mutex_lock(&layer_lock);
        drop_device(p, ids[i], &old_builds, &old_facts);
        if (b) {
            b->next = p->builds;
            p->builds = b;
        }
        *end = p->facts;
        p->facts = facts;
        pthread_mutex_unlock(&layer_lock);
    }
    release_builds(old_builds);
    release_facts(old_facts);
}

static void set_behind(program *p, cl_program behind)
{
    if (behind)
        next->clRetainProgram(behind);
    pthread_mutex_lock(&layer_lock);
    cl_program old = p->behind;
    p->behind = behind;
    pthread_mutex_unlock(&layer_lock);
    if (old)
        next->clReleaseProgram(old);
}

static void forget_builds(program *p)
{
    set_behind(p, NULL);
    pthread_mutex_lock(&layer_lock);
    build *builds = p->builds;
    kernel_facts *facts = p->facts;
    p->builds = NULL;
    p->facts = NULL;
    pthread_mutex_unlock(&layer_lock);
    release_builds(builds);
    release_facts(facts);
}

bool is_built(cl_program made)
{
    cl_device_id ids[MOST_DEVICES];
    size_t size = 0;
    if (next->clGetProgramInfo(made, CL_PROGRAM_DEVICES, sizeof ids, ids, &size))
        size = 0;
    for (size_t i = 0; i < size / sizeof *ids; i++) {
        cl_build_status status = CL_BUILD_ERROR;
        if (!next->clGetProgramBuildInfo(made, ids[i], CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL)
            && status == CL_BUILD_SUCCESS)
            return true;
    }
    return false;
}

/* ---- compilation */

char *source_of(cl_program id, size_t *size)
{
    *size = 0;
    if (next->clGetProgramInfo(id, CL_PROGRAM_SOURCE, 0, NULL, size) || !*size)
        return NULL;
    char *text = calloc(1, *size + 1);
    if (text && next->clGetProgramInfo(id, CL_PROGRAM_SOURCE, *size, text, NULL)) {
        free(text);
        text = NULL;
    }
    return text;
}

static void put_headers(message *request, const order *o)
{
    for (cl_uint i = 0; i < o->header_count; i++) {
        size_t size;
        char *text = source_of(o->headers[i], &size);
        message header = { 0 };
        if (text) {
            put_text(&header, "name", o->header_names[i]);
            put(&header, "text", text, strlen(text));
            put(request, "header", header.bytes, header.size);
        }
        release_message(&header);
        free(text);
    }
}

static cl_program create(const program *p, const char *form, const void *code, size_t size, cl_int *error)
{
    const char *text = code;
    if (!strcmp(form, "spirv"))
        return create_with_il(p->context, code, size, error);
    return next->clCreateProgramWithSource(p->context, 1, &text, &size, error);
}

/* Appends a text to a log; frees both, and returns the new log. */
static char *longer_log(char *log, char *more)
{
    char *both = log && more ? formatted("%s%s", log, more) : NULL;
    if (!both)
        return log ? (free(more), log) : more;
    free(log);
    free(more);
    return both;
}

/* Returns a program of a device binary, for all devices of a kind; NULL if the driver refuses the binary. */
static cl_program create_with_binary(const program *p, cl_uint count, const cl_device_id *ids, const field *binary)
{
    size_t sizes[MOST_DEVICES];
    const unsigned char *bytes[MOST_DEVICES];
    for (cl_uint i = 0; i < count; i++) {
        sizes[i] = binary->size;
        bytes[i] = binary->data;
    }
    return next->clCreateProgramWithBinary(p->context, count, ids, sizes, bytes, NULL, NULL);
}

/* Lets the helper build a program in a process that may crash. Returns an error if that process crashed, or the helper
 * did not answer. Otherwise, `made` gets a program of the binary that the process returned; without one, its id stays
 * NULL. */
static cl_int try_build(const program *p, cl_uint count, const cl_device_id *ids, const order *o, const char *form,
    const field *code, product *made)
{
    message request = { 0 }, answer;
    field binary;
    char *why;
    cl_int error = CL_BUILD_PROGRAM_FAILURE;
    put_text(&request, "operation", "trial");
    put_text(&request, "form", form);
    put_text(&request, "options", made->device_options);
    put_driver(&request, ids[0]);
    put(&request, "device", device_of(ids[0])->facts.bytes, device_of(ids[0])->facts.size);
    for (size_t i = 0; i < p->constant_count; i++) {
        message constant = { 0 };
        put_number(&constant, "number", p->constants[i].id);
        put(&constant, "value", p->constants[i].value, p->constants[i].size);
        put(&request, "constant", constant.bytes, constant.size);
        release_message(&constant);
    }
    put(&request, "code", code->data, code->size);
    if (ask(&request, &answer, &why)) {
        char *fault = text_of(&answer, "fault");
        if (!fault)
            error = CL_SUCCESS;
        made->log = longer_log(made->log, text_of(&answer, "log"));
        if (!fault && o->is_build && find(&answer, "binary", &binary) && binary.size)
            made->id = create_with_binary(p, count, ids, &binary);
        made->is_binary = made->id;
        free(fault);
    } else {
        made->log = longer_log(made->log, formatted("error: coopmat: %s\n", why ? why : "no answer"));
    }
    free(why);
    release_message(&answer);
    release_message(&request);
    return error;
}

/* Creates the driver's program from the code in the helper's answer, after a trial if the device's compiler may
 * crash. */
static cl_int take(const program *p, cl_uint count, const cl_device_id *ids, const order *o, const message *answer,
    const char *form, product *made)
{
    field code, flag;
    cl_int error = CL_SUCCESS;
    if (!find(answer, "code", &code))
        return CL_BUILD_PROGRAM_FAILURE;
    if (find(answer, "may_crash", &flag))
        error = try_build(p, count, ids, o, form, &code, made);
    if (!error && !made->id)
        made->id = create(p, form, code.data, code.size, &error);
    made->facts = made->id ? facts_of(answer) : NULL;
    return error;
}

/* Requests a program's code from the helper, and creates the driver's program. */
static cl_int compile(const program *p, cl_uint count, const cl_device_id *ids, const order *o, product *made)
{
    const device *d = device_of(ids[0]);
    message request = { 0 }, answer;
    char *why;
    cl_int error = CL_BUILD_PROGRAM_FAILURE;
    put_text(&request, "operation", p->is_il ? "spirv" : "source");
    put_text(&request, "options", o->options);
    if (!o->is_build)
        put_text(&request, "separate", "1");
    put_text(&request, "route", getenv("COOPMAT_ROUTE"));
    put(&request, "device", d->facts.bytes, d->facts.size);
    put_headers(&request, o);
    put(&request, "code", p->code, p->size);
    if (ask(&request, &answer, &why)) {
        char *form = text_of(&answer, "form");
        made->log = text_of(&answer, "log");
        made->device_options = text_of(&answer, "device_options");
        char *fault = text_of(&answer, "fault");
        if (fault && !strcmp(fault, "options"))
            error = CL_INVALID_BUILD_OPTIONS;
        free(fault);
        if (form)
            error = take(p, count, ids, o, &answer, form, made);
        free(form);
    } else {
        made->log = formatted("error: coopmat: %s\n", why ? why : "no answer");
    }
    free(why);
    release_message(&answer);
    release_message(&request);
    return error;
}

/* Creates a program for devices of one kind; it is not built yet. */
static cl_int make(const program *p, cl_uint count, const cl_device_id *ids, const order *o, product *made)
{
    device *d = device_of(ids[0]);
    cl_int error = CL_SUCCESS;
    memset(made, 0, sizeof *made);
    if (!d)
        return CL_INVALID_DEVICE;
    if (d->emulated) {
        error = compile(p, count, ids, o, made);
    } else {
        made->id = create(p, p->is_il ? "spirv" : "c", p->code, p->size, &error);
        made->device_options = o->options ? strdup(o->options) : NULL;
    }
    for (size_t i = 0; made->id && !made->is_binary && i < p->constant_count; i++)
        next->clSetProgramSpecializationConstant(
            made->id, p->constants[i].id, p->constants[i].size, p->constants[i].value);
    return error;
}

static void release_product(product *made)
{
    if (made->id)
        next->clReleaseProgram(made->id);
    release_facts(made->facts);
    free(made->device_options);
    free(made->log);
}

/* ---- builds by the driver */

static cl_int run(const product *made, const order *o, cl_uint count, const cl_device_id *ids, callback function, void *data)
{
    if (o->is_build)
        return next->clBuildProgram(made->id, count, ids, made->device_options, function, data);
    const device *d = device_of(ids[0]);
    /* The helper's code contains the headers already. */
    cl_uint headers = d && !d->emulated ? o->header_count : 0;
    return next->clCompileProgram(made->id, count, ids, made->device_options, headers, headers ? o->headers : NULL,
        headers ? o->header_names : NULL, function, data);
}

/* Moves the devices of the same kind as the first to the front, and returns their number. */
static cl_uint gather_kind(cl_uint count, cl_device_id *ids)
{
    const device *first = device_of(ids[0]);
    cl_uint same = 1;
    for (cl_uint i = 1; i < count; i++) {
        const device *other = device_of(ids[i]);
        if (first && other && same_facts(first, other)) {
            cl_device_id id = ids[i];
            ids[i] = ids[same];
            ids[same++] = id;
        }
    }
    return same;
}

/* Lists the distinct programs that the driver has built for this program, at most MOST_DEVICES. Retains each, and
 * returns their number. */
static cl_uint built_ones(const program *p, cl_program *made)
{
    cl_uint count = 0, kept = 0;
    pthread_mutex_lock(&layer_lock);
    for (const build *b = p->builds; b && count < MOST_DEVICES; b = b->next) {
        cl_uint same = 0;
        while (same < count && made[same] != b->made)
            same++;
        if (b->made && same == count) {
            next->clRetainProgram(b->made);
            made[count++] = b->made;
        }
    }
    pthread_mutex_unlock(&layer_lock);
    for (cl_uint i = 0; i < count; i++)
        if (is_built(made[i]))
            made[kept++] = made[i];
        else
            next->clReleaseProgram(made[i]);
    return kept;
}

/* Joins the programs that were built into one, and sets it as the program behind; NULL if none was built. */
static cl_int unite(program *p, bool is_build)
{
    cl_program made[MOST_DEVICES], behind = NULL;
    cl_int error = CL_SUCCESS;
    cl_uint count = built_ones(p, made);
    if (count == 1)
        next->clRetainProgram(behind = made[0]);
    else if (count)
        behind = joined_program(p, is_build, &error);
    set_behind(p, behind);
    if (behind)
        next->clReleaseProgram(behind);
    for (cl_uint i = 0; i < count; i++)
        next->clReleaseProgram(made[i]);
    return error;
}

typedef struct {
    callback function;
    void *data;
    cl_program id;
} notice;

static void CL_CALLBACK forward(cl_program ignored, void *data)
{
    notice *n = data;
    (void)ignored;
    n->function(n->id, n->data);
    free(n);
}

static notice *notice_of(cl_program id, callback function, void *data)
{
    notice *n = function ? malloc(sizeof *n) : NULL;
    if (n)
        *n = (notice){ function, data, id };
    return n;
}

/* Writes the devices of a build to `ids`, and returns their number; 0 if one does not belong to the context. */
static cl_uint devices_of_build(const program *p, cl_uint count, const cl_device_id *given, cl_device_id *ids)
{
    cl_uint all = devices_of_context(p->context, ids, MOST_DEVICES);
    cl_device_id own[MOST_DEVICES];
    if (!given || !all || count > MOST_DEVICES)
        return given ? 0 : all;
    memcpy(own, ids, all * sizeof *own);
    for (cl_uint i = 0; i < count; i++) {
        cl_uint at = 0;
        while (at < all && own[at] != given[i])
            at++;
        if (at == all)
            return 0;
    }
    memcpy(ids, given, count * sizeof *ids);
    return count;
}

/* Builds for all devices. In the usual case one program serves all of them: then the driver may build asynchronously,
 * and calls back. */
static cl_int perform(program *p, cl_uint count, cl_device_id *ids, const order *o, callback function, void *data)
{
    cl_program others[MOST_DEVICES];
    cl_int first_error = CL_SUCCESS;
    for (cl_uint at = 0, same; at < count; at += same) {
        product made;
        same = gather_kind(count - at, ids + at);
        cl_int error = make(p, same, ids + at, o, &made);
        record(p, same, ids + at, &made, o->options);
        cl_uint other_count = !error && same == count ? built_ones(p, others) : 1;
        for (cl_uint i = 0; same == count && !error && i < other_count; i++)
            next->clReleaseProgram(others[i]);
        if (!error && !other_count) {
            notice *n = notice_of(p->id, function, data);
            set_behind(p, made.id);
            error = run(&made, o, same, ids, n ? forward : NULL, n);
            /* If the driver refuses the program, the notice is not freed: the driver may still call back. */
            release_product(&made);
            return error;
        }
        if (!error)
            error = run(&made, o, same, ids + at, NULL, NULL);
        release_product(&made);
        first_error = first_error ? first_error : error;
    }
    cl_int error = unite(p, o->is_build);
    first_error = first_error ? first_error : error;
    if (function)
        function(p->id, data);
    return first_error;
}

/* Performs a build, unless another build of the program is running or kernels of the program exist. */
static cl_int perform_alone(
    program *p, cl_uint count, const cl_device_id *given, const order *o, callback function, void *data)
{
    cl_device_id ids[MOST_DEVICES];
    count = devices_of_build(p, count, given, ids);
    if (!count)
        return CL_INVALID_DEVICE;
    for (cl_uint i = 0; i < o->header_count; i++) {
        cl_uint references;
        if (next->clGetProgramInfo(o->headers[i], CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL))
            return CL_INVALID_PROGRAM;
    }
    if (has_kernels(p->id))
        return CL_INVALID_OPERATION;
    pthread_mutex_lock(&layer_lock);
    bool is_building = p->is_building;
    p->is_building = true;
    pthread_mutex_unlock(&layer_lock);
    if (is_building)
        return CL_INVALID_OPERATION;
    cl_int error = perform(p, count, ids, o, function, data);
    pthread_mutex_lock(&layer_lock);
    p->is_building = false;
    pthread_mutex_unlock(&layer_lock);
    return error;
}

/* Returns whether the source, a file that it includes, or a header has matrices. */
static bool has_matrices(const program *p, const order *o)
{
    bool found = p->is_il || text_has_matrices((const char *)p->code)
        || includes_have_matrices((const char *)p->code, o->options);
    for (cl_uint i = 0; i < o->header_count && !found; i++) {
        size_t size;
        char *text = source_of(o->headers[i], &size);
        found = text && text_has_matrices(text);
        free(text);
    }
    return found;
}

static program *with_code(cl_program id)
{
    pthread_mutex_lock(&layer_lock);
    program *p = find_program(id);
    pthread_mutex_unlock(&layer_lock);
    return p && p->code ? p : NULL;
}

cl_int CL_API_CALL layer_BuildProgram(
    cl_program id, cl_uint count, const cl_device_id *ids, const char *options, callback function, void *data)
{
    const order o = { true, options, 0, NULL, NULL };
    program *p = with_code(id);
    if (p && (!ids != !count || (!function && data)))
        return CL_INVALID_VALUE;
    if (p && has_matrices(p, &o))
        return perform_alone(p, count, ids, &o, function, data);
    if (p)
        forget_builds(p);
    return next->clBuildProgram(id, count, ids, options, function, data);
}

cl_int CL_API_CALL layer_CompileProgram(cl_program id, cl_uint count, const cl_device_id *ids, const char *options,
    cl_uint header_count, const cl_program *headers, const char **names, callback function, void *data)
{
    const order o = { false, options, header_count, headers, names };
    program *p = with_code(id);
    if (p && (!ids != !count || !headers != !header_count || !names != !header_count || (!function && data)))
        return CL_INVALID_VALUE;
    if (p && has_matrices(p, &o)) {
        cl_int error = perform_alone(p, count, ids, &o, function, data);
        return error == CL_BUILD_PROGRAM_FAILURE ? CL_COMPILE_PROGRAM_FAILURE
            : error == CL_INVALID_BUILD_OPTIONS  ? CL_INVALID_COMPILER_OPTIONS
                                                 : error;
    }
    if (p)
        forget_builds(p);
    return next->clCompileProgram(id, count, ids, options, header_count, headers, names, function, data);
}
