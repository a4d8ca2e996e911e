/* The helper: a Python process that compiles. Each process of an application has one, which its first program with
 * matrices starts.
 *
 * A file beside this library, not the environment, names the interpreter and the helper's script by absolute paths.
 * While the helper compiles, it reports every second that it is alive. If it is silent for SILENCE_MS, it is killed. If
 * it ends without an answer, it is started once more. If it compiles longer than the time limit of a build, the build
 * fails, but the helper may finish its answer for the cache. */
#define _GNU_SOURCE
#include "layer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SILENCE_MS 19000
#define BUILD_SECONDS 600 /* Without COOPMAT_BUILD_TIMEOUT. */
#define LARGEST_ANSWER (1u << 30)
#define PATHS ".paths"

extern char **environ;

static pthread_mutex_t helper_lock = PTHREAD_MUTEX_INITIALIZER;
static int socket_fd = -1, output_fd = -1; /* Of the helper's process, which the process `owner` has started. */
static pid_t helper_pid, owner, unfinished;
static bool timed_out; /* The last transfer ended at its deadline. */

void lock_helper(void) { pthread_mutex_lock(&helper_lock); }
void unlock_helper(void) { pthread_mutex_unlock(&helper_lock); }

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Reads the two paths, each on a line. The file must belong to the user or root, and nobody else may write to it. */
bool read_paths(char *python, char *helper, size_t room)
{
    Dl_info self;
    char path[4096];
    struct stat status;
    if (!dladdr((void *)&read_paths, &self) || !self.dli_fname)
        return false;
    if (snprintf(path, sizeof path, "%s" PATHS, self.dli_fname) >= (int)sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool trusted = !fstat(fd, &status) && S_ISREG(status.st_mode) && !(status.st_mode & (S_IWGRP | S_IWOTH))
        && (status.st_uid == 0 || status.st_uid == geteuid());
    FILE *file = trusted ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return false;
    }
    bool complete = fgets(python, (int)room, file) && fgets(helper, (int)room, file);
    fclose(file);
    python[strcspn(python, "\n")] = 0;
    helper[strcspn(helper, "\n")] = 0;
    return complete && python[0] == '/' && helper[0] == '/';
}

