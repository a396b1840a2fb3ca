"""make_cases.py -- makes the cases of tests/onnx/runtime: operators that the format's own data does not cover, with
values computed by ONNX Runtime, its optimiser off.

    pip install onnx onnxruntime numpy
    python tests/onnx/make_cases.py tests/onnx/runtime
"""

import os
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)
MS = "com.microsoft"


def floats(*shape):
    return rng.standard_normal(shape).astype("float32")


def bytes_(*shape, low=0, high=255, dtype="uint8"):
    return rng.integers(low, high, shape).astype(dtype)


def case(name, op, inputs, outputs=1, opset=17, domain="", constants=(), **attrs):
    """One node; inputs: arrays by name, None for one that is left out; constants: names of initializers."""
    names = [n if a is not None else "" for n, a in inputs.items()]
    out = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
    node = helper.make_node(op, names, out, domain=domain, **attrs)
    given = {n: a for n, a in inputs.items() if a is not None}
    of = lambda n: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(given[n].dtype), given[n].shape)
    graph = helper.make_graph(
        [node],
        name,
        [of(n) for n in given if n not in constants],
        [helper.make_empty_tensor_value_info(n) for n in out if n],
        [numpy_helper.from_array(given[n], n) for n in constants],
    )
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    save(name, helper.make_model(graph, opset_imports=opsets, ir_version=10), {n: a for n, a in given.items() if n not in constants})


def save(name, model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # or each thread quantizes its own sequences
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(None, inputs)
    del model.graph.output[:]
    for info, v in zip(session.get_outputs(), values):
        element = helper.np_dtype_to_tensor_dtype(v.dtype)
        model.graph.output.append(helper.make_tensor_value_info(info.name, element, v.shape))
    folder = os.path.join(sys.argv[1], name, "test_data_set_0")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(sys.argv[1], name, "model.onnx"), "wb") as f:
        f.write(model.SerializeToString())
    for i, (n, a) in enumerate(inputs.items()):
        with open(os.path.join(folder, f"input_{i}.pb"), "wb") as f:
            f.write(numpy_helper.from_array(a, n).SerializeToString())
    for i, v in enumerate(values):
        with open(os.path.join(folder, f"output_{i}.pb"), "wb") as f:
            f.write(numpy_helper.from_array(v, session.get_outputs()[i].name).SerializeToString())


def tried(name, op, *args, **attrs):
    try:
        case(name, op, *args, **attrs)
    except Exception as e:  # this runtime has no such operator: tell which
        print("not made:", name, str(e).splitlines()[0][:120])


f, b = floats, bytes_
s = lambda x: np.array(x, "float32")
u = lambda x: np.array(x, "uint8")
i8 = lambda x: np.array(x, "int8")

