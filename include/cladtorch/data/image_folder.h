// A data set of images that lie in one folder per class.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cladtorch/random.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

struct ImageFolderOptions {
  int channels = 3;  ///< as in read_image()
  /// Makes of each image what the data set gives: resizes, crops, augments (see transforms.h). DataLoader
  /// calls it on several threads at once, each with a `random` of its own.
  std::function<Tensor(const Tensor& image, Random& random)> transform = {};
};

/// torchvision.datasets.ImageFolder, a data set for DataLoader: the subfolders of `root` are the classes, in
/// alphabetical order, and the .png, .jpg and .jpeg files at any depth below them are the images. Names that
/// begin with a dot, and files that are no images, are skipped.
class ImageFolder {
 public:
  struct Sample {
    std::filesystem::path path;
    int32_t label;
  };

  /// Throws Error if the folder cannot be read, has no subfolder, or a class has no image, and for images of
  /// other formats, such as .bmp.
  explicit ImageFolder(const std::filesystem::path& root, ImageFolderOptions options = {});

  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  /// The image [C,H,W], transformed, and the number of its class, int32 []. Throws Error as read_image()
  /// does.
  std::vector<Tensor> get(int64_t i, Random& random) const;

  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  ImageFolderOptions options_;
  std::vector<std::string> classes_;
  std::vector<Sample> samples_;
};

}  // namespace cladtorch::data
