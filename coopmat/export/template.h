/*
 * Products of matrices by OpenCL: C = alpha A B + beta C. A is m x k, B is $shape_b, C is m x n, by rows.
 *
 *   made by        coopmat $version export
 *   functions      $functions
 *   device         $device
 *   routes         $routes
 *   instructions   $instructions
 *   kernels        $program_count, in $forms
 *   tiles          $tiles
 *   only in Python bias, scales, activations, batches, transposed A, packed B, and kernels for sizes that tiles divide
 *
 * In one file of your program, define ${NAME}_IMPLEMENTATION before you include this header:
 *
 *     ${name}_library library;
 *     cl_int error = ${name}_create(&library, context, device);
 *     error = $first(&library, queue, m, n, k, a, 0, k, b, 0, $example_row_b, 1, 0, c, 0, n, 0, NULL, NULL);
 *     ${name}_release(&library);
 *
 * Offsets and the distances of rows (row_a, row_b, row_c) are in components. If beta is 0, C is not read. C must not
 * overlap A or B. The launch waits for `waits` events. Results are OpenCL's error codes: CL_INVALID_VALUE if a matrix
 * is not inside its buffer, or if a size is 2^31 or more. A kernel is built when the first product needs it.
 */
#ifndef ${name}_library_h
#define ${name}_library_h

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels for a device, each of which is built at its first use, and memory. Only one thread at a time may use it. */
typedef struct {
    cl_context context;
    cl_device_id device;
    cl_program programs[$program_count];
    cl_kernel kernels[$program_count];
    cl_mem panels; /* copies of A and B */
    size_t panels_size;
    cl_event last; /* the last launch that uses the panels */
} ${name}_library;

/* Set up the library for a device of the context. */
cl_int ${name}_create(${name}_library *library, cl_context context, cl_device_id device);

/* Release everything. Launches that have not ended go on. */
void ${name}_release(${name}_library *library);

$declarations
#ifdef __cplusplus
}
#endif
#endif

#if defined(${NAME}_IMPLEMENTATION) && !defined(${name}_implementation)
#define ${name}_implementation

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Code: OpenCL C, or SPIR-V. */
typedef struct {
    const char *const *text;
    const cl_uint *spirv;
    size_t count; /* of the pieces of the text, or of the words of SPIR-V */
    const char *options;
} ${name}_part;

/* A program with one kernel, built from the first part, or linked from both. Work-groups have `work_items` work-items; if
 * it is 0, `sub_group_size` for each subgroup; if that is 0, as many as the device chooses. */
typedef struct {
    const char *kernel;
    ${name}_part parts[2];
    size_t sub_group_size, work_items;
} ${name}_program;

/* How an operand is copied into panels by the program `program` (coopmat/linalg/pack.cl). */
typedef struct {
    int program; /* -1: it is not copied */
    cl_ulong side; /* the rows of A, or columns of B, in a panel */
    cl_ulong step; /* the columns of A in a panel are a multiple of it */
    cl_ulong component; /* the size of a component, in bytes */
    int has_sums;
} ${name}_copy;

/* A kernel, and the products that it computes. The first one that fits is used. */
typedef struct {
    int shape_class; /* 0: all */
    cl_ulong rows; /* the largest m; 0: any */
    int is_whole; /* m, n and k must be multiples of the tile's */
    cl_ulong piece; /* the bytes of which A's and B's rows, distances and offsets must be multiples; 0: any */
    int needs_k; /* k must not be 0 */
    int program;
    cl_ulong tile[3];
    cl_ulong group[2]; /* the m and n of a work-group */
    cl_ulong sub_groups; /* of a work-group */
    ${name}_copy copies[2];
} ${name}_choice;

/* Products of certain types: the sizes of components of A, B, C, and of alpha and beta, in bytes. */
typedef struct {
    const ${name}_choice *choices;
    size_t count;
    size_t sizes[3], factor_size;
} ${name}_product;

/* A matrix with consecutive components in a row; the offset and the distance of rows are in components. */
typedef struct {
    cl_mem memory;
    cl_ulong offset, row;
} ${name}_matrix;

