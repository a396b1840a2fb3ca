# large_module.awk -- writes a module of about `lines` lines: layers of a transformer as graph functions (kind=graph),
# tiled matrix products as tensor programs (kind=tensor), or both by turns. Lines are as exporters write them, with
# every annotation.
#   awk -v lines=100000 -v kind=graph -f large_module.awk > big.tvms
function put(text) { print text; n++ }

# The next binding of a dataflow block.
function bind(info, value) { put(sprintf("            lv%d: %s = %s", ++lv, info, value)) }

# A layer of a transformer over a symbolic sequence length, and a call of a tensor program.
function graph_function(f,    i, x, row, heads) {
  row = "R.Tensor((1, n, 64), dtype=\"float32\")"
  heads = "R.Tensor((1, 4, n, 16), dtype=\"float32\")"
  put("    @R.function")
  put(sprintf("    def f_%d(x: %s, w: R.Tensor((64, 64), dtype=\"float32\"), b: R.Tensor((64,), dtype=\"float32\")) -> %s:", f, row, row))
  put("        n = T.int64()")
  put("        cls = Big")
  put("        with R.dataflow():")
  lv = -1
  bind(row, "R.call_tir(cls.scale, (x,), out_sinfo=" row ")")
  for (i = 0; i < 2; i++) {
    x = lv
    bind(row, "R.matmul(lv" x ", w, out_dtype=\"void\")")
    bind(row, "R.add(lv" lv ", b)")
    bind("R.Tensor((1, n, 4, 16), dtype=\"float32\")", "R.reshape(lv" lv ", R.shape([1, n, 4, 16]))")
    bind(heads, "R.permute_dims(lv" lv ", axes=[0, 2, 1, 3])")
    bind("R.Tensor((1, 4, 16, n), dtype=\"float32\")", "R.permute_dims(lv" lv ", axes=[0, 1, 3, 2])")
    bind("R.Tensor((1, 4, n, n), dtype=\"float32\")", "R.matmul(lv" (lv - 1) ", lv" lv ", out_dtype=\"void\")")
    bind("R.Tensor((1, 4, n, n), dtype=\"float32\")", "R.multiply(lv" lv ", R.const(0.25, \"float32\"))")
    bind("R.Tensor((1, 4, n, n), dtype=\"float32\")", "R.nn.softmax(lv" lv ", axis=-1)")
    bind(heads, "R.matmul(lv" lv ", lv" (lv - 4) ", out_dtype=\"void\")")
    bind("R.Tensor((1, n, 4, 16), dtype=\"float32\")", "R.permute_dims(lv" lv ", axes=[0, 2, 1, 3])")
    bind(row, "R.reshape(lv" lv ", R.shape([1, n, 64]))")
    bind(row, "R.add(lv" lv ", lv" x ")")
    bind(row, "R.nn.layer_norm(lv" lv ", b, b, axes=[-1], epsilon=1.0000000000000001e-05, center=True, scale=True)")
    bind(row, "R.nn.gelu(lv" lv ")")
    bind(row, "R.multiply(lv" lv ", lv" x ")")
  }
  put(sprintf("            gv: %s = lv%d", row, lv))
  put("            R.output(gv)")
  put("        return gv")
}

function scale() {
  put("    @T.prim_func(private=True)")
  put("    def scale(x: T.handle, y: T.handle):")
  put("        n = T.int64()")
  put("        X = T.match_buffer(x, (1, n, 64), \"float32\")")
  put("        Y = T.match_buffer(y, (1, n, 64), \"float32\")")
  put("        for i, j, k in T.grid(1, n, 64):")
  put("            with T.block(\"scale\"):")
  put("                vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])")
  put("                Y[vi, vj, vk] = X[vi, vj, vk] * T.float32(0.5)")
}

# A tiled matrix product with its bias and activation.
function tensor_program(f) {
  put("    @T.prim_func(private=True)")
  put(sprintf("    def mm_%d(x: T.handle, W: T.Buffer((T.int64(64), T.int64(128)), \"float32\"), B: T.Buffer((T.int64(128),), \"float32\"), y: T.handle):", f))
  put("        T.func_attr({\"tir.noalias\": True})")
  put("        n = T.int64()")
  put("        X = T.match_buffer(x, (n, T.int64(64)), \"float32\")")
  put("        Y = T.match_buffer(y, (n, T.int64(128)), \"float32\")")
  put("        # with T.block(\"root\"):")
  put("        C = T.alloc_buffer((n, T.int64(128)), \"float32\")")
  put("        for i, j0, k0, j1, k1 in T.grid(n, T.int64(8), T.int64(16), T.int64(16), T.int64(4)):")
  put("            with T.block(\"matmul\"):")
  put("                v_i = T.axis.spatial(n, i)")
  put("                v_j = T.axis.spatial(T.int64(128), j0 * T.int64(16) + j1)")
  put("                v_k = T.axis.reduce(T.int64(64), k0 * T.int64(4) + k1)")
  put("                T.reads(X[v_i, v_k], W[v_k, v_j])")
  put("                T.writes(C[v_i, v_j])")
  put("                with T.init():")
  put("                    C[v_i, v_j] = T.float32(0.0)")
  put("                C[v_i, v_j] = C[v_i, v_j] + X[v_i, v_k] * W[v_k, v_j]")
  put("        for i, j in T.grid(n, T.int64(128)):")
  put("            with T.block(\"gelu\"):")
  put("                v_i, v_j = T.axis.remap(\"SS\", [i, j])")
  put("                T.reads(C[v_i, v_j], B[v_j])")
  put("                T.writes(Y[v_i, v_j])")
  put("                Y[v_i, v_j] = T.if_then_else(v_j < T.int64(100), (C[v_i, v_j] + B[v_j]) * (T.float32(0.5) + T.erf(C[v_i, v_j] * T.float32(0.70710678118654757)) * T.float32(0.5)), T.max(C[v_i, v_j], T.float32(0.0)))")
}

BEGIN {
  put("@I.ir_module")
  put("class Big:")
  if (kind != "tensor") scale()
  for (f = 0; n < lines; f++) {
    if (kind != "graph") tensor_program(f)
    if (kind != "tensor") graph_function(f)
  }
}
