/* The OpenCL layer: what its files share.
 *
 * A program of an application's enters in programs.c, is compiled at each build (builds.c) by the helper (helper.c), a
 * Python process that messages (message.c) are exchanged with and whose answers are kept on disk (cache.c, digest.c),
 * and leaves as a program of the driver's, which may be linked with others (links.c). includes.c and il.c tell which programs have matrices; binaries.c has their binaries,
 * kernels.c their kernels, devices.c what devices say of themselves, entry.c the functions that the loader takes.
 */
#ifndef COOPMAT_LAYER_H
#define COOPMAT_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_NO_PROTOTYPES
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTENSION "cl_khr_cooperative_matrix"

/* Of the extension's draft; the headers do not have them yet. */
#define DEVICE_DEFAULT_SUB_GROUP_VARIANTS 0x1078
#define DEVICE_SUB_GROUP_VARIANTS 0x1079
#define DEVICE_POINTER_ALIGNMENT 0x107A
#define DEVICE_STRIDE_MULTIPLE 0x107B
#define VARIANT_SIZE 32
/* Of cl_khr_spirv_queries, and of SPV_KHR_cooperative_matrix. */
#define DEVICE_SPIRV_EXTENSIONS 0x12BA
#define DEVICE_SPIRV_CAPABILITIES 0x12BB
#define COOPERATIVE_MATRIX_KHR 6022

/* Of a context. */
#define MOST_DEVICES 64

/* The functions of the driver, or of the next layer. */
extern const cl_icd_dispatch *next;

/* Guards the lists of devices, programs and kernels; never held while the helper or the driver works, but for retaining. */
extern pthread_mutex_t layer_lock;

/* Writes a result of `size` bytes as OpenCL's queries do. */
cl_int give(const void *data, size_t size, size_t room, void *to, size_t *written);

/* ---- message.c: fields with a name and bytes. A field's name may occur several times. */

typedef struct {
    unsigned char *bytes;
    size_t size, room;
    bool failed; /* memory ran out; nothing is added any more */
} message;

typedef struct {
    const char *name;
    size_t name_size;
    const unsigned char *data;
    size_t size;
} field;

void put(message *m, const char *name, const void *data, size_t size);
void put_text(message *m, const char *name, const char *text);
void put_number(message *m, const char *name, unsigned long long number);
/* Whether the bytes are fields from begin to end. */
bool is_well_formed(const message *m);
/* The next field from `*at` on, which starts at 0. */
bool next_field(const message *m, size_t *at, field *found);
bool find(const message *m, const char *name, field *found);
/* A copy of a field's bytes with a 0 behind them, to be freed; NULL where there is no such field or memory. */
char *text_of(const message *m, const char *name);
void release_message(message *m);

/* ---- helper.c */

/* Takes a request's answer from the cache, or waits for the helper's; false where there is none, which `*why`, to be
 * freed, explains. */
bool ask(const message *request, message *answer, char **why);
/* The paths of the interpreter and of the helper's file; each in `room` bytes. */
bool read_paths(char *python, char *helper, size_t room);
void stop_helper(void);
/* Around a fork: the child has a helper of its own. */
void lock_helper(void);
void unlock_helper(void);

/* ---- cache.c */

/* The answer that the helper kept on disk for such a request, if all that it was made of is unchanged. */
bool answer_from_cache(const message *request, message *answer);

/* ---- digest.c */

#define DIGEST_SIZE 32

typedef struct {
    uint64_t state[8], count;
    unsigned char block[128];
    size_t filled;
} digest;

void digest_begin(digest *d);
void digest_add(digest *d, const void *data, size_t size);
void digest_end(digest *d, unsigned char result[DIGEST_SIZE]);

/* ---- devices.c */