enum { ${name}_all$classes };
enum { ${name}_transposes_b = $transposes_b };

$data
/* The class of a shape, as coopmat.linalg.parameters.shape_class. */
static int ${name}_class(cl_ulong m, cl_ulong n)
{
    if (m <= 16)
        return ${name}_rows;
    if (m >= 4 * n || n >= 4 * m)
        return m > n ? ${name}_tall : ${name}_wide;
    return m * n <= 128 * 128 ? ${name}_small : m * n <= 640 * 640 ? ${name}_medium : ${name}_large;
}

static const ${name}_choice *${name}_choose(
    const ${name}_product *product, const cl_ulong *sizes, const ${name}_matrix *a, const ${name}_matrix *b)
{
    const cl_ulong lengths[6] = {
        sizes[2], a->row, a->offset, ${name}_transposes_b ? sizes[2] : sizes[1], b->row, b->offset
    };
    size_t i, j;
    for (i = 0; i < product->count; i++) {
        const ${name}_choice *choice = &product->choices[i];
        int fits = !choice->shape_class || choice->shape_class == ${name}_class(sizes[0], sizes[1]);
        fits = fits && (!choice->rows || sizes[0] <= choice->rows) && (!choice->needs_k || sizes[2]);
        for (j = 0; j < 3 && choice->is_whole; j++)
            fits = fits && sizes[j] % choice->tile[j] == 0;
        for (j = 0; j < 6 && choice->piece; j++)
            fits = fits && lengths[j] * product->sizes[0] % choice->piece == 0;
        if (fits)
            return choice;
    }
    return NULL; /* the last choice fits */
}

/* Whether a matrix lies in its buffer. */
static int ${name}_is_inside(const ${name}_matrix *matrix, cl_ulong rows, cl_ulong columns, size_t component)
{
    size_t size = 0;
    cl_ulong count;
    if (!rows || !columns)
        return 1;
    if (clGetMemObjectInfo(matrix->memory, CL_MEM_SIZE, sizeof size, &size, NULL))
        return 0;
    count = size / component;
    if (matrix->offset > count || columns > count - matrix->offset)
        return 0;
    return rows == 1 || matrix->row <= (count - matrix->offset - columns) / (rows - 1);
}

static cl_program ${name}_load(${name}_library *library, const ${name}_part *part, cl_int *error)
{
    if (!part->spirv)
        return clCreateProgramWithSource(
            library->context, (cl_uint)part->count, (const char **)part->text, NULL, error);
#ifdef CL_VERSION_2_1
    return clCreateProgramWithIL(library->context, part->spirv, part->count * sizeof *part->spirv, error);
#else
    *error = CL_INVALID_OPERATION;
    return NULL;
#endif
}

static cl_program ${name}_link(${name}_library *library, const ${name}_part *parts, cl_int *error)
{
    cl_program objects[2] = { NULL, NULL }, program = NULL;
    int i;
    for (i = 0; i < 2 && !*error; i++) {
        objects[i] = ${name}_load(library, &parts[i], error);
        if (!*error)
            *error = clCompileProgram(
                objects[i], 1, &library->device, parts[i].options, 0, NULL, NULL, NULL, NULL);
    }
    if (!*error)
        program = clLinkProgram(library->context, 1, &library->device, NULL, 2, objects, NULL, NULL, error);
    for (i = 0; i < 2 && objects[i]; i++)
        clReleaseProgram(objects[i]);
    return program;
}

/* Whether the device runs a kernel in subgroups of another size than that for which it was compiled. */
static int ${name}_has_other_size(${name}_library *library, cl_kernel kernel, size_t size)
{
#ifdef CL_VERSION_2_1
    cl_uint most = 0;
    size_t own = size;
    if (size < 2 || clGetDeviceInfo(library->device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof most, &most, NULL) || !most)
        return 0; /* older devices do not report it */
    return !clGetKernelSubGroupInfo(kernel, library->device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof size,
               &size, sizeof own, &own, NULL) && own != size;
#else
    (void)library, (void)kernel, (void)size;
    return 0;
#endif
}

