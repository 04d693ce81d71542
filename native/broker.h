/* Inside the broker: one request is one trapped call. It is performed here, on our own copy of its arguments and
   inside the same boundary, and the result is handed back. */
#ifndef ASSAY_BROKER_H
#define ASSAY_BROKER_H

#include "assay.h"
#include "uapi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define MAX_HELD 2048
#define FOREIGN_RULE 0xfffffffdu /* refused since the socket is of another network */
#define GUARD_RULE 0xfffffffeu   /* refused by the git guard */
#define NO_RULE 0xffffffffu      /* refused because nothing allows it */
#define LEASED (-4096)           /* no error of the kernel's: a lease on the file is in the way, see blocked.c */

/* Files that the run made itself. Each is held open, so that its number cannot come to mean another file. */
struct held_set {
  struct held_file {
    dev_t dev;
    ino_t ino;
    int fd;
    bool is_born; /* for git directories: it was none before */
  } items[MAX_HELD];
  size_t count;
};

/* See names.c. */
#define NAME_LOCKS 64
struct names {
  pthread_rwlock_t tree; /* no directory is moved while it is shared */
  pthread_rwlock_t locks[NAME_LOCKS];
};
struct name_hold {
  struct names *names; /* NULL: nothing is held */
  struct held_lock {
    unsigned number;
    bool is_changed;
  } locks[4];
  size_t count;
};

/* An image that ran, and the program that executed it. */
struct program {
  uint32_t id, parent;
  const char *image, *script;
  char digest[65];
  int64_t digested_ns;
  struct stat st;
  bool is_predicted; /* ended before it was seen */
  unsigned depth, starts, command_count;
  uint64_t commands[16];
};

struct record;
struct program_table;

struct broker {
  struct plan *plan;
  int listener;
  dev_t proc_dev;
  mode_t launch_umask;
  atomic_bool is_gate_closed, is_parallel, has_second;
  atomic_ulong files_created, refusals;
  atomic_uint unrecorded; /* calls that were answered and are about to be recorded */
  atomic_ulong unread;    /* calls of processes that do not let themselves be looked into */
  atomic_uint place_turn;
  atomic_uint move_turn; /* how many directories were moved */
  int root_fd;
  struct broker_rule *named_rules[256], *other_rules;
  pthread_mutex_t lock; /* the sets */
  struct names names;
  struct held_set created_configs, bound_sockets, git_dirs, git_file_dirs;
  struct record *record;
  struct program_table *programs;
};

/* The mask of a process or thread, as long as nobody has changed one since. */
struct known_mask {
  unsigned turn; /* 0: not known */
  mode_t mask;
};

/* What is found out about one call while it is performed. */
struct attempt {
  uint32_t program;
  struct known_mask *mask; /* of the caller, where it is known who that is; else NULL */
  int pidfd; /* of the caller, where it is known; else -1 */
  int dir;   /* a copy of the caller's descriptor that the call names as its directory, until open_base() takes it; else -1 */
  bool is_refused; /* and has been recorded as that */
  bool is_begun;   /* a connection that this call began, and that is waited for elsewhere */
  bool is_unread;  /* and has been counted as that */
  int socket_flags, socket_error; /* of the socket for which another stands in: how it was opened, why it is not to connect */
  const char *link_text; /* of a symbolic link that is to be made */
  char requested[4096];
};

struct request {
  struct broker *broker;
  struct attempt *attempt;
  uint64_t id;
  pid_t tid;
  int nr;
  uint64_t args[6];
};

/* The kernel's own, which the C library of a 64-bit machine calls 0: there every file may be large. */
#ifdef __x86_64__
#define LARGEFILE_ 0100000
#else
#define LARGEFILE_ 0400000
#endif
/* What openat2 knows; openat ignores the rest, so it is left out. */
#define OPENAT2_FLAGS \
  (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_ASYNC | O_DIRECT | LARGEFILE_ | \
   O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC)

/* How the last name of a path is taken. A trailing slash follows a link for calls that use what is there, not for those
   that make, remove or move the name itself. */
