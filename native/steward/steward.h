/* The steward: the first process of a container. It performs what assay asks for over its standard input and output:
   programs with their streams and limits, files below the workspace, and connections to assay's door. It holds no right
   that a program inside does not have; as the first process of its namespace it can neither be killed nor traced by them,
   and when assay goes away it ends everything. Nothing here decides: see src/backends/steward. */
#ifndef STEWARD_H
#define STEWARD_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKSPACE "/workspace"
#define MAX_CALLS 16
#define MAX_DOORS 128
#define MAX_PAYLOAD (4u << 20)
#define CHUNK (64u << 10)

/* The same numbers are in src/backends/steward/wire.ts. */
enum to_steward {
  DO_START = 1,
  DO_STDIN,
  DO_STDIN_END,
  DO_SIGNAL,
  DO_KILL,
  DO_KILL_ALL,
  DO_FILTER,
  DO_READ = 10,
  DO_WRITE,
  DO_WRITE_DATA,
  DO_WRITE_END,
  DO_MKDIR,
  DO_READDIR,
  DO_STAT,
  DO_RM,
  DO_RENAME,
  DO_TREE,
  DO_SYMLINK,
  DO_DIGEST,
  DO_MEASURE,
  DO_LISTEN = 30,
  DO_DOOR_DATA,
  DO_DOOR_END,
  DO_DOOR_RESET,
  DO_DOOR_WINDOW,
};

enum from_steward {
  SAY_HELLO = 1,
  SAY_STDOUT,
  SAY_STDERR,
  SAY_EXIT,
  SAY_WINDOW,
  SAY_OK = 10,
  SAY_ERROR,
  SAY_DATA,
  SAY_DOOR_OPEN = 30,
  SAY_DOOR_DATA,
  SAY_DOOR_END,
  SAY_DOOR_RESET,
  SAY_DOOR_WINDOW,
};

struct frame {
  uint8_t type;
  uint32_t channel;
  const unsigned char *data;
  size_t len;
};

/* Bytes that wait until somebody takes them. */
struct backlog {
  unsigned char *data;
  size_t at, len, room;
};

/* What a call may use; 0 where there is no such limit. */
struct limits {
  uint64_t cpu_ms, open_files, output_bytes, processes;
  /* Of a workspace that is a directory of the host, which has no size of its own. */
  uint64_t workspace_bytes, workspace_files;
};

enum end_kind { END_EXITED, END_SIGNALED, END_NOT_STARTED };
enum end_cause { CAUSE_NONE, CAUSE_KILLED, CAUSE_CPU, CAUSE_DISK, CAUSE_INODES };
enum reached { REACHED_MEMORY = 1, REACHED_PIDS = 2, REACHED_DISK = 4, REACHED_INODES = 8 };

/* From a shepherd to the steward, and with the counts of dropped bytes on to assay. */
struct ending {
  uint32_t kind, value, cause, reached;
  uint64_t cpu_us, max_rss, disk_bytes;
};

/* Counters of the control group that the kernel keeps for the container. */
struct counters {
  uint64_t oom_kills, pid_refusals;
};

/* Calls that are under way, in memory that the steward shares with the shepherds: who keeps each, or 0. The number is odd
   while one is being started, and another one afterwards. */
struct roll {
  volatile unsigned changes;
  volatile pid_t shepherds[MAX_CALLS];
};

/* wire.c */
void send_frame(uint8_t type, uint32_t channel, const void *data, size_t len);
void send_ok(uint32_t channel);
void send_error(uint32_t channel, int error);
int read_frames(void (*handle)(const struct frame *));
void backlog_add(struct backlog *b, const void *data, size_t len);
ssize_t backlog_flush(struct backlog *b, int fd);
void backlog_free(struct backlog *b);
uint32_t get_u32(const unsigned char *at);
uint64_t get_u64(const unsigned char *at);
void put_u32(unsigned char *at, uint32_t value);
void put_u64(unsigned char *at, uint64_t value);
_Noreturn void die(const char *what);

/* calls.c */
void start_call(const struct frame *f);
void feed_call(const struct frame *f);
void signal_call(const struct frame *f);
void kill_call(uint32_t channel);
void kill_everything(void);
void reap(void);
size_t poll_calls(struct pollfd *fds);
void serve_calls(const struct pollfd *fds, size_t count);

/* shepherd.c */
#define KILL_ORDER 0 /* any other is the number of a signal */
struct program {
  char *cwd;
  char **argv, **env;
  struct limits limits;
  int in, out, err;
};
void close_between(int first, int last);
void keep_filter(const struct frame *f);
_Noreturn void run_shepherd(const struct program *program, int report, int orders, const struct roll *roll);

/* processes.c */
size_t kill_strays(const struct roll *roll);
uint64_t count_cpu_ms(pid_t root);

/* counters.c */
struct counters read_counters(void);
uint32_t look_at_disk(uint64_t *used);
uint32_t look_at_processes(const struct limits *limits);
void say_hello(void);

/* walk.c */
struct place {
  int parent;
  char name[256];
};
int find_place(const char *path, int follow, struct place *out);
int open_directory(int parent, const char *name);

/* files.c, tree.c */
void do_files(const struct frame *f);
void send_tree(uint32_t channel);
int remove_tree(int parent, const char *name);
void measure_workspace(uint64_t *bytes, uint64_t *files);

/* doors.c */
void listen_door(const struct frame *f);
void feed_door(const struct frame *f);
size_t poll_doors(struct pollfd *fds);
void serve_doors(const struct pollfd *fds, size_t count);

/* map.c */
int map_directory(char **arguments);
int unmap_directory(const char *target);

/* ../digest.c */
void file_digest(int fd, char out[65]);

#endif