/* Build the kernel of a program, unless it is built. */
static cl_int ${name}_build(${name}_library *library, int index)
{
    const ${name}_program *source = &${name}_programs[index];
    const int is_linked = source->parts[1].count > 0;
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = NULL;
    cl_program program;
    if (library->kernels[index])
        return CL_SUCCESS;
    program = is_linked ? ${name}_link(library, source->parts, &error) : ${name}_load(library, source->parts, &error);
    if (!error && !is_linked)
        error = clBuildProgram(program, 1, &library->device, source->parts[0].options, NULL, NULL);
    if (!error)
        kernel = clCreateKernel(program, source->kernel, &error);
    if (!error && ${name}_has_other_size(library, kernel, source->sub_group_size))
        error = CL_INVALID_WORK_GROUP_SIZE;
    if (!error) {
        library->kernels[index] = kernel;
        library->programs[index] = program; /* some drivers release a program that still has kernels */
        return CL_SUCCESS;
    }
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    return error;
}

/* Enqueue a kernel with `sub_groups` subgroups in each of the work-groups. */
static cl_int ${name}_launch(${name}_library *library, cl_command_queue queue, int index, size_t groups_x,
                             size_t groups_y, size_t sub_groups, cl_uint waits, const cl_event *wait_for, cl_event *event)
{
    const ${name}_program *program = &${name}_programs[index];
    size_t size = program->work_items ? program->work_items : program->sub_group_size, local[2], global[2];
#ifdef CL_VERSION_2_1
    const size_t one = 1;
    cl_int error = size ? CL_SUCCESS : clGetKernelSubGroupInfo(library->kernels[index], library->device,
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof one, &one, sizeof size, &size, NULL);
    if (error)
        return error;
#endif
    if (!size)
        return CL_INVALID_WORK_GROUP_SIZE;
    local[0] = size * sub_groups;
    local[1] = 1;
    global[0] = groups_x * local[0];
    global[1] = groups_y;
    return clEnqueueNDRangeKernel(queue, library->kernels[index], 2, NULL, global, local, waits, wait_for, event);
}

static void ${name}_set(cl_int *error, cl_kernel kernel, cl_uint *index, size_t size, const void *value)
{
    if (!*error)
        *error = clSetKernelArg(kernel, (*index)++, size, value);
}

static cl_ulong ${name}_ceil(cl_ulong a, cl_ulong b)
{
    return a / b + (a % b != 0);
}

/* The depth of panels, the distance of panels, and the bytes of all panels, for `length` rows of A or columns of B. */
static void ${name}_measure(const ${name}_copy *copy, cl_ulong length, cl_ulong k, cl_ulong *panels)
{
    panels[0] = ${name}_ceil(k, copy->step) * copy->step;
    panels[1] = copy->side
        * (panels[0] + (copy->has_sums ? ${name}_ceil(panels[0], $chunk) * (4 / copy->component) : 0));
    panels[2] = ${name}_ceil(panels[1] * ${name}_ceil(length, copy->side) * copy->component, 64) * 64;
}

/* Enqueue the copy of a matrix into panels, which begin at `begin` components of the library's memory. */
static cl_int ${name}_pack(${name}_library *library, cl_command_queue queue, const ${name}_copy *copy,
                           const ${name}_matrix *matrix, cl_ulong length, cl_ulong k, cl_ulong begin, cl_uint waits,
                           const cl_event *wait_for, cl_event *event)
{
    const cl_kernel kernel = library->kernels[copy->program];
    cl_ulong panels[3];
    cl_int error = CL_SUCCESS;
    cl_uint index = 0, i;
    ${name}_measure(copy, length, k, panels);
    const cl_ulong numbers[6] = { matrix->offset, matrix->row, 0, begin, panels[1], 0 };
    const cl_uint sizes[3] = { (cl_uint)length, (cl_uint)k, (cl_uint)panels[0] };
    ${name}_set(&error, kernel, &index, sizeof(cl_mem), &matrix->memory);
    ${name}_set(&error, kernel, &index, sizeof(cl_mem), &library->panels);
    for (i = 0; i < 6; i++)
        ${name}_set(&error, kernel, &index, sizeof *numbers, &numbers[i]);
    for (i = 0; i < 3; i++)
        ${name}_set(&error, kernel, &index, sizeof *sizes, &sizes[i]);
    return error ? error : ${name}_launch(library, queue, copy->program, ${name}_ceil(length, copy->side),
        ${name}_ceil(panels[0], $chunk), 1, waits, wait_for, event);
}

