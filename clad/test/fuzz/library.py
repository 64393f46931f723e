"""What programs take from the standard library: algorithms with lambdas, tuples, optionals, pointers that move."""

from expressions import HIGH, LOW, real
from functions import Function
from shapes import INT, REAL, Param, Shape, Var
from tree import Node, stmt, text

OPTIONAL, OWNED = Shape('optional', REAL), Shape('owned', REAL)


class Library:
    """Mixed into Generator."""

    # -- functions written where they are used

    def inline_lambda(self, params, depth=1, changes=False):
        """One that only reads what it captures, and returns a number; with `changes`, assigns its only parameter."""
        by_reference = self.chance(0.8)
        view = [Var(v.name, v.shape, const=True, bound=v.bound, fixed=True, root=v.root) for v in self.visible()
                if v not in self.scopes[0] and (by_reference or v.shape.copies())]
        outer, self.cost, weight, self.weight = self.cost, 0, self.weight, 1
        self.in_lambda += 1
        self.pure += 1
        def make():
            value = self.number(depth).node
            return ['return ', value, ';'] if not changes else [f'{params[0].name} = ', value, ';']
        body = self.within(params, REAL, make, scopes=[self.scopes[0], view])
        self.pure -= 1
        self.in_lambda -= 1
        self.cost, self.weight = outer + 4 * weight * (self.cost + 1), weight
        return Node('text', f'[{"&" if by_reference else "="}](', ', '.join(p.spell() for p in params), ') { ', *body, ' }')

    def local_params(self, *modes):
        return [Param(self.numbered('e'), REAL, mode) for mode in modes]

    # -- algorithms

    def range(self, writable=False):
        """(begin, end, number of elements or None) of some numbers."""
        chosen = self.choose_place(lambda s: s.kind in ('vector', 'stdarray', 'array') and s.elem == REAL, writable)
        if not chosen:
            return None
        self.steppable = None  # the path is written twice
        parts, shape = self.write_path(*chosen), self.shape_at(*chosen)
        if shape.kind == 'array':
            if self.chance(0.5):
                return [*parts], [*parts, f' + {shape.n}'], shape.n
            return ['std::begin(', *parts, ')'], ['std::end(', *parts, ')'], shape.n
        if shape.kind == 'vector' and self.chance(0.5):
            return [*parts, '.begin()'], [*parts, '.end()'], None
        if self.chance(0.2):
            return [*parts, '.data()'], [*parts, f'.data() + {shape.n}'], shape.n
        return [*parts, '.begin()'], [*parts, f'.begin() + {shape.n}'], shape.n

    def folded(self, depth):
        """A number made of many."""
        found = self.range()
        if not found:
            return None
        begin, end, n = found
        self.cost += 5 * self.weight
        both = [*begin, ', ', *end]
        short = n is not None and n < 4  # the library adds more in an order of its own
        form = self.rng.randrange(8)
        if form == 0:
            return real('*std::', self.rng.choice(['max_element(', 'min_element(']), *both, ')', lo=LOW, hi=HIGH)
        if form == 1:
            reduce = self.inline_lambda(self.local_params('value', self.rng.choice(['value', 'cref'])))
            return real('std::accumulate(', *both, ', double(', self.number(1).node, '), ', reduce, ')', lo=LOW, hi=HIGH)
        if form == 2:
            made = ['std::inner_product(', *both, ', ', *begin, ', 0.0)']
        elif form == 3 and short:
            term = self.inline_lambda(self.local_params('value'))
            made = ['std::transform_reduce(', *both, ', 0.0, std::plus<>(), ', term, ')']
        elif form == 4:
            made = ['std::inner_product(', *both, ', ', *begin, ', 0.0, std::plus<>(), ',
                    self.inline_lambda(self.local_params('value', 'value')), ')']
        else:
            made = [self.rng.choice(['std::accumulate(', 'std::reduce('] if short else ['std::accumulate(']), *both, ', 0.0)']
        if n is None or form == 2:
            return real('std::tanh(0.1 * ', *made, ')', lo=0, hi=1)
        return real(*made, lo=LOW * n, hi=HIGH * n)

    def algorithm(self, depth):
        found = self.range(writable=True)
        if not found or not self.room_for_loop():
            return None
        begin, end, n = found
        self.cost += 5 * self.weight
        both = [*begin, ', ', *end]
        form = self.rng.randrange(9)
        if form == 0:
            return stmt('std::transform(', *both, ', ', *begin, ', ', self.inline_lambda(self.local_params('value'), 2), ');')
        if form == 1:
            return stmt('std::for_each(', *both, ', ', self.inline_lambda(self.local_params('ref'), 2, changes=True), ');')
        if form == 2:
            return stmt('std::fill(', *both, ', ', self.number(2).node, ');')
        if form == 3:
            return stmt('std::generate(', *both, ', ', self.inline_lambda([], 2), ');')
        if form == 4:
            other = self.range()
            if not other or n is None or other[2] is None or n > other[2] or str(other[0]) == str(begin):
                return None
            return stmt('std::transform(', *both, ', ', *other[0], ', ', *begin, ', ',
                        self.inline_lambda(self.local_params('value', 'value'), 2), ');')
        if form == 5:
            return stmt('std::rotate(', *begin, ', ', *begin, ' + 1, ', *end, ');')
        if form == 6:
            return stmt('std::reverse(', *both, ');')
        if form == 7:
            return stmt('std::sort(', *both, self.rng.choice(['', ', std::greater<>()']), ');')
        return stmt('std::partial_sum(', *both, ', ', *begin, ');\nstd::for_each(', *both,
                    ', [](double& e_) { e_ = 1.5 + 1.2 * std::sin(e_); });')

    # -- objects that may be empty, or lie elsewhere

    def holder(self, depth):
        if self.in_constructor:
            return None
        name = self.new_name()
        self.hidden.add(name)
        start = self.number(2).node
        if self.chance(0.2):
            n = self.rng.choice([2, 3])
            made = stmt(f'std::valarray<double> {name}{{', start, *[x for _ in range(n - 1) for x in (', ', self.number(1).node)], '};')
            self.declare(name, Shape('valarray', REAL, n))
        elif self.chance(0.5):
            made = stmt(f'std::optional<double> {name}', *self.rng.choice([['{', start, '};'], [' = ', start, ';'], [';']]))
            self.declare(name, OPTIONAL)
        else:
            made = stmt(f'auto {name} = std::make_unique<double>(', start, ');')
            self.declare(name, OWNED)
        return made

    def optional_change(self, depth):
        found = [v for v in self.visible() if v.shape == OPTIONAL and not v.const]
        if not found:
            return None
        name = self.rng.choice(found).name
        self.hidden.add(name)
        form = self.rng.randrange(4)
        if form == 0:
            return stmt(f'if ({name}) *{name} *= ', self.fit(self.real(2), 0.85, 1.15).node, f';')
        if form == 1:
            return stmt('if (', self.condition(1), f') {name}.reset();')
        return stmt(f'{name}', *self.rng.choice([[' = ', self.number(2).node], ['.emplace(', self.number(2).node, ')']]), ';')

    def optional_value(self, depth):
        found = [v for v in self.visible() if v.shape == OPTIONAL]
        if not found:
            return None
        name, other = self.rng.choice(found).name, self.number(1).node
        if self.chance(0.5):
            return real(f'{name}.value_or(', other, ')', lo=LOW, hi=HIGH)
        return real(f'({name} ? *{name} : ', other, ')', lo=LOW, hi=HIGH)

    # -- std::valarray

    def array_operation(self, depth):
        found = [v for v in self.visible() if v.shape.kind == 'valarray' and not v.const]
        if not found:
            return None
        v = self.rng.choice(found)
        other = self.rng.choice([w for w in found if w.shape.n == v.shape.n])
        form = self.rng.randrange(4)
        if form == 0:
            return stmt(f'{v.name} *= ', self.fit(self.real(2), 0.85, 1.15).node, ';')
        if form == 1:
            return stmt(f'{v.name} = 1.5 + 1.2 * std::sin({v.name} * {other.name} + ', self.number(1).node, ');')
        if form == 2:
            return stmt(f'{v.name} += 0.05 * {other.name};')
        return stmt(f'{v.name} = {other.name};')

    def array_sum(self, depth):
        found = [v for v in self.visible() if v.shape.kind == 'valarray']
        if not found:
            return None
        v = self.rng.choice(found)
        n = v.shape.n
        if self.chance(0.5):
            return real(f'{v.name}.sum()', lo=LOW * n, hi=HIGH * n)
        return real(f'({v.name} * {v.name}).sum()', lo=0, hi=HIGH * HIGH * n)

    # -- pointers and iterators that move

    def walk(self, depth):
        if not self.room_for_loop():
            return None
        const = self.chance(0.5)
        chosen = self.choose_place(lambda s: s.kind in ('vector', 'stdarray', 'array') and s.elem == REAL, not const)
        if not chosen:
            return None
        self.steppable = None
        v, shape = chosen[0], self.shape_at(*chosen)
        self.hidden.add(v.name)
        name = self.new_name()
        self.hidden.add(name)
        self.steady = True  # the body must not move the end
        parts = self.write_path(*chosen)
        self.steady = False
        if shape.kind != 'array' and self.chance(0.5):
            first, last = [*parts, self.rng.choice(['.begin()', '.begin()', '.cbegin()'] if const else ['.begin()'])], [*parts, '.end()']
            const = const or first[-1] == '.cbegin()' or v.const
            head = [f'for (auto {name} = ', *first, f'; {name} != ', *last, f'; ++{name})']
        else:
            start = parts if shape.kind == 'array' else [*parts, '.data()']
            head = [f'for ({"const " if const else ""}double* {name} = ', *start, f'; {name} ', self.rng.choice(['!=', '<']), ' ',
                    *start, f' + {shape.n}; {name}++)']
        with self.scope():
            self.lock(v)
            e = Var(name, Shape('pointer', REAL, 1), const=const, root=v.root, moves=True)
            with self.loop():
                body = self.block(depth - 1, 3, max(shape.n, 4), [e])
        return stmt(*head, ' {\n', body, '\n}')

    # -- functions behind names

    def function_pointer(self, depth):
        found = [f for f in self.functions() if f.kind in ('free', 'recursive') and not f.name.startswith('fp_') and not f.reference and f.result
                 and all(p.mode in ('value', 'cref') for p in f.params)]
        if not found or self.inside_recursion:
            return None
        f = self.rng.choice(found)
        name = self.numbered('fp')
        self.known.append(Function(name, f.params, f.result, 'pointer' if f.kind == 'free' else 'recursive', cost=f.cost))
        return stmt(f'auto {name} = {self.rng.choice(["", "&"])}{f.name};')

    def applier(self):
        """A function that is given another."""
        name, h = self.numbered('g'), Function(self.numbered('h'), self.local_params('value'), REAL, 'lambda')
        f = Function(name, [Param('', None, 'callable'), Param(self.numbered('p'), REAL, 'value')], REAL, 'applier')
        def make():
            self.known.append(h)
            block = self.statements(1, 3)
            self.begin_statement()
            block.parts.append(stmt('return ', self.number(3).node, ';'))
            self.known.remove(h)
            return block
        outer, self.cost = self.cost, 0
        body = self.within(f.params[1:], REAL, make)
        f.cost, self.cost = self.cost + 10, outer
        self.known.append(f)
        how = self.rng.choice(['template <class F> double {}(F {}, double {}) {{\n', 'template <class F> double {}(const F& {}, double {}) {{\n',
                               'double {}(const std::function<double(double)>& {}, double {}) {{\n', 'double {}(auto&& {}, double {}) {{\n'])
        return text(how.format(name, h.name, f.params[1].name), body, '\n}')

    def picker(self):
        """A function that returns a reference to an element of its argument."""
        shape = self.rng.choice([Shape('vector', REAL, 2), Shape('stdarray', REAL, 3)])
        f = Function(self.numbered('g'), [Param('v', shape, 'ref'), Param('i', INT, 'value')], REAL, 'free', reference=True, const=False)
        name = f.name
        self.known.append(f)
        early = Node('optional', f'if (i > 2) return v[{shape.n - 1}];\n') if self.chance(0.5) else ''
        return text(f'double& {name}({shape.spell()}& v, int i) {{\n', early, f'return v[i % {shape.n}];\n}}')

    def chooser(self):
        """A function that returns one of its arguments."""
        const = self.chance(0.5)
        one, name = 'const double&' if const else 'double&', self.numbered('g')
        body = self.rng.choice(['return k > 1.2 ? a : b;', 'if (k > 1.2) return a;\nreturn b;', f'{one} c = k < 0.9 ? b : a;\nreturn c;',
                                'return std::max(a, b);' if const else 'a *= 0.9;\nreturn k > 1.2 ? a : b;'])
        self.choosers.append((name, const))
        return text(f'{one} {name}({one} a, {one} b, double k) {{\n{body}\n}}')

    # -- classes with virtual functions

    def hierarchy(self):
        """A base class, one or two derived from it, and a function that calls through the base."""
        from shapes import Struct
        base, items, calls = self.numbered('B'), [], []
        area = self.numbered('m')
        classes = [(base, ['a'])] + [(self.numbered('D'), ['a', field]) for field in self.rng.sample(['b', 'c', 'k'], self.rng.choice([1, 2]))]
        used = self.numbered('g')
        for name, fields in classes:
            s = Struct(name, [(field, REAL) for field in fields])
            s.constructor = s.virtual = True
            f = Function(area, self.local_params('value'), REAL, 'method', s)
            make = lambda: Node('block', *([self.statement(1)] if self.chance(0.4) else []), stmt('return ', self.number(2).node, ';'))
            outer, self.cost = self.cost, 0
            body = self.within(f.params, REAL, make, fields=s, const=True)
            f.cost, self.cost = self.cost + 5, outer
            params = ', '.join(f'double {field}_' for field in fields)
            first = 'a(a_)' if name == base else f'{base}(a_), {fields[1]}({fields[1]}_)'
            own = fields[-1]
            virtual, override = ('virtual ', '') if name == base else ('', ' override')
            visits = ''.join(f' clad::test::each_real({field}, visit_);' for field in fields)
            items.append(text(f'struct {name}{"" if name == base else " : " + base} {{\ndouble {own};\n{name}({params}) : {first} {{}}\n',
                              f'{virtual}double {area}({f.params[0].spell()}) const{override} {{\n', body, '\n}\n',
                              f'template <class V_> void reals(V_&& visit_) {{{visits} }}\n}};'))
            self.structs.append(s)
            self.known.append(f)
            calls.append(Function(used, [Param('s', Shape('struct', struct=s), 'cref'), Param('t', REAL, 'value')], REAL, cost=30))
        self.known += calls
        items.append(text(f'double {used}(const {base}& s, double t) {{\nreturn {self.rng.choice(["", "0.5 + 0.5 * "])}s.{area}(t);\n}}'))
        return Node('items', *items)
