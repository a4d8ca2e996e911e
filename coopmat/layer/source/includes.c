/* The search for matrices in a program's text and in the files that it includes; the driver compiles other programs
 * unchanged. Macros and conditions are ignored, and at most MOST_TRIES files are opened. */
#define _GNU_SOURCE
#include "layer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_DIRECTORIES = 64, MOST_TRIES = MOST_FILES * MOST_DIRECTORIES };
enum { LARGEST_SOURCE = 64 << 20, LONGEST_PATH = 4000 };

typedef struct {
    char *directories[MOST_DIRECTORIES];
    size_t directory_count;
    char *seen[MOST_FILES];
    size_t seen_count;
    size_t tries_left; /* attempts to open a file: a text may name any number of missing files */
    size_t bytes_left; /* the bytes of all files that may still be read */
} search;

bool text_has_matrices(const char *text)
{
    static const char *const words[] = { "coop_mat", EXTENSION, "__builtin_matrix_" }, attribute[] = "matrix_type";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    for (const char *at = text; (at = strstr(at, attribute)) != NULL;) {
        at += sizeof attribute - 1;
        if (at[strspn(at, " \t\n_")] == '(') /* matrix_type(, __matrix_type__ ( */
            return true;
    }
    return false;
}

/* Returns the name in the next #include directive and its size, and sets `*at` behind the name; NULL if there is
 * none. */
static const char *next_include(const char **at, size_t *size)
{
    *size = 0;
    for (const char *hash; (hash = strchr(*at, '#')) != NULL;) {
        const char *word = hash + 1 + strspn(hash + 1, " \t");
        *at = word;
        if (strncmp(word, "include", 7))
            continue;
        const char *quote = word + 7 + strspn(word + 7, " \t");
        if (*quote != '"' && *quote != '<')
            continue;
        const char *end = strchr(quote + 1, *quote == '"' ? '"' : '>');
        if (!end)
            break;
        *at = end;
        *size = (size_t)(end - quote - 1);
        return quote + 1;
    }
    return NULL;
}

bool text_includes(const char *text)
{
    size_t size;
    return next_include(&text, &size) != NULL;
}

/* Adds the directories of -I options. Blanks separate options; quotes or a backslash make a blank part of an option. */
static void find_directories(search *s, const char *options)
{
    bool is_next = false;
    char *word = options ? malloc(strlen(options) + 1) : NULL;
    while (word && *options && s->directory_count < MOST_DIRECTORIES) {
        char *to = word, quote = 0;
        options += strspn(options, " \t\n");
        for (; *options && (quote || !strchr(" \t\n", *options)); options++) {
            if (quote ? *options == quote : *options == '"' || *options == '\'')
                quote = quote ? 0 : *options;
            else if (*options == '\\' && quote != '\'' && options[1])
                *to++ = *++options;
            else
                *to++ = *options;
        }
        *to = 0;
        const char *directory = is_next ? word : !strncmp(word, "-I", 2) && word[2] ? word + 2 : NULL;
        is_next = !is_next && !strcmp(word, "-I");
        if (directory)
            s->directories[s->directory_count++] = strdup(directory);
    }
    free(word);
}

/* Returns a file's text; NULL if the file is not regular, or larger than the bytes that may still be read. */
static char *read_text(search *s, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && (size_t)status.st_size < s->bytes_left)
        text = calloc(1, (size_t)status.st_size + 1);
    if (text) {
        s->bytes_left -= (size_t)status.st_size;
        size_t size = 0;
        for (ssize_t part; (part = read(fd, text + size, (size_t)status.st_size - size)) > 0;)
            size += (size_t)part;
    }
    close(fd);
    return text;
}

static bool search_text(search *s, const char *text, const char *beside, size_t beside_size);

static bool search_file(search *s, const char *directory, size_t directory_size, const char *name, size_t size)
{
    bool found = false;
    if (directory_size + size > LONGEST_PATH || s->seen_count == MOST_FILES || !s->tries_left)
        return false;
    s->tries_left--;
    /* The path is allocated on the heap, since this function is recursive. */
    char *path = NULL;
    if (asprintf(&path, "%.*s%s%.*s", *name == '/' ? 0 : (int)directory_size, directory,
            *name == '/' || !directory_size ? "" : "/", (int)size, name) < 0)
        return false;
    for (size_t i = 0; i < s->seen_count; i++)
        if (!strcmp(s->seen[i], path)) {
            free(path);
            return false;
        }
    char *text = read_text(s, path);
    if (text) {
        s->seen[s->seen_count++] = path;
        const char *slash = strrchr(path, '/');
        found = text_has_matrices(text) || search_text(s, text, path, slash ? (size_t)(slash - path) : 0);
    } else {
        free(path);
    }
    free(text);
    return found;
}

static bool search_text(search *s, const char *text, const char *beside, size_t beside_size)
{
    size_t size;
    for (const char *name; s->tries_left && (name = next_include(&text, &size)) != NULL;) {
        if (search_file(s, beside, beside_size, name, size))
            return true;
        for (size_t i = 0; i < s->directory_count; i++)
            if (s->directories[i] && search_file(s, s->directories[i], strlen(s->directories[i]), name, size))
                return true;
    }
    return false;
}

bool includes_have_matrices(const char *text, const char *options)
{
    search s = { .tries_left = MOST_TRIES, .bytes_left = LARGEST_SOURCE };
    find_directories(&s, options);
    bool found = search_text(&s, text, "", 0);
    for (size_t i = 0; i < s.directory_count; i++)
        free(s.directories[i]);
    for (size_t i = 0; i < s.seen_count; i++)
        free(s.seen[i]);
    return found;
}
