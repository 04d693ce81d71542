/* Programs that say what they are, and ways to start them. */
#ifndef SAID_H
#define SAID_H
#include "attack.h"

extern char *said_words[]; /* makes a copy of this program say what it is */

void prepare_said(void);
pid_t start_said(const char *path);
void run_said(const char *path); /* and waits for its end */

#endif
