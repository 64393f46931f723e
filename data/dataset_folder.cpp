#include "data/dataset_folder.h"

#include <memory>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/json.h"
#include "cladtorch/quote.h"
#include "data/tokens/tokenizer_settings.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* format_name = "cladtorch-dataset";
constexpr int format_version = 2;
constexpr const char* description_file = "dataset.json";
constexpr const char* tokenizer_file = "tokenizer.json";
constexpr const char* staging_folder = ".preparing";

io::Json shard_list(const std::vector<ShardEntry>& shards) {
  io::Json list = io::Json::array();
  for (const ShardEntry& shard : shards) {
    list.push_back({{"file", shard.file}, {"tokens", shard.tokens}, {"documents", shard.documents}});
  }
  return list;
}

/// The shards that `description` lists under `split`.
std::vector<ShardEntry> listed_shards(const io::Json& description, const std::string& split,
                                      const std::string& where) {
  std::vector<ShardEntry> shards;
  const auto list = description.find(split);
  require(list != description.end() && list->is_array(), "read '", where, "': '", split,
          "' must be a list of shards");
  for (const io::Json& entry : *list) {
    require(entry.is_object(), "read '", where, "': '", split, "' must be a list of objects");
    ShardEntry shard{io::json_field<std::string>(entry, "file", where),
                     io::json_field<uint64_t>(entry, "tokens", where),
                     io::json_field<uint64_t>(entry, "documents", where)};
    require(fs::path(shard.file).filename() == shard.file, "read '", where, "': the shard ",
            in_quotes(shard.file), " must lie beside it");
    shards.push_back(std::move(shard));
  }
  return shards;
}

ShardSet open_listed(const fs::path& folder, const std::vector<ShardEntry>& entries,
                     const Tokenizer& tokenizer) {
  ShardSet set = open_shards(folder, entries, tokenizer.vocab_size(), tokenizer.fingerprint());
  for (size_t i = 0; i < entries.size(); ++i) {
    const TokenSequence::Part& part = set.shards[i].part();
    require(part.tokens.size() == entries[i].tokens && part.documents.size() == entries[i].documents,
            "read shard '", (folder / entries[i].file).string(), "': it holds ", part.tokens.size(),
            " tokens of ", part.documents.size(), " documents, but ", description_file, " says ",
            entries[i].tokens, " of ", entries[i].documents, "; prepare the text again");
  }
  return set;
}

void move_into(const fs::path& from, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(from, error)) return;  // moved before a kill
  fs::rename(from, folder / from.filename(), error);
  if (error) throw Error(io::describe_failure("write", folder / from.filename(), error.value()));
}

/// Makes the complete dataset in the staging folder that of `folder`. Nothing is written any more, only
/// renamed, the description last; killed in between, it can be called again.
void move_staged(const fs::path& folder) {
  const fs::path staging = folder / staging_folder;
  const fs::path description = staging / description_file;
  const io::Json json = io::read_json(description);
  std::vector<std::string> files;
  for (const char* split : {"train", "validation"}) {
    for (const ShardEntry& shard : listed_shards(json, split, description.string()))
      files.push_back(shard.file);
  }
  fs::remove(folder / description_file);
  for (const std::string& file : files) move_into(staging / file, folder);
  for (const char* file : {tokenizer_file, settings_file}) move_into(staging / file, folder);
  remove_shards(folder, files);
  io::sync_folder(folder);
  move_into(description, folder);
  io::sync_folder(folder);
  std::error_code ignored;
  fs::remove_all(staging, ignored);
}

/// Whether the staging folder holds a dataset that is complete and only has to be moved.
bool staged(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / staging_folder / description_file, ignored);
}

/// Does what a process that was killed in move_staged() left undone.
void recover(const fs::path& folder) {
  if (!staged(folder)) return;
  if (const auto lock = io::FolderLock::try_lock(folder)) move_staged(folder);
}

}  // namespace

MissingFolders::MissingFolders(const fs::path& path) {
  std::error_code ignored;
  for (fs::path folder = path; !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path())
    missing_.push_back(folder);
}

MissingFolders::~MissingFolders() {
  std::error_code ignored;  // the one of a folder that holds something
  for (const fs::path& folder : missing_) fs::remove(folder, ignored);
}

