/* webgpu_abi.h -- what of webgpu.h the runtime uses, by its own names: handles are pointers, enums
 * numbers. Nothing of WebGPU is needed to build. The header is that of the standard C API
 * (webgpu-native/webgpu-headers), which wgpu-native and Dawn implement. */
#ifndef TARGET_RUNTIME_WEBGPU_ABI_H
#define TARGET_RUNTIME_WEBGPU_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { /* of the enums that are used */
       WG_SUCCESS = 1,
       WG_NO_ERROR = 1,
       WG_WHEN_PROCESSED = 2, /* callbacks come from wgpuInstanceProcessEvents */
       WG_HIGH_PERFORMANCE = 2,
       WG_CORE = 2,
       WG_SOURCE_WGSL = 2,
       WG_COMPUTE = 4,
       WG_ON_VALIDATION = 1,
       WG_ON_MEMORY = 2,
       WG_UNIFORM_BINDING = 2,
       WG_STORAGE_BINDING = 3,
       WG_MAP_READ = 1,
       WG_COPY_FROM = 4,
       WG_COPY_TO = 8,
       WG_UNIFORM = 64,
       WG_STORAGE = 128
};

typedef struct WgText {
  const char *at;
  size_t length; /* SIZE_MAX: up to the 0 */
} WgText;
#define WG_TEXT(text) ((WgText){text, SIZE_MAX})

typedef struct WgChain {
  const struct WgChain *next;
  uint32_t type;
} WgChain;

typedef struct WgCallback { /* of all functions that answer later */
  const void *next;
  uint32_t mode;
  void *function;
  void *a, *b;
} WgCallback;

typedef struct WgErrorCallback {
  const void *next;
  void *function;
  void *a, *b;
} WgErrorCallback;

typedef struct WgFuture {
  uint64_t id;
} WgFuture;

typedef struct WgAdapterOptions {
  const void *next;
  uint32_t level, power, fallback, backend;
  void *surface;
} WgAdapterOptions;

typedef struct WgAdapterInfo {
  const void *next;
  WgText vendor, architecture, device, description;
  uint32_t backend, type, vendor_id, device_id, least_subgroup, most_subgroup;
} WgAdapterInfo;

typedef struct WgLimits {
  const void *next;
  uint32_t texture_1d, texture_2d, texture_3d, texture_layers, bind_groups,
      bind_groups_and_vertices, bindings, dynamic_uniforms, dynamic_storages, textures, samplers,
      storage_buffers, storage_textures, uniform_buffers;
  uint64_t uniform_bytes, storage_bytes;
  uint32_t uniform_align, storage_align, vertex_buffers;
  uint64_t buffer_bytes;
  uint32_t vertex_attributes, vertex_stride, stage_variables, attachments, attachment_bytes,
      shared_bytes, threads, threads_x, threads_y, threads_z, blocks, immediate_bytes;
} WgLimits;

typedef struct WgDeviceDescriptor {
  const void *next;
  WgText label;
  size_t features_len;
  const uint32_t *features;
  const WgLimits *limits;
  struct {
    const void *next;
    WgText label;
  } queue;
  WgCallback lost;
  WgErrorCallback error;
} WgDeviceDescriptor;

typedef struct WgBufferDescriptor {
  const void *next;
  WgText label;
  uint64_t usage, size;
  uint32_t mapped;
} WgBufferDescriptor;

typedef struct WgSource {
  WgChain chain;
  WgText code;
} WgSource;

typedef struct WgDescriptor { /* of shader modules, encoders, passes */
  const void *next;
  WgText label;
  const void *more;
} WgDescriptor;

typedef struct WgLayoutEntry {
  const void *next;
  uint32_t binding;
  uint64_t visibility;
  uint32_t array_size;
  struct {
    const void *next;
    uint32_t type, dynamic;
    uint64_t least;
  } buffer;
  struct {
    const void *next;
    uint32_t type;
  } sampler;
  struct {
    const void *next;
    uint32_t type, dimension, multisampled;
  } texture;
  struct {
    const void *next;
    uint32_t access, format, dimension;
  } storage;
} WgLayoutEntry;

typedef struct WgLayoutDescriptor {
  const void *next;
  WgText label;
  size_t len;
  const WgLayoutEntry *entries;
} WgLayoutDescriptor;

typedef struct WgPipelineLayoutDescriptor {
  const void *next;
  WgText label;
  size_t len;
  void *const *layouts;
  uint32_t immediate_bytes;
} WgPipelineLayoutDescriptor;

typedef struct WgPipelineDescriptor {
  const void *next;
  WgText label;
  void *layout;
  struct {
    const void *next;
    void *module;
    WgText entry;
    size_t constants_len;
    const void *constants;
  } compute;
} WgPipelineDescriptor;

typedef struct WgBinding {
  const void *next;
  uint32_t binding;
  void *buffer;
  uint64_t offset, size;
  void *sampler, *texture;
} WgBinding;

typedef struct WgBindGroupDescriptor {
  const void *next;
  WgText label;
  void *layout;
  size_t len;
  const WgBinding *entries;
} WgBindGroupDescriptor;

#endif
