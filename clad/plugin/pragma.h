// `#pragma clad checkpoint loop`, which marks the loop after it.
#pragma once

#include "clang/Basic/SourceManager.h"

namespace clad {

/// Whether the pragma stands before the loop that begins at `loop`, with only comments between.
bool marks_loop(const clang::SourceManager& manager, clang::SourceLocation loop);

}  // namespace clad