# ---- com.microsoft ----
tried("ms_gelu", "Gelu", {"x": f(3, 5)}, domain=MS)
tried("ms_fast_gelu", "FastGelu", {"x": f(3, 5), "bias": f(5)}, domain=MS)
tried("ms_bias_gelu", "BiasGelu", {"x": f(3, 5), "bias": f(5)}, domain=MS)
tried("ms_quick_gelu", "QuickGelu", {"x": f(3, 5)}, domain=MS, alpha=1.5)
tried("ms_fused_matmul", "FusedMatMul", {"a": f(2, 4, 3), "b": f(2, 5, 4)}, domain=MS, alpha=0.5, transA=1, transB=1)
tried("ms_fused_gemm", "FusedGemm", {"a": f(3, 4), "b": f(4, 5), "c": f(5)}, domain=MS, alpha=0.5, beta=2.0, activation="Relu")
tried("ms_fused_conv", "FusedConv", {"x": f(1, 3, 7, 7), "w": f(4, 3, 3, 3), "b": f(4)}, domain=MS, activation="Relu", pads=[1, 1, 1, 1])
tried("ms_skip_layer_norm", "SkipLayerNormalization", {"x": f(2, 3, 8), "skip": f(2, 3, 8), "gamma": f(8), "beta": f(8), "bias": f(8)}, domain=MS, epsilon=1e-5)
tried("ms_skip_simplified", "SkipSimplifiedLayerNormalization", {"x": f(2, 3, 8), "skip": f(2, 3, 8), "gamma": f(8)}, domain=MS, epsilon=1e-5)
tried("simplified_layer_norm", "SimplifiedLayerNormalization", {"x": f(2, 3, 8), "gamma": f(8)}, axis=-1)
tried("ms_embed_layer_norm", "EmbedLayerNormalization", {"ids": b(2, 4, high=9, dtype="int32"), "seg": b(2, 4, high=2, dtype="int32"), "we": f(9, 8), "pe": f(6, 8), "se": f(2, 8), "gamma": f(8), "beta": f(8), "mask": np.array([[1, 1, 1, 0], [1, 1, 0, 0]], "int32")}, 2, domain=MS)
tried("ms_attention", "Attention", {"x": f(2, 4, 8), "w": f(8, 24), "b": f(24)}, domain=MS, num_heads=2)
tried("ms_attention_mask", "Attention", {"x": f(2, 4, 8), "w": f(8, 24), "b": f(24), "mask": np.array([[1, 1, 1, 0], [1, 1, 0, 0]], "int32")}, domain=MS, num_heads=2)
tried("ms_attention_lengths", "Attention", {"x": f(2, 4, 8), "w": f(8, 24), "b": f(24), "mask": np.array([3, 2], "int32")}, domain=MS, num_heads=2)
tried("ms_attention_causal", "Attention", {"x": f(2, 4, 8), "w": f(8, 24), "b": f(24)}, domain=MS, num_heads=2, unidirectional=1)
tried("ms_multi_head_attention", "MultiHeadAttention", {"q": f(2, 3, 8), "k": f(2, 5, 8), "v": f(2, 5, 8), "b": f(24)}, domain=MS, num_heads=2)
tried("ms_rotary", "RotaryEmbedding", {"x": f(1, 4, 16), "p": np.array([[0, 2, 1, 5]], "int64"), "c": f(6, 4), "s": f(6, 4)}, domain=MS)
tried("ms_rotary_interleaved", "RotaryEmbedding", {"x": f(1, 2, 4, 8), "p": np.array([1], "int64"), "c": f(6, 4), "s": f(6, 4)}, domain=MS, interleaved=1)
tried("ms_qlinear_add", "QLinearAdd", {"a": b(3, 4), "as": s(0.1), "az": u(3), "b": b(4), "bs": s(0.2), "bz": u(7), "cs": s(0.25), "cz": u(9)}, domain=MS)
tried("ms_qlinear_mul", "QLinearMul", {"a": b(3, 4), "as": s(0.1), "az": u(3), "b": b(4), "bs": s(0.2), "bz": u(7), "cs": s(3.0), "cz": u(9)}, domain=MS)
tried("ms_qlinear_sigmoid", "QLinearSigmoid", {"a": b(3, 4), "as": s(0.05), "az": u(128), "cs": s(1 / 255), "cz": u(0)}, domain=MS)
tried("ms_qlinear_leaky_relu", "QLinearLeakyRelu", {"a": b(3, 4), "as": s(0.05), "az": u(128), "cs": s(0.05), "cz": u(100)}, domain=MS, alpha=0.1)
tried("ms_qlinear_global_average_pool", "QLinearGlobalAveragePool", {"a": b(1, 3, 5, 4), "as": s(0.05), "az": u(128), "cs": s(0.05), "cz": u(100)}, domain=MS)
tried("ms_qlinear_concat", "QLinearConcat", {"ys": s(0.1), "yz": u(5), "a": b(2, 3), "as": s(0.05), "az": u(128), "b": b(2, 2), "bs": s(0.2), "bz": u(3)}, domain=MS, axis=1)
tried("ms_qgemm", "QGemm", {"a": b(3, 4), "as": s(0.1), "az": u(3), "b": b(4, 5), "bs": s(0.2), "bz": u(7), "c": b(5, dtype="int32"), "ys": s(2.0), "yz": u(9)}, domain=MS)
tried("ms_dynamic_quantize_matmul", "DynamicQuantizeMatMul", {"a": f(3, 4), "b": b(4, 5), "bs": s(0.2), "bz": u(7), "bias": f(5)}, domain=MS)
tried("ms_matmul_integer_to_float", "MatMulIntegerToFloat", {"a": b(3, 4), "b": b(4, 5), "as": s(0.1), "bs": s(0.2), "az": u(3), "bz": u(7)}, domain=MS)
tried("ms_matmul_4_bits", "MatMulNBits", {"a": f(3, 32), "b": b(5, 2, 8), "s": f(10), "z": b(5)}, domain=MS, constants=("b", "s", "z"), K=32, N=5, bits=4, block_size=16)

