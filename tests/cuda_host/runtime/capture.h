// A graph, and the capture that makes one out of what is queued in streams.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "cuda_host/graphs.h"
#include "runtime/queue.h"

namespace cuda_host::detail {

using NodeSet = std::set<size_t>;  // nodes of a graph, by number
struct Capture;

}  // namespace cuda_host::detail

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  cuda_host::detail::Work work;
  size_t bytes = 0;  // that a copy copies
  cuda_host::detail::NodeSet before;
};

// Nodes come after those that they need.
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
  cuda_host::detail::OperationPointer last;  // its launches run one after the other
};

namespace cuda_host::detail {

struct Capture {
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();
  bool invalidated = false;
};

// Whether all nodes of the graph are needed by those of `last`, or among them.
bool reaches_all(const CUgraph_st& graph, const NodeSet& last);

}  // namespace cuda_host::detail
