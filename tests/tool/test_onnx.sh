#!/bin/sh
# test_onnx.sh -- ONNX models on the command line: import, inspect, run, build, test.
#   sh tests/tool/test_onnx.sh BUILD_FOLDER
. "$(dirname "$0")/expect.sh"
cases=$tests/../onnx/cases
wide=$cases/F4_matmul_wide_bias d=$cases/F4_matmul_wide_bias/test_data_set_0

# A model as a script: it reads back, and its weights are beside it.
expect 0 '' "$tvms" import "$wide/model.onnx" -o wide.tvms
expect 0 'well-formed' "$tvms" check wide.tvms
cat >weights.tvms <<'T'
from safetensors.numpy import load_file
print({k: (str(v.dtype), v.tolist()) for k, v in load_file("wide.safetensors").items()})
T
expect 0 "{'c': ('float32', 2.0)}" "$tvms" weights.tvms
expect 2 'where to? give -o FILE.tvms' "$tvms" import "$wide/model.onnx"
expect 1 "can't write" "$tvms" import "$wide/model.onnx" -o no/such/folder.tvms

expect 0 'A  float32[3, 3]' "$tvms" inspect "$wide/model.onnx"
expect 0 'MatMul    1      18     9' "$tvms" inspect "$wide/model.onnx"
expect 2 'which file?' "$tvms" inspect

# Long work shows what it is at on a terminal, and leaves nothing of that; elsewhere it is silent.
long=$cases/../light/densenet121/model.onnx
expect 0 'compiling to machine code' script -qec "'$tvms' build '$long' -o long.so" /dev/null
[ "$(tr '\r' '\n' <out | tail -n 1 | tr -d '\033[K')" = "" ] || fail "a line of progress is left"
expect 0 '' "$tvms" build "$wide/model.onnx" -o wide.so
same ''

# Dims that have names: figures for some of them, a script with numbers in their place.
symbolic=$cases/F14_shape_of_reshape_symbolic/model.onnx
dim=$("$tvms" inspect "$symbolic" | sed -n 's/^figures are for \([A-Za-z_0-9]*\) = 1.*/\1/p')
expect 0 "figures are for $dim = 5" "$tvms" inspect "$symbolic" --dims "$dim=5"
expect 1 "no input has a dim 'none'; its named dims: $dim" "$tvms" inspect "$symbolic" --dims none=5
expect 1 "write NAME=NUMBER" "$tvms" import "$symbolic" --dims "$dim=many" -o fixed.tvms
expect 0 '' "$tvms" import "$symbolic" --dims "$dim=5" -o fixed.tvms
expect 1 '' grep -q "\"$dim\"" fixed.tvms

# What is told makes numbers of dims and constants of inputs, for every command that takes a model.
cat >told.tvms <<'T'
from encode import graph, model, node, value, write
FLOAT, INT64 = 1, 7
inputs = [value("x", FLOAT, ["n", "m"]), value("k", INT64, [1])]
nodes = [node("Squeeze", ["x"], ["s"]), node("TopK", ["s", "k"], ["y", "z"])]
write("told.onnx", model(graph(nodes, inputs, [value("y", FLOAT, [])])))
T
TVMS_PATH=$tests/../onnx expect 0 '' "$tvms" told.tvms
expect 1 'which dims are 1 must be known before the model runs, but n is not' "$tvms" build told.onnx -o told.so
also '--dims n=N makes a number of a dim; --values k=N makes a constant of an input'
expect 0 '' "$tvms" build told.onnx --dims n=1,m=5 --values k=2 -o told.so
expect 0 'x: R.Tensor((1, 5), dtype="float32")' "$tvms" inspect told.so
for command in check opt inspect 'bench --repeat 1 --number 1'; do
  expect 0 '' "$tvms" $command told.onnx --dims n=1,m=5 --values k=2
done
expect 0 'main: the same' "$tvms" diff told.onnx interp llvm --dims n=1,m=5 --values k=2
expect 0 'TopK      1      ?' "$tvms" inspect told.onnx --dims n=1,m=5 --values k=2
expect 0 '' "$tvms" import told.onnx --dims n=1,m=5 --values k=2 -o told.tvms
expect 0 'kernel' "$tvms" explain told.onnx --target cuda --dims n=1,m=5 --values k=2
expect 1 "--values: the model has no input 'q'; it has: x, k" "$tvms" check told.onnx --values q=2
expect 1 "--values: 'k=two': write NAME=NUMBER or NAME=FILE.npy" "$tvms" check told.onnx --values k=two
expect 1 "--values: 'x=2': the input is no number, write NAME=FILE.npy" "$tvms" check told.onnx --values x=2
expect 1 "--values: 'k=3': 'k' is told before" "$tvms" check told.onnx --values k=2,k=3
expect 1 "--dims: 'n=2': 'n' is told before" "$tvms" check told.onnx --dims n=1,n=2
expect 1 "--dims: 'm=9223372036854775808': write NAME=NUMBER" "$tvms" check told.onnx --dims m=9223372036854775808
for number in 2.5 9223372036854775808 1e400; do
  expect 1 "--values: 'k=$number': no int64 is that number" "$tvms" check told.onnx --dims n=1,m=5 --values k=$number
