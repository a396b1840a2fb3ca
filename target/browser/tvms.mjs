// tvms.mjs -- runs what `tvms build -o FILE.wasm` makes, in browsers, Node.js and Deno.
//
//   import { load } from "./tvms.mjs";
//   const net = await load("net.wasm");
//   const x = net.tensor(new Float32Array([1, 2, 3]), [1, 3]);
//   const y = await net.main(x);
//   console.log(y.shape, await y.data());
//
// A module that was built for webgpu computes on the GPU; tensors stay there until data() is asked for.
import { Gpu } from "./gpu.mjs";

const CPU = 1; // of DLDeviceType
const [NONE, INT, FLOAT, BOOL, STR] = [0, 1, 2, 3, 4], [TENSOR, SHAPE, TUPLE] = [8, 9, 10]; // TvmsType
const CODES = { int: 0, uint: 1, float: 2, bfloat: 4, bool: 6 }; // DLDataTypeCode

const ARRAYS = {
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array, uint16: Uint16Array,
  uint32: Uint32Array, uint64: BigUint64Array, float16: globalThis.Float16Array ?? Uint16Array, bfloat16: Uint16Array,
  float32: Float32Array, float64: Float64Array, bool: Uint8Array,
};
const dtypeOfArray = data => Object.keys(ARRAYS).find(d => d !== "bool" && ARRAYS[d] === data.constructor);

// A tensor of a module, on the device that the module was built for.
export class Tensor {
  constructor(module, pointer) { // takes over a reference
    this.module = module;
    this.pointer = pointer;
    module.tensors.register(this, pointer, this);
  }

  get shape() {
    const { x, view } = this.module, dims = x.tensor_dims(this.pointer);
    return Array.from({ length: x.tensor_ndim(this.pointer) }, (_, i) => Number(view().getBigInt64(dims + 8 * i, true)));
  }
  get dtype() {
    const word = this.module.x.tensor_dtype(this.pointer), bits = word >> 8 & 255;
    const name = Object.keys(CODES).find(n => CODES[n] === (word & 255));
    return name === "bool" ? "bool" : `${name}${bits}`;
  }
  get device() { return this.module.x.tensor_device(this.pointer) === CPU ? "cpu" : "webgpu"; }

  // A typed array of all elements; of float16, where JavaScript has no such array, and of bfloat16 their bits.
  async data() {
    const { x } = this.module, array = ARRAYS[this.dtype];
    if (!array) throw new Error(`JavaScript has no array of ${this.dtype}`);
    const compact = this.module.given(x.tensor_compact(this.pointer)), nbytes = x.tensor_nbytes(compact);
    try {
      const bytes = this.device === "cpu" ? this.module.bytes(x.tensor_data(compact), nbytes).slice() : await this.module.fromGpu(compact, nbytes);
      return new array(bytes.buffer);
    } finally { x.release(compact); }
  }

  // Gives its memory back at once, which else happens some time after it was last used.
  dispose() {
    if (this.pointer) this.module.x.release(this.pointer);
    this.module.tensors.unregister(this);
    this.pointer = 0;
  }
}

// A loaded module. Its functions are methods: net.main(...), net.call("main", ...).
class Module {
  constructor() {
    this.gpu = null;
    this.x = null; // the exports of exports.c
    this.tensors = new FinalizationRegistry(pointer => this.x.release(pointer));
    this.view = this.view.bind(this);
    this.busy = Promise.resolve();
  }

  // ---- the program's memory ----

