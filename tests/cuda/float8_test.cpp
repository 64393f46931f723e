// Linear layers in 8 bits: what the device rounds and remembers beside the CPU, whose rounding is tested
// against the definition of the formats.
#include "cladtorch/ops/float8.h"

#include <cmath>

#include "cladtorch/ops/ops.h"
#include "ops/float8/float8_math.h"
#include "ops/float8/float8_on_device.h"
#include "tensor/device_memory.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gpu;
using testing::normals;
using testing::relative_difference;
using testing::same_bits;
using testing::Tensors;

constexpr DType dtypes[] = {DType::float32, DType::bfloat16};
/// Both round to the same numbers; the products differ by how they are summed.
double tolerance(DType dtype) { return dtype == DType::float32 ? 2e-6 : 8e-3; }

template <class Format>
std::vector<uint8_t> bytes_of(const Tensor& x) {
  std::vector<uint8_t> bytes(static_cast<size_t>(x.numel()));
  detail::download(x.device(), bytes.data(), reinterpret_cast<const std::byte*>(x.device_data<Format>()),
                   bytes.size());
  return bytes;
}

/// x in both orders, as bytes and what they are multiplied by.
struct Rounded {
  std::vector<uint8_t> rows, columns;
  float inverse;
};

template <class Format>
Rounded round_there(const Tensor& x, detail::Float8Role role) {
  const Float8Scaling scaling{zeros({3, Float8Scaling::steps}, DType::float32, gpu)};
  const detail::Float8OnDevice there(x, scaling, role, detail::Float8Layouts::both);
  return {bytes_of<Format>(there.rows().matrix), bytes_of<Format>(there.columns().matrix),
          static_cast<float>(there.rows().scale.item())};
}

template <class Format>
void expect_rounding(const Tensor& x, detail::Float8Role role) {
  const int64_t rows = x.size(0), n = x.size(1);
  const Rounded got = round_there<Format>(x.to(gpu), role);
  const Tensor wide = x.to(DType::float32);
  float largest = 0;
  for (int64_t i = 0; i < x.numel(); ++i) largest = std::fmax(largest, std::fabs(wide.data<float>()[i]));
  const float scale = detail::float8_scale<Format>(largest);
  EXPECT_EQ(got.inverse, 1 / scale);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const int expected = detail::rounded_to_float8<Format>(wide.data<float>()[i * n + j] * scale).bits;
      ASSERT_EQ(got.rows[static_cast<size_t>(i * n + j)], expected) << x.shape() << ' ' << i << ' ' << j;
      ASSERT_EQ(got.columns[static_cast<size_t>(j * rows + i)], expected)
          << x.shape() << ' ' << i << ' ' << j;
    }
  }
}

TEST(CudaFloat8, RoundsInBothOrders) {
  for (const DType dtype : dtypes) {
    for (const Shape& shape : {Shape{16, 16}, {16, 80}, {80, 16}, {64, 64}, {144, 208}}) {
      const Tensor x = normals({shape})[0].to(dtype);
      expect_rounding<float8_e4m3>(x, detail::Float8Role::input);
      expect_rounding<float8_e5m2>(x, detail::Float8Role::cotangent);
    }
    Tensor special = normals({{16, 16}})[0].to(DType::float32);
    const float values[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-30f};
    std::copy(std::begin(values), std::end(values), special.data<float>());
    expect_rounding<float8_e4m3>(special.to(dtype), detail::Float8Role::weight);
    expect_rounding<float8_e5m2>(special.to(dtype), detail::Float8Role::cotangent);
    expect_rounding<float8_e4m3>(zeros({16, 16}, dtype), detail::Float8Role::weight);
  }
}

TEST(CudaFloat8, RoundsWhatLiesAtAnyAddress) {
  const Tensor x = normals({{16 * 16 + 1}})[0].to(DType::bfloat16);
  const Tensor shifted = x.narrow(0, 1, 256).reshape({16, 16}),
               there = x.to(gpu).narrow(0, 1, 256).reshape({16, 16});
  const Rounded got = round_there<float8_e4m3>(there, detail::Float8Role::input),
                expected = round_there<float8_e4m3>(shifted.clone().to(gpu), detail::Float8Role::input);
  EXPECT_EQ(got.rows, expected.rows);
  EXPECT_EQ(got.columns, expected.columns);
}

struct Layer {
  Tensor x, weight, bias, d_y;

  Layer(DType dtype, Device device, int64_t rows = 48) {
    const Tensors made = normals({{rows, 32}, {80, 32}, {80}, {rows, 80}});
    const auto there = [&](const Tensor& t) { return t.to(dtype).to(device); };
    x = there(made[0]);
    weight = there(made[1]);
    bias = there(made[2]);
    d_y = there(made[3] * 1e-5);
  }
};

Tensors gradients(const Layer& l) {
  Tensors d(3);
  pullbacks::linear_pullback(l.x, l.weight, l.bias, l.d_y, &d[0], &d[1], &d[2]);
  return d;
}

