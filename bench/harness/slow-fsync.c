/* Makes every fsync and fdatasync of Postgres take SLOW_FSYNC_US microseconds longer, as on an ordinary cloud disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_a_little(void) {
  const char *delay = getenv("SLOW_FSYNC_US");
  usleep(delay ? (useconds_t)atoi(delay) : 1000);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_a_little();
  return real(fd);
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_a_little();
  return real(fd);
}
