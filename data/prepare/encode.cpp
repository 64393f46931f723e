#include "data/prepare/encode.h"

#include <array>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/random.h"
#include "data/prepare/pipeline.h"
#include "data/text/chunks.h"
#include "data/text/documents.h"
#include "data/text/utf8.h"
#include "data/tokens/character_set.h"

namespace cladtorch::data {
namespace {

/// Text that one thread works on at a time. Twice as many chunks as threads are in memory.
constexpr size_t chunk_bytes = size_t{1} << 20;

constexpr uint64_t split_stream = uint64_t{3} << 62;

/// Tokens of one kind, in the order of the text.
struct Run {
  size_t end = 0;  // in Encoded::tokens
  bool ignored = false;
  bool begins_document = false, ends_document = false;
  bool ends_line = false;  // the last byte of the text is a newline
};

/// What a thread made of a chunk.
struct Encoded {
  std::vector<int32_t> tokens{};
  std::vector<Run> runs{};
  uint64_t skipped = 0, consumed = 0;
};

/// The characters of a chunk.
struct Characters {
  std::vector<char32_t> code_points{};
  uint64_t documents = 0, consumed = 0;
  bool open_line = false;  // a document ended without a newline
};

void check_documents(const TextFiles& files, uint64_t documents) {
  require(documents > 0, "read text: there is no text in '", files.paths().front().string(), "'",
          files.paths().size() > 1 ? " and the files beside it" : "");
}

void append(std::vector<int32_t>& tokens, const std::vector<int32_t>& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

/// Chunks to tokens; shared by threads.
class ChunkEncoder {
 public:
  ChunkEncoder(const TextFiles& files, const Tokenizer& tokenizer) : files_(files), tokenizer_(tokenizer) {}

  Encoded operator()(const Chunk& chunk) const {
    if (tokenizer_.needs_utf8()) check_utf8(files_, chunk);
    Encoded encoded{.consumed = chunk.consumed};
    // As many as there can be: memory that is not written is not taken, and growing would take it twice.
    encoded.tokens.reserve(chunk.text.size() + 16);
    encoded.skipped =
        read_documents(files_, chunk, [&](const Segment& segment) { add(segment, chunk, encoded); });
    return encoded;
  }

 private:
  /// Names the file in the error of a text that the vocabulary lacks a character of.
  void encode(const Segment& segment, const Chunk& chunk, std::vector<int32_t>& tokens) const {
    try {
      tokenizer_.append_tokens(segment.text, tokens, segment.begins_document);
    } catch (const Error& error) {
      const bool later = chunk.offset > 0 && !files_.is_json_lines(chunk.file);
      fail("read text: '", files_.paths()[chunk.file].string(), "'",
           later ? " from byte " + std::to_string(chunk.offset) + " on" : "", ": ", error.what());
    }
  }

  void add(const Segment& segment, const Chunk& chunk, Encoded& encoded) const {
    std::vector<int32_t>& tokens = encoded.tokens;
    const SpecialTokens& special = tokenizer_.special_tokens();
    if (segment.begins_document) append(tokens, special.before);
    encode(segment, chunk, tokens);
    bool ends_line = segment.text.ends_with('\n');
    if (segment.ends_turn || segment.ends_document) {
      if (special.end_of_text) {
        tokens.push_back(*special.end_of_text);
      } else if (segment.ends_turn && !ends_line) {
        tokenizer_.append_tokens("\n", tokens, false);  // an answer needs an end that can be learned
        ends_line = true;
      }
    }
    encoded.runs.push_back({.end = tokens.size(),
                            .ignored = segment.ignored,
                            .begins_document = segment.begins_document,
                            .ends_document = segment.ends_document,
                            .ends_line = ends_line});
  }

  const TextFiles& files_;
  const Tokenizer& tokenizer_;
};

/// A split on its way: where a newline has to separate documents, it comes with the next one.
struct Output {
  TokenSink* sink = nullptr;
  bool open_line = false;
};

/// Gives encoded chunks to the two splits.
class Distributor {
 public:
  /// Documents go to `validation` with probability `share`, chosen by `seed` and their number.
  Distributor(const Tokenizer& tokenizer, TokenSink& train, TokenSink& validation, double share,
              uint64_t seed)
      : tokenizer_(tokenizer), train_{&train}, validation_{&validation}, seed_(seed), share_(share) {}

  void add(const Encoded& encoded) {
    size_t at = 0;
    for (const Run& run : encoded.runs) {
      if (run.begins_document) begin_document();
      current_->sink->append(std::span(encoded.tokens).subspan(at, run.end - at), run.ignored);
      if (run.ends_document) current_->open_line = !run.ends_line;
      at = run.end;
    }
    summary_.skipped += encoded.skipped;
    tokens_ += encoded.tokens.size();
  }

  const PrepareSummary& summary() const { return summary_; }
  uint64_t tokens() const { return tokens_; }
  /// Documents of validation among those of summary().
  uint64_t validation_documents() const { return validation_documents_; }

 private:
  void begin_document() {
    const double place = Random(seed_, split_stream + summary_.documents++).uniform();
    const bool validates = place < share_;
    current_ = validates ? &validation_ : &train_;
    validation_documents_ += validates ? 1 : 0;
    if (current_->open_line && !tokenizer_.special_tokens().end_of_text) {
      newline_.clear();
      tokenizer_.append_tokens("\n", newline_, false);
      current_->sink->append(newline_, false);
    }
    current_->sink->begin_document();
  }

  const Tokenizer& tokenizer_;
  Output train_, validation_;
  Output* current_ = nullptr;
  uint64_t seed_;
  double share_;
  std::vector<int32_t> newline_;
  PrepareSummary summary_;
  uint64_t tokens_ = 0, validation_documents_ = 0;
};

/// Adds the characters of all `files`, with the newlines that will stand between documents.
void gather_characters(const TextFiles& files, const PrepareOptions& options, CharacterSet& characters) {
  ChunkReader reader(files, chunk_bytes,
                     [](std::string_view text) { return text.size() - utf8::unfinished_tail(text); });
  const auto read = [&](const Chunk& chunk) {
    check_utf8(files, chunk);
    Characters found{.consumed = chunk.consumed};
    CharacterSet set;
    read_documents(files, chunk, [&](const Segment& segment) {
      set.add(segment.text);
      found.documents += segment.begins_document ? 1 : 0;
      found.open_line = found.open_line || (segment.ends_document && !segment.text.ends_with('\n'));
      if (segment.ends_turn) set.add("\n");
    });
    found.code_points = set.code_points();
    return found;
  };
  ReadProgress progress{.counting = true, .total_bytes = files.bytes()};
  bool open_line = false;
  OrderedPipeline<Chunk, Characters>(options.threads)
      .run([&] { return reader.next(); }, read,
           [&](const Characters& found) {
             for (char32_t c : found.code_points) characters.add(c);
             progress.documents += found.documents;
             if (progress.documents > 1 && (open_line || found.open_line)) characters.add(U'\n');
             open_line = open_line || found.open_line;
             progress.bytes = found.consumed;
             if (options.progress) options.progress(progress);
           });
  check_documents(files, progress.documents);
}

void encode_files(const TextFiles& files, const Tokenizer& tokenizer, const PrepareOptions& options,
                  Distributor& distributor) {
  ChunkReader reader(files, chunk_bytes, [&](std::string_view text) { return tokenizer.whole_length(text); });
  ReadProgress progress{.total_bytes = files.bytes()};
  OrderedPipeline<Chunk, Encoded>(options.threads)
      .run([&] { return reader.next(); }, ChunkEncoder(files, tokenizer),
           [&](const Encoded& encoded) {
             distributor.add(encoded);
             progress.bytes = encoded.consumed;
             progress.documents = distributor.summary().documents;
             progress.tokens = distributor.tokens();
             if (options.progress) options.progress(progress);
           });
}

}  // namespace

TextEncoder::TextEncoder(const std::filesystem::path& path, const PrepareOptions& options)
    : options_(options), files_(path, options.text) {
  require(options.validation_share >= 0 && options.validation_share < 1,
          "prepare: the share for validation must be from 0 to below 1, got ", options.validation_share);
  require(options.threads >= 1, "prepare: the number of threads must be at least 1, got ", options.threads);
  if (!options.validation.empty()) validation_files_.emplace(options.validation, options.text);
  split_ = options.split.value_or(files_.has_json_lines() ? Split::documents : Split::tail);
  if (options.vocabulary.name() != Vocabulary::characters.name()) {
    tokenizer_ = options.vocabulary.tokenizer();
    return;
  }
  CharacterSet characters;
  gather_characters(files_, options, characters);
  if (validation_files_) gather_characters(*validation_files_, options, characters);
  tokenizer_ = std::make_shared<CharTokenizer>(characters.code_points());
}

PrepareSummary TextEncoder::encode(TokenSink& train, TokenSink& validation) const {
  const bool by_document = !validation_files_ && split_ == Split::documents;
  const double share = by_document ? options_.validation_share : 0;
  Distributor distributor(*tokenizer_, train, validation, share, options_.seed);
  encode_files(files_, *tokenizer_, options_, distributor);
  PrepareSummary summary = distributor.summary();
  check_documents(files_, summary.documents);
  const uint64_t validating = distributor.validation_documents();
  require(
      share == 0 || (validating > 0 && validating < summary.documents), "prepare: of ", summary.documents,
      " documents ", validating,
      " were chosen for validation; choose another share or seed, split by tail, or name a validation text");
  if (validation_files_) {
    Distributor only(*tokenizer_, validation, validation, 0, 0);
    encode_files(*validation_files_, *tokenizer_, options_, only);
    check_documents(*validation_files_, only.summary().documents);
    summary.documents += only.summary().documents;
    summary.skipped += only.summary().skipped;
  }
  return summary;
}

uint64_t TextEncoder::tail(uint64_t tokens) const {
  return static_cast<uint64_t>(static_cast<double>(tokens) * options_.validation_share);
}

}  // namespace cladtorch::data
