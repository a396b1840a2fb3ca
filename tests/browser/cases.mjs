// cases.mjs -- what modules for browsers give, in Node.js or Deno:  cases.mjs FOLDER_OF_TVMS_MJS NET.wasm DOUBLE.wasm
// DOUBLE.wasm, which WebGPU has not, may be "-". The last line is "N passed, N failed".
const args = globalThis.Deno ? Deno.args : process.argv.slice(2);
const { load, Tensor } = await import(new URL(`file://${args[0]}/tvms.mjs`));
let passed = 0, failed = 0;

function same(what, found, expected) {
  const text = value => JSON.stringify(value, (_, v) => typeof v === "bigint" ? `${v}n` : ArrayBuffer.isView(v) ? Array.from(v) : v);
  if (text(found) === text(expected)) passed++;
  else {
    failed++;
    console.log(`${what}: found ${text(found)}, expected ${text(expected)}`);
  }
}
function near(what, found, expected) {
  const bad = Array.from(expected).findIndex((e, i) => !(Math.abs(found[i] - e) <= 1e-5 * (1 + Math.abs(e))));
  same(what, bad < 0 && found.length === expected.length ? "near" : [found[bad], expected[bad], bad], "near");
}
async function fails(what, use, message) {
  try {
    await use();
    same(what, "nothing was thrown", message);
  } catch (e) {
    same(what, e.message.includes(message) || e.message, true);
  }
}

const net = await load(args[1]);
const onGpu = net.device !== 1;

// ---- numbers ----

const random = n => Float32Array.from({ length: n }, (_, i) => Math.sin(i * 12.9898) * 2);
for (const n of [1, 3, 17]) {
  const x = random(n * 64), w = random(64 * 32), expected = [];
  for (let i = 0; i < n; i++) {
    const row = Array.from({ length: 32 }, (_, j) => {
      let sum = 0;
      for (let k = 0; k < 64; k++) sum += x[i * 64 + k] * w[k * 32 + j];
      return sum;
    });
    const most = Math.max(...row), parts = row.map(v => Math.exp(v - most)), all = parts.reduce((a, b) => a + b);
    expected.push(...parts.map(v => v / all));
  }
  const y = await net.main(net.tensor(x, [n, 64]), net.tensor(w, [64, 32]));
  same(`main of ${n} rows`, [y.shape, y.dtype, y.device], [[n, 32], "float32", onGpu ? "webgpu" : "cpu"]);
  near(`main of ${n} rows`, await y.data(), expected);
}
same("no rows", (await (await net.main(net.empty([0, 64]), net.tensor(random(2048), [64, 32]))).data()), []);
same("a constant", await (await net.constant(net.tensor([1, 1, 1]))).data(), [2, 3, 4]);

const kinds = { int8: [1, -2, 3], int16: [1, -2, 300], int32: [1, -2, 70000], int64: [1n, -2n, 2n ** 40n], uint8: [1, 2, 200], uint16: [1, 2, 60000],
  uint32: [1, 2, 4000000000], uint64: [1n, 2n, 2n ** 40n], float16: [0x3c00, 0x4000, 0xc000], bfloat16: [0x3f80, 0x4000, 0xc000],
  float32: [1.5, -2, 3], bool: [1, 0, 0] };
for (const [dtype, values] of Object.entries(kinds)) {
  if (dtype === "float16" && globalThis.Float16Array) values.splice(0, 3, 1, 2, -2);
  for (let n = 1; n <= 3; n++) { // sizes that are no words
    const given = values.slice(0, n), y = await net.call(`copy_${dtype}`, net.tensor(given, [n], dtype));
    same(dtype, [y.dtype, Array.from(await y.data())], [dtype, [...given].reverse()]);
  }
}
if (args[2] !== "-") {
  const double = await load(args[2]);
  same("float64", await (await double.main(double.tensor(new Float64Array([0.1, 2])))).data(), [0.2, 4]);
}

