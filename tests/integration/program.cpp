#include "tests/integration/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>

namespace cladtorch::integration {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void redirect(const std::filesystem::path& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::dup2(file, descriptor);
  ::close(file);
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const Options& options) {
  static std::atomic<int> count{0};
  const std::string number = std::to_string(::getpid()) + "-" + std::to_string(count++);
  out_ = std::filesystem::temp_directory_path() / ("cladtorch-out-" + number);
  err_ = std::filesystem::temp_directory_path() / ("cladtorch-err-" + number);
  std::vector<const char*> argv = {CLADTORCH_PROGRAM};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  redirect(options.standard_output.empty() ? out_ : options.standard_output, STDOUT_FILENO);
  redirect(err_, STDERR_FILENO);
  if (options.file_size_limit) {
    const rlimit limit{*options.file_size_limit, *options.file_size_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
  if (options.before) options.before();
  ::execv(CLADTORCH_PROGRAM, const_cast<char* const*>(argv.data()));
  ::_exit(127);
}

Program::~Program() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove(out_, ignored);
  std::filesystem::remove(err_, ignored);
}

void Program::send(int signal) const { ::kill(pid_, signal); }

std::string Program::output() const { return content(out_); }

bool Program::running() {
  if (status_) return false;
  int status = 0;
  if (::wait4(pid_, &status, WNOHANG, &usage_) == 0) return true;
  status_ = status;
  return false;
}

Outcome Program::wait() {
  if (!status_) {
    int status = 0;
    ::wait4(pid_, &status, 0, &usage_);
    status_ = status;
  }
  const int code = WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
  return {code, content(out_), content(err_), static_cast<size_t>(usage_.ru_maxrss) * 1024};
}

Outcome run(const std::vector<std::string>& arguments, const Program::Options& options) {
  return Program(arguments, options).wait();
}

}  // namespace cladtorch::integration
