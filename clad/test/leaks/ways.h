// Ways along which a number can travel: functions of a number that are smooth and not constant. leaks.py
// builds programs around them, and checks that their derivatives are right or refused.

//- c_callback follow
double c_callback_target(double t, void* p) { return t * *(double*)p; }
double c_callback(double x) { return c_callback_target(2, &x); }
//- c_callback_twice follow
double c_callback_twice_target(double t, void* p) { return t * *(double*)p; }
double c_callback_twice_call(void* p) { return c_callback_twice_target(2, p); }
double c_callback_twice(double x) { return c_callback_twice_call(&x); }
//- c_callback_by_function follow
double c_callback_by_function_target(double t, void* p) { return t * *static_cast<double*>(p); }
double c_callback_by_function_integrate(double (*g)(double, void*), void* p) { return g(1, p) + g(2, p); }
double c_callback_by_function(double x) {
  return c_callback_by_function_integrate(c_callback_by_function_target, &x);
}
//- c_callback_struct follow
struct c_callback_struct_context {
  double a, b;
};
double c_callback_struct_target(double t, void* p) {
  auto* c = static_cast<c_callback_struct_context*>(p);
  return t * c->a + c->b;
}
double c_callback_struct_integrate(double (*g)(double, void*), void* p) { return g(1, p) * g(2, p); }
double c_callback_struct(double x) {
  c_callback_struct_context c{x, 2};
  return c_callback_struct_integrate(c_callback_struct_target, &c);
}
//- c_callback_output follow
void c_callback_output_target(double t, void* p) { *static_cast<double*>(p) += t * t; }
void c_callback_output_each(double t, void (*g)(double, void*), void* p) {
  g(t, p);
  g(2 * t, p);
}
double c_callback_output(double x) {
  double sum = 0;
  c_callback_output_each(x, c_callback_output_target, &sum);
  return sum;
}
//- c_callback_params refuse
struct c_callback_params_function {
  double (*function)(double, void*);
  void* params;
};
double c_callback_params_target(double t, void* p) { return t * *static_cast<double*>(p); }
double c_callback_params_eval(const c_callback_params_function* f, double t) {
  return f->function(t, f->params);
}
double c_callback_params(double x) {
  c_callback_params_function f{c_callback_params_target, &x};
  return c_callback_params_eval(&f, 3);
}
//- bind_member follow
#include <functional>
struct bind_member_model {
  double k;
  double density(double t) const { return k * t * t; }
};
double bind_member_integrate(std::function<double(double)> g) { return g(1) + g(2); }
double bind_member(double x) {
  bind_member_model m{x};
  return bind_member_integrate(std::bind(&bind_member_model::density, &m, std::placeholders::_1));
}
//- bind_function follow
#include <functional>
double bind_function_target(double a, double b) { return a * b; }
double bind_function(double x) {
  auto g = std::bind(bind_function_target, std::placeholders::_1, x);
  return g(2.);
}
//- bind_reference follow
#include <functional>
double bind_reference_target(double a, const double& b) { return a * b; }
double bind_reference_integrate(const std::function<double(double)>& g) { return g(1) + g(2); }
double bind_reference(double x) {
  return bind_reference_integrate(std::bind(bind_reference_target, std::placeholders::_1, std::cref(x)));
}
//- bind_front follow
#include <functional>
double bind_front(double x) {
  auto g = std::bind_front([](double a, double b) { return a * b; }, x);
  return g(3.);
}
//- member_function follow
#include <functional>
struct member_function_model {
  double k;
  double times(double t) const { return k * t; }
};
double member_function(double x) {
  member_function_model m{x};
  auto g = std::mem_fn(&member_function_model::times);
  return g(m, 2.);
}
//- invoked follow
#include <functional>
double invoked(double x) {
  return std::invoke([](double a, double b) { return a * b; }, x, 2.);
}
//- negated follow
#include <functional>
double negated(double x) { return std::negate<double>()(x) + std::multiplies<>()(x, x); }
//- exception_value refuse
double exception_value(double x) {
  try {
    if (x > -1e9) throw x * x;
  } catch (double y) {
    return y;
  }
  return 0;
}
//- exception_object refuse
#include <stdexcept>
#include <string>
struct exception_object_error : std::runtime_error {
  double v;
  explicit exception_object_error(double x) : std::runtime_error("far"), v(x) {}
};
double exception_object_step(double x) {
  if (x > -1e9) throw exception_object_error(x);
  return 1;
}
double exception_object(double x) {
  double r = 0;
  try {
    r = exception_object_step(x * x);
  } catch (const exception_object_error& e) {
    r = 2 * e.v;
  }
  return r;
}
//- exception_fallback refuse
#include <exception>
#include <stdexcept>
double exception_fallback_step(double x) {
  if (x > -1e9) throw std::domain_error("x");
  return x;
}
double exception_fallback(double x) {
  double r;
  try {
    r = exception_fallback_step(x);
  } catch (const std::exception&) {
    r = 5 * x;
  }
  return r;
}
//- exception_text refuse
#include <stdexcept>
#include <string>
double exception_text(double x) {
  try {
    throw std::runtime_error(std::to_string(x));
  } catch (const std::exception& e) {
    return std::stod(e.what());
  }
}
//- exception_unused refuse
#include <stdexcept>
double exception_unused(double x) {
  if (x < -1e9) throw std::domain_error("x");
  try {
    if (x < -1e8) throw std::domain_error("x");
    return x * x;
  } catch (const std::exception&) {
    return 0;
  }
}
//- variadic refuse
#include <cstdarg>
double variadic_sum(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += va_arg(list, double);
  va_end(list);
  return sum;
}
double variadic(double x) { return variadic_sum(2, x, x * x); }
//- vector_arithmetic follow
double vector_arithmetic(double x) {
  typedef double two __attribute__((vector_size(16)));
  two a = {x, 2}, b = a * a;
  return b[0];
}
//- sse follow
#include <immintrin.h>
double sse(double x) {
  __m128d a = _mm_set1_pd(x), b = _mm_mul_pd(a, a);
  return _mm_cvtsd_f64(b);
}
//- sse_store follow
#include <immintrin.h>
double sse_store(double x) {
  double in[2] = {x, 2}, out[2];
  _mm_storeu_pd(out, _mm_add_pd(_mm_loadu_pd(in), _mm_loadu_pd(in)));
  return out[0];
}
//- sse_scalar follow
#include <immintrin.h>
double sse_scalar(double x) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(x), _mm_set_sd(x))); }
//- overload_vector refuse
double overload_vector(double x) {
  typedef float four __attribute__((ext_vector_type(4)));
  four a = {static_cast<float>(x), 1, 2, 3};
  a.y = a.x * a.x;
  return a.y;
}
//- assembler refuse
double assembler(double x) {
  double y = x;
  asm("" : "+x"(y));
  return y * y;
}
//- time_literal follow
#include <chrono>
double time_literal(double x) {
  using namespace std::chrono_literals;
  const std::chrono::duration<double> t(x);
  return t < 2min ? x * x * (3s).count() : x;
}

