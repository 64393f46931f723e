// Operations on images: convolutions, pooling, normalization of channels, resizing.
#include "cladtorch/ops/batch_norm.h"
#include "cladtorch/ops/convolution.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/ops/pooling.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using Gradients = std::vector<Tensor*>;

template <auto function, auto pullback, class Options>
Operation convolution(const char* name, const Options& options, std::vector<std::vector<Shape>> cases) {
  Operation operation{name,
                      {{"x"}, {"weight"}, {"bias"}},
                      std::move(cases),
                      [=](const Tensors& x) { return function(x[0], x[1], x[2], options); },
                      [=](const Tensors& x, Tensor d_y, const Gradients& d) {
                        pullback(x[0], x[1], x[2], options, std::move(d_y), d[0], d[1], d[2]);
                      }};
  operation.on_devices = false;
  return operation;
}

std::vector<Operation> convolutions() {
  return {
      convolution<conv1d, pullbacks::conv1d_pullback>("conv1d", ConvOptions{.stride = 2, .padding = 1},
                                                      {{{2, 3, 9}, {4, 3, 3}, {4}},
                                                       {{1, 2, 2}, {3, 2, 4}, {3}},
                                                       {{2, 3, 1500}, {5, 3, 7}, {5}},
                                                       {{4, 30}, {6, 4, 2}, {6}}}),
      convolution<conv2d, pullbacks::conv2d_pullback>("conv2d", ConvOptions{.padding = 1},
                                                      {{{2, 3, 5, 4}, {4, 3, 3, 3}, {4}},
                                                       {{0, 2, 3, 3}, {3, 2, 3, 3}, {3}},
                                                       {{2, 2, 1, 1}, {3, 2, 3, 3}, {3}},
                                                       {{3, 17, 14, 14}, {24, 17, 3, 3}, {24}},
                                                       {{2, 3, 40, 70}, {6, 3, 3, 3}, {6}},
                                                       {{2, 80, 7, 7}, {130, 80, 3, 3}, {130}},
                                                       {{3, 8, 9}, {5, 3, 3, 3}, {5}}}),
      convolution<conv2d, pullbacks::conv2d_pullback>(
          "conv2d_strided", ConvOptions{.stride = {2, 3}, .padding = {0, 2}, .dilation = {3, 2}},
          {{{2, 2, 9, 8}, {3, 2, 3, 2}, {3}},
           {{1, 2, 5, 1}, {3, 2, 2, 3}, {3}},
           {{2, 5, 41, 600}, {9, 5, 3, 3}, {9}}}),
      convolution<conv2d, pullbacks::conv2d_pullback>(
          "conv2d_pointwise", ConvOptions{.stride = 2},
          {{{2, 3, 5, 4}, {4, 3, 1, 1}, {4}}, {{2, 70, 15, 15}, {20, 70, 1, 1}, {20}}}),
      convolution<conv2d, pullbacks::conv2d_pullback>(
          "conv2d_grouped", ConvOptions{.stride = 2, .padding = 1, .groups = 2},
          {{{2, 4, 5, 4}, {6, 2, 3, 3}, {6}}, {{3, 12, 20, 21}, {16, 6, 3, 3}, {16}}}),
      convolution<conv2d, pullbacks::conv2d_pullback>(
          "conv2d_depthwise", ConvOptions{.stride = {1, 2}, .padding = 2, .groups = 3},
          {{{2, 3, 5, 4}, {6, 1, 5, 3}, {6}},
           {{2, 3, 40, 41}, {3, 1, 3, 3}, {3}},
           {{1, 3, 2, 5000}, {3, 1, 3, 3}, {3}}}),
      convolution<conv3d, pullbacks::conv3d_pullback>(
          "conv3d", ConvOptions{.stride = {2, 1, 2}, .padding = 1, .dilation = {1, 2, 1}},
          {{{2, 2, 4, 5, 4}, {3, 2, 2, 3, 3}, {3}}, {{1, 5, 9, 12, 11}, {7, 5, 3, 3, 3}, {7}}}),
      convolution<conv_transpose1d, pullbacks::conv_transpose1d_pullback>(
          "conv_transpose1d", ConvTransposeOptions{.stride = 3, .output_padding = 1},
          {{{2, 3, 5}, {3, 4, 2}, {4}}, {{2, 3, 400}, {3, 5, 4}, {5}}}),
      convolution<conv_transpose2d, pullbacks::conv_transpose2d_pullback>(
          "conv_transpose2d", ConvTransposeOptions{.stride = 2, .padding = 1, .groups = 2},
          {{{2, 4, 3, 2}, {4, 2, 4, 3}, {4}}, {{2, 12, 9, 14}, {12, 5, 4, 4}, {10}}}),
      convolution<conv_transpose3d, pullbacks::conv_transpose3d_pullback>(
          "conv_transpose3d", ConvTransposeOptions{.stride = {1, 2, 1}, .padding = {1, 0, 1}, .dilation = 2},
          {{{1, 2, 3, 3, 4}, {2, 2, 3, 2, 3}, {2}}}),
  };
}