done
expect 0 '' "$tvms" check told.onnx --dims n=1,m=5 --values k=2e0
cat >kinds.tvms <<'T'
from encode import data, graph, model, node, tensor, tensor_type, value, write
import numpy as np
FLOAT, UINT8, INT64, STRING, BOOL = 1, 2, 7, 8, 9
of_type = lambda name, field: data(1, name) + data(2, data(field, data(1, tensor_type(FLOAT, [3]))))
inputs = [of_type("list", 4), of_type("maybe", 9), value("text", STRING, [1])]
inputs += [value("byte", UINT8, []), value("flag", BOOL, [1]), value("pair", FLOAT, ["n", 3])]
names = ["text", "byte", "flag", "pair"]
nodes = [node("SequenceAt", ["list", "zero"], ["item"]), node("OptionalHasElement", ["maybe"], ["has"])]
nodes += [node("Identity", [name], ["the_" + name]) for name in names]
outputs = [value(name, FLOAT, []) for name in ["item", "has"] + ["the_" + name for name in names]]
write("kinds.onnx", model(graph(nodes, inputs, outputs, [tensor("zero", INT64, [], bytes(8))]), opset=18))
np.save("row.npy", np.zeros(3, "float32"))
np.save("ints.npy", np.zeros((2, 3), "int32"))
T
TVMS_PATH=$tests/../onnx expect 0 '' "$tvms" kinds.tvms
for told in list=1 maybe=1 text=1; do
  expect 1 "--values: '$told': the input is no number, write NAME=FILE.pb" "$tvms" check kinds.onnx --values $told
done
for told in list=row.npy maybe=ints.npy text=row.npy pair=ints.npy pair=row.npy byte=row.npy; do
  expect 1 "--values: '$told': the file holds no " "$tvms" check kinds.onnx --values $told
done
for told in byte=256 byte=-1 byte=0.5 flag=2; do
  expect 1 "--values: '$told': no " "$tvms" check kinds.onnx --values $told
done
expect 1 '; --values list=FILE.pb makes a constant of an input' "$tvms" check kinds.onnx --values byte=255,flag=1,maybe=row.npy
expect 1 'told.tvms: --dims and --values are for ONNX models' "$tvms" check told.tvms --dims n=1

# Run: files in, files out.
set -- --input "A=$d/input_0.pb" --input "B=$d/input_1.pb" --input="D=$d/input_2.pb"
expect 0 'values/Y.npy: float32[3, 4]' "$tvms" run "$wide/model.onnx" "$@" --output values
expect 0 'values/Y.pb: float32[3, 4]' "$tvms" run "$wide/model.onnx" "$@" --output values --format pb --target interp
cat >compare.tvms <<'T'
import _onnx, sys
import numpy as np
expected = _onnx.load_value(sys.argv[1], "tensor")
print("same:", (np.load("values/Y.npy") == expected).all(), (_onnx.load_value("values/Y.pb", "tensor") == expected).all())
T
expect 0 'same: True True' "$tvms" compare.tvms "$d/output_0.pb"
expect 1 "no value is given for the input 'A'" "$tvms" run "$wide/model.onnx"
expect 1 "the model has no input 'Q'; it has: A, B, D" "$tvms" run "$wide/model.onnx" --input Q=x.npy
expect 1 'an input is a .npy or a .pb' "$tvms" run "$wide/model.onnx" --input A=x.txt
expect 2 'there are npy and pb' "$tvms" run "$wide/model.onnx" --format png

# Other commands take a model where they take a module.
expect 0 '' "$tvms" build "$wide/model.onnx" -o wide.so
expect 0 'R.matmul(A, B)' "$tvms" opt "$wide/model.onnx"
expect 0 'well-formed' "$tvms" check "$wide/model.onnx"
expect 0 'main' "$tvms" bench "$wide/model.onnx" --repeat 1 --number 1

# What can't be read is told by its name, without the way into the library.
printf 'nonsense' >bad.onnx
expect 1 'tvms: error: bad.onnx: the file is damaged, or is not one of the ONNX format' "$tvms" build bad.onnx -o bad.so
expect 1 "can't read 'missing.onnx'" "$tvms" inspect missing.onnx

# Tests: the last line counts; a case that fails or must be refused is told.
expect 0 '77 passed, 0 failed' "$tvms" test --onnx "$cases"
expect 0 '2 passed, 0 failed' "$tvms" test --onnx -k F4 --target interp "$cases"
mkdir -p wrong/test_data_set_0
cp "$wide/model.onnx" wrong/
cp "$d"/*.pb wrong/test_data_set_0
cp "$d/input_0.pb" wrong/test_data_set_0/input_1.pb
expect 1 '0 passed, 1 failed' "$tvms" test --onnx wrong
expect 2 'no folder with a model.onnx there' "$tvms" test --onnx values

# External data is not followed out of the model's folder, also not by a link.
mkdir -p model
head -c 8 /dev/zero >outside.bin
ln -sf ../outside.bin model/inside.bin
cat >external.tvms <<'T'
from encode import external, graph, model, tensor, write
write("model/m.onnx", model(graph([], [], [], [tensor("w", 1, [2], None, external("inside.bin"))])))
T
TVMS_PATH=$tests/../onnx expect 0 '' "$tvms" external.tvms
expect 1 "'inside.bin' is outside of the model's folder" "$tvms" inspect model/m.onnx
exit $bad
