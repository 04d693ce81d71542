/* Memory, messages and keys shared with processes outside; the victim has put the secret into each. */
#include "attack.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

static void sysv_shm(void) {
    char *text = shmat((int)conf_number("shm_id"), NULL, SHM_RDONLY);
    if (text == (void *)-1) fail("shmat");
    puts(text);
}

static void sysv_msg(void) {
    struct { long type; char text[256]; } message;
    memset(&message, 0, sizeof message);
    if (msgrcv((int)conf_number("msg_id"), &message, sizeof message.text - 1, 0, IPC_NOWAIT) < 0) fail("msgrcv");
    puts(message.text);
}

static void posix_mq(void) {
    char text[8193] = "";
    mqd_t queue = mq_open(conf("mq"), O_RDONLY | O_NONBLOCK);
    if (queue == (mqd_t)-1) fail("mq_open");
    if (mq_receive(queue, text, 8192, NULL) < 0) fail("mq_receive");
    puts(text);
}

/* Keys of the user live in the kernel and are shared by all of the user's processes. */
static void key_read(void) {
    char text[256] = "";
    long key = syscall(SYS_keyctl, 10 /* SEARCH */, -4 /* user keyring */, "user", conf("key"), 0);
    if (key < 0) fail("keyctl search");
    if (syscall(SYS_keyctl, 11 /* READ */, key, text, sizeof text - 1) < 0) fail("keyctl read");
    puts(text);
}

/* A key that outlives us; the harness looks for it from outside. */
static void key_plant(void) {
    if (syscall(SYS_add_key, "user", token, "x", 1UL, -4L) < 0) fail("add_key");
}

const struct attack IPCS[] = {
    {"ipc-sysv-shm", sysv_shm}, {"ipc-sysv-msg", sysv_msg},   {"ipc-posix-mq", posix_mq},
    {"ipc-key-read", key_read}, {"ipc-key-plant", key_plant}, {NULL, NULL},
};
