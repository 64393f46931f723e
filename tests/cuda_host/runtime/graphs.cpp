// Graphs that can be launched.
#include <algorithm>
#include <utility>

#include "runtime/runtime.h"

using namespace cuda_host::detail;

namespace {
std::vector<CUgraphNode_st> copy_nodes(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st> nodes;
  for (const auto& node : graph.nodes) nodes.push_back(*node);
  return nodes;
}
}  // namespace

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return call([&](Runtime& state) {
    const CUgraph_st* graph = state.graphs.find(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (nodes != nullptr) {
      for (size_t i = 0; i < *count; ++i)
        nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    }
    *count = nodes == nullptr ? graph->nodes.size() : std::min(*count, graph->nodes.size());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&](Runtime&) {
    if (node == nullptr) return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(
      [&](Runtime& state) { return state.graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t handle, unsigned long long flags) {
  return call([&](Runtime& state) {
    const CUgraph_st* graph = state.graphs.find(handle);
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    auto made = std::make_unique<CUgraphExec_st>();
    made->nodes = copy_nodes(*graph);
    *executable = state.executables.add(std::move(made));
    return cudaSuccess;
  });
}

// What has been launched keeps what it was launched with.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable_handle, cudaGraph_t handle,
                                cudaGraphExecUpdateResultInfo* result) {
  return call([&](Runtime& state) {
    CUgraphExec_st* executable = state.executables.find(executable_handle);
    const CUgraph_st* graph = state.graphs.find(handle);
    if (executable == nullptr || graph == nullptr || result == nullptr) return cudaErrorInvalidValue;
    const auto refuse = [&](cudaGraphExecUpdateResult why, cudaGraphNode_t node) {
      *result = {why, node, nullptr};
      return cudaErrorGraphExecUpdateFailure;
    };
    *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    if (executable->nodes.size() != graph->nodes.size()) {
      return refuse(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    }
    for (size_t i = 0; i < graph->nodes.size(); ++i) {
      CUgraphNode_st* node = graph->nodes[i].get();
      if (node->before != executable->nodes[i].before) {
        return refuse(cudaGraphExecUpdateErrorTopologyChanged, node);
      }
      if (node->type != executable->nodes[i].type) {
        return refuse(cudaGraphExecUpdateErrorNodeTypeChanged, node);
      }
    }
    executable->nodes = copy_nodes(*graph);
    return cudaSuccess;
  });
}

// Each node becomes an operation after those that it needs,
// and one at the end stands for the launch in its stream.
cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call_on(stream_handle, [&](Runtime& state, CUstream_st& stream) {
    CUgraphExec_st* executable = state.executables.find(handle);
    if (executable == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = state.refuse_in_capture(stream); error != cudaSuccess) return error;
    ++state.counts.graphs_launched;
    const OperationPointer start = state.enqueue(stream, [] { return true; }, {executable->last});
    std::vector<OperationPointer> operations;
    for (const CUgraphNode_st& node : executable->nodes) {
      std::vector<OperationPointer> before{start};
      for (const size_t other : node.before) before.push_back(operations[other]);
      operations.push_back(state.queue.add(node.work, before, nullptr));
      state.count(node.type, node.bytes);
    }
    executable->last = state.enqueue(stream, [] { return true; }, operations);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](Runtime& state) {
    return state.executables.remove(executable) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
