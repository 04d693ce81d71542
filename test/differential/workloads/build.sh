set -u
say() { echo "== $*"; "$@"; echo "=> $?"; }
mkdir project && cd project && mkdir src include
for i in $(seq 1 30); do
  echo "int part_$i(int x);" >>include/parts.h
  printf '#include <math.h>\n#include "parts.h"\nint part_%d(int x) { return (int)sqrt(x * %d); }\n' "$i" "$i" >"src/part_$i.c"
done
{
  echo '#include <stdio.h>'
  echo '#include "parts.h"'
  echo 'int main(void) { int sum = 0;'
  for i in $(seq 1 30); do echo "sum += part_$i($i);"; done
  echo 'printf("%d\n", sum); return 0; }'
} >main.c
cat >Makefile <<'MAKE'
CFLAGS = -O1 -g -fPIC -Iinclude -ffile-prefix-map=$(CURDIR)=.
OBJECTS = $(patsubst src/%.c,obj/%.o,$(wildcard src/*.c))
all: static shared
obj/%.o: src/%.c include/parts.h | obj
	@$(CC) $(CFLAGS) -MMD -c -o $@ $<
obj:
	@mkdir $@
libparts.a: $(OBJECTS)
	@$(AR) rcs $@ $(sort $(OBJECTS))
libparts.so: $(OBJECTS)
	@$(CC) -shared -o $@ $(sort $(OBJECTS)) -lm
static: main.c libparts.a
	@$(CC) $(CFLAGS) -o $@ $^ -lm
shared: main.c libparts.so
	@$(CC) $(CFLAGS) -o $@ $< -L. -lparts -lm -Wl,-rpath,'$$ORIGIN'
clean:
	rm -rf obj static shared
fails:
	@echo before; false
-include $(wildcard obj/*.d)
MAKE
say make -j2 --no-print-directory
say ./static
say ./shared
say make -j2 --no-print-directory
touch include/parts.h
say make -j2 -s
say make fails
say ar t libparts.a
say nm --defined-only -g libparts.so
cp static stripped
say strip stripped
say ./stripped
say ldd shared
say objcopy --only-keep-debug static static.debug
echo 'int main(void) { return undeclared; }' >wrong.c
say gcc -c wrong.c
echo '#include <missing.h>' >wrong.c
say gcc -c wrong.c
say gcc -pipe -save-temps -O2 -c src/part_1.c -Iinclude -o saved.o
echo 'int main(){int *p=new int(7);int r=*p;delete p;return r;}' >a.cc
say g++ -flto -O2 -o a a.cc
say ./a
say make -j2 -s -k clean missing-target
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.10)
project(parts C)
file(GLOB parts src/*.c)
add_library(all ${parts})
target_include_directories(all PUBLIC include)
add_executable(program main.c)
target_link_libraries(program all m)
enable_testing()
add_test(NAME runs COMMAND program)
CMAKE
if command -v cmake >/dev/null; then
  cmake -S . -B cmake-build >/dev/null; echo "=> $?"
  cmake --build cmake-build -j2 >/dev/null; echo "=> $?"
  say ./cmake-build/program
  (cd cmake-build && ctest >/dev/null; echo "=> $?")
  find cmake-build -name '*.o' -o -name '*.a' | sort
  rm -rf cmake-build
fi
echo done
