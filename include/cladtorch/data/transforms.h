// Transforms of images, [C,H,W] or a batch [N,C,H,W], float32 on the CPU, with the names and the results of
// torchvision. Each returns a new tensor and throws Error for other shapes. The random ones draw for every
// image of a batch; their results depend on the generator alone.
#pragma once

#include <cstdint>
#include <vector>

#include "cladtorch/random.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

/// (x - mean) / deviation, each of which has one number per channel, or one for all. Throws Error for other
/// numbers of them, and for a deviation of 0.
Tensor normalize(const Tensor& images, const std::vector<float>& mean, const std::vector<float>& deviation);

/// Bilinear, without antialiasing: F.interpolate(x, (height, width), mode="bilinear").
Tensor resize(const Tensor& images, int64_t height, int64_t width);
/// The same, so that the shorter side is `size` and the sides keep their ratio.
Tensor resize(const Tensor& images, int64_t size);

/// The `height` x `width` pixels from (top, left) on. What lies outside the image is 0.
Tensor crop(const Tensor& images, int64_t top, int64_t left, int64_t height, int64_t width);
/// The middle. Where the image is smaller, there is 0 around it.
Tensor center_crop(const Tensor& images, int64_t height, int64_t width);
/// A random place in the image with `padding` pixels of 0 around it. Throws Error if that is smaller.
Tensor random_crop(const Tensor& images, int64_t height, int64_t width, int64_t padding, Random& random);

/// Mirrors each image, left to right, with the probability.
Tensor random_horizontal_flip(const Tensor& images, Random& random, double probability = 0.5);

}  // namespace cladtorch::data
