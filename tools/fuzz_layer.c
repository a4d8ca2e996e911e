/* A libFuzzer target for one part of the layer that reads foreign data: TARGET_il, TARGET_messages,
 * TARGET_binaries, TARGET_cache or TARGET_includes. tools/fuzz-layer builds and runs them. */
#define _GNU_SOURCE
#include "layer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static char *text_from(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* A replacement of open that opens only files in the target's directory, and no devices. */
int fuzz_open(const char *path, int flags, ...)
{
    const char *root = getenv("FUZZ_DIRECTORY");
    bool is_own = root && (*path != '/' || !strncmp(path, root, strlen(root))) && !strstr(path, "..");
    return is_own ? openat(AT_FDCWD, path, flags) : -1;
}

#ifdef TARGET_il
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cl_uint number = size ? data[size - 1] % 8 : 0;
    /* Copy to a buffer of the exact size, so that the sanitizer reports a read behind the module. */
    unsigned char *il = malloc(size ? size : 1);
    require(il != NULL);
    memcpy(il, data, size);
    if (il_has_matrices(il, size))
        require(il_constant_size(il, size, number) <= sizeof((constant *)NULL)->value);
    free(il);
    return 0;
}
#endif

#ifdef TARGET_messages
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    message m = { bytes, size, size, false }, again = { 0 };
    field found;
    if (is_well_formed(&m)) {
        char *text = text_of(&m, "form");
        free(text);
        find(&m, "code", &found);
        kernel_facts *facts = facts_of(&m);
        for (const kernel_facts *f = facts; f; f = f->next) {
            message inner = { 0 };
            put_facts(&inner, f);
            put(&again, "kernel", inner.bytes, inner.size);
            release_message(&inner);
        }
        require(is_well_formed(&again));
        release_facts(copied_facts(facts, NULL));
        release_facts(facts);
        release_message(&again);
    }
    free(bytes);
    return 0;
}
#endif

#ifdef TARGET_binaries
enum { DEVICES = 4 };
static cl_device_id devices[DEVICES];
static size_t most_launched;

static cl_program CL_API_CALL create(cl_context c, cl_uint count, const cl_device_id *ids, const size_t *sizes,
    const unsigned char **bytes, cl_int *status, cl_int *error)
{
    unsigned sum = 0;
    (void)c, (void)ids, (void)status;
    for (cl_uint i = 0; i < count && count <= DEVICES; i++)
        for (size_t n = 0; bytes && bytes[i] && n < sizes[i]; n++)
            sum += bytes[i][n];
    if (error)
        *error = CL_SUCCESS;
    return (cl_program)(devices + sum % 2);
}

static cl_int CL_API_CALL of_program(cl_program id) { return id ? CL_SUCCESS : CL_INVALID_PROGRAM; }
static cl_int CL_API_CALL of_kernel(cl_kernel id) { return id ? CL_SUCCESS : CL_INVALID_KERNEL; }

static cl_kernel CL_API_CALL create_kernel(cl_program id, const char *name, cl_int *error)
{
    (void)id, (void)name;
    *error = CL_SUCCESS;
    return (cl_kernel)(devices + 1);
}