enum { FOLLOW = 1, NAME_ONLY = 2, NAME_SEEN = 3 /* the same, and what it names is not held */ };

/* What a path names, held by descriptors, so that checks and the operation concern the same thing. */
struct target {
  int parent;     /* directory that holds `name`, or -1 */
  int object;     /* the thing itself (O_PATH), or -1 when absent */
  char name[256]; /* empty when the path ends in `.`, `..` or a descriptor link */
  struct stat st;
  bool exists, must_be_dir, is_dotdot;
  int own_fd; /* the path was /proc/self/fd/N of the caller: N, else -1 */
  char path[PATH_CAP];
};

/* caller.c */
pid_t thread_group(pid_t tid);
int open_anew(const struct request *r, int fd);
int fetch_descriptor(const struct request *r, int fd);
int fetch_flags(const struct request *r, int fd, int copy);
bool can_copy(const struct request *r);
int fetch_string(const struct request *r, uint64_t address, char *out, size_t cap);
int fetch_bytes(const struct request *r, uint64_t address, void *out, size_t len);
bool is_still_waiting(const struct request *r);
bool has_free_number(const struct request *r);
bool is_too_long(const struct request *r, const struct target *t, off_t length);

/* resolve.c */
int open_base(const struct request *r, int dirfd, const char *path);
void close_base(const struct request *r, int base);
int resolve(const struct request *r, int base, const char *path, int follow, struct target *t);
void clear_target(struct target *t);
void release(struct target *t);
void canonical_path(int fd, char *out, size_t cap);

/* awake.c */
void awake_start(const struct plan *plan);
void awake_call(const struct broker *b, pid_t tid);

/* spread.c */
void spread_start(void);
void spread_receiver(bool is_second, bool is_parallel);

/* names.c */
void names_start(struct broker *b);
void hold_names(struct broker *b, const char *path, const char *other, struct name_hold *hold);
void hold_all_names(struct broker *b, struct name_hold *hold);
void let_names_go(struct name_hold *hold);

/* copies.c */
#define RECEIVERS 2
void number_receiver(unsigned number);
void copy_is_out(bool is_writable);
void copy_is_closed(bool is_writable);
void wait_for_writers(void);
void wait_for_copies(void);

/* places.c */
void forget_places(struct broker *b);
void directory_path(struct broker *b, int fd, char *out, size_t cap);

/* rules.c */
void index_rules(struct broker *b);
uint32_t find_refusal(const struct broker *b, const char *path, uint32_t ops);
bool is_covered(const struct broker *b, const char *path, uint32_t ops);
bool is_named_for_writing(const struct broker *b, const char *path, size_t len);
uint32_t find_rename_refusal(const struct broker *b, const char *from, const char *to, bool is_dir);
uint32_t find_rmdir_refusal(const struct broker *b, const char *dir);
bool is_in_private_tmp(const struct broker *b, const char *path);

uint32_t refusal_of(struct broker *b, const struct target *t, uint32_t ops);

/* guard.c */
bool guard_refuses(struct broker *b, const struct target *t);
bool guard_refuses_removal(struct broker *b, const struct target *t);
void guard_note(struct broker *b, const struct target *t);
void guard_finish(struct broker *b);
bool is_held(struct broker *b, struct held_set *set, const struct stat *st);
bool hold(struct broker *b, struct held_set *set, int at, const char *name, bool is_born);

