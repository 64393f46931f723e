// Image files of every kind for tests, made by the libraries themselves.
#pragma once

#include <cstddef>
#include <cstdio>

// It needs the two above.
#include <jpeglib.h>
#include <png.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace cladtorch::data {

struct PngKind {
  int depth = 8, type = PNG_COLOR_TYPE_RGB;
  bool interlaced = false, transparent = false;
  std::vector<png_color> palette = {};
};

/// The rows hold the bytes that PNG stores.
inline std::string png_file(uint32_t width, std::vector<std::vector<uint8_t>> rows, const PngKind& kind) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto write = [](png_structp to, png_bytep bytes, size_t size) {
    static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<const char*>(bytes), size);
  };
  png_set_write_fn(png, &out, write, nullptr);
  png_set_IHDR(png, info, width, static_cast<uint32_t>(rows.size()), kind.depth, kind.type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!kind.palette.empty())
    png_set_PLTE(png, info, kind.palette.data(), static_cast<int>(kind.palette.size()));
  if (kind.transparent) {
    uint8_t alpha = 0;
    png_color_16 color{};
    png_set_tRNS(png, info, &alpha, 1, &color);
  }
  std::vector<png_bytep> pointers;
  for (std::vector<uint8_t>& row : rows) pointers.push_back(row.data());
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

/// Every pixel has the same channels, so that hardly anything is lost.
inline std::string jpeg_file(uint32_t width, uint32_t height, std::vector<uint8_t> pixel,
                             J_COLOR_SPACE space) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = static_cast<int>(pixel.size());
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> row;
  for (uint32_t x = 0; x < width; ++x) row.insert(row.end(), pixel.begin(), pixel.end());
  JSAMPROW pointer = row.data();
  for (uint32_t y = 0; y < height; ++y) jpeg_write_scanlines(&jpeg, &pointer, 1);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return out;
}

}  // namespace cladtorch::data
