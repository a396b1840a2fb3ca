#!/bin/sh
# check_wgsl.sh -- the kernels of all operators as WGSL, taken by Tint: sh tests/webgpu/check_wgsl.sh BUILD_FOLDER PYTHON
# OPERATORS names files of tests/op instead.
B=$1
python=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
operators=${OPERATORS:-$(ls "$here"/../op/*.tvms | grep -v 'support\|generated\|same_calls\|run_time\|reference')}
OP_DEVICE_CODE=$work OP_DEVICE_FORM=wgsl OP_DEVICE_TARGET='webgpu -max_storage_buffers=9' OP_TARGETS=webgpu \
  "$B/tvms" test -j "$(nproc)" $operators || exit 1
"$python" "$here/tint.py" "$work"
