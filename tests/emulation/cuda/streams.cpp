// Streams, events and graphs of the CUDA runtime on the emulated GPU
// (EMULATION_EAGER=1: work is done at once).
#include "tests/emulation/cuda/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "tests/emulation/run/warp.hpp"

using namespace quintet::emulation;

namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct Graph {
  std::vector<Work> work;
};

}  // namespace

struct CUstream_st {
  std::deque<Work> waiting;
  std::uint64_t given = 0, done = 0;
  bool blocking = true;
  Graph *capture = nullptr;
  std::uint64_t recorded = 0, joined = 0;  // works while it is recorded, those
                                           // that another stream waits for
};
struct CUevent_st {
  CUstream_st *stream = nullptr;
  std::uint64_t after = 0;  // works of the stream
  Graph *captured = nullptr;
  std::chrono::steady_clock::time_point time;
};

namespace {

CUstream_st default_stream;
std::set<CUstream_st *> &streams() {
  static auto *value = new std::set<CUstream_st *>;
  return *value;
}
bool eager() {
  static const bool value = std::getenv("EMULATION_EAGER") != nullptr;
  return value;
}

void advance(CUstream_st *s, std::uint64_t until) {
  while (s->done < until && !s->waiting.empty()) {
    Work w = std::move(s->waiting.front());
    s->waiting.pop_front();
    ++s->done;
    try {
      w();
    } catch (const Fault &fault) {
      std::fprintf(stderr, "emulation: %s\n", fault.what());
      std::abort();
    }
  }
}
void finish_one(CUstream_st *s) { advance(s, s->given); }
void finish_blocking() {
  for (CUstream_st *s : streams())
    if (s->blocking) finish_one(s);
  finish_one(&default_stream);
}
CUstream_st *stream_of(cudaStream_t s) {
  const auto v = reinterpret_cast<std::uintptr_t>(s);
  return v <= 2 ? &default_stream : s;
}

/// Whether a graph is still being recorded.
bool is_recorded(const Graph *graph) {
  for (CUstream_st *s : streams())
    if (graph && s->capture == graph) return true;
  return false;
}

}  // namespace

namespace quintet::emulation {

cudaError_t complain(cudaError_t error, const char *format, ...) {
  va_list list;
  va_start(list, format);
  std::fprintf(stderr, "emulation: ");
  std::vfprintf(stderr, format, list);
  std::fprintf(stderr, "\n");
  va_end(list);
  return last_error = error;
}
cudaError_t error_so_far(bool forget) { return forget ? std::exchange(last_error, cudaSuccess) : last_error; }

bool recording() {
  for (CUstream_st *s : streams())
    if (s->capture) return true;
  return false;
}
bool recording(cudaStream_t stream) { return stream_of(stream)->capture != nullptr; }
void finish_all() {
  for (CUstream_st *s : streams()) finish_one(s);
  finish_one(&default_stream);
}
void finish(cudaStream_t stream) { finish_one(stream_of(stream)); }

/// The default stream and all that are blocking wait for each other.
void enqueue(cudaStream_t stream, Work work) {
  CUstream_st *s = stream_of(stream);
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
    std::vector<std::pair<CUstream_st *, std::uint64_t>> before;
    for (CUstream_st *other : streams())
      if (other->blocking) before.emplace_back(other, other->given);
    work = [before, work = std::move(work)] {
      for (const auto &[other, until] : before) advance(other, until);
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
  if (eager()) finish_one(s);
}

}  // namespace quintet::emulation

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
  *s = new CUstream_st;
  (*s)->blocking = flags != cudaStreamNonBlocking;
  streams().insert(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *s) { return cudaStreamCreateWithFlags(s, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  if (!streams().count(s))
    return complain(cudaErrorInvalidResourceHandle, "a stream that is not there is destroyed");
  finish_one(s);
  streams().erase(s);  // not deleted: an event may name it
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  if (stream_of(s)->capture)
    return complain(cudaErrorStreamCaptureUnsupported, "a stream that is recorded is waited for");
  if (stream_of(s) == &default_stream)
    finish_blocking();
  else
    finish_one(s);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s) { return cudaStreamSynchronize(s); }
cudaError_t cudaDeviceSynchronize() {
  for (CUstream_st *s : streams())
    if (s->capture)
      return complain(cudaErrorStreamCaptureUnsupported,
                      "the device is waited for while a stream is recorded");
  finish_all();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
  CUstream_st *s = stream_of(stream);
  if (is_recorded(e->captured)) {  // a fork or join of a recording: its order is
                                   // that of its being given
    e->stream->joined = e->after;
    s->capture = e->captured;
    return cudaSuccess;
  }
  if (s->capture)
    return complain(cudaErrorStreamCaptureIsolation, "a recording waits for what is not recorded");
  if (e->stream == nullptr || e->captured) return cudaSuccess;
  CUstream_st *other = e->stream;
  const std::uint64_t after = e->after;
  enqueue(stream, [=] { advance(other, after); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
  *e = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream) {
  CUstream_st *s = stream_of(stream);
  e->captured = s->capture;
  e->stream = s;
  if (s->capture) {
    e->after = s->recorded;
    return cudaSuccess;
  }
  enqueue(stream, [e] { e->time = std::chrono::steady_clock::now(); });
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
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) {
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
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph) {
  Graph *g = s->capture;
  if (g == nullptr) return complain(cudaErrorIllegalState, "the end of a recording that had no begin");
  bool all_joined = true;
  for (CUstream_st *other : streams())
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
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  *exec = reinterpret_cast<cudaGraphExec_t>(new Graph(*reinterpret_cast<Graph *>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  delete reinterpret_cast<Graph *>(g);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
  finish_all();
  delete reinterpret_cast<Graph *>(g);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t stream) {
  auto *graph = reinterpret_cast<Graph *>(g);
  enqueue(stream, [graph] {
    for (Work &w : graph->work) w();
  });
  return cudaSuccess;
}

}  // extern "C"
