// Storage of the reverse sweep: tapes with stable addresses, late-constructed and boxed objects.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace clad {
namespace detail {

/// Blocks of memory by power-of-two size, kept per thread: in steady state a tape neither calls malloc nor
/// touches new pages. What a thread has too many of goes to all: in a parallel loop one thread may fill a
/// tape and another one empty it.
class block_cache {
 public:
  struct block {
    block* previous;
    std::size_t bytes;
  };
  static block* take(std::size_t bytes) {
    const unsigned k = size_class(bytes);
    if (!free_[k].head && !refill(k)) {
      auto* b = static_cast<block*>(::operator new(std::size_t{1} << k));
      b->bytes = std::size_t{1} << k;
      return b;
    }
    return free_[k].pop();
  }
  static void give(block* b) {
    const unsigned k = size_class(b->bytes);
    if (!free_[k].head) clean_at_exit();
    free_[k].push(b);
    if (free_[k].count > most(k)) spill(k);
  }
  block_cache() {}
  ~block_cache() {
    for (list& blocks : free_)
      while (blocks.head) ::operator delete(blocks.pop());
  }

 private:
  struct list {
    block* head;
    std::size_t count;
    void push(block* b) {
      b->previous = head;
      head = b;
      ++count;
    }
    block* pop() {
      block* b = head;
      head = b->previous;
      --count;
      return b;
    }
  };

  static unsigned size_class(std::size_t bytes) {
    const auto k = static_cast<unsigned>(std::bit_width(bytes - 1));
    return k < 6 ? 6 : k;
  }
  /// How many blocks a thread keeps: 256 KB of each size, and two of larger ones.
  static constexpr std::size_t most(unsigned k) { return k < 17 ? std::size_t{1} << (18 - k) : 2; }

  /// Half as many from those of all threads; whether there are any.
  [[gnu::noinline]] static bool refill(unsigned k) {
    clean_at_exit();
    const lock held;
    while (shared_[k].head && free_[k].count < most(k) / 2) free_[k].push(shared_[k].pop());
    return free_[k].head != nullptr;
  }
  [[gnu::noinline]] static void spill(unsigned k) {
    const lock held;
    while (free_[k].count > most(k) / 2) shared_[k].push(free_[k].pop());
  }
  static void clean_at_exit() {
    static thread_local const block_cache cleaner;
    static_cast<void>(cleaner);
  }

