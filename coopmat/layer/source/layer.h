/* The OpenCL layer: the declarations that its files share.
 *
 * The application creates a program (programs.c). At each build (builds.c) the helper compiles the program; the helper
 * is a Python process (helper.c) that exchanges messages (message.c) with the layer and whose answers are kept on disk
 * (cache.c, digest.c). The driver builds the result, and may link it with other programs (links.c). includes.c and il.c
 * determine which programs have matrices. binaries.c returns their binaries, kernels.c handles their kernels, devices.c
 * answers queries about devices, and entry.c has the functions that the loader calls.
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

/* Queries of the extension's draft, which the headers do not contain yet. VARIANT_SIZE: the bytes of a record. */
#define DEVICE_DEFAULT_SUB_GROUP_VARIANTS 0x1078
#define DEVICE_SUB_GROUP_VARIANTS 0x1079
#define DEVICE_POINTER_ALIGNMENT 0x107A
#define DEVICE_STRIDE_MULTIPLE 0x107B
#define VARIANT_SIZE 32
/* Queries of cl_khr_spirv_queries, and the capability of SPV_KHR_cooperative_matrix. */
#define DEVICE_SPIRV_EXTENSIONS 0x12BA
#define DEVICE_SPIRV_CAPABILITIES 0x12BB
#define COOPERATIVE_MATRIX_KHR 6022

/* The most devices that a context may have. */
#define MOST_DEVICES 64

/* The functions of the next layer, or of the drivers. */
extern const cl_icd_dispatch *next;

/* Guards the lists of devices, programs and kernels. While it is held, the helper and the driver are not called, except
 * to retain an object. */
extern pthread_mutex_t layer_lock;

/* Writes the result of an OpenCL query: copies `size` bytes to `to`, which has `room` bytes, unless it is NULL, and
 * sets `*written` to `size`, unless `written` is NULL. Returns CL_INVALID_VALUE if the room is too small. */
cl_int give(const void *data, size_t size, size_t room, void *to, size_t *written);

/* ---- message.c: messages of fields, each a name and bytes. Several fields may have the same name. */

typedef struct {
    unsigned char *bytes;
    size_t size, room;
    bool failed; /* memory was exhausted, and further fields are ignored */
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
/* Returns whether the message consists of complete fields only. */
bool is_well_formed(const message *m);
/* Sets `*found` to the field at offset `*at`, and advances `*at` behind that field. Returns false at the end. The first
 * offset is 0. */
bool next_field(const message *m, size_t *at, field *found);
bool find(const message *m, const char *name, field *found);
/* Returns a copy of a field's bytes with a null terminator, which the caller frees. Returns NULL if there is no such
 * field, or no memory. */
char *text_of(const message *m, const char *name);
void release_message(message *m);

/* ---- helper.c */

/* Takes the answer to a request from the cache, or waits for the helper's. Returns false if there is none, and sets
 * `*why` to an explanation, which the caller frees. */
bool ask(const message *request, message *answer, char **why);
/* Reads the absolute paths of the interpreter and of the helper's script into buffers of `room` bytes each. */
bool read_paths(char *python, char *helper, size_t room);
void stop_helper(void);
/* Called before and after a fork: the child will start its own helper. */
void lock_helper(void);
void unlock_helper(void);

/* ---- cache.c */

/* Returns the answer that the helper kept on disk for an equal request, unless a file that it depends on has
 * changed. */
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
    bool emulated;        /* the device lacks the extension, and the layer provides it */
    bool is_before_2_1;   /* OpenCL before 2.1: no clCreateProgramWithIL and clGetKernelSubGroupInfo */
    bool hides_features;  /* OpenCL 3.0: optional features that the compiler lacks are not reported */
    message facts;        /* the device's properties, as sent to the helper */
    cl_uint *variants;    /* records of VARIANT_SIZE bytes; NULL before the first query */
    size_t variants_size;
} device;

/* Returns the record of a device, which is kept until the process ends, or NULL if `id` is not a device. */
device *device_of(cl_device_id id);
bool same_facts(const device *a, const device *b);
/* Adds the fields on which a build by a device's driver depends: its library's path, the processor, and variables of
 * the environment. */
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
    size_t sub_group_size; /* 0: the device's own size */
    size_t most_items;     /* the most work-items of a work-group; 0: no limit but the device's */
    bool uses_matrices;
    bool is_fixed; /* the kernel states the size of its work-groups (reqd_work_group_size) */
    bool imports; /* the kernel calls functions of other programs */
    bool is_function; /* not a kernel, but a function that kernels of other programs may call */
} kernel_facts;

