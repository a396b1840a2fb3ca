#!/bin/sh
# docs.sh -- runs the snippets of README.md and docs/*.md. Each block ```python is a script of its own unless it begins with
# a line "# continues": then it is run after those before it. A block ```text right after it is what it must print; a block
# ```python error must fail, and its message have the lines of a block ```text right after it in a row. A block ```sh is run
# by the shell with the built program as tvms.
# All run in a folder that sees the project's files and keeps what they write out of the project.
#   sh tests/docs.sh BUILD_FOLDER
[ -x "$1/tvms" ] || { echo "usage: $0 BUILD_FOLDER"; exit 2; }
B=$(cd "$1" && pwd)
work=$(mktemp -d)
# Are the lines of the first file some of the second, in a row?
within() {
  awk 'NR == FNR { want = want "\n" $0; next } { text = text "\n" $0 } END { exit !index(text "\n", want "\n") }' "$1" "$2"
}
trap 'rm -rf "$work"' EXIT
mkdir "$work/at" && ln -s "$PWD"/* "$work/at" && cd "$work/at" || exit 1
passed=0
failed=0
for doc in README.md docs/*.md; do
  rm -f "$work"/[0-9]*
  awk -v dir="$work" '
    /^```/ && !inside { inside = 1; kind = substr($0, 4); n++; file = sprintf("%s/%03d.%s", dir, n, kind == "" ? "none" : kind); gsub(/ /, "_", file); printf "" > file; next }
    /^```$/ && inside { inside = 0; close(file); next }
    inside { print > file }' "$doc"
  : >"$work/so_far"
  failing=0
  for f in "$work"/[0-9]*; do
    case $f in
    *.python | *.python_error)
      if head -n 1 "$f" | grep -q '^# continues'; then cat "$work/so_far" "$f" >"$work/script.tvms"; else cp "$f" "$work/script.tvms"; fi
      before=$(grep -q '^# continues' "$f" && "$B/tvms" "$work/so_far" 2>/dev/null | wc -l || echo 0)
      "$B/tvms" "$work/script.tvms" >"$work/out" 2>"$work/err"
      status=$?
      cp "$work/script.tvms" "$work/so_far"
      want=0
      case $f in *error) want=1 ;; esac
      failing=$want
      if [ $status -ne $want ]; then
        echo "$doc: $(basename "$f"): exit status $status, expected $want"
        cat "$f" "$work/err"
        failed=$((failed + 1))
      else passed=$((passed + 1)); fi
      tail -n +$((before + 1)) "$work/out" >"$work/printed"
      ;;
    *.text)
      if [ "$failing" -eq 1 ] && within "$f" "$work/err"; then passed=$((passed + 1))
      elif [ "$failing" -eq 0 ] && diff -u "$f" "$work/printed"; then passed=$((passed + 1)); else
        echo "$doc: $(basename "$f"): the snippet prints something else"
        [ "$failing" -eq 0 ] || cat "$work/err"
        failed=$((failed + 1))
      fi
      ;;
    *.sh)
      failing=0
      if PATH="$B:$PATH" sh -e "$f" >"$work/printed" 2>"$work/err"; then passed=$((passed + 1)); else
        echo "$doc: $(basename "$f") failed"
        cat "$f" "$work/err"
        failed=$((failed + 1))
      fi
      ;;
    esac
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
