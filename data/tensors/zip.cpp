#include "data/tensors/zip.h"

#include <algorithm>
#include <cstring>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch::data {
namespace {

constexpr uint32_t local_signature = 0x04034b50, member_signature = 0x02014b50, end_signature = 0x06054b50,
                   end64_signature = 0x06064b50, locator_signature = 0x07064b50;
constexpr size_t local_size = 30, member_size = 46, end_size = 22, end64_size = 56, locator_size = 20;
constexpr uint16_t zip64_field = 1, stored = 0, deflate = 8, encrypted = 1;
constexpr uint32_t in_zip64 = 0xffffffff;

/// The fields of a record, one after the other; `bytes` must be long enough.
class Fields {
 public:
  explicit Fields(Bytes bytes) : bytes_(bytes) {}
  template <class T>
  T next() {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  void skip(size_t bytes) { bytes_ = bytes_.subspan(bytes); }
  size_t left() const { return bytes_.size(); }

 private:
  Bytes bytes_;
};

uint32_t checksum_of(Bytes bytes, uint32_t so_far = 0) {
  return static_cast<uint32_t>(::crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class... Values>
std::string record(const Values&... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

}  // namespace

ZipReader::ZipReader(const char* action, const std::filesystem::path& path)
    : name_(std::string(action) + ": '" + path.string() + "'"), file_(path) {
  const Bytes bytes = file_.bytes();
  // The last record ends with a comment of up to 65535 bytes.
  const size_t tail = std::min<size_t>(bytes.size(), end_size + 65535);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + (bytes.size() - tail)), tail);
  const size_t found = text.rfind(record(end_signature));
  if (found == std::string_view::npos || tail - found < end_size)
    fail_as("is no .npz file, or ends too early; was it copied whole?");
  const size_t end = bytes.size() - tail + found;
  Fields last(bytes.subspan(end));
  last.skip(10);
  uint64_t count = last.next<uint16_t>(), size = last.next<uint32_t>(), offset = last.next<uint32_t>();
  if (end >= locator_size) {
    Fields locator(bytes.subspan(end - locator_size));
    if (locator.next<uint32_t>() == locator_signature) {
      locator.skip(4);
      Fields end64(part(locator.next<uint64_t>(), end64_size));
      if (end64.next<uint32_t>() != end64_signature) fail_as("is a damaged ZIP archive");
      end64.skip(28);
      count = end64.next<uint64_t>();
      size = end64.next<uint64_t>();
      offset = end64.next<uint64_t>();
    }
  }
  Bytes directory = part(offset, size);
  while (!directory.empty()) members_.push_back(parse_member(directory));
  if (members_.size() != count) fail_as("is a damaged ZIP archive");
}

ZipMember ZipReader::parse_member(Bytes& directory) const {
  if (directory.size() < member_size) fail_as("is a damaged ZIP archive");
  Fields fields(directory);
  ZipMember member;
  if (fields.next<uint32_t>() != member_signature) fail_as("is a damaged ZIP archive");
  fields.skip(4);
  member.flags = fields.next<uint16_t>();
  member.method = fields.next<uint16_t>();
  fields.skip(4);
  member.checksum = fields.next<uint32_t>();
  member.packed_size = fields.next<uint32_t>();
  member.size = fields.next<uint32_t>();
  const size_t name = fields.next<uint16_t>(), extra = fields.next<uint16_t>(),
               comment = fields.next<uint16_t>();
  fields.skip(8);
  member.offset = fields.next<uint32_t>();
  if (fields.left() < name + extra + comment) fail_as("is a damaged ZIP archive");
  member.name.assign(reinterpret_cast<const char*>(directory.data()) + member_size, name);

  Fields extras(directory.subspan(member_size + name, extra));
  while (extras.left() >= 4) {
    const auto kind = extras.next<uint16_t>();
    size_t left = extras.next<uint16_t>();
    if (left > extras.left()) fail_as("is a damaged ZIP archive");
    if (kind == zip64_field) {
      for (uint64_t* value : {&member.size, &member.packed_size, &member.offset}) {
        if (*value != in_zip64 || left < 8) continue;
        *value = extras.next<uint64_t>();
        left -= 8;
      }
    }
    extras.skip(left);
  }
  directory = directory.subspan(member_size + name + extra + comment);
  return member;
}

Bytes ZipReader::read(const ZipMember& member, std::string& unpacked) const {
  const std::string name = "has a member " + in_quotes(member.name) + " that ";
  if ((member.flags & encrypted) != 0) fail_as(name + "is encrypted");
  if (member.method != stored && member.method != deflate) {
    fail_as(name + "is compressed by method " + std::to_string(member.method) + ", expected deflate");
  }
  Fields local(part(member.offset, local_size));
  if (local.next<uint32_t>() != local_signature) fail_as("is a damaged ZIP archive");
  local.skip(22);
  const uint64_t before = local_size + uint64_t{local.next<uint16_t>()} + local.next<uint16_t>();
  const Bytes packed = part(member.offset + before, member.packed_size);
  Bytes content = packed;
  bool whole = packed.size() == member.size;
  if (member.method == deflate) {
    // Deflate makes nothing smaller than by 1032.
    if (member.size / 1032 > packed.size()) fail_as(name + "is damaged");
    unpacked.resize(member.size);
    Inflater inflater(packed, -15);
    const size_t got = inflater.read(unpacked.data(), unpacked.size());
    char more = 0;
    whole = got == member.size && inflater.read(&more, 1) == 0 && inflater.ended();
    content = std::as_bytes(std::span(unpacked));
  }
  if (!whole || checksum_of(content) != member.checksum) fail_as(name + "is damaged");
  return content;
}

Bytes ZipReader::part(uint64_t offset, uint64_t size) const {
  const Bytes bytes = file_.bytes();
  if (offset > bytes.size() || size > bytes.size() - offset) fail_as("is a damaged ZIP archive");
  return bytes.subspan(offset, size);
}

void ZipReader::fail_as(const std::string& problem) const { fail(name_, " ", problem); }

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> parts, bool compressed) {
  std::string packed, joined;
  uint64_t size = 0;
  uint32_t checksum = 0;
  for (const std::string_view part : parts) {
    size += part.size();
    checksum = checksum_of(std::as_bytes(std::span(part)), checksum);
    if (compressed) joined += part;
  }
  if (compressed) packed = deflated(std::as_bytes(std::span(joined)));
  const uint64_t packed_size = compressed ? packed.size() : size, offset = written_;
  // Version 4.5 has ZIP64, bit 11 says that names are UTF-8, and the date is the first that there is.
  const uint16_t version = 45, flags = 1 << 11, method = compressed ? deflate : stored, time = 0, day = 0x21,
                 none = 0;
  const auto length = static_cast<uint16_t>(name.size());
  const std::string both = record(version, flags, method, time, day, checksum, in_zip64, in_zip64, length);
  write(record(local_signature) + both + record(uint16_t{20}) + name +
        record(zip64_field, uint16_t{16}, size, packed_size));
  if (compressed) write(packed);
  for (const std::string_view part : parts)
    if (!compressed) write(part);
  directory_ += record(member_signature, version) + both +
                record(uint16_t{28}, none, none, none, uint32_t{0}, in_zip64) + name +
                record(zip64_field, uint16_t{24}, size, packed_size, offset);
  ++members_;
}

void ZipWriter::commit() {
  const uint64_t directory = written_, directory_size = directory_.size();
  write(directory_);
  const uint64_t end64 = written_;
  const uint16_t version = 45, most = 0xffff;
  const auto count = static_cast<uint16_t>(std::min<uint64_t>(members_, most));
  // NumPy knows an archive without members by its first record.
  const uint32_t in_other = members_ > 0 ? in_zip64 : 0;
  if (members_ > 0) {
    write(record(end64_signature, uint64_t{end64_size - 12}, version, version, uint32_t{0}, uint32_t{0},
                 members_, members_, directory_size, directory));
    write(record(locator_signature, uint32_t{0}, end64, uint32_t{1}));
  }
  write(record(end_signature, uint16_t{0}, uint16_t{0}, count, count, in_other, in_other, uint16_t{0}));
  file_.commit();
}

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes);
  written_ += bytes.size();
}

}  // namespace cladtorch::data
