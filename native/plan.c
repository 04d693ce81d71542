/* Reads the plan: "ASSAYPL1", then records of {u32 kind, u32 length, payload}. Everything is checked before anything is done. */
#define _GNU_SOURCE
#include "assay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum record {
  REC_FLAGS = 1, REC_ARGV, REC_ENV, REC_CWD, REC_MOUNTS, REC_LANDLOCK, REC_LANDLOCK_RULES, REC_FILTER,
  REC_BROKER_RULES, REC_RLIMIT, REC_CGROUP, REC_TIMES, REC_SOFT_LIMIT, REC_BANNER, REC_TMP, REC_END, REC_DOORS,
};

struct reader {
  const char *at, *end;
};

static uint32_t take_u32(struct reader *r) {
  if (r->end - r->at < 4) die("plan", "record is too short");
  uint32_t v;
  memcpy(&v, r->at, 4);
  r->at += 4;
  return v;
}

static uint64_t take_u64(struct reader *r) {
  uint64_t low = take_u32(r);
  return low | (uint64_t)take_u32(r) << 32;
}

static const char *take_string(struct reader *r) {
  const char *start = r->at, *nul = memchr(r->at, 0, (size_t)(r->end - r->at));
  if (!nul) die("plan", "string is not terminated");
  r->at = nul + 1;
  return start;
}

static void *grow(void *list, size_t count, size_t size) {
  if (count % 32) return list;
  list = realloc(list, (count + 32) * size);
  if (!list) die("plan", "out of memory");
  memset((char *)list + count * size, 0, 32 * size);
  return list;
}
#define APPEND(list, count) ((list) = grow((list), (count), sizeof *(list)), &(list)[(count)++])

static char **take_strings(struct reader *r) {
  char **list = NULL;
  size_t count = 0;
  while (r->at < r->end) *APPEND(list, count) = (char *)take_string(r);
  *APPEND(list, count) = NULL;
  return list;
}

static void take_flags(struct plan *plan, struct reader *r) {
  plan->flags = take_u32(r);
  plan->namespaces = take_u32(r);
  plan->uid = take_u32(r);
  plan->gid = take_u32(r);
  plan->parent_pid = take_u32(r);
  plan->landlock_abi = take_u32(r);
  plan->max_files = take_u64(r);
  plan->first_pid = take_u32(r);
}

/* Three strings a mount: four numbers, the source, the path. */
static void take_mounts(struct plan *plan, struct reader *r) {
  while (r->at < r->end) {
    struct mount_op *op = APPEND(plan->mounts, plan->mount_count);
    unsigned long long size, inodes;
    if (sscanf(take_string(r), "%u %u %llu %llu", &op->kind, &op->flags, &size, &inodes) != 4) die("plan", "not a mount");
    op->size_bytes = size;
    op->inodes = inodes;
    op->source = take_string(r);
    op->path = take_string(r);
    op->tree_fd = -1;
  }
}

static void take_landlock_rules(struct plan *plan, struct reader *r) {
  uint64_t access = take_u64(r);
  while (r->at < r->end) *APPEND(plan->ll_rules, plan->ll_rule_count) = (struct landlock_rule){access, take_string(r)};
}

/* A row of rules that differ in their pattern only; their ids count up. */
static void take_broker_rules(struct plan *plan, struct reader *r) {
  uint32_t id = take_u32(r), effect = take_u32(r), ops = take_u32(r);
  while (r->at < r->end) {
    struct broker_rule *rule = APPEND(plan->rules, plan->rule_count);
    *rule = (struct broker_rule){.id = id++, .effect = effect, .ops = ops, .pattern = take_string(r)};
    rule->literal_len = pattern_literal_len(rule->pattern, &rule->is_literal);
  }
}

static void take_soft_limit(struct plan *plan, struct reader *r) {
  uint32_t which = take_u32(r);
  uint64_t value = take_u64(r);
  if (which >= SOFT_COUNT) die("plan", "unknown limit");
  plan->soft[which] = value;
}

