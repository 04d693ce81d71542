/* Ctrl-C and Ctrl-Z go to the whole foreground group, the program included; so whoever stands between it and the terminal
   leaves them to it. But while a run is being set up there is no program yet. Until there is, they are noted, by each
   process for the one that it starts: the kernel starts none between the arrival of a signal and its handler. */
#define _GNU_SOURCE
#include "assay.h"

#include <signal.h>
#include <unistd.h>

static const int FROM_TERMINAL[] = {SIGINT, SIGQUIT, SIGTSTP};
#define COUNT (sizeof FROM_TERMINAL / sizeof *FROM_TERMINAL)

static volatile sig_atomic_t has_come[NSIG];

static void note(int sig) { has_come[sig] = 1; }

/* What goes on is not to stop any more. */
static void forget_stop(int sig) { (void)sig, has_come[SIGTSTP] = 0; }

/* Everything else waits until somebody asks for it. */
void note_early_signals(void) {
  struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, go_on = {.sa_handler = forget_stop, .sa_flags = SA_RESTART};
  sigset_t others;
  sigfillset(&others);
  sigaction(SIGCONT, &go_on, NULL);
  sigdelset(&others, SIGCONT);
  for (size_t i = 0; i < COUNT; i++) {
    sigaction(FROM_TERMINAL[i], &action, NULL);
    sigdelset(&others, FROM_TERMINAL[i]);
  }
  sigprocmask(SIG_SETMASK, &others, NULL);
}

void block_all_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
}

/* In the program's own process: it gets what has come before it was there. */
void take_early_signals(void) {
  sigset_t none;
  for (size_t i = 0; i < COUNT; i++)
    if (has_come[FROM_TERMINAL[i]]) kill(getpid(), FROM_TERMINAL[i]);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}