/// One that keeps the shape of its operand, or where its extremes were.
template <class State, class Call, class Reverse, class Pull>
Operation pooling(const char* name, std::vector<std::vector<Shape>> cases, Call call, Reverse reverse,
                  Pull pull) {
  Operation operation{name,
                      {{}},
                      std::move(cases),
                      [=](const Tensors& x) { return call(x[0]); },
                      [=](const Tensors& x, Tensor d_y, const Gradients& d) {
                        clad::pullback_state<State> state;
                        reverse(x[0], state);
                        pull(Tensor(), std::move(d_y), d[0], state);
                      }};
  operation.freezes = operation.on_devices = false;
  return operation;
}
#define CLADTORCH_POOLING(name, State, function, cases, ...)                                           \
  pooling<State>(                                                                                      \
      name, cases, [](const Tensor& x) { return function(x, __VA_ARGS__); },                           \
      [](const Tensor& x, auto& state) { pullbacks::function##_reverse_forw(x, __VA_ARGS__, state); }, \
      [](const Tensor& x, Tensor d_y, Tensor* d_x, auto& state) {                                      \
        pullbacks::function##_pullback(x, __VA_ARGS__, std::move(d_y), d_x, state);                    \
      })

std::vector<Operation> poolings() {
  const std::vector<std::vector<Shape>> lines = {{{2, 3, 9}}, {{4, 7}}, {{3, 5, 4000}}},
                                        images = {{{2, 3, 6, 5}},
                                                  {{3, 7, 8}},
                                                  {{0, 2, 4, 4}},
                                                  {{3, 4, 40, 43}}},
                                        batches = {images[0], images[3]};
  return {
      CLADTORCH_POOLING("max_pool1d", MaxPoolState, max_pool1d, lines, 3,
                        PoolOptions{.stride = 2, .padding = 1}),
      CLADTORCH_POOLING("max_pool2d", MaxPoolState, max_pool2d, images, 2, PoolOptions()),
      CLADTORCH_POOLING("max_pool2d_ceil", MaxPoolState, max_pool2d, images, (PerDimension{2, 3}),
                        PoolOptions{.stride = 2, .padding = {0, 1}, .dilation = {2, 1}, .ceil_mode = true}),
      CLADTORCH_POOLING("avg_pool1d", ShapeState, avg_pool1d, lines, 2, AvgPoolOptions()),
      CLADTORCH_POOLING("avg_pool2d", ShapeState, avg_pool2d, images, 3,
                        AvgPoolOptions{.stride = 2, .padding = 1}),
      CLADTORCH_POOLING(
          "avg_pool2d_ceil", ShapeState, avg_pool2d, images, 3,
          AvgPoolOptions{.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}),
      CLADTORCH_POOLING("adaptive_avg_pool1d", ShapeState, adaptive_avg_pool1d, lines, 4),
      CLADTORCH_POOLING("adaptive_avg_pool2d", ShapeState, adaptive_avg_pool2d, images, (PerDimension{4, 3})),
      CLADTORCH_POOLING("interpolate_nearest", ShapeState, interpolate, batches, (PerDimension{11, 4}),
                        Interpolation::nearest, false),
      CLADTORCH_POOLING("interpolate_bilinear", ShapeState, interpolate, batches, (PerDimension{11, 4}),
                        Interpolation::bilinear, false),
      CLADTORCH_POOLING("interpolate_corners", ShapeState, interpolate, batches, (PerDimension{9, 1}),
                        Interpolation::bilinear, true),
  };
}
#undef CLADTORCH_POOLING

std::vector<Operation> channel_norms() {
  const std::vector<std::vector<Shape>> cases = {
      {{3, 4, 5}, {4}, {4}}, {{5, 6}, {6}, {6}}, {{2, 2, 3, 2}, {2}, {2}}, {{7, 12, 30, 31}, {12}, {12}}};
  std::vector<std::vector<Shape>> running;
  for (const auto& shapes : cases) running.push_back({shapes[0], shapes[1], shapes[1], shapes[1], shapes[2]});
  std::vector<Operation> norms = {
      {"batch_norm",
       {{"x"}, {"weight"}, {"bias"}},
       cases,
       [](const Tensors& x) { return batch_norm(x[0], {}, {}, x[1], x[2], true); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         clad::pullback_state<ChannelNormState> state;
         pullbacks::batch_norm_reverse_forw(x[0], {}, {}, x[1], x[2], true, 0.1, 1e-5, state);
         pullbacks::batch_norm_pullback(x[0], {}, {}, x[1], x[2], true, 0.1, 1e-5, std::move(d_y), d[0],
                                        nullptr, nullptr, d[1], d[2], nullptr, nullptr, state);
       }},
      {"batch_norm_running",
       {{"x"}, {"running_mean"}, {"running_var", 0.4, 2}, {"weight"}, {"bias"}},
       running,
       [](const Tensors& x) { return batch_norm(x[0], x[1], x[2], x[3], x[4], false); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         clad::pullback_state<ChannelNormState> state;
         pullbacks::batch_norm_reverse_forw(x[0], x[1], x[2], x[3], x[4], false, 0.1, 1e-5, state);
         pullbacks::batch_norm_pullback(x[0], x[1], x[2], x[3], x[4], false, 0.1, 1e-5, std::move(d_y), d[0],
                                        d[1], d[2], d[3], d[4], nullptr, nullptr, state);
       }},
      {"group_norm",
       {{"x"}, {"weight"}, {"bias"}},
       cases,
       [](const Tensors& x) { return group_norm(x[0], 2, x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         clad::pullback_state<ChannelNormState> state;
         pullbacks::group_norm_reverse_forw(x[0], 2, x[1], x[2], 1e-5, state);
         pullbacks::group_norm_pullback(x[0], 2, x[1], x[2], 1e-5, std::move(d_y), d[0], d[1], d[2], nullptr,
                                        state);
       }},
      {"instance_norm",
       {{"x"}, {"weight"}, {"bias"}},
       {cases[0], cases[2], cases[3]},
       [](const Tensors& x) { return instance_norm(x[0], x[1], x[2]); },
       [](const Tensors& x, Tensor d_y, const Gradients& d) {
         clad::pullback_state<ChannelNormState> state;
         pullbacks::instance_norm_reverse_forw(x[0], x[1], x[2], 1e-5, state);
         pullbacks::instance_norm_pullback(x[0], x[1], x[2], 1e-5, std::move(d_y), d[0], d[1], d[2], nullptr,
                                           state);
       }},
  };
  for (Operation& norm : norms) norm.on_devices = false;
  return norms;
}

}  // namespace

std::vector<Operation> operations_on_images() {
  std::vector<Operation> all = convolutions();
  for (const auto& part : {poolings(), channel_norms()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace cladtorch::testing