  view() { return new DataView(this.x.memory.buffer); }
  bytes(at, nbytes) { return new Uint8Array(this.x.memory.buffer, at, nbytes); }
  text(at) {
    const all = new Uint8Array(this.x.memory.buffer);
    return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)));
  }
  // Memory of one call, freed with it.
  scratch(use) {
    const made = [];
    const alloc = n => {
      const at = this.x.malloc(n) >>> 0;
      if (!at) throw new Error(`out of memory: ${n} bytes`);
      made.push(at);
      return at;
    };
    const put = bytes => {
      const at = alloc(bytes.length);
      this.bytes(at, bytes.length).set(bytes);
      return at;
    };
    const free = () => made.forEach(at => this.x.free(at));
    const text = s => put(new TextEncoder().encode(`${s}\0`));
    const dims = list => put(new Uint8Array(BigInt64Array.from(list, BigInt).buffer));
    let out;
    try {
      out = use({ alloc, put, text, dims });
    } catch (e) {
      free();
      throw e;
    }
    if (out instanceof Promise) return out.finally(free);
    free();
    return out;
  }

  // ---- errors ----

  fail() { throw new Error(this.text(this.x.last_error())); }
  given(pointer) { return pointer || this.fail(); }
  check(status) { if (status) this.fail(); }
  // For gpu.mjs: what is thrown becomes the error of the function that runs.
  guard(otherwise, use) {
    try {
      return use() ?? 0;
    } catch (e) {
      this.scratch(s => this.x.set_error(s.text(e.message)));
      return otherwise;
    }
  }

  // ---- tensors ----

  // data: a typed array, or an array of numbers; shape: that of a vector if it is not given
  tensor(data, shape = [data.length], dtype = dtypeOfArray(data) ?? "float32") {
    const array = ARRAYS[dtype];
    if (!array) throw new Error(`there is no dtype '${dtype}'; there are ${Object.keys(ARRAYS).join(", ")}`);
    const typed = ArrayBuffer.isView(data) ? data : array.from(data, array === BigInt64Array || array === BigUint64Array ? BigInt : Number);
    const t = this.empty(shape, dtype), bytes = new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength);
    this.scratch(s => this.check(this.x.tensor_set(t.pointer, s.put(bytes), bytes.length)));
    return t;
  }
  empty(shape, dtype = "float32") {
    const [, name, digits] = /^([a-z]+)(\d*)$/.exec(dtype) ?? [];
    if (!(name in CODES)) throw new Error(`there is no dtype '${dtype}'`);
    return this.scratch(s => new Tensor(this, this.given(
      this.x.tensor(this.device, shape.length, s.dims(shape), CODES[name], name === "bool" ? 8 : Number(digits), 1))));
  }
  async fromGpu(pointer, nbytes) {
    if (!nbytes) return new Uint8Array(0);
    const [number, begin] = this.scratch(s => {
      const at = s.alloc(4);
      return [this.given(this.x.tensor_buffer(pointer, at)), this.view().getUint32(at, true)];
    });
    return this.gpu.read(number, begin, nbytes);
  }
  async sync() { await this.gpu?.sync(); }

  // ---- calls ----

  // Writes a value; returns its type. `made` gets what is to be released after the call.
  write(s, at, value, made) {
    const put = (type, method, bits) => { // what made the bits may have moved the memory
      this.view()[method](at, bits, true);
      return type;
    };
    if (value === null || value === undefined) return NONE;
    switch (typeof value) {
      case "boolean": return put(BOOL, "setBigInt64", value ? 1n : 0n);
      case "bigint": return put(INT, "setBigInt64", value);
      case "string": return put(STR, "setUint32", s.text(value));
      case "number":
        if (!Number.isSafeInteger(value)) return put(FLOAT, "setFloat64", value);
        return put(INT, "setBigInt64", BigInt(value));
    }
    if (value instanceof Tensor) {
      if (value.module !== this || !value.pointer) throw new Error("a tensor of another module, or one that was disposed of");
      return put(TENSOR, "setUint32", value.pointer);
    }
    if (!Array.isArray(value)) throw new Error(`a ${value.constructor.name} is no argument: make a tensor of it by tensor(data, shape)`);
    const isShape = value.every(v => Number.isSafeInteger(v) || typeof v === "bigint");
    const object = this.given(isShape ? this.x.shape(value.length, s.dims(value)) : this.tuple(s, value, made));
    made.push(object);
    return put(isShape ? SHAPE : TUPLE, "setUint32", object);
  }
  writeAll(s, list, made) {
    const values = s.alloc(8 * list.length), types = s.alloc(4 * list.length);
    list.forEach((v, i) => {
      const type = this.write(s, values + 8 * i, v, made);
      this.view().setInt32(types + 4 * i, type, true);
    });
    return [values, types];
  }
  tuple(s, list, made) { return this.x.tuple(list.length, ...this.writeAll(s, list, made)); }

  // A value that is ours: it is taken over, or copied and released.
  read(type, at) {
    const view = this.view(), pointer = view.getUint32(at, true);
    switch (type) {
      case NONE: return null;
      case INT: {
        const n = view.getBigInt64(at, true);
        return Number.isSafeInteger(Number(n)) ? Number(n) : n;
      }
      case FLOAT: return view.getFloat64(at, true);
      case BOOL: return view.getBigInt64(at, true) !== 0n;
      case TENSOR: return new Tensor(this, pointer);
    }
    try {
      if (type === STR) return this.text(pointer);
      if (type === SHAPE) {
        const dims = this.x.shape_dims(pointer);
        return Array.from({ length: this.x.shape_ndim(pointer) }, (_, i) => Number(this.view().getBigInt64(dims + 8 * i, true)));
      }
      if (type === TUPLE) return this.scratch(s => this.items(s, pointer));
      throw new Error("the function gives a value that JavaScript has no use for");
    } finally {
      if (type === STR) this.x.free(pointer);
      else this.x.release(pointer);
    }
  }
  items(s, tuple) {
    const at = s.alloc(8);
    return Array.from({ length: this.x.tuple_size(tuple) }, (_, i) => {
      const type = this.x.tuple_get(tuple, i, at), pointer = this.view().getUint32(at, true);
      if (type >= TENSOR) this.x.retain(pointer);
      if (type === STR) return this.text(pointer);
      return this.read(type, at);
    });
  }

  // Calls are done one after the other, also where one waits for the GPU.
  call(name, ...args) {
    const result = this.busy.then(() => this.callNow(name, args));
    this.busy = result.catch(() => {});
    return result;
  }
  callNow(name, args) {
    const made = [];
    const release = () => made.forEach(object => this.x.release(object));
    return this.scratch(async s => {
      try {
        const f = this.given(this.x.function(this.pointer, s.text(name)));
        made.push(f);
        const [values, types] = this.writeAll(s, args, made), ret = s.alloc(16);
        this.check(await this.x.call(f, values, types, args.length, ret, ret + 8));
        this.gpu?.flush();
        return this.read(this.view().getInt32(ret + 8, true), ret);
      } finally { release(); }
    });
  }

  // ---- what the program asks for ----

  imports() {
    const g = use => (...args) => this.guard(-1, () => use(...args)), number = use => (...args) => this.guard(0, () => use(...args));
    const bytes = (at, n) => this.bytes(at >>> 0, n >>> 0);
    return {
      gpu_count: () => this.gpu ? 1 : 0,
      gpu_alloc: number(n => this.gpu.alloc(n >>> 0)),
      gpu_free: g(m => this.gpu.free(m)),
      gpu_write: g((m, begin, from, n) => this.gpu.write(m, begin >>> 0, bytes(from, n))),
      gpu_read: waiting(this, async (to, m, begin, n) => {
        const read = await this.gpu.read(m, begin >>> 0, n >>> 0);
        bytes(to, n).set(read);
      }),
      gpu_copy: g((to, toBegin, from, fromBegin, n) => this.gpu.copy(to, toBegin >>> 0, from, fromBegin >>> 0, n >>> 0)),
      gpu_fill: g((m, begin, byte, n) => this.gpu.fill(m, begin >>> 0, byte, n >>> 0)),
      gpu_sync: waiting(this, () => this.gpu.sync()),
      gpu_load: number(source => this.gpu.load(this.text(source))),
      gpu_unload: g(p => { this.gpu.take(p); }),
      gpu_kernel: number((p, name) => this.gpu.kernel(p, this.text(name))),
      gpu_kernel_free: g(k => { this.gpu.take(k); }),
      gpu_launch: g((k, name, n, args, blocks) => this.gpu.launch(k, this.text(name), n, this.view(), args >>> 0, blocks >>> 0)),
    };
  }
}

