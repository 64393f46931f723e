#include "cladtorch/data/image.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"
#include "data/tensors/images/pixels.h"

namespace cladtorch::data {
namespace {

Pixels decode(const std::string& name, Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(name, file);
  if (text.starts_with("\xff\xd8\xff")) return decode_jpeg(name, file);
  fail(name, " is neither PNG nor JPEG");
}

/// The channels of each pixel as they are stored, from 0 to 1, are what `write(index, channels)` gets.
template <class Write>
void for_each_pixel(const Pixels& pixels, Write write) {
  const auto channels = static_cast<size_t>(pixels.channels), bytes = static_cast<size_t>(pixels.bytes);
  const float most = bytes == 2 ? 65535 : 255;
  const uint8_t* from = pixels.data.data();
  std::array<float, 4> values{};
  for (int64_t i = 0; i < pixels.height * pixels.width; ++i) {
    for (size_t c = 0; c < channels; ++c, from += bytes)
      values[c] = static_cast<float>(bytes == 2 ? from[0] << 8 | from[1] : from[0]) / most;
    write(i, values);
  }
}

}  // namespace

Tensor read_image(const std::filesystem::path& path, int channels) {
  require(channels == 1 || channels == 3, "read_image: expected 1 or 3 channels, got ", channels);
  const io::MappedFile file(path);
  const Pixels pixels = decode("read_image: '" + path.string() + "'", file.bytes());
  Tensor image = Tensor::empty({channels, pixels.height, pixels.width});
  float* const out = image.data<float>();
  const int64_t plane = pixels.height * pixels.width;
  for_each_pixel(pixels, [&](int64_t i, const std::array<float, 4>& values) {
    auto [red, green, blue, black] = values;
    if (pixels.channels == 1) green = blue = red;
    if (pixels.channels == 4) red *= black, green *= black, blue *= black;
    if (channels == 3) {
      out[i] = red;
      out[plane + i] = green;
      out[2 * plane + i] = blue;
    } else {
      // The gray of gray is the same to the last bit.
      out[i] = pixels.channels == 1 ? red : 0.299f * red + 0.587f * green + 0.114f * blue;
    }
  });
  return image;
}

void write_png(const std::filesystem::path& path, const Tensor& image) {
  const std::string name = "write_png: '" + path.string() + "'";
  require(image.defined(), name, ": the tensor is undefined");
  require(is_floating(image.dtype()), name, ": expected floating-point numbers, got ", image.dtype());
  const int64_t channels = image.dim() == 3 ? image.size(0) : 1;
  require(image.dim() == 2 || (image.dim() == 3 && (channels == 1 || channels == 3 || channels == 4)), name,
          ": expected [H,W] or [C,H,W] with 1, 3 or 4 channels, got ", image.shape());
  const Tensor dense = image.to(Device{}).to(DType::float32).contiguous();
  Pixels pixels{.height = image.size(-2), .width = image.size(-1), .channels = channels, .data = {}};
  require(pixels.height > 0 && pixels.width > 0, name, ": there are no pixels in ", image.shape());
  const float* const from = dense.data<float>();
  const int64_t plane = pixels.height * pixels.width;
  pixels.data.reserve(static_cast<size_t>(plane * channels));
  for (int64_t i = 0; i < plane; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      const float value = from[c * plane + i];
      // NaN is black.
      pixels.data.push_back(static_cast<uint8_t>(value > 0 ? std::min(value * 255 + 0.5f, 255.0f) : 0.0f));
    }
  }
  io::write_file(path, encode_png(name, pixels));
}

}  // namespace cladtorch::data
