"""Random expressions. Each number comes with an interval that holds it, so that every function is in its domain."""

from collections import namedtuple

from shapes import BOOL, FLOAT, INT, REAL, Shape
from tree import Node

Real = namedtuple('Real', 'node lo hi')
LOW, HIGH = 0.2, 4.0  # where the numbers in variables are


def real(*parts, lo, hi):
    return Real(Node('expr', *parts, type='real'), lo, hi)


def integer(*parts):
    return Node('expr', *parts, type='int')


def boolean(*parts):
    return Node('expr', *parts, type='bool')


def is_real(shape):
    return shape in (REAL, FLOAT)


class Expressions:
    """Mixed into Generator, which knows what is in scope."""

    # -- places

    def choose_place(self, wanted, writable=False, unlocked=False):
        """(variable, path) of a random part of a variable."""
        found = []
        for v in self.visible():
            if writable and (v.const or v.fixed):
                continue
            if unlocked and v.root.locks:
                continue
            ways = list(v.shape.paths(wanted))
            if ways:
                found.append((v, ways))
        if self.chance(0.8):  # constants are dull
            found = [x for x in found if x[0] not in self.scopes[0]] or found
        if not found:
            return None
        v, ways = self.rng.choice(found)
        return v, self.rng.choice(ways)

    def write_path(self, v, path):
        parts = [v.name]
        for (step, what), shape in path:
            if step == 'field':
                parts.append('.' + what)
            elif step == 'get':
                parts = [f'std::get<{what}>(', *parts, ')']
            elif step == 'target':
                parts = ['(*', *parts, ')']
            elif step == 'element':
                parts += ['[', self.index(what), ']']
            elif shape.kind == 'pointer' and self.chance(0.15):
                parts = ['(*(', *parts, ' + ', self.index(what), '))'] if what > 1 else ['(*', *parts, ')']
            elif shape.kind in ('vector', 'stdarray') and self.chance(0.15):
                way = self.rng.choice(['at', 'front', 'back', 'data'])
                if way == 'at':
                    parts += ['.at(', self.index(what), ')']
                elif way == 'data':
                    parts += ['.data()[', self.index(what), ']']
                else:
                    parts.append(f'.{way}()')
            else:
                parts += ['[', self.index(what), ']']
        return parts

    @staticmethod
    def shape_at(v, path):
        shape = v.shape
        for step, _ in path:
            shape = dict(shape.steps())[step]
        return shape

    def place(self, wanted, writable=False, unlocked=False):
        chosen = self.choose_place(wanted, writable, unlocked)
        return chosen and self.write_path(*chosen)

    def named(self, chosen, writable=False, unlocked=False):
        """A place for a reference, sometimes one of two; and the variables it is part of."""
        v, path = chosen
        parts, shape = self.write_path(v, path), self.shape_at(v, path)
        other = self.chance(0.2) and self.choose_place(lambda s: s == shape, writable, unlocked)
        if not other:
            return parts, [v]
        second = self.write_path(*other)
        choosers = [name for name, const in self.choosers if const != writable] if shape == REAL else []
        if choosers and self.chance(0.5):
            return [f'{self.rng.choice(choosers)}(', *parts, ', ', *second, ', ', self.number(0).node, ')'], [v, other[0]]
        if shape == REAL and not writable and self.chance(0.4):
            return [f'std::{self.rng.choice(["min", "max"])}<double>(', *parts, ', ', *second, ')'], [v, other[0]]
        return ['(', self.condition(0), ' ? ', *parts, ' : ', *second, ')'], [v, other[0]]

    def number_place(self, writable=False):
        parts = self.place(is_real, writable)
        return parts and real(*parts, lo=LOW, hi=HIGH)

    # -- integers and conditions

    def index(self, n):
        """An int from 0 to n - 1."""
        if self.steppable:
            name, self.steppable = self.steppable, None
            return integer(f'{name}++ % {n}')
        ints = [v for v in self.visible() if v.shape == INT and (v.fixed or not self.steady)]
        if n == 1 or not ints or self.chance(0.4):
            return integer(str(self.rng.randrange(n)))
        v = self.rng.choice(ints)
        if v.bound is not None and v.bound <= n and self.chance(0.6):
            return integer(v.name)
        form = self.rng.randrange(4)
        if form == 0:
            return integer('(', self.rng.choice(ints).name, ' + ', v.name, f') % {n}')
        if form == 1:
            return integer(f'({v.name} * 2 + 1) % {n}')
        return integer(f'{v.name} % {n}')

    def small_int(self, n=4):
        return self.index(n)

    def condition(self, depth):
        form = self.rng.randrange(8)
        ints = [v for v in self.visible() if v.shape == INT]
        flags = [v for v in self.visible() if v.shape == BOOL]
        if form < 3 and ints:
            op = self.rng.choice(['<', '>', '==', '!=', '<=', '>='])
            return boolean(self.index(4), f' {op} ', str(self.rng.randrange(4)))
        if form == 3 and ints:
            return boolean(self.rng.choice(ints).name, f' % {self.rng.choice([2, 3])} == ', self.rng.choice('01'))
        if form == 4 and flags:
            return boolean(self.rng.choice(['', '!']), self.rng.choice(flags).name)
        if form == 5 and depth > 0:
            op = self.rng.choice([' && ', ' || '])
            return boolean('(', self.condition(depth - 1), op, self.condition(depth - 1), ')')
        a = self.real(min(depth, 1))
        op = self.rng.choice([' < ', ' > '])
        if self.chance(0.6):
            middle = a.lo + (a.hi - a.lo) * self.rng.uniform(0.2, 0.8)
            return boolean(a.node, op, f'{middle:.4f}')
        return boolean(a.node, op, self.real(min(depth, 1)).node)

    # -- numbers

    def constant(self, lo=0.3, hi=2.5):
        c = round(self.rng.uniform(lo, hi), self.rng.choice([1, 2, 3]))
        spelled = repr(c)
        if self.floats and self.chance(0.3):
            spelled += 'f'
        return real(spelled, lo=c, hi=c)

    def from_int(self):
        before, after, lo, hi = self.rng.choice([
            ('0.5 * (', ')', 0, 1.5), ('static_cast<double>(', ')', 0, 3), ('given::number(', ') / 2', 0, 1.5),
            ('given::Count(', ').value() / 2', 0, 1.5), ('given::Count(', ') / 2', 0, 1.5),
            ('given::whole(1.75 * (', '))', 0, 5), ('(1 + ', ') / 2.0', 0.5, 2)])
        return real(before, self.index(self.rng.choice([2, 3, 4])), after, lo=lo, hi=hi)

    def real(self, depth):
        """A number somewhere within [-50, 50]."""
        if depth <= 0 or self.chance(0.12):
            if self.chance(0.75):
                place = self.number_place()
                if place:
                    return place
            return self.from_int() if self.chance(0.2) else self.constant()
        forms = [(self.sum, 5), (self.product, 6), (self.quotient, 3), (self.negated, 1), (self.function, 5),
                 (self.chosen, 1.5), (self.call_value, 4), (self.cast, 0.7), (self.parenthesized, 0.5),
                 (self.place_or_constant, 4), (self.assigned, 0.4), (self.folded, 0.8), (self.optional_value, 0.8), (self.array_sum, 0.5)]
        form = self.rng.choices([f for f, _ in forms], [w for _, w in forms])[0]
        return form(depth) or self.real(depth - 1)

    def place_or_constant(self, depth):
        return self.real(0)

    def operand(self, depth):
        e = self.real(depth)
        if e.hi - e.lo > 20 or e.hi > 12 or e.lo < -12:
            return real('std::tanh(', e.node, ')', lo=-1, hi=1)
        return e

    def sum(self, depth):
        a, b = self.operand(depth - 1), self.operand(depth - 1)
        if self.chance(0.5):
            return real('(', a.node, ' + ', b.node, ')', lo=a.lo + b.lo, hi=a.hi + b.hi)
        return real('(', a.node, ' - ', b.node, ')', lo=a.lo - b.hi, hi=a.hi - b.lo)

    def product(self, depth):
        a, b = self.operand(depth - 1), self.operand(depth - 1)
        ends = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return real(a.node, ' * ', b.node, lo=min(ends), hi=max(ends))

    def quotient(self, depth):
        a, b = self.operand(depth - 1), self.operand(depth - 1)
        if b.lo < 0.15:
            b = self.fit(b)
            b = real('(', b.node, ')', lo=b.lo, hi=b.hi)
        ends = [x / y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return real(a.node, ' / (', b.node, ')', lo=min(ends), hi=max(ends))

    def negated(self, depth):
        a = self.operand(depth - 1)
        return real('-(', a.node, ')', lo=-a.hi, hi=-a.lo)

    def parenthesized(self, depth):
        a = self.real(depth - 1)
        return real('(', a.node, ')', lo=a.lo, hi=a.hi)

    def cast(self, depth):
        a = self.real(depth - 1)
        form = self.rng.choice(['static_cast<double>(', 'double(', '(double)('])
        return real(form, a.node, ')', lo=a.lo, hi=a.hi)

    def chosen(self, depth):
        c = self.condition(1)
        a, b = self.real(depth - 1), self.real(depth - 1)
        return real('(', c, ' ? ', a.node, ' : ', b.node, ')', lo=min(a.lo, b.lo), hi=max(a.hi, b.hi))

    def function(self, depth):
        a = self.operand(depth - 1)
        bounded = {'sin': (-1, 1), 'cos': (-1, 1), 'tanh': (-1, 1), 'erf': (-1, 1), 'atan': (-1.6, 1.6)}
        positive = {'log': (-2, 3.2), 'sqrt': (0.3, 4), 'log1p': (0, 3), 'cbrt': (0.5, 3), 'log2': (-4, 4)}
        two = ['pow', 'hypot', 'atan2', 'fmax', 'fmin', 'clamp', 'max', 'min', *([] if self.floats else ['fma'])]
        name = self.rng.choice([*bounded, *positive, 'exp', 'abs', 'fabs', 'square', 'asin', 'sinh', 'expm1', *two])
        if name in bounded:
            return real(f'std::{name}(', a.node, ')', lo=bounded[name][0], hi=bounded[name][1])
        if name in positive:
            lo, hi = positive[name]
            if a.lo < 0.1:
                a = self.fit(a)
            return real(f'std::{name}(', a.node, ')', lo=lo, hi=hi)
        if name in ('exp', 'expm1', 'sinh'):
            return real(f'std::{name}(0.1 * (', a.node, '))', lo=-3.4 if name != 'exp' else 0.25, hi=3.4)
        if name in ('abs', 'fabs'):
            lo = 0 if a.lo <= 0 <= a.hi else min(abs(a.lo), abs(a.hi))
            return real(f'std::{name}(', a.node, ')', lo=lo, hi=max(abs(a.lo), abs(a.hi)))
        if name == 'asin':
            return real('std::asin(0.9 * std::sin(', a.node, '))', lo=-1.2, hi=1.2)
        if name == 'square':
            return real('std::pow(', a.node, ', 2)', lo=0, hi=max(a.lo * a.lo, a.hi * a.hi))
        a, b = self.fit(a), self.fit(self.operand(depth - 1))
        if name == 'pow':
            return real('std::pow(', a.node, ', 0.5 * (', b.node, '))', lo=0.03, hi=16)
        if name == 'fma':
            c = self.operand(0)
            return real('std::fma(', a.node, ', ', b.node, ', ', c.node, ')', lo=0.04 + c.lo, hi=16 + c.hi)
        if name == 'clamp':
            return real('std::clamp<double>(', a.node, ', 0.5, 3.0)', lo=0.5, hi=3)
        if name == 'atan2':
            return real('std::atan2(', a.node, ', ', b.node, ')', lo=0.04, hi=1.55)
        hi = 5.7 if name == 'hypot' else HIGH
        spelled = f'{name}<double>' if name in ('max', 'min') else name
        return real(f'std::{spelled}(', a.node, ', ', b.node, ')', lo=LOW, hi=hi)

    def assigned(self, depth):
        """(x = e), where x appears nowhere else in the statement."""
        name, self.assignable = self.assignable, None
        if name is None:
            return None
        return real(f'({name} = ', self.fit(self.real(depth - 1)).node, ')', lo=LOW, hi=HIGH)

    def fit(self, e, lo=LOW, hi=HIGH):
        """The number brought into [lo, hi]."""
        if lo <= e.lo and e.hi <= hi:
            return e
        mean = round((lo + hi) / 2, 3)
        reach = round((hi - lo) * 0.4, 3)
        if self.chance(0.5) and e.hi - e.lo < 25:
            factor = float(f'{(hi - lo) * 0.9 / max(e.hi - e.lo, 0.5):.2g}')
            shift = round(mean - factor * (e.lo + e.hi) / 2, 3)
            return real(f'{shift} + {factor} * (', e.node, ')', lo=lo, hi=hi)
        name = self.rng.choice(['sin', 'tanh', 'sin', 'atan'])
        scale = round(reach / 1.6, 3) if name == 'atan' else reach
        return real(f'{mean} + {scale} * std::{name}(', e.node, ')', lo=lo, hi=hi)

    def number(self, depth=None):
        """A number for a variable."""
        return self.fit(self.real(self.rng.choice([0, 1, 2, 2, 3]) if depth is None else depth))

    # -- calls

    def callables(self, wanted):
        room = 1500 // max(1, self.weight)
        reads = lambda f: all(p.mode in ('value', 'cref', 'cptr', 'cspan', 'callable') for p in f.params) and f.const
        return [f for f in self.functions() if wanted(f) and f.cost <= room and (not self.pure or reads(f))]

    def call_value(self, depth):
        found = self.callables(lambda f: f.result == REAL and (not f.reference or f.kind == 'free'))
        if not found:
            return None
        call = self.call(self.rng.choice(found), depth - 1)
        return call and real(*call, lo=LOW, hi=HIGH)

    def call(self, f, depth):
        args = []
        for p in f.params:
            arg = self.argument(f, p, depth)
            if arg is None:
                return None
            args.append(arg)
        self.cost += self.weight * f.cost
        args = Node('args', *args, tag=f.name)
        if f.kind == 'operator':
            return ['(', args.parts[0], f' {f.name[8:]} ', args.parts[1], ')']
        if f.kind != 'method':
            name = f.name
            if f.kind == 'free' and self.chance(0.04) and not any(p.mode in ('ptr', 'span') for p in f.params) and f.result:
                return ['clad::checkpoint(', name, '(', args, '))']
            return [name, '(', args, ')']
        if self.inside is f.struct and (f.const or not self.inside_const) and self.chance(0.6):
            return [self.rng.choice(['', 'this->']), f.name, '(', args, ')']
        wanted = lambda s: s.kind == 'struct' and s.struct is f.struct
        object_ = self.place(wanted, writable=not f.const)
        if object_ is None:
            return None
        if f.name == 'operator()' and self.chance(0.8):
            return [*object_, '(', args, ')']
        return [*object_, '.', f.name, '(', args, ')']

    def argument(self, f, p, depth):
        same = lambda s: s == p.shape if f.resizes else s.fits(p.shape)
        if f.kind == 'recursive' and p is f.params[0]:
            return integer('n - 1') if self.inside_recursion else integer(str(self.rng.randrange(4)))
        if p.mode == 'callable':
            return self.inline_lambda(self.local_params('value'))
        if p.mode in ('value', 'cref'):
            if p.mode == 'cref' and self.chance(0.3):
                chosen = self.choose_place(lambda s: s == p.shape)
                if chosen:
                    return Node('text', *self.named(chosen)[0])
            if is_real(p.shape):
                e = self.number(min(depth, 2))
                if f.kind == 'template':
                    return Node('expr', 'double(', e.node, ')', type='real')
                return e.node
            return self.value(p.shape, depth)
        if p.mode == 'ref':
            chosen = self.choose_place(same, writable=True, unlocked=f.resizes)
            return chosen and Node('text', *self.named(chosen, writable=True, unlocked=f.resizes)[0])
        if p.mode in ('span', 'cspan'):
            return self.viewed(p.shape, writable=p.mode == 'span')
        return self.pointer(p.shape, writable=p.mode == 'ptr')

    def viewed(self, shape, writable):
        chosen = self.choose_place(lambda s: s.kind in ('vector', 'stdarray', 'array') and s.elem == shape.elem and s.n >= shape.n, writable)
        return chosen and Node('text', *self.write_path(*chosen))

    def pointer(self, shape, writable):
        """The address of `n` numbers."""
        def wanted(s):
            return s.kind in ('vector', 'stdarray', 'array', 'pointer') and s.elem == shape.elem and s.n >= shape.n
        chosen = self.choose_place(wanted, writable)
        if chosen is None:
            return None
        parts, whole = self.write_path(*chosen), self.shape_at(*chosen)
        if whole.kind in ('vector', 'stdarray'):
            return Node('text', *(['&', *parts, '[0]'] if self.chance(0.3) else [*parts, '.data()']))
        if whole.n > shape.n and self.chance(0.5):
            return Node('text', *parts, ' + 1')
        return Node('text', *parts)

    # -- objects

    def value(self, shape, depth=1):
        """An expression of any type but a C array."""
        kind = shape.kind
        if is_real(shape):
            return self.element(shape, depth)
        if kind == 'int':
            return self.small_int()
        if kind == 'bool':
            return self.condition(depth)
        typed = lambda *parts: Node('expr', *parts, type=shape.spell())
        if self.chance(0.5):
            parts = self.place(lambda s: s.fits(shape))
            if parts:
                return typed(*parts)
        if self.chance(0.4):
            found = self.callables(lambda f: f.result is not None and f.result.fits(shape) and not f.reference)
            call = found and self.call(self.rng.choice(found), depth - 1)
            if call:
                return typed(*call)
        return typed(*self.made(shape, depth))

    def element(self, shape, depth):
        e = self.number(max(0, min(depth, 2)))
        if shape == FLOAT:
            return Node('expr', 'float(', e.node, ')', type='real')
        return e.node

    def made(self, shape, depth):
        """A new object, with its type."""
        if shape.kind == 'vector' and self.chance(0.2):
            return [f'{shape.spell()}({shape.n}, ', self.value(shape.elem, depth - 1), ')']
        if shape.kind == 'struct' and shape.struct.constructor:
            return [shape.spell(), '(', *self.commas([self.value(s, depth - 1) for _, s in shape.struct.fields]), ')']
        return [shape.spell(), *self.braced(shape, depth)]

    def braced(self, shape, depth):
        if shape.kind == 'struct':
            inner = []
            if shape.struct.base:
                inner.append(Node('text', *self.made(Shape('struct', struct=shape.struct.base), depth - 1)))
            shapes = [s for _, s in shape.struct.fields]
        elif shape.kind == 'pair':
            inner, shapes = [], [shape.elem, shape.second]
        elif shape.kind == 'tuple':
            inner, shapes = [], shape.parts
        else:
            inner, shapes = [], [shape.elem] * shape.n
        for s in shapes:
            if s.kind == 'array':
                inner.append(Node('text', *self.braced(s, depth - 1)))
            else:
                inner.append(self.value(s, depth - 1))
        return ['{', *self.commas(inner), '}']

    @staticmethod
    def commas(nodes):
        out = []
        for n in nodes:
            out += [', ', n]
        return out[1:]
