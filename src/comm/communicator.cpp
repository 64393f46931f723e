#include "cladtorch/comm/communicator.h"

#include <algorithm>
#include <thread>

#include "cladtorch/error.h"

namespace cladtorch::comm {
namespace {

constexpr int gather_tag = 0;
/// Polls before a waiting rank gives its core to others, and how long it then sleeps.
constexpr int polls_before_sleep = 2000;
constexpr std::chrono::microseconds sleep_time{50};

class Self final : public Communicator {
 public:
  Self() : Communicator(0, {"this machine"}) {}
  std::unique_ptr<Transfer> send(std::span<const std::byte>, int, int) override { nobody(); }
  std::unique_ptr<Transfer> receive(std::span<std::byte>, int, int) override { nobody(); }
  [[noreturn]] void abort(int code) override { std::_Exit(code); }

 private:
  [[noreturn]] static void nobody() { fail("a rank that is alone has nobody to send to"); }
};

}  // namespace

Communicator& self() {
  static Self alone;
  return alone;
}

void Communicator::wait(std::vector<Pending>& transfers, std::string_view what,
                        const std::atomic<bool>* cancelled) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + timeout_;
  for (int polls = 0; !transfers.empty(); ++polls) {
    std::erase_if(transfers, [](const Pending& pending) { return pending.transfer->done(); });
    if (transfers.empty() || (polls < polls_before_sleep && !cancelled)) continue;
    if (cancelled && *cancelled) fail(what, ": it is not needed any more");
    std::this_thread::sleep_for(sleep_time);
    if (Clock::now() < deadline) continue;
    std::string late;
    for (int rank = 0; rank < size(); ++rank) {
      if (std::ranges::none_of(transfers, [&](const Pending& pending) { return pending.peer == rank; }))
        continue;
      if (!late.empty()) late += ", ";
      late += std::to_string(rank) + " on " + host(rank);
    }
    fail(what, ": no answer for ", timeout_.count(), " s from rank ", late);
  }
}

void Communicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                              std::span<const size_t> sizes, std::string_view what) {
  std::vector<Pending> transfers;
  size_t begin = 0;
  for (int rank = 0; rank < size(); ++rank) {
    const std::span<std::byte> part = all.subspan(begin, sizes[static_cast<size_t>(rank)]);
    begin += part.size();
    if (rank != rank_)
      transfers.push_back({receive(part, rank, gather_tag), rank});
    else if (part.data() != mine.data())
      std::ranges::copy(mine, part.begin());
  }
  for (int step = 1; step < size(); ++step) {
    const int to = (rank_ + step) % size();  // not all to the same rank at once
    transfers.push_back({send(mine, to, gather_tag), to});
  }
  wait(transfers, what);
}

std::vector<std::byte> Communicator::gather_bytes(std::span<const std::byte> mine, std::vector<size_t>& sizes,
                                                  std::string_view what) {
  const size_t count = mine.size();
  sizes.resize(hosts_.size());
  const std::vector<size_t> size_of_size(hosts_.size(), sizeof(size_t));
  all_gather(std::as_bytes(std::span(&count, 1)), std::as_writable_bytes(std::span(sizes)), size_of_size,
             what);
  size_t total = 0;
  for (const size_t size : sizes) total += size;
  std::vector<std::byte> all(total);
  all_gather(mine, all, sizes, what);
  return all;
}

std::vector<std::byte> Communicator::gather_bytes(std::span<const std::byte> mine, std::string_view what) {
  std::vector<size_t> sizes;
  return gather_bytes(mine, sizes, what);
}

std::vector<std::string> Communicator::all_gather(const std::string& mine, std::string_view what) {
  std::vector<size_t> sizes;
  const std::vector<std::byte> all = gather_bytes(std::as_bytes(std::span(mine)), sizes, what);
  std::vector<std::string> texts;
  const char* at = reinterpret_cast<const char*>(all.data());
  for (const size_t size : sizes) {
    texts.emplace_back(at, size);
    at += size;
  }
  return texts;
}

}  // namespace cladtorch::comm
