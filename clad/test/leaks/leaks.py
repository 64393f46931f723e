#!/usr/bin/env python3
"""Routes a number through C++ and its library in many ways, and checks that the derivative is right or refused.

    clad/test/leaks/leaks.py                      each mechanism by itself, in reverse and in forward mode
    clad/test/leaks/leaks.py --count 10000 --seed 1 --jobs 2     random programs around them
    clad/test/leaks/leaks.py --library            whether library.txt knows each name of the standard library

A mechanism of boxes.h puts a number into an object and takes it out again; one of ways.h is a function of a number. Its
first line says whether its derivative is taken ("follow"), is an error at the user's line ("refuse"), or whether either
will do ("either"). Words after that make one mechanism of each, in whose text the word stands for OF; further first lines
add words with other verdicts. A wrong derivative, one that does not compile and a crash are failures wherever they happen.
"""

import argparse
import collections
import concurrent.futures
import random
import re
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'fuzz'))

import names  # noqa: E402
from compiler import add_options, classify, toolchain_of  # noqa: E402
from tree import indented  # noqa: E402

MODES = ['gradient', 'forward', 'hessian']
# Types of so few digits that second differences beside another mechanism say nothing.
STEPPED = {'half'}


class Mechanism:
    def __init__(self, family, word, verdict, text, is_box):
        self.family, self.verdict, self.is_box = family, verdict, is_box
        self.name = re.sub(r'\W+', '_', f'{family}_{word}') if word else family
        if word:
            text = re.sub(r'\bOF\b', word, re.sub(rf'\b{family}(?=\b|_)', self.name, text))
        self.includes = re.findall(r'^#include (<.*>)$', text, re.M)
        self.text = re.sub(r'^#include <.*>\n', '', text, flags=re.M)


def mechanisms():
    found = []
    for file, is_box in (('boxes.h', True), ('ways.h', False)):
        parts = re.split(r'^((?://- .*\n)+)', (HERE / file).read_text(), flags=re.M)
        for heads, text in zip(parts[1::2], parts[2::2]):
            for family, verdict, *words in map(str.split, re.findall('//- (.*)', heads)):
                found += [Mechanism(family, word, verdict, text, is_box) for word in words or [None]]
    return found


