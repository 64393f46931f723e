#include "cladtorch/formats/convert.h"

#include <map>
#include <memory>

#include "cladtorch/formats/gguf.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/llmc.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/io/atomic_folder.h"
#include "cladtorch/io/conversion.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

struct Source {
  std::unique_ptr<LanguageModel> model;
  std::map<std::string, io::StoredType> types;  ///< by the name in the file
  io::StoredType type = io::StoredType::f32;    ///< of most bytes
};

/// Types that can be written, and for the others float32.
io::StoredType written_type(io::StoredType type) {
  const bool kept =
      type == io::StoredType::f16 || type == io::StoredType::bf16 || type == io::StoredType::f64;
  return kept ? type : io::StoredType::f32;
}

/// `adapter`, if not empty, is merged into the model.
Source read_folder(const fs::path& folder, const fs::path& adapter) {
  Source source;
  std::map<io::StoredType, size_t> bytes;
  {
    const io::SafetensorsFolder file(folder);
    for (const auto& [name, tensor] : file.tensors()) {
      source.types[name] = written_type(tensor.type);
      bytes[source.types[name]] += tensor.data.size();
    }
  }
  for (const auto& [type, count] : bytes) {
    if (count > bytes[source.type]) source.type = type;
  }
  source.model = load_model(folder, bytes.contains(io::StoredType::f64) ? DType::float64 : DType::float32);
  if (!adapter.empty()) {
    load_adapter(adapter, source.model);
    merge_lora(source.model);
  }
  return source;
}

Source read_source(const fs::path& from, const fs::path& adapter) {
  if (format_of(from) == ModelFormat::hugging_face) return read_folder(from, adapter);
  require(adapter.empty(), "read '", from.string(), "': only the model of a folder can have an adapter");
  Source source;
  source.type = llmc_stored_type(from);
  source.model = load_llmc(from);
  return source;
}

void write_folder(const Source& source, const fs::path& from, const fs::path& to,
                  const ConvertOptions& options) {
  io::require_new_folder(to);
  io::AtomicFolder fresh(to);
  const FolderExtras extras = read_extras(from);
  SaveOptions save{.type = options.type, .shard_bytes = options.shard_bytes, .extras = &extras};
  if (!save.type) {
    save.types = source.types;
    save.type = source.type;
  }
  save_model(*source.model, fresh.path(), save);
  fresh.commit();
}

}  // namespace

ModelFormat format_of(const fs::path& path) {
  if (fs::is_directory(path)) {
    require(holds_model(path), "read '", path.string(),
            "': there is no model.safetensors in it, and no index of shards");
    return ModelFormat::hugging_face;
  }
  if (is_llmc_model(path)) return ModelFormat::llmc;
  require(fs::exists(path), "read '", path.string(), "': no such file or folder");
  fail("read '", path.string(), "': neither a folder of transformers nor a model file of llm.c");
}

Converted convert_model(const fs::path& path, const fs::path& to, const ConvertOptions& options) {
  require(options.adapter.empty() || !holds_adapter(path), "read '", path.string(),
          "': it holds an adapter itself; expected the model of '", options.adapter.string(), "'");
  const fs::path from = base_folder(path);
  const Source source = read_source(from, from == path ? options.adapter : path);
  Converted converted{.model = source.model->type() + ", " + describe(source.model->sizes()),
                      .parameters = source.model->parameter_count()};
  // GGUF and llm.c have no float64.
  const io::StoredType narrow = source.type == io::StoredType::f64 ? io::StoredType::f32 : source.type;
  switch (options.format) {
    case ModelFormat::hugging_face:
      write_folder(source, from, to, options);
      break;
    case ModelFormat::llmc:
      save_llmc(*source.model, to, options.type.value_or(narrow));
      break;
    case ModelFormat::gguf:
      converted.vocabulary = save_gguf(*source.model, to, options.type.value_or(narrow), from);
      break;
  }
  return converted;
}

}  // namespace cladtorch::formats
