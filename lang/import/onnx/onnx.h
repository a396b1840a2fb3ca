/* onnx.h -- reading and writing files of the ONNX format, as values of the language.
 *
 * The module `_onnx` is this door for the language; what it gives are plain values, which
 * stdlib/module/tvm/relax/frontend/onnx.tvms turns into a module of the IR:
 *
 *   model     {"ir_version", "producer", "opsets": {domain: version}, "graph", "functions": [...]}
 *   graph     {"name", "nodes", "inputs": [(name, type)], "outputs", "initializers": {name: value}}
 *   function  {"name", "domain", "overload", "inputs": [name], "outputs", "attributes": [name],
 *              "defaults": {name: value}, "nodes", "opsets"}
 *   node      {"op", "domain", "name", "overload", "inputs": [name], "outputs",
 *              "attrs": {name: value}, "refs": {name: attribute of the function around it}}
 *   type      ("tensor", dtype or "", dims or None), ("sequence", type), ("optional", type),
 *             ("map", dtype, type), ("sparse", dtype, dims); a dim is an int, a name, or None
 *   tensor    a tensor; of text ("strings", dims, [text]); of complex numbers ("complex", dtype,
 * dims) sparse    ("sparse", values, indices, dims)
 *
 * A file is not trusted: claimed sizes are compared with the bytes that are there before memory is
 * taken, nesting is limited, and data outside of the model's folder is not read. Every fault is a
 * ValueError (OSError if a file can't be read) that names the file and the tensor. */
#ifndef LANG_IMPORT_ONNX_ONNX_H
#define LANG_IMPORT_ONNX_ONNX_H

#include "lang/value/value.h"

Value onnx_load(void); /* the module _onnx */

#endif
