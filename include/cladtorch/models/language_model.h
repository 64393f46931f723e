// A handle on a language model of any kind, chosen at run time, with the functions that trainers, samplers
// and file formats need. The models themselves stay plain structs.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/llama.h"

namespace cladtorch {

/// The numbers that describe a model of any kind.
struct ModelSizes {
  int64_t vocab_size = 0;
  int64_t context = 0;  ///< longest sequence
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;  ///< at most `heads`; several heads may share one
  int64_t channels = 0;         ///< width of the residual stream
  int64_t window = 0;           ///< positions that attention looks back; 0 means all
};

/// "4 layers, 4 heads, 128 channels".
std::string describe(const ModelSizes& sizes);

/// The keys and values that decoding keeps; LanguageModel::make_cache() makes the right kind.
class DecodeCache {
 public:
  virtual ~DecodeCache() = default;
  /// Positions seen.
  virtual int64_t length() const = 0;
  /// Forgets all but the first `length` positions.
  virtual void truncate(int64_t length) = 0;
  /// Forgets all positions, so that the next tokens begin a sequence.
  void clear() { truncate(0); }
};

/// A linear layer of the model behind a handle.
struct NamedLinear {
  std::string name;                ///< the name of its weight without ".weight"
  nn::Linear* layer;               ///< lives as long as the handle
  nn::LoRALinear* lora = nullptr;  ///< the same layer if it may have an adapter
};

/// Tokens are int32 [B, T] throughout; see the models' own headers for what each function throws.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// transformers' name of the architecture, as in config.json's model_type: "gpt2", "llama", "mistral".
  virtual std::string type() const = 0;
  virtual ModelSizes sizes() const = 0;
  /// The dtype of parameters and activations.
  virtual DType dtype() const = 0;

  /// Handles on all parameters in a fixed order; writing to one changes the model. A tied tensor appears
  /// once.
  virtual std::vector<NamedTensor> parameters() const = 0;
  int64_t parameter_count() const;
  /// The linear layers in the order of parameters(). The output layer is not among them, because the loss
  /// reads only its weight.
  virtual std::vector<NamedLinear> linear_layers() = 0;

  /// The same model with linear layers that may have adapters, or that cannot; shares the parameters, but
  /// leaves out adapters. Throws Error if its class is not a template of the kind of its linear layers.
  virtual std::unique_ptr<LanguageModel> with_lora_layers() const = 0;
  virtual std::unique_ptr<LanguageModel> with_plain_layers() const = 0;

  /// The same model with parameters and activations of `dtype`; shares the parameters that have it already.
  virtual std::unique_ptr<LanguageModel> to(DType dtype) const = 0;
  /// The same model on another device, where it computes; shares the parameters that are there already.
  virtual std::unique_ptr<LanguageModel> to(Device device) const = 0;
  /// The device of the parameters. Tokens may be on the CPU or on this device; results are on this device.
  virtual Device device() const = 0;
  /// A model of the same structure whose parameters are gradient buffers marked zero: float32 for bfloat16.
  virtual std::unique_ptr<LanguageModel> gradient_like() const = 0;
  /// The same in dense memory of gradient_elements() of that dtype, one after the other.
  virtual std::unique_ptr<LanguageModel> gradient_in(const Tensor& memory) const = 0;
  virtual int64_t gradient_elements() const = 0;

