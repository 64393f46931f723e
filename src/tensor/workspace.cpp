#include "cladtorch/tensor/workspace.h"

#include <cassert>

#include "cladtorch/error.h"
#include "tensor/step_memory.h"

namespace cladtorch {
namespace {
thread_local Workspace* current = nullptr;
}  // namespace

Workspace* detail::current_workspace() { return current; }

Workspace::Workspace() : implementation_(std::make_unique<Implementation>()) {}
Workspace::~Workspace() { assert(!implementation_->open && "a workspace must outlive its steps"); }

detail::StepMemory& Workspace::Implementation::memory_of(Device device) {
  for (const auto& memory : memories)
    if (memory->device() == device) return *memory;
  memories.push_back(std::make_unique<detail::StepMemory>(device));
  if (open) memories.back()->begin();
  return *memories.back();
}

const detail::StepMemory* Workspace::Implementation::find(Device device) const {
  for (const auto& memory : memories)
    if (memory->device() == device) return memory.get();
  return nullptr;
}

WorkspaceStatistics Workspace::statistics(Device device) const {
  const detail::StepMemory* memory = implementation_->find(device);
  return memory != nullptr ? memory->statistics() : WorkspaceStatistics{};
}

void Workspace::reset() {
  require(!implementation_->open, "Workspace::reset: a step is open; close it first");
  for (const auto& memory : implementation_->memories) memory->reset();
}

Workspace::Step::Step(Workspace& workspace) : workspace_(workspace), outer_(current) {
  Implementation& implementation = *workspace.implementation_;
  require(!implementation.open, "Workspace::Step: the workspace already has an open step; use another");
  for (const auto& memory : implementation.memories) memory->begin();
  implementation.open = true;
  current = &workspace;
}

Workspace::Step::~Step() {
  current = nullptr;  // planning allocates nothing from a workspace
  workspace_.implementation_->open = false;
  for (const auto& memory : workspace_.implementation_->memories) memory->end();
  current = outer_;
}

}  // namespace cladtorch