static cl_int CL_API_CALL queue_info(cl_command_queue q, cl_command_queue_info w, size_t room, void *to, size_t *written)
{
    (void)q, (void)w, (void)written;
    memcpy(to, devices, room);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL group_info(
    cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t room, void *to, size_t *written)
{
    const size_t most = 1024;
    (void)k, (void)d, (void)what, (void)written;
    memcpy(to, &most, room);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL sub_group_info(cl_kernel k, cl_device_id d, cl_kernel_sub_group_info what, size_t input_size,
    const void *input, size_t room, void *to, size_t *written)
{
    (void)k, (void)d, (void)what, (void)input_size, (void)input, (void)room, (void)to, (void)written;
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL enqueue(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *offset, const size_t *global,
    const size_t *local, cl_uint count, const cl_event *events, cl_event *event)
{
    size_t items = 1;
    (void)q, (void)k, (void)offset, (void)global, (void)count, (void)events, (void)event;
    for (cl_uint i = 0; local && i < n; i++)
        if (__builtin_mul_overflow(items, local[i], &items))
            items = SIZE_MAX;
    if (items > most_launched)
        most_launched = items;
    return CL_SUCCESS;
}

/* Input: a count, the sizes of a launch, and a binary for each device. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cl_uint counts[] = { 1, 2, 4, 0, 0xffffffff, 0x80000000, 65, 1 };
    static cl_icd_dispatch driver;
    const unsigned char *bytes[DEVICES];
    size_t sizes[DEVICES], given[4], most = 1024;
    cl_int error;
    if (size < 1 + sizeof given)
        return 0;
    driver.clCreateProgramWithBinary = create;
    driver.clRetainProgram = driver.clReleaseProgram = of_program;
    driver.clRetainKernel = driver.clReleaseKernel = of_kernel;
    driver.clCreateKernel = create_kernel;
    driver.clGetCommandQueueInfo = queue_info;
    driver.clGetKernelWorkGroupInfo = group_info;
    driver.clGetKernelSubGroupInfo = sub_group_info;
    driver.clEnqueueNDRangeKernel = enqueue;
    next = &driver;
    memcpy(given, data + 1, sizeof given);
    for (size_t i = 0; i < DEVICES; i++) {
        devices[i] = (cl_device_id)(devices + i);
        sizes[i] = i ? i : size - 1 - sizeof given;
        bytes[i] = (unsigned char *)text_from(data + 1 + sizeof given, size - 1 - sizeof given);
        sizes[i] = sizes[i] < size - 1 - sizeof given ? sizes[i] : size - 1 - sizeof given;
    }
    cl_program id = layer_CreateProgramWithBinary(NULL, counts[*data % 8], devices, sizes, bytes, NULL, &error);
    for (size_t i = 0; i < DEVICES; i++)
        free((void *)bytes[i]);
    cl_kernel kernel = layer_CreateKernel(id, "product", &error);
    layer_GetKernelWorkGroupInfo(kernel, devices[0], CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    layer_GetKernelSubGroupInfo(kernel, devices[0], CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, 0, NULL, NULL);
    most_launched = 0;
    layer_EnqueueNDRangeKernel(NULL, kernel, 1 + *data / 8 % 3, NULL, given, *data < 128 ? given + 1 : NULL, 0, NULL, NULL);
    if (most < 1024)
        require(most_launched <= most);
    layer_ReleaseKernel(kernel);
    layer_ReleaseProgram(id);
    return 0;
}
#endif

#ifdef TARGET_cache
#define open fuzz_open
#include "cache.c"
#undef open

static char helper_path[] = "/helper.py";

bool read_paths(char *python, char *helper, size_t room)
{
    snprintf(python, room, "/python");
    snprintf(helper, room, "%s", helper_path);
    return true;
}

bool ask(const message *request, message *answer, char **why) { return !request && !answer && !why; }
void stop_helper(void) { }
void lock_helper(void) { }
void unlock_helper(void) { }

static void write_entry(const char *directory, const char *name, const uint8_t *data, size_t size)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/entries", directory);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/entries/%.2s", directory, name);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/entries/%.2s/%s", directory, name, name + 2);
    int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

/* The first byte selects whether the digest is corrected, and whether the rest is an entry or an entry's payload. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[2 * DIGEST_SIZE + 1];
    const char *directory = getenv("COOPMAT_CACHE_DIR");
    unsigned char version[DIGEST_SIZE];
    message request = { 0 }, answer;
    if (!directory || !size)
        return 0;
    if (!*name)
        name_entry(name, "layer files", "path", helper_path, strlen(helper_path), NULL);
    const size_t head = *data & 2 ? HEAD : 0;
    unsigned char *entry_bytes = calloc(1, size - 1 + head + 1);
    require(entry_bytes != NULL);
    memcpy(entry_bytes + head, data + 1, size - 1);
    if (head) {
        const uint64_t payload = htole64(size - 1);
        memcpy(entry_bytes + HEAD - sizeof payload, &payload, sizeof payload);
    }
    size_t whole = size - 1 + head;
    if (*data & 1 && whole >= HEAD) {
        memcpy(entry_bytes, MAGIC, MAGIC_SIZE);
        digest_of(entry_bytes + MAGIC_SIZE + DIGEST_SIZE, whole - MAGIC_SIZE - DIGEST_SIZE, entry_bytes + MAGIC_SIZE);
    }
    write_entry(directory, name, entry_bytes, whole);
    find_version(directory, version);
    put_text(&request, "operation", "source");
    if (answer_from_cache(&request, &answer))
        release_message(&answer);
    release_message(&request);
    free(entry_bytes);
    return 0;
}
#endif

#ifdef TARGET_includes
/* Input: options, a line feed, and a text that includes files of the directory and files that do not exist. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : 0;
    char *options = text_from(data, length), *text = text_from(data + length, size - length);
    text_has_matrices(text);
    text_includes(text);
    includes_have_matrices(text, options);
    free(options);
    free(text);
    return 0;
}
#endif
