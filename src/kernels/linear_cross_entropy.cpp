#include "cladtorch/kernels/linear_cross_entropy.h"

#include "kernels/support.h"
#include "ops/linear_cross_entropy/linear_cross_entropy_kernel.h"

namespace cladtorch::kernels {
namespace {

using cladtorch::detail::Classifier;
using cladtorch::detail::ClassifierBlocks;
using cladtorch::detail::ClassifierGradients;
using cladtorch::detail::WorkMemory;

constexpr int32_t ignore_index = -100;

/// What lies where in `work`. Rows that count are moved together only if some do not.
template <class T>
struct Places {
  ClassifierGradients<T> gradients;
  T *packed_inp, *packed_d_inp;
  int32_t* packed_targets;
  std::byte* block;  ///< for the classifier itself
  int64_t bytes;     ///< of all

  Places(std::byte* memory, int64_t N, int64_t C, int64_t V) {
    // One block keeps exponentials alone. Of several, each is smaller by the sums for the weights' gradient.
    const int64_t most = ClassifierBlocks<T>::most_in_one(V, C), rows = std::min(N, most);
    WorkMemory work(memory);
    gradients = {.d_x = work.take<T>(N * C),
                 .exponentials = work.take<T>(V * rows),
                 .row_factors = work.take<T>(rows)};
    if (memory && N > most)  // not where only the size is asked for
      gradients.d_weight = gradients.exponentials + V * ClassifierBlocks<T>::most_of_several(V);
    packed_inp = work.take<T>(N * C);
    packed_d_inp = work.take<T>(N * C);
    packed_targets = work.take<int32_t>(N);
    block = work.take<std::byte>(Classifier<T>::work(rows, V, C));
    bytes = work.used();
  }
};

/// The rows that count.
template <class T>
struct Rows {
  const T* inp;
  const int32_t* targets;
};

template <class T>
Rows<T> packed(const Places<T>& places, const T* inp, const int32_t* targets, int64_t N, int64_t C,
               int64_t counted) {
  if (counted == N) return {inp, targets};
  cladtorch::detail::pack_rows(N, targets, ignore_index, C, inp, places.packed_inp);
  cladtorch::detail::pack_rows(N, targets, ignore_index, 1, targets, places.packed_targets);
  return {places.packed_inp, places.packed_targets};
}

template <class T>
T forward(T* work, const T* inp, const T* weight, const int32_t* targets, int64_t N, int64_t C, int64_t V,
          int64_t* counted) {
  const bool keeps = counted != nullptr;
  const int64_t rows = N - std::count(targets, targets + N, ignore_index);
  const Places<T> places(reinterpret_cast<std::byte*>(work), N, C, V);
  const Rows<T> counting = packed(places, inp, targets, N, C, rows);
  ClassifierGradients<T> kept = places.gradients;
  if (rows < N) kept.d_x = places.packed_d_inp;
  const double mean = cladtorch::detail::mean_loss(ClassifierBlocks<T>(rows, V, C), counting.inp, weight,
                                                   counting.targets, keeps ? &kept : nullptr, places.block);
  if (keeps) *counted = rows;
  if (keeps && rows < N)
    cladtorch::detail::unpack_rows(N, targets, ignore_index, C, kept.d_x, places.gradients.d_x);
  return static_cast<T>(mean);
}

}  // namespace

template <class T>
int64_t linear_cross_entropy_work(int64_t N, int64_t C, int64_t V) {
  return Places<T>(nullptr, N, C, V).bytes / static_cast<int64_t>(sizeof(T));
}

template int64_t linear_cross_entropy_work<float>(int64_t, int64_t, int64_t);
template int64_t linear_cross_entropy_work<double>(int64_t, int64_t, int64_t);

template <class T>
T linear_cross_entropy_forward(T* work, const T* inp, const T* weight, const int32_t* targets, int64_t N,
                               int64_t C, int64_t V) {
  return forward(work, inp, weight, targets, N, C, V, nullptr);
}

template float linear_cross_entropy_forward(float*, const float*, const float*, const int32_t*, int64_t,
                                            int64_t, int64_t);
template double linear_cross_entropy_forward(double*, const double*, const double*, const int32_t*, int64_t,
                                             int64_t, int64_t);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using namespace ::cladtorch::kernels;
namespace detail = ::cladtorch::detail;

template <class T>
T linear_cross_entropy_forward_reverse_forw(T* work, const T* inp, const T* weight, const int32_t* targets,
                                            int64_t N, int64_t C, int64_t V,
                                            pullback_state<ClassifierState>& state) {
  return forward(work, inp, weight, targets, N, C, V, &state.data.counted);
}

template <class T>
void linear_cross_entropy_forward_pullback(T* work, const T* inp, const T*, const int32_t* targets, int64_t N,
                                           int64_t C, int64_t V, T d_loss, T* d_work, T* d_inp, T* d_weight,
                                           pullback_state<ClassifierState>& state) {
  require_no_cotangent("linear_cross_entropy_forward: work", d_work, linear_cross_entropy_work<T>(N, C, V));
  const Places<T> places(reinterpret_cast<std::byte*>(work), N, C, V);
  const detail::ClassifierBlocks<T> blocks(state.data.counted, V, C);
  const auto& kept = places.gradients;
  if (const auto d = target_at<T>("linear_cross_entropy_forward", d_weight, V * C, nullptr)) {
    if (blocks.count > 1) {
      detail::add_scaled(V * C, kept.d_weight, d_loss, d.data, d.add, d.squares);
    } else {
      const auto rows = packed(places, inp, targets, N, C, blocks.rows);
      const detail::Classifier<T> block(blocks.rows, V, C, rows.inp, nullptr, rows.targets, places.block);
      block.d_weight(blocks.factor(), d_loss, kept.exponentials, kept.row_factors, d.data, d.add, d.squares);
    }
  }
  if (const auto d = target_at<T>("linear_cross_entropy_forward", d_inp, N * C, nullptr))
    detail::add_scaled(N * C, kept.d_x, d_loss, d.data, d.add, d.squares);
}

template float linear_cross_entropy_forward_reverse_forw(float*, const float*, const float*, const int32_t*,
                                                         int64_t, int64_t, int64_t,
                                                         pullback_state<ClassifierState>&);
template double linear_cross_entropy_forward_reverse_forw(double*, const double*, const double*,
                                                          const int32_t*, int64_t, int64_t, int64_t,
                                                          pullback_state<ClassifierState>&);
template void linear_cross_entropy_forward_pullback(float*, const float*, const float*, const int32_t*,
                                                    int64_t, int64_t, int64_t, float, float*, float*, float*,
                                                    pullback_state<ClassifierState>&);
template void linear_cross_entropy_forward_pullback(double*, const double*, const double*, const int32_t*,
                                                    int64_t, int64_t, int64_t, double, double*, double*,
                                                    double*, pullback_state<ClassifierState>&);

}  // namespace clad::custom_derivatives::cladtorch::kernels
