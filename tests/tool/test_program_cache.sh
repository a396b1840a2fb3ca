#!/bin/sh
# test_program_cache.sh -- what OpenCL compiled is kept in files, and only what is whole and fits is taken from them.
#   sh tests/tool/test_program_cache.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"

cat >run.tvms <<'T'
import numpy as np
import sys
import tvm

by = int(sys.argv[1])

@T.prim_func
def scale(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    for i in range(64):
        with T.sblock("scale"):
            v = T.axis.spatial(64, i)
            B[v] = A[v] * by

a = np.arange(64, dtype="int32")
b = tvm.runtime.empty((64,), "int32", tvm.opencl(0))
tvm.build(scale, "opencl")(a.to("opencl"), b)
np.testing.assert_array_equal(b.numpy(), a * by)
print("scaled")
T
kept() { find cache -type f -name '*.program' -printf '%i\n' | sort; }
# same_files WHAT, other_files WHAT: were files taken, or written anew, since the last call?
same_files() { [ "$(kept)" = "$before" ] || fail "$1: a file was written anew"; before=$(kept); }
other_files() { [ "$(kept)" != "$before" ] || fail "$1: no file was written"; before=$(kept); }

before=
export TVMS_CACHE="$work/cache"
expect 0 scaled "$tvms" run run.tvms 3
other_files 'the first run'
expect 0 scaled "$tvms" run run.tvms 3
same_files 'the second run'
three=$(find cache -name '*.program')
expect 0 scaled "$tvms" run run.tvms 5
other_files 'another text'
five=$(find cache -name '*.program' | grep -vxF "$three")

# Cut files, changed bytes, the file of another key, no file at all but a folder.
for size in 0 7 40 200 "$(($(stat -c %s "$three") - 1))"; do
  truncate -s "$size" "$three"
  expect 0 scaled "$tvms" run run.tvms 3
  other_files "a file that was cut at $size"
done
last=$(($(stat -c %s "$three") - 1))
for at in 0 8 16 40 "$last"; do
  printf '\377' | dd of="$three" bs=1 seek="$at" conv=notrunc 2>/dev/null
  expect 0 scaled "$tvms" run run.tvms 3
  other_files "a byte that was changed at $at"
done
cat "$five" >"$three"
expect 0 scaled "$tvms" run run.tvms 3
other_files 'the file of another text'
rm "$three"
mkdir "$three"
expect 0 scaled "$tvms" run run.tvms 3
rmdir "$three" || fail 'the folder in the place of a file is gone'

# The longest unused go first when all are too large; files of others stay.
truncate -s 300M "$five"
touch -d '2 days ago' "$five"
echo mine >cache/notes
truncate -s 300M "$three.Xy12Zq" # what a process that was killed left
touch -d '3 days ago' "$three.Xy12Zq"
truncate -s 300M cache/large
expect 0 scaled "$tvms" run run.tvms 3
[ ! -e "$five" ] || fail 'the oldest program is still there'
[ -e "$three" ] || fail 'the newest program is gone'
[ -e cache/notes ] && [ -e cache/large ] || fail 'files of others are gone'
[ "$(find cache -type f | wc -l)" -eq 3 ] || fail 'there are files left that are no programs'

# Nothing is kept if the user says so, nor where nothing can be written.
rm -r cache
expect 0 scaled env TVMS_CACHE= "$tvms" run run.tvms 3
expect 0 scaled env TVMS_CACHE=/dev/null/cache "$tvms" run run.tvms 3
[ ! -e cache ] || fail 'a folder was made'
expect 0 scaled env -u TVMS_CACHE XDG_CACHE_HOME="$work/base" "$tvms" run run.tvms 3
[ -n "$(find base/tvms -name '*.program')" ] || fail 'nothing was kept below XDG_CACHE_HOME'
expect 0 scaled env -u TVMS_CACHE -u XDG_CACHE_HOME HOME="$work/home" "$tvms" run run.tvms 3
[ -n "$(find home/.cache/tvms -name '*.program')" ] || fail 'nothing was kept below HOME'
exit $bad