# ---- quantized operators of the default domain: mixed signs, a scale for each channel ----
tried("qlinear_conv_channels", "QLinearConv", {"x": b(1, 3, 6, 5), "xs": s(0.1), "xz": u(120), "w": b(4, 3, 3, 3, low=-128, high=127, dtype="int8"), "ws": s([0.1, 0.2, 0.05, 0.3]), "wz": i8([0, 0, 0, 0]), "ys": s(3.0), "yz": u(100), "b": b(4, dtype="int32")}, pads=[1, 0, 1, 2], strides=[2, 1])
tried("qlinear_conv_groups", "QLinearConv", {"x": b(1, 4, 6, 5), "xs": s(0.1), "xz": u(120), "w": b(4, 2, 3, 3), "ws": s(0.1), "wz": u(50), "ys": s(3.0), "yz": u(100)}, group=2)
tried("qlinear_matmul_mixed", "QLinearMatMul", {"a": b(3, 4), "as": s(0.1), "az": u(3), "b": b(4, 5, low=-128, high=127, dtype="int8"), "bs": s([0.1, 0.2, 0.3, 0.4, 0.5]), "bz": i8([0, 0, 0, 0, 0]), "ys": s(2.0), "yz": u(90)})
tried("matmul_integer_mixed", "MatMulInteger", {"a": b(3, 4), "b": b(4, 5, low=-128, high=127, dtype="int8"), "az": u(3), "bz": i8(2)})
tried("conv_integer_zero_points", "ConvInteger", {"x": b(1, 2, 5, 5), "w": b(3, 2, 3, 3), "xz": u(7), "wz": u(9)}, pads=[1, 1, 1, 1])
tried("dequantize_blocks", "DequantizeLinear", {"x": b(4, 6, low=-128, high=127, dtype="int8"), "s": f(2, 6), "z": b(2, 6, low=-5, high=5, dtype="int8")}, opset=21, axis=0, block_size=2)
tried("quantize_int16", "QuantizeLinear", {"x": f(4, 6) * 100, "s": s(0.003), "z": np.array(10, "int16")}, opset=21)

# ---- windows ----
for opset in (7, 10, 19, 22):
    tried(f"average_pool_ceil_pads_{opset}", "AveragePool", {"x": f(1, 2, 7, 8)}, opset=opset, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1, **({"ceil_mode": 1} if opset >= 10 else {}))