# How a program uses an object that holds a number: the text of `double NAME(double x)`, for class B.
BOX_USES = {
    'local': 'double N(double x) { B b; b.put(x); return b.get(); }',
    'functions': 'void N_put(B& b, double x) { b.put(x * x); } double N_get(B& b) { return b.get(); }\n'
                 'double N(double x) { B b; N_put(b, x); return N_get(b); }',
    'pointers': 'void N_put(B* b, double x) { b->put(2 * x); } double N_get(B* b) { return b->get(); }\n'
                'double N(double x) { B b; N_put(&b, x); return N_get(&b) * x; }',
    'member': 'struct N_holder { double k = 2; B box; void set(double x) { k = x; box.put(k * x); } double value() { return k + box.get(); } };\n'
              'double N(double x) { N_holder h; h.set(x); return h.value(); }',
    'heap': 'double N(double x) { auto b = std::make_unique<B>(); b->put(x); return b->get() * 2; }',
    'new_delete': 'double N(double x) { B* b = new B; b->put(x); const double y = b->get(); delete b; return y * y; }',
    'lambda': 'double N(double x) { B b; auto put = [&b](double y) { b.put(y); }; put(x); auto get = [&] { return b.get(); }; return get() * x; }',
    'loop': 'double N(double x) { double sum = 0; for (int i = 0; i < 3; ++i) { B b; b.put(x * (i + 1)); sum += b.get(); } return sum; }',
    'branch': 'double N(double x) { B b; if (x > 0.1) b.put(x * x); else b.put(3 * x); return b.get() + x; }',
    'array': 'double N(double x) { B b[2]; b[0].put(x); b[1].put(2 * x); return b[0].get() * b[1].get(); }',
    'returned': 'B N_make(double x) { B b; b.put(x); return b; }\ndouble N(double x) { B b = N_make(x * x); return b.get(); }',
    'derived': 'struct N_derived : B { double twice() { return 2 * this->get(); } };\ndouble N(double x) { N_derived b; b.put(x); return b.twice(); }',
    'template': 'template <class T> double N_use(T& t, double x) { t.put(x); return t.get() * x; }\ndouble N(double x) { B b; return N_use(b, x); }',
    'nested': 'void N_inner(B& b, double x) { b.put(x); } void N_outer(B& b, double x) { double y = x * x; N_inner(b, y); }\n'
              'double N(double x) { B b; N_outer(b, x); return b.get(); }',
    'virtual': 'struct N_store { virtual void put(double) = 0; virtual double get() = 0; virtual ~N_store() = default; };\n'
               'struct N_impl final : N_store { B b; void put(double x) override { b.put(x); } double get() override { return b.get(); } };\n'
               'void N_fill(N_store& s, double x) { s.put(x); }\ndouble N(double x) { N_impl s; N_fill(s, x); return s.get() * 3; }',
    'function': 'double N(double x) { B b; std::function<void(double)> put = [&](double y) { b.put(y); }; put(x); return b.get() * x; }',
    'temporary': 'double N_of(B&& b) { return b.get(); }\nB N_with(double x) { B b; b.put(x); return b; }\ndouble N(double x) { return N_of(N_with(x)); }',
    'reference': 'double N(double x) { B b; B& r = b; r.put(x * x); B* p = &r; return p->get(); }',
    'vector': 'double N(double x) { std::vector<B> v(2); v[1].put(x); return v[1].get() * 2; }',
    'copy': 'double N(double x) { B b; b.put(x); B c = b; return c.get() * x; }',
    'assigned': 'double N(double x) { B b, c; b.put(x); c = b; return c.get(); }',
    'pair': 'double N(double x) { std::pair<int, B> p; p.second.put(x); return p.second.get(); }',
    'optional': 'double N(double x) { std::optional<B> o; o.emplace(); o->put(x); return o->get(); }',
    'std_array': 'double N(double x) { std::array<B, 2> v; v[0].put(x * x); return v[0].get(); }',
    'object_method': 'struct N_solver { B state; double step(double x) { state.put(x); return state.get() * x; } };\n'
                     'double N(double x) { N_solver s; return s.step(x) + s.step(2 * x); }',
    'twice': 'double N(double x) { B b; b.put(1.5); B c; c.put(x); return b.get() * c.get(); }',
}
# How a program uses a function of a number, W.
WAY_USES = {
    'call': 'double N(double x) { return W(x); }',
    'expression': 'double N(double x) { return W(x) * x + 1; }',
    'argument': 'double N(double x) { return W(x * x * 0.5 + 0.3); }',
    'loop': 'double N(double x) { double sum = 0; for (int i = 0; i < 3; ++i) sum += W(x + 0.1 * i); return sum; }',
    'chain': 'double N(double x) { double y = x; for (int i = 0; i < 2; ++i) y = 0.3 * W(y) + 0.4; return y; }',
    'branch': 'double N(double x) { double y = x; if (x > 0.1) y = W(x); return y * x; }',
    'lambda': 'double N(double x) { auto g = [](double y) { return W(y); }; return g(x) * 2; }',
    'function': 'double N(double x) { std::function<double(double)> g = W; return g(x); }',
    'pointer': 'double N_apply(double (*g)(double), double x) { return g(x); }\ndouble N(double x) { return N_apply(W, x); }',
    'template': 'template <class F> double N_apply(F g, double x) { return g(x) + x; }\n'
                'double N(double x) { return N_apply([](double y) { return W(y); }, x); }',
    'method': 'struct N_model { double k; double at(double x) const { return W(k * x); } };\ndouble N(double x) { N_model m{0.8}; return m.at(x); }',
    'output': 'void N_to(double x, double& y) { y = W(x); }\ndouble N(double x) { double y = 0; N_to(x, y); return y; }',
    'virtual': 'struct N_f { virtual double at(double x) const = 0; virtual ~N_f() = default; };\n'
               'struct N_g : N_f { double at(double x) const override { return W(x); } };\n'
               'double N_of(const N_f& f, double x) { return f.at(x); }\ndouble N(double x) { N_g g; return N_of(g, x); }',
    'recursive': 'double N_down(double x, int n) { return n == 0 ? W(x) : 0.5 * N_down(x, n - 1); }\ndouble N(double x) { return N_down(x, 2); }',
    'elements': 'double N(double x) { double v[2] = {x, 0}; v[1] = W(v[0]); return v[1] * v[0]; }',
    'transform': 'double N(double x) { std::vector<double> v{x, 1}; std::transform(v.begin(), v.end(), v.begin(), [](double y) { return W(y); }); return v[0]; }',
    'object': 'struct N_state { double a = 0; void step(double x) { a = W(x); } };\ndouble N(double x) { N_state s; s.step(x); return s.a * x; }',
}


