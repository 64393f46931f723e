// Derivatives of the member functions of std::vector that change it.
//
// Each undoes in the reverse sweep what the forward sweep did, on the vector and on its adjoint, whose
// lengths agree at every moment.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "clad/Differentiator/Adjoint.h"
#include "clad/opaque.h"

namespace clad::builtin_derivatives::class_functions {

struct nothing {};

template <class T, class Allocator>
void push_back_reverse_forw(std::vector<T, Allocator>* v, const T& x, pullback_state<nothing>&) {
  v->push_back(x);
}
template <class T, class Allocator>
void push_back_pullback(std::vector<T, Allocator>* v, CLAD_UNUSED const T&, std::vector<T, Allocator>* d_v,
                        T* d_x, pullback_state<nothing>&) {
  clad::accumulate(*d_x, d_v->back());
  d_v->pop_back();
  v->pop_back();
}

template <class T, class Allocator>
struct removed {
  std::vector<T, Allocator> elements;
};

template <class T, class Allocator>
void pop_back_reverse_forw(std::vector<T, Allocator>* v, pullback_state<removed<T, Allocator>>& state) {
  state.data.elements.push_back(v->back());
  v->pop_back();
}
template <class T, class Allocator>
void pop_back_pullback(std::vector<T, Allocator>* v, std::vector<T, Allocator>* d_v,
                       pullback_state<removed<T, Allocator>>& state) {
  d_v->push_back(clad::zero_like(state.data.elements.back()));
  v->push_back(std::move(state.data.elements.back()));
}

template <class T, class Allocator>
void clear_reverse_forw(std::vector<T, Allocator>* v, pullback_state<removed<T, Allocator>>& state) {
  state.data.elements = *v;
  v->clear();
}
template <class T, class Allocator>
void clear_pullback(std::vector<T, Allocator>* v, std::vector<T, Allocator>* d_v,
                    pullback_state<removed<T, Allocator>>& state) {
  *v = std::move(state.data.elements);
  *d_v = clad::zero_like(*v);
}

template <class T, class Allocator>
struct resized {
  std::vector<T, Allocator> tail;  ///< elements that a shorter length cut off
  std::size_t before = 0;
};

template <class T, class Allocator>
void resize_reverse_forw(std::vector<T, Allocator>* v, std::size_t n,
                         pullback_state<resized<T, Allocator>>& state) {
  state.data.before = v->size();
  if (n < v->size()) state.data.tail.assign(v->begin() + static_cast<std::ptrdiff_t>(n), v->end());
  v->resize(n);
}
template <class T, class Allocator>
void resize_pullback(std::vector<T, Allocator>* v, std::size_t, std::vector<T, Allocator>* d_v,
                     pullback_state<resized<T, Allocator>>& state) {
  if (v->size() > state.data.before) {
    const auto before = static_cast<std::ptrdiff_t>(state.data.before);
    v->erase(v->begin() + before, v->end());
    d_v->erase(d_v->begin() + before, d_v->end());
    return;
  }
  for (T& e : state.data.tail) {
    d_v->push_back(clad::zero_like(e));
    v->push_back(std::move(e));
  }
}

template <class T, class Allocator>
void resize_reverse_forw(std::vector<T, Allocator>* v, std::size_t n, const T& x,
                         pullback_state<resized<T, Allocator>>& state) {
  state.data.before = v->size();
  if (n < v->size()) state.data.tail.assign(v->begin() + static_cast<std::ptrdiff_t>(n), v->end());
  v->resize(n, x);
}
template <class T, class Allocator>
void resize_pullback(std::vector<T, Allocator>* v, std::size_t n, CLAD_UNUSED const T&,
                     std::vector<T, Allocator>* d_v, T* d_x, pullback_state<resized<T, Allocator>>& state) {
  for (std::size_t i = state.data.before; i < d_v->size(); ++i) clad::accumulate(*d_x, (*d_v)[i]);
  resize_pullback(v, n, d_v, state);
}

template <class T, class Allocator>
void assign_reverse_forw(std::vector<T, Allocator>* v, std::size_t n, const T& x,
                         pullback_state<removed<T, Allocator>>& state) {
  state.data.elements = *v;
  v->assign(n, x);
}
template <class T, class Allocator>
void assign_pullback(std::vector<T, Allocator>* v, std::size_t, CLAD_UNUSED const T&,
                     std::vector<T, Allocator>* d_v, T* d_x, pullback_state<removed<T, Allocator>>& state) {
  for (const T& e : *d_v) clad::accumulate(*d_x, e);
  *v = std::move(state.data.elements);
  *d_v = clad::zero_like(*v);
}

/// Capacity is not a value.
template <class T, class Allocator>
void reserve_pullback(std::vector<T, Allocator>*, std::size_t, std::vector<T, Allocator>*) {}
template <class T, class Allocator>
void shrink_to_fit_pullback(std::vector<T, Allocator>*, std::vector<T, Allocator>*) {}

}  // namespace clad::builtin_derivatives::class_functions
