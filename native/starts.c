/* The programs that were started, each with the one that started it, and the layouts that they were given. */
#define _GNU_SOURCE
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

/* ---- layouts ---- */

static struct layout *find_layout(struct layout *list, size_t cap, uint64_t hash) {
  size_t at = hash & (cap - 1);
  while (list[at].hash && list[at].hash != hash) at = (at + 1) & (cap - 1);
  return &list[at];
}

uint32_t program_of_layout(const struct program_table *table, uint64_t hash) {
  return table->layout_cap ? find_layout(table->layouts, table->layout_cap, hash)->program : 0;
}

void keep_layout(struct program_table *table, uint64_t hash, uint32_t program) {
  if (table->layout_count * 4 >= table->layout_cap * 3) {
    size_t cap = table->layout_cap ? table->layout_cap * 2 : 1024;
    struct layout *grown = calloc(cap, sizeof *grown);
    if (!grown) die("record", "out of memory");
    for (size_t i = 0; i < table->layout_cap; i++)
      if (table->layouts[i].hash) *find_layout(grown, cap, table->layouts[i].hash) = table->layouts[i];
    free(table->layouts);
    table->layouts = grown;
    table->layout_cap = cap;
  }
  struct layout *slot = find_layout(table->layouts, table->layout_cap, hash);
  if (!slot->hash) table->layout_count++;
  *slot = (struct layout){hash, program};
}

/* ---- programs ---- */

static struct program *program_by_id(struct program_table *table, uint32_t id) { return id ? &table->list[id - 1] : NULL; }

static bool is_alike(const struct program *a, const struct program *b) {
  return !strcmp(a->image, b->image) && !strcmp(a->script, b->script) && !strcmp(a->digest, b->digest);
}

/* Programs that execute each other over and over do not make an endless line: deep in it, one that was started by the like
   of its parent is the same. */
static struct program *find_program(struct program_table *table, const struct program *like) {
  struct program *parent = program_by_id(table, like->parent), *alike = NULL;
  bool is_deep = parent && parent->depth >= MAX_DEPTH;
  for (size_t i = table->count; i-- > 0;) {
    struct program *p = &table->list[i];
    if (!is_alike(p, like) || p->is_predicted != like->is_predicted) continue;
    if (p->parent == like->parent) return p;
    if (is_deep && p->parent && is_alike(program_by_id(table, p->parent), parent)) alike = p;
  }
  return alike;
}

/* What was not seen in its life may be seen in its forks. */
struct program *find_predicted(struct program_table *table, const struct program *like) {
  for (size_t i = table->count; i-- > 0;) {
    struct program *p = &table->list[i];
    if (p->is_predicted && !strcmp(p->image, like->image) && p->st.st_dev == like->st.st_dev && p->st.st_ino == like->st.st_ino) return p;
  }
  return NULL;
}

static struct program *add_program(struct broker *b, const struct program *found) {
  struct program_table *table = b->programs;
  if (table->count == table->cap) {
    table->cap = table->cap ? table->cap * 2 : 64;
    table->list = realloc(table->list, table->cap * sizeof *table->list);
    if (!table->list) die("record", "out of memory");
  }
  struct program *p = &table->list[table->count++], *parent = program_by_id(table, found->parent);
  *p = *found;
  p->id = (uint32_t)table->count;
  p->depth = parent ? parent->depth + 1 : 1;
  p->image = strdup(found->image);
  p->script = strdup(found->script);
  if (!p->image || !p->script) die("record", "out of memory");
  record_program(b, p);
  return p;
}

struct program *count_start(struct broker *b, const struct program *found) {
  struct program *p = find_program(b->programs, found);
  if (!p) p = add_program(b, found);
  p->starts++;
  return p;
}
