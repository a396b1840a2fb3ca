#!/bin/sh
# kernels.sh -- softmax, layer norm, sums, a transpose and a copy of 16 M elements beside what the machine copies.
#   sh tests/bench/kernels.sh [BUILD_FOLDER]
# Machines are shared and noisy: read the ratios, which are taken within one round.
"$(cd "${1:-build}" && pwd)/tvms" "$(dirname "$0")/kernels.tvms"
