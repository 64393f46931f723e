// Ranks: the processes that train one model together, and the messages between them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cladtorch::comm {

/// A message under way. Its memory must stay until the message is done.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Whether it is done; makes progress.
  virtual bool done() = 0;
};

/// Where a rank runs, and how it reaches the others. No function here adds numbers: what ranks compute
/// together does not depend on what carries their messages. All calls come from one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(hosts_.size()); }
  bool is_first() const { return rank_ == 0; }
  /// The name of the machine of a rank.
  const std::string& host(int rank) const { return hosts_[static_cast<size_t>(rank)]; }

  /// Messages between two ranks with one tag arrive in the order in which they were sent.
  virtual std::unique_ptr<Transfer> send(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual std::unique_ptr<Transfer> receive(std::span<std::byte> bytes, int from, int tag) = 0;

  /// A transfer that `what` waits for, with the rank at its other end.
  struct Pending {
    std::unique_ptr<Transfer> transfer;
    int peer;
  };
  /// Returns when all are done. Throws Error after timeout() that names `what` and the ranks that are late.
  /// With `cancelled` it waits beside a computation: it leaves the core to that, and throws when somebody
  /// sets it.
  void wait(std::vector<Pending>& transfers, std::string_view what,
            const std::atomic<bool>* cancelled = nullptr);

  /// Each rank's bytes, in the order of the ranks; `sizes` says how many each has. They may lie in their
  /// place already.
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const size_t> sizes,
                  std::string_view what);
  /// The same of values whose numbers the ranks need not know.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> all_gather(std::span<const T> mine, std::string_view what) {
    std::vector<std::byte> bytes = gather_bytes(std::as_bytes(mine), what);
    std::vector<T> all(bytes.size() / sizeof(T));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  /// Texts of all ranks.
  std::vector<std::string> all_gather(const std::string& mine, std::string_view what);
  /// The text of the first rank.
  std::string share(const std::string& text, std::string_view what) { return all_gather(text, what).front(); }
  void barrier(std::string_view what) { all_gather(std::string(), what); }

  /// Ends all ranks.
  [[noreturn]] virtual void abort(int code) = 0;

  std::chrono::seconds timeout() const { return timeout_; }
  void set_timeout(std::chrono::seconds timeout) { timeout_ = timeout; }

 protected:
  Communicator(int rank, std::vector<std::string> hosts) : rank_(rank), hosts_(std::move(hosts)) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

 private:
  std::vector<std::byte> gather_bytes(std::span<const std::byte> mine, std::string_view what);
  std::vector<std::byte> gather_bytes(std::span<const std::byte> mine, std::vector<size_t>& sizes,
                                      std::string_view what);

  int rank_;
  std::vector<std::string> hosts_;
  std::chrono::seconds timeout_{300};
};

/// A rank that is alone.
Communicator& self();

/// The ranks that a launcher (mpirun, srun) started this process among; self() if none did. The first call
/// opens the MPI library, and needs to be made before there are threads. Throws Error if a launcher started
/// several processes and no MPI can be opened, or if it is one without MPI (srun without --mpi, torchrun):
/// each would train a model of its own.
Communicator& world();
/// Whether a launcher started several processes, or may have; opens nothing.
bool in_world();
/// world() if it was called, self() otherwise.
Communicator& started();
/// The number that a launcher gave this process; 0 without one.
int launched_rank();
/// Whether what this process prints is seen on a terminal. A launcher may give its processes terminals of
/// their own and write what they print into a file.
bool prints_to_terminal(int descriptor);
/// Says that this process is about to end as it should; all ranks do.
void leave_world();

}  // namespace cladtorch::comm
