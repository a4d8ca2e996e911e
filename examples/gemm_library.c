/* Products of matrices by a library that coopmat wrote, with nothing but OpenCL: A and B of half, C of float.
 *
 *   coopmat export gemm --types f16 -o gemm.h    writes the library for the device that `coopmat devices` lists first
 *   gemm_library [PLATFORM [M N K]]              multiplies on the first device of a platform with that in its name
 *
 * It compares a part of C with a plain loop, and prints the speed. */
#define GEMM_IMPLEMENTATION
#include "gemm.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 10 };

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
    cl_uint count = 0, i;
    if (clGetPlatformIDs(16, platforms, &count))
        return NULL;
    for (i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        cl_device_id device;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strstr(name, wanted) && !clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL))
            return device;
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

static int value_of_a(size_t i)
{
    return (int)(i * 7 % 23) - 11;
}

static int value_of_b(size_t i)
{
    return (int)(i * 5 % 19) - 9;
}

static cl_mem new_buffer(cl_context context, size_t count, int (*value)(size_t))
{
    uint16_t *numbers = malloc((count + 1) * sizeof *numbers);
    cl_mem buffer;
    cl_int error;
    if (!numbers)
        check(CL_OUT_OF_HOST_MEMORY, "malloc");
    for (size_t i = 0; i < count; i++)
        numbers[i] = half_of(value(i));
    buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, count * sizeof *numbers, numbers, &error);
    check(error, "clCreateBuffer");
    free(numbers);
    return buffer;
}

/* The number of wrong components of C in some of its rows: the first ones, and the last one. */
static size_t count_wrong(const float *c, size_t m, size_t n, size_t k, size_t *compared)
{
    size_t wrong = 0;
    *compared = 0;
    for (size_t row = 0; row < m; row = row + 1 < m && row >= 15 ? m - 1 : row + 1)
        for (size_t column = 0; column < n; column++, ++*compared) {
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += value_of_a(row * k + i) * value_of_b(i * n + column);
            /* The sums of float are exact up to 2^24. */
            wrong += fabs(c[row * n + column] - sum) > (fabs(sum) < 1 << 24 ? 0 : 1e-5 * fabs(sum));
        }
    return wrong;
}

/* The seconds of the fastest of some products. */
static double measure(gemm_library *library, cl_command_queue queue, const size_t *sizes, cl_mem a, cl_mem b, cl_mem c)
{
    const size_t m = sizes[0], n = sizes[1], k = sizes[2];
    cl_ulong best = ~(cl_ulong)0;
    for (int i = 0; i < REPETITIONS; i++) {
        cl_ulong begin = 0, end = 0;
        cl_event events[2];
        check(clEnqueueMarkerWithWaitList(queue, 0, NULL, &events[0]), "clEnqueueMarkerWithWaitList");
        check(gemm_f16(library, queue, m, n, k, a, 0, k, b, 0, n, 1, 0, c, 0, n, 1, events, &events[1]), "gemm_f16");
        check(clWaitForEvents(1, &events[1]), "clWaitForEvents");
        clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_END, sizeof begin, &begin, NULL);
        clGetEventProfilingInfo(events[1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        best = end - begin < best ? end - begin : best;
        clReleaseEvent(events[0]);
        clReleaseEvent(events[1]);
    }
    return 1e-9 * (double)best;
}

int main(int count, char **arguments)
{
    size_t sizes[3] = { 1000, 1000, 1000 }, wrong, compared;
    cl_device_id device = find_device(count > 1 ? arguments[1] : "");
    char name[256] = "";
    gemm_library library;
    cl_int error;
    if (!device) {
        fprintf(stderr, "there is no such OpenCL device\n");
        return 2;
    }
    for (int i = 0; i < 3 && i + 2 < count; i++)
        sizes[i] = (size_t)strtoul(arguments[i + 2], NULL, 10);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 };
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, properties, &error);
    check(error, "clCreateCommandQueueWithProperties");
    check(gemm_create(&library, context, device), "gemm_create");

    const size_t m = sizes[0], n = sizes[1], k = sizes[2];
    cl_mem a = new_buffer(context, m * k, value_of_a), b = new_buffer(context, k * n, value_of_b);
    cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, m * n * sizeof(float), NULL, &error);
    check(error, "clCreateBuffer");
    const double seconds = measure(&library, queue, sizes, a, b, c);
    float *result = malloc(m * n * sizeof *result);
    if (!result)
        check(CL_OUT_OF_HOST_MEMORY, "malloc");
    check(clEnqueueReadBuffer(queue, c, CL_TRUE, 0, m * n * sizeof *result, result, 0, NULL, NULL), "clEnqueueReadBuffer");
    wrong = count_wrong(result, m, n, k, &compared);
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    printf("%s: %zu x %zu x %zu in %.3f ms, %.1f GFLOP/s, %zu of %zu components wrong\n", name, m, n, k,
           1e3 * seconds, 2e-9 * (double)m * (double)n * (double)k / seconds, wrong, compared);

    free(result);
    gemm_release(&library);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(c);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}
