#include "cladtorch/data/transforms.h"

#include <algorithm>
#include <cmath>

#include "cladtorch/error.h"
#include "cladtorch/ops/pooling.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::data {
namespace {

/// Images as planes, one after the other: [planes, height, width].
struct Planes {
  Tensor tensor;
  const float* data;
  int64_t images, channels, height, width;

  Planes(const char* operation, const Tensor& x) {
    require(x.defined() && x.dtype() == DType::float32 && (x.dim() == 3 || x.dim() == 4), operation,
            ": expected float32 [C,H,W] or [N,C,H,W], got ", x.dtype(), " ", x.shape());
    tensor = x.contiguous();
    data = tensor.data<float>();
    images = x.dim() == 4 ? x.size(0) : 1;
    channels = x.size(-3);
    height = x.size(-2);
    width = x.size(-1);
  }

  /// Images of another size.
  Tensor result(int64_t new_height, int64_t new_width) const {
    const int rank = tensor.dim();
    return Tensor::empty(tensor.shape().with(rank - 2, new_height).with(rank - 1, new_width));
  }

  /// Calls body(plane) for each, on all threads.
  template <class Body>
  void for_each(Body body) const {
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, height * width));
    parallel_for(images * channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) body(plane);
    });
  }
};

struct Corner {
  int64_t top, left;
};

/// The pixels from the corner of each image on.
Tensor crops(const char* operation, const Planes& x, const std::vector<Corner>& corners, int64_t height,
             int64_t width) {
  require(height > 0 && width > 0, operation, ": cannot make images of ", height, " x ", width, " pixels");
  Tensor result = x.result(height, width);
  float* const out = result.data<float>();
  x.for_each([&](int64_t plane) {
    const auto [top, left] = corners[static_cast<size_t>(plane / x.channels)];
    // What of each row lies inside of the image.
    const int64_t first = std::clamp<int64_t>(-left, 0, width),
                  last = std::clamp<int64_t>(x.width - left, first, width);
    for (int64_t row = 0; row < height; ++row) {
      float* const to = out + (plane * height + row) * width;
      const int64_t source = top + row;
      if (source < 0 || source >= x.height) {
        std::fill_n(to, width, 0.0f);
        continue;
      }
      const float* const from = x.data + (plane * x.height + source) * x.width;
      std::fill(to, to + first, 0.0f);
      if (first < last) std::copy(from + left + first, from + left + last, to + first);
      std::fill(to + last, to + width, 0.0f);
    }
  });
  return result;
}

}  // namespace

Tensor normalize(const Tensor& images, const std::vector<float>& mean, const std::vector<float>& deviation) {
  const Planes x("normalize", images);
  for (const std::vector<float>* numbers : {&mean, &deviation})
    require(numbers->size() == 1 || std::ssize(*numbers) == x.channels, "normalize: ", numbers->size(),
            " numbers for the ", x.channels, " channels of ", images.shape());
  require(std::find(deviation.begin(), deviation.end(), 0.0f) == deviation.end(),
          "normalize: a deviation is 0");
  Tensor result = x.result(x.height, x.width);
  float* const out = result.data<float>();
  x.for_each([&](int64_t plane) {
    const auto channel = static_cast<size_t>(plane % x.channels);
    const float center = mean[mean.size() == 1 ? 0 : channel];
    const float divisor = deviation[deviation.size() == 1 ? 0 : channel];
    const int64_t size = x.height * x.width;
    for (int64_t i = plane * size; i < (plane + 1) * size; ++i) out[i] = (x.data[i] - center) / divisor;
  });
  return result;
}

Tensor resize(const Tensor& images, int64_t height, int64_t width) {
  const Planes x("resize", images);
  require(height > 0 && width > 0 && x.height > 0 && x.width > 0, "resize: cannot make ", height, " x ",
          width, " pixels of ", images.shape());
  const Tensor batch = images.dim() == 3 ? images.unsqueeze(0) : images;
  const Tensor result = interpolate(batch, {height, width}, Interpolation::bilinear);
  return images.dim() == 3 ? result.squeeze(0) : result;
}

Tensor resize(const Tensor& images, int64_t size) {
  const Planes x("resize", images);
  require(size > 0 && x.height > 0 && x.width > 0, "resize: cannot make a side of ", size, " pixels of ",
          images.shape());
  const int64_t shorter = std::min(x.height, x.width);
  return resize(images, size * x.height / shorter, size * x.width / shorter);
}

Tensor crop(const Tensor& images, int64_t top, int64_t left, int64_t height, int64_t width) {
  const Planes x("crop", images);
  const std::vector<Corner> corners(static_cast<size_t>(x.images), {top, left});
  return crops("crop", x, corners, height, width);
}

Tensor center_crop(const Tensor& images, int64_t height, int64_t width) {
  const Planes x("center_crop", images);
  // torchvision rounds halves to the even number where it cuts, and up where it pads.
  const auto corner = [](int64_t has, int64_t wants) {
    return wants > has ? -((wants - has) / 2)
                       : static_cast<int64_t>(std::nearbyint(static_cast<double>(has - wants) / 2));
  };
  const std::vector<Corner> corners(static_cast<size_t>(x.images),
                                    {corner(x.height, height), corner(x.width, width)});
  return crops("center_crop", x, corners, height, width);
}

Tensor random_crop(const Tensor& images, int64_t height, int64_t width, int64_t padding, Random& random) {
  const Planes x("random_crop", images);
  const int64_t rows = x.height + 2 * padding - height, columns = x.width + 2 * padding - width;
  require(padding >= 0 && rows >= 0 && columns >= 0, "random_crop: ", height, " x ", width,
          " pixels cannot be cut from ", images.shape(), " with a padding of ", padding);
  std::vector<Corner> corners;
  for (int64_t i = 0; i < x.images; ++i) {
    const auto top = static_cast<int64_t>(random.below(static_cast<uint64_t>(rows) + 1));
    const auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(columns) + 1));
    corners.push_back({top - padding, left - padding});
  }
  return crops("random_crop", x, corners, height, width);
}

Tensor random_horizontal_flip(const Tensor& images, Random& random, double probability) {
  const Planes x("random_horizontal_flip", images);
  std::vector<char> mirrored;
  for (int64_t i = 0; i < x.images; ++i) mirrored.push_back(random.uniform() < probability ? 1 : 0);
  Tensor result = x.result(x.height, x.width);
  float* const out = result.data<float>();
  x.for_each([&](int64_t plane) {
    const bool mirror = mirrored[static_cast<size_t>(plane / x.channels)] != 0;
    for (int64_t row = plane * x.height; row < (plane + 1) * x.height; ++row) {
      const float *const from = x.data + row * x.width, *const end = from + x.width;
      float* const to = out + row * x.width;
      mirror ? std::reverse_copy(from, end, to) : std::copy(from, end, to);
    }
  });
  return result;
}

}  // namespace cladtorch::data
