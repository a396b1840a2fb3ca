#!/bin/sh
# run.sh -- fuzzes with AFL++, guided by coverage, under AddressSanitizer and UndefinedBehaviorSanitizer.
#   sh tests/fuzz/run.sh FUZZ_PROGRAM FOLDER SECONDS [WAY...]
# SECONDS 0: no fuzzing, each way runs the seeds once.
# Each way (parse, eval, roundtrip, onnx) gets SECONDS. The texts of tests/ and examples/, one definition each, are where it starts from, and the
# small models of tests/onnx for the way onnx; FOLDER keeps
# what it found, so that a later run goes on. The status is 1 if any text made a crash or a hang: their files are listed.
[ $# -ge 3 ] || { echo "usage: $0 FUZZ_PROGRAM FOLDER SECONDS [WAY...]"; exit 2; }
program=$1 folder=$2 seconds=$3
shift 3
[ $# -gt 0 ] || set -- parse eval roundtrip onnx
mkdir -p "$folder/seeds" "$folder/models"
if [ -z "$(ls "$folder/models")" ]; then
  for f in $(find tests/onnx -name model.onnx -size -2 | LC_ALL=C sort | awk 'NR % 4 == 1'); do
    cp "$f" "$folder/models/$(basename "$(dirname "$f")")"
  done
fi

# A seed is a definition with its decorators, or a run of other lines; small ones make fast fuzzing.
if [ -z "$(ls "$folder/seeds")" ]; then
  find tests examples stdlib -name '*.tvms' -not -path 'tests/bench/*' | LC_ALL=C sort | xargs awk -v dir="$folder/seeds" '
    function flush() { if (length(text) > 20 && length(text) < 2000) { file = sprintf("%s/%05d", dir, ++n); printf "%s", text > file; close(file) } text = ""; body = 0 }
    FNR == 1 { flush() }
    /^[^ \t#)\]}"]/ && (body || /^(@|class |def )/) && last !~ /^@/ { flush() }
    { text = text $0 "\n"; last = $0; body = body || /^(def|class) / }
    END { flush() }'
fi

export GC_DONT_GC=1 ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=abort_on_error=1:halt_on_error=1
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_AUTORESUME=1 AFL_IGNORE_PROBLEMS=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1
bad=0
for way; do
  seeds=$folder/seeds words="-x tests/fuzz/tvms.dict"
  [ "$way" != onnx ] || seeds=$folder/models words=
  if [ "$seconds" -eq 0 ]; then
    for f in "$seeds"/*; do
      "$program" "$way" "$f" >"$folder/$way.log" 2>&1
      [ $? -le 1 ] || { echo "  $program $way $f"; tail -n 5 "$folder/$way.log"; bad=1; }
    done
    continue
  fi
  out=$folder/$way
  timeout -s INT $((seconds + 600)) afl-fuzz -V "$seconds" -i "$seeds" -o "$out" $words -t 5000+ -m none \
    -- "$program" "$way" @@ >"$folder/$way.log" 2>&1 || { tail -n 20 "$folder/$way.log"; bad=1; }
  stats=$out/default/fuzzer_stats
  [ -f "$stats" ] && echo "$way: $(sed -n 's/^execs_done *: //p' "$stats") texts, $(sed -n 's/^edges_found *: //p' "$stats") edges"
  for f in "$out"/default/crashes/id* "$out"/default/hangs/id*; do
    [ -f "$f" ] || continue
    bad=1
    echo "  $program $way $f"
  done
done
exit $bad
