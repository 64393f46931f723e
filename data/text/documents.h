// What the files of a text hold: documents, made of segments that are predicted or only read.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cladtorch/data/text_files.h"
#include "data/text/chunks.h"

namespace cladtorch::data {

/// A run of text. Segments are encoded apart from each other, but for the chunks of one long text.
struct Segment {
  std::string_view text;   ///< lives during the call it is passed to
  bool ignored = false;    ///< of a prompt: never a target
  bool continues = false;  ///< goes on where the last chunk of this document ended
  bool begins_document = true;
  bool ends_document = true;
  bool ends_turn = false;  ///< an answer that is over, though the document may go on
};

/// Gives the segments of `chunk`, a chunk of `files`, to `visit`. Throws Error naming file and line where a
/// line cannot be used, or counts it where the options say so; returns that count.
uint64_t read_documents(const TextFiles& files, const Chunk& chunk,
                        const std::function<void(const Segment&)>& visit);

/// Throws Error naming file and byte when `chunk` is plain text and not UTF-8.
void check_utf8(const TextFiles& files, const Chunk& chunk);

}  // namespace cladtorch::data
