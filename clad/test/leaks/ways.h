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
//- statement_expression refuse
double statement_expression(double x) {
  return ({
    double y = x * x;
    y + 1;
  });
}
//- compound_literal refuse
struct compound_literal_point {
  double a, b;
};
double compound_literal(double x) { return ((compound_literal_point){x, 2}).a * 3; }
//- variable_length refuse
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
//- views refuse
#include <ranges>
#include <vector>
double views(double x) {
  std::vector<double> v{x, 2 * x, 3};
  double sum = 0;
  for (double y : v | std::views::transform([](double a) { return a * a; })) sum += y;
  return sum;
}
//- view_of_first refuse
#include <ranges>
#include <vector>
double view_of_first(double x) {
  std::vector<double> v{x, 2 * x, 3};
  double sum = 0;
  for (double y : v | std::views::take(2)) sum += y;
  return sum;
}
//- ranges_algorithm refuse
#include <algorithm>
#include <array>
double ranges_algorithm(double x) {
  std::array<double, 2> v{x, 2}, w{};
  std::ranges::copy(v, w.begin());
  return w[0];
}
//- ranges_sort refuse
#include <algorithm>
#include <vector>
double ranges_sort(double x) {
  std::vector<double> v{x + 5, x};
  std::ranges::sort(v);
  return v[0];
}
//- ranges_for_each refuse
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
//- moved_iterator refuse
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
//- cast_of_struct refuse
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
//- extrema refuse
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
//- assumed_aligned refuse
double assumed_aligned(double x) {
  alignas(16) double v[2] = {x, 2};
  const auto* p = static_cast<double*>(__builtin_assume_aligned(v, 16));
  return p[0] * p[1];
}
//- std_assumed_aligned refuse
#include <memory>
double std_assumed_aligned(double x) {
  alignas(16) double v[2] = {x, 2};
  const double* p = std::assume_aligned<16>(v);
  return p[0] * p[1];
}
//- to_address refuse
#include <memory>
#include <vector>
double to_address(double x) {
  std::vector<double> v{x, 2};
  return *std::to_address(v.begin()) * 2;
}
//- constructed_at refuse
#include <memory>
double constructed_at(double x) {
  double y = 0;
  std::construct_at(&y, x);
  return y * y;
}
//- uninitialized refuse
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
//- permuted refuse
#include <algorithm>
#include <vector>
double permuted(double x) {
  std::vector<double> v{x, x + 1, x + 2};
  std::next_permutation(v.begin(), v.end());
  return v[1] * 2;
}
//- shuffled refuse
#include <algorithm>
#include <random>
#include <vector>
double shuffled(double x) {
  std::vector<double> v{x, x + 1, x + 2};
  std::mt19937 g(1);
  std::shuffle(v.begin(), v.end(), g);
  return v[0] * 2 + v[1];
}
//- sampled refuse
#include <algorithm>
#include <random>
#include <vector>
double sampled(double x) {
  std::vector<double> v{x, x + 1, x + 2}, w;
  std::sample(v.begin(), v.end(), std::back_inserter(w), 2, std::mt19937{1});
  return w[0] + w[1];
}
//- heaped refuse
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
//- dot_of_members refuse
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
