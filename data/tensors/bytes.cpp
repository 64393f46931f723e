#include "data/tensors/bytes.h"

#include <algorithm>

#include "cladtorch/error.h"

namespace cladtorch::data {
namespace {

/// zlib counts in 32 bits.
constexpr size_t most_at_once = size_t{1} << 30;

Bytef* zlib_pointer(const void* data) { return static_cast<Bytef*>(const_cast<void*>(data)); }

bool begins_as_gzip(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

/// The members of a gzip file, one after the other.
std::string gunzip(const char* action, const std::filesystem::path& path, Bytes packed) {
  std::string out;
  size_t filled = 0;
  while (!packed.empty()) {
    require(begins_as_gzip(packed), action, ": '", path.string(),
            "' has bytes after the end of its gzip data");
    Inflater member(packed, 15 + 16);
    while (!member.ended()) {
      if (filled == out.size()) out.resize(std::max(2 * out.size(), 4 * packed.size()));
      const size_t got = member.read(out.data() + filled, out.size() - filled);
      filled += got;
      require(member.damage() == nullptr, action, ": '", path.string(), "' is damaged gzip (",
              member.damage(), ")");
      require(got > 0 || member.ended(), action, ": '", path.string(),
              "' ends too early; was it copied whole?");
    }
    packed = member.rest();
  }
  out.resize(filled);
  return out;
}

}  // namespace

Inflater::Inflater(Bytes packed, int window_bits) : packed_(packed) {
  require(::inflateInit2(&stream_, window_bits) == Z_OK, "zlib: no memory to decompress");
}

Inflater::~Inflater() { ::inflateEnd(&stream_); }

size_t Inflater::read(char* out, size_t size) {
  size_t filled = 0;
  while (filled < size && state_ == Z_OK) {
    const size_t input = std::min(packed_.size(), most_at_once), room = std::min(size - filled, most_at_once);
    stream_.next_in = zlib_pointer(packed_.data());
    stream_.avail_in = static_cast<uInt>(input);
    stream_.next_out = zlib_pointer(out + filled);
    stream_.avail_out = static_cast<uInt>(room);
    state_ = ::inflate(&stream_, Z_NO_FLUSH);
    packed_ = packed_.subspan(input - stream_.avail_in);
    filled += room - stream_.avail_out;
  }
  // No progress: more input would be needed.
  if (state_ == Z_BUF_ERROR) state_ = Z_OK;
  return filled;
}

const char* Inflater::damage() const {
  if (state_ == Z_OK || state_ == Z_STREAM_END) return nullptr;
  return stream_.msg != nullptr ? stream_.msg : ::zError(state_);
}

std::string deflated(Bytes bytes) {
  z_stream stream{};
  require(::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          "zlib: no memory to compress");
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  size_t filled = 0;
  for (int state = Z_OK; state == Z_OK;) {
    const size_t input = std::min(bytes.size(), most_at_once),
                 room = std::min(out.size() - filled, most_at_once);
    stream.next_in = zlib_pointer(bytes.data());
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = zlib_pointer(out.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    state = ::deflate(&stream, input == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes = bytes.subspan(input - stream.avail_in);
    filled += room - stream.avail_out;
  }
  ::deflateEnd(&stream);
  // deflateBound() leaves room for all of it.
  out.resize(filled);
  return out;
}

FileBytes::FileBytes(const char* action, const std::filesystem::path& path) : file_(path) {
  if (!begins_as_gzip(file_.bytes())) return;
  content_ = gunzip(action, path, file_.bytes());
  unpacked_ = true;
}

}  // namespace cladtorch::data
