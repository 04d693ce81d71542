import { count, type Workload, writeTree } from '../workload.ts';

const PARTS = count(20);

const MAKEFILE = `OBJECTS = $(patsubst src/%.c,obj/%.o,$(wildcard src/*.c))
program: main.c libparts.a
	cc -O1 -Iinclude -o $@ $^
libparts.a: $(OBJECTS)
	ar rcs $@ $(sort $(OBJECTS))
obj/%.o: src/%.c include/parts.h | obj
	cc -O1 -Iinclude -MMD -c -o $@ $<
obj:
	mkdir $@
check: program
	./program > answer.txt
	sed -i 's/sum/total/' answer.txt
`;

export const makeWorkload: Workload = {
  name: 'make -j2 with twenty C files',
  tools: ['make', 'cc', 'ar', 'sed'],
  command: ['make', '-s', '-j2', 'check'],
  prepare(dir) {
    const calls = PARTS.map((n) => `sum += part_${n}(${n});`).join(' ');
    writeTree(dir, {
      Makefile: MAKEFILE,
      'include/parts.h': PARTS.map((n) => `int part_${n}(int x);\n`).join(''),
      'main.c': `#include <stdio.h>
#include "parts.h"
int main(void) { int sum = 0; ${calls} printf("sum %d\\n", sum); return 0; }
`,
    });
    for (const n of PARTS)
      writeTree(dir, {
        [`src/part_${n}.c`]: `#include "parts.h"\nint part_${n}(int x) { return x * ${n}; }\n`,
      });
  },
};
