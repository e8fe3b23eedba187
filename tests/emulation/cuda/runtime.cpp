// The CUDA runtime, as far as Kokkos and the engines call it, on the emulated GPU. What a stream is given is
// done when something waits for it, not before: a host that reads too early finds the old values.
// (EMULATION_EAGER=1: at once.) EMULATION_MEMORY_MIB, EMULATION_MULTIPROCESSORS: of the GPU [8192, 132].
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/emulation/cuda/stream.hpp"
#include "tests/emulation/run/memory.hpp"
#include "tests/emulation/run/warp.hpp"

using namespace quintet::emulation;

namespace {

thread_local cudaError_t last_error = cudaSuccess;
cudaError_t result(cudaError_t e) {
  if (e != cudaSuccess) last_error = e;
  return e;
}
[[nodiscard]] cudaError_t complain(cudaError_t e, const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::fprintf(stderr, "emulation: ");
  std::vfprintf(stderr, format, list);
  std::fprintf(stderr, "\n");
  va_end(list);
  return result(e);
}

struct Graph {
  std::vector<Work> work;
};

}  // namespace

struct CUstream_st {
  std::deque<Work> waiting;
  std::uint64_t given = 0, done = 0;
  bool blocking = true;
  Graph* capture = nullptr;
  std::uint64_t recorded = 0, joined = 0;  // works while it is recorded, those that another stream waits for
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
  std::uint64_t after = 0;  // works of the stream
  Graph* captured = nullptr;
  std::chrono::steady_clock::time_point time;
};

namespace {

CUstream_st default_stream;
std::set<CUstream_st*>& streams() {
  static auto* value = new std::set<CUstream_st*>;
  return *value;
}
bool eager() {
  static const bool value = std::getenv("EMULATION_EAGER") != nullptr;
  return value;
}

void advance(CUstream_st* s, std::uint64_t until) {
  while (s->done < until && !s->waiting.empty()) {
    Work w = std::move(s->waiting.front());
    s->waiting.pop_front();
    ++s->done;
    try {
      w();
    } catch (const Fault& fault) {
      std::fprintf(stderr, "emulation: %s\n", fault.what());
      std::abort();
    }
  }
}
void finish(CUstream_st* s) { advance(s, s->given); }
void finish_blocking() {
  for (CUstream_st* s : streams())
    if (s->blocking) finish(s);
  finish(&default_stream);
}
void finish_all() {
  for (CUstream_st* s : streams()) finish(s);
  finish(&default_stream);
}
CUstream_st* stream_of(cudaStream_t s) {
  const auto v = reinterpret_cast<std::uintptr_t>(s);
  return v <= 2 ? &default_stream : s;
}

bool recording() {
  for (CUstream_st* s : streams())
    if (s->capture) return true;
  return false;
}
/// Whether a graph is still being recorded.
bool is_recorded(const Graph* graph) {
  for (CUstream_st* s : streams())
    if (graph && s->capture == graph) return true;
  return false;
}

/// The default stream and all that are blocking wait for each other.
void give(cudaStream_t stream, Work work) {
  CUstream_st* s = stream_of(stream);
  if (s->capture) {
    s->capture->work.push_back(std::move(work));
    ++s->recorded;
    return;
  }
  if (s == &default_stream) {
    if (recording()) {
      std::fprintf(stderr, "emulation: work for the default stream while another is recorded\n");
      std::abort();
    }
    std::vector<std::pair<CUstream_st*, std::uint64_t>> before;
    for (CUstream_st* other : streams())
      if (other->blocking) before.emplace_back(other, other->given);
    work = [before, work = std::move(work)] {
      for (const auto& [other, until] : before) advance(other, until);
      work();
    };
  } else if (s->blocking && default_stream.given > default_stream.done) {
    work = [until = default_stream.given, work = std::move(work)] {
      advance(&default_stream, until);
      work();
    };
  }
  s->waiting.push_back(std::move(work));
  ++s->given;
  if (eager()) finish(s);
}

}  // namespace