/* Returns a list from a message's fields `kernel`; their `device` is not set. */
kernel_facts *facts_of(const message *answer);
/* Adds the fields of one kernel to a message. */
void put_facts(message *m, const kernel_facts *facts);
/* Returns copies of the facts of the kernels called `name`, or of all kernels if `name` is NULL. */
kernel_facts *copied_facts(const kernel_facts *facts, const char *name);
void release_facts(kernel_facts *facts);
/* Returns whether a kernel of the program exists. */
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

/* The largest size of a specialisation constant in bytes. */
#define LARGEST_CONSTANT 8

typedef struct {
    cl_uint id;
    size_t size;
    unsigned char value[LARGEST_CONSTANT];
} constant;

/* The result of a device's last build. */
typedef struct build {
    struct build *next;
    cl_device_id device;
    cl_program made; /* the driver's program; NULL: the helper failed */
    char *options;   /* the application's build options */
    char *log;       /* the helper's log; NULL: empty */
} build;

typedef struct program {
    struct program *next;
    cl_program id;     /* the program that the application has */
    cl_program behind; /* the built program, of which kernels are created; NULL before a build, or if that is `id` */
    cl_context context;
    bool is_il;
    unsigned char *code; /* the source, null-terminated, or the SPIR-V; NULL for a linked program or binaries */
    size_t size;
    constant *constants;
    size_t constant_count;
    build *builds;
    kernel_facts *facts;
    bool is_building;
    size_t references;
} program;

/* Returns the record of a program, or NULL if it certainly has no matrices. The caller holds the lock. */
program *find_program(cl_program id);
/* Adds a program to the list. Takes ownership of `code`, even on failure (NULL). */
program *track_program(cl_program id, cl_context context, unsigned char *code, size_t size, bool is_il);
/* Returns the driver's program for an application's program. A program without matrices is both. */
cl_program program_behind(cl_program id);
/* Returns copies of the facts of a program's kernel, one for each device; the caller releases them. */
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
/* Creates a program of SPIR-V by the driver; a driver of OpenCL 1.2 needs cl_khr_il_program. */
cl_program create_with_il(cl_context context, const void *il, size_t size, cl_int *error);

/* ---- il.c */

bool il_has_matrices(const void *il, size_t size);
/* Returns the size of a specialisation constant in bytes, at most LARGEST_CONSTANT; 0 if there is no such constant. */
size_t il_constant_size(const void *il, size_t size, cl_uint number);

/* ---- includes.c */

bool text_has_matrices(const char *text);
bool text_includes(const char *text);
/* Returns whether a file that the text includes has matrices. Includes are searched in the -I directories of
 * `options`. */
bool includes_have_matrices(const char *text, const char *options);

/* ---- builds.c */

/* Returns a copy, which retains the driver's program, too. */
build *copied_build(const build *b);
void release_builds(build *b);
/* Returns a program's source, null-terminated, which the caller frees; NULL if it has none. */
char *source_of(cl_program id, size_t *size);
/* Returns whether the driver has built a program for any device successfully. */
bool is_built(cl_program made);

cl_int CL_API_CALL layer_BuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
    void(CL_CALLBACK *)(cl_program, void *), void *);
cl_int CL_API_CALL layer_CompileProgram(cl_program, cl_uint, const cl_device_id *, const char *, cl_uint,
    const cl_program *, const char **, void(CL_CALLBACK *)(cl_program, void *), void *);

/* ---- links.c */

cl_program CL_API_CALL layer_LinkProgram(cl_context, cl_uint, const cl_device_id *, const char *, cl_uint,
    const cl_program *, void(CL_CALLBACK *)(cl_program, void *), void *, cl_int *);

/* ---- binaries.c */

/* Answer CL_PROGRAM_BINARY_SIZES and CL_PROGRAM_BINARIES for a program with matrices. */
cl_int binary_sizes(cl_program id, size_t room, void *to, size_t *written);
cl_int binaries(cl_program id, size_t room, void *to, size_t *written);
/* Returns one program with the binaries of all devices, from the programs that were built for each kind of device. */
cl_program joined_program(program *p, bool is_build, cl_int *error);

cl_program CL_API_CALL layer_CreateProgramWithBinary(
    cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *);

#endif