tried("average_pool_dilations", "AveragePool", {"x": f(1, 2, 9, 8)}, opset=19, kernel_shape=[3, 2], dilations=[2, 3])
tried("max_pool_dilations_indices", "MaxPool", {"x": f(1, 2, 9, 8)}, 2, opset=12, kernel_shape=[3, 2], dilations=[2, 3], pads=[1, 0, 1, 1])
tried("max_pool_column_major", "MaxPool", {"x": f(1, 2, 5, 4)}, 2, opset=12, kernel_shape=[2, 2], storage_order=1)
tried("conv_same_lower", "Conv", {"x": f(1, 3, 7, 6), "w": f(2, 3, 4, 3)}, auto_pad="SAME_LOWER", strides=[2, 2])
tried("conv_transpose_groups", "ConvTranspose", {"x": f(1, 4, 5, 4), "w": f(4, 3, 3, 3), "b": f(6)}, group=2, strides=[2, 1], pads=[1, 0, 0, 1])
tried("conv_transpose_output_shape", "ConvTranspose", {"x": f(1, 2, 5, 4), "w": f(2, 3, 3, 3)}, strides=[3, 2], output_shape=[14, 8], auto_pad="SAME_UPPER")
tried("conv3d", "Conv", {"x": f(1, 2, 5, 4, 3), "w": f(3, 2, 2, 2, 2), "b": f(3)}, dilations=[2, 1, 1])

# ---- of several versions ----
for opset in (11, 13):
    tried(f"softmax_axis_1_{opset}", "Softmax", {"x": f(2, 3, 4)}, opset=opset, axis=1)
for opset in (10, 11, 13, 18):
    tried(f"resize_linear_{opset}", "Resize", {"x": f(1, 2, 4, 5), **({} if opset == 10 else {"roi": None}), "scales": s([1, 1, 1.5, 0.7])}, opset=opset, constants=("scales",), mode="linear")
tried("resize_antialias", "Resize", {"x": f(1, 1, 8, 8), "roi": None, "scales": s([1, 1, 0.6, 0.6])}, opset=18, constants=("scales",), mode="linear", antialias=1)
tried("resize_cubic_sizes", "Resize", {"x": f(1, 1, 5, 4), "roi": None, "scales": None, "sizes": np.array([1, 1, 9, 3], "int64")}, opset=13, constants=("sizes",), mode="cubic", exclude_outside=1)
tried("split_uneven", "Split", {"x": f(7, 2)}, 3, opset=18, num_outputs=3)
tried("reduce_max_empty_axes", "ReduceMax", {"x": f(3, 4), "axes": np.zeros(0, "int64")}, opset=18, constants=("axes",), noop_with_empty_axes=1)
tried("reduce_sum_empty_dim", "ReduceSum", {"x": f(3, 0, 2), "axes": np.array([1], "int64")}, constants=("axes",))
tried("matmul_no_depth", "MatMul", {"a": f(3, 0), "b": f(0, 2)})
tried("group_norm_18", "GroupNormalization", {"x": f(2, 4, 3, 3), "s": f(2), "b": f(2)}, opset=18, num_groups=2)
tried("group_norm_21", "GroupNormalization", {"x": f(2, 4, 3, 3), "s": f(4), "b": f(4)}, opset=21, num_groups=2)
tried("scatter_nd_add", "ScatterND", {"x": f(4, 3), "i": np.array([[1], [-1], [1]], "int64"), "u": f(3, 3)}, opset=18, reduction="add")
tried("top_k_ties", "TopK", {"x": s([[3, 1, 3, 2], [2, 2, 2, 2]]), "k": np.array([2], "int64")}, 2, constants=("k",))
tried("pad_reflect", "Pad", {"x": f(3, 4), "p": np.array([1, 2, 2, 1], "int64")}, constants=("p",), mode="reflect")
tried("pad_negative", "Pad", {"x": f(5, 4), "p": np.array([-1, 2, 0, -1], "int64")}, constants=("p",))
tried("pad_wrap", "Pad", {"x": f(3, 4), "p": np.array([1, 2, 2, 1], "int64")}, opset=19, constants=("p",), mode="wrap")
tried("lrn_even", "LRN", {"x": f(1, 6, 3, 3)}, size=4, alpha=0.3, beta=0.6, bias=1.5)
tried("add_uint8_wraps", "Add", {"a": u([250, 3]), "b": u([10, 4])}, opset=14)
tried("lstm_long", "LSTM", {"x": f(20, 2, 3), "w": f(2, 16, 3), "r": f(2, 16, 4), "b": f(2, 32), "l": np.array([20, 11], "int32")}, 3, hidden_size=4, direction="bidirectional")
tried("gru_long", "GRU", {"x": f(20, 2, 3), "w": f(1, 12, 3), "r": f(1, 12, 4), "b": f(1, 24)}, 2, hidden_size=4, direction="reverse", linear_before_reset=1)
tried("rnn_short", "RNN", {"x": f(3, 2, 3), "w": f(1, 4, 3), "r": f(1, 4, 4)}, 2, hidden_size=4, activations=["Relu"], clip=0.7)
tried("grid_sample_3d", "GridSample", {"x": f(1, 2, 3, 4, 5), "g": rng.uniform(-1.2, 1.2, (1, 2, 3, 4, 3)).astype("float32")}, opset=20, mode="linear")
tried("rms_norm", "RMSNormalization", {"x": f(2, 3, 8), "s": f(8)}, opset=23)
tried("attention_23", "Attention", {"q": f(2, 2, 3, 4), "k": f(2, 2, 5, 4), "v": f(2, 2, 5, 4)}, opset=23, is_causal=1)
tried("rotary_23", "RotaryEmbedding", {"x": f(1, 2, 4, 8), "c": f(6, 4), "s": f(6, 4), "p": np.array([[0, 2, 1, 5]], "int64")}, opset=23)


