#include "cuda/graph.h"

#include "cuda/check.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {
namespace {

/// Ends the capture also when the work throws.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    CLADTORCH_CUDA_CALL(cudaStreamBeginCapture, stream, cudaStreamCaptureModeThreadLocal);
  }
  ~Capture() {
    if (stream_ != nullptr && cudaStreamEndCapture(stream_, &graph_) != cudaSuccess) cudaGetLastError();
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaGraph_t end() {
    const cudaStream_t stream = stream_;
    stream_ = nullptr;
    CLADTORCH_CUDA_CALL(cudaStreamEndCapture, stream, &graph_);
    return graph_;
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
};

}  // namespace

Graph::Graph(Device device, detail::ThreadBody work) : device_(device) {
  Capture capture(compute_stream(device));
  work();
  CLADTORCH_CUDA_CALL(cudaGraphInstantiate, &executable_, capture.end(), 0ull);
}

Graph::~Graph() { cudaGraphExecDestroy(executable_); }

void Graph::launch() { CLADTORCH_CUDA_CALL(cudaGraphLaunch, executable_, compute_stream(device_)); }

}  // namespace cladtorch::cuda
