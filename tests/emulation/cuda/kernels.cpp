// Modules and launches of the CUDA runtime on the emulated GPU: PTX from the
// program's fat binaries.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulation/cuda/stream.hpp"
#include "tests/emulation/cuda/symbols.hpp"
#include "tests/emulation/run/warp.hpp"

using namespace quintet::emulation;

namespace {

struct Loaded {
  std::unique_ptr<Module> module;
  std::string ptx;
};
struct Entry {
  Loaded *module = nullptr;
  std::string name;
  const Kernel *kernel = nullptr;
  int dynamic_limit = -1;  // until it is set, 48 KiB less what is static
};
std::map<const void *, Entry> &entries() {
  static auto *value = new std::map<const void *, Entry>;
  return *value;
}
struct Symbol {
  Loaded *module = nullptr;
  std::string name;
  std::size_t bytes = 0;
};
std::map<const void *, Symbol> &symbols() {
  static auto *value = new std::map<const void *, Symbol>;
  return *value;
}
Module *module_of(Loaded *m) {
  if (m && !m->module) m->module = std::make_unique<Module>(m->ptx);
  return m ? m->module.get() : nullptr;
}
const Kernel *kernel_of(Entry &e) {
  if (!e.kernel) e.kernel = module_of(e.module)->kernel(e.name);
  return e.kernel;
}
int limit_of(Entry &e) {
  return e.dynamic_limit >= 0 ? e.dynamic_limit : 49152 - static_cast<int>(kernel_of(e)->static_shared);
}
Entry *entry_of(const void *function) {
  const auto found = entries().find(function);
  return found == entries().end() ? nullptr : &found->second;
}
struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void *stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

namespace quintet::emulation {
std::uint64_t address_of(const void *symbol) {
  const auto found = symbols().find(symbol);
  return found == symbols().end() ? 0 : module_of(found->second.module)->variable(found->second.name).first;
}
}  // namespace quintet::emulation

extern "C" {

void **__cudaRegisterFatBinary(void *data) {
  struct Wrapper {
    int magic, version;
    const unsigned char *data;
    void *more;
  };
  const auto *w = static_cast<const Wrapper *>(data);
  auto *loaded = new Loaded;
  // header: magic, version, bytes of the header, bytes of all; an entry: kind 1
  // is PTX
  struct Head {
    std::uint32_t magic;
    std::uint16_t version, bytes;
    std::uint64_t size;
  };
  const auto *head = reinterpret_cast<const Head *>(w->data);
  const unsigned char *at = w->data + head->bytes;
  const unsigned char *end = at + head->size;
  while (at < end) {
    std::uint16_t kind;
    std::uint32_t header;
    std::uint64_t size;
    std::memcpy(&kind, at, 2);
    std::memcpy(&header, at + 4, 4);
    std::memcpy(&size, at + 8, 8);
    if (kind == 1)
      loaded->ptx = std::string(reinterpret_cast<const char *>(at + header),
                                strnlen(reinterpret_cast<const char *>(at + header), size));
    at += header + size;
  }
  if (loaded->ptx.find(".version") == std::string::npos && !loaded->ptx.empty())
    std::fprintf(stderr, "emulation: PTX that is compressed: build with --no-compress\n");
  if (loaded->ptx.empty()) std::fprintf(stderr, "emulation: no PTX in a module\n");
  static bool registered = false;
  if (!registered) std::atexit(report);
  registered = true;
  return reinterpret_cast<void **>(loaded);
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **module, const char *host, char *, const char *name, int, void *, void *,
                            void *, void *, int *) {
  entries()[host] = {reinterpret_cast<Loaded *>(module), name, nullptr, -1};
}
void __cudaRegisterVar(void **module, char *host, char *, const char *name, int, std::size_t bytes, int,
                       int) {
  symbols()[host] = {reinterpret_cast<Loaded *>(module), name, bytes};
}
void __cudaRegisterManagedVar(void **, void **, char *, const char *name, int, std::size_t, int, int) {
  std::fprintf(stderr, "emulation: a managed variable %s is not known\n", name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void *stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, std::size_t *shared, void *stream) {
  const Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<void **>(stream) = c.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             std::size_t shared, cudaStream_t stream) {
  Entry *e = entry_of(function);
  if (!e) return complain(cudaErrorInvalidDeviceFunction, "a function that was not registered");
  const Kernel *k = kernel_of(*e);
  if (!k) return complain(cudaErrorInvalidDeviceFunction, "no kernel %s", e->name.c_str());
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  const std::size_t most = k->max_threads[0] ? static_cast<std::size_t>(k->max_threads[0]) *
                                                   static_cast<std::size_t>(k->max_threads[1]) *
                                                   std::int64_t{k->max_threads[2]}
                                             : 1024;
  if (threads == 0 || threads > most || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return complain(cudaErrorInvalidConfiguration,
                    "launch of (%u, %u, %u) blocks of (%u, %u, %u) threads (at "
                    "most %zu) of %s",
                    grid.x, grid.y, grid.z, block.x, block.y, block.z, most, e->name.c_str());
  if (static_cast<int>(shared) > limit_of(*e) || shared + k->static_shared > 232448)
    return complain(cudaErrorInvalidValue, "launch with %zu + %zu bytes of shared memory, at most %d, of %s",
                    shared, k->static_shared, limit_of(*e), e->name.c_str());
  auto parameters = std::make_shared<std::vector<std::uint8_t>>(k->parameter_bytes);
  for (std::size_t p = 0; p < k->parameters.size(); ++p)
    std::memcpy(parameters->data() + k->parameters[p].first, arguments[p], k->parameters[p].second);
  enqueue(stream, [=] {
    launch(*k, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, *parameters);
  });
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               std::size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *function) {
  Entry *e = entry_of(function);
  const Kernel *k = e ? kernel_of(*e) : nullptr;
  if (!k) return complain(cudaErrorInvalidDeviceFunction, "attributes of a function that is not known");
  *a = {};
  a->sharedSizeBytes = k->static_shared;
  a->localSizeBytes = k->local_bytes;
  a->maxThreadsPerBlock =
      k->max_threads[0] ? k->max_threads[0] * k->max_threads[1] * k->max_threads[2] : 1024;
  const int blocks = k->min_blocks > 0 ? k->min_blocks : 1;
  a->numRegs = std::min(255, 65536 / (a->maxThreadsPerBlock * blocks) / 8 * 8);
  if (k->max_threads[0] == 0) a->numRegs = 64;
  a->ptxVersion = a->binaryVersion = 90;
  a->maxDynamicSharedSizeBytes = limit_of(*e);
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
  Entry *e = entry_of(function);
  if (!e) return complain(cudaErrorInvalidDeviceFunction, "an attribute of a function that is not known");
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value + static_cast<int>(kernel_of(*e)->static_shared) > 232448)
      return complain(cudaErrorInvalidValue, "%d bytes of shared memory", value);
    e->dynamic_limit = value;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          std::size_t shared) {
  cudaFuncAttributes a;
  if (const auto e = cudaFuncGetAttributes(&a, function); e != cudaSuccess) return e;
  const auto bytes = static_cast<int>(shared + a.sharedSizeBytes) + 1024;
  const int warps = (threads + 31) / 32;
  const int by_registers = 65536 / (((a.numRegs + 7) / 8 * 8) * 32 * warps);
  *blocks = threads > a.maxThreadsPerBlock || static_cast<int>(shared) > a.maxDynamicSharedSizeBytes
                ? 0
                : std::min({by_registers, 233472 / bytes, 2048 / (warps * 32), 32});
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                   int threads, std::size_t shared,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

}  // extern "C"
