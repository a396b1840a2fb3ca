// run.mjs -- runs a WASI program that prints:  node run.mjs PROGRAM.wasm
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';
const wasi = new WASI({ version: 'preview1' });
const module = await WebAssembly.compile(await readFile(process.argv[2]));
const tvms = new Proxy({}, { get: () => () => 0 }); // no WebGPU
process.exitCode = wasi.start(await WebAssembly.instantiate(module, { ...wasi.getImportObject(), tvms }));
