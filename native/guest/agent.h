/*
 * The agent is the first process of the guest. It makes the guest ready, then obeys the host over one virtio port. It
 * holds no policy: every limit comes with a request. docs/microvm.md has the protocol.
 */
#ifndef ASSAY_GUEST_AGENT_H
#define ASSAY_GUEST_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROTOCOL 1
#define MAX_PAYLOAD (256 * 1024)
#define CHUNK (64 * 1024)  /* of a stream, in one frame */
#define WINDOW (256 * 1024) /* of a stream that may be on its way */
#define MAX_CALLS 64
#define MAX_STREAMS 256
#define PATH_CAP 4096

#define CODE_UID 1000
#define CODE_GID 1000

#define ROOT_MOUNT "/newroot"
#define PRIVATE "/run/assay" /* closed to everybody but the agent */
#define GROUPS PRIVATE "/cgroup"
#define BOX PRIVATE "/box" /* the one tmpfs that holds all that code can write */
#define CODE "/run/code"
#define WORKSPACE "/workspace"

enum request {
  REQ_SETUP = 1,
  REQ_EXEC,
  REQ_STDIN,
  REQ_STDIN_END,
  REQ_SIGNAL,
  REQ_KILL,
  REQ_FILES,
  REQ_CREDIT,
  REQ_NET_DATA,
  REQ_NET_END,
  REQ_NET_RESET,
};

enum answer {
  ANS_HELLO = 128,
  ANS_DONE,
  ANS_STDOUT,
  ANS_STDERR,
  ANS_EXIT,
  ANS_CREDIT,
  ANS_NET_OPEN,
  ANS_NET_DATA,
  ANS_NET_END,
  ANS_NET_RESET,
};

/* Read in order from the payload of a request; `is_bad` once something was missing. */
struct reader {
  const unsigned char *at;
  size_t left;
  bool is_bad;
};

uint32_t take32(struct reader *reader);
uint64_t take64(struct reader *reader);
const unsigned char *take_bytes(struct reader *reader, size_t size);

/* What is kept on behalf of all calls together, as the host has said it. */
struct box {
  uint64_t disk_bytes, inodes;
  bool is_ready, is_workspace_readonly, has_door;
};

struct limits {
  uint64_t memory_bytes, pids, cpu_quota_us, cpu_us, wall_ms, disk_bytes, inodes, open_files, output_bytes;
};

/* die.c */
_Noreturn void die(const char *what);

/* channel.c */
void channel_open(void);
int channel_fd(void);
bool channel_has_room(void);
bool channel_wants_write(void);
void channel_flush(void);
void channel_read(void (*handle)(uint32_t type, uint32_t id, struct reader *payload));
void send_frame(uint32_t type, uint32_t id, const void *head, size_t head_size, const void *data, size_t size);
void send_done(uint32_t id, int error, const void *data, size_t size);
void send_number(uint32_t type, uint32_t id, uint32_t number);

/* start.c */
void start_guest(void);
void enter_root(void);

/* warm.c: an interpreter that has been started and waits */
struct warm_program {
  pid_t pid;
  int in, out, err, control;
};
void warm_up(void);
bool warm_take(char *const argv[], char *const env[], const char *cwd, struct warm_program *taken);
void warm_become(const struct warm_program *process, char *const argv[], char *const env[], const char *cwd);
void warm_dismiss(void);

/* setup.c */
int set_up(struct reader *payload, struct box *box);
void resize_box(uint64_t bytes, uint64_t inodes);
void box_usage(uint64_t *bytes, uint64_t *inodes, bool *is_full, bool *has_no_inodes);

/* groups.c */
void groups_start(void);
int group_make(const char *name, const struct limits *limits);
int group_entry(const char *name);
void group_kill(const char *name);
bool group_is_empty(const char *name);
void group_remove(const char *name);
uint64_t group_number(const char *name, const char *file, const char *key);

/* child.c: what to start, from the payload of a request */
struct start {
  char **argv, **env;
  const char *cwd;
  int in, out, err, group, report;
  int control; /* becomes descriptor 3; -1 for none */
  uint64_t open_files;
};
_Noreturn void become_program(const struct start *start);

/* calls.c */
struct pollfd;
void call_start(uint32_t id, struct reader *payload, const struct box *box);
void call_input(uint32_t id, struct reader *payload);
void call_input_end(uint32_t id);
void call_signal(uint32_t id, int number);
void call_kill(uint32_t id);
void call_reap(pid_t pid, int status);
size_t calls_poll(struct pollfd *polled, size_t at);
size_t calls_serve(const struct pollfd *polled, size_t at);
int calls_wait_ms(void);
void calls_tick(const struct box *box);

/* files.c */
void serve_files(uint32_t id, struct reader *payload, const struct box *box);

/* door.c */
void door_open(void);
void stream_data(uint32_t id, struct reader *payload);
void stream_end(uint32_t id);
void stream_reset(uint32_t id);
void stream_credit(uint32_t id, uint32_t bytes);
size_t door_poll(struct pollfd *polled, size_t at);
size_t door_serve(const struct pollfd *polled, size_t at);

uint64_t now_ms(void);

#endif
