// Where the heads of attention lie on a device.
#pragma once

#include "cuda/elements.cuh"
#include "cuda/launch.cuh"
#include "ops/causal_attention/attention_on_device.h"

namespace cladtorch::cuda {

/// The heads of a tensor, `head_size` elements each.
template <class T>
struct Heads {
  T* data;
  int64_t batch, row;  ///< elements from one sequence, and from one position, to the next

  explicit Heads(const Tensor& x)
    requires std::is_const_v<T>
      : data(x.device_data<std::remove_const_t<T>>()), batch(x.strides()[0]), row(x.strides()[1]) {}
  Heads(const detail::AttentionGradientPlace& place, int64_t length)
      : data(static_cast<T*>(place.data)), batch(length * place.row), row(place.row) {}

  /// Whether heads of this size may be read by packs of 16 bytes.
  bool is_packed(int64_t head_size) const {
    constexpr int N = 16 / sizeof(T);
    return head_size % N == 0 && batch % N == 0 && row % N == 0 && is_aligned<N>(data);
  }

  /// Position 0 of a head, whose first element is number `element` of a position.
  __device__ T* head(int64_t b, int64_t element) const { return data + b * batch + element; }
};

/// What all kernels of attention know.
struct AttentionSizes {
  int length, heads, group, head_size;
  int window, past;

  AttentionSizes(const detail::AttentionLayout& x, int64_t past_length)
      : length(static_cast<int>(x.length)),
        heads(static_cast<int>(x.heads)),
        group(static_cast<int>(x.group())),
        head_size(static_cast<int>(x.head_size)),
        window(static_cast<int>(x.window)),
        past(static_cast<int>(past_length)) {}

  /// The first key that query t sees, and the one after the last.
  __device__ int first_key(int t) const { return max(0, past + t - window + 1); }
  __device__ int end_key(int t) const { return past + t + 1; }
};

template <class T>
struct AttentionForward {
  Heads<const T> q, k, v;
  T* y;
  Computed<T>* log_sum_exp;  ///< may be null
  bool packed;               ///< whether k is

  AttentionForward(const detail::AttentionLayout& x, const detail::AttentionOperands& in, Tensor& y_out,
                   Tensor& log_sum_exp_out)
      : q(in.q),
        k(in.k),
        v(in.v),
        y(y_out.device_data<T>()),
        log_sum_exp(log_sum_exp_out.defined() ? log_sum_exp_out.device_data<Computed<T>>() : nullptr),
        packed(k.is_packed(x.head_size)) {}
};

template <class T>
struct AttentionBackward {
  Heads<const T> q, k, v;
  const T *y, *d_y;
  const Computed<T>* log_sum_exp;
  Computed<T>* delta;  ///< [B, n_head, T]: the products of the rows of y and d_y
  Heads<T> d_q, d_k, d_v;
  bool add_q, add_k, add_v;
  bool packed;  ///< whether q, k, v and d_y are

  AttentionBackward(const detail::AttentionLayout& x, const detail::AttentionOperands& in, const Tensor& y_in,
                    const Tensor& lse, const Tensor& d_y_in, void* delta_out,
                    const std::array<detail::AttentionGradientPlace, 3>& to)
      : q(in.q),
        k(in.k),
        v(in.v),
        y(y_in.device_data<T>()),
        d_y(d_y_in.device_data<T>()),
        log_sum_exp(lse.device_data<Computed<T>>()),
        delta(static_cast<Computed<T>*>(delta_out)),
        d_q(to[0], x.length),
        d_k(to[1], x.length),
        d_v(to[2], x.length),
        add_q(to[0].add),
        add_k(to[1].add),
        add_v(to[2].add),
        packed(q.is_packed(x.head_size) && k.is_packed(x.head_size) && v.is_packed(x.head_size) &&
               is_aligned<16 / sizeof(T)>(d_y)) {}
};

/// Fills `operands.delta`.
void attention_delta(const detail::AttentionLayout& layout, const AttentionBackward<bfloat16>& operands,
                     Device device);

/// With tensor cores, for bfloat16 and head sizes 64 and 128 whose rows begin at multiples of 16 bytes.
/// False, and nothing happens, for others.
bool flash_attention(const detail::AttentionLayout& layout, const detail::AttentionOperands& in, int64_t past,
                     Tensor& y, Tensor& log_sum_exp);
bool flash_attention_pullback(const detail::AttentionLayout& layout, const detail::AttentionOperands& in,
                              const AttentionBackward<bfloat16>& operands, Device device);

}  // namespace cladtorch::cuda
