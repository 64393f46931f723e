// Operations on images: convolutions, pooling, normalization of channels, resizing.
#include "cladtorch/ops/convolution.h"
#include "cladtorch/ops/ops.h"
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
           {{1, 3, 2, 700}, {3, 1, 3, 3}, {3}}}),
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

}  // namespace

std::vector<Operation> operations_on_images() {
  std::vector<Operation> all = convolutions();
  return all;
}

}  // namespace cladtorch::testing
