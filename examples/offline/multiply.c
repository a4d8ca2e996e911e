/* A program with its kernel inside: multiply.h is multiply.cl, compiled by coopmat when this program is built.
 *
 *   multiply [PLATFORM]    on the first device of a platform with that in its name */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multiply.h"
#include "tile.h"

enum { SIZE = 64 };

static void check(cl_int error, const char *what)
{
    if (error) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static cl_device_id find_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count))
        return NULL;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        cl_device_id device;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strstr(name, wanted) && !clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL))
            return device;
    }
    return NULL;
}

int main(int argument_count, char **arguments)
{
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    cl_device_id device = find_device(argument_count > 1 ? arguments[1] : "");
    cl_int error;
    if (!device) {
        fprintf(stderr, "there is no such OpenCL device\n");
        return 2;
    }
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i] = (float)(i * 7 % 23 - 11);
        b[i] = (float)(i * 5 % 19 - 9);
    }

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = clCreateProgramWithIL(context, multiply_spv, multiply_spv_size, &error);
    check(error, "clCreateProgramWithIL");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "multiply", &error);
    check(error, "clCreateKernel");
    cl_mem buffers[3] = {
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof a, a, NULL),
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof b, b, NULL),
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof c, NULL, NULL),
    };
    for (cl_uint i = 0; i < 3; i++)
        check(clSetKernelArg(kernel, i, sizeof *buffers, &buffers[i]), "clSetKernelArg");

    /* One subgroup for each tile. The header has the size of a subgroup, as the compiler chose it. */
    size_t local[2] = { multiply_multiply_sub_group_size, 1 };
    size_t global[2] = { SIZE / COLUMNS * local[0], SIZE / ROWS };
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), "clEnqueueReadBuffer");

    int wrong = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            float sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[i * SIZE + k] * b[k * SIZE + j];
            wrong += c[i * SIZE + j] != sum;
        }
    printf("tiles of %d x %d in subgroups of %zu, %d of %d components wrong\n", ROWS, COLUMNS, local[0], wrong,
           SIZE * SIZE);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}
