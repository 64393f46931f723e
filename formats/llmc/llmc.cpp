#include "cladtorch/formats/llmc.h"

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/mapped_file.h"
#include "formats/values.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

static_assert(std::endian::native == std::endian::little, "the file is read as it lies, little-endian");

constexpr int32_t magic = 20240326;
constexpr int64_t vocabulary_multiple = 128;

/// The numbers of the header; zeros follow.
struct Header {
  int32_t magic, version, max_seq_len, vocab_size, layers, heads, channels, padded_vocab_size;
  std::array<int32_t, 248> reserved;
};
static_assert(sizeof(Header) == 1024);

struct Version {
  int32_t number;
  io::StoredType type;
};
constexpr Version versions[] = {{3, io::StoredType::f32}, {5, io::StoredType::bf16}};

/// Our names of the parameters in the order of the file; those of the layers stand together, layer after
/// layer.
std::vector<std::string> file_order(int64_t layers) {
  std::vector<std::string> names = {"wte.weight", "wpe.weight"};
  for (const char* part : {"ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias",
                           "attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias",
                           "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias"}) {
    for (int64_t i = 0; i < layers; ++i) names.push_back("h." + std::to_string(i) + "." + part);
  }
  names.insert(names.end(), {"ln_f.weight", "ln_f.bias"});
  return names;
}

std::map<std::string, Tensor> by_name(const LanguageModel& model) {
  std::map<std::string, Tensor> result;
  for (const NamedTensor& parameter : model.parameters()) result.emplace(parameter.name, parameter.tensor);
  return result;
}

/// A file whose header was checked against its length.
class LlmcFile {
 public:
  explicit LlmcFile(const fs::path& path) : where_("read '" + path.string() + "': "), file_(path) {
    if (file_.bytes().size() < sizeof header_) fail(where_, "not a model file of llm.c");
    std::memcpy(&header_, file_.bytes().data(), sizeof header_);
    require(header_.magic == magic, where_, "not a model file of llm.c");
    for (const Version& version : versions) {
      if (version.number == header_.version) type_ = version.type;
    }
    require(type_ != io::StoredType::u8, where_, "version ", header_.version,
            ", expected 3 (float32) or 5 (bfloat16); write it again with a current llm.c");
    check_length();
  }

  GPT2Config config() const {
    GPT2Config config;
    config.n_positions = header_.max_seq_len;
    config.vocab_size = header_.vocab_size;
    config.n_layer = header_.layers;
    config.n_head = header_.heads;
    config.n_embd = header_.channels;
    return config;
  }
  io::StoredType type() const { return type_; }

  void read_into(const LanguageModel& model) const {
    const std::map<std::string, Tensor> parameters = by_name(model);
    std::span<const std::byte> rest = file_.bytes().subspan(sizeof header_);
    for (const std::string& name : file_order(header_.layers)) {
      Tensor parameter = parameters.at(name);
      const Shape& shape = parameter.shape();
      const size_t bytes = io::stored_bytes(name, type_, {shape.begin(), shape.end()});
      read_values({type_, {shape.begin(), shape.end()}, rest.first(bytes)}, false, parameter, where_ + name);
      rest = rest.subspan(bytes + (name == "wte.weight" ? padding_bytes() : 0));
    }
  }

 private:
  size_t padding_bytes() const {
    return static_cast<size_t>(header_.padded_vocab_size - header_.vocab_size) *
           static_cast<size_t>(header_.channels) * io::stored_bits(type_) / 8;
  }

  void check_length() const {
    try {
      validate(config());
    } catch (const Error& error) {
      fail(where_, error.what());
    }
    require(header_.padded_vocab_size >= header_.vocab_size, where_, "a vocabulary of ", header_.vocab_size,
            " is padded to ", header_.padded_vocab_size);
    // Exact in double up to 2^53 numbers, and no file is as long as what is beyond.
    const double c = header_.channels;
    const double rows = static_cast<double>(header_.padded_vocab_size) + header_.max_seq_len;
    const double numbers = rows * c + header_.layers * (12 * c * c + 13 * c) + 2 * c;
    const double bytes = sizeof header_ + numbers * static_cast<double>(io::stored_bits(type_) / 8);
    require(static_cast<double>(file_.bytes().size()) == bytes, where_, "its header describes ", bytes,
            " bytes, but the file has ", file_.bytes().size(), "; was it cut off?");
  }

