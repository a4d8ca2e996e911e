/* The helper's answers on disk: a program that was compiled before starts without the helper.
 *
 * The layer only reads entries; the helper writes them. `coopmat.cache` defines the format and names of entries, and
 * which directories are trusted. This file implements the same rules; a difference only means that no entry is
 * found. */
#define _GNU_SOURCE
#include "layer.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "coopmat entry 2\n"
#define LARGEST_FILE (1u << 30)

enum { MAGIC_SIZE = 16, HEAD = MAGIC_SIZE + DIGEST_SIZE + 3 * 8 };

typedef struct {
    unsigned char *bytes;
    size_t size;
} bytes;

/* ---- files */

/* Returns a file's bytes and a null terminator. `bytes` is NULL if the file is not regular, cannot be read, or has
 * LARGEST_FILE bytes or more. */
static bytes read_file(const char *path, int flags)
{
    bytes result = { NULL, 0 };
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    if (fd < 0)
        return result;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size < LARGEST_FILE)
        result.bytes = malloc((size_t)status.st_size + 1);
    while (result.bytes && result.size < (size_t)status.st_size) {
        ssize_t part = read(fd, result.bytes + result.size, (size_t)status.st_size - result.size);
        if (part <= 0)
            break;
        result.size += (size_t)part;
    }
    close(fd);
    if (result.bytes && result.size != (size_t)status.st_size) {
        free(result.bytes);
        result = (bytes){ NULL, 0 };
    }
    if (result.bytes)
        result.bytes[result.size] = 0;
    return result;
}

/* Finds the cache's directory; false if the cache is off, or the directory is missing or accessible to other users. */
static bool find_directory(char *directory, size_t room)
{
    const char *off = getenv("COOPMAT_NO_CACHE"), *named = getenv("COOPMAT_CACHE_DIR"), *home = getenv("HOME");
    const char *common = getenv("XDG_CACHE_HOME");
    struct stat status, link_status;
    int length;
    if (off && *off && strcmp(off, "0"))
        return false;
    if (!home || !*home) {
        const struct passwd *user = getpwuid(getuid());
        home = user ? user->pw_dir : "";
    }
    if (named && named[0] == '~' && named[1] == '/')
        length = snprintf(directory, room, "%s%s", home, named + 1);
    else if (named && *named)
        length = snprintf(directory, room, "%s", named);
    else if (common && *common)
        length = snprintf(directory, room, "%s/coopmat", common);
    else
        length = snprintf(directory, room, "%s/.cache/coopmat", home);
    if (length < 0 || (size_t)length >= room || stat(directory, &status) || lstat(directory, &link_status))
        return false;
    return S_ISDIR(status.st_mode) && !(status.st_mode & 077) && status.st_uid == geteuid()
        && link_status.st_uid == geteuid();
}

/* ---- entries */

static void add_part(digest *d, const char *name, const void *data, size_t size)
{
    const uint64_t sizes[2] = { htole64(strlen(name)), htole64(size) };
    digest_add(d, &sizes[0], 8);
    digest_add(d, name, strlen(name));
    digest_add(d, &sizes[1], 8);
    digest_add(d, data, size);
}

/* Calculates an entry's name from its parts. The names of the parts must be in alphabetical order. */
static void name_entry(char *name, const char *kind, const char *second, const void *data, size_t size,
    const unsigned char *version)
{
    unsigned char result[DIGEST_SIZE];
    digest d;
    digest_begin(&d);
    add_part(&d, "kind", kind, strlen(kind));
    add_part(&d, second, data, size);
    if (version)
        add_part(&d, "version", version, DIGEST_SIZE);
    digest_end(&d, result);
    for (int i = 0; i < DIGEST_SIZE; i++)
        sprintf(name + 2 * i, "%02x", result[i]);
}

static void digest_of(const void *data, size_t size, unsigned char result[DIGEST_SIZE])
{
    digest d;
    digest_begin(&d);
    digest_add(&d, data, size);
    digest_end(&d, result);
}

static uint64_t number_at(const unsigned char *at)
{
    uint64_t number;
    memcpy(&number, at, sizeof number);
    return le64toh(number);
}

/* Returns whether the files on which an entry depends are unchanged. The table has, for each file, the length of its
 * name (32 bits), the digest of its contents (zeros if the file must not exist), and its name. */
