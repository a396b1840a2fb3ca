#!/bin/bash
# networks.sh -- whole networks at batch 1, float32, beside ONNX Runtime, in turns; memory, and what starting and loading cost.
#   [ORT_PYTHON=python3] bash tests/bench/networks.sh [BUILD_FOLDER [NETWORK...]]
# ORT_PYTHON is a Python that has onnxruntime; without one there is no such column. One thread is measured in the time that it
# ran, two by the clock. The ratio is the peer's time by ours: the median of the rounds, and their middle half.
# RUN='chrt -f 10' (as root) runs both before all other programs: figures as if the machine did nothing else.
B=$(cd "${1:-build}" && pwd)
[ $# -gt 0 ] && shift
cd "$(dirname "$0")" || exit 1
work=$B/bench/networks
mkdir -p "$work"
cc -D_GNU_SOURCE -O2 -I../../target/runtime -rdynamic -o "$work/networks" networks.c "$B/libtvms_runtime.a" -lpthread -ldl -lm || exit 1
python=${ORT_PYTHON:-python3}
if ! "$python" -c 'import onnxruntime' 2>/dev/null; then
  echo "onnxruntime is not installed (ORT_PYTHON names a Python that has it): its column is left out"
  python=
fi
ROUNDS=${ROUNDS:-9}

inputs_of() {
  case $1 in
  minilm_l6) echo int64:1x128 int64:1x128 int64:1x128 ;;
  bert_base) echo float32:1x128x768 int64:1x128 ;;
  one_node) echo float32:1x16 ;;
  *) echo float32:1x3x224x224 ;;
  esac
}

# Writes the model if it is not there, compiles it, and tells how many seconds of a processor that took.
build() {
  model=$work/$1.onnx
  [ -f "$model" ] || TVMS_PATH=../onnx "$B/tvms" networks.tvms "$1" "$model" || exit 1
  TIMEFORMAT=%U
  { time "$B/tvms" build "$model" -o "$work/$1.so"; } 2>&1
}
ours() {
  echo "TVMS_NUM_THREADS=$2 exec $work/networks serve $work/$1.so $(inputs_of "$1")"
}

build one_node >/dev/null
echo "one node, from the start of a process to its end: $("$work/networks" start 25 "$(ours one_node 1)")"
echo "network        threads  build s   tvms ms ${python:+  peer ms }  tvms MB${python:+ peer MB   ratio}"
for name in ${*:-resnet50 densenet121 squeezenet shufflenet inception_v2 vgg19 mobilenet_v2 minilm_l6 bert_base}; do
  seconds=$(build "$name") || exit 1
  for threads in 1 2; do
    printf '%-14s %7d %8s ' "$name" "$threads" "$seconds"
    $RUN "$work/networks" duel "$ROUNDS" "$threads" "$(ours "$name" $threads)" \
      ${python:+"exec $python networks_peer.py $work/$name.onnx $threads"} || exit 1
  done
done | tee "$work/figures.txt"
[ -z "$python" ] || awk '{sum[$2] += log($8); n[$2]++} END {for (t in n)
  printf "%d thread(s): geometric mean of the ratios %.2f\n", t, exp(sum[t] / n[t])}' "$work/figures.txt"
[ ! -f "$work/resnet50.so" ] || echo "resnet50, $(du -m "$work/resnet50.so" | cut -f1) MB, first result: $("$work/networks" start 9 "$(ours resnet50 1)")"
