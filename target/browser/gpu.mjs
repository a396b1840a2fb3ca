// gpu.mjs -- the browser's WebGPU as webgpu.c asks for it: buffers, programs and kernels by numbers, and their launches.
// What is done is recorded, and submitted when it must be seen, or there is much. Errors come late: the first one is kept
// for who waits next.

const BINDING_ALIGN = 256, SCALARS_SIZE = 64 << 10;
const ARG_SIZE = 32; // of a DeviceArg of device.h: memory at 0, begin at 8, size at 16, value at 20, nbytes at 24
const up = (n, to) => Math.ceil(n / to) * to;

// Bytes of another buffer into words that have other bytes, too: at: the byte to begin at, from: that of the source, n.
const COPY_BYTES = `
@group(0) @binding(0) var<storage, read_write> to: array<u32>;
@group(0) @binding(1) var<storage, read_write> source: array<u32>;
@group(0) @binding(2) var<uniform> args: vec4<u32>;
fn byte_at(i: u32) -> u32 { return (source[i / 4u] >> (i % 4u * 8u)) & 255u; }
@compute @workgroup_size(64) fn copy_bytes(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
  let first = args.x / 4u;
  let end = (args.x + args.z + 3u) / 4u;
  for (var w = first + id.x; w < end; w += n.x * 64u) {
    var word = to[w];
    for (var b = 0u; b < 4u; b++) {
      let at = w * 4u + b;
      if (at >= args.x && at < args.x + args.z) {
        word = (word & ~(255u << (b * 8u))) | (byte_at(at - args.x + args.y) << (b * 8u));
      }
    }
    to[w] = word;
  }
}`;