// Can WebAssembly wait for JavaScript? (JavaScript Promise Integration)
const canSuspend = typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";

// A function that waits for the GPU in the midst of a program.
function waiting(module, use) {
  const failed = e => module.guard(-1, () => { throw e; });
  if (canSuspend) return new WebAssembly.Suspending((...args) => use(...args).then(() => 0, failed));
  return () => failed(new Error("the function must read from the GPU before it ends, for which this JavaScript engine has no Promise Integration (WebAssembly.Suspending)"));
}

// What the C library asks of the system: to write messages, to end; all else is refused (ENOSYS).
function system(compiled, module) {
  const texts = { 1: "", 2: "" };
  const known = {
    fd_write(fd, vectors, n, written) {
      let count = 0;
      for (let i = 0; i < n; i++) {
        const at = module.view().getUint32(vectors + 8 * i, true), length = module.view().getUint32(vectors + 8 * i + 4, true);
        texts[fd] = (texts[fd] ?? "") + new TextDecoder().decode(module.bytes(at, length).slice());
        count += length;
      }
      const lines = texts[fd].split("\n");
      texts[fd] = lines.pop();
      for (const line of lines) (fd === 1 ? console.log : console.error)(line);
      module.view().setUint32(written, count, true);
      return 0;
    },
    environ_sizes_get(count, size) {
      module.view().setUint32(count, 0, true);
      module.view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    clock_time_get(id, precision, out) {
      module.view().setBigUint64(out, BigInt(Math.round((id ? performance.now() : Date.now()) * 1e6)), true);
      return 0;
    },
    proc_exit(status) { throw new Error(`the program ended with status ${status}`); },
  };
  const wanted = WebAssembly.Module.imports(compiled).filter(i => i.module === "wasi_snapshot_preview1");
  return Object.fromEntries(wanted.map(({ name }) => [name, known[name] ?? (() => 52)]));
}

// A path of Node.js or Deno, or what fetch() takes, or the bytes themselves.
async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  if (source instanceof Response) return source.arrayBuffer();
  const isFile = typeof source === "string" ? !/^[a-z]+:/i.test(source) : source.protocol === "file:";
  if (isFile && globalThis.process?.versions?.node) return (await import("node:fs/promises")).readFile(source);
  const answer = await fetch(source);
  if (!answer.ok) throw new Error(`can't fetch ${source}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

// source: a URL, a path, a Response or the bytes of a file that `tvms build -o FILE.wasm` made.
// gpu: navigator.gpu, or another object like it
export async function load(source, { gpu = globalThis.navigator?.gpu } = {}) {
  const compiled = await WebAssembly.compile(await bytesOf(source));
  const module = new Module();
  const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: system(compiled, module), tvms: module.imports() });
  module.x = { ...instance.exports };
  if (canSuspend) module.x.call = WebAssembly.promising(instance.exports.call);
  instance.exports._initialize?.();
  if (module.text(module.x.target()).startsWith("webgpu")) module.gpu = await Gpu.open(gpu);
  module.pointer = module.given(module.x.module());
  module.device = module.x.device(module.pointer);
  module.functions = Array.from({ length: module.x.count() }, (_, i) => ({ name: module.text(module.x.name(i)), signature: module.text(module.x.signature(i)) }));
  for (const { name } of module.functions)
    if (!(name in module)) module[name] = (...args) => module.call(name, ...args);
  return module;
}
