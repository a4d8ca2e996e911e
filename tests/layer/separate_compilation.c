/* Compiles and links programs in the ways that Khronos' test_compiler does, and prints what OpenCL answers for each:
 * separate_compilation PLATFORM TAG COUNT DIRECTORY. Each source begins with TAG, COUNT is the number of programs of the
 * larger cases, and headers are written to DIRECTORY. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, ITEMS = 32 };

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static const char *tag, *directory;

/* ---- sources */

#define POINTERS "(global float *src, global float *dst)"
#define COPY "kernel void copy" POINTERS " { int id = get_global_id(0); dst[id] = src[id]; }\n"
#define DECLARED_COPY "extern kernel void copy" POINTERS ";\n"
#define CALL "kernel void call" POINTERS " { copy(src, dst); }\n"
#define RECORD "struct record { float x, y, z; int color; }"

static char *format(const char *pattern, ...)
{
    va_list rest;
    char *text = NULL;
    va_start(rest, pattern);
    if (vasprintf(&text, pattern, rest) < 0)
        abort();
    va_end(rest);
    return text;
}

static cl_program source(const char *pattern, int i)
{
    char *body = format(pattern, i, i), *text = format("%s\n%s", tag, body);
    const char *lines = text;
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, &lines, NULL, &error);
    free(body);
    free(text);
    return made;
}

/* ---- what OpenCL answers */

static void answer(const char *name, long value) { printf(" %s=%ld", name, value); }

static void describe(const char *name, cl_program program)
{
    cl_build_status status = 99;
    cl_program_binary_type type = 99;
    size_t log = 0, options = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL);
    cl_int log_error = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &log);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, 0, NULL, &options);
    char *text = calloc(1, options + 1);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, options, text, NULL);
    printf(" %s=(status %d, type %u, log %s, options '%s')", name, status, type, !log_error && log ? "yes" : "no", text);
    free(text);
}

static void show_log(cl_program program)
{
    static char log[20000];
    if (program && !clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL))
        fprintf(stderr, "%s\n", log);
}

static cl_program compile_with(
    cl_program program, const char *options, cl_uint count, const cl_program *headers, const char **names)
{
    cl_int error = clCompileProgram(program, 1, &device, options, count, headers, names, NULL, NULL);
    if (error) {
        answer("compile", error);
        show_log(program);
    }
    return program;
}

static cl_program compile(const char *pattern, int i) { return compile_with(source(pattern, i), NULL, 0, NULL, NULL); }

static cl_program link_all(const char *options, cl_uint count, const cl_program *programs)
{
    cl_int error;
    cl_program linked = clLinkProgram(context, 1, &device, options, count, programs, NULL, NULL, &error);
    if (error) {
        answer("link", error);
        show_log(linked);
    }
    return linked;
}

static cl_program link_two(const char *options, cl_program first, cl_program second)
{
    return link_all(options, second ? 2 : 1, (cl_program[]){ first, second });
}

static void run(cl_program program, const char *name)
{
    float from[ITEMS], to[ITEMS] = { 0 };
    int wrong = 0;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    answer("kernel", error);
    for (int i = 0; i < ITEMS; i++)
        from[i] = (float)(i % 10);
    cl_mem src = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof from, from, NULL);
    cl_mem dst = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof to, to, NULL);
    clSetKernelArg(kernel, 0, sizeof src, &src);
    clSetKernelArg(kernel, 1, sizeof dst, &dst);
    answer("launch", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &(size_t){ ITEMS }, NULL, 0, NULL, NULL));
    clEnqueueReadBuffer(queue, dst, CL_TRUE, 0, sizeof to, to, 0, NULL, NULL);
    for (int i = 0; i < ITEMS; i++)
        wrong += from[i] != to[i];
    answer("wrong", wrong);
    clReleaseMemObject(src);
    clReleaseMemObject(dst);
    clReleaseKernel(kernel);
}

static cl_program reload(cl_program program)
{
    size_t size = 0;
    cl_int status = 99, error;
    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    unsigned char *bytes = malloc(size + 1);
    clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL);
    const unsigned char *given = bytes;
    cl_program loaded = clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &error);
    answer("binary", status);
    answer("reload", error);
    free(bytes);
    return loaded;
}

/* ---- callbacks: each completes an event */

static void CL_CALLBACK complete(cl_program program, void *event)
{
    (void)program;
    clSetUserEventStatus(event, CL_COMPLETE);
}

static cl_event new_event(void) { return clCreateUserEvent(context, NULL); }

static void await(cl_event event)
{
    answer("callback", clWaitForEvents(1, &event));
    clReleaseEvent(event);
}

static cl_program compile_and_await(const char *pattern)
{
    cl_event done = new_event();
    cl_program program = source(pattern, 0);
    answer("compile", clCompileProgram(program, 1, &device, NULL, 0, NULL, NULL, complete, done));
    await(done);
    return program;
}

