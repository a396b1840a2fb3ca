#!/bin/sh
# fusion.sh -- what fusing the operators of a graph gains: perceptrons, blocks of convolutions, elementwise chains.
#   sh tests/bench/fusion.sh [BUILD_FOLDER]
# Machines are shared and noisy: read the ratios, which are medians of those within one round. One thread.
TVMS_NUM_THREADS=1 "$(cd "${1:-build}" && pwd)/tvms" "$(dirname "$0")/fusion.tvms"