  /// Mean cross-entropy in nats of targets [B, T]; targets of -100 are ignored.
  virtual double loss(const Tensor& tokens, const Tensor& targets) const = 0;
  /// Returns `weight` times the same, and adds its derivative to `gradient`, which gradient_like() made.
  virtual double loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                                   double weight = 1) const = 0;

  /// The same with the weight of `sum`, to which the loss is added. If the model is on a CUDA device, the
  /// host does not wait.
  virtual void add_loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                                     const LossSum& sum) const = 0;

  /// Scores of the next token at every position, [B, T, V].
  virtual Tensor logits(const Tensor& tokens) const = 0;
  virtual std::unique_ptr<DecodeCache> make_cache(int64_t batch) const = 0;
  /// Reads `tokens` after what the cache holds, appends to it, and returns the scores of the token after the
  /// last of them, [B, V].
  virtual Tensor decode(const Tensor& tokens, DecodeCache& cache) const = 0;
  /// The loss of targets [B, T] for tokens [B, T] that come after what the cache holds; appends the tokens.
  virtual double decode_loss(const Tensor& tokens, const Tensor& targets, DecodeCache& cache) const = 0;

  /// Arithmetic operations for one token in forward and backward, in sequences of `context` tokens.
  virtual double flops_per_token(int64_t context) const = 0;

  /// Whether each block is computed again in the backward pass: less memory, more time, the same gradients.
  virtual bool gradient_checkpointing() const = 0;
  virtual void set_gradient_checkpointing(bool on) = 0;
};

ModelSizes sizes_of(const GPT2Config& config);
ModelSizes sizes_of(const LlamaConfig& config);

/// What LanguageModelOf needs to know about a model besides its members. Specialize it for your own model.
template <class Model>
struct LanguageModelTraits;

template <class LinearLayer>
struct LanguageModelTraits<BasicGPT2<LinearLayer>> {
  /// A class that is made from a config, a batch size and, if supported, a device; it has a `length`.
  using Cache = KVCache;
  static std::string type(const GPT2Config&) { return "gpt2"; }
  static ModelSizes sizes(const GPT2Config& config) { return sizes_of(config); }
};

template <class LinearLayer>
struct LanguageModelTraits<BasicLlama<LinearLayer>> {
  using Cache = LlamaCache;
  /// A Llama with a window is a Mistral.
  static std::string type(const LlamaConfig& config) {
    return config.is_mistral || config.sliding_window > 0 ? "mistral" : "llama";
  }
  static ModelSizes sizes(const LlamaConfig& config) { return sizes_of(config); }
};

namespace detail {
/// The part of a handle that does not depend on the kind of the linear layers.
template <class Config>
struct Configured {
  virtual ~Configured() = default;
  virtual const Config& config() const = 0;
};

/// Model<Layer> for a Model<nn::Linear>, if it has LanguageModelTraits; else void.
template <class Model, class Layer>
struct with_layers {
  using type = void;
};
template <template <class> class Model, std::derived_from<nn::Linear> LinearLayer, class Layer>
  requires requires { sizeof(LanguageModelTraits<Model<Layer>>); }
struct with_layers<Model<LinearLayer>, Layer> {
  using type = Model<Layer>;
};

/// The same model as `Other`, which shares the parameters; those of adapters are left out.
template <class Other, class Model>
Other of_other_layers(const Model& model) {
  std::vector<NamedTensor> parameters = named_parameters(model);
  std::erase_if(parameters, [](const NamedTensor& p) { return is_lora_parameter(p.name); });
  const nn::SkipInitialization the_parameters_are_those_of_the_model;
  Other other(model.config);
  size_t next = 0;
  for_each_parameter(other, [&](const std::string& name, Tensor& parameter) {
    require(next < parameters.size() && parameters[next].name == name,
            "lora: a model that is made from the config has the parameter ", name, ", but this one has not");
    parameter = parameters[next++].tensor;
  });
  require(next == parameters.size(), "lora: a model that is made from the config has ", next,
          " parameters, but this one has ", parameters.size());
  return other;
}

/// Finds the linear layers of all kinds.
struct LinearLayers {
  std::vector<NamedLinear> found;
  void operator()(const std::string&, const Tensor&) const {}
  void leave() {}
  template <class Layer>
  void enter(const std::string& name, Layer& layer) {
    if constexpr (std::is_same_v<Layer, nn::LoRALinear>)
      found.push_back({name, &layer, &layer});
    else if constexpr (std::is_same_v<Layer, nn::Linear>)
      found.push_back({name, &layer});
  }
};

// The class below has members of these names, which would hide those that belong to the model.
template <class Model>
double loss_of(const Model& model, const Tensor& tokens, const Tensor& targets) {
  return loss(model, tokens, targets);
}
template <class Model>
double loss_and_gradient_of(const Model& model, const Tensor& tokens, const Tensor& targets, Model* gradient,
                            double weight) {
  return loss_and_gradient(model, tokens, targets, gradient, weight);
}
template <class Model>
void add_loss_and_gradient_of(const Model& model, const Tensor& tokens, const Tensor& targets,
                              Model* gradient, const LossSum& sum) {
  if constexpr (requires { add_loss_and_gradient(model, tokens, targets, gradient, sum); }) {
    add_loss_and_gradient(model, tokens, targets, gradient, sum);
  } else {
    const double loss = loss_and_gradient(model, tokens, targets, gradient, sum.weight.item());
    Tensor total = sum.total;
    total.accumulate(full({}, loss, total.dtype(), total.device()));
  }
}
template <class Cache, class Config>
Cache make_cache_of(const Config& config, int64_t batch, Device device) {
  if constexpr (std::is_constructible_v<Cache, const Config&, int64_t, Device>) {
    return Cache(config, batch, device);
  } else {
    return Cache(config, batch);
  }
}
template <class Model, class Cache>
double decode_loss_of(const Model& model, const Tensor& tokens, const Tensor& targets, Cache& cache) {
  return decode_loss(model, tokens, targets, cache);
}
template <class Config>
double flops_per_token_of(const Config& config, int64_t context) {
  return flops_per_token(config, context);
}
}  // namespace detail