namespace quintet::emulation {
void enqueue(void* stream, Work work) { give(static_cast<cudaStream_t>(stream), std::move(work)); }
}  // namespace quintet::emulation

// --- modules
// ---------------------------------------------------------------------------------------------------
namespace {

struct Loaded {
  std::unique_ptr<Module> module;
  std::string ptx;
};
struct Entry {
  Loaded* module = nullptr;
  std::string name;
  const Kernel* kernel = nullptr;
  int dynamic_limit = -1;  // until it is set, 48 KiB less what is static
};
std::map<const void*, Entry>& entries() {
  static auto* value = new std::map<const void*, Entry>;
  return *value;
}
struct Symbol {
  Loaded* module = nullptr;
  std::string name;
  std::size_t bytes = 0;
};
std::map<const void*, Symbol>& symbols() {
  static auto* value = new std::map<const void*, Symbol>;
  return *value;
}
Module* module_of(Loaded* m) {
  if (m && !m->module) m->module = std::make_unique<Module>(m->ptx);
  return m ? m->module.get() : nullptr;
}
const Kernel* kernel_of(Entry& e) {
  if (!e.kernel) e.kernel = module_of(e.module)->kernel(e.name);
  return e.kernel;
}
int limit_of(Entry& e) {
  return e.dynamic_limit >= 0 ? e.dynamic_limit : 49152 - static_cast<int>(kernel_of(e)->static_shared);
}
Entry* entry_of(const void* function) {
  const auto found = entries().find(function);
  return found == entries().end() ? nullptr : &found->second;
}
std::uint64_t address_of(const void* symbol) {
  const auto found = symbols().find(symbol);
  return found == symbols().end() ? 0 : module_of(found->second.module)->variable(found->second.name).first;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* data) {
  struct Wrapper {
    int magic, version;
    const unsigned char* data;
    void* more;
  };
  const auto* w = static_cast<const Wrapper*>(data);
  auto* loaded = new Loaded;
  // header: magic, version, bytes of the header, bytes of all; an entry: kind 1 is PTX
  struct Head {
    std::uint32_t magic;
    std::uint16_t version, bytes;
    std::uint64_t size;
  };
  const auto* head = reinterpret_cast<const Head*>(w->data);
  const unsigned char* at = w->data + head->bytes;
  const unsigned char* end = at + head->size;
  while (at < end) {
    std::uint16_t kind;
    std::uint32_t header;
    std::uint64_t size;
    std::memcpy(&kind, at, 2);
    std::memcpy(&header, at + 4, 4);
    std::memcpy(&size, at + 8, 8);
    if (kind == 1)
      loaded->ptx = std::string(reinterpret_cast<const char*>(at + header),
                                strnlen(reinterpret_cast<const char*>(at + header), size));
    at += header + size;
  }
  if (loaded->ptx.find(".version") == std::string::npos && !loaded->ptx.empty())
    std::fprintf(stderr, "emulation: PTX that is compressed: build with --no-compress\n");
  if (loaded->ptx.empty()) std::fprintf(stderr, "emulation: no PTX in a module\n");
  static bool registered = false;
  if (!registered) std::atexit(report);
  registered = true;
  return reinterpret_cast<void**>(loaded);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** module, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  entries()[host] = {reinterpret_cast<Loaded*>(module), name, nullptr, -1};
}
void __cudaRegisterVar(void** module, char* host, char*, const char* name, int, std::size_t bytes, int, int) {
  symbols()[host] = {reinterpret_cast<Loaded*>(module), name, bytes};
}
void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, std::size_t, int, int) {
  std::fprintf(stderr, "emulation: a managed variable %s is not known\n", name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  const Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<void**>(stream) = c.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  Entry* e = entry_of(function);
  if (!e) return complain(cudaErrorInvalidDeviceFunction, "a function that was not registered");
  const Kernel* k = kernel_of(*e);
  if (!k) return complain(cudaErrorInvalidDeviceFunction, "no kernel %s", e->name.c_str());
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  const std::size_t most = k->max_threads[0] ? static_cast<std::size_t>(k->max_threads[0]) *
                                                   static_cast<std::size_t>(k->max_threads[1]) *
                                                   static_cast<std::size_t>(k->max_threads[2])
                                             : 1024;
  if (threads == 0 || threads > most || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return complain(cudaErrorInvalidConfiguration,
                    "launch of (%u, %u, %u) blocks of (%u, %u, %u) threads (at most %zu) of %s", grid.x,
                    grid.y, grid.z, block.x, block.y, block.z, most, e->name.c_str());
  if (static_cast<int>(shared) > limit_of(*e) || shared + k->static_shared > 232448)
    return complain(cudaErrorInvalidValue, "launch with %zu + %zu bytes of shared memory, at most %d, of %s",
                    shared, k->static_shared, limit_of(*e), e->name.c_str());
  auto parameters = std::make_shared<std::vector<std::uint8_t>>(k->parameter_bytes);
  for (std::size_t p = 0; p < k->parameters.size(); ++p)
    std::memcpy(parameters->data() + k->parameters[p].first, arguments[p], k->parameters[p].second);
  give(stream, [=] {
    launch(*k, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, *parameters);
  });
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void* function) {
  Entry* e = entry_of(function);
  const Kernel* k = e ? kernel_of(*e) : nullptr;
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
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  Entry* e = entry_of(function);
  if (!e) return complain(cudaErrorInvalidDeviceFunction, "an attribute of a function that is not known");
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value + static_cast<int>(kernel_of(*e)->static_shared) > 232448)
      return complain(cudaErrorInvalidValue, "%d bytes of shared memory", value);
    e->dynamic_limit = value;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
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
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int threads, std::size_t shared,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

// --- memory
// ------------------------------------------------------------------------------------------------------
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  if (bytes > 0 && recording())
    return complain(cudaErrorStreamCaptureUnsupported, "memory is allocated while a stream is recorded");
  *p = bytes == 0 ? nullptr : allocate(bytes);
  return bytes == 0 || *p ? cudaSuccess
                          : complain(cudaErrorMemoryAllocation, "no memory for %zu bytes", bytes);
}
cudaError_t cudaMallocAsync(void** p, std::size_t bytes, cudaStream_t) { return cudaMalloc(p, bytes); }
cudaError_t cudaMallocManaged(void** p, std::size_t bytes, unsigned) {
  *p = allocate_pinned(bytes);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  *p = allocate_pinned(bytes);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** p, std::size_t bytes) { return cudaHostAlloc(p, bytes, 0); }
cudaError_t cudaFree(void* p) {
  if (p != nullptr && recording())
    return complain(cudaErrorStreamCaptureUnsupported, "memory is freed while a stream is recorded");
  finish_all();
  return p == nullptr || release(p)
             ? cudaSuccess
             : complain(cudaErrorInvalidValue, "free of %p, which was not allocated", p);
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
cudaError_t cudaFreeHost(void* p) {
  return on_device(p) ? complain(cudaErrorInvalidValue, "the device's memory is freed as the host's")
                      : cudaFree(p);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = memory_free();
  *total = memory_total();
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  *a = {};
  const Allocation* found = find(reinterpret_cast<std::uint64_t>(p));
  a->type = !found ? cudaMemoryTypeUnregistered : found->alias ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  if (found) {
    a->devicePointer = const_cast<void*>(p);
    if (!found->alias) a->hostPointer = const_cast<void*>(p);
  }
  return cudaSuccess;
}

namespace {
/// Of the device's memory, all bytes must be there.
bool valid(const void* p, std::size_t bytes, const char* what) {
  if (!on_device(p) || bytes == 0) return true;
  const Allocation* a = find(reinterpret_cast<std::uint64_t>(p));
  if (a && reinterpret_cast<std::uint64_t>(p) + bytes <= a->end) return true;
  std::fprintf(stderr, "emulation: %s %zu bytes at %p, beyond an allocation of the device\n", what, bytes, p);
  return false;
}
/// The bytes for a copy or fill that is done now.
void* there(const void* p, std::size_t bytes) {
  if (!valid(p, bytes, "memory is gone:")) std::abort();
  return bytes_of(p);
}
bool pageable(const void* p) { return !on_device(p) && find(reinterpret_cast<std::uint64_t>(p)) == nullptr; }
}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && bytes > 0 &&
      ((pageable(to) && wants_to) || (pageable(from) && wants_from) || (on_device(to) && !wants_to) ||
       (on_device(from) && !wants_from)))
    return complain(cudaErrorInvalidMemcpyDirection, "a copy of another direction than its memory");
  if (!valid(to, bytes, "a copy to") || !valid(from, bytes, "a copy of"))
    return result(cudaErrorInvalidValue);
  if (stream_of(stream)->capture && (pageable(from) || pageable(to)))
    return complain(cudaErrorStreamCaptureUnsupported,
                    "a copy of pageable memory while a stream is recorded");
  if (pageable(from)) {
    auto copy = std::make_shared<std::vector<char>>(static_cast<const char*>(from),
                                                    static_cast<const char*>(from) + bytes);
    give(stream, [=] { std::memcpy(there(to, bytes), copy->data(), bytes); });
  } else {
    give(stream, [=] { std::memmove(there(to, bytes), there(from, bytes), bytes); });
  }
  if (pageable(to)) finish(stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  for (CUstream_st* s : streams())
    if (s->capture) return complain(cudaErrorStreamCaptureImplicit, "cudaMemcpy while a stream is recorded");
  if (const auto e = cudaMemcpyAsync(to, from, bytes, kind, nullptr); e != cudaSuccess) return e;
  finish(&default_stream);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (!valid(to, bytes, "a fill of")) return result(cudaErrorInvalidValue);
  give(stream, [=] { std::memset(there(to, bytes), value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::uint64_t at = address_of(symbol);
  if (at == 0) return complain(cudaErrorInvalidSymbol, "a symbol that was not registered");
  return cudaMemcpyAsync(reinterpret_cast<void*>(at + offset), from, bytes, kind, stream);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  const std::uint64_t at = address_of(symbol);
  if (at == 0) return complain(cudaErrorInvalidSymbol, "a symbol that was not registered");
  return cudaMemcpy(reinterpret_cast<void*>(at + offset), from, bytes, kind);
}

// --- streams, events, graphs
// --------------------------------------------------------------------------------------
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  *s = new CUstream_st;
  (*s)->blocking = flags != cudaStreamNonBlocking;
  streams().insert(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* s) { return cudaStreamCreateWithFlags(s, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  if (!streams().count(s))
    return complain(cudaErrorInvalidResourceHandle, "a stream that is not there is destroyed");
  finish(s);
  streams().erase(s);  // not deleted: an event may name it
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  if (stream_of(s)->capture)
    return complain(cudaErrorStreamCaptureUnsupported, "a stream that is recorded is waited for");
  if (stream_of(s) == &default_stream)
    finish_blocking();
  else
    finish(s);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s) { return cudaStreamSynchronize(s); }
cudaError_t cudaDeviceSynchronize() {
  for (CUstream_st* s : streams())
    if (s->capture)
      return complain(cudaErrorStreamCaptureUnsupported,
                      "the device is waited for while a stream is recorded");
  finish_all();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
  CUstream_st* s = stream_of(stream);
  if (is_recorded(e->captured)) {  // a fork or join of a recording: its order is that of its being given
    e->stream->joined = e->after;
    s->capture = e->captured;
    return cudaSuccess;
  }
  if (s->capture)
    return complain(cudaErrorStreamCaptureIsolation, "a recording waits for what is not recorded");
  if (e->stream == nullptr || e->captured) return cudaSuccess;
  CUstream_st* other = e->stream;
  const std::uint64_t after = e->after;
  give(stream, [=] { advance(other, after); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  *e = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream) {
  CUstream_st* s = stream_of(stream);
  e->captured = s->capture;
  e->stream = s;
  if (s->capture) {
    e->after = s->recorded;
    return cudaSuccess;
  }
  give(stream, [e] { e->time = std::chrono::steady_clock::now(); });
  e->after = s->given;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  if (is_recorded(e->captured))
    return complain(cudaErrorCapturedEvent, "an event of a recording is waited for");
  if (e->stream && !e->captured) advance(e->stream, e->after);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) { return cudaEventSynchronize(e); }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  *ms = std::max(1e-6f, std::chrono::duration<float, std::milli>(b->time - a->time).count());
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  if (stream_of(s) == &default_stream)
    return complain(cudaErrorStreamCaptureUnsupported, "the default stream is recorded");
  s->capture = new Graph;
  s->recorded = s->joined = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* graph) {
  Graph* g = s->capture;
  if (g == nullptr) return complain(cudaErrorIllegalState, "the end of a recording that had no begin");
  bool all_joined = true;
  for (CUstream_st* other : streams())
    if (other->capture == g) {
      other->capture = nullptr;
      all_joined = all_joined && (other == s || other->joined == other->recorded);
      other->recorded = other->joined = 0;
    }
  if (!all_joined)
    return complain(cudaErrorStreamCaptureUnjoined, "a branch of a recording that nothing waits for");
  *graph = reinterpret_cast<cudaGraph_t>(g);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = reinterpret_cast<cudaGraphExec_t>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  delete reinterpret_cast<Graph*>(g);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
  finish_all();
  delete reinterpret_cast<Graph*>(g);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t stream) {
  auto* graph = reinterpret_cast<Graph*>(g);
  give(stream, [graph] {
    for (Work& w : graph->work) w();
  });
  return cudaSuccess;
}

// --- the device
// ------------------------------------------------------------------------------------------------------
cudaError_t cudaGetDeviceCount(int* n) {
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int d) { return d == 0 ? cudaSuccess : result(cudaErrorInvalidDevice); }
cudaError_t cudaGetDevice(int* d) {
  *d = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  std::memset(p, 0, sizeof *p);
  std::strcpy(p->name, "emulation of an NVIDIA H200");
  p->totalGlobalMem = memory_total();
  p->sharedMemPerBlock = 49152;
  p->regsPerBlock = 65536;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 65536;
  p->major = 9;
  p->minor = 0;
  const char* n = std::getenv("EMULATION_MULTIPROCESSORS");
  p->multiProcessorCount = n ? std::atoi(n) : 132;
  p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory =
      p->concurrentManagedAccess = 1;
  p->memoryBusWidth = 6144;
  p->l2CacheSize = 60 << 20;
  p->maxThreadsPerMultiProcessor = 2048;
  p->sharedMemPerMultiprocessor = 233472;
  p->regsPerMultiprocessor = 65536;
  p->sharedMemPerBlockOptin = 232448;
  p->reservedSharedMemPerBlock = 1024;
  p->maxBlocksPerMultiProcessor = 32;
  p->asyncEngineCount = 3;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  switch (a) {
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *v = 233472;
      return cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *v = 1024;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *v = 232448;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *v = p.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *v = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *v = 0;
      return cudaSuccess;
    case cudaDevAttrConcurrentManagedAccess:
      *v = 1;
      return cudaSuccess;
    default:
      return complain(cudaErrorInvalidValue, "attribute %d is not known", static_cast<int>(a));
  }
}
cudaError_t cudaGetLastError() {
  const auto e = last_error;
  last_error = cudaSuccess;
  return e;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess                 ? "no error"
         : e == cudaErrorMemoryAllocation ? "out of memory"
         : e == cudaErrorInvalidValue     ? "invalid argument"
                                          : "an error of CUDA";
}
const char* cudaGetErrorName(cudaError_t e) { return cudaGetErrorString(e); }
cudaError_t cudaDriverGetVersion(int* v) {
  *v = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* v) {
  *v = 13000;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(std::size_t* v, cudaLimit) {
  *v = 1 << 20;
  return cudaSuccess;
}

CUresult cuCtxGetDevice(CUdevice* d) {
  *d = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream, CUcontext*) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx_v2(CUstream, CUcontext*, CUgreenCtx*) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** s) {
  *s = "an error of CUDA";
  return CUDA_SUCCESS;
}

}  // extern "C"
