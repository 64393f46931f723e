#include <cstddef>
#include <cstdio>

// They need the two above.
#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>

#include "cladtorch/error.h"
#include "data/tensors/images/pixels.h"

namespace cladtorch::data {
namespace {

/// libjpeg's callbacks find it by its first member.
struct ErrorManager {
  jpeg_error_mgr base{};
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message{};
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto* manager = reinterpret_cast<ErrorManager*>(jpeg->err);
  manager->base.format_message(jpeg, manager->message.data());
  std::longjmp(manager->jump, 1);
}

/// A file that ends too early is a warning to libjpeg, which makes the rest gray.
void on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) on_error(jpeg);
}

class Decoder {
 public:
  explicit Decoder(Bytes file) {
    jpeg_.err = ::jpeg_std_error(&errors_.base);
    errors_.base.error_exit = on_error;
    errors_.base.emit_message = on_message;
    begun_ = succeeds([&] {
      ::jpeg_create_decompress(&jpeg_);
      ::jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
      ::jpeg_read_header(&jpeg_, TRUE);
      const bool four = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
      jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
      ::jpeg_calc_output_dimensions(&jpeg_);
    });
  }
  ~Decoder() { ::jpeg_destroy_decompress(&jpeg_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  bool begun() const { return begun_; }
  const jpeg_decompress_struct& header() const { return jpeg_; }
  const char* message() const { return errors_.message.data(); }

  bool read(Pixels& pixels) {
    return succeeds([&] {
      ::jpeg_start_decompress(&jpeg_);
      while (jpeg_.output_scanline < jpeg_.output_height) {
        JSAMPROW row = pixels.data.data() + jpeg_.output_scanline * pixels.row_size();
        ::jpeg_read_scanlines(&jpeg_, &row, 1);
      }
      ::jpeg_finish_decompress(&jpeg_);
    });
  }

 private:
  /// Runs calls of libjpeg, which leaves them by longjmp() on an error: they may own nothing.
  template <class Calls>
  bool succeeds(Calls calls) {
    if (setjmp(errors_.jump) != 0) return false;
    calls();
    return true;
  }

  ErrorManager errors_;
  jpeg_decompress_struct jpeg_{};
  bool begun_ = false;
};

}  // namespace

Pixels decode_jpeg(const std::string& name, Bytes file) {
  Decoder decoder(file);
  require(decoder.begun(), name, " is damaged JPEG (", decoder.message(), ")");
  Pixels pixels;
  pixels.height = decoder.header().output_height;
  pixels.width = decoder.header().output_width;
  pixels.channels = decoder.header().out_color_components;
  // A block of 64 pixels takes a bit at least.
  require(static_cast<size_t>(pixels.height * pixels.width) / 512 <= file.size(), name,
          " is damaged JPEG (its size of ", pixels.width, " x ", pixels.height, " does not fit in the file)");
  pixels.data.resize(pixels.row_size() * static_cast<size_t>(pixels.height));
  require(decoder.read(pixels), name, " is damaged JPEG (", decoder.message(), ")");
  return pixels;
}

}  // namespace cladtorch::data
