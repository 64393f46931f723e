#include "data/text/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* action = "read text";

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(const fs::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(io::describe_failure(action, path, errno));
  }
  ~PlainSource() override { ::close(descriptor_); }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  size_t read(char* out, size_t size) override {
    size_t filled = 0;
    while (filled < size) {
      const ssize_t got = ::read(descriptor_, out + filled, size - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error(io::describe_failure(action, path_, errno));
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    consumed_ += filled;
    return filled;
  }
  uint64_t consumed() const override { return consumed_; }

 private:
  fs::path path_;
  int descriptor_;
  uint64_t consumed_ = 0;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(const fs::path& path) : path_(path) {
    errno = 0;
    file_ = ::gzopen(path.c_str(), "rbe");
    if (file_ == nullptr) throw Error(io::describe_failure(action, path, errno != 0 ? errno : ENOMEM));
    ::gzbuffer(file_, 1u << 18);
  }
  ~GzipSource() override { ::gzclose(file_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  size_t read(char* out, size_t size) override {
    constexpr size_t most = std::numeric_limits<int>::max();
    size_t filled = 0;
    while (filled < size) {
      const int got = ::gzread(file_, out + filled, static_cast<unsigned>(std::min(size - filled, most)));
      if (got > 0 && ::gzdirect(file_) != 0) fail(action, ": '", path_.string(), "' is not gzip");
      if (got <= 0) break;
      filled += static_cast<size_t>(got);
    }
    int code = Z_OK;
    const char* reason = ::gzerror(file_, &code);
    if (code == Z_ERRNO) throw Error(io::describe_failure(action, path_, errno));
    if (code == Z_BUF_ERROR) fail(action, ": '", path_.string(), "' ends too early; was it copied whole?");
    if (code != Z_OK && code != Z_STREAM_END) {
      fail(action, ": '", path_.string(), "' is damaged gzip (", reason, ")");
    }
    return filled;
  }
  uint64_t consumed() const override {
    const auto offset = ::gzoffset(file_);
    return offset > 0 ? static_cast<uint64_t>(offset) : 0;
  }

 private:
  fs::path path_;
  gzFile file_;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(const fs::path& path)
      : path_(path), file_(path), stream_(::ZSTD_createDStream()), buffer_(::ZSTD_DStreamInSize()) {
    require(stream_ != nullptr, action, ": no memory to decompress '", path.string(), "'");
  }
  ~ZstdSource() override { ::ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  size_t read(char* out, size_t size) override {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos < size) {
      if (input_.pos == input_.size && !flushing_) {
        input_ = {buffer_.data(), file_.read(buffer_.data(), buffer_.size()), 0};
        if (input_.size == 0) break;
      }
      const size_t before = output.pos, input_before = input_.pos;
      const size_t left = ::ZSTD_decompressStream(stream_, &output, &input_);
      if (::ZSTD_isError(left) != 0) {
        fail(action, ": '", path_.string(), "' is damaged, or not in zstd's format (",
             ::ZSTD_getErrorName(left), ")");
      }
      // Between two frames, a call that does nothing asks for the next one.
      if (output.pos > before || input_.pos > input_before) inside_frame_ = left != 0;
      // A full output may hide more of it that needs no more input.
      flushing_ = output.pos == size && output.pos > before;
    }
    if (output.pos < size && inside_frame_) {
      fail(action, ": '", path_.string(), "' ends too early; was it copied whole?");
    }
    return output.pos;
  }
  uint64_t consumed() const override { return file_.consumed(); }

 private:
  fs::path path_;
  PlainSource file_;
  ZSTD_DStream* stream_;
  std::vector<char> buffer_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool inside_frame_ = false, flushing_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> ByteSource::open(const fs::path& path) {
  if (path.extension() == ".gz") return std::make_unique<GzipSource>(path);
  if (path.extension() == ".zst") return std::make_unique<ZstdSource>(path);
  return std::make_unique<PlainSource>(path);
}

fs::path without_compression(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".gz" || extension == ".zst" ? path.stem() : path.filename();
}

}  // namespace cladtorch::data
