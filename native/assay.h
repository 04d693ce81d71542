/* The helper performs one plan, written by the TypeScript side. It holds no policy of its own. */
#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PLAN_FD 3
#define CODE_PLACE "/run/code" /* of a sandbox that has a holder: what programs read and cannot change */
#define DOORS_FD 4 /* a channel to assay, where the plan comes later or the run has doors to the network */
#define PATH_CAP 8192
#define REPORT_CAP (512 * 1024) /* bytes of refusals in the report; the rest is only counted */

enum namespace_bit { NS_USER = 1, NS_MOUNT = 2, NS_PID = 4, NS_IPC = 8, NS_NET = 16 };

enum mount_kind { MOUNT_HIDE = 1, MOUNT_BIND, MOUNT_MASK, MOUNT_TMPFS, MOUNT_SYMLINK, MOUNT_PROC, MOUNT_DEVPTS, MOUNT_DIRECTORY, MOUNT_FILE };
enum mount_flag { BIND_WRITABLE = 1, BIND_EXEC = 2 };

struct mount_op {
  uint32_t kind, flags;
  uint64_t size_bytes, inodes;
  const char *source, *path;
  int tree_fd;
};

struct landlock_rule {
  uint64_t access;
  const char *path;
};

enum rule_effect { RULE_ALLOW = 1, RULE_DENY, RULE_PROTECT, RULE_LIFT };
enum rule_op { OP_READ = 1, OP_WRITE = 2, OP_EXEC = 4, OP_CONNECT = 8 };

struct broker_rule {
  uint32_t id, effect, ops;
  const char *pattern;
  size_t literal_len; /* bytes of the leading directory that holds no wildcard */
  bool is_literal;
  struct broker_rule *next; /* with the same name to look for */
};

/* Addresses that lead to a door; of loopback only these ports. */
struct door_range {
  uint8_t family, prefix, address[16];
  uint16_t from, to; /* 0 for every port */
};

struct rlimit_op {
  uint32_t resource;
  uint64_t soft, hard;
};

enum soft_limit { SOFT_CPU_MS, SOFT_MEMORY_BYTES, SOFT_DISK_BYTES, SOFT_PIDS, SOFT_COUNT };

enum plan_flag {
  PLAN_DROP_CAPS = 2,    /* give up every capability */
  PLAN_NOTIFY = 4,       /* the filter hands calls to the broker */
  PLAN_GATE = 8,         /* no pid namespace: end the tree by search, forks refused meanwhile */
  PLAN_READONLY_ROOT = 16,
  PLAN_OPENS_PROBED = 32, /* read-only opens are looked at and left to the kernel */
  PLAN_GIT_GUARD = 64,    /* configuration of git repositories may be created but not changed */
  PLAN_EXACT_ABI = 128,   /* a kernel with more Landlock than the plan uses is to be told, too */
  PLAN_ALLOW_LIST = 256,  /* what no rule allows is refused by the broker, not left to the kernel */
  PLAN_READS_JUDGED = 2048, /* some reads that the kernel allows are refused by the broker */
  PLAN_OBSERVE_ONLY = 1024, /* nothing is refused */
  PLAN_RECORD = 512,      /* what happens is written down, not only what is refused */
  PLAN_DOORS = 4096,      /* doors to the network are opened and handed to assay */
  PLAN_TRANSPARENT = 8192, /* connections to the door ranges are led to one of them */
  PLAN_BROKERED = 16384,   /* the broker alone connects, where assay says so; the channel is for asking */
  PLAN_LAZY_DOORS = 32768, /* each address gets a door when the program connects to it */
  PLAN_OFF_NETWORK = 65536, /* the host's network is not the program's */
  PLAN_NO_COPIES = 131072, /* of a program's descriptors: they are opened anew, and sockets replaced */
};

struct plan {
  char *bytes;
  uint32_t flags, namespaces;
  uint32_t uid, gid, parent_pid, landlock_abi;
  char **argv, **env;
  const char *cwd, *banner;
  size_t banner_len;
  struct mount_op *mounts;
  size_t mount_count;
  uint64_t ll_fs, ll_net, ll_scope;
  bool has_landlock;
  struct landlock_rule *ll_rules;
  size_t ll_rule_count;
  const void *filter;
  size_t filter_len;
  struct broker_rule *rules;
  size_t rule_count;
  struct rlimit_op *rlimits;
  size_t rlimit_count;
  struct door_range *door_ranges;
  size_t door_range_count;
  const char **cgroups;
  size_t cgroup_count;
  const char *scoped_dir; /* the private tmp outside */
  char **tmp_paths;       /* `private_count` places where it is seen inside, then what is shared inside those */
  uint32_t private_count;
  uint64_t timeout_ms, grace_ms, max_files, first_pid;
  uint64_t soft[SOFT_COUNT];
};

