/* The record: every distinct thing that happened is written once, when it is first seen, and counted after that; but
   moves of directories each time. Lines wait in memory that the supervisor shares, so that they outlive the keeper. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define STREAM_CAP (1u << 18)
#define LINE_CAP (1u << 17) /* three paths of 4,096 bytes at six characters each, and the rest */
#define RESERVE (4u << 20)
#define LAST_WORDS (1u << 16)
#define MEMORY_CAP (16u << 20) /* of a record that is kept in memory, which is the sandbox's own */
#define FLUSH_MS 100
#define FIRST_SLOTS 4096
#define MAX_SLOTS (1u << 21)
#define MAX_QUIET_REFUSALS 4096 /* a run that is not recorded names this many, and counts the rest */

struct stream {
  _Atomic uint32_t len;
  char bytes[STREAM_CAP];
};

struct slot {
  uint64_t hash;
  uint32_t id, count;
};

struct record {
  pthread_mutex_t lock;
  uint64_t key[2];
  struct slot *slots;
  size_t slot_count, used, quiet_bytes;
  uint32_t next_id;
  uint64_t started_ms;
};

static struct stream *stream; /* one a process tree: made before the keeper is */
static atomic_ulong lost;
static off_t reserved;

/* ---- writing ---- */

void stream_open(void) {
  stream = mmap(NULL, sizeof *stream, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (stream == MAP_FAILED) die_errno("record", "memory");
}

/* Some room is always held in advance, so that a program that fills the disk does not hide what it does next. When that
   is used up, the last of it is left for how the run ended and for how much could not be written. */
static bool has_room(size_t len) {
  off_t end = lseek(PLAN_FD, 0, SEEK_END);
  if (is_report_in_memory) return end + (off_t)len <= (off_t)MEMORY_CAP;
  if (end < 0 || end + (off_t)len + RESERVE / 2 < reserved) return true;
  for (off_t size = RESERVE; size > LAST_WORDS; size /= 4)
    if (end + size > reserved && !fallocate(PLAN_FD, FALLOC_FL_KEEP_SIZE, end, size)) {
      reserved = end + size;
      break;
    }
  return !reserved || end + (off_t)len + LAST_WORDS <= reserved; /* not every file system can promise room */
}

void stream_flush(void) {
  if (!stream) return;
  uint32_t len = atomic_load(&stream->len), done = 0;
  if (!len) return;
  for (bool is_open = has_room(len); is_open && done < len;) {
    ssize_t wrote = write(PLAN_FD, stream->bytes + done, len - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += (uint32_t)wrote;
  }
  for (uint32_t i = done; i < len; i++) lost += stream->bytes[i] == '\n';
  atomic_store(&stream->len, 0);
}

static void append(const char *line, size_t len) {
  if (atomic_load(&stream->len) + len > STREAM_CAP) stream_flush();
  uint32_t at = atomic_load(&stream->len);
  memcpy(stream->bytes + at, line, len);
  atomic_store(&stream->len, at + (uint32_t)len); /* after the bytes: half a line is never seen */
}

struct line {
  char *bytes;
  size_t len;
};

static void put(struct line *line, const char *text) {
  size_t len = strlen(text);
  memcpy(line->bytes + line->len, text, len);
  line->len += len;
}

static void put_number(struct line *line, long long value) {
  char digits[24];
  size_t n = sizeof digits;
  unsigned long long rest = value < 0 ? -(unsigned long long)value : (unsigned long long)value;
  do digits[--n] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) digits[--n] = '-';
  memcpy(line->bytes + line->len, digits + n, sizeof digits - n);
  line->len += sizeof digits - n;
}

static void put_string(struct line *line, const char *text) {
  size_t room = LINE_CAP - line->len - 256;
  line->bytes[line->len++] = '"';
  report_json_string(line->bytes + line->len, room, text, strlen(text));
  line->len += strlen(line->bytes + line->len);
  line->bytes[line->len++] = '"';
}

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)nanoseconds(t) / 1000000;
}

uint32_t record_age(const struct broker *b) { return (uint32_t)(now_ms() - b->record->started_ms); } /* 32 bits are 49 days */

/* The time of the last change of any kind, which nobody can set, is left out where it does not tell. */
static void put_state(struct line *line, const struct stat *st, const char *start) {
  char text[128] = "";
  if (st) snprintf(text, sizeof text, "%s%llu:%llu:%lld:%lld:", start, (unsigned long long)st->st_dev, (unsigned long long)st->st_ino,
           (long long)st->st_size, (long long)nanoseconds(st->st_mtim));
  put(line, text);
  if (st && !is_timeless(st->st_dev)) put_number(line, nanoseconds(st->st_ctim));
}