/* Set the arguments of gemm.cl. There is no bias, and there are no scales. */
static cl_int ${name}_set_gemm(cl_kernel kernel, const ${name}_product *product, const cl_ulong *sizes,
                               const ${name}_matrix *matrices, const void *alpha, const void *beta)
{
    const cl_mem none = NULL;
    const cl_ulong zero = 0;
    cl_int error = CL_SUCCESS;
    cl_uint index = 0, i;
    for (i = 0; i < 3; i++)
        ${name}_set(&error, kernel, &index, sizeof(cl_mem), &matrices[i].memory);
    for (i = 0; i < 3; i++) {
        ${name}_set(&error, kernel, &index, sizeof none, &none);
        ${name}_set(&error, kernel, &index, sizeof zero, &zero);
    }
    ${name}_set(&error, kernel, &index, product->factor_size, alpha);
    ${name}_set(&error, kernel, &index, product->factor_size, beta);
    for (i = 0; i < 3; i++) {
        const cl_uint size = (cl_uint)sizes[i];
        ${name}_set(&error, kernel, &index, sizeof size, &size);
    }
    for (i = 0; i < 3; i++)
        ${name}_set(&error, kernel, &index, sizeof(cl_ulong), &matrices[i].row);
    for (i = 0; i < 3; i++)
        ${name}_set(&error, kernel, &index, sizeof(cl_ulong), &matrices[i].offset);
    for (i = 0; i < 3; i++)
        ${name}_set(&error, kernel, &index, sizeof zero, &zero);
    return error;
}

/* Enqueue copies of A and B into panels, and their product. */
static cl_int ${name}_multiply_panels(${name}_library *library, cl_command_queue queue, const ${name}_product *product,
                                      const ${name}_choice *choice, const cl_ulong *sizes,
                                      const ${name}_matrix *matrices, const void *alpha, const void *beta,
                                      cl_uint waits, const cl_event *wait_for, cl_event *event)
{
    const cl_kernel kernel = library->kernels[choice->program];
    cl_ulong panels[2][3], begin;
    cl_event *before, copied[2] = { NULL, NULL }, done = NULL;
    ${name}_matrix operands[3];
    cl_int error = CL_SUCCESS;
    cl_uint i;
    for (i = 0; i < 2; i++)
        ${name}_measure(&choice->copies[i], sizes[i], sizes[2], panels[i]);
    begin = panels[0][2] / choice->copies[1].component;
    if (library->panels_size < panels[0][2] + panels[1][2]) {
        /* OpenCL keeps the old memory until the launches that use it have ended. */
        cl_mem memory = clCreateBuffer(
            library->context, CL_MEM_READ_WRITE, (size_t)(panels[0][2] + panels[1][2]), NULL, &error);
        if (error)
            return error;
        if (library->panels)
            clReleaseMemObject(library->panels);
        library->panels = memory;
        library->panels_size = (size_t)(panels[0][2] + panels[1][2]);
    }
    if (!waits != !wait_for)
        return CL_INVALID_EVENT_WAIT_LIST;
    before = (cl_event *)malloc((waits + 1) * sizeof *before);
    if (!before)
        return CL_OUT_OF_HOST_MEMORY;
    if (waits)
        memcpy(before, wait_for, waits * sizeof *before);
    if (library->last)
        before[waits++] = library->last;
    for (i = 0; i < 2 && !error; i++)
        error = ${name}_pack(library, queue, &choice->copies[i], &matrices[i], sizes[i], sizes[2], i ? begin : 0,
                             waits, waits ? before : NULL, &copied[i]);
    free(before);
    const cl_ulong padded[3] = { sizes[0], sizes[1], panels[0][0] };
    for (i = 0; i < 2; i++) {
        operands[i].memory = library->panels;
        operands[i].offset = i ? begin : 0;
        operands[i].row = panels[i][1];
    }
    operands[2] = matrices[2];
    if (!error)
        error = ${name}_set_gemm(kernel, product, padded, operands, alpha, beta);
    if (!error)
        error = ${name}_launch(library, queue, choice->program, ${name}_ceil(sizes[0], choice->tile[0]),
                               ${name}_ceil(sizes[1], choice->tile[1]), 1, 2, copied, &done);
    for (i = 0; i < 2 && copied[i]; i++) {
        if (error)
            clWaitForEvents(1, &copied[i]); /* the next launch does not wait for it */
        clReleaseEvent(copied[i]);
    }
    if (error)
        return error;
    if (library->last)
        clReleaseEvent(library->last);
    library->last = done;
    if (event) {
        clRetainEvent(done);
        *event = done;
    }
    return clFlush(queue); /* launches in another queue may wait for the event */
}

