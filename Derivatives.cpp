namespace {
struct f_state {
  double s;
  struct iteration {
    double s_old;
  };
  clad::flat_tape<iteration> loop;
};
static void f_fwd(double x, double y, f_state& state) {
  state.s = x;
  state.loop.reserve<int>(0, 3);
  for (int i = 0; i < 3; ++i) {
    auto& r = state.loop[i];
    r.s_old = state.s;
    state.s = state.s * y;
  }
}
static void f_rev(double y, f_state& state, const double d_result, double& d_x, double& d_y) {
  double d_s = 0;
  d_s += d_result;  // return s
  double d_sum = 0;
  for (int i = 3; i > 0;) {  // for (int i=0;i<3;i++)
    --i;
    auto& r = state.loop[i];
    state.s = r.s_old;
    const double d = d_s;  // s*=y
    d_s = 0;
    d_s += d * y;
    d_sum += d * state.s;
  }
  if (0 < 3) {
    d_y += d_sum;
  }
  d_x += d_s;  // double s=x;
}

}  // namespace
static void f_grad(double x, double y, double* d_x, double* d_y) {
  f_state state;
  f_fwd(x, y, state);
  f_rev(y, state, 1, *d_x, *d_y);
}
static const char f_grad_code[] = R"clad(struct f_state {
  double s;
  struct iteration {
    double s_old;
  };
  clad::flat_tape<iteration> loop;
};
static void f_fwd(double x, double y, f_state& state) {
  state.s = x;
  state.loop.reserve<int>(0, 3);
  for (int i = 0; i < 3; ++i) {
    auto& r = state.loop[i];
    r.s_old = state.s;
    state.s = state.s * y;
  }
}
static void f_rev(double y, f_state& state, const double d_result, double& d_x, double& d_y) {
  double d_s = 0;
  d_s += d_result;  // return s
  double d_sum = 0;
  for (int i = 3; i > 0;) {  // for (int i=0;i<3;i++)
    --i;
    auto& r = state.loop[i];
    state.s = r.s_old;
    const double d = d_s;  // s*=y
    d_s = 0;
    d_s += d * y;
    d_sum += d * state.s;
  }
  if (0 < 3) {
    d_y += d_sum;
  }
  d_x += d_s;  // double s=x;
}
static void f_grad(double x, double y, double* d_x, double* d_y) {
  f_state state;
  f_fwd(x, y, state);
  f_rev(y, state, 1, *d_x, *d_y);
}
)clad";
static const char* f_grad_entry(const clad::call_frame* frame) {
  if (!frame) return f_grad_code;
  constexpr std::size_t wanted = 2;
  clad::check_adjoints(*frame, wanted, false, "f");
  auto& primal_0 = *static_cast<const double*>(frame->primals[0]);
  auto& primal_1 = *static_cast<const double*>(frame->primals[1]);
  clad::adjoint_holder<double> adjoint_0(*frame, 0, wanted, "x", primal_0);
  clad::adjoint_holder<double> adjoint_1(*frame, 1, wanted, "y", primal_1);
  f_grad(primal_0, primal_1, adjoint_0.get(), adjoint_1.get());
  return nullptr;
}
