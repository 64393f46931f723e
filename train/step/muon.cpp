#include "cladtorch/train/muon.h"

#include <algorithm>
#include <cmath>

#include "ops/matmul/gemm.h"
#include "tensor/dispatch.h"
#include "train/step/loops.h"
#include "train/step/update.h"

namespace cladtorch {
namespace {

/// Elements that one thread takes at a time: half of a core's cache.
constexpr int64_t piece_elements = int64_t{1} << 16;

/// Whether one of the parts of "h.0.mlp.c_fc.weight" between its dots is listed.
bool is_named(const std::string& name, const std::vector<std::string>& parts) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (std::ranges::find(parts, name.substr(begin, end - begin)) != parts.end()) return true;
    begin = end + 1;
  }
  return false;
}

TensorList some_of(const TensorList& list, const std::vector<size_t>& which) {
  std::vector<NamedTensor> tensors;
  for (const size_t i : which) tensors.push_back(list[i]);
  return TensorList(std::move(tensors));
}

/// out [columns, rows] = in [rows, columns] transposed.
template <class T>
void transpose(const T* in, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t tile = 32;
  parallel_for((columns + tile - 1) / tile, 1, [&](int64_t from, int64_t to) {
    for (int64_t block = 0; block < rows; block += tile)
      for (int64_t j = from * tile; j < std::min(to * tile, columns); ++j)
        for (int64_t i = block; i < std::min(block + tile, rows); ++i)
          out[j * rows + i] = in[i * columns + j];
  });
}

/// The nearest matrix whose singular values are all near 1, for x [s, l] with s <= l and a norm of at most 1.
/// Returns where it is: in x or in `other`, which is as large; `square` and `polynomial` are [s, s].
template <class T>
T* orthogonal(T* x, T* other, T* square, T* polynomial, int64_t s, int64_t l, int64_t iterations) {
  constexpr auto a = static_cast<T>(3.4445), b = static_cast<T>(-4.7750), c = static_cast<T>(2.0315);
  for (int64_t i = 0; i < iterations; ++i) {
    detail::gemm<T, T>(s, s, l, {x, l, 1}, {x, 1, l}, square, s, false);
    detail::gemm<T, T>(s, s, s, {square, s, 1}, {square, s, 1}, polynomial, s, false);
    parallel_for(s, std::max<int64_t>(1, piece_elements / s), [&](int64_t from, int64_t to) {
      for (int64_t j = from * s; j < to * s; ++j) polynomial[j] = c * polynomial[j] + b * square[j];
      for (int64_t row = from; row < to; ++row) polynomial[row * s + row] += a;
    });
    detail::gemm<T, T>(s, l, s, {polynomial, s, 1}, {x, l, 1}, other, l, false);
    std::swap(x, other);
  }
  return x;
}

}  // namespace

Muon::Muon(TensorList parameters, MuonOptions options)
    : Optimizer("Muon", std::move(parameters), options.lr), options_(std::move(options)) {
  set_up();
}

Muon::Muon(TensorList parameters, TensorList masters, MuonOptions options)
    : Optimizer("Muon", std::move(parameters), std::move(masters), options.lr), options_(std::move(options)) {
  set_up();
}

void Muon::set_up() {
  int64_t largest = 0, shorter = 0;
  for (size_t i = 0; i < masters_.size(); ++i) {
    const Shape& shape = masters_[i].tensor.shape();
    const bool is_matrix = shape.rank() == 2 && !is_named(masters_[i].name, options_.adamw);
    (is_matrix ? matrices_ : others_).push_back(i);
    if (!is_matrix) continue;
    largest = std::max(largest, shape.numel());
    shorter = std::max(shorter, std::min(shape[0], shape[1]));
  }
  require(!matrices_.empty(), "Muon: none of the ", masters_.size(),
          " parameters is a matrix that may be made orthogonal; use AdamW");
  buffers_ = zero_state(some_of(masters_, matrices_));
  if (!others_.empty())
    adamw_.emplace(some_of(parameters_, others_), some_of(masters_, others_),
                   AdamWOptions{.lr = options_.lr,
                                .beta1 = options_.beta1,
                                .beta2 = options_.beta2,
                                .eps = options_.eps,
                                .weight_decay = options_.weight_decay});
  const DType dtype = masters_.dtype();
  wide_ = Tensor::empty({largest}, dtype);
  product_ = Tensor::empty({largest}, dtype);
  square_ = Tensor::empty({shorter * shorter}, dtype);
  polynomial_ = Tensor::empty({shorter * shorter}, dtype);
  sums_.resize(static_cast<size_t>((largest + piece_elements - 1) / piece_elements));
}