/* When it was first seen. */
static void put_age(struct broker *b, struct line *line) {
  put(line, "\",");
  put_number(line, record_age(b));
}

/* There is one line at a time: it is begun with the lock, and ended with it. */
static struct line new_line(struct broker *b, const char *start) {
  static char bytes[LINE_CAP];
  pthread_mutex_lock(&b->record->lock);
  struct line line = {bytes, 0};
  put(&line, start);
  return line;
}

static void end_line(struct broker *b, struct line *line, const char *end) {
  put(line, end);
  line->bytes[line->len++] = '\n';
  append(line->bytes, line->len);
  pthread_mutex_unlock(&b->record->lock);
}

/* ---- what was seen before ---- */

static struct slot *find_slot(struct slot *slots, size_t count, uint64_t hash) {
  size_t at = hash & (count - 1);
  while (slots[at].hash && slots[at].hash != hash) at = (at + 1) & (count - 1);
  return &slots[at];
}

static void grow_slots(struct record *record) {
  size_t count = record->slot_count ? record->slot_count * 2 : FIRST_SLOTS;
  struct slot *slots = count > MAX_SLOTS ? NULL : calloc(count, sizeof *slots);
  if (!slots) return;
  for (size_t i = 0; i < record->slot_count; i++)
    if (record->slots[i].hash) *find_slot(slots, count, record->slots[i].hash) = record->slots[i];
  free(record->slots);
  record->slots = slots;
  record->slot_count = count;
}

/* The number of something new, or 0 when it was seen before. With a full table all is new: repeated, not lost. */
static uint32_t first_sighting(struct record *record, uint64_t hash) {
  if (!hash) return ++record->next_id; /* not to be counted */
  if (record->used * 4 >= record->slot_count * 3) grow_slots(record);
  if (record->used * 8 >= record->slot_count * 7) return ++record->next_id;
  struct slot *slot = find_slot(record->slots, record->slot_count, hash);
  slot->count++;
  if (slot->hash) return 0;
  slot->hash = hash;
  slot->id = ++record->next_id;
  record->used++;
  return slot->id;
}

static bool is_first(struct broker *b, uint64_t hash, size_t len, uint32_t *id) {
  struct record *record = b->record;
  pthread_mutex_lock(&record->lock);
  bool fits = b->plan->flags & PLAN_RECORD || (record->used < MAX_QUIET_REFUSALS && record->quiet_bytes + len < REPORT_CAP);
  *id = fits ? first_sighting(record, hash) : 0;
  if (*id) record->quiet_bytes += len;
  pthread_mutex_unlock(&record->lock);
  return *id != 0;
}

/* ---- the lines ---- */

/* What is changed after a directory was moved may be another thing than what was changed by the same name before. */
static uint32_t turn_of(const struct broker *b, const struct fact *fact) {
  bool is_change = !fact->error && !fact->rule && fact->path[0] == '/' && strcmp(fact->op, "read") && strcmp(fact->op, "exec");
  return is_change ? atomic_load(&b->move_turn) : 0;
}

static uint64_t hash_fact(const struct request *r, const struct fact *fact, uint32_t turn) {
  char bytes[PATH_CAP * 2 + 64];
  uint32_t numbers[5] = {r->attempt->program, (uint32_t)fact->error, fact->rule, fact->flags, turn};
  size_t len = sizeof numbers;
  const char *parts[] = {fact->op, fact->path, fact->target};
  memcpy(bytes, numbers, sizeof numbers);
  for (size_t i = 0; i < 3; i++) {
    size_t part = strnlen(parts[i], PATH_CAP - 32) + 1; /* with its end, which keeps the parts apart */
    memcpy(bytes + len, parts[i], part);
    len += part;
  }
  return keyed_hash(r->broker->record->key, bytes, len);
}

static long long rule_number(uint32_t rule) { return rule == FOREIGN_RULE ? -3 : rule == NO_RULE ? -2 : rule == GUARD_RULE ? -1 : (long long)rule; }

