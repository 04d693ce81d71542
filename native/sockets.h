/* Addresses of sockets, as sockets.c, judge.c and dial.c share them. */
#ifndef ASSAY_SOCKETS_H
#define ASSAY_SOCKETS_H

#include "broker.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESS_CAP (PATH_CAP + 16)

union address {
  struct sockaddr any;
  struct sockaddr_un un;
  struct sockaddr_in in;
  struct sockaddr_in6 in6; /* the port is where sockaddr_in has it */
  char bytes[sizeof(struct sockaddr_storage)];
};

/* Where a program wants to go. An IPv4 address in the clothes of IPv6 is that of IPv4, and none at all is loopback. */
struct place {
  uint16_t family /* 4 or 6 */, port;
  uint8_t address[16];
};

/* sockets.c */
int option_of(int sock, int option);
void settle_family(int sock, union address *address);
void describe_address(int sock, const union address *address, socklen_t len, char out[ADDRESS_CAP]);
void refuse_address(const struct request *r, const char *op, const char *address, uint32_t rule);
bool is_beyond(const struct broker *b, int error);

/* abstract.c */
bool is_abstract(const union address *address, socklen_t len);
int bind_unnamed(const struct request *r, int sock, const union address *asked, socklen_t len);
int connect_abstract(const struct request *r, int sock, const union address *asked, socklen_t len, const char *described);

/* holders.c */
/* Called for each descriptor of a socket; true ends the search. */
typedef bool socket_visitor(pid_t tid, int number, ino_t ino, void *context);
int copy_socket(pid_t tid, int number, ino_t ino);
void search_processes(socket_visitor *visit, void *context);

/* judge.c */
bool is_still_allowed(const struct place *place);

/* dial.c */
enum { ELSEWHERE = 1 }; /* it may take long: to be done again, in a thread of its own */
bool is_judged(const struct broker *b, int domain);
int connect_judged(const struct request *r, int sock, int domain, const union address *asked, socklen_t len, char described[ADDRESS_CAP]);

/* dialled.c */
bool note_dialled(int sock, const struct place *place);
void review_dialled(void);

#endif
