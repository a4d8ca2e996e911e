/* C = A B by cooperative matrices of OpenCL C, with nothing but OpenCL: A and B of half, C of float.
 *
 *   gemm [PLATFORM]    on the first device with cl_khr_cooperative_matrix, of a platform with that in its name
 *
 * A device without the extension gets it from a layer: coopmat layer run -- ./gemm */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* for devices of OpenCL 1.2, too */
#include <CL/cl.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 64, N = 96, K = 80, TILE = 16, ROW_MAJOR = 0 };

static const char *const source =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable\n"
    "#define MATRIX(type, use) type __attribute__((coop_mat(memory_scope_sub_group, TILE, TILE, \\\n"
    "    CLK_COOPERATIVE_MATRIX_##use)))\n"
    "kernel void gemm(global const half *a, global const half *b, global float *c, uint n, uint k) {\n"
    "    uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;\n"
    "    MATRIX(float, ACCUMULATOR) sum = coop_mat_init(0);\n"
    "    for (uint i = 0; i < k; i += TILE) {\n"
    "        MATRIX(half, A) x = coop_mat_load(a + row * k + i, ROW_MAJOR, k);\n"
    "        MATRIX(half, B) y = coop_mat_load(b + i * n + column, ROW_MAJOR, n);\n"
    "        sum = coop_mat_mulAdd(x, y, sum);\n"
    "    }\n"
    "    coop_mat_store(c + row * n + column, sum, ROW_MAJOR, n);\n"
    "}\n";

static void check(cl_int error, const char *what)
{
    if (error) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static int has_extension(cl_device_id device)
{
    char extensions[65536] = "";
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    return strstr(extensions, "cl_khr_cooperative_matrix") != NULL;
}

static cl_device_id find_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    if (clGetPlatformIDs(16, platforms, &platform_count))
        return NULL;
    for (cl_uint p = 0; p < platform_count && p < 16; p++) {
        cl_device_id devices[16];
        cl_uint count = 0;
        char name[256] = "";
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (!strstr(name, wanted) || clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &count))
            continue;
        for (cl_uint d = 0; d < count && d < 16; d++)
            if (has_extension(devices[d]))
                return devices[d];
    }
    return NULL;
}

/* A half of a small integer. */
static uint16_t half_of(int value)
{
    uint16_t sign = value < 0 ? 0x8000 : 0;
    unsigned magnitude = (unsigned)abs(value), exponent = 0;
    if (!magnitude)
        return sign;
    while (magnitude >> (exponent + 1))
        exponent++;
    return (uint16_t)(sign | (exponent + 15) << 10 | ((magnitude << (10 - exponent)) & 0x3ff));
}

int main(int count, char **arguments)
{
    static uint16_t a[M * K], b[K * N];
    static float c[M * N];
    static int x[M * K], y[K * N];
    cl_device_id device = find_device(count > 1 ? arguments[1] : "");
    cl_int error;
    if (!device) {
        fprintf(stderr, "no device has the extension cl_khr_cooperative_matrix\n");
        return 2;
    }
    for (int i = 0; i < M * K; i++)
        a[i] = half_of(x[i] = i * 7 % 23 - 11);
    for (int i = 0; i < K * N; i++)
        b[i] = half_of(y[i] = i * 5 % 19 - 9);

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "-cl-std=CL3.0 -DTILE=16 -DROW_MAJOR=0", NULL, NULL)) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
        return 1;
    }
    cl_kernel kernel = clCreateKernel(program, "gemm", &error);
    check(error, "clCreateKernel");
    cl_mem buffers[3] = {
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof a, a, NULL),
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof b, b, NULL),
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof c, NULL, NULL),
    };
    cl_uint sizes[2] = { N, K };
    for (cl_uint i = 0; i < 3; i++)
        check(clSetKernelArg(kernel, i, sizeof *buffers, &buffers[i]), "clSetKernelArg");
    for (cl_uint i = 0; i < 2; i++)
        check(clSetKernelArg(kernel, 3 + i, sizeof *sizes, &sizes[i]), "clSetKernelArg");

    /* One subgroup a work-group, whatever its size is; the work-group size of older devices' subgroups is that of a
     * multiple of theirs. */
    size_t one = 1, local[2] = { 1, 1 };
    error = clGetKernelSubGroupInfo(
        kernel, device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof one, &one, sizeof *local, local, NULL);
    check(error, "clGetKernelSubGroupInfo");
    size_t global[2] = { N / TILE * local[0], M / TILE };
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), "clEnqueueReadBuffer");

    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int l = 0; l < K; l++)
                sum += x[i * K + l] * y[l * N + j];
            wrong += c[i * N + j] != (float)sum;
        }
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    printf("%s: %d x %d x %d in subgroups of %zu, %d of %d components wrong\n", name, M, N, K, local[0], wrong, M * N);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}
