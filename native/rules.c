/* The plan's rules over canonical paths. Which rules there are is the planner's business. */
#define _GNU_SOURCE
#include "broker.h"

#include <string.h>

static bool covers(const struct broker_rule *rule, const char *path) {
  if (rule->is_literal) return path_is_under(path, rule->pattern, rule->literal_len);
  if (rule->literal_len > 1 && !path_is_under(path, rule->pattern, rule->literal_len)) return false;
  return match_pattern(rule->pattern, path);
}

bool is_in_private_tmp(const struct broker *b, const char *path) {
  bool is_private = false;
  for (uint32_t i = 0; b->plan->tmp_paths && b->plan->tmp_paths[i]; i++)
    if (path_is_under(path, b->plan->tmp_paths[i], strlen(b->plan->tmp_paths[i]))) {
      if (i >= b->plan->private_count) return false;
      is_private = true;
    }
  return is_private;
}

/* A lift bears the id of the rule that it lifts. */
static bool is_lifted(const struct broker *b, uint32_t id, const char *path) {
  if (is_in_private_tmp(b, path)) return true;
  for (size_t i = 0; i < b->plan->rule_count; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    if (rule->effect == RULE_LIFT && rule->id == id && covers(rule, path)) return true;
  }
  return false;
}

/* ---- which rules can be meant: most are about one name at any depth, and few paths have that name ---- */

static uint8_t hash_name(const char *name, size_t len) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
  return (uint8_t)(h ^ h >> 8 ^ h >> 16);
}

static bool is_refusing(const struct broker_rule *rule) { return rule->effect == RULE_DENY || rule->effect == RULE_PROTECT; }

/* The fixed name that a path must have for the rule to cover it; empty when there is none. */
static size_t fixed_name(const struct broker_rule *rule, const char **name) {
  if (strncmp(rule->pattern, "/**/", 4)) return 0;
  *name = rule->pattern + 4;
  size_t len = strcspn(*name, "/");
  return strcspn(*name, "*?[\\") < len ? 0 : len;
}

void index_rules(struct broker *b) {
  for (size_t i = b->plan->rule_count; i-- > 0;) {
    struct broker_rule *rule = &b->plan->rules[i];
    const char *name;
    if (!is_refusing(rule)) continue;
    size_t len = fixed_name(rule, &name);
    struct broker_rule **head = len ? &b->named_rules[hash_name(name, len)] : &b->other_rules;
    rule->next = *head;
    *head = rule;
  }
}

static const struct broker_rule *find_in(const struct broker *b, const struct broker_rule *rule, const char *path, uint32_t ops) {
  for (; rule; rule = rule->next)
    if ((rule->ops & ops) && covers(rule, path) && (rule->effect == RULE_DENY || !is_lifted(b, rule->id, path))) return rule;
  return NULL;
}

/* The id of the rule that refuses, or 0. Ids start at 1. */
uint32_t find_refusal(const struct broker *b, const char *path, uint32_t ops) {
  const struct broker_rule *found = find_in(b, b->other_rules, path, ops);
  for (const char *at = path; !found && *at;) {
    while (*at == '/') at++;
    size_t len = strcspn(at, "/");
    if (len) found = find_in(b, b->named_rules[hash_name(at, len)], path, ops);
    at += len;
  }
  return found ? found->id : 0;
}

/* Is each of the operations granted by some rule? Things without a place in the tree (pipes, memory) always are. */
bool is_covered(const struct broker *b, const char *path, uint32_t ops) {
  uint32_t left = ops;
  if (b->plan->flags & PLAN_OBSERVE_ONLY) return true;
  if (path[0] != '/' || !strncmp(path, "/memfd:", 7)) return true;
  /* A socket may have been moved there; whether the run made it is known otherwise. */
  if (!(ops & OP_CONNECT) && is_in_private_tmp(b, path)) return true;
  for (size_t i = 0; i < b->plan->rule_count && left; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    if (rule->effect == RULE_ALLOW && (rule->ops & left) && covers(rule, path)) left &= ~rule->ops;
  }
  return !left;
}

/* Does a grant for writing name the place that the first `len` bytes of the path are, or something in it? One for a
   directory above it does not. */
bool is_named_for_writing(const struct broker *b, const char *path, size_t len) {
  for (size_t i = 0; i < b->plan->rule_count; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    bool is_naming = rule->effect == RULE_ALLOW && rule->is_literal && (rule->ops & OP_WRITE) && rule->literal_len >= len;
    if (is_naming && covers(rule, path)) return true;
  }
  return false;
}

/* Everything that may refuse an operation on a resolved path. */
uint32_t refusal_of(struct broker *b, const struct target *t, uint32_t ops) {
  uint32_t rule = find_refusal(b, t->path, ops);
  if (!rule && (ops & OP_WRITE) && guard_refuses(b, t)) rule = GUARD_RULE;
  if (!rule && (b->plan->flags & PLAN_ALLOW_LIST) && !is_covered(b, t->path, ops)) rule = NO_RULE;
  return rule;
}

/* Protection comes back for the same name below a place that it was lifted from. What has that name is protected wherever
   it is made, so a directory that holds no such place does not bring it. */
static bool is_repeated(const struct broker *b, const struct broker_rule *rule, const char *from) {
  bool is_anywhere = false;
  const char *name = rule->effect == RULE_PROTECT ? strstr(rule->pattern + 1, "/**/") : NULL;
  for (size_t i = 0; name && i < b->plan->rule_count; i++) {
    const struct broker_rule *other = &b->plan->rules[i];
    if (other->effect == RULE_LIFT && path_is_under(other->pattern, from, strlen(from))) return false;
    is_anywhere |= other->effect == RULE_PROTECT && !strcmp(other->pattern, name);
  }
  return is_anywhere;
}

/* A rule over a fixed place must not lose its place, and a directory must not bring protected names with it. */
uint32_t find_rename_refusal(const struct broker *b, const char *from, const char *to, bool is_dir) {
  for (size_t i = 0; i < b->plan->rule_count; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    if (rule->effect != RULE_DENY && rule->effect != RULE_PROTECT) continue;
    if (rule->literal_len > 1 && path_is_under(rule->pattern, from, strlen(from)) &&
        rule->literal_len >= strlen(from))
      return rule->id;
    if (is_dir && (match_prefix(rule->pattern, to) || match_prefix(rule->pattern, from)) &&
        !(rule->effect == RULE_PROTECT && is_in_private_tmp(b, to)) && !is_repeated(b, rule, from))
      return rule->id;
  }
  return 0;
}

/* A file that is protected before it is there, such as one of the record, needs the directory that it is to be in. */
uint32_t find_rmdir_refusal(const struct broker *b, const char *dir) {
  for (size_t i = 0; i < b->plan->rule_count; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    bool is_protection = rule->effect == RULE_DENY && rule->ops == OP_WRITE && rule->is_literal;
    if (is_protection && path_is_under(rule->pattern, dir, strlen(dir))) return rule->id;
  }
  return 0;
}