/// The handle on a `Model`: a struct with CLADTORCH_PARAMETERS, a `config` with dtype and
/// gradient_checkpointing, to(dtype), logits(tokens), decode(tokens, cache), and beside it loss(),
/// loss_and_gradient(), decode_loss() and flops_per_token(config, context). If there is also an
/// add_loss_and_gradient(), the host does not wait for a CUDA device. A model that is a template of the kind
/// of its linear layers, as BasicGPT2, and is made from its config can have adapters.
template <class Model>
class LanguageModelOf : public LanguageModel, public detail::Configured<decltype(Model::config)> {
 public:
  using Traits = LanguageModelTraits<Model>;

  explicit LanguageModelOf(Model model) : model_(std::move(model)) {
    for_each_parameter(model_,
                       [this](const std::string&, Tensor& parameter) { device_ = parameter.device(); });
  }

  Model& model() { return model_; }
  const Model& model() const { return model_; }

  const decltype(Model::config)& config() const override { return model_.config; }

  std::string type() const override { return Traits::type(model_.config); }
  ModelSizes sizes() const override { return Traits::sizes(model_.config); }
  DType dtype() const override { return model_.config.dtype; }
  Device device() const override { return device_; }
  std::vector<NamedTensor> parameters() const override { return named_parameters(model_); }
  std::vector<NamedLinear> linear_layers() override {
    detail::LinearLayers layers;
    detail::visit_model(model_, layers);
    std::erase_if(layers.found, [](const NamedLinear& linear) {
      return linear.name == "lm_head" || !linear.layer->weight.defined();
    });
    return layers.found;
  }
  std::unique_ptr<LanguageModel> with_lora_layers() const override { return with_layers<nn::LoRALinear>(); }
  std::unique_ptr<LanguageModel> with_plain_layers() const override { return with_layers<nn::Linear>(); }
  std::unique_ptr<LanguageModel> to(DType dtype) const override { return with(model_.to(dtype)); }
  std::unique_ptr<LanguageModel> to(Device device) const override { return with(on_device(model_, device)); }
  std::unique_ptr<LanguageModel> gradient_like() const override { return with(like(model_)); }
  std::unique_ptr<LanguageModel> gradient_in(const Tensor& memory) const override {
    return with(like(model_, memory));
  }
  int64_t gradient_elements() const override {
    return for_each_gradient_place(model_, [](const Tensor&, int64_t) {});
  }

