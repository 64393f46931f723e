// A mistake on the command line or in a configuration, as opposed to one of files and disks.
#pragma once

#include "cladtorch/error.h"

namespace cladtorch::train {

/// The program ends with exit code 2 for this error and with 1 for any other Error.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace cladtorch::train
