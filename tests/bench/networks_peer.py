# networks_peer.py -- ONNX Runtime as a server of networks.c:  python networks_peer.py MODEL.onnx THREADS
import resource
import sys
import time
import numpy as np
import onnxruntime

LEAST = 0.05
start = time.monotonic()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[2])
options.inter_op_num_threads = 1
options.log_severity_level = 3
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])


def value(x):
    n = int(np.prod(x.shape))
    if x.type == "tensor(float)":
        return (np.arange(n, dtype="float32") / np.float32(n)).reshape(x.shape)
    return np.ones(x.shape, "int64")


weights = {x.name for x in session.get_overridable_initializers()}
inputs = {x.name: value(x) for x in session.get_inputs() if x.name not in weights}
print(f"ready {time.monotonic() - start:.6f}", flush=True)
session.run(None, inputs)
for line in sys.stdin:
    calls, start, cpu = 0, time.monotonic(), time.process_time()
    while calls == 0 or time.monotonic() - start < LEAST:
        out = session.run(None, inputs)
        calls += 1
    wall, cpu = time.monotonic() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{wall / calls:.9f} {cpu / calls:.9f} {peak} {float(out[0].sum(dtype='float64')):.9g}", flush=True)
