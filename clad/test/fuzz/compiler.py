"""Compiles and runs many programs at once, and says for each what became of it."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

CHECK = '''struct Check {
  int number;
  unsigned seed;
  clad::test::Verdict (*run)(unsigned);
};
'''
MAIN = '''
int main(int argc, char** argv) {
  const int first = argc > 1 ? std::atoi(argv[1]) : 0;
  for (const Check& c : checks) {
    if (c.number < first) continue;
    std::printf("begin %d\\n", c.number), std::fflush(stdout);
    const clad::test::Verdict v = c.run(c.seed);
    std::printf("end %d %s %s\\n", c.number, v.status.c_str(), v.detail.c_str()), std::fflush(stdout);
  }
}
'''
HEAD = '''#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <valarray>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/fuzz/check.h"

// Conversions that programs do not write.
namespace given {
double number(int i) { return i; }
int whole(double d) { return d; }
struct Count {
  int n;
  explicit Count(int i) : n(i) {}
  double value() const { return n; }
  operator double() const { return n; }
};
}  // namespace given

template <class Case>
clad::test::Verdict check(unsigned seed) {
  Case program;
  return clad::test::Checker(program, seed).run();
}
'''


ROOT = Path(__file__).resolve().parents[3]


def add_options(parser, batch):
    """How programs are compiled, on the command line."""
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--batch', type=int, default=batch, help='how many programs are compiled at once')
    parser.add_argument('--compiler', default='clang++-19')
    parser.add_argument('--plugin', default=str(ROOT / 'build/release/lib/clad.so'))
    parser.add_argument('--flags', default='-O0', help='of the compiler, e.g. "-O1 -fsanitize=address,undefined"')
    parser.add_argument('--graph', default='', metavar='LIBRARY',
                        help='compare with gradients of recorded graphs too: libcladtorch_graph.a')
    parser.add_argument('--show', action='store_true', help='print the programs and do nothing else')


def toolchain_of(options):
    return Toolchain(options.compiler, options.plugin, ROOT, tuple(options.flags.split()), graph=options.graph)


@dataclass(frozen=True)
class Outcome:
    kind: str  # ok, skipped, wrong, crash, refused, generated, invalid, compiler
    what: str = ''  # the same for the same cause
    detail: str = ''

    def failed(self):
        return self.kind not in ('ok', 'skipped')


@dataclass
class Toolchain:
    compiler: str
    plugin: str
    root: Path
    flags: tuple = ('-O0',)
    timeout: int = 120
    run: bool = True  # the programs, not only the compiler
    graph: str = ''  # the library that records graphs, if their gradients are compared too

    def command(self, source, binary):
        return [self.compiler, '-std=c++20', '-w', '-ferror-limit=0', '-I', str(self.root / 'clad/include'), '-I', str(self.root),
                f'-fplugin={self.plugin}', *self.flags, str(source), '-o', str(binary), *self.graph_flags()]

    def graph_flags(self):
        return ['-I', str(self.root / 'include'), '-include', str(self.root / 'clad/test/fuzz/graph.h'), self.graph] if self.graph else []


def on_graph(source):
    """The text of a program with numbers that record in the place of doubles."""
    return re.sub(r'\bstd::', 'graph_std::', re.sub(r'\bdouble\b', 'Var', source))


def harness(number, program):
    """A program of the generator, and the class through which it is checked."""
    args = [(f'a{i}', *a.tag) for i, a in enumerate(program.arguments.parts)]
    reals = [name for name, mode, _, _ in args if mode != 'int']
    passed = lambda of: [f'{of}.{name}' + ('.values.data()' if mode == 'pointer' else '') for name, mode, _, _ in args]
    adjoint = lambda of: [f'{of}.{name}.values.data()' if mode == 'pointer' else 'nullptr' if mode == 'int' else f'&{of}.{name}'
                          for name, mode, _, _ in args]
    fields = ' '.join(f'{type_} {name}{{{start}}};' for (name, _, type_, _), start in zip(args, program.arguments.parts))
    visits = ' '.join(f'clad::test::each_real({name}, visit_);' for name in reals)
    f, both = f'program_{number}::f', lambda *lists: ', '.join(sum(lists, []))
    text = f'{program.source()}\nstruct Arguments {{ {fields} template <class V_> void reals(V_&& visit_) {{ {visits} }} }};'
    lines = [f'namespace program_{number} {{', text]
    if program.graph:
        lines += ['namespace graph {', 'using cladtorch::graph::Var;', on_graph(text), '}']
    lines += ['struct Case final : clad::test::Program {',
             'clad::test::numbers start() override { Arguments a; return clad::test::numbers_of(a); }']
    derivative = ('Arguments a, d_; clad::test::set_numbers(a, x); clad::test::set_numbers(d_, d); const auto r = {}(f).execute({}); '
                  'x = clad::test::numbers_of(a); d = clad::test::numbers_of(d_); return {};')
    lines += ['double primal(const clad::test::numbers& x, clad::test::numbers& y) override { Arguments a; '
              f'clad::test::set_numbers(a, x); const double r = f({both(passed("a"))}); y = clad::test::numbers_of(a); return r; }}',
              'double gradient(clad::test::numbers& x, clad::test::numbers& d) override {',
              derivative.format('clad::value_and_gradient', both(passed('a'), adjoint('d_')), 'r'), '}',
              'std::pair<double, double> pushforward(clad::test::numbers& x, clad::test::numbers& d) override {',
              derivative.format('clad::pushforward', both(passed('a'), adjoint('d_')), '{r.value, r.pushforward}'), '}']
    if program.graph:
        lines += ['bool graph(const clad::test::numbers& x, clad::test::numbers& d) override {',
                  f'clad::test::graph_gradient<graph::Arguments>(x, d, [](graph::Arguments& a) {{ return graph::f({both(passed("a"))}); }});',
                  'return true; }']
    if program.single:
        lines.append('bool single() const override { return true; }')
    if program.hessian:
        chosen = ', '.join(name for _, mode, _, name in args if mode != 'int')
        vectors = [[x for x in adjoint(of) if x != 'nullptr'] for of in ('v_', 'out')]
        lines += ['bool has_hessian() const override { return true; }',
                  'void hessian(clad::test::numbers& x, const clad::test::numbers& v, clad::test::numbers& product) override {',
                  'Arguments a, v_, out; clad::test::set_numbers(a, x); clad::test::set_numbers(v_, v); clad::test::set_numbers(out, product);',
                  f'clad::hessian_vector_product(f, "{chosen}").execute({both(passed("a"), *vectors)});',
                  'x = clad::test::numbers_of(a); product = clad::test::numbers_of(out);', '}']
    return '\n'.join(lines + ['};', '}']) + '\n'


def source_of(programs, head):
    """The text of a translation unit, and the last line of each program."""
    out, ends = head + CHECK, []
    for i, p in enumerate(programs):
        out += p.unit(i)
        ends.append(out.count('\n'))
    table = ', '.join(f'{{{i}, {p.seed % 1000000}, check<program_{i}::Case>}}' for i, p in enumerate(programs))
    out += f'static const Check checks[]{{{table}}};\n' + MAIN
    return out, ends


def normalized(message):
    return re.sub(r"'[^']*'", "'...'", message)


def classify(programs, toolchain, folder, head=HEAD):
    """The outcome of each program. Those that do not compile are taken out one after the other."""
    if toolchain.graph:
        _choose_for_graph(programs, toolchain, folder, head)
    outcomes = [Outcome('ok')] * len(programs)
    left = list(range(len(programs)))
    while left:
        found = _compile(programs, left, toolchain, folder, head)
        if found is None:
            if toolchain.run:
                _run(left, outcomes, folder)
            break
        if not found:  # it fails, nobody knows where
            if len(left) == 1:
                outcomes[left[0]] = Outcome('compiler', 'unexplained')
                break
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                for i, o in zip(part, classify([programs[i] for i in part], toolchain, folder, head)):
                    outcomes[i] = o
            break
        for i, o in found.items():
            outcomes[i] = o
        left = [i for i in left if i not in found]
    return outcomes


def _choose_for_graph(programs, toolchain, folder, head):
    """Notes the programs that compile with numbers that record. Others convert them to double, or the like."""
    source = folder / 'graphs.cpp'
    for program in programs:
        program.graph = not program.single
    while chosen := [p for p in programs if p.graph]:
        text, ends = head, []
        for i, p in enumerate(chosen):
            text += on_graph(f'namespace program_{i} {{ using cladtorch::graph::Var;\n{p.source()}\n}}\n')
            ends.append(text.count('\n'))
        source.write_text(text)
        flags = [f for f in toolchain.command(source, folder / 'none') if not f.startswith('-fplugin=') and f != toolchain.graph]
        done = subprocess.run([*flags, '-fsyntax-only'], capture_output=True, text=True, timeout=toolchain.timeout)
        failed = {next((k for k, end in enumerate(ends) if int(n) <= end), 0)
                  for n in re.findall(rf'{re.escape(str(source))}:(\d+):\d+:', done.stderr)}
        for k in failed if done.returncode else []:
            chosen[k].graph = False
        if done.returncode == 0:
            return
        if not failed:
            raise RuntimeError(done.stderr)


def _compile(programs, left, toolchain, folder, head):
    """None if all is well; else the outcomes of those to blame, which may be none."""
    source, binary = folder / 'programs.cpp', folder / 'programs'
    text, ends = source_of([programs[i] for i in left], head)
    source.write_text(text)
    try:
        done = subprocess.run(toolchain.command(source, binary), capture_output=True, text=True, timeout=toolchain.timeout)
    except subprocess.TimeoutExpired:
        return {left[0]: Outcome('compiler', 'timeout', 'it took too long')} if len(left) == 1 else {}
    if done.returncode == 0:
        return None
    if 'PLEASE submit a bug report' in done.stderr or done.returncode < 0:
        if len(left) > 1:
            return {}
        assertion = re.search(r'Assertion .*|^#\d+ .*clad::.*', done.stderr, re.M)
        return {left[0]: Outcome('compiler', 'crash', assertion.group(0) if assertion else done.stderr[-2000:])}
    found = {}
    pending = None  # an error in generated text, until another one names the program
    for line in done.stderr.splitlines():
        m = re.match(r'(.*?):(\d+):\d+: (?:fatal )?error: (.*)', line)
        if not m:
            continue
        file, number, message = m.group(1), int(m.group(2)), m.group(3)
        at = next((left[k] for k, end in enumerate(ends) if number <= end), None) if file == str(source) else None
        written = re.match(r'cannot differentiate this statement: its derivative by clad does not compile \((.*)\);', message)
        if at is None:
            pending = message
        elif written:
            if at not in found or found[at].kind == 'invalid':
                found[at] = Outcome('generated', normalized(written[1]), written[1])
        elif re.match(r'cannot |clad::|in the derivative', message):
            found.setdefault(at, Outcome('refused', normalized(message), message))
        else:
            found.setdefault(at, Outcome('invalid', normalized(message), message))
    if not found and len(left) == 1:
        return {left[0]: Outcome('generated', normalized(pending or 'unknown'), done.stderr[:2000])}
    return found


def _run(left, outcomes, folder):
    first = 0
    while first < len(left):
        try:
            done = subprocess.run([str(folder / 'programs'), str(first)], capture_output=True, text=True, errors='replace',
                                  timeout=30 + len(left))
            code, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as e:
            code, output, errors = 'timeout', (e.stdout or b'').decode(errors='replace'), ''
        running = None
        for line in output.splitlines():
            word, number, *rest = line.split(' ', 3)
            if word == 'begin':
                running = int(number)
            elif word == 'end':
                status, detail = rest[0], rest[1] if len(rest) > 1 else ''
                kind = status if status in ('ok', 'skipped') else 'wrong'
                outcomes[left[running]] = Outcome(kind, detail if kind == 'skipped' else status, detail)
                running = None
        if code == 0:
            return
        if running is None:
            raise RuntimeError(f'the checks end with {code}\n{errors}')
        report = re.search(r'(AddressSanitizer: [\w-]+|runtime error: .*)', errors)
        outcomes[left[running]] = Outcome('crash', report.group(1).split(' 0x')[0] if report else f'exit {code}', errors[-3000:])
        first = running + 1
