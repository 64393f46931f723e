// The functions of std::complex as plain code on the real and the imaginary part: more of Library.h.
#pragma once

#include <cmath>
#include <limits>

#include "clad/Differentiator/Adjoint.h"

namespace clad::library {

template <class Z>
using real_of = typename Z::value_type;
template <detail::complex Z>
Z operator_plus(const Z& a) {
  return a;
}
template <detail::complex Z>
Z operator_minus(const Z& a) {
  return Z(-a.real(), -a.imag());
}
template <detail::complex Z>
Z operator_plus(const Z& a, const Z& b) {
  return Z(a.real() + b.real(), a.imag() + b.imag());
}
template <detail::complex Z>
Z operator_plus(const Z& a, const real_of<Z>& b) {
  return Z(a.real() + b, a.imag());
}
template <detail::complex Z>
Z operator_plus(const real_of<Z>& a, const Z& b) {
  return Z(a + b.real(), b.imag());
}
template <detail::complex Z>
Z operator_minus(const Z& a, const Z& b) {
  return Z(a.real() - b.real(), a.imag() - b.imag());
}
template <detail::complex Z>
Z operator_minus(const Z& a, const real_of<Z>& b) {
  return Z(a.real() - b, a.imag());
}
template <detail::complex Z>
Z operator_minus(const real_of<Z>& a, const Z& b) {
  return Z(a - b.real(), -b.imag());
}
template <detail::complex Z>
Z operator_star(const Z& a, const Z& b) {
  return Z(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}
template <detail::complex Z>
Z operator_star(const Z& a, const real_of<Z>& b) {
  return Z(a.real() * b, a.imag() * b);
}
template <detail::complex Z>
Z operator_star(const real_of<Z>& a, const Z& b) {
  return Z(a * b.real(), a * b.imag());
}
template <detail::complex Z>
Z operator_slash(const Z& a, const Z& b) {
  const real_of<Z> n = b.real() * b.real() + b.imag() * b.imag();
  return Z((a.real() * b.real() + a.imag() * b.imag()) / n, (a.imag() * b.real() - a.real() * b.imag()) / n);
}
template <detail::complex Z>
Z operator_slash(const Z& a, const real_of<Z>& b) {
  return Z(a.real() / b, a.imag() / b);
}
template <detail::complex Z>
Z operator_slash(const real_of<Z>& a, const Z& b) {
  const real_of<Z> n = b.real() * b.real() + b.imag() * b.imag();
  return Z(a * b.real() / n, -a * b.imag() / n);
}
template <detail::complex Z>
real_of<Z> real(const Z& z) {
  return z.real();
}
template <detail::complex Z>
real_of<Z> imag(const Z& z) {
  return z.imag();
}
template <detail::complex Z>
real_of<Z> abs(const Z& z) {
  return std::hypot(z.real(), z.imag());
}
template <detail::complex Z>
real_of<Z> norm(const Z& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <detail::complex Z>
real_of<Z> arg(const Z& z) {
  return std::atan2(z.imag(), z.real());
}
/// The result has the type of the first argument, unlike that of std::polar.
template <detail::complex Z>
Z polar(const Z&, const real_of<Z>& r, const real_of<Z>& angle) {
  return Z(r * std::cos(angle), r * std::sin(angle));
}
template <detail::complex Z>
Z conj(const Z& z) {
  return Z(z.real(), -z.imag());
}
template <detail::complex Z>
Z exp(const Z& z) {
  const real_of<Z> r = std::exp(z.real());
  return Z(r * std::cos(z.imag()), r * std::sin(z.imag()));
}
template <detail::complex Z>
Z log(const Z& z) {
  return Z(std::log(std::hypot(z.real(), z.imag())), std::atan2(z.imag(), z.real()));
}
template <detail::complex Z>
Z sqrt(const Z& z) {
  const real_of<Z> r = std::hypot(z.real(), z.imag());
  if (r == 0) return Z(0, z.imag());
  if (z.real() >= 0) {
    const real_of<Z> a = std::sqrt((r + z.real()) / 2);
    return Z(a, z.imag() / (2 * a));
  }
  const real_of<Z> b = std::sqrt((r - z.real()) / 2);
  if (std::signbit(z.imag())) return Z(-z.imag() / (2 * b), -b);
  return Z(z.imag() / (2 * b), b);
}
template <detail::complex Z>
Z pow(const Z& z, const Z& w) {
  return library::exp(library::operator_star(w, library::log(z)));
}
template <detail::complex Z>
Z pow(const Z& z, const real_of<Z>& w) {
  return library::exp(library::operator_star(w, library::log(z)));
}
template <detail::complex Z>
Z pow(const real_of<Z>& z, const Z& w) {
  return library::exp(library::operator_star(w, Z(std::log(z), 0)));
}
template <detail::complex Z>
Z pow(const Z& z, int n) {
  Z power(1, 0);
  for (int i = 0; i < (n < 0 ? -n : n); ++i) power = library::operator_star(power, z);
  if (n < 0) return library::operator_slash(real_of<Z>(1), power);
  return power;
}
template <detail::complex Z>
Z sin(const Z& z) {
  return Z(std::sin(z.real()) * std::cosh(z.imag()), std::cos(z.real()) * std::sinh(z.imag()));
}
template <detail::complex Z>
Z cos(const Z& z) {
  return Z(std::cos(z.real()) * std::cosh(z.imag()), -std::sin(z.real()) * std::sinh(z.imag()));
}
template <detail::complex Z>
Z tan(const Z& z) {
  return library::operator_slash(library::sin(z), library::cos(z));
}
template <detail::complex Z>
Z sinh(const Z& z) {
  return Z(std::sinh(z.real()) * std::cos(z.imag()), std::cosh(z.real()) * std::sin(z.imag()));
}
template <detail::complex Z>
Z cosh(const Z& z) {
  return Z(std::cosh(z.real()) * std::cos(z.imag()), std::sinh(z.real()) * std::sin(z.imag()));
}
template <detail::complex Z>
Z tanh(const Z& z) {
  return library::operator_slash(library::sinh(z), library::cosh(z));
}

template <detail::complex Z>
Z log10(const Z& z) {
  return library::operator_slash(library::log(z), std::log(real_of<Z>(10)));
}
/// Chooses the branch as std::acosh, std::asinh and std::atanh do, even on the cuts, by the signs of zeros.
template <detail::complex Z>
Z asinh(const Z& z) {
  const Z s = library::sqrt(Z(1 + z.imag(), -z.real())), t = library::sqrt(Z(1 - z.imag(), z.real()));
  return Z(std::asinh(s.real() * t.imag() - s.imag() * t.real()),
           std::atan2(z.imag(), s.real() * t.real() - s.imag() * t.imag()));
}
template <detail::complex Z>
Z acosh(const Z& z) {
  const Z s = library::sqrt(Z(z.real() - 1, z.imag())), t = library::sqrt(Z(z.real() + 1, z.imag()));
  return Z(std::asinh(s.real() * t.real() + s.imag() * t.imag()), 2 * std::atan2(s.imag(), t.real()));
}
template <detail::complex Z>
Z atanh(const Z& z) {
  const real_of<Z> y = z.imag() * z.imag(), a = std::signbit(z.real()) ? -z.real() : z.real();
  const real_of<Z> r = std::log1p(4 * a / ((1 - a) * (1 - a) + y)) / 4;
  return Z(std::signbit(z.real()) ? -r : r,
           std::atan2(2 * z.imag(), (1 - z.real()) * (1 + z.real()) - y) / 2);
}
template <detail::complex Z>
Z asin(const Z& z) {
  const Z s = library::sqrt(Z(1 - z.real(), -z.imag())), t = library::sqrt(Z(1 + z.real(), z.imag()));
  return Z(std::atan2(z.real(), s.real() * t.real() - s.imag() * t.imag()),
           std::asinh(s.real() * t.imag() - s.imag() * t.real()));
}
template <detail::complex Z>
Z acos(const Z& z) {
  const Z s = library::sqrt(Z(1 - z.real(), -z.imag())), t = library::sqrt(Z(1 + z.real(), z.imag()));
  return Z(2 * std::atan2(s.real(), t.real()), std::asinh(t.real() * s.imag() - t.imag() * s.real()));
}
template <detail::complex Z>
Z atan(const Z& z) {
  const Z w = library::atanh(Z(-z.imag(), z.real()));
  return Z(w.imag(), -w.real());
}
/// All infinities are one; elsewhere the number itself.
template <detail::complex Z>
Z proj(const Z& z) {
  if (std::isinf(z.real()) || std::isinf(z.imag()))
    return Z(std::numeric_limits<real_of<Z>>::infinity(),
             std::signbit(z.imag()) ? -real_of<Z>(0) : real_of<Z>(0));
  return z;
}

}  // namespace clad::library