class Program:
    """One or two mechanisms, and the function around them."""

    def __init__(self, seed, mode, leaks, body):
        self.seed, self.mode, self.leaks, self.body = seed, mode, leaks, body

    def includes(self):
        return {i for m, _ in self.leaks for i in m.includes}

    def unit(self, number):
        """`program_NUMBER::Case`, through which the program is checked."""
        lines, seen = [f'namespace program_{number} {{'], set()
        for k, (m, use) in enumerate(self.leaks):
            if m.name not in seen:
                lines.append(m.text)
            seen.add(m.name)
            text = (BOX_USES if m.is_box else WAY_USES)[use]
            lines.append(re.sub(r'\b[BW]\b', m.name, re.sub(r'\bN(?=\b|_)', f'leak_{k}', text)))
        lines.append(f'double f(double x) {{ {self.body} }}')
        derivative = {
            'gradient': 'double d = 0; clad::gradient(f).execute(x, &d); return d;',
            'forward': 'return clad::differentiate(f, "x").execute(x);',
            'hessian': 'double h = 0; clad::hessian(f).execute(x, &h); return h;',
        }[self.mode]
        lines += ['struct Case {', f'static constexpr bool second = {"true" if self.mode == "hessian" else "false"};',
                  'static double primal(double x) { return f(x); }', f'static double derivative(double x) {{ {derivative} }}', '};', '}']
        return '\n'.join(lines) + '\n'

    def name(self):
        return ' + '.join(f'{m.name}/{use}' for m, use in self.leaks) + f' ({self.mode})'


def uses_of(m):
    return list(BOX_USES if m.is_box else WAY_USES)


BODIES = ['return leak_0(x) * x;', 'double y = leak_0(x); y *= y; return y + x;', 'return x > 1e6 ? x : leak_0(x);',
          'double s = 0; for (int i = 0; i < 2; ++i) s += leak_0(x + 0.2 * i) * x; return s;', 'return std::sin(leak_0(x)) + 2 * x;',
          'double v[2]; v[0] = leak_0(x); v[1] = x; return v[0] * v[1];']
CHAIN = 'return leak_0(0.3 * leak_1(x) + 0.5);'
TWO = ['return leak_0(x) * leak_1(x);', CHAIN, 'double y = leak_0(x); if (y > -1e9) y += leak_1(x); return y;']


def body_of(chain):
    return CHAIN if len(chain) == 2 else 'return leak_0(x);'


def random_program(seed, all_mechanisms):
    rng = random.Random(seed)
    families = sorted({m.family for m in all_mechanisms})
    picked = rng.sample(families, 1 if rng.random() < 0.7 else 2)
    leaks = [(m, rng.choice(uses_of(m))) for m in (rng.choice([m for m in all_mechanisms if m.family == f]) for f in picked)]
    mode = rng.choice(MODES)
    if any(m.family in STEPPED for m, _ in leaks) and mode == 'hessian':
        mode = 'gradient'
    return Program(seed, mode, leaks, rng.choice(BODIES if len(leaks) == 1 else TWO))