export class Gpu {
  // of navigator.gpu, or null if there is none
  static async open(gpu) {
    const adapter = gpu && await gpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) return null;
    const limits = {};
    for (const name of ["maxBufferSize", "maxStorageBufferBindingSize", "maxStorageBuffersPerShaderStage",
      "maxComputeWorkgroupStorageSize", "maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX",
      "maxComputeWorkgroupSizeY", "maxComputeWorkgroupSizeZ", "maxComputeWorkgroupsPerDimension"])
      limits[name] = adapter.limits[name];
    return new Gpu(await adapter.requestDevice({ requiredLimits: limits }));
  }

  constructor(device) {
    this.device = device;
    this.objects = [null]; // by their numbers, of which 0 is none
    this.unused = [];
    this.layouts = [];
    this.commands = this.pass = this.error = null;
    this.passing = []; // buffers that what is recorded uses last
    this.scalars = this.buffer(SCALARS_SIZE, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    this.scalarsHere = new Uint8Array(SCALARS_SIZE);
    this.scalarsLength = 0;
    device.addEventListener("uncapturederror", e => { this.error ??= e.error.message; });
    device.lost.then(info => { this.error ??= `the device is lost: ${info.message}`; });
  }

  put(object) {
    const number = this.unused.pop() ?? this.objects.length;
    this.objects[number] = object;
    return number;
  }
  take(number) {
    const object = this.objects[number];
    this.objects[number] = null;
    this.unused.push(number);
    return object;
  }

  // ---- commands ----

  encoder() {
    this.pass?.end();
    this.pass = null;
    return this.commands ??= this.device.createCommandEncoder();
  }
  computePass() { return this.pass ??= this.encoder().beginComputePass(); }
  flush() {
    if (!this.commands) return;
    this.encoder();
    if (this.scalarsLength) this.device.queue.writeBuffer(this.scalars, 0, this.scalarsHere, 0, this.scalarsLength);
    this.scalarsLength = 0;
    this.device.queue.submit([this.commands.finish()]);
    this.commands = null;
    for (const buffer of this.passing.splice(0)) buffer.destroy(); // once what was submitted is done
  }
  async sync() {
    this.flush();
    await this.device.queue.onSubmittedWorkDone();
    await new Promise(resolve => setTimeout(resolve)); // errors are told by events
    const error = this.error;
    this.error = null;
    if (error) throw new Error(`webgpu: ${error}`);
  }

  // ---- memory; sizes are multiples of 4 ----

  buffer(size, usage) { return this.device.createBuffer({ size, usage }); }
  passingBuffer(size) {
    this.passing.push(this.buffer(size, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST));
    return this.passing.at(-1);
  }
  alloc(nbytes) {
    if (nbytes > this.device.limits.maxBufferSize)
      throw new Error(`webgpu can't allocate ${nbytes} bytes: a buffer has at most ${this.device.limits.maxBufferSize}`);
    return this.put(this.buffer(up(nbytes || 4, 4), GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST));
  }
  free(number) { // it may be in commands that are not submitted yet
    this.flush();
    this.take(number).destroy();
  }
  staged(bytes) {
    const words = new Uint8Array(up(bytes.length, 4)), staging = this.passingBuffer(words.length);
    words.set(bytes);
    this.device.queue.writeBuffer(staging, 0, words);
    return staging;
  }
  write(number, begin, bytes) {
    const aligned = begin % 4 === 0 && bytes.length % 4 === 0;
    this.flush(); // writes are done before what is submitted later
    if (aligned) this.device.queue.writeBuffer(this.objects[number], begin, bytes);
    else this.copyBytes(this.objects[number], begin, this.staged(bytes), 0, bytes.length);
  }
  fill(number, begin, byte, nbytes) {
    const zeros = byte === 0 && begin % 4 === 0 && nbytes % 4 === 0;
    if (zeros) this.encoder().clearBuffer(this.objects[number], begin, nbytes);
    else this.write(number, begin, new Uint8Array(nbytes).fill(byte));
  }
  copy(to, toBegin, from, fromBegin, nbytes) {
    const [target, source] = [this.objects[to], this.objects[from]], first = fromBegin - fromBegin % 4;
    const aligned = toBegin % 4 === 0 && fromBegin % 4 === 0 && nbytes % 4 === 0;
    if (aligned && to !== from) {
      this.encoder().copyBufferToBuffer(source, fromBegin, target, toBegin, nbytes);
      return;
    }
    const size = up(fromBegin + nbytes - first, 4); // one buffer can't be copied to itself
    const middle = this.passingBuffer(size);
    this.encoder().copyBufferToBuffer(source, first, middle, 0, size);
    if (aligned) this.encoder().copyBufferToBuffer(middle, 0, target, toBegin, nbytes);
    else this.copyBytes(target, toBegin, middle, fromBegin - first, nbytes);
  }
  copyBytes(target, begin, source, from, nbytes) {
    this.bytesPipeline ??= this.device.createComputePipeline({
      layout: "auto", compute: { module: this.device.createShaderModule({ code: COPY_BYTES }), entryPoint: "copy_bytes" } });
    const args = this.putScalars(new Uint8Array(new Uint32Array([begin, from, nbytes, 0]).buffer));
    this.dispatch(this.bytesPipeline, this.bytesPipeline.getBindGroupLayout(0),
      [{ buffer: target }, { buffer: source }, args], Math.min(Math.ceil(nbytes / 256) + 1, 65535), 1, 1);
  }
  async read(number, begin, nbytes) {
    const first = begin - begin % 4, size = up(begin + nbytes - first, 4);
    const staging = this.buffer(size || 4, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    if (size) this.encoder().copyBufferToBuffer(this.objects[number], first, staging, 0, size);
    await this.sync();
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = new Uint8Array(staging.getMappedRange()).slice(begin - first, begin - first + nbytes);
    staging.destroy();
    return bytes;
  }

  // ---- programs ----

  load(code) { return this.put(this.device.createShaderModule({ code })); }
  kernel(program, name) { return this.put({ module: this.objects[program], name, pipeline: null }); }

  layoutOf(buffers) {
    const entry = binding => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: binding < buffers ? "storage" : "uniform" } });
    return this.layouts[buffers] ??= this.device.createBindGroupLayout({ entries: Array.from({ length: buffers + 1 }, (_, i) => entry(i)) });
  }
  pipelineOf(kernel, buffers) {
    const layout = () => this.device.createPipelineLayout({ bindGroupLayouts: [this.layoutOf(buffers)] });
    return kernel.pipeline ??= this.device.createComputePipeline({ layout: layout(), compute: { module: kernel.module, entryPoint: kernel.name } });
  }

  // ---- launches ----

  // As the text of the kernel has them, in a part of the buffer of all scalars.
  putScalars(bytes) {
    const size = up(bytes.length, BINDING_ALIGN);
    if (this.scalarsLength + size > SCALARS_SIZE) this.flush();
    const offset = this.scalarsLength;
    this.scalarsHere.set(bytes, offset);
    this.scalarsLength += size;
    return { buffer: this.scalars, offset, size };
  }

  dispatch(pipeline, layout, resources, x, y, z) {
    const group = this.device.createBindGroup({ layout, entries: resources.map((resource, binding) => ({ binding, resource })) });
    const pass = this.computePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(x, y, z);
  }

  // A buffer that the kernel sees from a multiple of BINDING_ALIGN on, as much of it as the argument may have.
  binding(args, a, name, index) {
    if (!a.memory) return { buffer: this.nothing ??= this.buffer(BINDING_ALIGN, GPUBufferUsage.STORAGE) };
    const buffer = this.objects[a.memory], begin = Math.min(a.begin, buffer.size - 1), offset = begin - begin % BINDING_ALIGN;
    let end = buffer.size;
    if (a.size) end = Math.min(end, a.begin + a.size);
    else for (const b of args) if (b.memory === a.memory && b.begin > a.begin) end = Math.min(end, b.begin);
    const size = up(end - offset, 4), most = this.device.limits.maxStorageBufferBindingSize;
    if (size > most)
      throw new Error(`kernel ${name}: argument ${index + 1} has ${size} bytes, but WebGPU sees at most ${most} of a tensor here`);
    return { buffer, offset, size };
  }

  // One tensor as two arguments, which the kernel only reads: WebGPU wants no memory to be seen twice by who may write it.
  separate(resources) {
    return resources.map((r, i) => {
      const again = resources.slice(0, i).some(b => b.buffer === r.buffer && b.offset === r.offset && r.size);
      if (!again) return r;
      const copy = this.passingBuffer(r.size);
      this.encoder().copyBufferToBuffer(r.buffer, r.offset, copy, 0, r.size);
      return { buffer: copy };
    });
  }

  // Where there are more along an axis than a dispatch has, the kernel counts those of all axes.
  grid([x, y, z], name) {
    const most = this.device.limits.maxComputeWorkgroupsPerDimension, all = x * y * z;
    if (x <= most && y <= most && z <= most) return [x, y, z];
    if (all >= 2 ** 32 || Math.ceil(all / most) > most)
      throw new Error(`kernel ${name}: ${x} x ${y} x ${z} blocks are more than WebGPU can count here`);
    return [most, Math.ceil(all / most), 1];
  }

  // view: a DataView of the program's memory; args: n DeviceArgs there; blocks: three words
  launch(number, name, n, view, args, blocks) {
    const kernel = this.objects[number], list = [], scalars = new DataView(new ArrayBuffer(n * 8 + 16));
    for (let i = 0; i < n; i++) {
      const at = args + i * ARG_SIZE, value = view.getUint32(at + 20, true);
      const arg = { memory: view.getUint32(at, true), begin: Number(view.getBigInt64(at + 8, true)), size: view.getUint32(at + 16, true), value };
      list.push(arg);
      scalars.setBigInt64(i * 8, value ? view.getBigInt64(value, true) : BigInt(arg.begin % BINDING_ALIGN), true);
    }
    const grid = [0, 4, 8].map(k => view.getUint32(blocks + k, true));
    grid.forEach((count, k) => scalars.setUint32(n * 8 + k * 4, count, true));
    const buffers = list.filter(a => !a.value), most = this.device.limits.maxStorageBuffersPerShaderStage;
    if (buffers.length > most)
      throw new Error(`kernel ${name}: it has ${buffers.length} buffers, but WebGPU binds at most ${most} here: build for "webgpu -max_storage_buffers=${most}"`);
    const resources = this.separate(buffers.map((a, i) => this.binding(buffers, a, name, i)));
    const pipeline = this.pipelineOf(kernel, buffers.length);
    this.dispatch(pipeline, this.layoutOf(buffers.length), [...resources, this.putScalars(new Uint8Array(scalars.buffer))],
      ...this.grid(grid, name));
  }
}
