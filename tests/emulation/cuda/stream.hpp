#pragma once

#include <cuda_runtime_api.h>

#include <functional>

/// Streams of the emulated GPU: what one is given is done when something waits
/// for it.
namespace quintet::emulation {

/// Says what a program did wrong, and what the call returns and
/// cudaGetLastError() will.
[[nodiscard]] cudaError_t complain(cudaError_t error, const char *format, ...);
/// The error since it was last asked for, which is then forgotten if `forget`.
[[nodiscard]] cudaError_t error_so_far(bool forget);

using Work = std::function<void()>;
/// Does the work when the stream comes to it; while the stream is recorded it
/// becomes part of the graph.
void enqueue(cudaStream_t stream, Work work);
/// Does what the stream, or all of them, were given.
void finish(cudaStream_t stream);
void finish_all();
/// Whether any stream, or this one, is recorded.
[[nodiscard]] bool recording();
[[nodiscard]] bool recording(cudaStream_t stream);

}  // namespace quintet::emulation
