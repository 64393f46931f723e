// What lies in a folder of transformers beside the model.
#pragma once

#include "cladtorch/formats/hugging_face.h"

namespace cladtorch::formats {

/// The config.json `ours` of a model, with those keys of `source` that only other programs read: also the
/// dropout of attention, which is not implemented here.
io::Json with_keys_of(const io::Json& source, const io::Json& ours);

}  // namespace cladtorch::formats