/* record.c */
enum fact_basis { FACT_PERFORMED, FACT_OBSERVED, FACT_PREDICTED };
enum fact_flag {
  FACT_DIRECTORY = 1,
  FACT_REPLACES = 2,
  FACT_KERNEL = 4,
  FACT_EXCHANGES = 8, /* a rename by which the other name moves too */
  FACT_RETURNS = 16,  /* that other move */
  FACT_STAYS = 24,    /* a rename between two names of one file, or a FIFO or device that is written to: what has the name stays as it is */
  FACT_EACH = 32      /* has a place among the changes, though the same was told before: what a path means depends on it */
};
struct fact {
  const char *op, *path, *target;
  int error; /* 0, an errno, or -1 when only the failure is known */
  uint32_t rule, flags;
  enum fact_basis basis;
  const struct stat *before, *replaced; /* what was at `path` when this was done, and, of a rename, at `target` */
};
struct pair_list {
  const char *name;
  size_t len;
  char bytes[4096];
};
void record_start(struct broker *b);
void record_fact(const struct request *r, struct fact fact);
void record_program(struct broker *b, const struct program *program);
void record_command(struct broker *b, uint32_t program, const char *bytes, size_t len, bool is_cut);
void record_append(struct broker *b, const char *line, size_t len);
uint32_t record_age(const struct broker *b);
void record_finish(struct broker *b);
void note_hidden(struct broker *b, const char *path);

/* hash.c */
uint64_t keyed_hash(const uint64_t key[2], const void *data, size_t len);

/* pairs.c */
void record_pair(struct broker *b, struct pair_list *list, unsigned long long first, unsigned long long second);
void record_pairs_end(struct broker *b, struct pair_list *list);
void record_socket(struct broker *b, uint32_t program, const char *address, unsigned port);

/* programs.c */
void programs_start(struct broker *b, pid_t program);
void identify(const struct request *r, bool is_new_image);
bool expect_exec(const struct request *r, const struct target *t, bool is_refusal);
void forget_exec(const struct request *r);
void settle_exec(const struct request *r);
void programs_finish(struct broker *b);

static inline int64_t nanoseconds(struct timespec t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec; }

/* timeless.c */
void timeless_start(void);
bool is_timeless(dev_t device);

/* digest.c */
void file_digest(int fd, char out[65]);

/* broker.c */
void answer(const struct request *r, int64_t value, int error);
int give_descriptor(const struct request *r, int fd, bool is_cloexec);
int give_answer(const struct request *r, int fd, bool is_cloexec);
int replace_descriptor(const struct request *r, int number, int fd, bool is_cloexec);
bool answer_continue(const struct request *r);

/* stand-in.c */
int fetch_socket(const struct request *r);
void put_socket(const struct request *r, int sock);

/* umask.c */
void own_mask(void);
void let_mask_go(void);
void note_umask(const struct request *r);
void doubt_mask_of(pid_t tid);
void use_umask_of(const struct request *r);

/* blocked.c */
bool in_own_thread(const struct request *r, void (*perform)(const struct request *));
bool is_in_own_thread(void);
bool has_signal_due(pid_t tid);
bool is_being_killed(pid_t tid);
bool is_disturbed_in_vain(const struct request *r);
void try_until_unleased(const struct request *r, bool (*try_once)(const struct request *), void (*perform)(const struct request *));

/* files.c */
void object_link(const struct target *t, char out[32]);
int fetch_path(const struct request *r, uint64_t address);
int resolve_fetched(const struct request *r, int dirfd, int follow, bool empty_ok, struct target *t);
int resolve_argument(const struct request *r, int dirfd, uint64_t address, int follow, bool empty_ok, struct target *t);
bool has_moved(const struct target *t);
bool has_no_name(const struct target *t);
bool may_create(struct broker *b);
bool is_setuid_refused(const struct request *r, mode_t mode);
void note_refusal(const struct request *r, const char *op, const char *path, uint32_t rule, int error);
void note_outcome(const struct request *r, struct fact fact);
void note_kernel_refusal(const struct request *r, const char *op, const char *path, uint32_t ops, int error);

/* attributes.c */
void change_attributes(const struct request *r, int dirfd, uint64_t path, int flags, bool by_descriptor);

/* plain.c */
int open_plainly(const struct request *r, int dirfd, int flags, struct target *t);

/* judge.c */
void judge_start(void);
void judge_finish(void);

/* open.c, change.c, sockets.c */
void perform_open(const struct request *r);
void perform_path_call(const struct request *r);
void perform_connect(const struct request *r);
void perform_bind(const struct request *r);
void perform_listen(const struct request *r);

/* sends.c */
void watch_send(const struct request *r);
void refuse_socket(const struct request *r);


#endif
