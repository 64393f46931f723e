#include "cladtorch/ops/rotary.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/rows.h"
#include "ops/rotary/rotary_math.h"
#include "ops/rotary/rotary_on_device.h"
#include "simd/kernels.h"

namespace cladtorch {
namespace {

/// y = or += x turned; x and y are [rows, n] and dense, and row r has position r % length.
template <class T>
void rotate_rows(const Tensor& table, int64_t rows, int64_t n, const T* x, bool back, detail::Target<T> y) {
  const int64_t length = table.size(0), size = table.size(1);
  const float* const angles = table.data<float>();
  detail::for_each_row<T>(rows, n, 2, [&](int64_t row, const detail::RowMemory<T>& memory) {
    const auto* const from = detail::readable(n, x + row * n, memory[0]);
    const detail::Written<T> to(n, y.data + row * n, y.add, memory[1]);
    const float* const at = angles + row % length * size;
    if constexpr (std::is_same_v<T, double>) {
      detail::rotate(n / size, size / 2, from, at, back, to.data(), y.add);
    } else {
      simd::kernels().rotate(n / size, size / 2, from, at, back, to.data(), y.add);
    }
  });
}

}  // namespace

Tensor rotary_embedding(const Tensor& x, const Tensor& table) {
  CLADTORCH_RECORD(rotary_embedding, unread(x), table);
  const detail::Call call("rotary_embedding", {{"x", x}, {"table", table, detail::Operand::independent}});
  require(x.dim() == 3 && table.dim() == 2 && table.size(0) == x.size(1) && table.size(1) > 0 &&
              table.size(1) % 2 == 0 && x.size(2) % table.size(1) == 0,
          "rotary_embedding: expected x [B, T, H D] and a table [T, D] with D even: x is ", x.shape(),
          ", the table is ", table.shape());
  require(table.dtype() == DType::float32, "rotary_embedding: expected a float32 table, got ", table.dtype());
  const Tensor dense = x.contiguous(), angles = table.contiguous();
  return call.result(
      x.shape(), [&](const GradientTarget& y) { detail::rotate_on_device(dense, angles, false, y); },
      [&]<class T>(detail::Target<T> y) {
        rotate_rows<T>(angles, detail::row_count(x), detail::row_length(x), dense.data<T>(), false, y);
      });
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void rotary_embedding_pullback(const Tensor&, const Tensor& table, Tensor d_y, Tensor* d_x, Tensor* d_table) {
  require(!d_table, "rotary_embedding: no derivative with respect to the table; its angles are constants");
  d_x = wanted(d_x);
  if (!d_y.defined() || !d_x) return;
  const Tensor d = d_y.contiguous(), angles = table.contiguous();
  detail::add_gradient(
      "rotary_embedding", d_x, d,
      [&](const GradientTarget& to) { detail::rotate_on_device(d, angles, true, to); },
      [&]<class T>(detail::Target<T> to) {
        ::cladtorch::rotate_rows<T>(angles, detail::row_count(d), detail::row_length(d), d.data<T>(), true,
                                    to);
      });
}

}  // namespace clad::custom_derivatives::cladtorch
