// CUDA graphs of what is launched on a compute stream.
#pragma once

#include <cuda_runtime.h>

#include "tensor/device_graph.h"

namespace cladtorch::cuda {

class Graph final : public detail::DeviceGraph {
 public:
  Graph(Device device, detail::ThreadBody work);
  ~Graph() override;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch() override;

 private:
  Device device_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace cladtorch::cuda