# ---- graphs of several nodes: floats that stand for integers ----
def qdq(name, op, x, w, channels, axis, bias=None, **attrs):
    """op between DequantizeLinear and QuantizeLinear"""
    ws, wz = (s(rng.uniform(0.01, 0.1, channels)), np.zeros(channels, "int8")) if channels else (s(0.05), i8(0))
    weights = {"xs": s(0.1), "xz": u(120), "w": w, "ws": ws, "wz": wz, "ys": s(0.7), "yz": u(100)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], **({"axis": axis} if channels else {})),
        helper.make_node(op, ["xf", "wf"] + (["b"] if bias is not None else []), ["yf"], **attrs),
        helper.make_node("QuantizeLinear", ["yf", "ys", "yz"], ["y"]),
    ]
    if bias is not None:
        weights["b"] = bias
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.UINT8, x.shape)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    save(name, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), {"x": x})


weight = lambda *shape: b(*shape, low=-128, high=127, dtype="int8")
qdq("qdq_conv", "Conv", b(1, 3, 6, 5), weight(4, 3, 3, 3), 0, 0, pads=[1, 1, 1, 1])
qdq("qdq_conv_channels", "Conv", b(1, 3, 6, 5), weight(4, 3, 3, 3), 4, 0, f(4), strides=[2, 2], pads=[1, 0, 1, 0])
qdq("qdq_matmul", "MatMul", b(2, 3, 8), weight(8, 5), 0, 0)
qdq("qdq_matmul_columns", "MatMul", b(3, 8), weight(8, 5), 5, 1)
qdq("qdq_gemm", "Gemm", b(3, 8), weight(8, 5), 0, 0, f(5))
qdq("qdq_gemm_turned", "Gemm", b(3, 8), weight(5, 8), 5, 0, f(5), transB=1)
qdq("qdq_conv_many_channels", "Conv", b(1, 4, 5, 3), weight(1500, 4, 1, 1), 1500, 0, f(1500))
tried("ms_qlinear_average_pool", "QLinearAveragePool", {"a": b(1, 3, 7, 6), "as": s(0.05), "az": u(128), "cs": s(0.04), "cz": u(100)}, domain=MS, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])