DatasetWriter::DatasetWriter(fs::path folder, const Tokenizer& tokenizer, uint64_t shard_tokens)
    : folder_(std::move(folder)),
      staging_(folder_ / staging_folder),
      made_(staging_),
      tokenizer_(tokenizer),
      shard_tokens_(shard_tokens) {
  require(shard_tokens > 0, "prepare: a shard must hold at least 1 token");
  io::create_writable_folder(folder_);
  lock_ = io::FolderLock::try_lock(folder_);
  require(lock_.has_value(), "prepare: another process is preparing a text in '", folder_.string(), "'");
  if (staged(folder_)) move_staged(folder_);
  fs::remove_all(staging_);
  io::create_writable_folder(staging_);
  train_.emplace(options("train"));
  validation_.emplace(options("validation"));
}

DatasetWriter::~DatasetWriter() {
  train_.reset();
  validation_.reset();
  std::error_code ignored;
  if (!staged(folder_)) fs::remove_all(staging_, ignored);
}

ShardSetWriter::Options DatasetWriter::options(const char* split, size_t first) const {
  return {staging_,      split, width_for(tokenizer_.vocab_size()), tokenizer_.fingerprint(),
          shard_tokens_, first};
}

void DatasetWriter::finish(uint64_t count) {
  train_tokens_ = train_->tokens() - count;
  train_shards_ = train_->finish();
  if (count == 0) {
    validation_shards_ = validation_->finish();
    return;
  }
  const ShardSet all = open_listed(staging_, train_shards_, tokenizer_);
  const TokenSequence tokens = all.tokens();
  const uint64_t left = *train_tokens_;
  copy_tokens(tokens.subsequence(left, count), *validation_);
  validation_shards_ = validation_->finish();
  // Shards that are for training as a whole stay; the one with the cut is written again up to there.
  size_t whole = 0;
  uint64_t before = 0;
  while (whole < train_shards_.size() && before + train_shards_[whole].tokens <= left) {
    before += train_shards_[whole++].tokens;
  }
  ShardSetWriter cut(options("train", whole));
  const std::span<const uint64_t> documents = all.shards[whole].part().documents;
  copy_tokens(tokens.subsequence(before, left - before), cut, documents.empty() || documents[0] != 0);
  std::vector<ShardEntry> last = cut.finish();
  for (size_t i = whole + last.size(); i < train_shards_.size(); ++i)
    fs::remove(staging_ / train_shards_[i].file);
  train_shards_.resize(whole);
  train_shards_.insert(train_shards_.end(), last.begin(), last.end());
}

void DatasetWriter::commit(const std::string& name, std::optional<double> entropy_floor) {
  tokenizer_.save(staging_ / tokenizer_file);
  const std::map<std::string, std::string> files = tokenizer_.files();
  const auto settings = files.find(settings_file);
  // For every vocabulary, so that none is left of an earlier dataset.
  io::write_file(staging_ / settings_file, settings == files.end() ? "{}\n" : settings->second);
  io::Json json = {{"format", format_name}, {"version", format_version}, {"name", name}};
  if (entropy_floor) json["entropy_floor"] = *entropy_floor;
  json["train"] = shard_list(train_shards_);
  json["validation"] = shard_list(validation_shards_);
  io::write_json(staging_ / description_file, json);
  move_staged(folder_);
}

bool holds_dataset(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / description_file, ignored) || staged(folder);
}

Dataset read_dataset_folder(const fs::path& folder) {
  recover(folder);
  const fs::path description = folder / description_file;
  const std::string where = description.string();
  const io::Json json = io::read_json(description);
  const int version = io::json_field_or<int>(json, "version", where, 0);
  require(json.value("format", io::Json()) == format_name && (version == 1 || version == format_version),
          "read '", where, "': expected a dataset of version 1 or ", format_version,
          "; prepare the text again");
  Dataset dataset;
  dataset.name = io::json_field_or<std::string>(json, "name", where, folder.string());
  if (json.contains("entropy_floor")) {
    dataset.entropy_floor = io::json_field<double>(json, "entropy_floor", where);
  }
  dataset.tokenizer = load_tokenizer(folder);
  const Tokenizer& tokenizer = *dataset.tokenizer;
  const auto open = [&](const std::string& split) {
    if (version == 1) {
      return open_shards(folder, {{split + ".tokens"}}, tokenizer.vocab_size(), tokenizer.fingerprint());
    }
    return open_listed(folder, listed_shards(json, split, where), tokenizer);
  };
  struct Shards {
    ShardSet train, validation;
  };
  const auto shards = std::make_shared<const Shards>(Shards{open("train"), open("validation")});
  dataset.train = shards->train.tokens();
  dataset.validation = shards->validation.tokens();
  dataset.storage = shards;
  return dataset;
}

}  // namespace cladtorch::data