static bool is_dropped(const char *variable)
{
    /* With OPENCL_LAYERS, the helper would load this layer, too. */
    static const char *const names[] = { "OPENCL_LAYERS=", "LD_PRELOAD=", "LD_LIBRARY_PATH=", "PYTHON" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(variable, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Returns the time limit of a build in seconds: COOPMAT_BUILD_TIMEOUT if it is a positive number, else
 * BUILD_SECONDS. */
static int build_seconds(void)
{
    const char *text = getenv("COOPMAT_BUILD_TIMEOUT");
    char *end;
    long seconds = text ? strtol(text, &end, 10) : 0;
    return text && end != text && !*end && seconds > 0 && seconds <= 1000000 ? (int)seconds : BUILD_SECONDS;
}

static void kill_process(pid_t process)
{
    kill(-process, SIGKILL);
    kill(process, SIGKILL);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) { }
}

/* Closes the connection, and kills the helper if this process has started it. The caller holds the helper's lock. */
static void drop_helper(void)
{
    if (socket_fd < 0)
        return;
    close(socket_fd);
    if (output_fd >= 0)
        close(output_fd);
    socket_fd = output_fd = -1;
    if (owner == getpid())
        kill_process(helper_pid);
}

/* Stops waiting for the helper, which writes its answer to the cache and ends. An earlier such helper is killed. The
 * caller holds the helper's lock. */
static void leave_helper(void)
{
    if (unfinished)
        kill_process(unfinished);
    unfinished = helper_pid;
    close(socket_fd);
    close(output_fd);
    socket_fd = output_fd = -1;
}

/* Replaces a descriptor by one above the standard descriptors, and returns it, or -1. The application may have closed
 * descriptors 0 to 2, which the helper uses for its own purposes. */
static int above_standard(int fd)
{
    int result = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (fd >= 0)
        close(fd);
    return result;
}

/* Opens the two ends of a socket pair, and a file in memory for the helper's output. Returns false on failure. */
static bool open_files(int ends[2], int *output)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    for (int i = 0; i < 2; i++)
        ends[i] = above_standard(ends[i]);
    *output = above_standard((int)syscall(SYS_memfd_create, "coopmat", 1u /* MFD_CLOEXEC */));
    if (*output < 0)
        *output = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (ends[0] >= 0 && ends[1] >= 0 && *output >= 0 && !fcntl(*output, F_SETFL, O_APPEND))
        return true;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    if (*output >= 0)
        close(*output);
    return false;
}

/* Copies the last line that the helper printed, at most `room` bytes. The caller holds the helper's lock. */
static void last_line(char *line, size_t room)
{
    char text[512];
    struct stat status;
    off_t from = 0;
    if (output_fd >= 0 && !fstat(output_fd, &status) && status.st_size > (off_t)sizeof text - 1)
        from = status.st_size - ((off_t)sizeof text - 1);
    ssize_t size = output_fd >= 0 ? pread(output_fd, text, sizeof text - 1, from) : 0;
    while (size > 0 && (unsigned char)text[size - 1] <= ' ')
        size--;
    text[size > 0 ? size : 0] = 0;
    const char *begin = strrchr(text, '\n');
    snprintf(line, room, "%s", begin ? begin + 1 : text);
}

/* Starts the helper unless it is running. Returns NULL, or a static explanation. The caller holds the helper's lock. */
static const char *start_helper(void)
{
    char python[4096] = "", helper[4096] = "";
    int ends[2], output;
    if (socket_fd >= 0 && owner == getpid())
        return NULL;
    drop_helper(); /* after a fork, the child has a copy of its parent's connection */
    if (unfinished && (owner != getpid() || waitpid(unfinished, NULL, WNOHANG)))
        unfinished = 0; /* the process has ended, or is the parent's child */
    if (!read_paths(python, helper, sizeof python))
        return "the file beside the layer that names its helper is missing, or others can write to it: run `coopmat layer build`";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **environment = malloc((count + 1) * sizeof *environment);
    if (!environment || !open_files(ends, &output)) {
        free(environment);
        return "there is no memory or no file descriptor left for the helper";
    }
    for (size_t i = 0; i < count; i++)
        if (!is_dropped(environ[i]))
            environment[kept++] = environ[i];
    environment[kept] = NULL;
    char *arguments[] = { python, "-I", "-B", helper, NULL };
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    /* The helper's output must not mix with the application's output and errors. */
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    /* The helper has its own process group, so that an interrupt of the application does not reach it. When the
     * application ends, the socket is closed, and the helper ends. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(&helper_pid, python, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(environment);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        close(output);
        return "the interpreter of the helper cannot be started: run `coopmat layer build` again";
    }
    socket_fd = ends[0];
    output_fd = output;
    owner = getpid();
    return NULL;
}

/* Sends or receives all of `size` bytes before the deadline. */
static bool transfer(bool out, void *data, size_t size, long long deadline)
{
    for (char *at = data; size;) {
        long long left = deadline - now_ms();
        struct pollfd wait = { socket_fd, out ? POLLOUT : POLLIN, 0 };
        timed_out = left <= 0;
        if (timed_out)
            return false;
        int ready = poll(&wait, 1, (int)left);
        if (ready < 0 && errno == EINTR)
            continue;
        timed_out = !ready;
        if (ready <= 0)
            return false;
        ssize_t done = out ? send(socket_fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(socket_fd, at, size, MSG_DONTWAIT);
        if (done < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        if (done <= 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

/* Returns the time in ms at which the helper counts as dead if it stays silent, or the deadline if that is earlier. */
static long long silence_end(long long deadline)
{
    long long end = now_ms() + SILENCE_MS;
    return end < deadline ? end : deadline;
}

static bool converse(const message *request, message *answer, long long deadline)
{
    uint64_t size = request->size;
    long long end = silence_end(deadline);
    if (!transfer(true, &size, sizeof size, end) || !transfer(true, request->bytes, request->size, end))
        return false;
    do { /* A size of 0 is not an answer, but a sign of life. */
        if (!transfer(false, &size, sizeof size, silence_end(deadline)) || size > LARGEST_ANSWER)
            return false;
    } while (!size);
    answer->bytes = malloc(size ? size : 1);
    if (!answer->bytes)
        return false;
    answer->size = answer->room = size;
    if (transfer(false, answer->bytes, size, silence_end(deadline)) && is_well_formed(answer))
        return true;
    release_message(answer);
    return false;
}

/* Returns the message to the helper: the request, and the directory against which its relative paths are resolved. */
static message whole_request(const message *request)
{
    message whole = { 0 };
    char directory[4096];
    put_text(&whole, "directory", getcwd(directory, sizeof directory) ? directory : "");
    put(&whole, "request", request->bytes, request->size);
    whole.failed |= request->failed;
    return whole;
}

/* Sends a request to the running helper. Returns NULL if it answers, else a static explanation. `*may_repeat`: whether
 * the helper ended, and may be started again; then `printed` gets the last line that it printed. The caller holds the
 * lock. */
static const char *ask_helper(
    const message *request, message *answer, long long deadline, bool *may_repeat, char *printed, size_t room)
{
    bool answered = converse(request, answer, deadline);
    *may_repeat = !answered && !timed_out;
    if (answered) {
        if (ftruncate(output_fd, 0)) { } /* Its output is no longer needed. The call fails for /dev/null. */
        return NULL;
    }
    if (timed_out && now_ms() >= deadline) {
        leave_helper();
        return "the compiler took longer than COOPMAT_BUILD_TIMEOUT allows (default: 600 seconds)";
    }
    if (!timed_out)
        last_line(printed, room);
    drop_helper();
    return timed_out ? "the compiler stopped responding" : "the compiler ended without an answer";
}

bool ask(const message *request, message *answer, char **why)
{
    const char *reason = "there is no memory left";
    char printed[256] = "";
    *why = NULL;
    bool answered = !request->failed && answer_from_cache(request, answer);
    if (answered)
        return true;
    memset(answer, 0, sizeof *answer);
    message whole = whole_request(request);
    if (!whole.failed) {
        pthread_mutex_lock(&helper_lock);
        long long deadline = now_ms() + build_seconds() * 1000LL;
        bool repeat = true;
        for (int attempt = 0; attempt < 2 && repeat; attempt++) {
            reason = start_helper();
            if (reason)
                break;
            reason = ask_helper(&whole, answer, deadline, &repeat, printed, sizeof printed);
        }
        answered = !reason;
        pthread_mutex_unlock(&helper_lock);
    }
    release_message(&whole);
    if (!answered && asprintf(why, "%s%s%s", reason, *printed ? ": " : "", printed) < 0)
        *why = NULL;
    return answered;
}

void stop_helper(void)
{
    pthread_mutex_lock(&helper_lock);
    drop_helper();
    pthread_mutex_unlock(&helper_lock);
}
