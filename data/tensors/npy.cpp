#include "cladtorch/data/npy.h"

#include <set>
#include <string_view>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"
#include "cladtorch/quote.h"
#include "data/tensors/npy_format.h"
#include "data/tensors/zip.h"

namespace cladtorch::data {
namespace {

constexpr std::string_view extension = ".npy";

std::string_view elements_of(const Tensor& dense) {
  return {static_cast<const char*>(dense.data()), dense.nbytes()};
}

Tensor read_member(const std::filesystem::path& path, const ZipReader& zip, const ZipMember& member) {
  std::string unpacked;
  const Bytes content = zip.read(member, unpacked);
  return parse_npy("read_npz: " + in_quotes(member.name) + " of '" + path.string() + "'", content);
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const io::MappedFile file(path);
  return parse_npy("read_npy: '" + path.string() + "'", file.bytes());
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const Tensor dense = as_npy("write_npy: '" + path.string() + "'", tensor);
  io::AtomicFile file(path);
  file.write(npy_header(dense));
  file.write(elements_of(dense));
  file.commit();
}

NamedArrays read_npz(const std::filesystem::path& path) {
  const ZipReader zip("read_npz", path);
  NamedArrays arrays;
  for (const ZipMember& member : zip.members()) {
    require(member.name.ends_with(extension), "read_npz: '", path.string(), "' has a member ",
            in_quotes(member.name), " that is no array");
    arrays.emplace_back(member.name.substr(0, member.name.size() - extension.size()),
                        read_member(path, zip, member));
  }
  return arrays;
}

Tensor read_npz(const std::filesystem::path& path, const std::string& name) {
  const ZipReader zip("read_npz", path);
  std::string names;
  for (const ZipMember& member : zip.members()) {
    if (member.name == name + std::string(extension)) return read_member(path, zip, member);
    if (!names.empty()) names += ", ";
    names += member.name.substr(0, member.name.rfind(extension));
  }
  fail("read_npz: '", path.string(), "' has no array ", in_quotes(name),
       "; it has: ", names.empty() ? "none" : shortened(names, 400));
}

void write_npz(const std::filesystem::path& path, const NamedArrays& arrays, const NpzOptions& options) {
  ZipWriter zip(path);
  std::set<std::string> names;
  for (const auto& [name, tensor] : arrays) {
    const std::string what = "write_npz: " + in_quotes(name) + " of '" + path.string() + "'";
    require(!name.empty() && name.size() < 60000, what, " has a name of ", name.size(), " bytes");
    require(names.insert(name).second, what, " is there twice");
    const Tensor dense = as_npy(what, tensor);
    zip.add(name + std::string(extension), {npy_header(dense), elements_of(dense)}, options.compressed);
  }
  zip.commit();
}

}  // namespace cladtorch::data