HEAD = '''#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
%s
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/leaks/check.h"

template <class Case>
clad::test::Verdict check(unsigned) {
  return clad::test::check_leak<Case>();
}
'''


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--seed', type=int, default=1, help='the number of the first random program')
    p.add_argument('--count', type=int, default=0, help='how many random programs; without it, each mechanism by itself')
    p.add_argument('--only', help='mechanisms whose names match this regular expression')
    p.add_argument('--use', help='the uses whose names match this regular expression; without --count')
    p.add_argument('--modes', default=','.join(MODES), help='the derivatives to ask for; without --count')
    p.add_argument('--beside', help='each mechanism that may be followed before and after this one; without --count')
    p.add_argument('--part', help='I/N: the mechanisms with these numbers')
    add_options(p, batch=100)
    p.add_argument('--library', action='store_true', help='check library.txt, and nothing else')
    p.add_argument('--list', action='store_true', help='say of each program, or name of the library, what became of it')
    p.add_argument('--each', type=int, default=2, help='how many failures of a mechanism are printed in full')
    return p.parse_args()


def batch(toolchain, programs):
    includes = sorted(set().union(*(p.includes() for p in programs)))
    head = HEAD % '\n'.join(f'#include {i}' for i in includes)
    with tempfile.TemporaryDirectory(prefix='clad_leaks_') as folder:
        return list(zip(programs, classify(programs, toolchain, Path(folder), head)))


def chosen(options):
    found = [m for m in mechanisms() if not options.only or re.fullmatch(options.only, m.name)]
    if options.part:
        i, n = map(int, options.part.split('/'))
        found = found[i::n]
    if options.count:
        return [random_program(s, found) for s in range(options.seed, options.seed + options.count)]
    programs = []
    for m in found:
        uses = [u for u in uses_of(m) if re.fullmatch(options.use, u)] if options.use else uses_of(m)[:1]
        chains = [[(m, use)] for use in uses]
        if options.beside and m.verdict == 'refuse':
            continue
        if options.beside:
            other = next((b, uses_of(b)[0]) for b in mechanisms() if b.name == options.beside)
            chains = [pair for chain in chains for pair in ([other] + chain, chain + [other])]
        programs += [Program(0, mode, chain, body_of(chain)) for chain in chains for mode in options.modes.split(',')]
    return programs


def main():
    options = arguments()
    if options.library:
        return 0 if names.check(mechanisms(), options.compiler, options.list) else 1
    programs = chosen(options)
    if options.show:
        for p in programs:
            print(f'// {p.name()}\n{indented(p.unit(0))}')
        return 0
    toolchain = toolchain_of(options)
    batches = [programs[k:k + options.batch] for k in range(0, len(programs), options.batch)]
    counts, seen, start, failed = collections.Counter(), collections.Counter(), time.time(), False
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for results in pool.map(batch, [toolchain] * len(batches), batches):
            for p, outcome in results:
                counts[outcome.kind] += 1
                alone = p.leaks[0][0] if len(p.leaks) == 1 and not options.count and not options.use else None
                wanted = {'follow': ('ok',), 'refuse': ('refused',)}.get(alone.verdict if alone else '', ('ok', 'refused', 'invalid'))
                if options.list:
                    print(f'{outcome.kind:10} {p.name()}: {outcome.detail[:200]}', flush=True)
                if outcome.kind in wanted or outcome.kind == 'skipped':
                    continue
                failed = True
                seen[p.leaks[0][0].name, outcome.kind] += 1
                if options.list:
                    continue
                print(f'--- {p.name()} seed {p.seed}: {outcome.kind}: {outcome.detail[:1500]}', flush=True)
                if seen[p.leaks[0][0].name, outcome.kind] <= options.each:
                    print(indented(p.unit(0)), flush=True)
    print(f'{len(programs)} programs in {time.time() - start:.0f} s: ' + ', '.join(f'{n} {kind}' for kind, n in counts.most_common()))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
