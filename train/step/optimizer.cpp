#include "cladtorch/train/optimizer.h"

#include <cmath>
#include <numeric>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/dispatch.h"
#include "train/step/optimizer_on_device.h"

namespace cladtorch {
namespace {

/// The parameters, or float32 copies of bfloat16 ones.
TensorList masters_of(const TensorList& parameters) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& named : parameters)
    tensors.push_back({named.name, named.tensor.to(detail::computed_in(named.tensor.dtype()))});
  return TensorList(std::move(tensors));
}

void mark_zero(TensorList& gradients) {
  for (NamedTensor& gradient : gradients)
    if (gradient.tensor.is_gradient_buffer()) gradient.tensor.mark_zero();
}

}  // namespace

TensorList zero_state(const TensorList& parameters) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& named : parameters)
    tensors.push_back({named.name, gradient_buffer_like(named.tensor)});
  return TensorList(std::move(tensors));
}

Optimizer::Optimizer(std::string name, TensorList parameters, double lr)
    : Optimizer(std::move(name), parameters, masters_of(parameters), lr) {}

Optimizer::Optimizer(std::string name, TensorList parameters, TensorList masters, double lr)
    : parameters_(std::move(parameters)),
      masters_(std::move(masters)),
      share_(masters_.all_pieces().begin(), masters_.all_pieces().end()),
      lr_(lr),
      name_(std::move(name)) {
  require(masters_.size() == parameters_.size(), name_, ": ", parameters_.size(), " parameters, but ",
          masters_.size(), " masters");
  for (size_t i = 0; i < masters_.size(); ++i) {
    Tensor& p = parameters_[i].tensor;
    const Tensor& master = masters_[i].tensor;
    require(master.shape() == p.shape() && master.dtype() == detail::computed_in(p.dtype()), name_,
            ": parameter '", parameters_[i].name, "' is ", p.shape(), " ", p.dtype(), ", its master ",
            master.shape(), " ", master.dtype());
    if (p.dtype() == DType::bfloat16) {
      p.copy_from(master);
    } else {
      require(p.shares_storage_with(master), name_, ": parameter '", parameters_[i].name, "' is ", p.dtype(),
              ", so it must be its own master");
    }
  }
}

void Optimizer::set_share(std::vector<size_t> pieces) {
  require(can_share(), name_, ": it updates whole matrices, not a share of their elements");
  share_ = std::move(pieces);
}

double Optimizer::norm_of_masters() const {
  if (masters_[0].tensor.is_cuda()) return masters_.norm();
  const std::span<const double> squares = masters_.squares(share_);
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

bool Optimizer::has_finite_state() const {
  for (const OptimizerState& part : state()) {
    if ((*part.tensors)[0].tensor.is_cuda()) {
      if (!std::isfinite(part.tensors->norm())) return false;
      continue;
    }
    // The state of some parameters alone, as of matrices, is whole.
    const bool whole = part.tensors->size() != masters_.size();
    for (const double sum : part.tensors->squares(whole ? part.tensors->all_pieces() : share()))
      if (!std::isfinite(sum)) return false;
  }
  return true;
}

void Optimizer::check(const TensorList& gradients) const {
  require(gradients.size() == masters_.size(), name_, ": ", masters_.size(), " parameters, but ",
          gradients.size(), " gradients");
  for (size_t i = 0; i < gradients.size(); ++i) {
    const NamedTensor &p = masters_[i], &g = gradients[i];
    require(g.tensor.shape() == p.tensor.shape() && g.tensor.dtype() == p.tensor.dtype() &&
                g.tensor.device() == p.tensor.device(),
            name_, ": parameter '", p.name, "' is ", p.tensor.shape(), " ", p.tensor.dtype(), " on ",
            p.tensor.device(), ", its gradient ", g.tensor.shape(), " ", g.tensor.dtype(), " on ",
            g.tensor.device());
  }
}

void Optimizer::step(TensorList& gradients, double gradient_scale) {
  check(gradients);
  if (gradients[0].tensor.is_cuda()) {
    const Device device = gradients[0].tensor.device();
    const train::StepOutput output{0, 0, gradient_scale};
    step_on_device(gradients, train::to_device(device_input(0, 1), device), train::to_device(output, device));
    return;
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    // Reading a buffer that only stands for zero writes the zeros: once, here, and not from several threads.
    if (gradients[i].tensor.is_marked_zero()) gradients[i].tensor.data();
    for (TensorList* written : {&masters_, &parameters_}) (*written)[i].tensor.data();
  }
  ++steps_;
  update(gradients, gradient_scale);
  mark_zero(gradients);
}

void Optimizer::step_on_device(TensorList& gradients, const Tensor& input, const Tensor& output) {
  check(gradients);
  ++steps_;
  update_on_device(gradients, input, output);
  mark_zero(gradients);
}

train::StepInput Optimizer::device_input(double, double) const {
  fail(name_, ": it updates parameters on the CPU only; use AdamW on a CUDA device");
}
void Optimizer::update_on_device(TensorList&, const Tensor&, const Tensor&) { device_input(0, 1); }

size_t Optimizer::bytes() const {
  size_t sum = 0;
  for (const OptimizerState& part : state()) {
    const TensorList& list = *part.tensors;
    // The state of some parameters alone, as of matrices, is whole.
    for (const size_t i : list.size() != masters_.size() ? list.all_pieces() : share()) {
      const TensorList::Piece& piece = list.pieces()[i];
      sum += static_cast<size_t>(piece.end - piece.begin) * size_of(list.dtype());
    }
  }
  return sum;
}

}  // namespace cladtorch