typedef struct device {
    struct device *next;
    cl_device_id id;
    bool emulated;        /* it lacks the extension, and gets it from here */
    bool is_before_2_1;   /* of OpenCL, which has no clCreateProgramWithIL and clGetKernelSubGroupInfo then */
    bool hides_features;  /* features that the compiler lacks are optional in its version of OpenCL, and not told */
    message facts;        /* what the helper is told of it */
    cl_uint *variants;    /* VARIANT_SIZE bytes each, once they were asked for */
    size_t variants_size;
} device;

/* NULL for what is no device. Devices are kept until the process ends. */
device *device_of(cl_device_id id);
bool same_facts(const device *a, const device *b);
/* Puts what a build by a device's driver depends on: the library's path, the processor, variables of the environment. */
void put_driver(message *m, cl_device_id id);

cl_int CL_API_CALL layer_CreateSubDevices(
    cl_device_id, const cl_device_partition_property *, cl_uint, cl_device_id *, cl_uint *);
cl_int CL_API_CALL layer_GetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
cl_int CL_API_CALL layer_GetDeviceCooperativeMatrixInfo(
    cl_device_id, cl_uint, size_t, const void *, size_t, void *, size_t *);

/* ---- kernels.c */

typedef struct kernel_facts {
    struct kernel_facts *next;
    cl_device_id device;
    char *name;
    size_t sub_group_size; /* 0: the device's own */
    size_t most_items;     /* of a work-group; 0: as many as the device takes */
    bool uses_matrices;
    bool is_fixed; /* the size of its work-groups is part of it */
    bool imports; /* it calls functions of other programs */
    bool is_function; /* it is no kernel, but a function that kernels of other programs may call */
} kernel_facts;

/* Those of a message's fields `kernel`, not of a device yet. */
kernel_facts *facts_of(const message *answer);
/* Puts the fields of one. */
void put_facts(message *m, const kernel_facts *facts);
/* Those of a kernel, of all for NULL. */
kernel_facts *copied_facts(const kernel_facts *facts, const char *name);
void release_facts(kernel_facts *facts);
/* Whether the application has kernels of a program. */
bool has_kernels(cl_program id);

cl_kernel CL_API_CALL layer_CreateKernel(cl_program, const char *, cl_int *);
cl_int CL_API_CALL layer_CreateKernelsInProgram(cl_program, cl_uint, cl_kernel *, cl_uint *);
cl_kernel CL_API_CALL layer_CloneKernel(cl_kernel, cl_int *);
cl_int CL_API_CALL layer_RetainKernel(cl_kernel);
cl_int CL_API_CALL layer_ReleaseKernel(cl_kernel);
cl_int CL_API_CALL layer_GetKernelInfo(cl_kernel, cl_kernel_info, size_t, void *, size_t *);
cl_int CL_API_CALL layer_GetKernelSubGroupInfo(
    cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void *, size_t, void *, size_t *);
cl_int CL_API_CALL layer_GetKernelSubGroupInfoKHR(
    cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void *, size_t, void *, size_t *);
cl_int CL_API_CALL layer_GetKernelWorkGroupInfo(
    cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *);
cl_int CL_API_CALL layer_EnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
    const size_t *, cl_uint, const cl_event *, cl_event *);

cl_int CL_API_CALL layer_CommandNDRangeKernel(cl_command_buffer_khr, cl_command_queue,
    const cl_ndrange_kernel_command_properties_khr *, cl_kernel, cl_uint, const size_t *, const size_t *,
    const size_t *, cl_uint, const cl_sync_point_khr *, cl_sync_point_khr *, cl_mutable_command_khr *);
cl_int CL_API_CALL layer_GetKernelSuggestedLocalWorkSize(
    cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, size_t *);

/* ---- programs.c */

/* In bytes. */
#define LARGEST_CONSTANT 8

typedef struct {
    cl_uint id;
    size_t size;
    unsigned char value[LARGEST_CONSTANT];
} constant;

/* What a device's last build made. */
typedef struct build {
    struct build *next;
    cl_device_id device;
    cl_program made; /* the driver's; NULL: the compiler made none */
    char *options;   /* the application's */
    char *log;       /* the compiler's; NULL: none */
} build;

