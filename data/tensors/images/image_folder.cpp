#include "cladtorch/data/image_folder.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include "cladtorch/data/image.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

/// What is in a folder, without names that begin with a dot.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (!at->path().filename().string().starts_with('.')) entries.push_back(*at);
  if (error) throw Error(io::describe_failure("read", folder, error.value()));
  return entries;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code unknown;
  return entry.is_directory(unknown);
}

void add_images(const fs::path& folder, std::vector<fs::path>& images) {
  for (const fs::directory_entry& entry : entries_of(folder)) {
    const fs::path& path = entry.path();
    if (is_folder(entry)) {
      add_images(path, images);
    } else if (has_extension(path, {".png", ".jpg", ".jpeg"})) {
      images.push_back(path);
    } else {
      require(!has_extension(path, {".bmp", ".pgm", ".ppm", ".tif", ".tiff", ".webp"}), "ImageFolder: '",
              path.string(), "' is neither PNG nor JPEG; convert it to one of them");
    }
  }
}

/// The images below a folder: those of each folder together, in the order of the folders' paths, which is
/// torchvision's.
std::vector<fs::path> images_below(const fs::path& folder) {
  std::vector<fs::path> images;
  add_images(folder, images);
  std::sort(images.begin(), images.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.parent_path().string(), a.filename().string()) <
           std::pair(b.parent_path().string(), b.filename().string());
  });
  return images;
}

}  // namespace

ImageFolder::ImageFolder(const fs::path& root, ImageFolderOptions options) : options_(std::move(options)) {
  for (const fs::directory_entry& entry : entries_of(root))
    if (is_folder(entry)) classes_.push_back(entry.path().filename().string());
  std::sort(classes_.begin(), classes_.end());
  require(!classes_.empty(), "ImageFolder: '", root.string(),
          "' has no subfolders, which would be its classes");
  for (size_t label = 0; label < classes_.size(); ++label) {
    std::vector<fs::path> images = images_below(root / classes_[label]);
    require(!images.empty(), "ImageFolder: the class '", (root / classes_[label]).string(),
            "' has no images");
    for (fs::path& image : images) samples_.push_back({std::move(image), static_cast<int32_t>(label)});
  }
}

std::vector<Tensor> ImageFolder::get(int64_t i, Random& random) const {
  require(i >= 0 && i < size(), "ImageFolder: there is no image ", i, " among ", size());
  const Sample& sample = samples_[static_cast<size_t>(i)];
  Tensor image = read_image(sample.path, options_.channels);
  if (options_.transform) image = options_.transform(image, random);
  return {image, full({}, sample.label, DType::int32)};
}

}  // namespace cladtorch::data