/* matrices: A, B and C. sizes: m, n and k. */
static cl_int ${name}_multiply(${name}_library *library, cl_command_queue queue, const ${name}_product *product,
                               const cl_ulong *sizes, const ${name}_matrix *matrices, const void *alpha,
                               const void *beta, cl_uint waits, const cl_event *wait_for, cl_event *event)
{
    const cl_ulong m = sizes[0], n = sizes[1], k = sizes[2];
    const ${name}_choice *choice;
    cl_int error;
    cl_uint i;
    if (m > 0x7fffffff || n > 0x7fffffff || k > 0x7fffffff || (m > 1 && matrices[2].row < n))
        return CL_INVALID_VALUE;
    if (!${name}_is_inside(&matrices[0], m, k, product->sizes[0])
        || !${name}_is_inside(&matrices[1], ${name}_transposes_b ? n : k, ${name}_transposes_b ? k : n, product->sizes[1])
        || !${name}_is_inside(&matrices[2], m, n, product->sizes[2]))
        return CL_INVALID_VALUE;
    if (!m || !n)
        return clEnqueueMarkerWithWaitList(queue, waits, wait_for, event);
    choice = ${name}_choose(product, sizes, &matrices[0], &matrices[1]);
    if (!choice)
        return CL_INVALID_VALUE;
    error = ${name}_build(library, choice->program);
    for (i = 0; i < 2 && !error && choice->copies[i].program >= 0; i++)
        error = ${name}_build(library, choice->copies[i].program);
    if (error)
        return error;
    if (choice->copies[0].program >= 0)
        return ${name}_multiply_panels(
            library, queue, product, choice, sizes, matrices, alpha, beta, waits, wait_for, event);
    error = ${name}_set_gemm(library->kernels[choice->program], product, sizes, matrices, alpha, beta);
    return error ? error : ${name}_launch(library, queue, choice->program, ${name}_ceil(n, choice->group[1]),
        ${name}_ceil(m, choice->group[0]), choice->sub_groups, waits, wait_for, event);
}

cl_int ${name}_create(${name}_library *library, cl_context context, cl_device_id device)
{
    cl_int error;
    memset(library, 0, sizeof *library);
    error = clRetainContext(context);
    if (error)
        return error;
    library->context = context;
    library->device = device;
    return CL_SUCCESS;
}

void ${name}_release(${name}_library *library)
{
    size_t i;
    for (i = 0; i < $program_count; i++) {
        if (library->kernels[i])
            clReleaseKernel(library->kernels[i]);
        if (library->programs[i])
            clReleaseProgram(library->programs[i]);
    }
    if (library->panels)
        clReleaseMemObject(library->panels);
    if (library->last)
        clReleaseEvent(library->last);
    if (library->context)
        clReleaseContext(library->context);
    memset(library, 0, sizeof *library);
}

$definitions
#ifdef __cplusplus
}
#endif
#endif