typedef struct program {
    struct program *next;
    cl_program id;     /* the application's */
    cl_program behind; /* what kernels are of; NULL before it is built, and where that is `id` itself */
    cl_context context;
    bool is_il;
    unsigned char *code; /* the source, with a 0 behind it, or the SPIR-V; NULL: it was linked, or is of binaries */
    size_t size;
    constant *constants;
    size_t constant_count;
    build *builds;
    kernel_facts *facts;
    bool is_building;
    size_t references;
} program;

/* With the lock: NULL for a program that has no matrices for sure. */
program *find_program(cl_program id);
/* Takes the code over, also where it fails. */
program *track_program(cl_program id, cl_context context, unsigned char *code, size_t size, bool is_il);
/* The driver's program behind the application's, which is the same one for programs that the layer has no part in. */
cl_program program_behind(cl_program id);
/* The facts of a program's kernel, one for each device, to be released. */
kernel_facts *kernel_facts_in(cl_program id, const char *name);
cl_uint devices_of_context(cl_context context, cl_device_id *ids, cl_uint room);

cl_program CL_API_CALL layer_CreateProgramWithIL(cl_context, const void *, size_t, cl_int *);
cl_program CL_API_CALL layer_CreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_int CL_API_CALL layer_RetainProgram(cl_program);
cl_int CL_API_CALL layer_ReleaseProgram(cl_program);
cl_int CL_API_CALL layer_SetProgramSpecializationConstant(cl_program, cl_uint, size_t, const void *);
cl_int CL_API_CALL layer_GetProgramInfo(cl_program, cl_program_info, size_t, void *, size_t *);
cl_int CL_API_CALL layer_GetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *);

void *function_of_context(cl_context context, const char *name);
/* By the driver, also one of OpenCL 1.2 with cl_khr_il_program. */
cl_program create_with_il(cl_context context, const void *il, size_t size, cl_int *error);

/* ---- il.c */

bool il_has_matrices(const void *il, size_t size);
/* The bytes of a specialisation constant, LARGEST_CONSTANT at most; 0: there is no such number. */
size_t il_constant_size(const void *il, size_t size, cl_uint number);

/* ---- includes.c */

bool text_has_matrices(const char *text);
bool text_includes(const char *text);
/* Whether a file that a text includes has matrices, found in the directories of a build's options. */
bool includes_have_matrices(const char *text, const char *options);

/* ---- builds.c */

/* A copy of one; both retain what was made. */
build *copied_build(const build *b);
void release_builds(build *b);
/* The source of a program, with a 0 behind it, to be freed; NULL: it has none. */
char *source_of(cl_program id, size_t *size);
/* Whether the driver built a program for any device. */
bool is_built(cl_program made);

cl_int CL_API_CALL layer_BuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
    void(CL_CALLBACK *)(cl_program, void *), void *);
cl_int CL_API_CALL layer_CompileProgram(cl_program, cl_uint, const cl_device_id *, const char *, cl_uint,
    const cl_program *, const char **, void(CL_CALLBACK *)(cl_program, void *), void *);

/* ---- links.c */

cl_program CL_API_CALL layer_LinkProgram(cl_context, cl_uint, const cl_device_id *, const char *, cl_uint,
    const cl_program *, void(CL_CALLBACK *)(cl_program, void *), void *, cl_int *);

/* ---- binaries.c */

/* CL_PROGRAM_BINARY_SIZES and CL_PROGRAM_BINARIES of a program with matrices. */
cl_int binary_sizes(cl_program id, size_t room, void *to, size_t *written);
cl_int binaries(cl_program id, size_t room, void *to, size_t *written);
/* One program of the binaries that were made for each device. */
cl_program joined_program(program *p, bool is_build, cl_int *error);

cl_program CL_API_CALL layer_CreateProgramWithBinary(
    cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *);

#endif
