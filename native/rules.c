/* The plan's rules over canonical paths. Which rules there are is the planner's business. */
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

/* The id of the rule that refuses, or 0. Ids start at 1. */
uint32_t find_refusal(const struct broker *b, const char *path, uint32_t ops) {
  for (size_t i = 0; i < b->plan->rule_count; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    if (!(rule->ops & ops) || (rule->effect != RULE_DENY && rule->effect != RULE_PROTECT) || !covers(rule, path)) continue;
    if (rule->effect == RULE_DENY || !is_lifted(b, rule->id, path)) return rule->id;
  }
  return 0;
}

/* Is each of the operations granted by some rule? Things without a place in the tree (pipes, memory) always are. */
bool is_covered(const struct broker *b, const char *path, uint32_t ops) {
  uint32_t left = ops;
  if (path[0] != '/' || !strncmp(path, "/memfd:", 7) || is_in_private_tmp(b, path)) return true;
  for (size_t i = 0; i < b->plan->rule_count && left; i++) {
    const struct broker_rule *rule = &b->plan->rules[i];
    if (rule->effect == RULE_ALLOW && (rule->ops & left) && covers(rule, path)) left &= ~rule->ops;
  }
  return !left;
}

/* Everything that may refuse an operation on a resolved path. */
uint32_t refusal_of(struct broker *b, const struct target *t, uint32_t ops) {
  uint32_t rule = find_refusal(b, t->path, ops);
  if (!rule && (ops & OP_WRITE) && guard_refuses(b, t)) rule = GUARD_RULE;
  if (!rule && (b->plan->flags & PLAN_ALLOW_LIST) && !is_covered(b, t->path, ops)) rule = NO_RULE;
  return rule;
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
        !(rule->effect == RULE_PROTECT && is_in_private_tmp(b, to)))
      return rule->id;
  }
  return 0;
}