void record_fact(const struct request *r, struct fact fact) {
  struct broker *b = r->broker;
  uint32_t id;
  if (!fact.target) fact.target = "";
  if (fact.rule) {
    if (fact.basis != FACT_PREDICTED) r->attempt->is_refused = true;
    atomic_fetch_add(&b->refusals, 1);
  } else if (!(b->plan->flags & PLAN_RECORD) || r->attempt->is_refused) return;
  uint32_t turn = turn_of(b, &fact);
  if (!is_first(b, fact.flags & FACT_EACH ? 0 : hash_fact(r, &fact, turn), strlen(fact.path) + strlen(fact.target) + 128, &id)) return;
  if (turn) fact.flags |= FACT_EACH; /* as if it were new */
  const char *requested = r->attempt->requested;
  struct line line = new_line(b, "{\"e\":[");
  put_number(&line, id);
  put(&line, ",");
  put_number(&line, r->attempt->program);
  put(&line, ",\"");
  put(&line, fact.op);
  put(&line, "\",");
  put_string(&line, fact.path);
  put(&line, ",");
  put_string(&line, strcmp(requested, fact.path) ? requested : "");
  put(&line, ",");
  put_number(&line, fact.error);
  put(&line, fact.basis == FACT_PREDICTED ? ",\"d\"," : fact.basis == FACT_OBSERVED ? ",\"o\"," : ",\"p\",");
  put_number(&line, rule_number(fact.rule));
  put(&line, ",");
  put_string(&line, fact.target);
  put(&line, ",");
  put_number(&line, fact.flags);
  put(&line, ",\"");
  put_state(&line, fact.before, "");
  put_state(&line, fact.replaced, ",");
  put_age(b, &line);
  end_line(b, &line, "]}");
}

/* Not there inside; whether it is there outside, and so was hidden, assay finds out afterwards. */
void note_hidden(struct broker *b, const char *path) {
  char key[PATH_CAP + 8];
  uint32_t id;
  int len = snprintf(key, sizeof key, "hidden %s", path);
  if (!is_first(b, keyed_hash(b->record->key, key, (size_t)len), (size_t)len + 64, &id)) return;
  struct line line = new_line(b, "{\"absent\":");
  put_string(&line, path);
  end_line(b, &line, "}");
}

static void flush_now(struct broker *b) {
  pthread_mutex_lock(&b->record->lock);
  stream_flush();
  pthread_mutex_unlock(&b->record->lock);
}

/* The first is written down at once: whatever happens to us, it is known that something ran. */
void record_program(struct broker *b, const struct program *program) {
  const struct stat *st = &program->st;
  char numbers[160];
  struct line line = new_line(b, "{\"p\":[");
  put_number(&line, program->id);
  put(&line, ",");
  put_number(&line, program->parent);
  put(&line, ",");
  put_string(&line, program->image);
  put(&line, ",");
  put_string(&line, program->script);
  snprintf(numbers, sizeof numbers, ",\"%llu\",\"%llu\",\"%lld\",\"%lld\",\"%lld\",\"", (unsigned long long)st->st_dev,
           (unsigned long long)st->st_ino, (long long)st->st_size, (long long)nanoseconds(st->st_mtim),
           (long long)nanoseconds(st->st_ctim));
  put(&line, numbers);
  put(&line, program->digest);
  put_age(b, &line);
  end_line(b, &line, program->is_predicted ? ",true]}" : ",false]}");
  if (program->id == 1) flush_now(b);
}

/* `bytes` holds the arguments one after another, each with its end. */
void record_command(struct broker *b, uint32_t program, const char *bytes, size_t len, bool is_cut) {
  struct line line = new_line(b, "{\"a\":[");
  put_number(&line, program);
  put(&line, ",[");
  for (const char *at = bytes; at < bytes + len; at += strlen(at) + 1) {
    if (at > bytes) put(&line, ",");
    put_string(&line, at);
  }
  end_line(b, &line, is_cut ? "],true]}" : "],false]}");
}

static void *flush_often(void *argument) {
  for (;;) {
    nanosleep(&(struct timespec){0, FLUSH_MS * 1000000L}, NULL);
    flush_now(argument);
  }
  return NULL;
}

void record_start(struct broker *b) {
  pthread_t thread;
  b->record = calloc(1, sizeof *b->record);
  if (!b->record || getrandom(b->record->key, sizeof b->record->key, 0) != sizeof b->record->key) die_errno("record", "start");
  pthread_mutex_init(&b->record->lock, NULL);
  b->record->started_ms = now_ms();
  if (b->plan->flags & PLAN_RECORD) has_room(0); /* before the program can take it */
  if (b->plan->flags & PLAN_RECORD && pthread_create(&thread, NULL, flush_often, b)) die_errno("record", "flush");
}

/* A whole line, made elsewhere. */
void record_append(struct broker *b, const char *line, size_t len) {
  pthread_mutex_lock(&b->record->lock);
  append(line, len);
  pthread_mutex_unlock(&b->record->lock);
}

void record_finish(struct broker *b) {
  struct record *record = b->record;
  struct pair_list counts = {.name = "c"};
  for (size_t i = 0; i < record->slot_count; i++)
    if (record->slots[i].count > 1) record_pair(b, &counts, record->slots[i].id, record->slots[i].count);
  record_pairs_end(b, &counts);
  pthread_mutex_lock(&record->lock); /* never given back: nothing is written after this */
  stream_flush();
  report_line("{\"refusals\":%lu}", atomic_load(&b->refusals));
  if (lost) report_line("{\"lost\":%lu}", lost);
}