void expect_close(const Tensor& there, const Tensor& here, const char* what) {
  EXPECT_TRUE(there.is_cuda());
  EXPECT_LE(relative_difference(there.to(Device{}).to(DType::float64), here.to(DType::float64)),
            tolerance(here.dtype()))
      << what << ' ' << here.dtype();
}

TEST(CudaFloat8, LinearIsThatOfTheCpu) {
  for (const DType dtype : dtypes) {
    const Layer here(dtype, Device{}), there(dtype, gpu);
    const Float8Layers here8({here.weight}), there8({there.weight});
    expect_close(linear(there.x, there.weight, there.bias), linear(here.x, here.weight, here.bias), "linear");
    expect_close(linear(there.x, there.weight), linear(here.x, here.weight), "without bias");
    const Tensors expected = gradients(here), got = gradients(there);
    for (size_t i = 0; i < 3; ++i) expect_close(got[i], expected[i], "a gradient");
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(gradients(there)[i], got[i])) << "changes";

    for (int wanted = 1; wanted < 8; ++wanted) {  // each alone, and in pairs
      Tensors d(3);
      const auto pointer = [&](int i) { return wanted >> i & 1 ? &d[static_cast<size_t>(i)] : nullptr; };
      pullbacks::linear_pullback(there.x, there.weight, there.bias, there.d_y, pointer(0), pointer(1),
                                 pointer(2));
      for (size_t i = 0; i < 3; ++i) {
        if (wanted >> i & 1) expect_close(d[i], expected[i], "one of few");
      }
    }
  }
}

TEST(CudaFloat8, GradientsAreAddedToBuffers) {
  const Layer here(DType::bfloat16, Device{}), there(DType::bfloat16, gpu);
  const Float8Layers here8({here.weight}), there8({there.weight});
  const auto twice = [](const Layer& l) {
    Tensors d = {gradient_buffer_like(l.x), gradient_buffer_like(l.weight), gradient_buffer_like(l.bias)};
    for (int i = 0; i < 2; ++i) pullbacks::linear_pullback(l.x, l.weight, l.bias, l.d_y, &d[0], &d[1], &d[2]);
    return d;
  };
  const Tensors expected = twice(here), got = twice(there);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got[i].dtype(), DType::float32);
    EXPECT_LE(relative_difference(got[i].to(Device{}).to(DType::float64), expected[i].to(DType::float64)),
              1e-5);
  }
}

TEST(CudaFloat8, FusedWithGelu) {
  const Layer here(DType::bfloat16, Device{}), there(DType::bfloat16, gpu);
  const Float8Layers here8({here.weight}), there8({there.weight});
  const auto run = [](const Layer& l) {
    clad::pullback_state<LinearGeluState> state;
    Tensors d(3);
    Tensor y = pullbacks::linear_gelu_tanh_reverse_forw(l.x, l.weight, l.bias, state);
    pullbacks::linear_gelu_tanh_pullback(l.x, l.weight, l.bias, l.d_y, &d[0], &d[1], &d[2], state);
    d.push_back(y);
    return d;
  };
  const Tensors expected = run(here), got = run(there);
  for (size_t i = 0; i < 4; ++i) expect_close(got[i], expected[i], "fused");
}

/// Steps of growing and shrinking operands: both devices remember the same, so they round the same.
TEST(CudaFloat8, RemembersWhatTheCpuRemembers) {
  Layer here(DType::bfloat16, Device{}), there(DType::bfloat16, gpu);
  Float8Layers here8({here.weight}), there8({there.weight});
  const Tensor x = here.x.clone(), d_y = here.d_y.clone();
  for (int step = 0; step < 20; ++step) {
    const double factor = std::exp2(step % 7 - step / 2);
    here.x.copy_from(x.to(DType::float32) * factor);
    here.d_y.copy_from(d_y.to(DType::float32) * (1 / factor));
    there.x.copy_from(here.x);
    there.d_y.copy_from(here.d_y);
    const TrainingScope training(1, 0);
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      expect_close(linear(there.x, there.weight, there.bias), linear(here.x, here.weight, here.bias), "y");
      const Tensors expected = gradients(here), got = gradients(there);
      for (size_t i = 0; i < 3; ++i) expect_close(got[i], expected[i], "a gradient");
    }
    EXPECT_TRUE(same_bits(there8.amax(), here8.amax())) << step;
    here8.finish_step();
    there8.finish_step();
    EXPECT_TRUE(same_bits(there8.amax(), here8.amax())) << step;
  }
}

TEST(CudaFloat8, OutsideATrainingScopeNothingIsRemembered) {
  const Layer there(DType::bfloat16, gpu);
  const Float8Layers there8({there.weight});
  linear(there.x, there.weight, there.bias);
  gradients(there);
  EXPECT_TRUE(same_bits(there8.amax(), zeros({1, 3, Float8Scaling::steps}, DType::float32)));
}

TEST(CudaFloat8, OddNumbersOfRowsAreNotRounded) {
  const Layer there(DType::bfloat16, gpu, 17);
  const Tensor y = linear(there.x, there.weight, there.bias);
  const Float8Layers there8({there.weight});
  EXPECT_TRUE(same_bits(linear(there.x, there.weight, there.bias), y));
}

}  // namespace
}  // namespace cladtorch
