#include "comm/thread_ranks.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>

#include "cladtorch/error.h"

namespace cladtorch::comm {
namespace {

/// What all ranks share.
struct Post {
  struct Message {
    std::vector<std::byte> bytes;
    int polls_left;  ///< until it arrives
  };
  std::mutex mutex;
  using Place = std::tuple<int, int, int>;  ///< from, to and tag
  std::map<Place, std::deque<Message>> messages;
  std::map<Place, std::deque<const Transfer*>> wanted;  ///< in the order in which they take messages
  std::mt19937_64 random;
  bool failed = false;
};

struct Sent final : Transfer {
  bool done() override { return true; }  // it was copied
};

class Received final : public Transfer {
 public:
  Received(Post& post, Post::Place place, std::span<std::byte> bytes)
      : post_(post), place_(place), bytes_(bytes) {
    const std::lock_guard lock(post_.mutex);
    post_.wanted[place_].push_back(this);
  }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
  ~Received() override {
    const std::lock_guard lock(post_.mutex);
    std::erase(post_.wanted[place_], this);
  }

  bool done() override {
    const std::lock_guard lock(post_.mutex);
    require(!post_.failed, "another rank has failed");
    const auto queue = post_.messages.find(place_);
    if (queue == post_.messages.end() || queue->second.empty()) return false;
    if (post_.wanted[place_].front() != this) return false;
    Post::Message& message = queue->second.front();
    if (message.polls_left-- > 0) return false;
    require(message.bytes.size() == bytes_.size(), "a message of ", message.bytes.size(), " bytes where ",
            bytes_.size(), " were expected");
    std::ranges::copy(message.bytes, bytes_.begin());
    queue->second.pop_front();
    post_.wanted[place_].pop_front();
    return true;
  }

 private:
  Post& post_;
  Post::Place place_;
  std::span<std::byte> bytes_;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Post& post, int rank, int size)
      : Communicator(rank, std::vector<std::string>(static_cast<size_t>(size), "this machine")),
        post_(post) {}

  std::unique_ptr<Transfer> send(std::span<const std::byte> bytes, int to, int tag) override {
    const std::lock_guard lock(post_.mutex);
    post_.messages[{rank(), to, tag}].push_back(
        {{bytes.begin(), bytes.end()}, static_cast<int>(post_.random() % 20)});
    return std::make_unique<Sent>();
  }
  std::unique_ptr<Transfer> receive(std::span<std::byte> bytes, int from, int tag) override {
    return std::make_unique<Received>(post_, Post::Place(from, rank(), tag), bytes);
  }
  [[noreturn]] void abort(int code) override { fail("a rank ended all with code ", code); }

 private:
  Post& post_;
};

}  // namespace

void run_ranks(int size, uint64_t seed, const std::function<void(Communicator&)>& body) {
  Post post;
  post.random.seed(seed);
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRank communicator(post, rank, size);
        body(communicator);
      } catch (...) {  // whatever it is, it is thrown where the ranks were started
        const std::lock_guard lock(post.mutex);
        if (!post.failed) first = std::current_exception();
        post.failed = true;
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace cladtorch::comm
