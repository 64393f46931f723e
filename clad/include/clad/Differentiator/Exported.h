// Finds derivatives that the plugin wrote to a file (docs/export.md): before main(), the file registers the
// entry for each request.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "clad/Differentiator/CallFrame.h"

namespace clad {

/// A request besides its function: "clad::gradient", the parameters as written, and the options.
struct request {
  std::string_view kind;
  std::string_view parameters;
  unsigned options = 0;
  int index = -1;  ///< the parameter, if it is given by its index

  bool operator==(const request&) const = default;
  static constexpr request of(std::string_view kind, const char* parameters, unsigned options = 0) {
    return {kind, parameters ? parameters : "", options};
  }
  template <class I>
    requires(std::integral<I> || (std::is_enum_v<I> && std::is_convertible_v<I, int>))
  static constexpr request of(std::string_view kind, I parameter, unsigned options = 0) {
    return {kind, "", options, static_cast<int>(parameter)};
  }
  /// The plugin reports it.
  template <class T>
    requires(!std::is_convertible_v<T, const char*> && !std::is_convertible_v<T, int>)
  static constexpr request of(std::string_view kind, const T&, unsigned = 0) {
    return {kind, ""};
  }
};

/// One entry of an exported file, for a function of type F; the entries for each F form a list.
template <class F>
class exported {
 public:
  exported(F function, request asked, entry_point entry)
      : function_(function), asked_(asked), entry_(entry), next_(first_) {
    first_ = this;
  }
  exported(const exported&) = delete;
  exported& operator=(const exported&) = delete;

  static entry_point find([[maybe_unused]] F function, const request& asked) {
    for (const exported* e = first_; e; e = e->next_)
      if (e->asked_ == asked && e->function_ == function) return e->entry_;
    return nullptr;
  }

 private:
  F function_;
  request asked_;
  entry_point entry_;
  const exported* next_;
  inline static const exported* first_ = nullptr;
};

/// For function objects, the type tells which function it is.
template <class F>
struct object_type {};

template <class F>
entry_point find_exported(const F& f, const request& asked) {
  using plain = std::remove_const_t<std::remove_pointer_t<F>>;
  if constexpr (std::is_class_v<plain>)
    return exported<const object_type<plain>*>::find(nullptr, asked);
  else
    return exported<F>::find(f, asked);
}

}  // namespace clad