  struct lock {
    lock() {
      while (taken_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~lock() { taken_.clear(std::memory_order_release); }
  };

  static constinit inline thread_local list free_[64] = {};
  static constinit inline list shared_[64] = {};
  static constinit inline std::atomic_flag taken_ = {};
};

}  // namespace detail

/// The counter after `for (T i = first; i < end; i += step)`, or with `i > end` and a negative step.
template <class T>
constexpr T count_end(T first, T end, long long step) {
  const auto size = static_cast<T>(step < 0 ? -step : step);
  if (step < 0) return first > end ? first - (first - end + size - 1) / size * size : first;
  return first < end ? first + (end - first + size - 1) / size * size : first;
}

/// A stack whose elements never move: one record per iteration of a loop, pushed by the forward sweep and
/// popped by the reverse sweep.
template <class T>
class tape {
 public:
  tape() = default;
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;
  tape(tape&& other) noexcept { *this = std::move(other); }
  tape& operator=(tape&& other) noexcept {
    std::swap(chunk_, other.chunk_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(limit_, other.limit_);
    std::swap(below_, other.below_);
    return *this;
  }
  ~tape() {
    while (!empty()) pop();
    if (chunk_) shorter(chunk_);
  }

  /// Appends a default-initialized record.
  T& push() {
    if (end_ == limit_) grow();
    return *::new (static_cast<void*>(end_++)) T;
  }
  T& push(T value) {
    if (end_ == limit_) grow();
    return *::new (static_cast<void*>(end_++)) T(std::move(value));
  }
  /// Constructs a record of these arguments.
  template <class... A>
  T& emplace_back(A&&... args) {
    return push(T(std::forward<A>(args)...));
  }
  T& back() { return end_[-1]; }
  /// The record at `i`, counted from the first.
  T& operator[](std::size_t i) {
    detail::block_cache::block* chunk = chunk_;
    T* begin = begin_;
    std::size_t below = below_;
    while (i < below) {
      chunk = chunk->previous;
      begin = first(chunk);
      below -= static_cast<std::size_t>(limit(chunk) - begin);
    }
    return begin[i - below];
  }
  void pop() {
    std::destroy_at(--end_);
    if (end_ == begin_ && chunk_->previous) shrink();
  }
  bool empty() const { return end_ == begin_; }
  std::size_t size() const { return below_ + static_cast<std::size_t>(end_ - begin_); }

 private:
  static constexpr std::size_t kAlign = alignof(T) > 16 ? alignof(T) : 16;
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  static T* first(detail::block_cache::block* b) {
    auto address = reinterpret_cast<std::size_t>(b + 1);
    return reinterpret_cast<T*>((address + kAlign - 1) / kAlign * kAlign);
  }
  static T* limit(detail::block_cache::block* b) {
    std::size_t room = reinterpret_cast<std::size_t>(b) + b->bytes - reinterpret_cast<std::size_t>(first(b));
    return first(b) + room / sizeof(T);
  }
  // The slow paths get values, never the tape, so that the tape's members can stay in registers.
  void grow() {
    below_ += static_cast<std::size_t>(end_ - begin_);
    chunk_ = longer(chunk_);
    begin_ = end_ = first(chunk_);
    limit_ = limit(chunk_);
  }
  void shrink() {
    chunk_ = shorter(chunk_);
    begin_ = first(chunk_);
    end_ = limit_ = limit(chunk_);
    below_ -= static_cast<std::size_t>(end_ - begin_);
  }
  [[gnu::noinline]] static detail::block_cache::block* longer(detail::block_cache::block* last) {
    std::size_t bytes = sizeof(detail::block_cache::block) + kAlign + 16 * sizeof(T);
    if (bytes < 1024) bytes = 1024;
    if (last) bytes = last->bytes < kMaxBytes ? 2 * last->bytes : last->bytes;
    detail::block_cache::block* b = detail::block_cache::take(bytes);
    b->previous = last;
    return b;
  }
  [[gnu::noinline]] static detail::block_cache::block* shorter(detail::block_cache::block* last) {
    detail::block_cache::block* b = last->previous;
    detail::block_cache::give(last);
    return b;
  }

  detail::block_cache::block* chunk_ = nullptr;
  T* begin_ = nullptr;  ///< of the current chunk
  T* end_ = nullptr;    ///< one past the last record
  T* limit_ = nullptr;  ///< one past the chunk
  std::size_t below_ = 0;
};

/// One record per iteration of a loop whose number of iterations is known before it starts, in flat memory
/// that is not initialized.
template <class T>
class flat_tape {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);

 public:
  flat_tape() = default;
  flat_tape(const flat_tape&) = delete;
  flat_tape& operator=(const flat_tape&) = delete;
  ~flat_tape() {
    if (block_) give(block_);
  }
  /// For a counter that runs from `low` to `high`.
  template <class I>
  void reserve(I low, I high) {
    if (!(low < high)) return;
    if (block_) give(block_);
    block_ = take(static_cast<std::size_t>(high - low));
    records_ =
        reinterpret_cast<T*>((reinterpret_cast<std::size_t>(block_ + 1) + kAlign - 1) / kAlign * kAlign);
  }
  template <class I>
  T& operator[](I i) {
    return records_[i];
  }

 private:
  static constexpr std::size_t kAlign = alignof(T) > 16 ? alignof(T) : 16;
  using block = detail::block_cache::block;
  [[gnu::noinline]] static block* take(std::size_t n) {
    return detail::block_cache::take(sizeof(block) + kAlign + n * sizeof(T));
  }
  [[gnu::noinline]] static void give(block* b) { detail::block_cache::give(b); }

  block* block_ = nullptr;
  T* records_ = nullptr;
};

/// The same for records of any type, which the threads of a parallel loop write at the same time.
template <class T>
class indexed_tape {
 public:
  indexed_tape() = default;
  indexed_tape(const indexed_tape&) = delete;
  indexed_tape& operator=(const indexed_tape&) = delete;
  ~indexed_tape() { clear(); }
  template <class I>
  void reserve(I low, I high) {
    clear();
    if (!(low < high)) return;
    const auto count = static_cast<std::size_t>(high - low);
    block_ = detail::block_cache::take(sizeof(block) + kAlign + count * sizeof(T));
    auto* const records =
        reinterpret_cast<T*>((reinterpret_cast<std::size_t>(block_ + 1) + kAlign - 1) / kAlign * kAlign);
    records_ = records;
    std::uninitialized_default_construct_n(records, count);
    count_ = count;
  }
  template <class I>
  T& operator[](I i) {
    return records_[static_cast<std::size_t>(i)];
  }