  double loss(const Tensor& tokens, const Tensor& targets) const override {
    return detail::loss_of(model_, there(tokens), there(targets));
  }
  double loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                           double weight) const override {
    return detail::loss_and_gradient_of(model_, there(tokens), there(targets), &own(gradient).model_, weight);
  }
  void add_loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                             const LossSum& sum) const override {
    detail::add_loss_and_gradient_of(model_, there(tokens), there(targets), &own(gradient).model_, sum);
  }
  Tensor logits(const Tensor& tokens) const override { return model_.logits(there(tokens)); }
  std::unique_ptr<DecodeCache> make_cache(int64_t batch) const override {
    return std::make_unique<Cache>(model_, batch, device_);
  }
  Tensor decode(const Tensor& tokens, DecodeCache& cache) const override {
    return model_.decode(there(tokens), own(cache).cache);
  }
  double decode_loss(const Tensor& tokens, const Tensor& targets, DecodeCache& cache) const override {
    return detail::decode_loss_of(model_, there(tokens), there(targets), own(cache).cache);
  }
  double flops_per_token(int64_t context) const override {
    return detail::flops_per_token_of(model_.config, context);
  }
  bool gradient_checkpointing() const override { return model_.config.gradient_checkpointing; }
  void set_gradient_checkpointing(bool on) override { model_.config.gradient_checkpointing = on; }

 protected:
  /// A handle of the same class on another model; a derived class returns its own.
  virtual std::unique_ptr<LanguageModel> with(Model model) const {
    return std::make_unique<LanguageModelOf>(std::move(model));
  }

  LanguageModelOf& own(LanguageModel& other) const {
    auto* same = dynamic_cast<LanguageModelOf*>(&other);
    require(same != nullptr, "loss_and_gradient: the gradient is of a model of another kind: ", other.type(),
            ", expected ", type());
    return *same;
  }

 private:
  struct Cache final : DecodeCache {
    Cache(const Model& model, int64_t batch, Device device)
        : cache(detail::make_cache_of<typename Traits::Cache>(model.config, batch, device)) {}
    int64_t length() const override { return cache.length; }
    void truncate(int64_t length) override { cache.length = std::min(cache.length, length); }
    typename Traits::Cache cache;
  };

  Cache& own(DecodeCache& cache) const {
    auto* same = dynamic_cast<Cache*>(&cache);
    require(same != nullptr, "decode: the cache was made by a model of another kind than ", type());
    return *same;
  }

  Tensor there(const Tensor& tokens) const { return tokens.to(device_); }

  template <class Layer>
  std::unique_ptr<LanguageModel> with_layers() const {
    using Other = typename detail::with_layers<Model, Layer>::type;
    if constexpr (std::is_void_v<Other>) {
      fail("lora: the linear layers of a ", type(),
           " cannot have adapters; make it a template of their kind, "
           "template <class LinearLayer> struct Model, as BasicGPT2");
    } else {
      return std::make_unique<LanguageModelOf<Other>>(detail::of_other_layers<Other>(model_));
    }
  }

  Model model_;
  Device device_;
};

/// Lets the linear layers of `model` multiply in 8 bits while the returned object lives. Throws Error if its
/// device cannot, or if no layer has extents that are multiples of 16.
std::unique_ptr<Float8Layers> float8_layers(LanguageModel& model);

/// A handle on `model`, whose parameters it shares.
template <class Model>
std::unique_ptr<LanguageModel> as_language_model(Model model) {
  return std::make_unique<LanguageModelOf<Model>>(std::move(model));
}

/// The configuration of the model behind a handle, or null if it is of another class. A model with adapters
/// has the configuration of the model.
template <class Config>
const Config* config_if(const LanguageModel& handle) {
  const auto* of = dynamic_cast<const detail::Configured<Config>*>(&handle);
  return of != nullptr ? &of->config() : nullptr;
}

/// The model behind a handle, or null if it is of another class: a GPT2 with adapters is a LoRAGPT2.
template <class Model>
const Model* model_if(const LanguageModel& handle) {
  const auto* of = dynamic_cast<const LanguageModelOf<Model>*>(&handle);
  return of != nullptr ? &of->model() : nullptr;
}

}  // namespace cladtorch
