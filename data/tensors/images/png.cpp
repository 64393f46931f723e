#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "cladtorch/error.h"
#include "data/tensors/images/pixels.h"

namespace cladtorch::data {
namespace {

/// What libpng says last.
using Message = std::array<char, 160>;

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto& message = *static_cast<Message*>(::png_get_error_ptr(png));
  std::snprintf(message.data(), message.size(), "%s", text);
  ::png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, size_t size) {
  auto& rest = *static_cast<Bytes*>(::png_get_io_ptr(png));
  if (size > rest.size()) ::png_error(png, "it ends too early");
  std::memcpy(to, rest.data(), size);
  rest = rest.subspan(size);
}

void write_bytes(png_structp png, png_bytep from, size_t size) {
  static_cast<std::string*>(::png_get_io_ptr(png))->append(reinterpret_cast<const char*>(from), size);
}

void flush(png_structp) {}

/// Runs calls of libpng, which leaves them by longjmp() on an error: they may own nothing.
template <class Calls>
bool succeeds(png_structp png, Calls calls) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  calls();
  return true;
}

struct Reader {
  Message message{};
  png_structp png;
  png_infop info;

  explicit Reader(Bytes& file)
      : png(::png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning)),
        info(png != nullptr ? ::png_create_info_struct(png) : nullptr) {
    require(info != nullptr, "libpng: no memory");
    ::png_set_read_fn(png, &file, read_bytes);
  }
  ~Reader() { ::png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

struct Writer {
  Message message{};
  png_structp png;
  png_infop info;

  explicit Writer(std::string& out)
      : png(::png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning)),
        info(png != nullptr ? ::png_create_info_struct(png) : nullptr) {
    require(info != nullptr, "libpng: no memory");
    ::png_set_write_fn(png, &out, write_bytes, flush);
  }
  ~Writer() { ::png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
};

std::vector<png_bytep> rows_of(Pixels& pixels) {
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < pixels.height; ++y)
    rows.push_back(pixels.data.data() + static_cast<size_t>(y) * pixels.row_size());
  return rows;
}

}  // namespace

Pixels decode_png(const std::string& name, Bytes file) {
  const size_t size = file.size();
  Reader reader(file);
  png_structp png = reader.png;
  png_infop info = reader.info;
  Pixels pixels;
  const bool begun = succeeds(png, [&] {
    ::png_read_info(png, info);
    ::png_set_palette_to_rgb(png);
    ::png_set_expand_gray_1_2_4_to_8(png);
    ::png_set_strip_alpha(png);
    ::png_set_interlace_handling(png);
    ::png_read_update_info(png, info);
    pixels.height = ::png_get_image_height(png, info);
    pixels.width = ::png_get_image_width(png, info);
    pixels.channels = ::png_get_channels(png, info);
    pixels.bytes = ::png_get_bit_depth(png, info) / 8;
  });
  require(begun, name, " is damaged PNG (", reader.message.data(), ")");
  // Deflate makes nothing smaller than by 1032, and a bit may have become 3 bytes.
  require(pixels.row_size() * static_cast<size_t>(pixels.height) / (1032 * 24) <= size, name,
          " is damaged PNG (its size of ", pixels.width, " x ", pixels.height, " does not fit in the file)");
  pixels.data.resize(pixels.row_size() * static_cast<size_t>(pixels.height));
  std::vector<png_bytep> rows = rows_of(pixels);
  const bool read = succeeds(png, [&] {
    ::png_read_image(png, rows.data());
    ::png_read_end(png, nullptr);
  });
  require(read, name, " is damaged PNG (", reader.message.data(), ")");
  return pixels;
}

std::string encode_png(const std::string& name, const Pixels& pixels) {
  std::string out;
  Writer writer(out);
  png_structp png = writer.png;
  png_infop info = writer.info;
  Pixels& source = const_cast<Pixels&>(pixels);  // libpng's rows are not const, but only read
  std::vector<png_bytep> rows = rows_of(source);
  const int type = pixels.channels == 1   ? PNG_COLOR_TYPE_GRAY
                   : pixels.channels == 3 ? PNG_COLOR_TYPE_RGB
                                          : PNG_COLOR_TYPE_RGB_ALPHA;
  const bool written = succeeds(png, [&] {
    ::png_set_IHDR(png, info, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height),
                   8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    ::png_write_info(png, info);
    ::png_write_image(png, rows.data());
    ::png_write_end(png, nullptr);
  });
  require(written, name, " cannot be written (", writer.message.data(), ")");
  return out;
}

}  // namespace cladtorch::data