# ---- com.microsoft: attention of decoders, recurrence, operators that the default domain has, too ----
tried("ms_dynamic_quantize_lstm", "DynamicQuantizeLSTM", {"x": f(5, 2, 6), "w": b(2, 6, 12, low=-127, high=127, dtype="int8"), "r": b(2, 3, 12, low=-127, high=127, dtype="int8"), "b": f(2, 24), "l": None, "h": f(2, 2, 3), "c": f(2, 2, 3), "p": None, "ws": s([0.02, 0.01]), "wz": i8([0, 0]), "rs": s([0.02, 0.03]), "rz": i8([0, 0])}, 3, domain=MS, constants=("w", "r", "ws", "wz", "rs", "rz"), hidden_size=3, direction="bidirectional")
tried("ms_q_attention", "QAttention", {"x": b(2, 4, 8), "w": b(8, 24, low=-127, high=127, dtype="int8"), "b": f(24), "xs": s(0.02), "ws": s(0.01), "m": np.array([3, 2], "int32"), "xz": u(120), "wz": i8(0)}, domain=MS, constants=("w", "ws", "wz"), num_heads=2)
tables = {"c": f(16, 8), "s": f(16, 8)}
tried("ms_group_query_attention", "GroupQueryAttention", {"q": f(2, 1, 64), "k": f(2, 1, 32), "v": f(2, 1, 32), "pk": f(2, 2, 6, 16), "pv": f(2, 2, 6, 16), "e": np.array([6, 6], "int32"), "t": np.array(7, "int32"), **tables}, 3, domain=MS, num_heads=4, kv_num_heads=2, do_rotary=1)
tried("ms_group_query_attention_packed", "GroupQueryAttention", {"q": f(2, 5, 128), "k": None, "v": None, "pk": f(2, 2, 0, 16), "pv": f(2, 2, 0, 16), "e": np.array([4, 4], "int32"), "t": np.array(5, "int32"), **tables}, 3, domain=MS, num_heads=4, kv_num_heads=2, do_rotary=1, rotary_interleaved=1, local_window_size=3)
tried("ms_group_query_attention_cap", "GroupQueryAttention", {"q": f(1, 3, 32), "k": f(1, 3, 32), "v": f(1, 3, 32), "pk": f(1, 4, 0, 8), "pv": f(1, 4, 0, 8), "e": np.array([2], "int32"), "t": np.array(3, "int32")}, 3, domain=MS, num_heads=4, kv_num_heads=4, softcap=2.0, scale=0.4)
tried("ms_qlinear_where", "QLinearWhere", {"c": np.array([True, False, True]), "x": b(2, 3), "xs": s(0.1), "xz": u(3), "y": b(2, 3), "ys": s(0.2), "yz": u(7), "zs": s(0.25), "zz": u(9)}, domain=MS)
tried("ms_expand_dims", "ExpandDims", {"a": f(3, 4), "axis": np.array(-1, "int32")}, domain=MS, constants=("axis",))
tried("ms_cdist", "CDist", {"a": f(3, 4), "b": f(5, 4)}, domain=MS, metric="euclidean")
tried("ms_gather_block_quantized", "GatherBlockQuantized", {"t": b(5, 16), "i": np.array([[0, 3], [-1, 2]], "int64"), "s": f(5, 2), "z": b(5, 1)}, domain=MS, constants=("t", "s", "z"), block_size=16, quantize_axis=1, bits=4)
tried("ms_pad", "Pad", {"a": f(2, 3), "p": np.array([0, 1, 1, 0], "int64"), "v": s(2)}, domain=MS, constants=("p",))
tried("ms_trilu", "Trilu", {"a": f(3, 4)}, domain=MS, upper=0)
tried("ms_range", "Range", {"a": s(1), "b": s(4), "c": s(0.5)}, domain=MS, constants=("a", "b", "c"))
tried("ms_gather_nd", "GatherND", {"a": f(3, 4), "i": np.array([[0, 1], [2, 3]], "int64")}, domain=MS)
