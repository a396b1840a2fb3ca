#!/bin/sh
# test_fmt.sh -- `tvms fmt`: the layout, what is kept, what is written, and that no program changes.
. "$(dirname "$0")/expect.sh"

cat >odd.tvms <<'T'
x = {  'a':1,   "b" :[1,2 , 3],}
def f ( a,b : int=3,*args , c=  1, ** kw )->int :
	return a [ 1:2 ]+b**2-c[ x : :2 ] , - 1 , not( a ), ~b, a if b else-c



class A( B ) :
    x=1

    # inside
    def g(self): return 1
# outside
print( 'very long string that goes on', "and another very long string literal here", f"{x!r:>{w}}", end='')
foo = [  # why
    1, 2, # two
    # three
    3
    # last
]
value = some_long_name(aaaaaaaaaaaaaaaaaaaa) if some_condition(bbbbbbbbbbbbbbbbbbbb) else another_name(ccccccccccc)
t = (1,)
v = a \
  + b
T
cat >even.tvms <<'T'
x = {
    'a': 1,
    "b": [1, 2, 3],
}
def f(a, b: int = 3, *args, c=1, **kw) -> int:
    return a[1:2] + b**2 - c[x::2], -1, not (a), ~b, a if b else -c


class A(B):
    x = 1

    # inside
    def g(self): return 1
# outside
print(
    'very long string that goes on',
    "and another very long string literal here",
    f"{x!r:>{w}}",
    end='',
)
foo = [  # why
    1,
    2,  # two
    # three
    3,
    # last
]
value = (
    some_long_name(aaaaaaaaaaaaaaaaaaaa)
    if some_condition(bbbbbbbbbbbbbbbbbbbb)
    else another_name(ccccccccccc)
)
t = (1,)
v = a + b
T
"$tvms" fmt - <odd.tvms >out || fail 'standard input is formatted'
diff even.tvms out || fail 'the layout'

# ---- --check, --diff, writing ----
cp odd.tvms file.tvms
expect 1 'file.tvms would change' "$tvms" fmt --check file.tvms even.tvms
absent 'even.tvms would'
cmp -s odd.tvms file.tvms || fail '--check writes nothing'
expect 0 '+x = {' "$tvms" fmt --diff file.tvms
also '--- file.tvms' "-x = {  'a':1" ' t = (1,)'
cmp -s odd.tvms file.tvms || fail '--diff writes nothing'
expect 0 '' "$tvms" fmt file.tvms
cmp -s even.tvms file.tvms || fail 'the file is written'
expect 0 '' "$tvms" fmt --check file.tvms
sed 's/$/\r/' even.tvms >crlf.tvms
expect 1 'crlf.tvms would change' "$tvms" fmt --check crlf.tvms
expect 0 '' "$tvms" fmt crlf.tvms
cmp -s even.tvms crlf.tvms || fail 'CRLF becomes LF'
printf '\357\273\277x = 1' >mark.tvms
expect 0 '' "$tvms" fmt mark.tvms
[ "$(cat mark.tvms)" = 'x = 1' ] || fail 'a byte order mark goes, the last line gets its end'
: >empty.tvms
expect 0 '' "$tvms" fmt --check empty.tvms
printf '# only\n' >comment.tvms
expect 0 '' "$tvms" fmt --check comment.tvms

# ---- what can't be read is left alone ----
printf 'x = (1\n' >bad.tvms
expect 1 'error[E0106]' "$tvms" fmt bad.tvms even.tvms
[ "$(cat bad.tvms)" = 'x = (1' ] || fail 'a faulty file is left as it is'
expect 1 'No such file' "$tvms" fmt absent.tvms
expect 2 'which files' "$tvms" fmt
expect 1 '"code":"E0106"' "$tvms" fmt --diagnostics json bad.tvms

# ---- every file of the repository, and odd ones: the same program, and a second time the same ----
# The tool itself refuses to write anything else.
mkdir all odd
(cd "$tests/../.." && find stdlib examples tests -name '*.tvms') | while read -r f; do
  case $f in
  tests/dialect/faults.tvms) ;; # does not parse
  *) cp "$tests/../../$f" "all/$(echo "$f" | tr / _)" ;;
  esac
done
expect 0 '' "$tvms" fmt all/*.tvms
expect 0 '' "$tvms" fmt --check all/*.tvms
expect 0 '' "$tvms" "$tests/odd_texts.tvms" 7 200 odd
expect 0 '' "$tvms" fmt odd/*.tvms
expect 0 '' "$tvms" fmt --check odd/*.tvms
exit $bad
