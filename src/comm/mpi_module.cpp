// Messages by MPI. The only source that includes its headers: built once for each MPI that is found, and
// opened at run time where a launcher of that MPI started the program.
#include "comm/mpi_module.h"

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <string>

namespace cladtorch::comm {
namespace {

/// MPI counts in int.
constexpr size_t largest_part = size_t{1} << 30;

class Requests final : public Transfer {
 public:
  /// Calls start(offset, count, request) for each part of `size` bytes.
  template <class Start>
  Requests(size_t size, const Start& start) {
    for (size_t begin = 0; begin < size || begin == 0; begin += largest_part) {
      requests_.push_back(MPI_REQUEST_NULL);
      start(begin, static_cast<int>(std::min(largest_part, size - begin)), &requests_.back());
    }
  }
  bool done() override {
    int all = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }

 private:
  std::vector<MPI_Request> requests_;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, int rank, std::vector<std::string> hosts)
      : Communicator(rank, std::move(hosts)), comm_(comm) {}

  std::unique_ptr<Transfer> send(std::span<const std::byte> bytes, int to, int tag) override {
    return std::make_unique<Requests>(bytes.size(), [&](size_t begin, int count, MPI_Request* request) {
      MPI_Isend(bytes.data() + begin, count, MPI_BYTE, to, tag, comm_, request);
    });
  }
  std::unique_ptr<Transfer> receive(std::span<std::byte> bytes, int from, int tag) override {
    return std::make_unique<Requests>(bytes.size(), [&](size_t begin, int count, MPI_Request* request) {
      MPI_Irecv(bytes.data() + begin, count, MPI_BYTE, from, tag, comm_, request);
    });
  }
  [[noreturn]] void abort(int code) override {
    MPI_Abort(comm_, code);
    std::_Exit(code);
  }

 private:
  MPI_Comm comm_;
};

std::vector<std::string> hosts(int size) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  std::vector<char> all(static_cast<size_t>(size) * MPI_MAX_PROCESSOR_NAME);
  MPI_Allgather(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                MPI_COMM_WORLD);
  std::vector<std::string> out;
  for (int rank = 0; rank < size; ++rank)
    out.emplace_back(all.data() + static_cast<size_t>(rank) * MPI_MAX_PROCESSOR_NAME);
  return out;
}

}  // namespace
}  // namespace cladtorch::comm

extern "C" {

[[gnu::visibility("default")]] cladtorch::comm::Communicator* cladtorch_mpi_start(const char** error) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    *error = "MPI_Init_thread failed";
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    *error = "this MPI allows calls from one thread only (no MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return new cladtorch::comm::MpiCommunicator(MPI_COMM_WORLD, rank, cladtorch::comm::hosts(size));
}

[[gnu::visibility("default")]] void cladtorch_mpi_end(cladtorch::comm::Communicator* communicator) {
  delete communicator;
  MPI_Finalize();
}

}  // extern "C"
