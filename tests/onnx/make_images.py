"""make_images.py -- makes the cases of tests/onnx/images: ImageDecoder on small images of every kind, with values of Pillow.

    pip install onnx numpy pillow
    python tests/onnx/make_images.py tests/onnx/images
"""

import io
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

rng = np.random.default_rng(3)
# Squares of one colour, so that what a lossy kind makes of edges is seen.
squares = np.kron(rng.integers(0, 256, (5, 7, 3)), np.ones((3, 5, 1))).astype("uint8")
rgb = Image.fromarray(squares)
gray, bits, palette = rgb.convert("L"), rgb.convert("1"), rgb.quantize(16)
rgba = Image.merge("RGBA", (*rgb.split(), gray))
smooth = Image.fromarray(squares).resize((61, 47), Image.BICUBIC)


def encoded(image, kind, **options):
    with io.BytesIO() as f:
        image.save(f, kind, **options)
        return f.getvalue()


def decoded(data, pixel_format):
    image = Image.open(io.BytesIO(data))
    if pixel_format == "Grayscale":
        return np.array(image.convert("L"))[:, :, np.newaxis]
    pixels = np.array(image.convert("RGB"))
    return pixels[:, :, ::-1].copy() if pixel_format == "BGR" else pixels


def case(name, data, pixel_format):
    node = helper.make_node("ImageDecoder", ["data"], ["image"], pixel_format=pixel_format)
    info = lambda n, rank: helper.make_tensor_value_info(n, TensorProto.UINT8, [None] * rank)
    graph = helper.make_graph([node], name, [info("data", 1)], [info("image", 3)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    folder = os.path.join(sys.argv[1], name, "test_data_set_0")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(sys.argv[1], name, "model.onnx"), "wb") as f:
        f.write(model.SerializeToString())
    values = {"input_0": np.frombuffer(data, "uint8"), "output_0": decoded(data, pixel_format)}
    for n, array in values.items():
        with open(os.path.join(folder, n + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(array, "data" if n == "input_0" else "image").SerializeToString())


files = {
    "bmp": encoded(rgb, "BMP"),
    "bmp_bits": encoded(bits, "BMP"),
    "bmp_gray": encoded(gray, "BMP"),
    "bmp_palette": encoded(palette, "BMP"),
    "jpeg": encoded(smooth, "JPEG", quality=80),
    "jpeg_cmyk": encoded(rgb.convert("CMYK"), "JPEG"),
    "jpeg_full_chroma": encoded(rgb, "JPEG", subsampling=0),
    "jpeg_gray": encoded(gray, "JPEG"),
    "jpeg_progressive": encoded(rgb, "JPEG", progressive=True, quality=60),
    "jpeg_2000": encoded(rgb, "JPEG2000"),
    "jpeg_2000_lossy": encoded(smooth, "JPEG2000", quality_mode="rates", quality_layers=[20]),
    "png": encoded(rgb, "PNG"),
    "png_alpha": encoded(rgba, "PNG"),
    "png_bits": encoded(bits, "PNG"),
    "png_gray": encoded(gray, "PNG"),
    "png_gray_alpha": encoded(Image.merge("LA", (gray, rgb.split()[0])), "PNG"),
    "png_one_pixel": encoded(rgb.crop((0, 0, 1, 1)), "PNG"),
    "png_palette": encoded(palette, "PNG"),
    "pnm": encoded(rgb, "PPM"),
    "pnm_gray": encoded(gray, "PPM"),
    "tiff": encoded(rgb, "TIFF"),
    "tiff_bits": encoded(bits, "TIFF", compression="group4"),
    "tiff_gray": encoded(gray, "TIFF"),
    "tiff_lzw": encoded(rgb, "TIFF", compression="tiff_lzw"),
    "webp": encoded(smooth, "WEBP", quality=80),
    "webp_alpha": encoded(rgba, "WEBP", lossless=True, exact=True),
    "webp_lossless": encoded(rgb, "WEBP", lossless=True),
}
for name, data in files.items():
    case(name, data, "RGB")
for name in ("jpeg", "png", "png_alpha", "png_gray"):
    case(name + "_to_bgr", files[name], "BGR")
    case(name + "_to_gray", files[name], "Grayscale")
