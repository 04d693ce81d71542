/* Questions to assay about connections, and its verdicts, as judge.c and dial.c share them. */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "sockets.h"

#define ENDPOINT_CAP 280

/* Both sides run on one machine, so numbers are as it has them; src/launch/judge-messages.ts has the same layout. */
enum { QUESTION = 1, CAME = 2 };
enum { IS_KEPT = 1, IS_AGAIN = 2, IS_REVIEW = 4 };
struct question {
  uint32_t kind, id /* with IS_KEPT: how often */, program;
  uint16_t port, own_port;
  uint32_t family; /* 4 or 6 */
  uint8_t address[16];
  uint32_t flags;
};

enum { ANSWER = 1, FORGET = 2 };
enum { MAY_KEEP = 1, IS_DOOR = 2, MAY_BE_OWN = 4 };
struct verdict {
  uint32_t kind, id;
  int32_t error;
  uint32_t flags, family;
  uint16_t port, unused;
  uint8_t address[16];
  char endpoint[ENDPOINT_CAP]; /* by which the record calls it; empty: by its address */
};

/* judge.c */
/* Without `may_wait` a channel that is full, or in use, is not waited for. */
bool send_question(const struct question *question, bool may_wait);
/* A verdict that still holds. */
bool find_kept(const struct request *r, const struct place *place, bool is_used, struct verdict *out);
int ask(const struct request *r, const struct place *place, uint32_t flags, struct verdict *out);
/* How often verdicts were taken back. */
unsigned times_forgotten(void);

#endif