static void take_doors(struct plan *plan, struct reader *r) {
  while (r->at < r->end) {
    struct door_range *range = APPEND(plan->door_ranges, plan->door_range_count);
    char address[INET6_ADDRSTRLEN];
    unsigned prefix, from = 0, to = 0;
    int count = sscanf(take_string(r), "%45[0-9a-f:.]/%u %u-%u", address, &prefix, &from, &to);
    if ((count != 2 && count != 4) || from > to || to > UINT16_MAX) die("plan", "not a range of addresses");
    range->from = (uint16_t)from;
    range->to = (uint16_t)to;
    range->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    range->prefix = (uint8_t)prefix;
    if (prefix > (range->family == AF_INET ? 32 : 128) || inet_pton(range->family, address, range->address) != 1)
      die("plan", "not a range of addresses");
  }
}

static void take_record(struct plan *plan, uint32_t kind, struct reader *r) {
  switch (kind) {
    case REC_FLAGS: take_flags(plan, r); break;
    case REC_ARGV: plan->argv = take_strings(r); break;
    case REC_ENV: plan->env = take_strings(r); break;
    case REC_CWD: plan->cwd = take_string(r); break;
    case REC_MOUNTS: take_mounts(plan, r); break;
    case REC_LANDLOCK:
      plan->has_landlock = true;
      plan->ll_fs = take_u64(r);
      plan->ll_net = take_u64(r);
      plan->ll_scope = take_u64(r);
      break;
    case REC_LANDLOCK_RULES: take_landlock_rules(plan, r); break;
    case REC_FILTER:
      plan->filter = r->at;
      plan->filter_len = (size_t)(r->end - r->at);
      r->at = r->end;
      break;
    case REC_BROKER_RULES: take_broker_rules(plan, r); break;
    case REC_RLIMIT: {
      struct rlimit_op *op = APPEND(plan->rlimits, plan->rlimit_count);
      op->resource = take_u32(r);
      op->soft = take_u64(r);
      op->hard = take_u64(r);
      break;
    }
    case REC_CGROUP: *APPEND(plan->cgroups, plan->cgroup_count) = take_string(r); break;
    case REC_TIMES:
      plan->timeout_ms = take_u64(r);
      plan->grace_ms = take_u64(r);
      break;
    case REC_SOFT_LIMIT: take_soft_limit(plan, r); break;
    case REC_BANNER:
      plan->banner = r->at;
      plan->banner_len = (size_t)(r->end - r->at);
      r->at = r->end;
      break;
    case REC_TMP:
      plan->private_count = take_u32(r);
      plan->scoped_dir = take_string(r);
      plan->tmp_paths = take_strings(r);
      break;
    case REC_DOORS: take_doors(plan, r); break;
    default: die("plan", "unknown record");
  }
  if (r->at != r->end) die("plan", "record is too long");
}

static char *read_all(int fd, size_t *len) {
  struct stat st;
  if (fstat(fd, &st) || st.st_size < 16 || st.st_size > (64 << 20)) die("plan", "no plan to read");
  char *bytes = malloc((size_t)st.st_size);
  if (!bytes || pread(fd, bytes, (size_t)st.st_size, 0) != st.st_size) die("plan", "cannot read the plan");
  *len = (size_t)st.st_size;
  return bytes;
}

void plan_read(struct plan *plan, int fd) {
  size_t len;
  plan->bytes = read_all(fd, &len);
  struct reader all = {plan->bytes, plan->bytes + len};
  if (memcmp(all.at, "ASSAYPL1", 8)) die("plan", "not a plan");
  all.at += 8;
  for (bool done = false; !done;) {
    uint32_t kind = take_u32(&all), size = take_u32(&all);
    if (size > (size_t)(all.end - all.at)) die("plan", "record passes the end");
    struct reader body = {all.at, all.at + size};
    all.at += size;
    if (kind == REC_END) done = true;
    else take_record(plan, kind, &body);
  }
  size_t tmp_count = 0;
  while (plan->tmp_paths && plan->tmp_paths[tmp_count]) tmp_count++;
  if (plan->private_count > tmp_count) die("plan", "private tmp is missing");
  if (!plan->argv || !plan->argv[0] || !plan->env || !plan->cwd) die("plan", "no command");
}