//- statement_expression follow
double statement_expression(double x) {
  return ({
    double y = x * x;
    y + 1;
  });
}
//- compound_literal follow
struct compound_literal_point {
  double a, b;
};
double compound_literal(double x) { return ((compound_literal_point){x, 2}).a * 3; }
//- variable_length follow
double variable_length(double x) {
  int n = 2;
  double v[n];
  v[0] = x;
  v[1] = v[0] * 2;
  return v[1];
}
//- computed_goto refuse
double computed_goto(double x) {
  void* to = &&there;
  goto* to;
there:
  return x * x;
}
//- jump refuse
double jump(double x) {
  int n = 0;
again:
  x *= 1.5;
  if (++n < 3) goto again;
  return x;
}
//- long_jump refuse
#include <csetjmp>
double long_jump(double x) {
  static std::jmp_buf b;
  volatile double y = 0;
  if (setjmp(b) == 0) {
    y = x;
    std::longjmp(b, 1);
  }
  return y;
}
//- sorted_by_c refuse
#include <cstdlib>
int sorted_by_c_less(const void* a, const void* b) {
  const double p = *static_cast<const double*>(a), q = *static_cast<const double*>(b);
  return p < q ? -1 : p > q;
}
double sorted_by_c(double x) {
  double v[3] = {x + 9, x * 2, 0.5};
  std::qsort(v, 3, sizeof(double), sorted_by_c_less);
  return v[1] * v[2];
}
//- found_by_c refuse
#include <cstdlib>
double found_by_c(double x) {
  double v[3] = {x, x + 1, x + 2}, key = x + 1;
  const void* p = std::bsearch(&key, v, 3, sizeof(double), [](const void* a, const void* b) {
    const double s = *static_cast<const double*>(a), t = *static_cast<const double*>(b);
    return s < t ? -1 : int(s > t);
  });
  return *static_cast<const double*>(p);
}
//- thread refuse
#include <thread>
double thread(double x) {
  double y = 0;
  std::thread t([&] { y = x * x; });
  t.join();
  return y;
}
//- task refuse
#include <future>
double task(double x) {
  return std::async(std::launch::deferred, [x] { return x * x; }).get();
}
//- packaged refuse
#include <future>
double packaged(double x) {
  std::packaged_task<double(double)> t([](double y) { return y * y; });
  t(x);
  return t.get_future().get();
}
//- coroutine refuse
#include <coroutine>
struct coroutine_generator {
  struct promise_type {
    double value = 0;
    coroutine_generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(double v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> h;
};
coroutine_generator coroutine_squares(double x) {
  co_yield x;
  co_yield x* x;
}
double coroutine(double x) {
  auto g = coroutine_squares(x);
  g.h.resume();
  g.h.resume();
  const double y = g.h.promise().value;
  g.h.destroy();
  return y;
}
//- views either
#include <ranges>
#include <vector>
double views(double x) {
  std::vector<double> v{x, 2 * x, 3};
  double sum = 0;
  for (double y : v | std::views::transform([](double a) { return a * a; })) sum += y;
  return sum;
}
//- view_of_first either
#include <ranges>
#include <vector>
double view_of_first(double x) {
  std::vector<double> v{x, 2 * x, 3};
  double sum = 0;
  for (double y : v | std::views::take(2)) sum += y;
  return sum;
}
//- ranges_algorithm follow
#include <algorithm>
#include <array>
double ranges_algorithm(double x) {
  std::array<double, 2> v{x, 2}, w{};
  std::ranges::copy(v, w.begin());
  return w[0];
}
//- ranges_sort follow
#include <algorithm>
#include <vector>
double ranges_sort(double x) {
  std::vector<double> v{x + 5, x};
  std::ranges::sort(v);
  return v[0];
}
//- ranges_for_each follow
#include <algorithm>
#include <vector>
double ranges_for_each(double x) {
  std::vector<double> v{x, 2};
  double sum = 0;
  std::ranges::for_each(v, [&](double y) { sum += y * y; });
  return sum;
}
//- exchange follow
#include <utility>
double exchange(double x) {
  double y = x * x;
  const double old = std::exchange(y, 1);
  return old + y;
}
//- swapped follow
#include <utility>
double swapped(double x) {
  double a = x, b = 2;
  std::swap(a, b);
  return b * b;
}
//- tied follow
#include <tuple>
std::tuple<double, double> tied_pair(double x) { return {x, x * x}; }
double tied(double x) {
  double a, b;
  std::tie(a, b) = tied_pair(x);
  return a + b;
}
//- applied follow
#include <tuple>
double applied(double x) {
  return std::apply([](double a, double b) { return a * b; }, std::make_tuple(x, 3.));
}
//- made_from_tuple refuse
#include <tuple>
struct made_from_tuple_point {
  double a, b;
  made_from_tuple_point(double p, double q) : a(p), b(q) {}
};
double made_from_tuple(double x) {
  const auto p = std::make_from_tuple<made_from_tuple_point>(std::make_tuple(x, 2.));
  return p.a * p.b;
}
//- forwarded_tuple refuse
#include <tuple>
double forwarded_tuple(double x) {
  auto t = std::forward_as_tuple(x, 2);
  return std::get<0>(t) * std::get<0>(t);
}
//- joined_tuples follow
#include <tuple>
double joined_tuples(double x) {
  const auto t = std::tuple_cat(std::make_tuple(x), std::make_tuple(2.));
  return std::get<0>(t) * std::get<1>(t);
}
//- structured follow
#include <utility>
double structured(double x) {
  auto [a, b] = std::pair(x, 2.);
  return a * b;
}
//- list_of_numbers follow
#include <initializer_list>
double list_of_numbers_sum(std::initializer_list<double> l) {
  double sum = 0;
  for (double y : l) sum += y * y;
  return sum;
}
double list_of_numbers(double x) { return list_of_numbers_sum({x, 1, 2 * x}); }
//- optional_chain follow
#include <optional>
double optional_chain(double x) {
  const std::optional<double> a = x;
  return a.value_or(1) * (a.has_value() ? 2 : 3);
}
//- output_iterator refuse
#include <iterator>
#include <sstream>
double output_iterator(double x) {
  std::ostringstream os;
  *std::ostream_iterator<double>(os) = x;
  std::istringstream is(os.str());
  return *std::istream_iterator<double>(is);
}
//- inserted refuse
#include <iterator>
#include <vector>
double inserted(double x) {
  std::vector<double> v;
  auto it = std::back_inserter(v);
  *it++ = x;
  return v[0] * 2;
}
//- moved_iterator follow
#include <iterator>
#include <vector>
double moved_iterator(double x) {
  std::vector<double> v{x, 2};
  return *std::make_move_iterator(v.begin());
}
//- reversed follow
#include <vector>
double reversed(double x) {
  std::vector<double> v{x, 2};
  double sum = 0;
  for (auto it = v.rbegin(); it != v.rend(); ++it) sum = 2 * sum + *it;
  return sum;
}
//- scope_guard refuse
struct scope_guard_writer {
  double& to;
  double from;
  ~scope_guard_writer() { to = from * from; }
};
double scope_guard(double x) {
  double y = 0;
  {
    scope_guard_writer w{y, x};
  }
  return y;
}
//- temporary_destructor refuse
struct temporary_destructor_writer {
  double* to;
  double from;
  ~temporary_destructor_writer() { *to = from; }
};
double temporary_destructor(double x) {
  double y = 0;
  temporary_destructor_writer{&y, x};
  return y * y;
}
//- conversion follow
struct conversion_celsius {
  double v;
  operator double() const { return v * 2; }
};
double conversion(double x) {
  conversion_celsius c{x};
  return c + 1;
}
//- virtual_call follow
struct virtual_call_shape {
  virtual double area(double x) const = 0;
  virtual ~virtual_call_shape() = default;
};
struct virtual_call_square : virtual_call_shape {
  double area(double x) const override { return x * x; }
};
double virtual_call_of(const virtual_call_shape& s, double x) { return s.area(x); }
double virtual_call(double x) {
  virtual_call_square s;
  return virtual_call_of(s, x);
}
//- lambda_state follow
double lambda_state(double x) {
  auto add = [sum = 0.](double y) mutable { return sum += y; };
  add(x);
  return add(2 * x);
}
//- generic_lambda follow
double generic_lambda(double x) {
  auto twice = [](auto f, auto y) { return f(f(y)); };
  return twice([](double y) { return y * y; }, x);
}
//- recursive_lambda follow
double recursive_lambda(double x) {
  auto power = [](auto self, double y, int n) -> double { return n == 0 ? 1 : y * self(self, y, n - 1); };
  return power(power, x, 3);
}
//- recursive_function refuse
#include <functional>
double recursive_function(double x) {
  std::function<double(double, int)> power = [&](double y, int n) {
    return n == 0 ? 1. : y * power(y, n - 1);
  };
  return power(x, 3);
}
//- function_table follow
double function_table_a(double x) { return x * x; }
double function_table_b(double x) { return 3 * x; }
double function_table(double x) {
  double (*t[])(double) = {function_table_a, function_table_b};
  return t[0](x) + t[1](x);
}
//- default_argument follow
double default_argument_base = 2;
double default_argument_of(double x, double k = default_argument_base) { return x * k; }
double default_argument(double x) { return default_argument_of(x); }
//- pointer_to_pointer refuse
double pointer_to_pointer(double x) {
  double y = 0, *p = &y, **q = &p;
  **q = x;
  return y * y;
}
//- array_of_pointers follow
double array_of_pointers(double x) {
  double a = 0, b = 0, *p[2] = {&a, &b};
  *p[1] = x;
  return b;
}
//- cast_of_struct follow
struct cast_of_struct_point {
  double a, b;
};
double cast_of_struct(double x) {
  cast_of_struct_point p{1, x};
  return reinterpret_cast<double*>(&p)[1];
}
//- cast_to_struct refuse
struct cast_to_struct_point {
  double a, b;
};
double cast_to_struct(double x) {
  double v[2] = {x, 2};
  const auto* p = reinterpret_cast<const cast_to_struct_point*>(v);
  return p->a * p->b;
}
//- cast_of_complex refuse
#include <complex>
double cast_of_complex(double x) {
  std::complex<double> z(1, x);
  return reinterpret_cast<double(&)[2]>(z)[1];
}
//- cast_of_complexes refuse
#include <complex>
#include <vector>
double cast_of_complexes(double x) {
  std::vector<std::complex<double>> z{{1, x}, {2, 3}};
  auto* p = reinterpret_cast<double(*)[2]>(z.data());
  return p[0][1];
}
//- copied_struct follow
#include <cstring>
struct copied_struct_point {
  double a, b;
};
double copied_struct(double x) {
  copied_struct_point p{x, 2}, q;
  std::memcpy(&q, &p, sizeof p);
  return q.a * q.b;
}
//- copied_array follow
#include <cstring>
double copied_array(double x) {
  double a[3] = {x, 2, 3}, b[3];
  std::memcpy(b, a, sizeof a);
  return b[0] * b[1];
}
//- copied_into_struct refuse
#include <cstring>
struct copied_into_struct_point {
  double a, b;
};
double copied_into_struct(double x) {
  double a[2] = {x, 2};
  copied_into_struct_point p;
  std::memcpy(&p, a, sizeof a);
  return p.a * p.b;
}
//- moved_bytes follow
#include <cstring>
double moved_bytes(double x) {
  double a[3] = {x, 2, 3};
  std::memmove(a + 1, a, 2 * sizeof(double));
  return a[1];
}
//- offset_of refuse
#include <cstddef>
struct offset_of_point {
  double a, b;
};
double offset_of(double x) {
  offset_of_point p{1, x};
  return *reinterpret_cast<double*>(reinterpret_cast<char*>(&p) + offsetof(offset_of_point, b));
}
//- fast_inverse refuse
#include <cstring>
float fast_inverse_root(float x) {
  const float half = 0.5f * x;
  int i;
  std::memcpy(&i, &x, 4);
  i = 0x5f3759df - (i >> 1);
  std::memcpy(&x, &i, 4);
  return x * (1.5f - half * x * x);
}
double fast_inverse(double x) { return fast_inverse_root(static_cast<float>(x)); }
//- sign_by_bits refuse
#include <bit>
#include <cstdint>
double sign_by_bits(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ (1ull << 63));
}
//- extrema follow
#include <algorithm>
double extrema(double x) {
  auto [low, high] = std::minmax({x, x + 2, x - 3});
  return low * high;
}
//- clamped follow
#include <algorithm>
double clamped(double x) { return std::clamp(x * x, -100., 100.) * std::max({x, x - 1, -50.}); }
//- interpolated follow
#include <cmath>
#include <numeric>
double interpolated(double x) { return std::lerp(x, 2 * x, 0.25) + std::midpoint(x, 3.); }
//- decomposed follow
#include <cmath>
double decomposed(double x) {
  int e;
  const double m = std::frexp(x, &e);
  return std::ldexp(m, e) * 2;
}
//- fraction follow
#include <cmath>
double fraction(double x) {
  double whole;
  return std::modf(x, &whole) * 3 + whole;
}
//- classified follow
#include <cmath>
double classified(double x) { return std::isnan(x) || std::signbit(x) ? 0 : x * std::copysign(2., x); }
//- gnu_builtin refuse
double gnu_builtin(double x) { return __builtin_fabs(x) * __builtin_sqrt(x * x + 1) + __builtin_powi(x, 3); }
//- gnu_expect follow
double gnu_expect(double x) { return __builtin_expect_with_probability(x > 0, 1, 0.9) ? x * x : -x; }
//- assumed_aligned follow
double assumed_aligned(double x) {
  alignas(16) double v[2] = {x, 2};
  const auto* p = static_cast<double*>(__builtin_assume_aligned(v, 16));
  return p[0] * p[1];
}
//- std_assumed_aligned follow
#include <memory>
double std_assumed_aligned(double x) {
  alignas(16) double v[2] = {x, 2};
  const double* p = std::assume_aligned<16>(v);
  return p[0] * p[1];
}
//- to_address follow
#include <memory>
#include <vector>
double to_address(double x) {
  std::vector<double> v{x, 2};
  return *std::to_address(v.begin()) * 2;
}
//- constructed_at follow
#include <memory>
double constructed_at(double x) {
  double y = 0;
  std::construct_at(&y, x);
  return y * y;
}
//- uninitialized follow
#include <memory>
double uninitialized(double x) {
  double a[2] = {x, 2}, b[2];
  std::uninitialized_copy(a, a + 2, b);
  return b[0];
}
//- aliased follow
double aliased(double x) {
  double y = 0;
  double &a = y, &b = a;
  b = x;
  return a * y;
}
//- aliased_parameter follow
void aliased_parameter_set(double& a, const double& b) {
  a = 2;
  a = a * b;
}
double aliased_parameter(double x) {
  double y = x;
  aliased_parameter_set(y, y);
  double z = 1;
  aliased_parameter_set(z, x);
  return y + z;
}
//- returned_reference follow
double& returned_reference_of(double& a) { return a; }
double returned_reference(double x) {
  double y = 1;
  returned_reference_of(y) = x;
  returned_reference_of(y) *= x;
  return y;
}
//- member_data_pointer follow
struct member_data_pointer_point {
  double a, b;
};
double member_data_pointer(double x) {
  member_data_pointer_point p{1, 2};
  double member_data_pointer_point::* m = &member_data_pointer_point::b;
  p.*m = x;
  return p.b * p.a;
}
//- static_local refuse
double static_local(double x) {
  static double last;
  last = x;
  return last * 2;
}
//- static_object refuse
struct static_object_state {
  double v = 0;
};
double static_object(double x) {
  static static_object_state s;
  s.v = x;
  return s.v;
}
//- static_cache refuse
#include <map>
double static_cache(double x) {
  static std::map<int, double> cache;
  cache[1] = x * x;
  return cache[1];
}
//- unseen refuse
extern "C" double unseen_identity(double* p) __attribute__((weak));
extern "C" double unseen_identity(double* p);
double unseen(double x) { return unseen_identity ? unseen_identity(&x) : x; }
//- regular_integral follow
double regular_integral(double x) {
  const int n = static_cast<int>(x * 4);
  return n * 0. + x * x;
}
//- random follow
#include <random>
double random_scaled(double x) {
  std::mt19937 g(3);
  std::normal_distribution<double> d;
  return x * d(g);
}
double random(double x) { return random_scaled(x); }
//- random_given refuse
#include <random>
double random_given(double x) {
  std::mt19937 g(3);
  std::normal_distribution<double> d(x, 1);
  return d(g);
}
//- generated_canonical follow
#include <random>
double generated_canonical(double x) {
  std::mt19937 g(3);
  return x * std::generate_canonical<double, 53>(g);
}
//- accumulated follow
#include <numeric>
#include <vector>
double accumulated(double x) {
  std::vector<double> v{x, 2 * x};
  return std::accumulate(v.begin(), v.end(), 1., [](double a, double b) { return a * b; });
}
//- accumulated_list refuse
#include <list>
#include <numeric>
double accumulated_list(double x) {
  std::list<double> v{x, 2 * x};
  return std::accumulate(v.begin(), v.end(), 0.);
}
//- permuted follow
#include <algorithm>
#include <vector>
double permuted(double x) {
  std::vector<double> v{x, x + 1, x + 2};
  std::next_permutation(v.begin(), v.end());
  return v[1] * 2;
}
//- shuffled follow
#include <algorithm>
#include <random>
#include <vector>
double shuffled(double x) {
  std::vector<double> v{x, x + 1, x + 2};
  std::mt19937 g(1);
  std::shuffle(v.begin(), v.end(), g);
  return v[0] * 2 + v[1];
}
//- sampled follow
#include <algorithm>
#include <random>
#include <vector>
double sampled(double x) {
  std::vector<double> v{x, x + 1, x + 2}, w;
  std::sample(v.begin(), v.end(), std::back_inserter(w), 2, std::mt19937{1});
  return w[0] + w[1];
}
//- heaped follow
#include <algorithm>
#include <vector>
double heaped(double x) {
  std::vector<double> v{x, x + 1, x + 2};
  std::make_heap(v.begin(), v.end());
  std::pop_heap(v.begin(), v.end());
  return v.back() * v.front();
}
//- sorted_pairs follow
#include <algorithm>
#include <utility>
#include <vector>
double sorted_pairs(double x) {
  std::vector<std::pair<double, int>> v{{x + 3, 1}, {x, 2}};
  std::sort(v.begin(), v.end());
  return v[0].first * 2;
}
//- polynomial_special follow
#include <cmath>
double polynomial_special(double x) {
  return std::legendre(2, x / 10) + std::hermite(2, x) + std::assoc_laguerre(1, 1, x);
}
//- hashed follow
#include <functional>
double hashed(double x) { return std::hash<double>()(x) ? x * x : x * x; }
//- unsequenced_policy follow
#include <functional>
struct unsequenced_policy_state {
  double v = 0;
};
double unsequenced_policy(double x) {
  unsequenced_policy_state s;
  const auto set = [p = &s](double y) { p->v = y; };
  set(x);
  return s.v * s.v;
}
//- null_output follow
void null_output_of(double x, double* o, double* optional) {
  *o = x * x;
  if (optional) *optional = x;
}
double null_output(double x) {
  double o = 0, t = 0;
  null_output_of(x, &o, nullptr);
  null_output_of(x, &t, x > 1e9 ? &o : nullptr);
  return o + t;
}
//- explicit_of_reference follow
struct explicit_of_reference_value {
  double x;
  explicit explicit_of_reference_value(const double& a) : x(a) {}
};
double explicit_of_reference(double x) {
  explicit_of_reference_value v(.5), w(x);
  return v.x * w.x;
}
//- dot_of_members follow
struct dot_of_members_point {
  double x, y, z;
};
double dot_of_members_of(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
double dot_of_members(double x) {
  dot_of_members_point v{x, 2, 3};
  return dot_of_members_of(&v.x, (const double*)&v, 3);
}
//- container_of refuse
#include <cstddef>
struct container_of_node {
  double v;
  int link;
};
double container_of_read(int* link) {
  return reinterpret_cast<container_of_node*>(reinterpret_cast<char*>(link) -
                                              offsetof(container_of_node, link))
      ->v;
}
double container_of(double x) {
  container_of_node n{x, 1};
  return container_of_read(&n.link);
}
//- deleted_by_count refuse
struct deleted_by_count_value {
  double v;
  int count;
};
void deleted_by_count_drop(deleted_by_count_value* p) {
  if (--p->count < 0) delete p;
}
double deleted_by_count(double x) {
  auto* p = new deleted_by_count_value{x, 0};
  const double y = p->v * p->v;
  deleted_by_count_drop(p);
  return y;
}
//- local_class follow
double local_class(double x) {
  struct local {
    double v;
    double square() const { return v * v; }
  };
  return local{x}.square();
}
//- comma follow
double comma(double x) {
  double y = (x += 1, x * x);
  return y;
}
//- conditional_place follow
double conditional_place(double x) {
  double a = 1, b = 2;
  (x > 0 ? a : b) = x;
  return a * b;
}
//- compared_strings follow
#include <string>
double compared_strings(double x) {
  std::string s = "x";
  s += std::to_string(3);
  return s.size() * x;
}
//- logged follow
#include <cstdio>
#include <sstream>
#include <string>
double logged(double x) {
  std::ostringstream os;
  os << "x = " << x;
  const std::string line = os.str() + std::to_string(x);
  std::fprintf(stderr, "%.0s", line.c_str());
  return x * x;
}
//- printed follow
#include <cstdio>
#include <iostream>
double printed(double x) {
  if (x < -1e9) std::cerr << x << '\n';
  if (x < -1e9) std::printf("%g\n", x);
  return x * x;
}
//- formatted_number refuse
#include <cstdio>
#include <cstdlib>
double formatted_number(double x) {
  char b[40];
  std::sprintf(b, "%.15e", x);
  return std::atof(b);
}
//- wide_text refuse
#include <string>
double wide_text(double x) { return std::stod(std::to_wstring(x)); }
//- parsed_parts refuse
#include <sstream>
#include <string>
double parsed_parts_read(std::istream& in) {
  double x = 0;
  in >> x;
  return x;
}
double parsed_parts(double x) {
  std::stringstream s;
  s << x;
  return parsed_parts_read(s);
}
//- complex_functions follow
#include <complex>
double complex_functions(double x) {
  const std::complex<double> z = std::polar(x, 0.5) * std::complex<double>(0, 1);
  return std::norm(z) + z.real();
}
//- complex_parts follow
#include <complex>
double complex_parts(double x) {
  std::complex<double> z;
  z.real(x);
  z.imag(2 * x);
  return std::real(z * std::conj(z));
}
//- integer_template follow
template <int N>
double integer_template_power(double x) {
  if constexpr (N == 0)
    return 1;
  else
    return x * integer_template_power<N - 1>(x);
}
double integer_template(double x) { return integer_template_power<3>(x); }
//- parameter_pack follow
template <class... T>
double parameter_pack_sum(T... x) {
  return (x + ...);
}
double parameter_pack(double x) { return parameter_pack_sum(x, 2 * x, 3.f); }
//- perfect_forwarding follow
#include <utility>
template <class F, class... A>
double perfect_forwarding_call(F&& f, A&&... a) {
  return std::forward<F>(f)(std::forward<A>(a)...);
}
double perfect_forwarding(double x) {
  return perfect_forwarding_call([](double& a, double b) { return a *= b; }, x, 3.);
}
//- trigonometric follow
#include <cmath>
double trigonometric(double x) {
  return std::sin(x) + 2 * std::cos(x) + std::tan(x / 9) + std::asin(x / 9) + 3 * std::acos(x / 9) +
         std::atan(x) + std::atan2(x, 2.) - std::atan2(3., x);
}
//- hyperbolic follow
#include <cmath>
double hyperbolic(double x) {
  return std::sinh(x) + 2 * std::cosh(x) + std::tanh(x) + std::asinh(x) + std::acosh(x + 2) +
         std::atanh(x / 9);
}
//- powers follow
#include <cmath>
double powers(double x) {
  return std::pow(x, 1.5) + std::pow(2., x) + std::exp(x / 2) + std::exp2(x / 2) + std::expm1(x / 3) +
         std::log(x) + 2 * std::log10(x) + 3 * std::log2(x) + std::log1p(x) + std::sqrt(x) + std::cbrt(x) +
         std::hypot(x, 2.) + std::hypot(x, 2., x * x);
}
//- nearest_whole follow
#include <cmath>
double nearest_whole(double x) {
  return x * (std::floor(2 * x) + 2 * std::ceil(2 * x) + 4 * std::trunc(2 * x) + 8 * std::round(2 * x)) +
         x * (std::rint(2 * x) + 2 * std::nearbyint(2 * x) + 4 * std::logb(2 * x)) * x;
}
//- nearest_integer follow
#include <cmath>
double nearest_integer(double x) {
  return x * (std::lrint(2 * x) + 2 * std::llrint(2 * x) + 4 * std::lround(2 * x) + 8 * std::llround(2 * x) +
              16 * std::ilogb(2 * x));
}
//- chosen_part follow
#include <cmath>
double chosen_part(double x) {
  return std::fmod(x, 9.) + 2 * std::remainder(x, 99.) + 4 * std::fdim(x, -1.) + 8 * std::fmax(x, -1.) +
         16 * std::fmin(x, 99.) + std::fma(x, x, 2 * x) + 32 * std::copysign(x, -1.) + 64 * std::fabs(x) +
         128 * std::abs(x);
}
//- quotient_and_rest follow remquo remquof remquol
#include <cmath>
double quotient_and_rest(double x) {
  int n;
  return std::OF(x, 9, &n) * x + n;
}
//- classified_as follow
#include <cmath>
double classified_as(double x) {
  const bool number = std::isfinite(x) && !std::isinf(x) && !std::isnan(x);
  return number && std::isnormal(x) && std::fpclassify(x) == FP_NORMAL && !std::signbit(x) ? x * x : -x;
}
//- compared_as follow
#include <cmath>
double compared_as(double x) {
  if (std::isunordered(x, -1) || std::islessequal(x, -1)) return -x;
  return std::isless(-1, x) && std::isgreater(x, -1) && std::isgreaterequal(x, -1) &&
                 std::islessgreater(x, -1)
             ? x * x
             : x;
}
//- special_functions follow
#include <cmath>
double special_functions(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 30 * std::erf(t) + 50 * std::erfc(t) + 8 * std::tgamma(t) + 10 * std::lgamma(t) +
         7 * std::expint(t) + 4 * std::riemann_zeta(t) + 30 * std::comp_ellint_1(t) +
         40 * std::comp_ellint_2(t);
}
//- special_functions_of_two follow
#include <cmath>
double special_functions_of_two(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 6 * std::beta(0.5, t) + 30 * std::cyl_bessel_i(0.5, t) + 60 * std::cyl_bessel_j(0.5, t) +
         10 * std::cyl_bessel_k(0.5, t) + 20 * std::cyl_neumann(0.5, t) + 20 * std::ellint_1(0.5, t) +
         20 * std::ellint_2(0.5, t) + 6 * std::comp_ellint_3(0.5, t);
}
//- special_functions_of_first follow
#include <cmath>
double special_functions_of_first(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 7 * std::beta(t, 0.9) + 30 * std::cyl_bessel_i(t, 0.9) + 50 * std::cyl_bessel_j(t, 0.9) +
         90 * std::cyl_bessel_k(t, 0.9) + 30 * std::cyl_neumann(t, 0.9) + 200 * std::ellint_1(t, 0.9) +
         200 * std::ellint_2(t, 0.9) + 6 * std::comp_ellint_3(t, 0.9);
}
//- special_polynomials follow
#include <cmath>
double special_polynomials(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 5 * std::hermite(2, t) + 20 * std::laguerre(2, t) + 10 * std::legendre(2, t) +
         300 * std::sph_bessel(2, t) + 10 * std::sph_neumann(2, t + 1) + 9 * std::assoc_laguerre(2, 1, t) +
         20 * std::assoc_legendre(2, 1, t) + 90 * std::sph_legendre(2, 1, t) + 20 * std::ellint_3(t, 0.5, t);
}
//- extended_functions follow
#include <cmath>
double extended_functions(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 30 * std::erfl(t) + 50 * std::erfcl(t) + 8 * std::tgammal(t) + 10 * std::lgammal(t) +
         7 * std::expintl(t) + 4 * std::riemann_zetal(t) + 30 * std::comp_ellint_1l(t) +
         40 * std::comp_ellint_2l(t) + 40 * std::cbrtl(t) + 20 * std::exp2l(t) + 10 * std::expm1l(t) +
         30 * std::log1pl(t) + 9 * std::log2l(t) + 30 * std::asinhl(t) + 10 * std::atanhl(t) +
         50 * std::acoshl(t + 2);
}
//- extended_functions_of_two follow
#include <cmath>
double extended_functions_of_two(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 6 * std::betal(0.5, t) + 30 * std::cyl_bessel_il(0.5, t) + 60 * std::cyl_bessel_jl(0.5, t) +
         10 * std::cyl_bessel_kl(0.5, t) + 20 * std::cyl_neumannl(0.5, t) + 20 * std::ellint_1l(0.5, t) +
         20 * std::ellint_2l(0.5, t) + 6 * std::comp_ellint_3l(0.5, t);
}
//- extended_functions_of_first follow
#include <cmath>
double extended_functions_of_first(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 7 * std::betal(t, 0.9) + 30 * std::cyl_bessel_il(t, 0.9) + 50 * std::cyl_bessel_jl(t, 0.9) +
         90 * std::cyl_bessel_kl(t, 0.9) + 30 * std::cyl_neumannl(t, 0.9) + 200 * std::ellint_1l(t, 0.9) +
         200 * std::ellint_2l(t, 0.9) + 6 * std::comp_ellint_3l(t, 0.9);
}
//- extended_polynomials follow
#include <cmath>
double extended_polynomials(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 5 * std::hermitel(2, t) + 20 * std::laguerrel(2, t) + 10 * std::legendrel(2, t) +
         300 * std::sph_bessell(2, t) + 10 * std::sph_neumannl(2, t + 1) + 9 * std::assoc_laguerrel(2, 1, t) +
         20 * std::assoc_legendrel(2, 1, t) + 90 * std::sph_legendrel(2, 1, t) +
         20 * std::ellint_3l(t, 0.5, t);
}
//- extended_parts follow
#include <cmath>
double extended_parts(double x) {
  return 6 * std::copysignl(x, -3 * x) + 2 * std::fdiml(x, -3 * x) + 6 * std::fmaxl(x, -3 * x) +
         2 * std::fminl(x, -3 * x) + 2 * std::hypotl(x, -3 * x) + 6 * std::remainderl(x, -3 * x) +
         0.7 * std::fmal(x, 2 * x, 3 * x) + 2 * std::scalbnl(x, 2) + 2 * std::scalblnl(x, 2) +
         6 * std::nextafterl(x, 9) + 6 * std::nexttowardl(x, 9);
}
//- single_functions_1 follow
#include <cmath>
double single_functions_1(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 30 * std::erff(t) + 7 * std::expintf(t) + 40 * std::cbrtf(t) + 9 * std::log2f(t);
}
//- single_functions_2 follow
#include <cmath>
double single_functions_2(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 50 * std::erfcf(t) + 4 * std::riemann_zetaf(t) + 20 * std::exp2f(t) + 30 * std::asinhf(t);
}
//- single_functions_3 follow
#include <cmath>
double single_functions_3(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 8 * std::tgammaf(t) + 30 * std::comp_ellint_1f(t) + 10 * std::expm1f(t) + 10 * std::atanhf(t);
}
//- single_functions_4 follow
#include <cmath>
double single_functions_4(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 10 * std::lgammaf(t) + 40 * std::comp_ellint_2f(t) + 30 * std::log1pf(t) + 50 * std::acoshf(t + 2);
}
//- single_functions_of_two_1 follow
#include <cmath>
double single_functions_of_two_1(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 6 * std::betaf(0.5, t) + 60 * std::cyl_bessel_jf(0.5, t) + 20 * std::cyl_neumannf(0.5, t) +
         20 * std::ellint_2f(0.5, t);
}
//- single_functions_of_two_2 follow
#include <cmath>
double single_functions_of_two_2(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 30 * std::cyl_bessel_if(0.5, t) + 10 * std::cyl_bessel_kf(0.5, t) + 20 * std::ellint_1f(0.5, t) +
         6 * std::comp_ellint_3f(0.5, t);
}
//- single_functions_of_first_1 follow
#include <cmath>
double single_functions_of_first_1(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 7 * std::betaf(t, 0.9) + 50 * std::cyl_bessel_jf(t, 0.9) + 30 * std::cyl_neumannf(t, 0.9) +
         200 * std::ellint_2f(t, 0.9);
}
//- single_functions_of_first_2 follow
#include <cmath>
double single_functions_of_first_2(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 30 * std::cyl_bessel_if(t, 0.9) + 90 * std::cyl_bessel_kf(t, 0.9) + 200 * std::ellint_1f(t, 0.9) +
         6 * std::comp_ellint_3f(t, 0.9);
}
//- single_polynomials_1 follow
#include <cmath>
double single_polynomials_1(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 5 * std::hermitef(2, t) + 300 * std::sph_besself(2, t) + 20 * std::assoc_legendref(2, 1, t);
}
//- single_polynomials_2 follow
#include <cmath>
double single_polynomials_2(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 20 * std::laguerref(2, t) + 10 * std::sph_neumannf(2, t + 1) + 90 * std::sph_legendref(2, 1, t);
}
//- single_polynomials_3 follow
#include <cmath>
double single_polynomials_3(double x) {
  const double t = 0.9 - 0.9 / (1 + x * x);
  return 10 * std::legendref(2, t) + 9 * std::assoc_laguerref(2, 1, t) + 20 * std::ellint_3f(t, 0.5, t);
}
//- single_parts_1 follow
#include <cmath>
double single_parts_1(double x) {
  return 6 * std::copysignf(x, -3 * x) + 2 * std::fminf(x, -3 * x) + 0.7 * std::fmaf(x, 2 * x, 3 * x) +
         6 * std::nextafterf(x, 9);
}
//- single_parts_2 follow
#include <cmath>
double single_parts_2(double x) {
  return 2 * std::fdimf(x, -3 * x) + 2 * std::hypotf(x, -3 * x) + 2 * std::scalbnf(x, 2) +
         6 * std::nexttowardf(x, 9);
}
//- single_parts_3 follow
#include <cmath>
double single_parts_3(double x) {
  return 6 * std::fmaxf(x, -3 * x) + 6 * std::remainderf(x, -3 * x) + 2 * std::scalblnf(x, 2);
}
//- scaled_by_power follow
#include <cmath>
double scaled_by_power(double x) {
  return std::ldexp(x, 2) * x + 2 * std::scalbn(x, 3) + 3 * std::scalbln(x, 4);
}
//- neighbour follow
#include <cmath>
double neighbour(double x) { return std::nextafter(x, 9) * x + 2 * std::nexttoward(x, 9); }
//- single_or_extended_whole follow
#include <cmath>
double single_or_extended_whole(double x) {
  return x * (std::rintf(2 * x) + std::roundf(2 * x) + std::truncf(2 * x) + std::nearbyintf(2 * x) +
              std::logbf(2 * x)) +
         x * (std::rintl(2 * x) + std::roundl(2 * x) + std::truncl(2 * x) + std::nearbyintl(2 * x) +
              std::logbl(2 * x));
}
//- single_or_extended_integer follow
#include <cmath>
double single_or_extended_integer(double x) {
  return x * (std::lrintf(2 * x) + std::lroundf(2 * x) + std::llrintf(2 * x) + std::llroundf(2 * x) +
              std::ilogbf(2 * x)) +
         x * (std::lrintl(2 * x) + std::lroundl(2 * x) + std::llrintl(2 * x) + std::llroundl(2 * x) +
              std::ilogbl(2 * x));
}
//- middle_of follow midpoint lerp
#include <cmath>
#include <numeric>
double middle_of(double x) { return std::midpoint(x * x, 3.) + std::lerp(1., x, 0.25) * std::lerp(x, 2., x); }
//- rearranged follow sort stable_sort reverse make_heap push_heap next_permutation prev_permutation
//- rearranged follow ranges::sort ranges::stable_sort ranges::reverse ranges::make_heap ranges::push_heap
//- rearranged follow ranges::next_permutation ranges::prev_permutation
#include <algorithm>
#include <vector>
double rearranged(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x};
  std::OF(v.begin(), v.end());
  return v[0] + 2 * v[1] * x + 4 * v[2];
}
//- rearranged_heap follow pop_heap sort_heap ranges::pop_heap ranges::sort_heap
#include <algorithm>
#include <vector>
double rearranged_heap(double x) {
  std::vector<double> v{3 * x, x + 1, x * x / 9};
  std::OF(v.begin(), v.end());
  return v[0] + 2 * v[1] * x + 4 * v[2];
}
//- named_in_header follow
double* named_in_header_next(double* at, double* end, double least) {
  while (at != end) {
    if (*at > least) return at;
    ++at;
  }
  return end;
}
double named_in_header(double x) {
  double v[4] = {x, x * x, 9, 3 * x}, sum = 0;
  for (double* p = named_in_header_next(v, v + 4, 0.5); p != v + 4;
       p = named_in_header_next(p + 1, v + 4, 0.7))
    sum += *p * x;
  return sum;
}
//- named_in_range follow
#include <vector>
std::vector<double>& named_in_range_of(std::vector<double>& a, std::vector<double>& b, double least) {
  for (const double y : a)
    if (y > least) return a;
  return b;
}
double named_in_range(double x) {
  std::vector<double> a{x, x * x}, b{3 * x, 2};
  double sum = 0;
  for (double& y : named_in_range_of(a, b, 1)) {
    y *= x;
    sum += y;
  }
  return sum + a[0] * b[0];
}
//- ended_by_count refuse
struct ended_by_count_holder {
  double* p = new double[1];
  int* n;
  explicit ended_by_count_holder(int* count) : n(count) {}
  ~ended_by_count_holder() {
    if (--*n == 0) delete[] p;
  }
};
double ended_by_count(double x) {
  int n = 1;
  {
    ended_by_count_holder h(&n);
    h.p[0] = x;
    x *= h.p[0];
  }
  return x * (n + 2);
}
//- ended_by_change refuse
struct ended_by_change_holder {
  double* p = new double[1];
  double* q;
  explicit ended_by_change_holder(double* other) : q(other) {}
  ~ended_by_change_holder() { clear(); }
  void clear() {
    if ((q[0] = 5) > 0) delete[] p;
  }
};
double ended_by_change(double x) {
  double v[1] = {x};
  {
    ended_by_change_holder h(v);
    h.p[0] = x;
    x *= h.p[0];
  }
  return x * v[0];
}
//- merged_in_place follow inplace_merge ranges::inplace_merge
#include <algorithm>
#include <vector>
double merged_in_place(double x) {
  std::vector<double> v{x * x / 9, x, x + 1};
  std::OF(v.begin(), v.begin() + 1, v.end());
  return v[0] + 2 * v[1] * x + 4 * v[2];
}
//- rearranged_around follow rotate nth_element partial_sort ranges::rotate ranges::nth_element
//- rearranged_around follow ranges::partial_sort
#include <algorithm>
#include <vector>
double rearranged_around(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x};
  std::OF(v.begin(), v.begin() + 1, v.end());
  return v[0] + 2 * v[1] * x + 4 * v[2];
}
//- rearranged_by follow partition stable_partition remove_if ranges::partition ranges::stable_partition
//- rearranged_by follow ranges::remove_if
#include <algorithm>
#include <vector>
double rearranged_by(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x};
  std::OF(v.begin(), v.end(), [](double y) { return y < 1; });
  return v[0] * x;
}
//- shifted follow shift_left shift_right
#include <algorithm>
#include <vector>
double shifted(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x};
  std::OF(v.begin(), v.end(), 1);
  return v[1] * x;
}
//- removed follow remove ranges::remove
#include <algorithm>
#include <vector>
double removed(double x) {
  std::vector<double> v{7, x * x, 7, 3 * x};
  std::OF(v.begin(), v.end(), 7.);
  return v[0] * v[1];
}
//- made_unique follow unique ranges::unique
#include <algorithm>
#include <vector>
double made_unique(double x) {
  std::vector<double> v{x, x, x * x};
  std::OF(v.begin(), v.end());
  return v[0] * v[1];
}
//- shuffled_old refuse
#include <algorithm>
#include <vector>
double shuffled_old(double x) {
  std::vector<double> v{x, x};
  std::random_shuffle(v.begin(), v.end());
  return v[0] * v[1];
}
//- shuffled_by follow shuffle ranges::shuffle
#include <algorithm>
#include <random>
#include <vector>
double shuffled_by(double x) {
  std::vector<double> v{x, x + 1, x + 2};
  std::mt19937 g(1);
  std::OF(v.begin(), v.end(), g);
  return v[0] * 2 + v[1];
}
//- sampled_by follow sample ranges::sample
#include <algorithm>
#include <random>
#include <vector>
double sampled_by(double x) {
  std::vector<double> v{x, x + 1, x + 2}, w(2);
  std::OF(v.begin(), v.end(), w.begin(), 2, std::mt19937{1});
  return w[0] * w[1];
}
//- replaced follow replace ranges::replace
#include <algorithm>
#include <vector>
double replaced(double x) {
  std::vector<double> v{7, x, 7};
  std::OF(v.begin(), v.end(), 7., x * x);
  return v[0] * v[1] + v[2];
}
//- replaced_if follow replace_if ranges::replace_if
#include <algorithm>
#include <vector>
double replaced_if(double x) {
  std::vector<double> v{7, x, 7};
  std::OF(v.begin(), v.end(), [](double y) { return y > 6; }, x * x);
  return v[0] * v[1] + v[2];
}
//- filled follow fill iota ranges::fill
//- filled follow uninitialized_fill ranges::uninitialized_fill
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>
double filled(double x) {
  std::vector<double> v(3);
  std::OF(v.begin(), v.end(), x);
  return v[0] * v[1] + v[2];
}
//- filled_array follow fill iota ranges::fill
//- filled_array follow uninitialized_fill ranges::uninitialized_fill
#include <algorithm>
#include <memory>
#include <numeric>
double filled_array(double x) {
  double v[3] = {};
  std::OF(v, v + 3, x);
  return v[0] * v[1] + v[2];
}
//- filled_count follow fill_n ranges::fill_n
//- filled_count follow uninitialized_fill_n ranges::uninitialized_fill_n
#include <algorithm>
#include <memory>
double filled_count(double x) {
  double v[3] = {};
  std::OF(v, 3, x);
  return v[0] * v[1] + v[2];
}
//- generated follow generate ranges::generate
#include <algorithm>
#include <vector>
double generated(double x) {
  std::vector<double> v(3);
  double y = x;
  std::OF(v.begin(), v.end(), [&] { return y *= x; });
  return v[0] * v[1] + v[2];
}
//- generated_count follow generate_n ranges::generate_n
#include <algorithm>
#include <vector>
double generated_count(double x) {
  std::vector<double> v(3);
  double y = x;
  std::OF(v.begin(), 2, [&] { return y *= x; });
  return v[0] * v[1] + v[2];
}
//- each_of follow for_each ranges::for_each
#include <algorithm>
#include <vector>
double each_of(double x) {
  std::vector<double> v{x, 2 * x};
  double sum = 0;
  std::OF(v.begin(), v.end(), [&](double& y) { sum += y *= y; });
  return v[0] * v[1] + sum;
}
//- each_of_count follow for_each_n ranges::for_each_n
#include <algorithm>
#include <vector>
double each_of_count(double x) {
  std::vector<double> v{x, 2 * x};
  double sum = 0;
  std::OF(v.begin(), 2, [&](double& y) { sum += y *= y; });
  return v[0] * v[1] + sum;
}
//- found_extreme follow max_element min_element is_sorted_until is_heap_until ranges::max_element
//- found_extreme follow ranges::min_element ranges::is_sorted_until ranges::is_heap_until
#include <algorithm>
#include <vector>
double found_extreme(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x};
  return *std::OF(v.begin(), v.end()) * x;
}
//- found_extremes follow minmax_element
//- found_extremes refuse ranges::minmax_element
#include <algorithm>
#include <vector>
double found_extremes(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x};
  const auto [a, b] = std::OF(v.begin(), v.end());
  return *a * *b;
}
//- found_neighbours follow adjacent_find ranges::adjacent_find
#include <algorithm>
#include <functional>
#include <vector>
double found_neighbours(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x, 1, 0};
  return *std::OF(v.begin(), v.end(), std::greater<>()) * x;
}
//- found_if follow find_if find_if_not partition_point ranges::find_if ranges::find_if_not
//- found_if follow ranges::partition_point
#include <algorithm>
#include <vector>
double found_if(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x, 0.5, 2};
  return *std::OF(v.begin(), v.end(), [](double y) { return y < 1; }) * x;
}
//- found_value follow find lower_bound upper_bound ranges::find ranges::lower_bound ranges::upper_bound
#include <algorithm>
#include <vector>
double found_value(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x, 1e30};
  return *std::OF(v.begin(), v.end(), x + 1) * x;
}
//- found_equal follow equal_range
//- found_equal refuse ranges::equal_range
#include <algorithm>
#include <vector>
double found_equal(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x, 1e30};
  const auto [a, b] = std::OF(v.begin(), v.end(), x + 1);
  return *a + std::min(*b, 9.);
}
//- found_sequence follow search find_end find_first_of ranges::find_first_of
#include <algorithm>
#include <vector>
double found_sequence(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x}, w{x + 1};
  return *std::OF(v.begin(), v.end(), w.begin(), w.end()) * x;
}
//- found_subrange refuse ranges::search ranges::find_end
#include <algorithm>
#include <vector>
double found_subrange(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x}, w{x + 1};
  return *std::OF(v, w).begin() * x;
}
//- found_repeated follow
#include <algorithm>
#include <vector>
double found_repeated(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x};
  return *std::search_n(v.begin(), v.end(), 1, x + 1) * x;
}
//- found_repeated_range refuse
#include <algorithm>
#include <vector>
double found_repeated_range(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x};
  return *std::ranges::search_n(v, 1, x + 1).begin() * x;
}
//- found_by_searcher refuse default_searcher boyer_moore_searcher boyer_moore_horspool_searcher
#include <algorithm>
#include <functional>
#include <vector>
double found_by_searcher(double x) {
  std::vector<double> v{x * x / 9, x + 1, 3 * x}, w{x + 1};
  return *std::search(v.begin(), v.end(), std::OF(w.begin(), w.end())) * x;
}
//- found_difference follow mismatch
//- found_difference refuse ranges::mismatch
#include <algorithm>
#include <vector>
double found_difference(double x) {
  std::vector<double> v{x, x + 1, 3 * x}, w{x, 2 * x * x + 9, 1};
  const auto [a, b] = std::OF(v.begin(), v.end(), w.begin(), w.end());
  return *a * *b;
}
//- asked_of_each follow all_of any_of none_of count_if is_partitioned ranges::all_of ranges::any_of
//- asked_of_each follow ranges::none_of ranges::count_if ranges::is_partitioned
#include <algorithm>
#include <vector>
double asked_of_each(double x) {
  std::vector<double> v{x, x + 1, 3 * x};
  return std::OF(v.begin(), v.end(), [](double y) { return y < 99; }) * x + x * x;
}
//- asked follow is_sorted is_heap ranges::is_sorted ranges::is_heap
#include <algorithm>
#include <vector>
double asked(double x) {
  std::vector<double> v{x, x + 9, x + 20};
  return std::OF(v.begin(), v.end()) * x + x * x;
}
//- asked_of_value follow count binary_search ranges::count ranges::binary_search
#include <algorithm>
#include <vector>
double asked_of_value(double x) {
  std::vector<double> v{x, x + 9, x + 20};
  return std::OF(v.begin(), v.end(), x + 9) * x + x * x;
}
//- asked_of_two follow equal is_permutation includes lexicographical_compare ranges::equal
//- asked_of_two follow ranges::is_permutation ranges::includes ranges::lexicographical_compare
#include <algorithm>
#include <vector>
double asked_of_two(double x) {
  std::vector<double> v{x, x + 9, x + 20}, w{x, x + 9, x + 20};
  return std::OF(v.begin(), v.end(), w.begin(), w.end()) * x + x * x;
}
//- asked_for_order follow
#include <algorithm>
#include <compare>
#include <vector>
double asked_for_order(double x) {
  std::vector<double> v{x, x + 9}, w{x, x + 10};
  return std::lexicographical_compare_three_way(v.begin(), v.end(), w.begin(), w.end()) < 0 ? x * x : x;
}
//- copied_by follow copy reverse_copy partial_sum adjacent_difference inclusive_scan move unique_copy
//- copied_by follow ranges::copy ranges::reverse_copy ranges::move ranges::unique_copy
//- copied_by follow uninitialized_copy uninitialized_move
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>
double copied_by(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x};
  double w[3] = {};
  std::OF(v.begin(), v.end(), w);
  return w[0] + 2 * w[1] * x + 4 * w[2];
}
//- copied_to_end follow copy_backward move_backward ranges::copy_backward ranges::move_backward
#include <algorithm>
#include <vector>
double copied_to_end(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.end());
  return w[0] + 2 * w[1] * x + 4 * w[2];
}
//- copied_to_range follow partial_sort_copy ranges::partial_sort_copy
//- copied_to_range refuse ranges::uninitialized_copy ranges::uninitialized_move
#include <algorithm>
#include <memory>
#include <vector>
double copied_to_range(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.begin(), w.end());
  return w[0] + w[1] + w[2] * w[2];
}
//- copied_if follow copy_if remove_copy_if ranges::copy_if ranges::remove_copy_if
#include <algorithm>
#include <vector>
double copied_if(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.begin(), [](double y) { return y < 1; });
  return w[0] * x;
}
//- copied_without follow remove_copy ranges::remove_copy
#include <algorithm>
#include <vector>
double copied_without(double x) {
  std::vector<double> v{7, x * x, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.begin(), 7.);
  return w[0] * w[1];
}
//- copied_count follow copy_n
//- copied_count refuse uninitialized_move_n
//- copied_count follow uninitialized_copy_n
#include <algorithm>
#include <memory>
#include <vector>
double copied_count(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x};
  double w[3] = {};
  std::OF(v.begin(), 2, w);
  return w[0] * w[1] + w[2];
}
//- copied_count_ranges follow
#include <algorithm>
#include <vector>
double copied_count_ranges(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x}, w(3);
  std::ranges::copy_n(v.begin(), 2, w.begin());
  return w[0] * w[1] + w[2];
}
//- copied_count_to_range refuse ranges::uninitialized_copy_n ranges::uninitialized_move_n
#include <memory>
#include <vector>
double copied_count_to_range(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x}, w(3);
  std::OF(v.begin(), 2, w.begin(), w.end());
  return w[0] * w[1] + w[2];
}
//- copied_replacing follow replace_copy ranges::replace_copy
#include <algorithm>
#include <vector>
double copied_replacing(double x) {
  std::vector<double> v{7, x * x, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.begin(), 7., x);
  return w[0] * w[1] + w[2];
}
//- copied_replacing_if follow replace_copy_if ranges::replace_copy_if
#include <algorithm>
#include <vector>
double copied_replacing_if(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.begin(), [](double y) { return y < 1; }, x);
  return w[0] * w[1] + w[2];
}
//- copied_rotated follow rotate_copy ranges::rotate_copy
#include <algorithm>
#include <vector>
double copied_rotated(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x}, w(3);
  std::OF(v.begin(), v.begin() + 1, v.end(), w.begin());
  return w[0] + 2 * w[1] * x + 4 * w[2];
}
//- copied_in_parts follow partition_copy ranges::partition_copy
#include <algorithm>
#include <vector>
double copied_in_parts(double x) {
  std::vector<double> v{x + 1, x * x / 9, 3 * x}, w(3), u(3);
  std::OF(v.begin(), v.end(), w.begin(), u.begin(), [](double y) { return y < 1; });
  return w[0] * u[0] + u[1];
}
//- mapped follow transform ranges::transform
#include <algorithm>
#include <vector>
double mapped(double x) {
  std::vector<double> v{x + 1, x * x, 3 * x}, w(3);
  std::OF(v.begin(), v.end(), w.begin(), [x](double y) { return y * x; });
  return w[0] * w[1] + w[2];
}
//- united follow merge set_union set_intersection set_difference set_symmetric_difference ranges::merge
//- united follow ranges::set_union ranges::set_intersection ranges::set_difference
//- united follow ranges::set_symmetric_difference
#include <algorithm>
#include <vector>
double united(double x) {
  std::vector<double> v{x, x + 9}, w{x + 5, x + 9, x + 20}, u(9);
  std::OF(v.begin(), v.end(), w.begin(), w.end(), u.begin());
  return u[0] * u[0] + 2 * u[1] * u[2];
}
//- swapped_ranges follow
#include <algorithm>
#include <vector>
double swapped_ranges(double x) {
  std::vector<double> v{x, x * x}, w{1, 2};
  std::swap_ranges(v.begin(), v.end(), w.begin());
  return w[0] * w[1] + v[0];
}
//- swapped_ranges_of follow
#include <algorithm>
#include <vector>
double swapped_ranges_of(double x) {
  std::vector<double> v{x, x * x}, w{1, 2};
  std::ranges::swap_ranges(v, w);
  return w[0] * w[1] + v[0];
}
//- swapped_by_iterators follow iter_swap ranges::iter_swap
#include <algorithm>
#include <iterator>
#include <vector>
double swapped_by_iterators(double x) {
  std::vector<double> v{x, 2}, w{1, 2};
  std::OF(v.begin(), w.begin());
  return w[0] * w[0] + v[0];
}
//- swapped_by_ranges follow
#include <concepts>
double swapped_by_ranges(double x) {
  double a = x, b = 2;
  std::ranges::swap(a, b);
  return b * b + a;
}
//- folded follow accumulate reduce
#include <numeric>
#include <vector>
double folded(double x) {
  std::vector<double> v{x, x * x};
  return std::OF(v.begin(), v.end(), x) * x +
         std::OF(v.begin(), v.end(), 0., [](double a, double b) { return a + b; });
}
//- folded_products follow inner_product transform_reduce
#include <numeric>
#include <vector>
double folded_products(double x) {
  std::vector<double> v{x, x * x}, w{2, x};
  return std::OF(v.begin(), v.end(), w.begin(), x) * x;
}
//- scanned follow
#include <numeric>
#include <vector>
double scanned(double x) {
  std::vector<double> v{x, x * x, 2}, w(3), u(3);
  std::exclusive_scan(v.begin(), v.end(), w.begin(), x);
  std::inclusive_scan(v.begin(), v.end(), u.begin());
  return w[0] + w[1] * w[2] + u[1] * u[2];
}
//- scanned_transformed follow
#include <functional>
#include <numeric>
#include <vector>
double scanned_transformed(double x) {
  std::vector<double> v{x, x * x, 2}, w(3);
  std::transform_exclusive_scan(v.begin(), v.end(), w.begin(), x, std::plus<>(),
                                [](double y) { return y * y; });
  return w[0] + w[1] * w[2];
}
//- scanned_transformed_inclusive follow
#include <functional>
#include <numeric>
#include <vector>
double scanned_transformed_inclusive(double x) {
  std::vector<double> v{x, x * x, 2}, w(3);
  std::transform_inclusive_scan(v.begin(), v.end(), w.begin(), std::plus<>(), [](double y) { return y * y; });
  return w[0] + w[1] * w[2];
}
//- extreme_of_two follow min max ranges::min ranges::max
#include <algorithm>
double extreme_of_two(double x) { return std::OF(x, x * x + 3) * x; }
//- extreme_of_list follow min max ranges::min ranges::max
#include <algorithm>
double extreme_of_list(double x) { return std::OF({x, x * x + 3, 2 * x * x + 9}) * x; }
//- extreme_of_range follow ranges::min ranges::max
#include <algorithm>
#include <vector>
double extreme_of_range(double x) {
  std::vector<double> v{x, x * x + 3};
  return std::OF(v) * x;
}
//- extremes_of_two refuse minmax ranges::minmax
#include <algorithm>
double extremes_of_two(double x) {
  const double y = x * x + 3;
  const auto [low, high] = std::OF(x, y);
  return low * high;
}
//- kept_between follow clamp ranges::clamp
#include <algorithm>
double kept_between(double x) { return std::OF(x * x, -9., 9e9) * x + std::OF(9e9, 0., 3 * x * x + 3); }
//- operation follow plus minus multiplies divides
#include <functional>
double operation(double x) {
  return std::OF<double>()(x, 3.) + 2 * std::OF<>()(3., x) + x * std::OF<>()(x, x);
}
//- operation_chosen follow equal_to not_equal_to less less_equal greater greater_equal ranges::equal_to
//- operation_chosen follow ranges::not_equal_to ranges::less ranges::less_equal ranges::greater
//- operation_chosen follow ranges::greater_equal
//- operation_chosen follow logical_and logical_or
#include <functional>
double operation_chosen(double x) { return std::OF()(x, 99.) ? x * x : 3 * x; }
//- operation_not follow
#include <functional>
double operation_not(double x) { return std::logical_not<>()(x) ? x : x * x; }
//- operation_identity follow
#include <functional>
double operation_identity(double x) { return std::identity()(x) * x; }
//- operation_negated follow not1 not_fn
#include <functional>
struct operation_negated_predicate {
  using argument_type = double;
  bool operator()(double y) const { return y > 99; }
};
double operation_negated(double x) { return std::OF(operation_negated_predicate())(x) ? x * x : x; }
//- operation_negated_of_two follow
#include <functional>
struct operation_negated_of_two_predicate {
  using first_argument_type = double;
  using second_argument_type = double;
  bool operator()(double y, double z) const { return y > z; }
};
double operation_negated_of_two(double x) {
  return std::not2(operation_negated_of_two_predicate())(x, 99) ? x * x : x;
}
//- operation_old refuse
#include <functional>
double operation_old_of(double a) { return a * a; }
double operation_old(double x) { return std::ptr_fun(operation_old_of)(x) * x; }
//- operation_bound refuse bind1st bind2nd
#include <functional>
double operation_bound(double x) { return std::OF(std::multiplies<double>(), x)(3.); }
//- operation_member follow mem_fn
//- operation_member refuse mem_fun
#include <functional>
struct operation_member_model {
  double k;
  double value() { return k * k; }
};
double operation_member_call(double (operation_member_model::*f)(), operation_member_model& m) {
  return (m.*f)();
}
double operation_member(double x) {
  operation_member_model m{x};
  return std::OF(&operation_member_model::value)(&m);
}
//- operation_member_of_object refuse
#include <functional>
struct operation_member_of_object_model {
  double k;
  double value() { return k * k; }
};
double operation_member_of_object(double x) {
  operation_member_of_object_model m{x};
  return std::mem_fun_ref(&operation_member_of_object_model::value)(m);
}
//- reference_to follow ref cref
#include <functional>
double reference_to_of(const double& y) { return y * y; }
double reference_to(double x) {
  auto r = std::OF(x);
  return reference_to_of(r) * r.get();
}
//- stored_function follow
#include <functional>
double stored_function(double x) {
  std::function<double(double)> f = [x](double y) { return x * y; };
  return f(x) + f(2);
}
//- stored_functor follow
#include <functional>
struct stored_functor_slope {
  double k;
  double operator()(double y) const { return k * y; }
};
double stored_functor(double x) {
  stored_functor_slope slope{x};
  const std::function<double(double)> f = slope, g = stored_functor_slope{2 * x};
  slope.k = 7;
  return f(x) + g(2) * slope.k;
}
//- stored_operation follow plus multiplies minus
#include <functional>
double stored_operation_of(const std::function<double(double, double)>& f, double x) { return f(x, 2) * x; }
double stored_operation(double x) {
  return stored_operation_of(std::OF<double>(), x) + stored_operation_of(std::OF<>(), x);
}
//- stored_product follow
#include <functional>
struct stored_product_state {
  double k = 1;
  double operator()(double y) { return k *= y; }
};
double stored_product(double x) {
  std::function<double(double)> f = stored_product_state{};
  f(x);
  std::function<double(double)> g = f;
  f(3);
  return f(x) + g(2);
}
//- given_by_value follow double std::vector<double>
#include <functional>
#include <vector>
double given_by_value_of(double v) { return v; }
double given_by_value_of(const std::vector<double>& v) { return v.back(); }
double given_by_value(double x) {
  OF a{x};
  const std::function<double(OF)> f = [&a](const OF& v) {
    a = OF{2.};
    return given_by_value_of(v) * given_by_value_of(a);
  };
  return f(a) * x;
}
//- function_of_other_numbers follow float double
#include <functional>
double function_of_other_numbers(double x) {
  const std::function<OF(OF)> f = [](long double v) { return v * v; };
  return f(x) * x;
}
//- passed_through follow move forward<double&> as_const move_if_noexcept
#include <utility>
double passed_through(double x) {
  double y = x * x;
  return std::OF(y) * x;
}
//- passed_through_dependency follow
#include <atomic>
double passed_through_dependency(double x) { return std::kill_dependency(x * x) * x; }
//- passed_address follow
#include <memory>
double passed_address(double x) {
  double y = 2;
  *std::addressof(y) = x;
  return y * y;
}
//- made_pair refuse
#include <tuple>
#include <utility>
double made_pair(double x) {
  const std::pair<double, double> p(std::piecewise_construct, std::make_tuple(x), std::make_tuple(x * x));
  return std::get<0>(p) * std::make_pair(2, x).second + p.second;
}
//- made_tuple follow
#include <tuple>
double made_tuple(double x) {
  const auto t = std::make_tuple(x, x * x, 3);
  double a;
  std::tie(a, std::ignore, std::ignore) = t;
  return a * std::get<1>(t);
}
//- made_optional refuse
#include <optional>
double made_optional(double x) {
  const auto o = std::make_optional(x * x);
  const std::optional<double> p(std::in_place, x), q = std::nullopt;
  return *o * p.value() + q.value_or(x);
}
//- made_any refuse
#include <any>
double made_any(double x) { return std::any_cast<double>(std::make_any<double>(x * x)); }
//- made_variant refuse
#include <variant>
double made_variant(double x) {
  const std::variant<std::monostate, double> v(std::in_place_type<double>, x);
  return std::holds_alternative<double>(v) ? std::get<1>(v) * *std::get_if<double>(&v) : 0;
}
//- made_variant_by_index refuse
#include <variant>
double made_variant_by_index(double x) {
  return std::get<1>(std::variant<std::monostate, double>(std::in_place_index<1>, x * x));
}
//- made_array follow
#include <array>
double made_array(double x) {
  auto v = std::to_array<double>({x, x * x, 3});
  v.swap(v);
  return v[0] * v.at(1) + v.front() * v.back();
}
//- made_array_of_array follow
#include <array>
double made_array_of_array(double x) {
  double in[2] = {x, x * x};
  const auto v = std::to_array(in);
  return v[0] * v[1];
}
//- moved_by_iterators follow
#include <iterator>
#include <vector>
double moved_by_iterators(double x) {
  std::vector<double> v{x, x * x, 3 * x};
  auto it = v.begin();
  std::advance(it, 1);
  return *it * *std::next(v.begin(), 2) + *std::prev(v.end()) * std::distance(v.begin(), v.end());
}
//- moved_by_ranges refuse
#include <iterator>
#include <vector>
double moved_by_ranges(double x) {
  std::vector<double> v{x, x * x, 3 * x};
  auto it = v.begin();
  std::ranges::advance(it, 1);
  return *it * *std::ranges::next(v.begin(), 2) + *std::ranges::prev(v.end()) * std::ranges::distance(v);
}
//- begin_of follow begin cbegin data rbegin crbegin ranges::begin ranges::cbegin ranges::data ranges::rbegin
//- begin_of follow ranges::crbegin
//- begin_of follow ranges::cdata
#include <iterator>
#include <ranges>
#include <vector>
double begin_of(double x) {
  std::vector<double> v{x, x * x, 3 * x};
  return *std::OF(v) * x;
}
//- end_of follow end cend rend crend ranges::end ranges::cend ranges::rend ranges::crend
#include <iterator>
#include <ranges>
#include <vector>
double end_of(double x) {
  std::vector<double> v{x, x * x, 3 * x};
  auto it = std::OF(v);
  return *--it * x;
}
//- size_of follow size ssize empty ranges::size ranges::ssize ranges::empty
#include <iterator>
#include <ranges>
#include <vector>
double size_of(double x) {
  std::vector<double> v{x, x * x, 3 * x};
  return (1 + std::OF(v)) * v[1];
}
//- looped_by_functions follow
#include <iterator>
#include <vector>
double looped_by_functions(double x) {
  std::vector<double> v{x, x * x, 3 * x};
  double sum = 0;
  for (auto it = std::begin(v); it != std::end(v); ++it) sum += *it * *it;
  for (std::size_t i = 0; i < std::size(v); ++i) sum += std::data(v)[i];
  return sum;
}
//- inserted_by refuse back_inserter front_inserter
#include <deque>
#include <iterator>
double inserted_by(double x) {
  std::deque<double> v;
  *std::OF(v) = x;
  return v[0] * x;
}
//- inserted_at refuse
#include <iterator>
#include <vector>
double inserted_at(double x) {
  std::vector<double> v{1, 2};
  *std::inserter(v, v.begin()) = x;
  return v[0] * x;
}
//- inserted_by_class refuse back_insert_iterator insert_iterator front_insert_iterator
#include <deque>
#include <iterator>
template <class I>
I inserted_by_class_make(std::deque<double>& v) {
  if constexpr (std::is_constructible_v<I, std::deque<double>&>)
    return I(v);
  else
    return I(v, v.begin());
}
double inserted_by_class(double x) {
  std::deque<double> v;
  auto it = inserted_by_class_make<std::OF<std::deque<double>>>(v);
  *it = x;
  return v[0] * x;
}
//- appended_copy follow
#include <algorithm>
#include <iterator>
#include <vector>
double appended_copy(double x) {
  std::vector<double> v{x, x * x}, w;
  std::copy(v.begin(), v.end(), std::back_inserter(w));
  return w[0] * w[1];
}
//- inserted_copy refuse
#include <algorithm>
#include <iterator>
#include <vector>
double inserted_copy(double x) {
  std::vector<double> v{x, x * x}, w{1};
  std::copy(v.begin(), v.end(), std::inserter(w, w.begin()));
  return w[0] * w[1];
}
//- adapted_iterator follow reverse_iterator make_reverse_iterator
//- adapted_iterator follow make_move_iterator move_iterator
#include <iterator>
#include <vector>
double adapted_iterator(double x) {
  std::vector<double> v{x, x * x};
  return *std::OF(v.begin() + 1) * x;
}
//- adapted_counted either
#include <iterator>
#include <vector>
double adapted_counted(double x) {
  std::vector<double> v{x, x * x};
  double sum = 0;
  for (std::counted_iterator it(v.begin(), 2); it != std::default_sentinel; ++it) sum += *it * x;
  return sum;
}
//- adapted_common refuse
#include <iterator>
#include <numeric>
#include <vector>
double adapted_common(double x) {
  std::vector<double> v{x, x * x};
  using I =
      std::common_iterator<std::counted_iterator<std::vector<double>::iterator>, std::default_sentinel_t>;
  double sum = 0;
  for (I it = std::counted_iterator(v.begin(), 2); it != I(std::default_sentinel); ++it) sum += *it * x;
  return sum;
}
//- adapted_unreachable refuse
#include <algorithm>
#include <iterator>
#include <vector>
double adapted_unreachable(double x) {
  std::vector<double> v{x, x * x, x + 99};
  return *std::ranges::find_if(v.begin(), std::unreachable_sentinel, [](double y) { return y > 50; }) * x;
}
//- adapted_moved either
#include <iterator>
#include <vector>
double adapted_moved(double x) {
  std::vector<double> v{x, x * x};
  double y = std::ranges::iter_move(v.begin() + 1);
  return y * x;
}
//- viewed_by either take drop
#include <ranges>
#include <vector>
double viewed_by(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : v | std::views::OF(1)) sum += y * y;
  return sum;
}
//- viewed_by_predicate refuse take_while
//- viewed_by_predicate either filter drop_while
#include <ranges>
#include <vector>
double viewed_by_predicate(double x) {
  std::vector<double> v{x, 12 * x, x + 1, 13 * x};
  double sum = 0;
  for (double y : v | std::views::OF([](double z) { return z < 9; })) sum += y * y;
  return sum;
}
//- viewed_whole either all reverse common
#include <ranges>
#include <vector>
double viewed_whole(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : v | std::views::OF) sum = 2 * sum + y * y;
  return sum;
}
//- viewed_parts either keys values elements<1>
#include <ranges>
#include <utility>
#include <vector>
double viewed_parts(double x) {
  std::vector<std::pair<double, double>> v{{x, x * x}, {2 * x, 3}};
  double sum = 0;
  for (double y : v | std::views::OF) sum += y * y;
  return sum;
}
//- viewed_transform either
#include <ranges>
#include <vector>
double viewed_transform(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : std::views::transform(v, [x](double z) { return z * x; })) sum += y;
  return sum;
}
//- viewed_written either
#include <ranges>
#include <vector>
double viewed_written(double x) {
  std::vector<double> v{1, 2, 3};
  for (double& y : std::views::drop(v, 1)) y *= x;
  return v[1] * v[2];
}
//- viewed_index follow
#include <ranges>
#include <vector>
double viewed_index(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (int i : std::views::iota(0, 3)) sum += v[i] * x;
  return sum;
}
//- viewed_single either
#include <ranges>
double viewed_single(double x) {
  double sum = 0;
  for (double y : std::views::single(x * x)) sum += y * x;
  for (double y : std::views::empty<double>) sum += y;
  return sum;
}
//- viewed_joined refuse
#include <ranges>
#include <vector>
double viewed_joined(double x) {
  std::vector<std::vector<double>> v{{x, 2}, {x * x}};
  double sum = 0;
  for (double y : v | std::views::join) sum += y * y;
  return sum;
}
//- viewed_split refuse split lazy_split
#include <ranges>
#include <vector>
double viewed_split(double x) {
  std::vector<double> v{x, -7, x * x};
  double sum = 0;
  for (auto part : v | std::views::OF(-7.))
    for (double y : part) sum = 2 * sum + y * y;
  return sum;
}
//- viewed_counted either
#include <ranges>
#include <vector>
double viewed_counted(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : std::views::counted(v.begin(), 2)) sum += y * y;
  return sum;
}
//- viewed_stream refuse ranges::istream_view views::istream
#include <ranges>
#include <sstream>
double viewed_stream(double x) {
  std::stringstream s;
  s << x << ' ' << 2 * x;
  double sum = 0;
  for (double y : std::OF<double>(s)) sum += y;
  return sum;
}
//- view_class either all_t
#include <ranges>
#include <vector>
double view_class(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  std::ranges::views::OF<std::vector<double>&> w(v);
  double sum = 0;
  for (double y : w) sum += y * y;
  return sum;
}
//- view_class_of_one either ref_view reverse_view subrange
#include <ranges>
#include <vector>
double view_class_of_one(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : std::ranges::OF(v)) sum = 2 * sum + y * y;
  return sum;
}
//- view_class_owning refuse
#include <ranges>
#include <vector>
double view_class_owning(double x) {
  double sum = 0;
  for (double y : std::ranges::owning_view(std::vector<double>{x, 2 * x})) sum = 2 * sum + y * y;
  return sum;
}
//- view_class_common refuse
#include <ranges>
#include <vector>
double view_class_common(double x) {
  std::vector<double> v{x, 2 * x, x + 90};
  double sum = 0;
  const auto below = std::views::take_while(v, [](double y) { return y < 50; });
  for (double y : std::ranges::common_view(below)) sum = 2 * sum + y * y;
  return sum;
}
//- view_class_single either
#include <ranges>
double view_class_single(double x) {
  double sum = 0;
  for (double y : std::ranges::single_view(x * x)) sum += y * x;
  for (double y : std::ranges::empty_view<double>()) sum += y;
  return sum;
}
//- view_class_of_count either take_view drop_view
#include <ranges>
#include <vector>
double view_class_of_count(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : std::ranges::OF(v, 1)) sum += y * y;
  return sum;
}
//- view_class_of_predicate refuse take_while_view
//- view_class_of_predicate either filter_view drop_while_view
#include <ranges>
#include <vector>
double view_class_of_predicate(double x) {
  std::vector<double> v{x, 12 * x, x + 1, 13 * x};
  double sum = 0;
  for (double y : std::ranges::OF(v, [](double z) { return z < 9; })) sum += y * y;
  return sum;
}
//- view_class_of_function either
#include <ranges>
#include <vector>
double view_class_of_function(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (double y : std::ranges::transform_view(v, [](double z) { return z * z; })) sum += y;
  return sum;
}
//- view_class_of_parts either keys_view values_view
#include <ranges>
#include <utility>
#include <vector>
double view_class_of_parts(double x) {
  std::vector<std::pair<double, double>> v{{x, x * x}, {2 * x, 3}};
  double sum = 0;
  for (double y : std::ranges::OF<std::views::all_t<decltype((v))>>(v)) sum += y * y;
  return sum;
}
//- view_class_of_elements either
#include <ranges>
#include <utility>
#include <vector>
double view_class_of_elements(double x) {
  std::vector<std::pair<double, double>> v{{x, x * x}, {2 * x, 3}};
  double sum = 0;
  for (double y : std::ranges::elements_view<std::views::all_t<decltype((v))>, 1>(v)) sum += y * y;
  return sum;
}
//- view_class_joined refuse
#include <ranges>
#include <vector>
double view_class_joined(double x) {
  std::vector<std::vector<double>> v{{x, 2}, {x * x}};
  double sum = 0;
  for (double y : std::ranges::join_view(v)) sum += y * y;
  return sum;
}
//- view_class_split refuse split_view lazy_split_view
#include <ranges>
#include <vector>
double view_class_split(double x) {
  std::vector<double> v{x, -7, x * x};
  double sum = 0;
  for (auto part : std::ranges::OF(v, -7.))
    for (double y : part) sum = 2 * sum + y * y;
  return sum;
}
//- view_class_of_index follow
#include <ranges>
#include <vector>
double view_class_of_index(double x) {
  std::vector<double> v{x, 2 * x, 3 * x};
  double sum = 0;
  for (int i : std::ranges::iota_view(0, 3)) sum += v[i] * x;
  return sum;
}
//- view_class_of_stream refuse
#include <ranges>
#include <sstream>
double view_class_of_stream(double x) {
  std::stringstream s;
  s << x;
  double sum = 0;
  for (double y : std::ranges::basic_istream_view<double, char>(s)) sum += y;
  return sum;
}
//- view_of_own either
#include <ranges>
#include <vector>
struct view_of_own_pair : std::ranges::view_interface<view_of_own_pair> {
  double v[2];
  const double* begin() const { return v; }
  const double* end() const { return v + 2; }
};
double view_of_own(double x) {
  view_of_own_pair p;
  p.v[0] = x;
  p.v[1] = x * x;
  return p.front() * p[1];
}
//- result_of_copy refuse
#include <algorithm>
#include <vector>
double result_of_copy(double x) {
  std::vector<double> v{x, x * x}, w(2);
  const std::ranges::copy_result<std::vector<double>::iterator, std::vector<double>::iterator> r =
      std::ranges::copy(v.begin(), v.end(), w.begin());
  return *(r.out - 1) * x;
}
//- result_of_extremes refuse
#include <algorithm>
#include <vector>
double result_of_extremes(double x) {
  std::vector<double> v{x, x * x + 9};
  const std::ranges::minmax_result<double> r = std::ranges::minmax(v);
  return r.min * r.max;
}
//- result_of_numbers either in_in_result in_out_result in_fun_result
#include <algorithm>
double result_of_numbers(double x) {
  const std::ranges::OF<double, double> r{x, x * x};
  const auto& [a, b] = r;
  return a * b;
}
//- result_of_three either in_in_out_result in_out_out_result
#include <algorithm>
double result_of_three(double x) {
  const std::ranges::OF<double, double, double> r{x, x * x, 3};
  const auto& [a, b, c] = r;
  return a * b * c;
}
//- result_found either
#include <algorithm>
double result_found(double x) {
  const std::ranges::in_found_result<double> r{x * x, true};
  return r.found ? r.in * x : x;
}
//- part_of_range_by_get either
#include <ranges>
double part_of_range_by_get(double x) {
  double v[2] = {x, x * x};
  return *std::ranges::get<0>(std::ranges::subrange(v, v + 2)) * x;
}
//- adapted_moved_to_end refuse
#include <iterator>
#include <vector>
double adapted_moved_to_end(double x) {
  std::vector<double> v{x, x * x};
  double sum = 0;
  for (std::move_iterator it(v.begin()); it != std::move_sentinel(v.end()); ++it) sum += *it * x;
  return sum;
}
//- allocated refuse
#include <memory>
double allocated(double x) {
  std::allocator<double> a;
  double* p = a.allocate(2);
  p[0] = x;
  p[1] = x * p[0];
  const double y = p[1] * p[0];
  a.deallocate(p, 2);
  return y;
}
//- allocated_by_traits refuse
#include <memory>
double allocated_by_traits(double x) {
  std::allocator<double> a;
  using traits = std::allocator_traits<std::allocator<double>>;
  double* p = traits::allocate(a, 1);
  traits::construct(a, p, x);
  const double y = *p * *p;
  traits::destroy(a, p);
  traits::deallocate(a, p, 1);
  return y;
}
//- allocated_polymorphic refuse
#include <memory_resource>
double allocated_polymorphic(double x) {
  std::pmr::polymorphic_allocator<double> a;
  double* p = a.allocate(2);
  p[0] = x;
  p[1] = x * p[0];
  const double y = p[1] * p[0];
  a.deallocate(p, 2);
  return y;
}
//- allocated_resource refuse
#include <memory_resource>
double allocated_resource(double x) {
  std::pmr::memory_resource* r = std::pmr::new_delete_resource();
  auto* p = static_cast<double*>(r->allocate(sizeof(double), alignof(double)));
  *p = x;
  const double y = *p * x;
  r->deallocate(p, sizeof(double), alignof(double));
  return y;
}
//- allocated_c follow malloc
#include <cstdlib>
double allocated_c(double x) {
  auto* p = static_cast<double*>(std::malloc(2 * sizeof(double)));
  p[0] = x;
  p[1] = x * x;
  const double y = p[0] * p[1];
  std::free(p);
  return y;
}
//- allocated_c_zero follow
#include <cstdlib>
double allocated_c_zero(double x) {
  auto* p = static_cast<double*>(std::calloc(2, sizeof(double)));
  p[0] += x;
  p[1] = x * x;
  const double y = p[0] * p[1];
  std::free(p);
  return y;
}
//- allocated_c_again refuse
#include <cstdlib>
double allocated_c_again(double x) {
  auto* p = static_cast<double*>(std::malloc(sizeof(double)));
  p[0] = x;
  p = static_cast<double*>(std::realloc(p, 2 * sizeof(double)));
  p[1] = x * p[0];
  const double y = p[0] * p[1];
  std::free(p);
  return y;
}
//- allocated_c_aligned refuse
#include <cstdlib>
double allocated_c_aligned(double x) {
  auto* p = static_cast<double*>(std::aligned_alloc(64, 64));
  p[0] = x;
  p[1] = x * x;
  const double y = p[0] * p[1];
  std::free(p);
  return y;
}
//- allocated_temporary refuse
#include <memory>
double allocated_temporary(double x) {
  double* p = std::get_temporary_buffer<double>(2).first;
  p[0] = x;
  const double y = p[0] * x;
  std::return_temporary_buffer(p);
  return y;
}
//- aligned_place refuse
#include <memory>
double aligned_place(double x) {
  alignas(8) unsigned char room[64];
  void* p = room;
  std::size_t n = sizeof room;
  auto* q = static_cast<double*>(std::align(16, sizeof(double), p, n));
  *q = x;
  return *q * x;
}
//- stored_aligned refuse aligned_storage_t<8> aligned_union_t<8,double>
#include <type_traits>
double stored_aligned(double x) {
  std::OF room;
  new (&room) double(x);
  return *reinterpret_cast<double*>(&room) * x;
}
//- raw_iterator refuse
#include <memory>
double raw_iterator(double x) {
  double v[2];
  std::raw_storage_iterator<double*, double> it(v);
  *it++ = x;
  return v[0] * x;
}
//- constructed_in_place follow construct_at ranges::construct_at
#include <memory>
double constructed_in_place(double x) {
  double y = 0;
  std::OF(&y, x);
  return y * y;
}
//- constructed_default follow uninitialized_default_construct uninitialized_value_construct
//- constructed_default follow ranges::uninitialized_default_construct ranges::uninitialized_value_construct
#include <memory>
struct constructed_default_value {
  double v = 3;
};
double constructed_default(double x) {
  constructed_default_value v[2];
  v[0].v = x;
  std::OF(v + 1, v + 2);
  return v[0].v * v[1].v;
}
//- constructed_default_count follow uninitialized_default_construct_n uninitialized_value_construct_n
//- constructed_default_count follow ranges::uninitialized_default_construct_n
//- constructed_default_count follow ranges::uninitialized_value_construct_n
#include <memory>
struct constructed_default_count_value {
  double v = 3;
};
double constructed_default_count(double x) {
  constructed_default_count_value v[2];
  v[0].v = v[1].v = x;
  std::OF(v + 1, 1);
  return v[0].v * v[1].v;
}
//- constructed_with_allocator refuse make_obj_using_allocator<std::pair<double,double>>
#include <memory>
#include <utility>
double constructed_with_allocator(double x) {
  const auto p = std::OF(std::allocator<double>(), x, x * x);
  return p.first * p.second;
}
//- constructed_by_allocator refuse
#include <memory>
double constructed_by_allocator(double x) {
  double y = 0;
  std::uninitialized_construct_using_allocator(&y, std::allocator<double>(), x);
  return y * y;
}
//- constructed_by_arguments refuse
#include <memory>
#include <tuple>
double constructed_by_arguments(double x) {
  const auto t = std::uses_allocator_construction_args<double>(std::allocator<double>(), x);
  return std::get<0>(t) * x;
}
//- destroyed refuse destroy_at ranges::destroy_at
#include <memory>
#include <new>
struct destroyed_writer {
  double* to;
  double from;
  ~destroyed_writer() { *to = from; }
};
double destroyed(double x) {
  double y = 1;
  alignas(destroyed_writer) unsigned char room[sizeof(destroyed_writer)];
  std::OF(new (room) destroyed_writer{&y, x});
  return y * y;
}
//- destroyed_numbers follow
#include <memory>
double destroyed_numbers(double x) {
  double v[2] = {x, x * x};
  const double y = v[0] * v[1];
  std::destroy(v, v + 2);
  std::destroy_n(v, 2);
  std::destroy_at(v);
  return y;
}
//- destroyed_numbers_of_ranges follow
#include <memory>
double destroyed_numbers_of_ranges(double x) {
  double v[2] = {x, x * x};
  const double y = v[0] * v[1];
  std::ranges::destroy(v);
  std::ranges::destroy_n(v, 2);
  std::ranges::destroy_at(v);
  return y;
}
//- made_shared follow make_shared make_unique
#include <memory>
double made_shared(double x) {
  const auto p = std::OF<double>(x * x);
  return *p * x;
}
//- made_shared_later refuse make_shared_for_overwrite make_unique_for_overwrite
#include <memory>
double made_shared_later(double x) {
  const auto p = std::OF<double>();
  *p = x * x;
  return *p * x;
}
//- made_shared_by refuse
#include <memory>
double made_shared_by(double x) {
  const auto p = std::allocate_shared<double>(std::allocator<double>(), x * x);
  return *p * x;
}
//- made_shared_by_later refuse
#include <memory>
double made_shared_by_later(double x) {
  const auto p = std::allocate_shared_for_overwrite<double>(std::allocator<double>());
  *p = x * x;
  return *p * x;
}
//- cast_shared refuse static_pointer_cast dynamic_pointer_cast
#include <memory>
struct cast_shared_base {
  double k = 2;
  virtual ~cast_shared_base() = default;
};
struct cast_shared_part : cast_shared_base {
  double v = 0;
};
double cast_shared(double x) {
  std::shared_ptr<cast_shared_base> p = std::make_shared<cast_shared_part>();
  std::OF<cast_shared_part>(p)->v = x;
  return static_cast<cast_shared_part&>(*p).v * p->k * x;
}
//- cast_shared_number refuse const_pointer_cast reinterpret_pointer_cast
#include <memory>
double cast_shared_number(double x) {
  const auto p = std::make_shared<double>(1);
  *std::OF<double>(p) = x;
  return *p * x;
}
//- shared_self refuse
#include <memory>
struct shared_self_node : std::enable_shared_from_this<shared_self_node> {
  double v = 0;
};
double shared_self(double x) {
  const auto p = std::make_shared<shared_self_node>();
  p->shared_from_this()->v = x;
  return p->v * x;
}
//- deleted_by refuse
#include <memory>
struct deleted_by_writer {
  double* to;
  void operator()(double* p) const {
    *to = *p * *p;
    delete p;
  }
};
double deleted_by(double x) {
  double y = 0;
  {
    std::unique_ptr<double, deleted_by_writer> p(new double(x), deleted_by_writer{&y});
  }
  return y;
}
//- deleted_by_given refuse
#include <memory>
struct deleted_by_given_writer {
  double* to;
  void operator()(double* p) const {
    *to = *p * *p;
    delete p;
  }
};
double deleted_by_given(double x) {
  double y = 0;
  std::shared_ptr<double> p(new double(x), deleted_by_given_writer{&y});
  *std::get_deleter<deleted_by_given_writer>(p)->to = x;
  return y * x;
}
//- deleted_by_default refuse
#include <memory>
double deleted_by_default(double x) {
  auto* p = new double(x);
  const double y = *p * *p;
  std::default_delete<double>()(p);
  return y;
}
//- text_parsed refuse stod stold stof
#include <string>
double text_parsed(double x) { return std::OF(std::to_string(x)); }
//- text_parsed_c refuse atof
#include <cstdlib>
#include <string>
double text_parsed_c(double x) { return std::OF(std::to_string(x).c_str()); }
//- text_parsed_to_end refuse strtod strtof strtold
#include <cstdlib>
#include <string>
double text_parsed_to_end(double x) { return std::OF(std::to_string(x).c_str(), nullptr); }
//- text_parsed_wide refuse wcstod wcstof wcstold
#include <cwchar>
#include <string>
double text_parsed_wide(double x) { return std::OF(std::to_wstring(x).c_str(), nullptr); }
//- text_printed refuse sprintf
#include <cstdio>
#include <cstdlib>
double text_printed(double x) {
  char b[99];
  std::OF(b, "%.17g", x);
  return std::atof(b);
}
//- text_printed_to refuse snprintf
#include <cstdio>
#include <cstdlib>
double text_printed_to(double x) {
  char b[99];
  std::OF(b, 99, "%.17g", x);
  return std::atof(b);
}
//- text_printed_wide refuse
#include <cwchar>
double text_printed_wide(double x) {
  wchar_t b[99];
  std::swprintf(b, 99, L"%.17g", x);
  double y = 0;
  std::swscanf(b, L"%lf", &y);
  return y * x;
}
//- text_printed_wide_by_list refuse
#include <cstdarg>
#include <cwchar>
double text_printed_wide_by_list_of(wchar_t* b, const wchar_t* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::vswprintf(b, 99, format, list);
  va_end(list);
  return 0;
}
double text_printed_wide_by_list(double x) {
  wchar_t b[99];
  text_printed_wide_by_list_of(b, L"%.17g", x);
  return std::wcstod(b, nullptr);
}
//- text_copied refuse strcpy strcat
#include <cstdlib>
#include <cstring>
#include <string>
double text_copied(double x) {
  char b[99] = "";
  std::OF(b, std::to_string(x).c_str());
  return std::atof(b);
}
//- text_copied_part refuse strncpy strncat strxfrm
#include <cstdlib>
#include <cstring>
#include <string>
double text_copied_part(double x) {
  char b[99] = "";
  std::OF(b, std::to_string(x).c_str(), 90);
  return std::atof(b);
}
//- text_found refuse strchr strrchr
#include <cstdio>
#include <cstdlib>
#include <cstring>
double text_found(double x) {
  char b[99];
  std::snprintf(b, 99, "x=%.17g", x);
  return std::atof(std::OF(b, '=') + 1);
}
//- text_found_in refuse strstr strpbrk strtok
#include <cstdio>
#include <cstdlib>
#include <cstring>
double text_found_in(double x) {
  char b[99];
  std::snprintf(b, 99, "=%.17g", x);
  const char* p = std::OF(b, "=");
  return std::atof(*p == '=' ? p + 1 : p);
}
//- text_length refuse
#include <cstring>
#include <string>
double text_length(double x) {
  const std::string s = std::to_string(x);
  return x * x * std::strlen(s.c_str()) + std::strcmp("a", "a");
}
//- text_matched refuse
#include <regex>
#include <string>
double text_matched(double x) {
  const std::string s = "x=" + std::to_string(x);
  std::smatch m;
  std::regex_search(s, m, std::regex("[0-9.]+"));
  return std::stod(m.str());
}
//- text_matched_whole refuse
#include <regex>
#include <string>
double text_matched_whole(double x) {
  std::cmatch m;
  const std::string s = std::to_string(x);
  std::regex_match(s.c_str(), m, std::regex("(.*)"));
  const std::csub_match part = m[1];
  return std::stod(part.str());
}
//- text_matched_replaced refuse
#include <regex>
#include <string>
double text_matched_replaced(double x) {
  return std::stod(std::regex_replace("x" + std::to_string(x), std::regex("x"), ""));
}
//- text_matched_each refuse sregex_iterator sregex_token_iterator
#include <regex>
#include <string>
double text_matched_each(double x) {
  const std::string s = std::to_string(x);
  const std::regex r("[0-9.]+");
  return std::stod(std::OF(s.begin(), s.end(), r)->str());
}
//- text_read refuse
#include <iomanip>
#include <sstream>
#include <string>
double text_read(double x) {
  std::istringstream in(std::to_string(x));
  std::string line;
  std::getline(in >> std::ws, line);
  return std::stod(line);
}
//- text_of_money refuse
#include <iomanip>
#include <sstream>
double text_of_money(double x) {
  std::stringstream s;
  s << std::put_money(1000 * x);
  long double y = 0;
  s >> std::get_money(y);
  return static_cast<double>(y) / 1000;
}
//- text_of_money_by_facet refuse
#include <iterator>
#include <locale>
#include <sstream>
double text_of_money_by_facet(double x) {
  std::stringstream s;
  const std::locale l = std::locale::classic();
  std::use_facet<std::money_put<char>>(l).put(std::ostreambuf_iterator<char>(s), false, s, ' ', 1000.L * x);
  long double y = 0;
  std::ios_base::iostate state{};
  std::use_facet<std::money_get<char>>(l).get(std::istreambuf_iterator<char>(s), {}, false, s, state, y);
  return static_cast<double>(y) / 1000;
}
//- text_of_number_by_facet refuse
#include <iterator>
#include <locale>
#include <sstream>
double text_of_number_by_facet(double x) {
  std::stringstream s;
  const std::locale l = std::locale::classic();
  std::use_facet<std::num_put<char>>(l).put(std::ostreambuf_iterator<char>(s), s, ' ', x);
  double y = 0;
  std::ios_base::iostate state{};
  std::use_facet<std::num_get<char>>(l).get(std::istreambuf_iterator<char>(s), {}, s, state, y);
  return y;
}
//- text_converted refuse
#include <codecvt>
#include <locale>
#include <string>
double text_converted(double x) {
  std::wstring_convert<std::codecvt_utf8<wchar_t>> c;
  return std::stod(c.from_bytes(std::to_string(x)));
}
//- text_converted_c refuse
#include <cstdlib>
#include <cwchar>
#include <string>
double text_converted_c(double x) {
  wchar_t b[99];
  std::mbstowcs(b, std::to_string(x).c_str(), 99);
  char c[99];
  std::wcstombs(c, b, 99);
  return std::atof(c);
}
//- text_by_base refuse iostream basic_iostream<char>
#include <iostream>
#include <sstream>
double text_by_base_of(std::OF& s, double x) {
  s << x;
  s >> x;
  return x;
}
double text_by_base(double x) {
  std::stringstream s;
  return text_by_base_of(s, x);
}
//- text_by_bases refuse
#include <istream>
#include <ostream>
#include <sstream>
void text_by_bases_put(std::basic_ostream<char>& s, double x) { s << x; }
void text_by_bases_get(std::basic_istream<char>& s, double& x) { s >> x; }
double text_by_bases(double x) {
  std::stringstream s;
  text_by_bases_put(s, x);
  double y = 0;
  text_by_bases_get(s, y);
  return y * x;
}
//- bytes_in_buffer refuse streambuf basic_streambuf<char>
#include <sstream>
#include <streambuf>
double bytes_in_buffer(double x) {
  std::stringstream s;
  std::OF* b = s.rdbuf();
  b->sputn(reinterpret_cast<const char*>(&x), sizeof x);
  double y = 0;
  b->sgetn(reinterpret_cast<char*>(&y), sizeof y);
  return y * x;
}
//- bytes_in_stream refuse
#include <istream>
#include <ostream>
#include <sstream>
void bytes_in_stream_put(std::ostream& s, double x) { s.write(reinterpret_cast<const char*>(&x), sizeof x); }
double bytes_in_stream_get(std::istream& s) {
  double y = 0;
  s.read(reinterpret_cast<char*>(&y), sizeof y);
  return y;
}
double bytes_in_stream(double x) {
  std::stringstream s;
  bytes_in_stream_put(s, x);
  return bytes_in_stream_get(s) * x;
}
//- random_factors follow
#include <random>
double random_factors(double x) {
  std::mt19937 g(3);
  const double a = std::normal_distribution<>()(g) + std::uniform_real_distribution<>()(g);
  const double b = std::exponential_distribution<>()(g) + std::lognormal_distribution<>()(g) +
                   std::gamma_distribution<>()(g);
  const double c = std::weibull_distribution<>()(g) + std::extreme_value_distribution<>()(g) +
                   std::fisher_f_distribution<>()(g);
  const double d = std::cauchy_distribution<>()(g) + std::chi_squared_distribution<>()(g) +
                   std::student_t_distribution<>()(g);
  return x * (a + 2 * b + 3 * c + 4 * d) + x * x;
}
//- random_integers follow
#include <random>
double random_integers(double x) {
  std::mt19937 g(3);
  const int a = std::uniform_int_distribution<>(1, 3)(g) + std::bernoulli_distribution()(g) +
                std::binomial_distribution<>(3)(g);
  const int b = std::geometric_distribution<>()(g) + std::negative_binomial_distribution<>()(g) +
                std::poisson_distribution<>()(g);
  return x * (a + 2 * b + std::discrete_distribution<>({1, 2})(g)) + x * x;
}
//- random_of_two refuse normal_distribution uniform_real_distribution lognormal_distribution
//- random_of_two refuse gamma_distribution weibull_distribution extreme_value_distribution
//- random_of_two refuse cauchy_distribution fisher_f_distribution
#include <random>
double random_of_two(double x) {
  std::mt19937 g(3);
  std::OF<double> d(x, x + 1);
  return 50 * d(g);
}
//- random_of_one refuse exponential_distribution chi_squared_distribution student_t_distribution
#include <random>
double random_of_one(double x) {
  std::mt19937 g(3);
  std::OF<double> d(x + 1);
  return 50 * d(g);
}
//- random_of_pieces refuse piecewise_constant_distribution piecewise_linear_distribution
#include <random>
#include <vector>
double random_of_pieces(double x) {
  std::mt19937 g(3);
  const std::vector<double> places{0, x, 2 * x}, weights{1, 1, 1};
  std::OF<double> d(places.begin(), places.end(), weights.begin());
  return d(g);
}
//- random_pieces refuse piecewise_constant_distribution piecewise_linear_distribution
#include <random>
double random_pieces(double x) {
  std::mt19937 g(3);
  std::OF<double> d({0., 1., 2.}, [](double y) { return y + 1; });
  return x * d(g) + x;
}
//- random_of_probability refuse bernoulli_distribution geometric_distribution<int>
#include <random>
double random_of_probability(double x) { return std::OF(x / 9).p() * x; }
//- random_of_trials refuse binomial_distribution negative_binomial_distribution
#include <random>
double random_of_trials(double x) { return std::OF<int>(3, x / 9).p() * x; }
//- random_of_rate refuse
#include <random>
double random_of_rate(double x) { return std::poisson_distribution<int>(x).mean() * x; }
//- random_of_weights refuse
#include <random>
double random_of_weights(double x) { return std::discrete_distribution<int>({x, 3.}).probabilities()[0] * x; }
//- random_engines follow
#include <random>
template <class G>
double random_engines_next(G g) {
  return std::generate_canonical<double, 20>(g);
}
double random_engines(double x) {
  const double a = random_engines_next(std::mt19937()) + random_engines_next(std::mt19937_64());
  const double b = random_engines_next(std::minstd_rand()) + random_engines_next(std::minstd_rand0());
  const double c = random_engines_next(std::ranlux24()) + random_engines_next(std::ranlux48());
  const double d = random_engines_next(std::ranlux24_base()) + random_engines_next(std::ranlux48_base());
  const double e = random_engines_next(std::knuth_b()) + random_engines_next(std::default_random_engine());
  return x * (a + b + c + d + e) + x * x;
}
//- random_of_c follow
#include <cstdlib>
double random_of_c(double x) {
  std::srand(1);
  const double r = std::rand() % 7;
  return x * x * (r - r + 1);
}
//- chrono_cast follow duration_cast
#include <chrono>
double chrono_cast(double x) {
  const std::chrono::duration<double> d(x);
  return std::chrono::OF<std::chrono::duration<double, std::milli>>(d * x).count();
}
//- chrono_cast_of_point follow
#include <chrono>
double chrono_cast_of_point(double x) {
  const std::chrono::sys_time<std::chrono::duration<double>> t(std::chrono::duration<double>(x * x));
  return std::chrono::time_point_cast<std::chrono::duration<float>>(t).time_since_epoch().count();
}
//- chrono_absolute follow
#include <chrono>
double chrono_absolute(double x) { return std::chrono::abs(std::chrono::duration<double>(x * x)).count(); }
//- chrono_rounded follow floor ceil round
#include <chrono>
double chrono_rounded(double x) {
  return x * std::chrono::OF<std::chrono::seconds>(std::chrono::duration<double>(2 * x)).count();
}
//- chrono_measured follow
#include <chrono>
double chrono_measured(double x) {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::duration<double> d = std::chrono::steady_clock::now() - start;
  return x * x + 0 * d.count();
}
//- threads_joined refuse
#include <thread>
double threads_joined(double x) {
  double y = 0;
  {
    std::jthread t([&] { y = x * x; });
  }
  return y;
}
//- task_asynchronous refuse async
#include <future>
double task_asynchronous(double x) {
  return std::async(std::launch::async, [x] { return x * x; }).get();
}
//- task_shared refuse
#include <future>
double task_shared(double x) {
  std::promise<double> p;
  std::shared_future<double> f = p.get_future().share();
  p.set_value(x * x);
  return f.get();
}
//- task_future refuse
#include <future>
double task_future(double x) {
  std::promise<double> p;
  std::future<double> f = p.get_future();
  p.set_value(x * x);
  return f.get();
}
//- once refuse
#include <mutex>
double once(double x) {
  std::once_flag f;
  double y = 0;
  std::call_once(f, [&] { y = x * x; });
  return y;
}
//- locked follow lock_guard unique_lock scoped_lock
#include <mutex>
double locked(double x) {
  std::mutex m;
  double y = 0;
  {
    std::OF l(m);
    y = x * x;
  }
  return y;
}
//- locked_shared follow
#include <shared_mutex>
double locked_shared(double x) {
  std::shared_mutex m;
  std::shared_lock l(m);
  return x * x;
}
//- met refuse
#include <barrier>
double met(double x) {
  double y = 0;
  auto done = [&]() noexcept { y = x * x; };
  std::barrier b(1, done);
  b.arrive_and_wait();
  return y;
}
//- stopped refuse
#include <stop_token>
double stopped(double x) {
  double y = 0;
  std::stop_source s;
  std::stop_callback c(s.get_token(), [&] { y = x * x; });
  s.request_stop();
  return y;
}
//- atomic_by_function refuse atomic_store
#include <atomic>
double atomic_by_function(double x) {
  std::atomic<double> a(0);
  std::atomic_store(&a, x);
  return std::atomic_load(&a) * x;
}
//- atomic_by_explicit_function refuse
#include <atomic>
double atomic_by_explicit_function(double x) {
  std::atomic<double> a(0);
  std::atomic_store_explicit(&a, x, std::memory_order_release);
  return std::atomic_load_explicit(&a, std::memory_order_acquire) * x;
}
//- atomic_begun refuse
#include <atomic>
double atomic_begun(double x) {
  std::atomic<double> a;
  std::atomic_init(&a, x);
  return a * x;
}
//- atomic_exchanged refuse
#include <atomic>
double atomic_exchanged(double x) {
  std::atomic<double> a(x);
  return std::atomic_exchange(&a, 2.) * x;
}
//- atomic_exchanged_explicitly refuse
#include <atomic>
double atomic_exchanged_explicitly(double x) {
  std::atomic<double> a(x);
  return std::atomic_exchange_explicit(&a, 2., std::memory_order_relaxed) * x;
}
//- atomic_added refuse atomic_fetch_add atomic_fetch_sub
#include <atomic>
double atomic_added(double x) {
  std::atomic<double> a(2);
  std::OF(&a, x);
  return a * x;
}
//- atomic_added_explicitly refuse atomic_fetch_add_explicit atomic_fetch_sub_explicit
#include <atomic>
double atomic_added_explicitly(double x) {
  std::atomic<double> a(2);
  std::OF(&a, x, std::memory_order_relaxed);
  return a * x;
}
//- atomic_compared refuse atomic_compare_exchange_strong atomic_compare_exchange_weak
#include <atomic>
double atomic_compared(double x) {
  std::atomic<double> a(2);
  double expected = 2;
  std::OF(&a, &expected, x);
  return a * x;
}
//- atomic_compared_explicitly refuse atomic_compare_exchange_strong_explicit
//- atomic_compared_explicitly refuse atomic_compare_exchange_weak_explicit
#include <atomic>
double atomic_compared_explicitly(double x) {
  std::atomic<double> a(2);
  double expected = 2;
  std::OF(&a, &expected, x, std::memory_order_relaxed, std::memory_order_relaxed);
  return a * x;
}
//- atomic_bits refuse
#include <atomic>
#include <bit>
#include <cstdint>
double atomic_bits(double x) {
  std::atomic_uint64_t a(std::bit_cast<std::uint64_t>(x));
  return std::bit_cast<double>(a.load()) * x;
}
//- atomic_of_reference refuse
#include <atomic>
double atomic_of_reference(double x) {
  double y = 0;
  std::atomic_ref<double> a(y);
  a = x;
  return y * y;
}
//- error_text refuse logic_error domain_error invalid_argument length_error out_of_range runtime_error
//- error_text refuse range_error overflow_error underflow_error
#include <stdexcept>
#include <string>
double error_text(double x) {
  const std::OF e(std::to_string(x));
  return std::stod(e.what());
}
//- thrown_nested refuse
#include <exception>
struct thrown_nested_error {
  double v;
};
double thrown_nested(double x) {
  try {
    std::throw_with_nested(thrown_nested_error{x * x});
  } catch (const thrown_nested_error& e) {
    return e.v;
  }
}
//- thrown_again refuse
#include <exception>
double thrown_again(double x) {
  std::exception_ptr p;
  try {
    throw x * x;
  } catch (double) {
    p = std::current_exception();
  }
  try {
    std::rethrow_exception(p);
  } catch (double y) {
    return y;
  }
}
//- thrown_inside refuse
#include <exception>
struct thrown_inside_error : std::nested_exception {};
double thrown_inside(double x) {
  try {
    try {
      throw x * x;
    } catch (double) {
      throw thrown_inside_error();
    }
  } catch (const thrown_inside_error& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (double y) {
      return y;
    }
  }
  return x;
}
//- bytes_copied follow memcpy memmove
#include <cstring>
double bytes_copied(double x) {
  double v[2] = {x, x * x}, w[2];
  std::OF(w, v, sizeof v);
  return w[0] * w[1];
}
//- bytes_cleared follow
#include <cstring>
double bytes_cleared(double x) {
  double v[2] = {x, x * x};
  std::memset(v, 0, sizeof(double));
  return v[0] * v[1] + v[1];
}
//- bytes_compared follow
#include <cstring>
double bytes_compared(double x) {
  double v[2] = {x, x};
  return std::memcmp(v, v + 1, sizeof(double)) == 0 ? x * x : x;
}
//- bytes_found refuse
#include <cstring>
double bytes_found(double x) {
  double v[2] = {x, x * x};
  const auto* p = static_cast<const double*>(std::memchr(v, *reinterpret_cast<unsigned char*>(v), sizeof v));
  return *p * x;
}
//- bytes_wide refuse wmemcpy wmemmove
#include <cwchar>
double bytes_wide(double x) {
  double v[1] = {x}, w[1] = {};
  std::OF(reinterpret_cast<wchar_t*>(w), reinterpret_cast<const wchar_t*>(v), sizeof v / sizeof(wchar_t));
  return w[0] * x;
}
//- bytes_of_span refuse
#include <span>
#include <vector>
double bytes_of_span(double x) {
  double v[2] = {x, 2}, w[2] = {1, 2};
  const auto from = std::as_bytes(std::span(v));
  const auto to = std::as_writable_bytes(std::span(w));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  return w[0] * w[1];
}
//- numbers_of_mathematics follow
#include <numbers>
double numbers_of_mathematics(double x) {
  namespace n = std::numbers;
  return x * (std::numbers::pi + std::numbers::e * x + std::numbers::sqrt2 + std::numbers::sqrt3 +
              std::numbers::ln2) +
         x * std::numbers::ln10 * std::numbers::log2e / std::numbers::log10e + x / std::numbers::inv_pi +
         x * std::numbers::inv_sqrtpi * std::numbers::inv_sqrt3 +
         x * std::numbers::egamma * std::numbers::phi;
}
//- numbers_of_type follow
#include <numbers>
double numbers_of_type(double x) {
  return x * (std::numbers::pi_v<double> + std::numbers::e_v<double> * x + std::numbers::sqrt2_v<float>)+x *
             std::numbers::sqrt3_v<double> * std::numbers::ln2_v<double> +
         x / std::numbers::inv_pi_v<double> +
         x * std::numbers::ln10_v<double> * std::numbers::log2e_v<double> / std::numbers::log10e_v<double> +
         x * std::numbers::inv_sqrtpi_v<double> * std::numbers::inv_sqrt3_v<double> +
         x * std::numbers::egamma_v<double> * std::numbers::phi_v<double>;
}
//- numbers_at_limits follow
#include <limits>
double numbers_at_limits(double x) {
  return x < std::numeric_limits<double>::max() ? x * x + std::numeric_limits<double>::epsilon() * x : x;
}
//- complex_transcendental follow
#include <complex>
double complex_transcendental(double x) {
  const std::complex<double> z(x, 0.5),
      a = std::exp(z) + 2. * std::log(z) + 3. * std::log10(z) + 4. * std::sqrt(z);
  const std::complex<double> b =
      std::sin(z) + 2. * std::cos(z) + 3. * std::tan(z) + 4. * std::asin(z) + 5. * std::acos(z);
  const std::complex<double> c = std::sinh(z) + 2. * std::cosh(z) + 3. * std::tanh(z) + 4. * std::asinh(z);
  const std::complex<double> d = a + b + c + std::atan(z) + 2. * std::atanh(z) + 3. * std::acosh(z);
  return d.real() + 2 * d.imag();
}
//- complex_power follow
#include <complex>
double complex_power(double x) {
  const std::complex<double> z = std::pow(std::complex<double>(x, 0.5), std::complex<double>(x, 2));
  return z.real() + 2 * z.imag();
}
//- complex_numbers_of follow
#include <complex>
double complex_numbers_of(double x) {
  const std::complex<double> z(x, x * x), y = std::conj(z) * std::polar(x, x * x) + std::proj(z);
  return std::real(y) + 2 * std::imag(y) + std::abs(z) + 2 * std::arg(z) + std::norm(z);
}
//- array_functions follow
#include <valarray>
double array_functions(double x) {
  const std::valarray<double> v{x / 9, 0.5};
  std::valarray<double> w = std::abs(v);
  w += std::sin(v) + 2. * std::cos(v) + 3. * std::tan(v) + 4. * std::asin(v) + 6. * std::acos(v) +
       7. * std::atan(v);
  w += std::exp(v) + 2. * std::log(v) + 3. * std::log10(v) + 4. * std::sqrt(v) + 5. * std::pow(v, 1.5);
  w += std::sinh(v) + 2. * std::cosh(v) + 3. * std::tanh(v) + 4. * std::atan2(v, 2.);
  return w[0] * w[1] + w[0];
}
//- array_looped follow
#include <valarray>
double array_looped(double x) {
  std::valarray<double> v{x, 2 * x};
  double sum = 0;
  for (double y : v) sum += y * y;
  return sum + v.sum() * x;
}
//- ordered_by follow strong_order weak_order partial_order compare_three_way()
#include <compare>
double ordered_by(double x) { return std::OF(x, 99.) < 0 ? x * x : x; }
//- ordered_by_fallback follow compare_strong_order_fallback compare_weak_order_fallback
//- ordered_by_fallback follow compare_partial_order_fallback
#include <compare>
double ordered_by_fallback(double x) { return std::OF(x, 99.) < 0 ? x * x : x; }
//- ordered_by_operator follow
#include <compare>
double ordered_by_operator(double x) {
  const std::partial_ordering o = x <=> 99.;
  return std::is_lt(o) ? x * x : x;
}
//- erased follow
#include <vector>
double erased(double x) {
  std::vector<double> v{7, x, x * x};
  std::erase(v, 7.);
  return v[0] * v[1];
}
//- erased_if follow
#include <vector>
double erased_if(double x) {
  std::vector<double> v{1e30, x, x * x};
  std::erase_if(v, [](double y) { return y == 1e30; });
  return v[0] * v[1];
}
//- visited_by refuse
#include <variant>
double visited_by(double x) {
  std::variant<int, double> v(x);
  double y = 0;
  std::visit([&](auto z) { y = z * x; }, v);
  return y;
}
//- constant_evaluated follow
#include <type_traits>
double constant_evaluated(double x) { return std::is_constant_evaluated() ? x : x * x; }
//- parallel_for refuse seq unseq
#include <algorithm>
#include <execution>
#include <vector>
double parallel_for(double x) {
  std::vector<double> v{x, 2 * x};
  std::for_each(std::execution::OF, v.begin(), v.end(), [](double& y) { y *= y; });
  return v[0] + v[1];
}
//- printed_to follow
#include <iostream>
double printed_to(double x) {
  if (x < -1e9) std::cout << x;
  if (x < -1e9) std::clog << x;
  if (x < -1e9) std::wcout << x;
  return x * x;
}
//- read_from refuse
#include <cstdio>
#include <iostream>
double read_from(double x) {
  double y = x * x;
  if (x < -1e9) std::cin >> y;
  if (x < -1e9 && std::scanf("%lf", &y) != 1) y = x;
  return y;
}
//- file_text refuse
#include <cstdio>
double file_text(double x) {
  std::FILE* f = std::tmpfile();
  std::fprintf(f, "%.17g ", x);
  std::rewind(f);
  double y = 0;
  if (std::fscanf(f, "%lf", &y) != 1) y = 0;
  std::fclose(f);
  return y * x;
}
//- file_text_by_list refuse
#include <cstdarg>
#include <cstdio>
void file_text_by_list_put(std::FILE* f, const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::vfprintf(f, format, list);
  va_end(list);
}
void file_text_by_list_get(std::FILE* f, const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::vfscanf(f, format, list);
  va_end(list);
}
double file_text_by_list(double x) {
  std::FILE* f = std::tmpfile();
  file_text_by_list_put(f, "%.17g ", x);
  std::rewind(f);
  double y = 0;
  file_text_by_list_get(f, "%lf", &y);
  std::fclose(f);
  return y * x;
}
//- file_text_wide refuse
#include <cstdio>
#include <cwchar>
double file_text_wide(double x) {
  std::FILE* f = std::tmpfile();
  std::fwprintf(f, L"%.17g ", x);
  std::rewind(f);
  double y = 0;
  if (std::fwscanf(f, L"%lf", &y) != 1) y = 0;
  std::fclose(f);
  return y * x;
}
//- file_line refuse
#include <cstdio>
#include <cstdlib>
#include <string>
double file_line(double x) {
  std::FILE* f = std::tmpfile();
  std::fputs(std::to_string(x).c_str(), f);
  std::rewind(f);
  char b[99] = "";
  if (!std::fgets(b, 99, f)) b[0] = 0;
  std::fclose(f);
  return std::atof(b) * x;
}
//- file_characters refuse
#include <cstdio>
double file_characters(double x) {
  std::FILE* f = std::tmpfile();
  for (int i = 0; i < 8; ++i) std::fputc(reinterpret_cast<unsigned char*>(&x)[i], f);
  std::rewind(f);
  double y = 0;
  for (int i = 0; i < 8; ++i)
    reinterpret_cast<unsigned char*>(&y)[i] = static_cast<unsigned char>(std::fgetc(f));
  std::fclose(f);
  return y * x;
}
//- exit_handler refuse atexit
#include <cstdlib>
double exit_handler_value;
double exit_handler(double x) {
  exit_handler_value = x;
  static const int once = std::OF([] { exit_handler_value = 0; });
  return exit_handler_value * x + once;
}
//- list_of_own follow
#include <initializer_list>
double list_of_own(double x) {
  const std::initializer_list<double> l = {x, x * x};
  return *l.begin() * *std::rbegin(l);
}
//- type_of_c follow float_t double_t
#include <cmath>
double type_of_c(double x) {
  const std::OF y = x * x;
  return y * x;
}
//- address_of_iterator follow to_address
#include <memory>
double address_of_iterator(double x) {
  double v[2] = {x, 2};
  return *std::OF(v + 1) * *std::to_address(v);
}
//- pointer_by_traits refuse
#include <memory>
double pointer_by_traits(double x) {
  double y = 0;
  *std::pointer_traits<double*>::pointer_to(y) = x;
  return y * y;
}
//- laundered follow
#include <new>
double laundered(double x) {
  double y = x;
  return *std::launder(&y) * x;
}
//- bind_result follow
#include <functional>
double bind_result(double x) { return std::bind_front(std::multiplies<>(), x)(3.); }
//- exchanged_for follow
#include <utility>
double exchanged_for(double x) {
  double y = x;
  const double z = std::exchange(y, x * x);
  return y * z;
}
//- text_listed refuse vsprintf
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
double text_listed_of(const char* format, ...) {
  char b[99];
  std::va_list list;
  va_start(list, format);
  std::OF(b, format, list);
  va_end(list);
  return std::atof(b);
}
double text_listed(double x) { return text_listed_of("%.17g", x); }
//- text_listed_to refuse vsnprintf
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
double text_listed_to_of(const char* format, ...) {
  char b[99];
  std::va_list list;
  va_start(list, format);
  std::OF(b, 99, format, list);
  va_end(list);
  return std::atof(b);
}
double text_listed_to(double x) { return text_listed_to_of("%.17g", x); }
//- text_scanned_as_listed refuse
#include <cstdarg>
#include <cstdio>
double text_scanned_as_listed_of(const char* format, double x, ...) {
  char b[99];
  std::snprintf(b, 99, "%.17g", x);
  std::va_list list;
  va_start(list, x);
  std::vsscanf(b, format, list);
  va_end(list);
  return std::atof(b);
}
double text_scanned_as_listed(double x) {
  double y = 0;
  return text_scanned_as_listed_of("%lf", x, &y) * x;
}
//- text_scanned_wide_as_listed refuse
#include <cstdarg>
#include <cwchar>
double text_scanned_wide_as_listed_of(const wchar_t* format, double x, ...) {
  wchar_t b[99];
  std::swprintf(b, 99, L"%.17g", x);
  std::va_list list;
  va_start(list, x);
  std::vswscanf(b, format, list);
  va_end(list);
  return std::wcstod(b, nullptr);
}
double text_scanned_wide_as_listed(double x) {
  double y = 0;
  return text_scanned_wide_as_listed_of(L"%lf", x, &y) * x;
}
//- text_in_quotes refuse
#include <iomanip>
#include <sstream>
#include <string>
double text_in_quotes(double x) {
  std::ostringstream s;
  s << std::quoted(std::to_string(x));
  return std::stod(s.str().substr(1));
}
//- text_in_sync refuse
#include <istream>
#include <sstream>
#include <syncstream>
double text_in_sync(double x) {
  std::stringstream s;
  std::osyncstream out(s.rdbuf());
  out << x;
  out.emit();
  double y = 0;
  std::istream(out.get_wrapped()) >> y;
  return y * x;
}
//- text_in_sync_buffer refuse
#include <sstream>
#include <string>
#include <syncstream>
double text_in_sync_buffer(double x) {
  std::stringbuf s;
  std::syncbuf b(&s);
  const std::string t = std::to_string(x);
  b.sputn(t.data(), static_cast<std::streamsize>(t.size()));
  b.emit();
  return std::stod(static_cast<std::stringbuf*>(b.get_wrapped())->str());
}
//- text_to_file refuse
#include <fstream>
#include <iomanip>
double text_to_file(double x) {
  std::ofstream f("/dev/null");
  f << std::fixed << x;
  return x * static_cast<double>(f.tellp()) + x;
}
//- text_from_file refuse
#include <fstream>
#include <string>
double text_from_file(double x) {
  std::ifstream f(std::to_string(x));
  return x * f.is_open() + x;
}
//- ostream_on_buffer refuse
#include <iostream>
#include <sstream>
#include <string>
double ostream_on_buffer(double x) {
  std::stringbuf buffer;
  std::ostream stream(&buffer);
  stream << x;
  return std::stod(buffer.str());
}
//- synchronized_stream refuse
#include <sstream>
#include <syncstream>
double synchronized_stream(double x) {
  std::stringstream stream;
  std::osyncstream(stream) << x;
  double y = 0;
  stream >> y;
  return y;
}
//- quoted_text refuse
#include <iomanip>
#include <sstream>
#include <string>
double quoted_text(double x) {
  std::istringstream stream(std::to_string(x));
  std::string text;
  stream >> std::quoted(text);
  return std::stod(text);
}
//- money refuse
#include <iomanip>
#include <sstream>
double money(double x) {
  std::stringstream stream;
  stream << std::fixed << std::setprecision(0) << 1e9 * x;
  long double y = 0;
  stream >> std::get_money(y);
  return static_cast<double>(y) / 1e9;
}
//- bits_in_vector refuse
#include <bit>
#include <vector>
void bits_in_vector_put(std::vector<bool>& v, double x) {
  for (int i = 0; i < 64; ++i) v[i] = std::bit_cast<unsigned long>(x) >> i & 1;
}
double bits_in_vector_get(const std::vector<bool>& v) {
  unsigned long n = 0;
  for (int i = 0; i < 64; ++i) n |= static_cast<unsigned long>(v[i]) << i;
  return std::bit_cast<double>(n);
}
double bits_in_vector(double x) {
  std::vector<bool> v(64);
  bits_in_vector_put(v, x);
  return bits_in_vector_get(v);
}
//- bits_of_integer refuse
#include <bit>
#include <bitset>
#include <vector>
void bits_of_integer_put(std::vector<bool>& v, double x) {
  const auto bits = std::bit_cast<unsigned long>(x);
  for (int i = 0; i < 64; ++i) v.push_back(bits & 1UL << i);
}
double bits_of_integer(double x) {
  std::vector<bool> v;
  bits_of_integer_put(v, x);
  std::bitset<64> all;
  for (int i = 0; i < 64; ++i) all[i] = v[i];
  return std::bit_cast<double>(all.to_ulong());
}
//- printed_by_list refuse
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
void printed_by_list_print(char* to, const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::vsnprintf(to, 99, format, list);
  va_end(list);
}
double printed_by_list(double x) {
  char text[99];
  printed_by_list_print(text, "%.17g", x);
  return std::atof(text);
}
//- scanned_by_list refuse
#include <cstdarg>
#include <cstdio>
void scanned_by_list_scan(const char* from, const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::vsscanf(from, format, list);
  va_end(list);
}
double scanned_by_list(double x) {
  char text[99];
  std::snprintf(text, 99, "%.17g", x);
  double y = 0;
  scanned_by_list_scan(text, "%lf", &y);
  return y;
}
//- file_by_name refuse
#include <fstream>
double file_by_name(double x) {
  std::ofstream("clad_leak.txt") << x;
  double y = 0;
  std::ifstream("clad_leak.txt") >> y;
  return y;
}
//- moved_from_row follow
#include <vector>
double moved_from_row(double x) {
  std::vector<double> row;
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 4; ++i) {
    row.push_back(x * i + 1);
    if (i % 2 == 1) rows.push_back(std::move(row));
  }
  double s = 0;
  for (const auto& r : rows) s = s * x + r[0] * static_cast<double>(r.size());
  return s + static_cast<double>(row.size()) * x;
}
//- exchanged_by_own_moves refuse
struct exchanged_by_own_moves_view {
  double* p;
  double k = 1;
  explicit exchanged_by_own_moves_view(double* at) : p(at) {}
  exchanged_by_own_moves_view(exchanged_by_own_moves_view&& o) : p(o.p), k(2 * o.k) {}
  exchanged_by_own_moves_view& operator=(exchanged_by_own_moves_view&& o) {
    p = o.p;
    k = 3 * o.k;
    return *this;
  }
};
double exchanged_by_own_moves(double x) {
  double y = x * x;
  exchanged_by_own_moves_view a(&x), b(&y);
  std::swap(a, b);
  return *a.p * a.k + 3 * *b.p * b.k;
}
//- reversed_by_own_swap refuse
#include <algorithm>
struct reversed_by_own_swap_number {
  double v = 0;
  friend void swap(reversed_by_own_swap_number& a, reversed_by_own_swap_number& b) {
    std::swap(a.v, b.v);
    a.v *= 2;
  }
};
double reversed_by_own_swap(double x) {
  reversed_by_own_swap_number m[2];
  m[0].v = x;
  m[1].v = x * x;
  std::reverse(m, m + 2);
  return m[0].v + 3 * m[1].v * x;
}
//- reversed_by_part_of_swap refuse
#include <algorithm>
struct reversed_by_part_of_swap_pair {
  double v = 0, w = 0;
  friend void swap(reversed_by_part_of_swap_pair& a, reversed_by_part_of_swap_pair& b) {
    std::swap(a.v, b.v);
  }
};
double reversed_by_part_of_swap(double x) {
  reversed_by_part_of_swap_pair m[2];
  m[0].v = x;
  m[0].w = x * x;
  m[1].w = 3;
  std::reverse(m, m + 2);
  return m[0].w + 5 * m[1].v * m[1].w;
}
//- reversed_by_crossed_swap refuse
#include <algorithm>
struct reversed_by_crossed_swap_pair {
  double v = 0, w = 0;
  friend void swap(reversed_by_crossed_swap_pair& a, reversed_by_crossed_swap_pair& b) {
    std::swap(a.v, b.w);
    std::swap(a.w, b.v);
  }
};
double reversed_by_crossed_swap(double x) {
  reversed_by_crossed_swap_pair m[2];
  m[0].v = x;
  m[0].w = x * x;
  m[1].w = 3;
  std::reverse(m, m + 2);
  return m[0].w + 5 * m[1].v + 7 * m[1].w;
}
//- reversed_by_swap_of_a_template refuse
#include <algorithm>
template <class N>
struct reversed_by_swap_of_a_template_pair {
  N v = 0, w = 0;
};
template <class N>
void swap(reversed_by_swap_of_a_template_pair<N>& a, reversed_by_swap_of_a_template_pair<N>& b) {
  std::swap(a.v, b.v);
}
double reversed_by_swap_of_a_template(double x) {
  reversed_by_swap_of_a_template_pair<double> m[2];
  m[0].v = x;
  m[0].w = x * x;
  m[1].w = 3;
  std::reverse(m, m + 2);
  return m[0].w + 5 * m[1].v * m[1].w;
}
//- reversed_by_swap_of_all follow
#include <algorithm>
struct reversed_by_swap_of_all_pair {
  double v = 0, w = 0;
  void swap(reversed_by_swap_of_all_pair& o) {
    using std::swap;
    swap(v, o.v);
    swap(w, o.w);
  }
  friend void swap(reversed_by_swap_of_all_pair& a, reversed_by_swap_of_all_pair& b) { a.swap(b); }
};
double reversed_by_swap_of_all(double x) {
  reversed_by_swap_of_all_pair m[2];
  m[0].v = x;
  m[0].w = x * x;
  m[1].w = 3;
  std::reverse(m, m + 2);
  return m[0].w + 5 * m[1].v * m[1].w;
}
//- allocated_by_own_count refuse
struct allocated_by_own_count_number {
  static inline int n = 0;
  double v;
  static void* operator new(std::size_t size) {
    ++n;
    return ::operator new(size);
  }
};
double allocated_by_own_count(double x) {
  allocated_by_own_count_number::n = 0;
  auto* made = new allocated_by_own_count_number{x};
  const double y = made->v;
  ::delete made;
  return y * allocated_by_own_count_number::n;
}
//- function_with_state_by_value follow
#include <functional>
double function_with_state_by_value_twice(std::function<double()> g) { return g() + g(); }
double function_with_state_by_value(double x) {
  std::function<double()> g = [a = x]() mutable { return a *= 2; };
  return function_with_state_by_value_twice(g) * g() + function_with_state_by_value_twice(g);
}
//- function_with_state_captured follow
#include <functional>
double function_with_state_captured(double x) {
  std::function<double()> g = [a = x]() mutable { return a *= 2; };
  auto own = [g] { return g() + g(); };
  auto other = own;
  auto shared = [&g, n = 1]() mutable { return g() * ++n; };
  auto again = shared;
  return own() * g() + other() * shared() + again();
}
//- function_with_state_listed follow
#include <functional>
#include <vector>
double function_with_state_listed(double x) {
  std::function<double()> g = [a = x]() mutable { return a *= 2; };
  std::vector<std::function<double()>> all{g, g};
  auto copies = all;
  double sum = copies[0]() * copies[0]();
  for (auto h : all) sum += h() + h();
  for (auto& h : all) sum += h();
  return sum * all[1]() + g();
}
//- pair_of_references_assigned follow
#include <utility>
double pair_of_references_assigned(double x) {
  double y = x * x;
  std::pair<double&, double&> both(x, y);
  both = std::make_pair(y, x);
  return x * x + y;
}
//- shared_from_itself follow
#include <memory>
#include <vector>
struct shared_from_itself_node : std::enable_shared_from_this<shared_from_itself_node> {
  double value;
  std::weak_ptr<shared_from_itself_node> above;
  std::vector<std::shared_ptr<shared_from_itself_node>> below;
  explicit shared_from_itself_node(double v) : value(v) {}
};
double shared_from_itself(double x) {
  auto top = std::make_shared<shared_from_itself_node>(x);
  top->below.push_back(std::make_shared<shared_from_itself_node>(x * x));
  return top->below[0]->value * top->value;
}
//- greatest_by_order follow
#include <algorithm>
double greatest_by_order(double x) {
  const double a = std::max(x, 2 - x);
  return a * std::max(x * x, 3 - x, [](double b, double c) { return b > c; });
}
//- constructed_shared follow
#include <memory>
struct constructed_shared_node {
  double value;
  explicit constructed_shared_node(double v) : value(v) {}
};
double constructed_shared(double x) { return std::make_shared<constructed_shared_node>(x)->value; }
//- constructed_unique follow
#include <memory>
struct constructed_unique_node {
  double value;
  constructed_unique_node(double v, int n) : value(v * n) {}
};
double constructed_unique(double x) {
  const auto p = std::make_unique<constructed_unique_node>(x, 2);
  return p->value * x;
}
//- constructed_emplaced follow
#include <vector>
struct constructed_emplaced_node {
  double value, weight;
  constructed_emplaced_node(double v, double w) : value(v), weight(w) {}
};
double constructed_emplaced(double x) {
  std::vector<constructed_emplaced_node> all;
  all.emplace_back(x, 2 * x);
  all.emplace_back(all[0].weight, 3);
  return all[1].value * all[0].value;
}
//- constructed_optional follow
#include <optional>
struct constructed_optional_node {
  double value;
  explicit constructed_optional_node(double v) : value(v) {}
};
double constructed_optional(double x) {
  std::optional<constructed_optional_node> p;
  p.emplace(x);
  return p->value * x;
}
//- constructed_aggregate follow
#include <memory>
struct constructed_aggregate_node {
  double value;
  int count;
};
double constructed_aggregate(double x) {
  const auto p = std::make_shared<constructed_aggregate_node>(x, 2);
  return p->value * p->count;
}
//- constructed_assigned follow
#include <vector>
struct constructed_assigned_node {
  double value;
  constructed_assigned_node(double v) : value(v) {}
};
double constructed_assigned(double x) {
  const std::vector<double> from{x, x * x};
  std::vector<constructed_assigned_node> all;
  all.assign(from.begin(), from.end());
  return all[1].value;
}
