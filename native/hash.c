/* A hash that the program inside cannot steer. */
#define _GNU_SOURCE
#include "broker.h"

#include <string.h>

#define ROTATE(x, n) ((x) << (n) | (x) >> (64 - (n)))

/* SipHash-1-3: with a key that the program does not know, it cannot make two names look the same. */
uint64_t keyed_hash(const uint64_t key[2], const void *data, size_t len) {
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  const unsigned char *at = data;
  for (size_t left = len, is_last = 0; !is_last; at += 8) {
    uint64_t word = 0;
    is_last = left < 8;
    memcpy(&word, at, is_last ? left : 8);
    if (is_last) word |= (uint64_t)len << 56;
    else left -= 8;
    v[3] ^= word;
    for (int round = 0; round < (is_last ? 4 : 1); round++) {
      if (round == 1) v[0] ^= word, v[2] ^= 0xff;
      v[0] += v[1], v[1] = ROTATE(v[1], 13) ^ v[0], v[0] = ROTATE(v[0], 32);
      v[2] += v[3], v[3] = ROTATE(v[3], 16) ^ v[2];
      v[0] += v[3], v[3] = ROTATE(v[3], 21) ^ v[0];
      v[2] += v[1], v[1] = ROTATE(v[1], 17) ^ v[2], v[2] = ROTATE(v[2], 32);
    }
    if (!is_last) v[0] ^= word;
  }
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
