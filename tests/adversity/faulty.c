/* A disk that fails and a clock that steps, for one process (LD_PRELOAD). Nothing happens until it is armed.

   faulty_arm(n, error, lasting): the n-th write or sync from now on of a file whose name contains $FAULTY_NAME fails
   with this errno; all later ones too where lasting is not 0; an errno below 0 means that the process is killed there,
   as by kill -9. faulty_disarm() answers how many failed.
   faulty_keep(): from now on what a file holds whenever a sync of it succeeds is kept beside it as NAME.synced: what a disk
   would hold at least after its power was cut.
   faulty_step(wall_ms, boot_ms): from now on the wall clock, and the clock that counts a machine's sleep, are so much
   ahead of the true ones. The monotonic clock is left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long left = 0, failed = 0;
static volatile int armed = 0, fails_with = 0, lasts = 0;
static volatile int keeps = 0;
static volatile long long wall_ahead_ns = 0, boot_ahead_ns = 0;

void faulty_arm(long n, int error, int lasting)
{
    left = n;
    fails_with = error;
    lasts = lasting;
    failed = 0;
    armed = 1;
}

long faulty_disarm(void)
{
    armed = 0;
    return failed;
}

void faulty_keep(void)
{
    keeps = 1;
}

void faulty_step(long wall_ms, long boot_ms)
{
    wall_ahead_ns = wall_ms * 1000000LL;
    boot_ahead_ns = boot_ms * 1000000LL;
}

static int is_ours(int fd)
{
    char link[64], name[4096];
    const char *wanted = getenv("FAULTY_NAME");
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, name, sizeof name - 1);
    if (length < 0 || wanted == NULL)
        return 0;
    name[length] = 0;
    return strstr(name, wanted) != NULL;
}

static int fails(int fd)
{
    if (!armed || !is_ours(fd))
        return 0;
    left--;
    if (left > 0 || (left < 0 && !lasts))
        return 0;
    if (fails_with < 0)
        kill(getpid(), SIGKILL);
    failed++;
    errno = fails_with;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count)
{
    static __typeof__(&write) real;
    if (real == NULL)
        real = REAL(write);
    return fails(fd) ? -1 : real(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    static __typeof__(&pwrite) real;
    if (real == NULL)
        real = REAL(pwrite);
    return fails(fd) ? -1 : real(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    static __typeof__(&pwrite64) real;
    if (real == NULL)
        real = REAL(pwrite64);
    return fails(fd) ? -1 : real(fd, bytes, count, at);
}

int ftruncate(int fd, off_t length)
{
    static __typeof__(&ftruncate) real;
    if (real == NULL)
        real = REAL(ftruncate);
    return fails(fd) ? -1 : real(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    static __typeof__(&ftruncate64) real;
    if (real == NULL)
        real = REAL(ftruncate64);
    return fails(fd) ? -1 : real(fd, length);
}

/* Reads by the given descriptor: opening and closing the file here would drop SQLite's locks on it. */
static int kept(int fd, int answer)
{
    static __typeof__(&write) real;
    char link[64], name[4096], bytes[65536];
    ssize_t length;
    off_t at = 0;
    int to;
    if (answer != 0 || !keeps || !is_ours(fd))
        return answer;
    if (real == NULL)
        real = REAL(write);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, name, sizeof name - 8);
    if (length < 0)
        abort();
    strcpy(name + length, ".synced");
    to = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    while ((length = pread(fd, bytes, sizeof bytes, at)) > 0) {
        if (real(to, bytes, length) != length)
            abort();
        at += length;
    }
    close(to);
    return answer;
}

int fsync(int fd)
{
    static __typeof__(&fsync) real;
    if (real == NULL)
        real = REAL(fsync);
    return fails(fd) ? -1 : kept(fd, real(fd));
}

int fdatasync(int fd)
{
    static __typeof__(&fdatasync) real;
    if (real == NULL)
        real = REAL(fdatasync);
    return fails(fd) ? -1 : kept(fd, real(fd));
}

static void ahead(struct timespec *at, long long ns)
{
    long long all = at->tv_sec * 1000000000LL + at->tv_nsec + ns;
    at->tv_sec = all / 1000000000LL;
    at->tv_nsec = all % 1000000000LL;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    static __typeof__(&clock_gettime) real;
    int answer;
    if (real == NULL)
        real = REAL(clock_gettime);
    answer = real(clock, at);
    if (answer == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ahead(at, wall_ahead_ns);
    if (answer == 0 && clock == CLOCK_BOOTTIME)
        ahead(at, boot_ahead_ns);
    return answer;
}

int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}
