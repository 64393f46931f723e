// The ranks that a launcher started.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/error.h"
#include "comm/mpi_module.h"

namespace cladtorch::comm {
namespace fs = std::filesystem;
namespace {

/// The number in an environment variable.
std::optional<int> number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::optional(std::atoi(text)) : std::nullopt;
}

/// What the environment says of a launcher. Variables of Slurm alone say nothing: a batch script has them
/// too.
struct Launcher {
  const char* name;    ///< as users call it
  const char* module;  ///< the module for its MPI
  int size;            ///< 0 if only MPI knows
};
std::optional<Launcher> launcher() {
  if (const auto size = number("OMPI_COMM_WORLD_SIZE")) return Launcher{"mpirun", "openmpi", *size};
  if (const auto size = number("PMI_SIZE")) return Launcher{"mpirun", "mpich", *size};
  // srun with PMIx; a launcher that says nothing of its size may have started several.
  if (number("PMIX_RANK")) return Launcher{"srun", "openmpi", number("SLURM_STEP_NUM_TASKS").value_or(0)};
  return std::nullopt;
}

/// Throws if a launcher started several processes and did not tell them of MPI.
void refuse_without_mpi() {
  const auto refuse = [](const std::string& who, int size, const std::string& way, const char* variable) {
    fail(who, " started ", size, " processes without MPI, and each would train a model of its own: use '",
         way, "', or unset ", variable, " if that is meant");
  };
  // In an interactive shell that srun started, a user starts one process.
  const int steps = number("SLURM_STEP_NUM_TASKS").value_or(1);
  if (steps > 1 && number("SLURM_PROCID") && ::isatty(STDIN_FILENO) == 0)
    refuse("srun", steps, "srun --mpi=pmix", "SLURM_STEP_NUM_TASKS");
  const int size = number("WORLD_SIZE").value_or(1);
  if (size > 1 && number("RANK") && std::getenv("MASTER_ADDR"))
    refuse("torchrun", size, "mpirun -np " + std::to_string(size), "WORLD_SIZE");
}

/// Beside the program, where it is built and where it is installed.
std::optional<fs::path> find_module(const std::string& mpi) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string file = "cladtorch_mpi_" + mpi + ".so";
  for (const char* folder : {".", "../lib", CLADTORCH_MODULE_FOLDER})
    if (const fs::path path = program / folder / file; fs::exists(path, ignored)) return path;
  return std::nullopt;
}

class OpenedMpi {
 public:
  explicit OpenedMpi(const Launcher& launcher) {
    const std::optional<fs::path> path = find_module(launcher.module);
    const std::string who = std::string(launcher.name) + " started " +
                            (launcher.size ? std::to_string(launcher.size) : "several") + " processes";
    require(path.has_value(), who, ", but this cladtorch was built without ", launcher.module,
            ": install its development files (Debian: lib", launcher.module,
            "-dev) and build again, or start one process");
    void* module =
        dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI's own modules look for its symbols
    if (!module) fail(who, ", but MPI cannot be opened: ", dlerror());
    const auto start = reinterpret_cast<StartMpi>(dlsym(module, start_symbol));
    end_ = reinterpret_cast<EndMpi>(dlsym(module, end_symbol));
    require(start && end_, who, ", but '", path->string(), "' is of another version of cladtorch");
    const char* error = "no reason is known";
    communicator_ = start(&error);
    require(communicator_ != nullptr, who, ", but MPI does not start: ", error);
  }
  Communicator& communicator() { return *communicator_; }
  void end() { end_(communicator_); }

 private:
  EndMpi end_ = nullptr;
  Communicator* communicator_ = nullptr;
};

std::optional<OpenedMpi> opened;

}  // namespace

bool in_world() {
  const std::optional<Launcher> found = launcher();
  return found && found->size != 1;
}

Communicator& world() {
  if (!launcher()) refuse_without_mpi();
  if (!in_world()) return self();
  if (!opened) opened.emplace(*launcher());
  return opened->communicator();
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const auto rank = number(name)) return *rank;
  return 0;
}

bool prints_to_terminal(int descriptor) {
  if (::isatty(descriptor) == 0) return false;
  if (!launcher()) return true;
  std::error_code unknown;
  const fs::path of_launcher = fs::read_symlink(
      fs::path("/proc") / std::to_string(::getppid()) / "fd" / std::to_string(descriptor), unknown);
  return of_launcher.string().starts_with("/dev/pts/") || of_launcher.string().starts_with("/dev/tty");
}

Communicator& started() { return opened ? opened->communicator() : self(); }

void leave_world() {
  if (opened) opened->end();
  opened.reset();
}

}  // namespace cladtorch::comm