static bool files_hold(const unsigned char *at, const unsigned char *end)
{
    static const unsigned char absent[DIGEST_SIZE];
    while (at < end) {
        uint32_t length;
        char name[4096];
        unsigned char actual[DIGEST_SIZE];
        struct stat status;
        if (end - at < (ptrdiff_t)(sizeof length + DIGEST_SIZE))
            return false;
        memcpy(&length, at, sizeof length);
        length = le32toh(length);
        const unsigned char *expected = at + sizeof length;
        at = expected + DIGEST_SIZE;
        if (length >= sizeof name || length > end - at)
            return false;
        memcpy(name, at, length);
        name[length] = 0;
        at += length;
        if (!memcmp(expected, absent, DIGEST_SIZE)) {
            if (!lstat(name, &status))
                return false;
            continue;
        }
        bytes file = read_file(name, 0);
        if (!file.bytes)
            return false;
        digest_of(file.bytes, file.size, actual);
        free(file.bytes);
        if (memcmp(expected, actual, DIGEST_SIZE))
            return false;
    }
    return true;
}

/* Returns the payload of a valid entry, the end of `file`, and its size; NULL if there is none. The caller frees
 * `file`. */
static const unsigned char *entry(const char *directory, const char *name, bytes *file, size_t *size)
{
    char path[4200];
    unsigned char actual[DIGEST_SIZE];
    snprintf(path, sizeof path, "%s/entries/%.2s/%s", directory, name, name + 2);
    *file = read_file(path, O_NOFOLLOW);
    if (!file->bytes || file->size < HEAD || memcmp(file->bytes, MAGIC, MAGIC_SIZE))
        return NULL;
    digest_of(file->bytes + MAGIC_SIZE + DIGEST_SIZE, file->size - MAGIC_SIZE - DIGEST_SIZE, actual);
    if (memcmp(actual, file->bytes + MAGIC_SIZE, DIGEST_SIZE))
        return NULL;
    uint64_t left = file->size - HEAD, sizes[3];
    for (int i = 0; i < 3; i++) {
        sizes[i] = number_at(file->bytes + MAGIC_SIZE + DIGEST_SIZE + 8 * i);
        if (sizes[i] > left)
            return NULL;
        left -= sizes[i];
    }
    const unsigned char *files = file->bytes + HEAD;
    if (left || !files_hold(files, files + sizes[0]))
        return NULL;
    /* Set the time of last use: the cache removes the least recently used entries first. */
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    *size = sizes[2];
    return files + sizes[0] + sizes[1];
}

/* Calculates the version of the files that define the helper. An entry lists these files, each with its size and the
 * time of its last change in nanoseconds. Returns false if a file has changed since. */
static bool find_version(const char *directory, unsigned char version[DIGEST_SIZE])
{
    char python[4096], helper[4096], name[2 * DIGEST_SIZE + 1];
    bytes file = { NULL, 0 };
    size_t size;
    bool holds = false;
    if (!read_paths(python, helper, sizeof python))
        return false;
    name_entry(name, "layer files", "path", helper, strlen(helper), NULL);
    const unsigned char *list = entry(directory, name, &file, &size);
    if (list) {
        digest_of(list, size, version);
        holds = true;
    }
    for (char *line = (char *)list, *end; holds && line && *line; line = end + 1) {
        unsigned long long length, changed;
        int start = 0;
        struct stat status;
        end = strchr(line, '\n');
        holds = end && sscanf(line, "%llu %llu %n", &length, &changed, &start) == 2 && start;
        if (!holds)
            break;
        *end = 0;
        holds = !stat(line + start, &status) && (unsigned long long)status.st_size == length
            && status.st_mtim.tv_sec * 1000000000ULL + (unsigned long long)status.st_mtim.tv_nsec == changed;
    }
    free(file.bytes);
    return holds;
}

bool answer_from_cache(const message *request, message *answer)
{
    char directory[4096], name[2 * DIGEST_SIZE + 1];
    unsigned char version[DIGEST_SIZE];
    bytes file = { NULL, 0 };
    size_t size;
    memset(answer, 0, sizeof *answer);
    if (!find_directory(directory, sizeof directory) || !find_version(directory, version))
        return false;
    name_entry(name, "layer answer", "request", request->bytes, request->size, version);
    const unsigned char *payload = entry(directory, name, &file, &size);
    unsigned char *copy = payload ? malloc(size + 1) : NULL;
    if (copy) {
        memcpy(copy, payload, size);
        *answer = (message){ copy, size, size, false };
        if (!is_well_formed(answer))
            release_message(answer);
    }
    free(file.bytes);
    return answer->bytes != NULL;
}
