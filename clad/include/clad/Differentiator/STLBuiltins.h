// Derivatives of the member functions of std::vector and std::deque that change it.
//
// Each undoes in the reverse sweep what the forward sweep did, on the vector and on its adjoint, whose
// lengths agree at every moment. The adjoint of an element that is a constant may be null.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "clad/Differentiator/Adjoint.h"
#include "clad/opaque.h"

namespace clad::builtin_derivatives::class_functions {

struct nothing {};

template <template <class, class> class V, class T, class Allocator>
void push_back_reverse_forw(V<T, Allocator>* v, const T& x, pullback_state<nothing>&) {
  v->push_back(x);
}
template <template <class, class> class V, class T, class Allocator>
void push_back_pullback(V<T, Allocator>* v, CLAD_UNUSED const T&, V<T, Allocator>* d_v, T* d_x,
                        pullback_state<nothing>&) {
  if (d_x) clad::accumulate(*d_x, d_v->back());
  d_v->pop_back();
  v->pop_back();
}

/// Elements that are there no more; all of them in a container of their class.
template <class Elements>
struct removed {
  Elements elements;
};

template <template <class, class> class V, class T, class Allocator>
void pop_back_reverse_forw(V<T, Allocator>* v, pullback_state<removed<V<T, Allocator>>>& state) {
  state.data.elements.push_back(v->back());
  v->pop_back();
}
template <template <class, class> class V, class T, class Allocator>
void pop_back_pullback(V<T, Allocator>* v, V<T, Allocator>* d_v,
                       pullback_state<removed<V<T, Allocator>>>& state) {
  d_v->push_back(clad::zero_like(state.data.elements.back()));
  v->push_back(std::move(state.data.elements.back()));
}

template <template <class, class> class V, class T, class Allocator>
void clear_reverse_forw(V<T, Allocator>* v, pullback_state<removed<V<T, Allocator>>>& state) {
  state.data.elements = *v;
  v->clear();
}
template <template <class, class> class V, class T, class Allocator>
void clear_pullback(V<T, Allocator>* v, V<T, Allocator>* d_v,
                    pullback_state<removed<V<T, Allocator>>>& state) {
  *v = std::move(state.data.elements);
  *d_v = clad::zero_like(*v);
}

template <class T, class Allocator>
struct resized {
  std::vector<T, Allocator> tail;  ///< elements that a shorter length cut off
  std::size_t before = 0;
};

template <template <class, class> class V, class T, class Allocator>
void resize_reverse_forw(V<T, Allocator>* v, std::size_t n, pullback_state<resized<T, Allocator>>& state) {
  state.data.before = v->size();
  if (n < v->size()) state.data.tail.assign(v->begin() + static_cast<std::ptrdiff_t>(n), v->end());
  v->resize(n);
}
template <template <class, class> class V, class T, class Allocator>
void resize_pullback(V<T, Allocator>* v, std::size_t, V<T, Allocator>* d_v,
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

template <template <class, class> class V, class T, class Allocator>
void resize_reverse_forw(V<T, Allocator>* v, std::size_t n, const T& x,
                         pullback_state<resized<T, Allocator>>& state) {
  state.data.before = v->size();
  if (n < v->size()) state.data.tail.assign(v->begin() + static_cast<std::ptrdiff_t>(n), v->end());
  v->resize(n, x);
}
template <template <class, class> class V, class T, class Allocator>
void resize_pullback(V<T, Allocator>* v, std::size_t n, CLAD_UNUSED const T&, V<T, Allocator>* d_v, T* d_x,
                     pullback_state<resized<T, Allocator>>& state) {
  if (d_x)
    for (std::size_t i = state.data.before; i < d_v->size(); ++i) clad::accumulate(*d_x, (*d_v)[i]);
  resize_pullback(v, n, d_v, state);
}

template <template <class, class> class V, class T, class Allocator>
void assign_reverse_forw(V<T, Allocator>* v, std::size_t n, const T& x,
                         pullback_state<removed<V<T, Allocator>>>& state) {
  state.data.elements = *v;
  v->assign(n, x);
}
template <template <class, class> class V, class T, class Allocator>
void assign_pullback(V<T, Allocator>* v, std::size_t, CLAD_UNUSED const T&, V<T, Allocator>* d_v, T* d_x,
                     pullback_state<removed<V<T, Allocator>>>& state) {
  if (d_x)
    for (const T& e : *d_v) clad::accumulate(*d_x, e);
  *v = std::move(state.data.elements);
  *d_v = clad::zero_like(*v);
}

template <template <class, class> class V, class T, class Allocator>
void push_front_reverse_forw(V<T, Allocator>* v, const T& x, pullback_state<nothing>&) {
  v->push_front(x);
}
template <template <class, class> class V, class T, class Allocator>
void push_front_pullback(V<T, Allocator>* v, CLAD_UNUSED const T&, V<T, Allocator>* d_v, T* d_x,
                         pullback_state<nothing>&) {
  if (d_x) clad::accumulate(*d_x, d_v->front());
  d_v->pop_front();
  v->pop_front();
}
template <template <class, class> class V, class T, class Allocator>
void pop_front_reverse_forw(V<T, Allocator>* v, pullback_state<removed<V<T, Allocator>>>& state) {
  state.data.elements.push_back(v->front());
  v->pop_front();
}
template <template <class, class> class V, class T, class Allocator>
void pop_front_pullback(V<T, Allocator>* v, V<T, Allocator>* d_v,
                        pullback_state<removed<V<T, Allocator>>>& state) {
  d_v->push_front(clad::zero_like(state.data.elements.back()));
  v->push_front(std::move(state.data.elements.back()));
}

/// Capacity is not a value.
template <class T, class Allocator>
void reserve_pullback(std::vector<T, Allocator>*, std::size_t, std::vector<T, Allocator>*) {}
template <template <class, class> class V, class T, class Allocator>
void shrink_to_fit_pullback(V<T, Allocator>*, V<T, Allocator>*) {}

}  // namespace clad::builtin_derivatives::class_functions