  std::string where_;
  io::MappedFile file_;
  Header header_{};
  io::StoredType type_ = io::StoredType::u8;
};

const GPT2Config& checked_config(const LanguageModel& model, const fs::path& file) {
  const GPT2Config* gpt2 = config_if<GPT2Config>(model);
  const std::string where = "write '" + file.string() + "': llm.c's format has ";
  require(gpt2 != nullptr, where, "no place for a ", model.type(), ", only for gpt2");
  const GPT2Config& config = *gpt2;
  require(config.bias && config.tie_word_embeddings, where,
          "biases and tied embeddings, which this model lacks");
  require(config.inner_size() == 4 * config.n_embd, where, "an MLP of four times n_embd, but this one has ",
          config.inner_size());
  require(config.activation == nn::Activation::gelu_tanh, where,
          "no activation but gelu_new, and this model has ", nn::name_of(config.activation));
  require(config.scale_attn_weights && !config.scale_attn_by_inverse_layer_idx, where,
          "no place for another scale of attention: this model has ",
          config.scale_attn_weights ? "scale_attn_by_inverse_layer_idx" : "no scale_attn_weights");
  require(config.layer_norm_epsilon == 1e-5, where, "no place for layer_norm_epsilon: it is ",
          config.layer_norm_epsilon, ", and llm.c takes 1e-05");
  return config;
}

}  // namespace

bool is_llmc_model(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  int32_t first = 0;
  std::ifstream stream(file, std::ios::binary);
  return stream.read(reinterpret_cast<char*>(&first), sizeof first) && first == magic;
}

io::StoredType llmc_stored_type(const fs::path& file) { return LlmcFile(file).type(); }

std::unique_ptr<LanguageModel> load_llmc(const fs::path& file, DType dtype) {
  const LlmcFile stored(file);
  GPT2Config config = stored.config();
  config.dtype = dtype;
  const nn::SkipInitialization weights_come_from_the_file;
  std::unique_ptr<LanguageModel> model = as_language_model(GPT2(config));
  stored.read_into(*model);
  return model;
}

void save_llmc(const LanguageModel& model, const fs::path& file, io::StoredType type) {
  const GPT2Config& config = checked_config(model, file);
  const Version* version = nullptr;
  for (const Version& known : versions) {
    if (known.type == type) version = &known;
  }
  require(version != nullptr, "write '", file.string(), "': llm.c's format has no ", io::stored_name(type),
          ", only F32 and BF16");
  const int64_t padded =
      (config.vocab_size + vocabulary_multiple - 1) / vocabulary_multiple * vocabulary_multiple;
  const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
  const Header header{magic,
                      version->number,
                      number(config.n_positions),
                      number(config.vocab_size),
                      number(config.n_layer),
                      number(config.n_head),
                      number(config.n_embd),
                      number(padded),
                      {}};
  io::AtomicFile out(file);
  out.write(&header, sizeof header);
  const std::map<std::string, Tensor> parameters = by_name(model);
  StoredBytes converted;
  for (const std::string& name : file_order(config.n_layer)) {
    const std::span<const std::byte> bytes = converted.of(parameters.at(name), type);
    out.write(bytes.data(), bytes.size());
    if (name != "wte.weight") continue;
    const std::vector<std::byte> row(static_cast<size_t>(config.n_embd) * io::stored_bits(type) / 8);
    for (int64_t i = config.vocab_size; i < padded; ++i) out.write(row.data(), row.size());
  }
  out.commit();
}

}  // namespace cladtorch::formats
