# large_module.awk -- writes a module of about `lines` lines: tensor programs and graph functions by turns.
# awk -v lines=100000 -f large_module.awk > big.tvms
BEGIN {
  print "@I.ir_module"
  print "class Big:"
  n = 2
  for (f = 0; n < lines; f++) {
    printf "    @T.prim_func(private=True)\n    def mm_%d(X: T.Buffer((\"n\", 64), \"float32\"), W: T.Buffer((64, \"m\"), \"float32\"), Y: T.Buffer((\"n\", \"m\"), \"float32\")):\n", f
    print "        n = T.int64()"
    print "        m = T.int64()"
    print "        for i, j, k in T.grid(n, m, 64):"
    print "            with T.block(\"body\"):"
    print "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])"
    print "                with T.init():"
    print "                    Y[vi, vj] = 0.0"
    print "                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]"
    printf "    @R.function\n    def f_%d(x: R.Tensor((\"n\", 64), \"float32\"), w: R.Tensor((64, 64), \"float32\")) -> R.Tensor((\"n\", 64), \"float32\"):\n", f
    print "        n = T.int64()"
    print "        cls = Big"
    print "        with R.dataflow():"
    printf "            lv0 = R.call_tir(cls.mm_%d, (x, w), out_sinfo=R.Tensor((n, 64), dtype=\"float32\"))\n", f
    for (k = 1; k <= 20; k++) printf "            lv%d: R.Tensor((n, 64), dtype=\"float32\") = R.add(lv%d, x)\n", k, k - 1
    print "            R.output(lv20)"
    print "        return lv20"
    n += 10 + 7 + 22
  }
}
