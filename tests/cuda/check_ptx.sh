#!/bin/bash
# check_ptx.sh -- the PTX of kernels assembled by NVIDIA's ptxas, which tells the registers and the spills of each.
#   PTXAS=ptxas bash tests/cuda/check_ptx.sh BUILD_FOLDER [gemm] [ops] [networks]
# ptxas is a part of CUDA's toolkit; `pip install nvidia-cuda-nvcc-cu12` brings it alone. Without one everything is skipped.
# What `tvms inspect` estimates for each kernel is set beside what it takes. The last line is "N passed, N failed": of texts, each for every architecture. A spill in a product or a convolution fails.
B=$(cd "${1:-build}" && pwd)
shift
cd "$(dirname "$0")/../.." || exit 1
PTXAS=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
if [ ! -x "$PTXAS" ]; then
  echo "skip: there is no ptxas (PTXAS=PATH names one; pip install nvidia-cuda-nvcc-cu12 brings it)"
  echo "0 passed, 0 failed"
  exit 0
fi
"$PTXAS" --version | grep release
work=$B/ptx
passed=0
failed=0
archs=${ARCHS:-sm_80 sm_90a}

# Some calls have no code for the target yet: what is missing is counted.
write_ops() {
  OP_DEVICE_CODE=$2 OP_DEVICE_TARGET="cuda -arch=$1" OP_TARGETS=cuda "$B/tvms" test -j "$(nproc)" \
    $(ls tests/op/*.tvms | grep -v "support\|generated") >"$2/log" 2>&1
  grep -ho 'CompileError: .*' "$2/log" | sort | uniq -c | sed 's/^/  not there yet:/'
}
write_networks() {
  for model in tests/onnx/light/*/model.onnx; do
    name=$(basename "$(dirname "$model")")
    "$B/tvms" build "$model" --target "cuda -arch=$1" --emit ptx -o "$2/$name.ptx" 2>"$2/$name.log" || head -n 3 "$2/$name.log"
  done
}
write_gemm() {
  "$B/tvms" build tests/cuda/gemm.tvms --target "cuda -arch=$1" --emit ptx -o "$2/gemm.ptx"
}

# "kernel registers stores loads" for each kernel that ptxas tells of
kernels() {
  sed -n "s/.*Compiling entry function '\([^']*\)'.*/kernel \1/p; s/.* \([0-9]*\) bytes spill stores, \([0-9]*\) bytes spill loads/spills \1 \2/p; s/.*Used \([0-9]*\) registers.*/registers \1/p" |
    awk '$1 == "kernel" { name = $2 } $1 == "spills" { s = $2; l = $3 } $1 == "registers" { print name, $2, s, l }'
}

assemble() { # FILE ARCH: its kernels into FILE.kernels; fails if ptxas does
  "$PTXAS" -arch="$2" -v "$1" -o /dev/null >"$1.out" 2>&1 || return 1
  kernels <"$1.out" >"$1.kernels"
  "$B/tvms" inspect "$1" 2>/dev/null | sed -n 's/^kernel *\([^:]*\): about \([0-9]*\) reg.*/\1 \2/p' >"$1.estimates"
  awk 'NR == FNR { takes[$1] = $2; next } $1 in takes { print $1, $2, takes[$1] }' "$1.kernels" "$1.estimates" >"$1.both"
}
export -f assemble kernels
export PTXAS B

for what in ${*:-gemm ops networks}; do
  for arch in $archs; do
    folder=$work/$what/$arch
    rm -rf "$folder" && mkdir -p "$folder" || exit 1
    "write_$what" "$arch" "$folder"
    find "$folder" -name '*.ptx' -print0 | xargs -0 -P "$(nproc)" -I{} bash -c 'assemble {} '"$arch"' || echo {} >>'"$folder/bad"
    texts=$(find "$folder" -name '*.ptx' | wc -l) bad=$(cat "$folder/bad" 2>/dev/null | wc -l)
    [ "$bad" -eq 0 ] || while read -r f; do echo "FAIL $f"; head -n 3 "$f.out"; done <"$folder/bad"
    find "$folder" -name '*.kernels' -exec cat {} + >"$folder/all"
    awk -v what="$what $arch" '{ n++; if ($2 > most) { most = $2; whose = $1 } if ($3 + $4) { spills++; print "  spills:", $1, $2, "registers,", $3, "bytes stored,", $4, "loaded" } }
      END { printf "%s: %d kernels, at most %d registers (%s), %d kernels spill\n", what, n, most, whose, spills }' "$folder/all"
    find "$folder" -name '*.both' -exec cat {} + | awk -v what="$what $arch" '{ d = $2 - $3; d = d < 0 ? -d : d; n++; sum += d; near += d <= 8 }
      END { if (n) printf "%s: registers estimated: off by %.1f on average, %.0f%% within 8\n", what, sum / n, 100 * near / n }'
    spilling=$(awk '$3 + $4 && $1 ~ /matmul|conv|dense|gemm/' "$folder/all" | wc -l)
    [ "$texts" -gt 0 ] || spilling=1 # nothing was assembled
    passed=$((passed + texts - bad)) failed=$((failed + bad + spilling))
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
