// Helpers of the functions that write entries.
#pragma once

#include <string>

namespace clad {

inline void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

/// A type as a template argument, pointers to arrays included.
inline std::string as_template_argument(const std::string& type) {
  return type.find('[') != std::string::npos ? "std::type_identity_t<" + type + ">" : type;
}

}  // namespace clad