/* plan.c */
#define PLAN_END 16 /* the kind of its last record */
void plan_read(struct plan *plan, int fd);

/* report.c: lines of JSON appended to the plan's file, read by assay after the run */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_json_string(char *out, size_t cap, const char *bytes, size_t len);
extern void (*failure_hook)(const char *line); /* told instead, where there is no report yet */
extern bool is_report_in_memory;               /* no disk can be full, but there is only so much of it */
_Noreturn void die(const char *step, const char *what);
_Noreturn void die_errno(const char *step, const char *what);
void hold_reports(bool is_held);

/* record.c: lines on their way to the report, in memory that the supervisor shares with the keeper */
void stream_open(void);
void stream_flush(void);

/* early.c */
void note_early_signals(void);
void block_all_signals(void);
void take_early_signals(void);

/* match.c */
bool match_pattern(const char *pattern, const char *path);
bool match_prefix(const char *pattern, const char *dir);
bool path_is_under(const char *path, const char *dir, size_t dir_len);
size_t pattern_literal_len(const char *pattern, bool *is_literal);

/* boundary.c */
void bring_up_loopback(void);
struct owner {
  uint32_t namespaces, uid, gid;
};
unsigned long clone_flags(uint32_t kinds);
void enter_namespaces(struct owner owner);
void build_view(struct plan *plan);
void drop_capabilities(void);
void apply_landlock(const struct plan *plan);
void apply_landlock_scope(const struct plan *plan);
int landlock_abi(void);

/* passing.c */
ssize_t send_descriptor(int sock, const void *bytes, size_t len, int fd, int flags);
ssize_t receive_descriptor(int sock, void *bytes, size_t cap, int *fd);

/* doors.c */
void open_doors(const struct plan *plan);
int probe_doors(void);
int hand_door(const char *name, int type, int sock);
bool drop_answers(void);
extern uint32_t door_sandbox, door_call; /* whose doors, where several share the channel */

/* lazy.c */
struct sockaddr;
int allow_low_ports(void);
bool make_lazy_door(const struct plan *plan, const struct sockaddr *address, unsigned len);

/* keeper.c: first process inside, parent of the program, home of the broker */
struct keeper_pipes {
  int to_keeper, to_supervisor;
};
/* What the supervisor says to it. */
enum keeper_order { ORDER_PLAN = 'P', ORDER_GO = 'G', ORDER_SIGNAL = 'K', ORDER_END = 'Z' };
_Noreturn void run_keeper(struct plan *plan, struct owner owner, struct keeper_pipes pipes);

/* caller.c: 0, or why a broker cannot do this with `child`, which has executed nothing since it was forked */
int try_reading(pid_t child);
int try_copying(pid_t child, int fd);

/* broker.c */
struct broker;
struct broker *broker_start(struct plan *plan, int listener, pid_t program);
void broker_close_gate(struct broker *broker);
void broker_finish(struct broker *broker);

/* tree.c */
uint64_t count_threads(void);
bool is_descendant(pid_t pid);
/* What can be had of it, with a zero behind. */
size_t read_proc(pid_t pid, const char *name, char *text, size_t cap);
/* What stands behind the name of the program, which may hold anything. */
#define STAT_CAP 1024
const char *read_stat(pid_t pid, char text[STAT_CAP]);
struct sample {
  pid_t pid, parent;
  uint64_t cpu_ticks, rss_pages, threads;
  bool is_inside;
};
bool take_sample(pid_t pid, struct sample *s);
/* 0 where the text has no such name. */
uint64_t number_behind(const char *text, const char *name, int base);
void end_children(void);
void end_tree(const struct plan *plan, struct broker *broker);

/* usage.c */
const char *soft_limit_passed(const struct plan *plan, pid_t keeper);
void report_usage(void);

/* probe.c, remove.c: the helper's other uses */
int run_probe(void);
int run_remove(const char *path);
int remove_whole(int parent, const char *name);

#endif
