// What a compiler says about a model whose parameters cannot be walked: one sentence.
#include <list>
#include <map>
#include <memory>

#include "cladtorch/nn/layers.h"
#include "cladtorch/nn/parameters.h"
#include "cladtorch/train/adamw.h"

namespace cladtorch {

// expected-error@cladtorch/nn/parameters.h:* 4 {{CLADTORCH_PARAMETERS names a member that holds no parameters}}
// expected-error@cladtorch/nn/parameters.h:* 2 {{this class has no parameters to walk: write CLADTORCH_PARAMETERS}}

struct InMap {
  std::map<std::string, nn::Linear> layers;
  CLADTORCH_PARAMETERS(layers)
};
struct InList {
  std::list<nn::Linear> layers;
  CLADTORCH_PARAMETERS(layers)
};
struct BehindPointer {
  nn::Linear* layer;
  CLADTORCH_PARAMETERS(layer)
};
struct Bare {
  Tensor weight;
};
struct HoldsBare {
  Bare layer;
  CLADTORCH_PARAMETERS(layer)
};
class Hidden {
  Tensor weight;
  CLADTORCH_PARAMETERS(weight)
};
struct Walked {
  Tensor weight;
  std::vector<std::optional<nn::Linear>> layers;
  std::shared_ptr<nn::Linear> shared;
  CLADTORCH_PARAMETERS(weight, layers, shared)
};

void walk(InMap& in_map, InList& in_list, BehindPointer& pointer, HoldsBare& holds, Walked& walked) {
  const auto visit = [](const std::string&, const Tensor&) {};
  for_each_parameter(in_map, visit);
  for_each_parameter(in_list, visit);
  for_each_parameter(pointer, visit);
  for_each_parameter(holds, visit);
  for_each_parameter(walked, visit);
  like(walked);
}
struct Unique {
  std::unique_ptr<nn::Linear> layer;
  CLADTORCH_PARAMETERS(layer)
};
void copied(Unique& unique) {
  for_each_parameter(unique, [](const std::string&, const Tensor&) {});
  like(unique);
  // expected-error@cladtorch/nn/parameters.h:* {{this model cannot be copied, and a gradient is a copy of it}}
}
void whole(Bare& bare, Hidden& hidden) {
  like(bare);
  for_each_parameter(hidden, [](const std::string&, Tensor&) {});
  AdamW(bare, AdamWOptions{});
}

}  // namespace cladtorch