// ---- values ----

const [square, [shape, negative]] = await net.several(net.tensor([1, 2, 3]), [5]);
same("a tuple in a tuple", [await square.data(), shape, await negative.data()], [[1, 4, 9], [3, 5, 7], [-1, -2, -3]]);
same("a number", await net.prim(20), 41);
same("a large number", await net.prim(2n ** 60n), 2n ** 61n + 1n);
const out = net.empty([3]);
same("where the caller says", [await net.scale(net.tensor([1, 2, 3]), 0.5, out), await out.data()], [null, [0.5, 1, 1.5]]);
same("bytes beside each other", await (await net.join(...[[1, 2, 3, 4, 5], [6, 7, 8], [-1, -2, -3, -4, -5, -6]].map(v => net.tensor(v, [v.length], "int8")))).data(),
  [2, 4, 6, 8, 10, 12, 14, 16, -2, -4, -6, -8, -10, -12]);

// ---- what must be read in the midst of a function ----

const canWait = typeof WebAssembly.Suspending === "function";
if (!onGpu || canWait) {
  for (const c of [1, 0]) same("an if", await (await net.choose(net.tensor([c], [], "bool"), net.tensor([1, 2, 3, 4]))).data(), c ? [2, 4, 6, 8] : [-1, -2, -3, -4]);
  same("a size that follows from data", await (await net.sizes(net.tensor([3, 1, 3, 2, 1]))).data(), [1, 2, 3]);
} else await fails("an if", () => net.choose(net.tensor([1], [], "bool"), net.tensor([1, 2, 3, 4])), "Promise Integration");

// ---- many calls ----

const many = await Promise.all(Array.from({ length: 50 }, async (_, i) => (await net.twice(net.tensor([i, i + 1]))).data()));
same("calls at once", many, many.map((_, i) => [2 * i, 2 * i + 2]));
const before = net.x.memory.buffer.byteLength;
for (let i = 0; i < 300; i++) {
  const x = net.empty([100000]), y = await net.twice(x);
  if (onGpu && i % 50 === 0) await net.sync();
  y.dispose();
  x.dispose();
}
same("memory", net.x.memory.buffer.byteLength - before < 16 << 20, true);

// ---- wrong calls ----

const x = net.tensor([1, 2]);
await fails("a function that is not there", () => net.call("mian", x), "the module has no function 'mian'; it has ");
await fails("too few arguments", () => net.twice(), "twice: 1 argument expected, 0 given");
await fails("another dtype", () => net.twice(net.tensor([1], [1], "int32")), "argument 'x'");
await fails("another shape", () => net.constant(x), "argument 'x' has shape (2,)");
await fails("no tensor", () => net.twice(new Float32Array(2)), "a Float32Array is no argument: make a tensor of it");
await fails("a text that makes the memory grow", () => net.twice("x".repeat(96 << 20)), "argument 'x'");
await fails("no dtype", () => net.tensor([1], [1], "float31"), "there is no dtype 'float31'; there are int8");
await fails("a shape that does not fit", () => net.tensor([1, 2, 3], [2]), "bytes");
await fails("a tensor of another module", async () => net.twice((await load(args[1])).tensor([1, 2])), "a tensor of another module");
const gone = net.tensor([1]);
gone.dispose();
await fails("a tensor that is gone", () => net.twice(gone), "disposed of");
await fails("a file that is not there", () => load("nothing.wasm"), "nothing.wasm");
await fails("a file of something else", () => load(new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8])), "magic");
same("goes on after errors", await (await net.twice(x)).data(), [2, 4]);
same("names", net.functions.map(f => f.name).includes("main") && net.functions[0].signature.startsWith("("), true);
same("kinds", x instanceof Tensor, true);

console.log(`${passed} passed, ${failed} failed`);
(globalThis.Deno ?? process).exit(failed ? 1 : 0);