static cl_program link_and_await(const char *options, cl_uint count, const cl_program *programs)
{
    cl_event done = new_event();
    cl_int error;
    cl_program linked = clLinkProgram(context, 1, &device, options, count, programs, complete, done, &error);
    answer("link", error);
    await(done);
    return linked;
}

/* ---- cases */

static void compile_only(void)
{
    static const char *const texts[] = { COPY, "static constant float foo = 2.78;\n",
        "static constant " RECORD " foo = {3.14159};\n", "static int foo(int x, int y) { return x*x + y*y; }\n",
        "extern constant float foo;\n", "extern constant struct bar bart;\n", "extern int baz(int, int);\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        describe("object", compile(texts[i], 0));
}

static void callbacks(void)
{
    cl_program object = compile_and_await(COPY);
    run(link_and_await(NULL, 1, &object), "copy");
    describe("library", link_and_await("-create-library", 1, &object));
}

static cl_program with_header(const char *text, const char *name)
{
    cl_program header = source(DECLARED_COPY, 0);
    return compile_with(source(text, 0), NULL, 1, &header, &name);
}

static void embedded_header(void)
{
    cl_program caller = with_header("#include \"copy.h\"\n" CALL, "copy.h");
    describe("object", caller);
    describe("declared", with_header("#include \"a/copy.h\"\n" COPY, "a/copy.h"));
    cl_program linked = link_two("", caller, compile(COPY, 0));
    describe("executable", linked);
    run(linked, "call");
}

static void included_header(void)
{
    char *path = format("%s/copy.h", directory), *options = format("-I%s", directory);
    FILE *file = fopen(path, "w");
    fputs(DECLARED_COPY, file);
    fclose(file);
    cl_program caller = compile_with(source("#include \"copy.h\"\n" CALL, 0), options, 0, NULL, NULL);
    run(link_two(NULL, caller, compile(COPY, 0)), "call");
    free(path);
    free(options);
}

static void simple_links(void)
{
    describe("one", link_two(NULL, compile(COPY, 0), NULL));
    cl_program object = source(COPY, 0);
    cl_int error = 0;
    answer("compile", clCompileProgram(object, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    run(clLinkProgram(context, 0, NULL, NULL, 1, &object, NULL, NULL, &error), "copy");
    answer("link", error);
    const char *with_macros = "kernel void copy" POINTERS
                              " { int i = get_global_id(0); dst[i] = FIRST + (src[i] - 42) + SECOND; }\n";
    object = compile_with(source(with_macros, 0), "-DFIRST=5 -DSECOND=37", 0, NULL, NULL);
    describe("macros", object);
    run(link_two(NULL, object, NULL), "copy");
}

static void two_files(void)
{
    static const char *const defined[] = { "constant float foo = 4.0f;\n",
        "constant " RECORD " foo = {0.f, 0.f, 0.f, 0};\n", "int foo(int x, int y) { return x*x + y*y; }\n" };
    static const char *const used[] = { "extern constant float foo;\nfloat use() { return foo; }\n",
        "extern constant " RECORD " foo;\nstruct record use() { return foo; }\n",
        "extern int foo(int, int);\nint use() { int bar = foo(3, 4); return bar + 5; }\n" };
    for (int i = 0; i < 3; i++) {
        char *text = format("%s%s", COPY, defined[i]);
        cl_program linked = link_two(NULL, compile(text, 0), compile(used[i], 0));
        describe("linked", linked);
        run(linked, "copy");
        free(text);
    }
    run(link_two("", compile(DECLARED_COPY CALL, 0), compile(COPY, 0)), "call");
}

static void values_of_other_files(void)
{
    cl_program caller = compile(RECORD
        "; extern constant float foo; extern constant struct record bar; struct record baz(int, int);\n"
                                "float bias(void) { return baz(3, 4).color + bar.z - foo; }\n",
        0);
    cl_program kernel = compile("float bias(void); kernel void copy" POINTERS
                                " { int i = get_global_id(0); dst[i] = src[i] + bias(); }\n",
        0);
    cl_program data = compile(RECORD
        "; constant float foo = 15.0f; constant struct record bar = {1, 2, 3, 4};\n"
                              "struct record baz(int x, int y) { struct record r = {1, 2, 3, x * y}; return r; }\n",
        0);
    run(link_all(NULL, 3, (cl_program[]){ caller, kernel, data }), "copy");
}

static void libraries(void)
{
    cl_program object = compile(COPY, 0), caller = compile(DECLARED_COPY CALL, 0);
    cl_program library = link_two("-create-library", object, NULL);
    describe("library", library);
    cl_program linked = link_two("-cl-fast-relaxed-math", caller, library);
    describe("linked", linked);
    run(linked, "call");
    describe("options", link_two("-create-library -enable-link-options", object, NULL));
    cl_program both = link_two("-create-library", caller, library);
    describe("library of a library", both);
}

static void binaries(void)
{
    cl_program object = reload(compile(COPY, 0)), caller = reload(compile(DECLARED_COPY CALL, 0));
    describe("object", object);
    run(link_two(NULL, caller, object), "call");
    cl_program library = reload(link_two("-create-library", object, NULL));
    describe("library", library);
    cl_program linked = link_two(NULL, caller, library), loaded = reload(linked);
    describe("linked", linked);
    run(linked, "call");
    describe("loaded", loaded);
    answer("build", clBuildProgram(loaded, 1, &device, NULL, NULL, NULL));
    describe("built", loaded);
    run(loaded, "call");
}

static void unloads(void)
{
    cl_program object = compile(COPY, 0);
    answer("unload", clUnloadPlatformCompiler(platform));
    cl_program linked = link_two(NULL, object, NULL);
    answer("unload", clUnloadPlatformCompiler(platform));
    run(linked, "copy");
    reload(linked);
}

/* A kernel of `count` calls, whose functions are declared in the source or in headers, and the objects of these. */
static void many(int count, int header_count, int in_libraries)
{
    static cl_program objects[MOST], headers[MOST];
    static const char *names[MOST];
    char *text = format("%s", "");
    for (int i = 0; i < count; i++) {
        static const char *const folders[] = { "", "foo/", "foo/bar/", "foo/bar/baz/" };
        char *name = format("%scopy%d.h", folders[i % 4], i), *old = text;
        text = i < header_count ? format("%s#include \"%s\"\n", old, name)
                                : format("%sextern kernel void copy%d" POINTERS ";\n", old, i);
        headers[i] = source("extern kernel void copy%d" POINTERS ";\n", i);
        names[i] = name;
        free(old);
        objects[i] = compile("kernel void copy%d" POINTERS " { int i = get_global_id(0); dst[i] = src[i]; }\n", i);
    }
    for (int i = 0; i < count; i++) {
        char *old = text;
        text = format("%s%scopy%d(src, dst);\n", old, i ? "" : "kernel void call" POINTERS " {\n", i);
        free(old);
    }
    char *whole = format("%s}\n", text);
    cl_program caller = compile_with(source(whole, 0), NULL, header_count, header_count ? headers : NULL, header_count ? names : NULL);
    const int parts = in_libraries ? 2 : 0, half = count / 2;
    cl_program programs[MOST + 1] = { caller };
    if (parts) {
        programs[1] = link_all("-create-library", half, objects);
        programs[2] = link_all("-create-library", count - half, objects + half);
    } else {
        memcpy(programs + 1, objects, count * sizeof *objects);
    }
    cl_program linked = link_all(NULL, 1 + (parts ? parts : count), programs);
    describe("linked", linked);
    run(linked, "call");
    free(text);
    free(whole);
    for (int i = 0; i < count; i++)
        free((char *)names[i]);
}

static void before_the_compilation(void)
{
    cl_program program = source(COPY, 0);
    size_t size = 0;
    describe("source", program);
    answer("executable", clLinkProgram(context, 1, &device, NULL, 1, &program, NULL, NULL, (cl_int *)&size) != NULL);
    answer("link", (cl_int)size);
    cl_program wrong = source("kernel void f(global float *p) { *p = missing; }\n", 0);
    answer("compile", clCompileProgram(wrong, 1, &device, NULL, 0, NULL, NULL, NULL, NULL));
    describe("wrong", wrong);
    cl_program caller = compile("float missing(float); kernel void f(global float *p) { *p = missing(*p); }\n", 0);
    cl_int error;
    clLinkProgram(context, 1, &device, NULL, 1, &caller, NULL, NULL, &error);
    answer("unresolved", error);
    answer("option", clCompileProgram(source(COPY, 0), 1, &device, "-no-such-option", 0, NULL, NULL, NULL, NULL));
}

int main(int count, char **arguments)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    if (count != 5 || clGetPlatformIDs(16, platforms, &platform_count))
        return 2;
    for (cl_uint i = 0; i < platform_count && i < 16 && !platform; i++) {
        char name[200] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        platform = strcmp(name, arguments[1]) ? NULL : platforms[i];
    }
    if (!platform || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 2;
    tag = arguments[2];
    directory = arguments[4];
    const int larger = atoi(arguments[3]);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "compile_only", compile_only }, { "callbacks", callbacks }, { "embedded_header", embedded_header },
        { "included_header", included_header }, { "simple_links", simple_links }, { "two_files", two_files },
        { "values_of_other_files", values_of_other_files }, { "libraries", libraries }, { "binaries", binaries },
        { "unloads", unloads }, { "before_the_compilation", before_the_compilation } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s:", cases[i].name);
        cases[i].run();
        printf("\n");
        fflush(stdout);
    }
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = { "many_files", "many_headers", "many_libraries" };
        printf("%s:", names[i]);
        many(larger, i == 1 ? larger : 0, i == 2);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
