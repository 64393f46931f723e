// What a number can be put into and taken out of again. Each class has put() and get(); leaks.py builds
// programs around them, and checks that their derivatives are right or refused.

//- number follow
struct number {
  double v = 0;
  void put(double x) { v = x; }
  double get() const { return v; }
};
//- c_array follow
struct c_array {
  double v[3] = {};
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- array_of_arrays follow
struct array_of_arrays {
  double v[2][2] = {};
  void put(double x) { v[1][0] = x; }
  double get() const { return (*(v + 1))[0]; }
};
//- std_array follow
#include <array>
struct std_array {
  std::array<double, 2> v{};
  void put(double x) { v[0] = x; }
  double get() const { return std::get<0>(v); }
};
//- vector follow
#include <vector>
struct vector {
  std::vector<double> v;
  void put(double x) { v.push_back(x); }
  double get() const { return v.back(); }
};
//- vector_of_vectors follow
#include <vector>
struct vector_of_vectors {
  std::vector<std::vector<double>> v;
  void put(double x) { v.push_back({1, x}); }
  double get() const { return v.back()[1]; }
};
//- pmr_vector follow
#include <memory_resource>
#include <vector>
struct pmr_vector {
  std::pmr::vector<double> v{0., 0.};
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- aligned_vector follow
#include <new>
#include <vector>
template <class T>
struct aligned_vector_allocator {
  using value_type = T;
  aligned_vector_allocator() = default;
  template <class U>
  aligned_vector_allocator(const aligned_vector_allocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  friend bool operator==(const aligned_vector_allocator&, const aligned_vector_allocator&) { return true; }
};
struct aligned_vector {
  std::vector<double, aligned_vector_allocator<double>> v =
      std::vector<double, aligned_vector_allocator<double>>(2);
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- deque follow
#include <deque>
struct deque {
  std::deque<double> v;
  void put(double x) { v.push_front(x); }
  double get() const { return v.front(); }
};
//- list refuse
#include <list>
struct list {
  std::list<double> v;
  void put(double x) { v.push_back(x); }
  double get() const { return *v.begin(); }
};
//- forward_list refuse
#include <forward_list>
struct forward_list {
  std::forward_list<double> v;
  void put(double x) { v.push_front(x); }
  double get() const { return v.front(); }
};
//- map refuse
#include <map>
struct map {
  std::map<int, double> v;
  void put(double x) { v[3] = x; }
  double get() const { return v.at(3); }
};
//- map_of_strings refuse
#include <map>
#include <string>
struct map_of_strings {
  std::map<std::string, double> v;
  void put(double x) { v.insert({"x", x}); }
  double get() const { return v.find("x")->second; }
};
//- multimap refuse
#include <map>
struct multimap {
  std::multimap<int, double> v;
  void put(double x) { v.emplace(1, x); }
  double get() const { return v.begin()->second; }
};
//- unordered_map refuse
#include <unordered_map>
struct unordered_map {
  std::unordered_map<int, double> v;
  void put(double x) { v.try_emplace(2, x); }
  double get() const { return v.at(2); }
};
//- map_of_structs refuse
#include <map>
struct map_of_structs_value {
  double a, b;
};
struct map_of_structs {
  std::map<int, map_of_structs_value> v;
  void put(double x) { v[1].b = x; }
  double get() const { return v.at(1).b; }
};
//- map_of_vectors refuse
#include <map>
#include <vector>
struct map_of_vectors {
  std::map<int, std::vector<double>> v;
  void put(double x) { v[1].push_back(x); }
  double get() const { return v.at(1)[0]; }
};
//- set refuse
#include <set>
struct set {
  std::set<double> v;
  void put(double x) { v.insert(x); }
  double get() const { return *v.begin(); }
};
//- multiset refuse
#include <set>
struct multiset {
  std::multiset<double> v;
  void put(double x) { v.insert(x); }
  double get() const { return *v.rbegin(); }
};
//- unordered_set refuse
#include <unordered_set>
struct unordered_set {
  std::unordered_set<double> v;
  void put(double x) { v.insert(x); }
  double get() const { return *v.begin(); }
};
//- stack follow
#include <stack>
struct stack {
  std::stack<double> v;
  void put(double x) { v.push(x); }
  double get() const { return v.top(); }
};
//- stack_on_vector follow
#include <stack>
#include <vector>
struct stack_on_vector {
  std::stack<double, std::vector<double>> v;
  void put(double x) { v.push(x); }
  double get() const { return v.top(); }
};
//- queue follow
#include <queue>
struct queue {
  std::queue<double> v;
  void put(double x) { v.push(x); }
  double get() const { return v.front(); }
};
//- priority_queue follow
#include <queue>
struct priority_queue {
  std::priority_queue<double> v;
  void put(double x) { v.push(x); }
  double get() const { return v.top(); }
};
//- valarray refuse
#include <valarray>
struct valarray {
  std::valarray<double> v = std::valarray<double>(2);
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- pair follow
#include <utility>
struct pair {
  std::pair<int, double> v;
  void put(double x) { v = std::make_pair(1, x); }
  double get() const { return v.second; }
};
//- tuple follow
#include <tuple>
struct tuple {
  std::tuple<int, double, char> v;
  void put(double x) { std::get<double>(v) = x; }
  double get() const { return std::get<1>(v); }
};
//- optional follow
#include <optional>
struct optional {
  std::optional<double> v;
  void put(double x) { v = x; }
  double get() const { return *v; }
};
//- variant refuse
#include <variant>
struct variant {
  std::variant<int, double> v;
  void put(double x) { v = x; }
  double get() const { return std::get<double>(v); }
};
//- visited_variant refuse
#include <variant>
struct visited_variant {
  std::variant<float, double> v;
  void put(double x) { v.emplace<double>(x); }
  double get() const {
    return std::visit([](auto y) { return static_cast<double>(y); }, v);
  }
};
//- any refuse
#include <any>
struct any {
  std::any v;
  void put(double x) { v = x; }
  double get() const { return std::any_cast<double>(v); }
};
//- complex follow
#include <complex>
struct complex {
  std::complex<double> v;
  void put(double x) { v = {1, x}; }
  double get() const { return v.imag(); }
};
//- atomic refuse
#include <atomic>
struct atomic {
  std::atomic<double> v{0};
  void put(double x) { v = x; }
  double get() const { return v.load(); }
};
//- duration follow
#include <chrono>
struct duration {
  std::chrono::duration<double> v{0};
  void put(double x) { v = std::chrono::duration<double>(x); }
  double get() const { return v.count(); }
};
//- milliseconds follow
#include <chrono>
struct milliseconds {
  std::chrono::duration<double, std::milli> v{0};
  void put(double x) { v = std::chrono::duration<double>(x); }
  double get() const { return v.count(); }
};
//- time_point follow
#include <chrono>
struct time_point {
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> v;
  void put(double x) { v += std::chrono::duration<double>(x); }
  double get() const { return v.time_since_epoch().count(); }
};
//- unique_pointer follow
#include <memory>
struct unique_pointer {
  std::unique_ptr<double> v;
  void put(double x) { v = std::make_unique<double>(x); }
  double get() const { return *v; }
};
//- shared_pointer follow
#include <memory>
struct shared_pointer {
  std::shared_ptr<double> v = std::make_shared<double>(0.);
  void put(double x) { *v = x; }
  double get() const { return *v; }
};
//- weak_pointer refuse
#include <memory>
struct weak_pointer {
  std::shared_ptr<double> owner = std::make_shared<double>(0.);
  std::weak_ptr<double> v = owner;
  void put(double x) { *v.lock() = x; }
  double get() const { return *owner; }
};
//- owning_array follow
#include <memory>
struct owning_array {
  std::unique_ptr<double[]> v = std::make_unique<double[]>(2);
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- reference_wrapper follow
#include <functional>
struct reference_wrapper {
  double store = 0;
  std::reference_wrapper<double> v = store;
  void put(double x) { v.get() = x; }
  double get() const { return store; }
};
//- string refuse
#include <string>
struct string {
  std::string v;
  void put(double x) { v = std::to_string(x); }
  double get() const { return std::stod(v); }
};
//- string_of_bytes refuse
#include <cstring>
#include <string>
struct string_of_bytes {
  std::string v;
  void put(double x) {
    v.resize(sizeof x);
    std::memcpy(v.data(), &x, sizeof x);
  }
  double get() const {
    double x;
    std::memcpy(&x, v.data(), sizeof x);
    return x;
  }
};
//- stringstream refuse
#include <sstream>
struct stringstream {
  std::stringstream v;
  void put(double x) { v << x; }
  double get() {
    double x = 0;
    v >> x;
    return x;
  }
};
//- ostringstream refuse
#include <iomanip>
#include <sstream>
struct ostringstream {
  std::ostringstream v;
  void put(double x) { v << std::setprecision(17) << x << ' '; }
  double get() const { return std::atof(v.str().c_str()); }
};
//- c_text refuse
#include <cstdio>
struct c_text {
  char v[64] = "";
  void put(double x) { std::snprintf(v, sizeof v, "%.17g", x); }
  double get() const {
    double x = 0;
    std::sscanf(v, "%lf", &x);
    return x;
  }
};
//- c_text_strtod refuse
#include <cstdio>
#include <cstdlib>
struct c_text_strtod {
  char v[64] = "";
  void put(double x) { std::snprintf(v, sizeof v, "%.17g", x); }
  double get() const { return std::strtod(v, nullptr); }
};
//- to_chars refuse
#include <charconv>
struct to_chars {
  char v[64] = "";
  int n = 0;
  void put(double x) { n = static_cast<int>(std::to_chars(v, v + 64, x).ptr - v); }
  double get() const {
    double x = 0;
    std::from_chars(v, v + n, x);
    return x;
  }
};
//- bits_by_memcpy refuse
#include <cstdint>
#include <cstring>
struct bits_by_memcpy {
  std::uint64_t v = 0;
  void put(double x) { std::memcpy(&v, &x, sizeof v); }
  double get() const {
    double x;
    std::memcpy(&x, &v, sizeof x);
    return x;
  }
};
//- bits_by_bit_cast refuse
#include <bit>
#include <cstdint>
struct bits_by_bit_cast {
  std::uint64_t v = 0;
  void put(double x) { v = std::bit_cast<std::uint64_t>(x); }
  double get() const { return std::bit_cast<double>(v); }
};
//- bits_by_builtin refuse
#include <cstdint>
struct bits_by_builtin {
  std::uint64_t v = 0;
  void put(double x) { v = __builtin_bit_cast(std::uint64_t, x); }
  double get() const { return __builtin_bit_cast(double, v); }
};
//- bits_by_cast refuse
#include <cstdint>
struct bits_by_cast {
  std::uint64_t v = 0;
  void put(double x) { v = reinterpret_cast<std::uint64_t&>(x); }
  double get() const { return reinterpret_cast<const double&>(v); }
};
//- bits_by_pointer refuse
#include <cstdint>
struct bits_by_pointer {
  std::int64_t v = 0;
  void put(double x) { v = *(std::int64_t*)&x; }
  double get() const { return *(const double*)&v; }
};
//- bits_by_void_pointer refuse
#include <cstdint>
struct bits_by_void_pointer {
  std::int64_t v = 0;
  void put(double x) {
    const void* p = &x;
    v = *static_cast<const std::int64_t*>(p);
  }
  double get() const {
    const void* p = &v;
    return *static_cast<const double*>(p);
  }
};
//- bytes refuse
#include <cstring>
struct bytes {
  unsigned char v[8] = {};
  void put(double x) { std::memcpy(v, &x, 8); }
  double get() const {
    double x;
    std::memcpy(&x, v, 8);
    return x;
  }
};
//- std_bytes refuse
#include <array>
#include <bit>
#include <cstddef>
struct std_bytes {
  std::array<std::byte, 8> v{};
  void put(double x) { v = std::bit_cast<std::array<std::byte, 8>>(x); }
  double get() const { return std::bit_cast<double>(v); }
};
//- vector_of_bytes refuse
#include <cstring>
#include <vector>
struct vector_of_bytes {
  std::vector<char> v = std::vector<char>(8);
  void put(double x) { std::memcpy(v.data(), &x, 8); }
  double get() const {
    double x;
    std::memcpy(&x, v.data(), 8);
    return x;
  }
};
//- bytes_by_copy refuse
#include <algorithm>
struct bytes_by_copy {
  char v[8] = {};
  void put(double x) { std::copy_n(reinterpret_cast<const char*>(&x), 8, v); }
  double get() const {
    double x;
    std::copy_n(v, 8, reinterpret_cast<char*>(&x));
    return x;
  }
};
//- bytes_by_loop refuse
struct bytes_by_loop {
  unsigned char v[8] = {};
  void put(double x) {
    for (int i = 0; i < 8; ++i) v[i] = reinterpret_cast<const unsigned char*>(&x)[i];
  }
  double get() const {
    double x = 0;
    for (int i = 0; i < 8; ++i) reinterpret_cast<unsigned char*>(&x)[i] = v[i];
    return x;
  }
};
//- bytes_of_struct refuse
#include <cstring>
struct bytes_of_struct_value {
  double a, b;
};
struct bytes_of_struct {
  char v[16] = {};
  void put(double x) {
    bytes_of_struct_value s{1, x};
    std::memcpy(v, &s, sizeof s);
  }
  double get() const {
    bytes_of_struct_value s;
    std::memcpy(&s, v, sizeof s);
    return s.b;
  }
};
//- union_one_type follow
struct union_one_type {
  union {
    double a, b;
  };
  union_one_type() : a(0) {}
  void put(double x) { a = x; }
  double get() const { return b; }
};
//- union_named follow
union union_named_value {
  double a;
  double b;
};
struct union_named {
  union_named_value v{};
  void put(double x) { v.a = x; }
  double get() const { return v.b; }
};
//- union_of_bits refuse
#include <cstdint>
struct union_of_bits {
  union {
    double a;
    std::uint64_t b;
  };
  union_of_bits() : a(0) {}
  void put(double x) { a = x; }
  double get() const {
    union {
      std::uint64_t b;
      double a;
    } w;
    w.b = b;
    return w.a;
  }
};
//- union_tagged refuse
struct union_tagged {
  int kind = 0;
  union {
    int i;
    double d;
  };
  union_tagged() : i(0) {}
  void put(double x) {
    kind = 1;
    d = x;
  }
  double get() const { return kind == 1 ? d : i; }
};
//- union_of_vector follow
struct union_of_vector {
  union {
    double v[3];
    struct {
      double x, y, z;
    };
  };
  union_of_vector() : v{} {}
  void put(double a) { y = a; }
  double get() const { return v[1]; }
};
//- union_of_parts follow
struct union_of_parts {
  union pair {
    struct {
      double x, y;
    };
    double v[2];
  };
  union {
    struct {
      union {
        pair xy;
        struct {
          double x, y;
        };
      };
      double z;
    };
    double v[3];
  };
  union_of_parts() : v{} {}
  void put(double a) { xy.v[1] = a; }
  double get() const { return y * (1 + v[1] - xy.y); }
};
//- union_of_columns follow
union union_of_columns {
  struct column {
    double x, y;
  };
  double v[2][2];
  column c[2];
  union_of_columns() : v{} {}
  void put(double a) { c[1].x = a; }
  double get() const { return v[1][0]; }
};
//- union_in_padding refuse
union union_in_padding {
  struct alignas(32) three {
    double x, y, z;
  };
  three t;
  double v[4];
  union_in_padding() : v{} {}
  void put(double a) { v[3] = a; }
  double get() const { return v[3]; }
};
//- union_of_sizes refuse
union union_of_sizes {
  float half[2];
  double whole;
  union_of_sizes() : whole(0) {}
  void put(double a) { whole = a; }
  double get() const {
    union_of_sizes u;
    u.half[0] = half[0], u.half[1] = half[1];
    return u.whole;
  }
};
//- union_in_member follow
struct union_in_member {
  struct {
    union {
      double a, b;
    };
  } in{};
  double other = 0;
  void put(double x) { in.a = x; }
  double get() const { return in.b; }
};
//- vector_extension follow
struct vector_extension {
  typedef double two __attribute__((vector_size(16)));
  two v = {0, 0};
  void put(double x) { v = two{x, 1}; }
  double get() const { return v[0]; }
};
//- c_complex refuse
struct c_complex {
  _Complex double v = 0;
  void put(double x) { v = x; }
  double get() const { return __real__ v; }
};
//- half follow
struct half {
  _Float16 v = 0;
  void put(double x) { v = static_cast<_Float16>(x); }
  double get() const { return static_cast<double>(v); }
};
//- extended follow
struct extended {
  long double v = 0;
  void put(double x) { v = x; }
  double get() const { return static_cast<double>(v); }
};
//- global refuse
double global_value;
struct global {
  void put(double x) { global_value = x; }
  double get() const { return global_value; }
};
//- static_member refuse
struct static_member {
  static inline double v = 0;
  void put(double x) { v = x; }
  double get() const { return v; }
};
//- thread_local_value refuse
thread_local double thread_local_value_v;
struct thread_local_value {
  void put(double x) { thread_local_value_v = x; }
  double get() const { return thread_local_value_v; }
};
//- singleton refuse
double& singleton_slot() {
  static double s;
  return s;
}
struct singleton {
  void put(double x) { singleton_slot() = x; }
  double get() const { return singleton_slot(); }
};
//- singleton_object refuse
#include <vector>
struct singleton_object_state {
  std::vector<double> v;
  double last = 0;
  static singleton_object_state& instance() {
    static singleton_object_state s;
    return s;
  }
};
struct singleton_object {
  void put(double x) { singleton_object_state::instance().last = x; }
  double get() const { return singleton_object_state::instance().last; }
};
//- singleton_vector refuse
#include <vector>
std::vector<double>& singleton_vector_pool() {
  static std::vector<double> s(4);
  return s;
}
struct singleton_vector {
  void put(double x) { singleton_vector_pool()[1] = x; }
  double get() const { return singleton_vector_pool()[1]; }
};
//- singleton_pointer refuse
double* singleton_pointer_slot() {
  static double s[3];
  return s;
}
struct singleton_pointer {
  void put(double x) { singleton_pointer_slot()[1] = x; }
  double get() const { return singleton_pointer_slot()[1]; }
};
//- global_map refuse
#include <map>
std::map<int, double> global_map_v;
struct global_map {
  void put(double x) { global_map_v[1] = x; }
  double get() const { return global_map_v[1]; }
};
//- global_pointer refuse
double global_pointer_cell;
double* global_pointer_p = &global_pointer_cell;
struct global_pointer {
  void put(double x) { *global_pointer_p = x; }
  double get() const { return *global_pointer_p; }
};
//- void_pointer refuse
struct void_pointer {
  double store = 0;
  void* v = &store;
  void put(double x) { *static_cast<double*>(v) = x; }
  double get() const { return store; }
};
//- pointer_member follow
struct pointer_member {
  double store = 0;
  double* v = &store;
  void put(double x) { *v = x; }
  double get() const { return store; }
};
//- reference_member follow
struct reference_member {
  double store = 0;
  double& v = store;
  void put(double x) { v = x; }
  double get() const { return store; }
};
//- integer_pointer refuse
#include <cstdint>
struct integer_pointer {
  double store = 0;
  void put(double x) {
    const auto p = reinterpret_cast<std::uintptr_t>(&store);
    *reinterpret_cast<double*>(p) = x;
  }
  double get() const { return store; }
};
//- placement refuse
#include <new>
struct placement {
  alignas(double) unsigned char v[8] = {};
  void put(double x) { new (v) double(x); }
  double get() const { return *reinterpret_cast<const double*>(v); }
};
//- launder refuse
#include <new>
struct launder {
  alignas(double) std::byte v[8] = {};
  void put(double x) { ::new (static_cast<void*>(v)) double(x); }
  double get() const { return *std::launder(reinterpret_cast<const double*>(v)); }
};
//- mutable_member refuse
struct mutable_member {
  mutable double v = 0;
  void put(double x) const { v = x; }
  double get() const { return v; }
};
//- const_cast_member refuse
struct const_cast_member {
  double v = 0;
  void put(double x) const { const_cast<const_cast_member*>(this)->v = x; }
  double get() const { return v; }
};
//- virtual_base refuse
struct virtual_base_root {
  double v = 0;
};
struct virtual_base_left : virtual virtual_base_root {};
struct virtual_base_right : virtual virtual_base_root {};
struct virtual_base : virtual_base_left, virtual_base_right {
  void put(double x) { virtual_base_left::v = x; }
  double get() const { return virtual_base_right::v; }
};
//- base follow
struct base_part {
  double v = 0;
};
struct base : base_part {
  void put(double x) { base_part::v = x; }
  double get() const { return v; }
};
//- function_holding follow
#include <functional>
struct function_holding {
  std::function<double()> v = [] { return 0.; };
  void put(double x) {
    v = [x] { return x; };
  }
  double get() const { return v(); }
};
//- member_by_pointer follow
struct member_by_pointer {
  double a = 0, b = 0;
  void put(double x) { this->*(&member_by_pointer::b) = x; }
  double get() const { return b; }
};
//- distribution refuse
#include <random>
struct distribution {
  std::normal_distribution<double> v;
  void put(double x) { v = std::normal_distribution<double>(x, 1); }
  double get() const { return v.mean(); }
};
//- distribution_parameters refuse
#include <random>
struct distribution_parameters {
  std::uniform_real_distribution<double> v;
  void put(double x) { v.param(std::uniform_real_distribution<double>::param_type(x, 9)); }
  double get() const { return v.a(); }
};
//- promise refuse
#include <future>
struct promise {
  std::promise<double> v;
  void put(double x) { v.set_value(x); }
  double get() { return v.get_future().get(); }
};
//- exception_pointer refuse
#include <exception>
struct exception_pointer {
  std::exception_ptr v;
  void put(double x) { v = std::make_exception_ptr(x); }
  double get() const {
    try {
      std::rethrow_exception(v);
    } catch (double x) {
      return x;
    }
  }
};
//- file refuse
#include <cstdio>
struct file {
  std::FILE* v = std::tmpfile();
  void put(double x) { std::fwrite(&x, sizeof x, 1, v); }
  double get() {
    double x = 0;
    std::rewind(v);
    if (std::fread(&x, sizeof x, 1, v) != 1) return 0;
    return x;
  }
};
//- environment refuse
#include <cstdlib>
#include <string>
struct environment {
  void put(double x) { setenv("CLAD_LEAK", std::to_string(x).c_str(), 1); }
  double get() const { return std::atof(std::getenv("CLAD_LEAK")); }
};
//- file_path refuse
#include <filesystem>
#include <string>
struct file_path {
  std::filesystem::path v;
  void put(double x) { v = std::to_string(x); }
  double get() const { return std::stod(v.string()); }
};
//- gnu_atomic refuse
struct gnu_atomic {
  double v = 0;
  void put(double x) { __atomic_store(&v, &x, __ATOMIC_SEQ_CST); }
  double get() {
    double x;
    __atomic_load(&v, &x, __ATOMIC_SEQ_CST);
    return x;
  }
};
//- atomic_reference refuse
#include <atomic>
struct atomic_reference {
  double v = 0;
  void put(double x) { __atomic_store(&v, &x, __ATOMIC_RELAXED); }
  double get() const { return v; }
};
//- c_atomic refuse
struct c_atomic {
  _Atomic(double) v = 0.;
  void put(double x) { v = x; }
  double get() const { return v; }
};
//- nontemporal refuse
struct nontemporal {
  double v = 0;
  void put(double x) { __builtin_nontemporal_store(x, &v); }
  double get() const { return v; }
};
//- volatile_member follow
struct volatile_member {
  volatile double v = 0;
  void put(double x) { v = x; }
  double get() const { return v; }
};
//- slice refuse
#include <valarray>
struct slice {
  std::valarray<double> v = std::valarray<double>(4);
  void put(double x) { v[std::slice(0, 2, 2)] = x; }
  double get() const { return v[2]; }
};
//- span follow
#include <span>
struct span {
  double store[2] = {};
  void put(double x) {
    std::span<double> v(store);
    v[1] = x;
  }
  double get() const { return store[1]; }
};
//- list_in_struct refuse
#include <list>
#include <map>
#include <string>
struct list_in_struct {
  double other = 1;
  std::list<double> a;
  std::map<std::string, double> b;
  void put(double x) {
    b["k"] = x;
    other = 1;
  }
  double get() const { return b.at("k") * other; }
};
//- pointer_in_map refuse
#include <map>
struct pointer_in_map {
  double store = 0;
  std::map<int, double*> v{{1, &store}};
  void put(double x) { *v[1] = x; }
  double get() const { return store; }
};
//- pointer_in_any refuse
#include <any>
struct pointer_in_any {
  double store = 0;
  void put(double x) {
    std::any p = &store;
    *std::any_cast<double*>(p) = x;
  }
  double get() const { return store; }
};
//- pointer_in_variant refuse
#include <variant>
struct pointer_in_variant {
  double store = 0;
  void put(double x) {
    std::variant<int, double*> p = &store;
    **std::get_if<double*>(&p) = x;
  }
  double get() const { return store; }
};
//- node follow
#include <memory>
struct node_link {
  double v = 0;
  std::unique_ptr<node_link> next;
};
struct node {
  node_link head;
  void put(double x) {
    head.next = std::make_unique<node_link>();
    head.next->v = x;
  }
  double get() const { return head.next->v; }
};
//- raw_owner either
struct raw_owner {
  double* v = new double[2]();
  raw_owner() = default;
  raw_owner(const raw_owner&) = delete;
  raw_owner& operator=(const raw_owner&) = delete;
  ~raw_owner() { delete[] v; }
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- bit_field follow
struct bit_field {
  int n : 8 = 3;
  double v = 0;
  void put(double x) {
    n = 2;
    v = x;
  }
  double get() const { return v; }
};
//- flexible_array refuse
#include <cstdlib>
struct flexible_array_value {
  int n;
  double v[];
};
struct flexible_array {
  flexible_array_value* p =
      static_cast<flexible_array_value*>(std::calloc(1, sizeof(flexible_array_value) + 16));
  void put(double x) { p->v[1] = x; }
  double get() const { return p->v[1]; }
};
//- packed follow
struct __attribute__((packed)) packed {
  char c = 0;
  double v = 0;
  void put(double x) { v = x; }
  double get() const { return v; }
};
//- own_malloc refuse
namespace own_malloc_pool {
inline double buffer[100];
inline void* malloc(unsigned long) { return buffer; }
}  // namespace own_malloc_pool
struct own_malloc {
  void put(double x) { static_cast<double*>(own_malloc_pool::malloc(8))[0] = x; }
  double get() const { return static_cast<double*>(own_malloc_pool::malloc(8))[0]; }
};
//- vector_of_any refuse
#include <any>
#include <vector>
struct vector_of_any {
  std::vector<std::any> v;
  void put(double x) { v.push_back(x); }
  double get() const { return std::any_cast<double>(v[0]); }
};
//- vector_of_variants refuse
#include <variant>
#include <vector>
struct vector_of_variants {
  std::vector<std::variant<int, double>> v;
  void put(double x) { v.push_back(x); }
  double get() const { return std::get<double>(v[0]); }
};
//- optional_of_map refuse
#include <map>
#include <optional>
struct optional_of_map {
  std::optional<std::map<int, double>> v;
  void put(double x) {
    v.emplace();
    (*v)[1] = x;
  }
  double get() const { return v->at(1); }
};
//- pair_with_list refuse
#include <list>
#include <utility>
struct pair_with_list {
  std::pair<double, std::list<double>> v;
  void put(double x) { v.second.push_back(x); }
  double get() const { return v.second.front(); }
};
//- shared_map refuse
#include <map>
#include <memory>
struct shared_map {
  std::shared_ptr<std::map<int, double>> v = std::make_shared<std::map<int, double>>();
  void put(double x) { (*v)[1] = x; }
  double get() const { return v->at(1); }
};
//- map_of refuse map multimap unordered_map unordered_multimap pmr::map pmr::multimap pmr::unordered_map
//- map_of refuse pmr::unordered_multimap
#include <map>
#include <memory_resource>
#include <unordered_map>
struct map_of {
  std::OF<int, double> v;
  void put(double x) { v.emplace(1, x); }
  double get() const { return v.begin()->second; }
};
//- set_of refuse set multiset unordered_set unordered_multiset pmr::set pmr::multiset pmr::unordered_set
//- set_of refuse pmr::unordered_multiset
#include <memory_resource>
#include <set>
#include <unordered_set>
struct set_of {
  std::OF<double> v;
  void put(double x) { v.insert(x); }
  double get() const { return *v.begin(); }
};
//- sequence_of refuse list forward_list pmr::list pmr::forward_list
//- sequence_of follow deque pmr::deque
#include <deque>
#include <forward_list>
#include <list>
#include <memory_resource>
struct sequence_of {
  std::OF<double> v;
  void put(double x) { v.push_front(x); }
  double get() const { return v.front(); }
};
//- text_type refuse string pmr::string
#include <memory_resource>
#include <string>
struct text_type {
  std::OF v;
  void put(double x) { v = std::to_string(x).c_str(); }
  double get() const { return std::atof(v.c_str()); }
};
//- text_template refuse
#include <string>
struct text_template {
  std::basic_string<char> v;
  void put(double x) { v = std::to_string(x); }
  double get() const { return std::stod(v); }
};
//- text_type_wide refuse wstring pmr::wstring
#include <cwchar>
#include <memory_resource>
#include <string>
struct text_type_wide {
  std::OF v;
  void put(double x) { v = std::to_wstring(x).c_str(); }
  double get() const { return std::wcstod(v.c_str(), nullptr); }
};
//- text_view refuse string_view basic_string_view<char>
#include <string>
#include <string_view>
struct text_view {
  std::string v;
  void put(double x) { v = std::to_string(x); }
  double get() const {
    const std::OF s(v);
    return std::atof(s.data());
  }
};
//- text_stream refuse basic_stringstream<char> basic_ostringstream<char>
#include <sstream>
struct text_stream {
  std::OF v;
  void put(double x) { v << x; }
  double get() const { return std::atof(v.str().c_str()); }
};
//- text_stream_wide refuse wstringstream wostringstream
#include <cwchar>
#include <sstream>
struct text_stream_wide {
  std::OF v;
  void put(double x) { v << x; }
  double get() const { return std::wcstod(v.str().c_str(), nullptr); }
};
//- text_input refuse istringstream basic_istringstream<char>
#include <sstream>
#include <string>
struct text_input {
  std::OF v;
  void put(double x) { v.str(std::to_string(x)); }
  double get() {
    double x = 0;
    v >> x;
    return x;
  }
};
//- text_input_wide refuse
#include <sstream>
#include <string>
struct text_input_wide {
  std::wistringstream v;
  void put(double x) { v.str(std::to_wstring(x)); }
  double get() {
    double x = 0;
    v >> x;
    return x;
  }
};
//- text_buffer_characters refuse
#include <iterator>
#include <sstream>
#include <string>
struct text_buffer_characters {
  std::stringstream v;
  void put(double x) {
    std::ostreambuf_iterator<char> out(v);
    for (char c : std::to_string(x)) *out++ = c;
  }
  double get() const { return std::stod(std::string(std::istreambuf_iterator<char>(v.rdbuf()), {})); }
};
//- text_old_stream refuse
#include <strstream>
struct text_old_stream {
  std::strstream v;
  void put(double x) { v << x << ' '; }
  double get() {
    double x = 0;
    v >> x;
    return x;
  }
};
//- text_file refuse fstream basic_fstream<char>
#include <fstream>
struct text_file {
  std::OF v{"/tmp/clad_leak", std::ios::in | std::ios::out | std::ios::trunc};
  void put(double x) { v << x << ' ' << std::flush; }
  double get() {
    double x = 0;
    v.seekg(0);
    v >> x;
    return x;
  }
};
//- bytes_of_file refuse
#include <fstream>
struct bytes_of_file {
  std::filebuf v;
  void put(double x) {
    v.open("/tmp/clad_leak", std::ios::in | std::ios::out | std::ios::binary | std::ios::trunc);
    v.sputn(reinterpret_cast<const char*>(&x), sizeof x);
    v.pubsync();
  }
  double get() {
    double x = 0;
    v.pubseekpos(0);
    v.sgetn(reinterpret_cast<char*>(&x), sizeof x);
    v.close();
    return x;
  }
};
//- array_slice refuse
#include <valarray>
struct array_slice {
  std::valarray<double> v = std::valarray<double>(4);
  void put(double x) {
    std::slice_array<double> s = v[std::slice(0, 2, 2)];
    s = std::valarray<double>{1, x};
  }
  double get() const { return v[2]; }
};
//- array_general_slice refuse
#include <valarray>
struct array_general_slice {
  std::valarray<double> v = std::valarray<double>(4);
  void put(double x) {
    const std::gslice at(0, {2}, {2});
    std::gslice_array<double> s = v[at];
    s = std::valarray<double>{1, x};
  }
  double get() const { return v[2]; }
};
//- array_mask refuse
#include <valarray>
struct array_mask {
  std::valarray<double> v = std::valarray<double>(2);
  void put(double x) {
    const std::valarray<bool> at{false, true};
    std::mask_array<double> s = v[at];
    s = std::valarray<double>{x};
  }
  double get() const { return v[1]; }
};
//- array_indirect refuse
#include <valarray>
struct array_indirect {
  std::valarray<double> v = std::valarray<double>(2);
  void put(double x) {
    const std::valarray<std::size_t> at{1};
    std::indirect_array<double> s = v[at];
    s = std::valarray<double>{x};
  }
  double get() const { return v[1]; }
};
//- bits_in_set refuse
#include <bit>
#include <bitset>
#include <cstdint>
struct bits_in_set {
  std::bitset<64> v;
  void put(double x) { v = std::bitset<64>(std::bit_cast<std::uint64_t>(x)); }
  double get() const { return std::bit_cast<double>(static_cast<std::uint64_t>(v.to_ullong())); }
};
//- shared_by_allocator refuse
#include <memory>
struct shared_by_allocator {
  std::shared_ptr<double> v = std::allocate_shared<double>(std::allocator<double>(), 0.);
  void put(double x) { *v = x; }
  double get() const { return *v; }
};
//- old_pointer refuse
#include <memory>
struct old_pointer {
  std::auto_ptr<double> v{new double(0)};
  void put(double x) { *v = x; }
  double get() const { return *v; }
};
//- vector_in_buffer refuse
#include <memory_resource>
#include <vector>
struct vector_in_buffer {
  std::pmr::monotonic_buffer_resource room;
  std::pmr::vector<double> v{2, &room};
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- vector_in_pool refuse unsynchronized_pool_resource synchronized_pool_resource
#include <memory_resource>
#include <vector>
struct vector_in_pool {
  std::pmr::OF room;
  std::pmr::vector<double> v{2, &room};
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- vector_of_allocators follow
#include <memory>
#include <scoped_allocator>
#include <vector>
struct vector_of_allocators {
  std::vector<double, std::scoped_allocator_adaptor<std::allocator<double>>> v{0., 0.};
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- duration_of follow duration<double,std::ratio<60>> duration<double,std::nano>
#include <chrono>
struct duration_of {
  std::chrono::OF v{0};
  void put(double x) { v += std::chrono::OF(x); }
  double get() const { return v.count(); }
};
//- time_of follow sys_time local_time utc_time tai_time gps_time file_time
#include <chrono>
struct time_of {
  std::chrono::OF<std::chrono::duration<double>> v;
  void put(double x) { v += std::chrono::duration<double>(x); }
  double get() const { return v.time_since_epoch().count(); }
};
//- time_of_day follow
#include <chrono>
struct time_of_day {
  std::chrono::hh_mm_ss<std::chrono::duration<double>> v{std::chrono::duration<double>(0)};
  void put(double x) { v = std::chrono::hh_mm_ss(std::chrono::duration<double>(x)); }
  double get() const { return std::chrono::duration<double>(v).count(); }
};
//- shared_result refuse
#include <future>
struct shared_result {
  std::shared_future<double> v;
  void put(double x) {
    std::promise<double> p;
    p.set_value(x);
    v = p.get_future();
  }
  double get() const { return v.get(); }
};
//- own_order follow
#include <queue>
#include <vector>
struct own_order {
  std::priority_queue<double, std::vector<double>, std::greater<>> v;
  void put(double x) { v.push(x); }
  double get() const { return v.top(); }
};
//- path_of_directory refuse
#include <filesystem>
#include <string>
struct path_of_directory {
  std::filesystem::directory_entry v;
  void put(double x) { v.assign(std::filesystem::path(std::to_string(x))); }
  double get() const { return std::stod(v.path().string()); }
};
//- error_of_files refuse
#include <filesystem>
#include <string>
struct error_of_files {
  std::filesystem::path v;
  void put(double x) {
    v = std::filesystem::filesystem_error("", std::to_string(x), std::error_code()).path1();
  }
  double get() const { return std::stod(v.string()); }
};
//- error_of_system refuse
#include <string>
#include <system_error>
struct error_of_system {
  std::system_error v{std::error_code()};
  void put(double x) { v = std::system_error(std::error_code(), std::to_string(x)); }
  double get() const { return std::atof(v.what()); }
};
//- view_of_range either single_view
#include <ranges>
struct view_of_range {
  std::ranges::single_view<double> v{0};
  void put(double x) { *v.begin() = x; }
  double get() const { return v.front(); }
};
//- part_of_range either
#include <ranges>
struct part_of_range {
  double store[2] = {};
  void put(double x) {
    std::ranges::subrange s(store, store + 2);
    s[1] = x;
  }
  double get() const { return store[1]; }
};
//- range_of_own refuse
#include <ranges>
#include <vector>
struct range_of_own {
  std::ranges::owning_view<std::vector<double>> v{std::vector<double>(2)};
  void put(double x) { v[1] = x; }
  double get() const { return v[1]; }
};
//- text_in_buffer refuse stringbuf basic_stringbuf<char>
#include <sstream>
#include <string>
struct text_in_buffer {
  std::OF v;
  void put(double x) { v.str(std::to_string(x)); }
  double get() const { return std::stod(v.str()); }
};
//- bits_in_integers refuse
#include <bit>
struct bits_in_integers {
  int v[64] = {};
  void put(double x) {
    for (int i = 0; i < 64; ++i) v[i] = std::bit_cast<unsigned long>(x) >> i & 1;
  }
  double get() const {
    unsigned long n = 0;
    for (int i = 0; i < 64; ++i) n |= static_cast<unsigned long>(v[i]) << i;
    return std::bit_cast<double>(n);
  }
};
//- bits_in_vector refuse vector<int> vector<char>
#include <bit>
#include <vector>
struct bits_in_vector {
  std::OF v = std::OF(64);
  void put(double x) {
    const unsigned long n = std::bit_cast<unsigned long>(x);
    for (int i = 0; i < 64; ++i) v[i] = n >> i & 1;
  }
  double get() const {
    unsigned long n = 0;
    for (int i = 0; i < 64; ++i) n |= static_cast<unsigned long>(v[i]) << i;
    return std::bit_cast<double>(n);
  }
};
//- bits_pushed refuse vector<int> vector<char>
#include <bit>
#include <vector>
struct bits_pushed {
  std::OF v;
  void put(double x) {
    for (int i = 0; i < 64; ++i) v.push_back(std::bit_cast<unsigned long>(x) >> i & 1);
  }
  double get() const {
    unsigned long n = 0;
    for (int i = 0; i < 64; ++i) n |= static_cast<unsigned long>(v[i]) << i;
    return std::bit_cast<double>(n);
  }
};
//- copied_without_a_member refuse
struct copied_without_a_member {
  double v = 0;
  int n = 1;
  copied_without_a_member() = default;
  copied_without_a_member(const copied_without_a_member& o) : v(o.v) {}
  copied_without_a_member& operator=(const copied_without_a_member&) = default;
  void put(double x) {
    v = x;
    n = 3;
  }
  double get() const { return v * n; }
};
//- copied_to_other_members refuse
struct copied_to_other_members {
  double v = 0, w = 1;
  copied_to_other_members() = default;
  copied_to_other_members(const copied_to_other_members& o) : v(o.w), w(o.v) {}
  copied_to_other_members& operator=(const copied_to_other_members&) = default;
  void put(double x) { v = x; }
  double get() const { return v * v * w; }
};
//- assigned_to_other_members refuse
struct assigned_to_other_members_part {
  double v = 0, w = 1;
  assigned_to_other_members_part() = default;
  assigned_to_other_members_part(const assigned_to_other_members_part&) = default;
  assigned_to_other_members_part& operator=(const assigned_to_other_members_part& o) {
    const double old = o.v;
    v = o.w;
    w = old;
    return *this;
  }
};
struct assigned_to_other_members {
  assigned_to_other_members_part part;
  void put(double x) { part.v = x; }
  double get() const { return part.v * part.v * part.w; }
};
//- copied_by_a_template refuse
struct copied_by_a_template {
  double v = 0;
  copied_by_a_template() = default;
  template <class U>
  copied_by_a_template(U& o) : v(2 * o.v) {}
  void put(double x) { v = x; }
  double get() const { return v; }
};
