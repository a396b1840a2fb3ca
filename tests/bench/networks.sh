#!/bin/sh
# networks.sh -- whole networks at batch 1, float32, beside ONNX Runtime, in turns; memory, and what starting and loading cost.
#   [ORT_PYTHON=python3] sh tests/bench/networks.sh [BUILD_FOLDER [NETWORK...]]
# ORT_PYTHON is a Python that has onnxruntime; without one there is no such column. One thread is measured in the time that it
# ran, two by the clock. The ratio is the peer's time by ours: the median of the rounds, and their middle half.
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
  *) echo float32:1x3x224x224 ;;
  esac
}

echo "network        threads   tvms ms ${python:+   peer ms }  tvms MB${python:+ peer MB   ratio}"
for name in ${*:-resnet50 densenet121 squeezenet shufflenet inception_v2 vgg19 mobilenet_v2 minilm_l6 bert_base}; do
  model=$work/$name.onnx
  [ -f "$model" ] || TVMS_PATH=../onnx "$B/tvms" networks.tvms "$name" "$model" || exit 1
  "$B/tvms" build "$model" -o "$work/$name.so" || exit 1
  for threads in 1 2; do
    ours="TVMS_NUM_THREADS=$threads exec $work/networks serve $work/$name.so $(inputs_of "$name")"
    printf '%-14s %7d ' "$name" "$threads"
    if [ -n "$python" ]; then
      "$work/networks" duel "$ROUNDS" "$threads" "$ours" "exec $python networks_peer.py $model $threads"
    else
      "$work/networks" duel "$ROUNDS" "$threads" "$ours"
    fi || exit 1
  done
done | tee "$work/figures.txt"
[ -z "$python" ] || awk '{sum[$2] += log($7); n[$2]++} END {for (t in n)
  printf "%d thread(s): geometric mean of the ratios %.2f\n", t, exp(sum[t] / n[t])}' "$work/figures.txt"
