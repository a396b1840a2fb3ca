# tint.py -- has Tint, the compiler of WGSL in Dawn and Chrome, take texts: PYTHON tests/webgpu/tint.py FOLDER
# It comes with PyPI's package dawn-python; a Vulkan driver must be there. The last line is "N passed, N failed".
import glob
import sys

from pydawn import utils, webgpu

adapter = utils.request_adapter_sync(webgpu.WGPUPowerPreference_HighPerformance)
device = utils.request_device_sync(adapter, [])
passed = failed = 0
for path in sorted(glob.glob(sys.argv[1] + "/*.wgsl")):
    with open(path) as f:
        text = f.read()
    try:
        utils.create_shader_module(device, text)
        passed += 1
    except RuntimeError as e:
        failed += 1
        print(f"{path}: {e}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