std::vector<OptimizerState> Muon::state() const {
  std::vector<OptimizerState> all = {{"momentum_buffer", &*buffers_}};
  if (adamw_)
    for (const OptimizerState& part : adamw_->state()) all.push_back(part);
  return all;
}

size_t Muon::bytes() const {
  size_t sum = Optimizer::bytes();
  for (const Tensor* scratch : {&wide_, &product_, &square_, &polynomial_}) sum += scratch->nbytes();
  return sum;
}

/// The same bits on any number of threads.
template <class T>
double Muon::length(const T* values, int64_t count) {
  parallel_for(count, piece_elements, [&](int64_t from, int64_t to) {
    sums_[static_cast<size_t>(from / piece_elements)] = train::sum_of_squares(values + from, to - from);
  });
  double sum = 0;
  for (int64_t i = 0; i * piece_elements < count; ++i) sum += sums_[static_cast<size_t>(i)];
  return std::sqrt(sum);
}

template <class T>
void Muon::update_matrix(size_t k, const Tensor& gradient, double gradient_scale) {
  const size_t number = matrices_[k];
  const Shape& shape = masters_[number].tensor.shape();
  const int64_t rows = shape[0], columns = shape[1], count = rows * columns;
  const int64_t s = std::min(rows, columns), l = std::max(rows, columns);
  T *u = wide_.data<T>(), *other = product_.data<T>();

  const bool fresh = train::take_fresh({&(*buffers_)[k].tensor});
  const auto momentum = static_cast<T>(options_.momentum);
  const train::MuonCoefficients<T> c{static_cast<T>(gradient_scale), momentum,
                                     options_.nesterov ? 1 - momentum : 0, options_.nesterov ? momentum : 1};
  const T* const g = gradient.data<T>();
  T* const buffer = train::elements<T>((*buffers_)[k].tensor);
  parallel_for(count, piece_elements, [&](int64_t from, int64_t to) {
    train::muon_loop(g + from, buffer + from, u + from, fresh, to - from, c);
  });
  const auto scale = static_cast<T>(1 / (length(u, count) + 1e-7));
  parallel_for(count, piece_elements, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) u[i] *= scale;
  });

  if (rows > columns) {
    transpose(u, rows, columns, other);
    std::swap(u, other);
  }
  T* step = orthogonal(u, other, square_.data<T>(), polynomial_.data<T>(), s, l, options_.iterations);
  if (rows > columns) {
    T* const straight = step == u ? other : u;
    transpose(step, columns, rows, straight);
    step = straight;
  }

  const double size = 0.2 * std::sqrt(static_cast<double>(l));
  T* const p = train::elements<T>(masters_[number].tensor);
  bfloat16* const rounded = train::rounded_elements(parameters_[number].tensor);
  parallel_for(count, piece_elements, [&](int64_t from, int64_t to) {
    train::descend_loop(p + from, step + from, rounded ? rounded + from : nullptr, to - from,
                        static_cast<T>(1 - lr() * options_.weight_decay), static_cast<T>(lr() * size));
  });
}

void Muon::update(TensorList& gradients, double gradient_scale) {
  detail::dispatch_floating("Muon", masters_.dtype(), [&]<class T>(T) {
    for (size_t k = 0; k < matrices_.size(); ++k)
      update_matrix<T>(k, gradients[matrices_[k]].tensor, gradient_scale);
  });
  if (!adamw_) return;
  const auto is_current = [&](size_t j) {
    return (*of_others_)[j].tensor.shares_storage_with(gradients[others_[j]].tensor);
  };
  bool current = of_others_.has_value();
  for (size_t j = 0; current && j < others_.size(); ++j) current = is_current(j);
  if (!current) of_others_ = some_of(gradients, others_);
  adamw_->set_lr(lr());
  adamw_->set_steps(steps() - 1);
  adamw_->step(*of_others_, gradient_scale);
}

}  // namespace cladtorch
