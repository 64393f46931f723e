// Prices, networks and likelihoods.
#include <array>
#include <cmath>

#include "bench/ad/kernel.h"
#include "clad/Differentiator/Differentiator.h"

namespace cladtorch::bench {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
/// The price of a call by Black and Scholes.
double call_price(double spot, double strike, double rate, double volatility, double time) {
  double spread = volatility * std::sqrt(time);
  double d1 = (std::log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread;
  double d2 = d1 - spread;
  return spot * normal_cdf(d1) - strike * std::exp(-rate * time) * normal_cdf(d2);
}
double black_scholes(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += call_price(x[5 * i], x[5 * i + 1], x[5 * i + 2], x[5 * i + 3], x[5 * i + 4]);
  return s;
}
void black_scholes_by_hand(const double* x, int n, double* d_x) {
  for (int i = 0; i < n; ++i, x += 5, d_x += 5) {
    const double spot = x[0], strike = x[1], rate = x[2], volatility = x[3], time = x[4];
    const double root = std::sqrt(time), spread = volatility * root,
                 d1 = (std::log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread,
                 d2 = d1 - spread, discount = std::exp(-rate * time), n1 = normal_cdf(d1),
                 n2 = normal_cdf(d2);
    const double density = 0.3989422804014327 * std::exp(-0.5 * d1 * d1);
    d_x[0] += n1;  // the densities' other terms cancel
    d_x[1] -= discount * n2;
    d_x[2] += strike * time * discount * n2;
    d_x[3] += spot * density * root;
    d_x[4] += spot * density * volatility / (2 * root) + rate * strike * discount * n2;
  }
}

constexpr int inputs = 16, hidden = 32;
/// Squared error of a network with one hidden layer: its weights, then the samples and their targets.
double network(const double* x, int samples) {
  const double* w1 = x;
  const double* w2 = w1 + hidden * inputs;
  const double* data = w2 + hidden;
  double loss = 0;
  for (int s = 0; s < samples; ++s) {
    const double* sample = data + s * (inputs + 1);
    double h[hidden];
    for (int j = 0; j < hidden; ++j) {
      double a = 0;
      for (int i = 0; i < inputs; ++i) a += w1[j * inputs + i] * sample[i];
      h[j] = a > 0 ? a : 0;
    }
    double y = 0;
    for (int j = 0; j < hidden; ++j) y += w2[j] * h[j];
    double error = y - sample[inputs];
    loss += error * error;
  }
  return loss;
}
void network_by_hand(const double* x, int samples, double* d_x) {
  const double *w1 = x, *w2 = w1 + hidden * inputs, *data = w2 + hidden;
  double *d_w1 = d_x, *d_w2 = d_w1 + hidden * inputs, *d_data = d_w2 + hidden;
  for (int s = 0; s < samples; ++s) {
    const double* sample = data + s * (inputs + 1);
    double* d_sample = d_data + s * (inputs + 1);
    double h[hidden];
    for (int j = 0; j < hidden; ++j) {
      double a = 0;
      for (int i = 0; i < inputs; ++i) a += w1[j * inputs + i] * sample[i];
      h[j] = a > 0 ? a : 0;
    }
    double y = 0;
    for (int j = 0; j < hidden; ++j) y += w2[j] * h[j];
    const double d_y = 2 * (y - sample[inputs]);
    d_sample[inputs] -= d_y;
    for (int j = 0; j < hidden; ++j) {
      d_w2[j] += d_y * h[j];
      if (!(h[j] > 0)) continue;
      const double d_a = d_y * w2[j];
      for (int i = 0; i < inputs; ++i) {
        d_w1[j * inputs + i] += d_a * sample[i];
        d_sample[i] += d_a * w1[j * inputs + i];
      }
    }
  }
}

/// Log-likelihood of points under a mixture of k normal distributions in the plane: logit, mean and log of
/// the width of each, then the points.
double mixture(const double* x, int k, int points) {
  const double* p = x + 4 * k;
  double total = 0;
  for (int i = 0; i < points; ++i) {
    double likelihood = 0;
    for (int c = 0; c < k; ++c) {
      double precision = std::exp(-2 * x[4 * c + 3]);
      double u = p[2 * i] - x[4 * c + 1], v = p[2 * i + 1] - x[4 * c + 2];
      likelihood += std::exp(x[4 * c] - 0.5 * precision * (u * u + v * v)) * precision;
    }
    total += std::log(likelihood);
  }
  return total;
}
void mixture_by_hand(const double* x, int k, int points, double* d_x) {
  const double* p = x + 4 * k;
  double* d_p = d_x + 4 * k;
  std::vector<double> precision(static_cast<std::size_t>(k)), e(static_cast<std::size_t>(k));
  for (int c = 0; c < k; ++c) precision[c] = std::exp(-2 * x[4 * c + 3]);
  for (int i = 0; i < points; ++i) {
    double likelihood = 0;
    for (int c = 0; c < k; ++c) {
      const double u = p[2 * i] - x[4 * c + 1], v = p[2 * i + 1] - x[4 * c + 2];
      likelihood += e[c] = std::exp(x[4 * c] - 0.5 * precision[c] * (u * u + v * v)) * precision[c];
    }
    for (int c = 0; c < k; ++c) {
      const double u = p[2 * i] - x[4 * c + 1], v = p[2 * i + 1] - x[4 * c + 2];
      const double d = e[c] / likelihood, d_u = -d * precision[c] * u, d_v = -d * precision[c] * v;
      d_x[4 * c] += d;
      d_x[4 * c + 1] -= d_u;
      d_x[4 * c + 2] -= d_v;
      d_x[4 * c + 3] += d * (precision[c] * (u * u + v * v) - 2);
      d_p[2 * i] += d_u;
      d_p[2 * i + 1] += d_v;
    }
  }
}

auto black_scholes_gradient = clad::gradient(black_scholes, "x");
auto network_gradient = clad::gradient(network, "x");
auto mixture_gradient = clad::gradient(mixture, "x");

}  // namespace

void add_models(std::vector<Kernel>& to, bool small) {
  const int n = small ? 3 : 100;
  to.push_back(kernel("Black-Scholes", numbers(5 * n), black_scholes, black_scholes_by_hand,
                      black_scholes_gradient, n));
  const int samples = small ? 2 : 32;
  to.push_back(kernel("ReLU network", numbers((inputs + 1) * (hidden + samples), -1, 1), network,
                      network_by_hand, network_gradient, samples));
  const int k = small ? 2 : 5;
  to.push_back(kernel("Gaussian mixture", numbers(4 * k + 2 * n, -1, 1), mixture, mixture_by_hand,
                      mixture_gradient, k, n));
}

}  // namespace cladtorch::bench