 private:
  static constexpr std::size_t kAlign = alignof(T) > 16 ? alignof(T) : 16;
  using block = detail::block_cache::block;
  void clear() {
    std::destroy_n(records_, count_);
    count_ = 0;
    if (block_) detail::block_cache::give(block_);
    block_ = nullptr;
  }

  block* block_ = nullptr;
  T* records_ = nullptr;
  std::size_t count_ = 0;
};

/// Gives back what a record of such a tape holds.
template <class T>
void release(T& record) {
  std::destroy_at(&record);
  ::new (static_cast<void*>(&record)) T;
}

/// Clad's names for a tape and its operations.
template <class T>
using tape_impl = tape<T>;
template <class T>
using old_tape = tape<T>;
template <class T>
T push(tape<T>& t, T value) {
  return t.push(std::move(value));
}
template <class T>
T pop(tape<T>& t) {
  T value = std::move(t.back());
  t.pop();
  return value;
}
template <class T>
T& back(tape<T>& t) {
  return t.back();
}

/// An object constructed some time after its declaration (a class without default constructor).
template <class T>
class slot {
 public:
  slot() = default;
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;
  ~slot() { reset(); }
  template <class... A>
  T& emplace(A&&... args) {
    reset();
    if constexpr (std::is_constructible_v<T, A&&...>)
      value_ = ::new (static_cast<void*>(bytes_)) T(std::forward<A>(args)...);
    else
      value_ = ::new (static_cast<void*>(bytes_)) T{std::forward<A>(args)...};
    return *value_;
  }
  T& operator*() { return *value_; }
  /// Null if there is no object.
  T* get() { return value_; }

 private:
  void reset() {
    if (value_) std::destroy_at(value_);
    value_ = nullptr;
  }
  T* value_ = nullptr;
  alignas(T) unsigned char bytes_[sizeof(T)];
};

/// Constructs a member in place, whether or not it is const. For one that can be neither copied nor moved,
/// `value` is a function that returns it.
template <class T, class V>
void construct(T& member, V&& value) {
  using Member = std::remove_cv_t<T>;
  void* at = const_cast<void*>(static_cast<const volatile void*>(std::addressof(member)));
  if constexpr (std::is_constructible_v<Member, V&&>)
    ::new (at) Member(std::forward<V>(value));
  else
    ::new (at) Member(value());
}

/// Zeroed memory for an object whose bases and members are constructed one by one, as its constructor does.
/// It destroys the object, or the constructed parts if the constructor was left by an exception.
template <class T>
class storage {
  static constexpr bool ends = !std::is_trivially_destructible_v<T>;
  struct none {};
  struct some {
    bool whole = false;
    std::vector<std::pair<const void*, void (*)(const void*)>> parts;  ///< until it is complete
  };

 public:
  storage() { std::memset(bytes_, 0, sizeof(T)); }
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;
  ~storage() {
    if constexpr (ends) {
      if (there_.whole)
        (**this).T::~T();  // not through the table of virtual functions, which is not set
      else
        for (auto p = there_.parts.rbegin(); p != there_.parts.rend(); ++p) p->second(p->first);
    }
  }
  template <class... A>
  void emplace(A&&... args) {
    ::new (static_cast<void*>(bytes_)) T(std::forward<A>(args)...);
    if constexpr (ends) there_.whole = true;
  }
  /// Constructs a base or a member of the object.
  template <class P, class V>
  void construct(P& part, V&& value) {
    clad::construct(part, std::forward<V>(value));
    if constexpr (ends && !std::is_trivially_destructible_v<P>)
      there_.parts.emplace_back(std::addressof(part),
                                [](const void* p) { std::destroy_at(static_cast<const P*>(p)); });
  }
  /// Every part of the object is constructed.
  void complete() {
    if constexpr (ends) {
      there_.parts.clear();
      there_.whole = true;
    }
  }
  T& operator*() { return *std::launder(reinterpret_cast<T*>(bytes_)); }

 private:
  alignas(T) unsigned char bytes_[sizeof(T)];
  [[no_unique_address]] std::conditional_t<ends, some, none> there_;
};

/// The state of a recursive call, made when the call happens.
template <class T>
class boxed {
 public:
  T& operator*() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace clad
