"""Random statements."""

from contextlib import contextmanager

from expressions import is_real, real
from shapes import BOOL, FLOAT, INT, REAL, Shape, Var, vector
from tree import Node, stmt, text


class Statements:
    """Mixed into Generator."""

    # -- scopes

    @contextmanager
    def scope(self, repeated=1):
        """Variables declared here end with it; what is inside runs `repeated` times."""
        known = self.known
        self.known = list(known)
        self.scopes.append([])
        self.locked.append([])
        self.weight *= repeated
        try:
            yield
        finally:
            self.known = known
            self.weight //= repeated
            for v in self.locked.pop():
                v.locks -= 1
            self.scopes.pop()
            self.assignable = self.steppable = None  # they may have been declared here

    def lock(self, v):
        """A reference into `v` lives until the end of the scope."""
        v.root.locks += 1
        self.locked[-1].append(v.root)
        v.root.aliased = True

    def block(self, depth, size, repeated=1, first=()):
        with self.scope(repeated):
            for v in first:
                self.scopes[-1].append(v)
            return self.statements(depth, size)

    def statements(self, depth, size):
        return Node('block', *[self.statement(depth) for _ in range(self.rng.randint(1, max(1, size)))])

    def statement(self, depth):
        forms = [(self.declaration, 7), (self.assignment, 10), (self.compound, 6), (self.step, 1.5),
                 (self.object_assignment, 2), (self.alias, 3), (self.call_statement, 4), (self.resize, 1.5),
                 (self.lambda_declaration, 1.2), (self.swap, 0.6), (self.bindings, 0.8), (self.set_flag, 0.7),
                 (self.algorithm, 1.2), (self.holder, 0.8), (self.optional_change, 0.5), (self.function_pointer, 0.4), (self.array_operation, 0.5), (self.refuse, 0.3)]
        if self.globals:
            forms.append((self.global_change, 1.5))
        if depth > 0:
            forms += [(self.branch, 5), (self.for_loop, 4), (self.while_loop, 1.5), (self.range_for, 2.5),
                      (self.switch, 1.2), (self.inner_block, 0.7), (self.declared_later, 0.8), (self.walk, 1)]
        if self.loop_depth:
            forms.append((self.leave_loop, 1.5))
        if depth < self.depth or self.chance(0.2):
            forms.append((self.early_return, 0.7))
        while True:
            form = self.rng.choices([f for f, _ in forms], [w for _, w in forms])[0]
            self.begin_statement()
            made = form(depth)
            if made is not None:
                self.cost += self.weight
                return made

    def begin_statement(self):
        """Chooses, rarely, a variable that this statement alone may change inside an expression."""
        self.hidden, self.assignable, self.steppable = set(), None, None
        if self.chance(0.06):
            found = [v for v in self.visible() if v.shape == REAL and not v.const and v.root is v and not v.aliased]
            if found:
                self.assignable = self.rng.choice(found).name
                self.hidden.add(self.assignable)
        elif self.chance(0.06):
            found = [v for v in self.visible()
                     if v.shape == INT and not v.const and not v.fixed and v.root is v and not v.aliased]
            if found:
                self.steppable = self.rng.choice(found).name
                self.hidden.add(self.steppable)

    # -- declarations

    def declare(self, name, shape, **options):
        v = Var(name, shape, **options)
        self.scopes[-1].append(v)
        return v

    def random_shape(self, depth=2):
        r = self.rng.random()
        if r < 0.5 or depth == 0:
            return FLOAT if self.floats and self.chance(0.3) else REAL
        n = self.rng.choice([2, 3, 3, 4])
        inner = self.random_shape(0) if self.chance(0.7) else self.random_shape(depth - 1)
        if inner.kind == 'array':
            return inner
        if r < 0.6:
            return vector(inner, n)
        if r < 0.7:
            return Shape('array', inner if not self.chance(0.3) else Shape('array', REAL, 2), n)
        if r < 0.78:
            return Shape('stdarray', inner, n)
        if r < 0.82:
            return Shape('pair', inner, second=self.random_shape(0))
        if r < 0.85:
            return Shape('tuple', parts=(inner, self.random_shape(0), REAL)[:self.rng.choice([2, 3])])
        if self.structs:
            return Shape('struct', struct=self.rng.choice(self.structs))
        return REAL

    def declaration(self, depth):
        if self.chance(0.15):
            return self.int_declaration()
        shape = self.random_shape()
        name = self.new_name()
        self.hidden.add(name)
        const = self.chance(0.15)
        before = 'const ' if const else ''
        if is_real(shape):
            e = self.number()
            spelled = 'auto' if self.chance(0.1) else shape.spell()
            braces = shape == REAL and self.chance(0.3)
            made = stmt(before, f'{spelled} {name}', *(['{', e.node, '}'] if braces else [' = ', e.node]), ';')
            if spelled == 'auto':
                made = stmt(before, f'auto {name} = double(', e.node, ');')
                shape = REAL
        elif shape.kind == 'array':
            made = stmt(before, shape.declare(name), *self.braced(shape, 2), ';')
        elif shape.kind == 'struct' and shape.struct.constructor or self.chance(0.4):
            made = stmt(before, shape.declare(name), ' = ', self.value(shape, 2), ';')
        else:
            made = stmt(before, shape.declare(name), *self.braced(shape, 2), ';')
        self.declare(name, shape, const=const)
        return made

    def int_declaration(self):
        name = self.new_name()
        self.hidden.add(name)
        before = f'static int {name};\n' if self.chance(0.1) else 'int '
        made = stmt(before, f'{name} = ', self.small_int(), ';')
        self.declare(name, INT)
        return made

    def declared_later(self, depth):
        """Declared without a value, assigned in both branches."""
        name = self.new_name()
        self.hidden.add(name)
        c = self.condition(1)
        arms = []
        for _ in range(2):
            with self.scope():
                arms.append(Node('block', stmt(f'{name} = ', self.number().node, ';')))
        made = stmt(f'double {name};\nif (', c, ') {\n', arms[0], '\n} else {\n', arms[1], '\n}')
        self.declare(name, REAL)
        return made

    def alias(self, depth):
        name = self.new_name()
        self.hidden.add(name)
        form = self.rng.randrange(6)
        if form == 0:  # a pointer to numbers
            n = self.rng.choice([1, 2, 3])
            shape = Shape('pointer', REAL, n)
            const = self.chance(0.4)
            chosen = self.choose_place(lambda s: s == REAL if n == 1 else s.kind in ('vector', 'array', 'stdarray')
                                       and s.elem == REAL and s.n >= n, writable=not const)
            if not chosen:
                return None
            v, path = chosen
            parts = self.write_path(v, path)
            whole = self.shape_at(v, path)
            if n == 1:
                parts = ['&', *parts]
            elif whole.kind != 'array':
                parts = [*parts, '.data()']
            elif whole.n > n:
                parts = [*parts, ' + ', str(self.rng.randint(0, whole.n - n))]
            self.lock(v)
            spelled = 'const double*' if const else 'double*'
            made = stmt(f'{spelled} {name} = ', *parts, ';')
            self.declare(name, shape, const=const, root=v.root)
            return made
        if form == 1 and self.chance(0.5):  # a temporary that lives on
            made = stmt(f'const double& {name} = +(', self.number(2).node, ');')
            self.declare(name, REAL, const=True)
            return made
        const = self.chance(0.3)
        wanted = (lambda s: s == REAL) if self.chance(0.6) else (lambda s: s.kind in ('vector', 'struct', 'stdarray', 'pair', 'tuple'))
        chosen = self.choose_place(wanted, writable=not const)
        if not chosen:
            return None
        v, path = chosen
        parts, owners = self.named(chosen, writable=not const)
        shape = self.shape_at(v, path)
        for owner in owners:
            self.lock(owner)
        spelled = ('const ' if const else '') + ('auto' if self.chance(0.2) else shape.spell())
        made = stmt(f'{spelled}& {name} = ', *parts, ';')
        self.declare(name, shape, const=const, root=v.root)
        return made

    def bindings(self, depth):
        wanted = lambda s: s.kind in ('pair', 'tuple') or s.kind == 'struct' and s.struct.is_plain()
        reference = self.chance(0.5)
        chosen = self.choose_place(wanted, writable=reference)
        if not chosen:
            return None
        v, path = chosen
        shape = self.shape_at(v, path)
        names = []
        self.hidden.add(v.name)
        for _ in shape.steps():
            names.append(self.new_name())
            self.hidden.add(names[-1])
        parts = self.write_path(v, path)
        if reference:
            self.lock(v)
        for name, (_, s) in zip(names, shape.steps()):
            self.declare(name, s, root=v.root if reference else None)
        return stmt('auto', '& ' if reference else ' ', f'[{", ".join(names)}] = ', *parts, ';')

    def set_flag(self, depth):
        name = self.new_name()
        self.hidden.add(name)
        made = stmt(f'bool {name} = ', self.condition(1), ';')
        self.declare(name, BOOL)
        return made

    # -- changes

    def assignment(self, depth):
        parts = self.place(is_real, writable=True)
        return parts and stmt(*parts, ' = ', self.number().node, ';')

    def compound(self, depth):
        """Keeps what it changes near where it was, or brings it back."""
        parts = self.place(is_real, writable=True)
        if not parts:
            return None
        form = self.rng.randrange(5)
        if form == 0:
            return stmt(*parts, ' += 0.05 * (', self.number().node, ');')
        if form == 1:
            return stmt(*parts, self.rng.choice([' *= ', ' /= ']), self.fit(self.real(2), 0.85, 1.15).node, ';')
        if form == 2:
            return stmt(*parts, ' -= 0.02 * ', *parts, ' * (', self.number().node, ');')
        back = self.fit(real(*parts, lo=-8, hi=16))
        op = self.rng.choice([' += ', ' *= ', ' -= '])
        return stmt(*parts, op, self.number().node, ';\n', Node('optional', *parts, ' = ', back.node, ';'))

    def step(self, depth):
        found = [v for v in self.visible() if v.shape == INT and not v.const and not v.fixed]
        if not found:
            return None
        name = self.rng.choice(found).name
        return stmt(self.rng.choice([f'++{name};', f'{name}++;', f'{name} += 2;', f'{name} = ({name} * 3 + 1) % 7;',
                                     f'{name} = {name} > 0 ? {name} - 1 : 2;']))

    def global_change(self, depth):
        name, shape, first = self.rng.choice(self.globals)
        if shape == INT:
            return stmt(f'{name} = ', self.small_int(), ';')
        return stmt(self.rng.choice([f'{name} = {first};', f'{name} = 0.5 + 0.5 * {name};', f'{name} *= 1.1;\nif ({name} > 2) {name} = 0.7;']))

    def object_assignment(self, depth):
        wanted = lambda s: s.kind in ('vector', 'struct', 'stdarray', 'pair', 'tuple')
        chosen = self.choose_place(wanted, writable=True, unlocked=True)
        if not chosen:
            return None
        v, path = chosen
        shape = self.shape_at(v, path)
        return stmt(*self.write_path(v, path), ' = ', self.value(shape, 2), ';')

    def swap(self, depth):
        shape = self.rng.choice([REAL, REAL, *[v.shape for v in self.visible() if v.shape.kind in ('vector', 'struct', 'stdarray')]])
        wanted = lambda s: s == shape
        a, b = (self.place(wanted, writable=True, unlocked=shape != REAL) for _ in range(2))
        return a and b and stmt('std::swap(', *a, ', ', *b, ');')

    def resize(self, depth):
        """Changes a vector's length; it never has fewer elements than its shape says."""
        chosen = self.choose_place(lambda s: s.kind == 'vector', writable=True, unlocked=True)
        if not chosen or self.in_lambda:
            return None
        v, path = chosen
        shape = self.shape_at(v, path)
        self.steppable = None  # each path is written several times
        parts = self.write_path(v, path)
        element = self.value(shape.elem, 1)
        form = self.rng.randrange(6)
        if form == 0:
            return stmt('if (', *parts, f'.size() > {shape.n}) ', *parts, '.pop_back();')
        if form == 1:
            return stmt(*parts, f'.resize({shape.n}', Node('optional', ' + ', self.small_int(3), ', ', element), ');')
        if form in (2, 3):
            keep = self.numbered('e')
            change = ([*parts, f'.assign({shape.n}, {keep});'] if form == 2 else
                      [*parts, f'.clear();\nfor (int i_ = 0; i_ < {shape.n}; ++i_) ', *parts, f'.push_back({keep});'])
            return stmt('{\nconst ', shape.elem.spell(), f' {keep} = ', element, ';\n', *change, '\n}')
        if form == 4:
            return stmt(*parts, '.emplace_back(', element, ');')
        return stmt('if (', *parts, '.size() < 8) ', *parts, '.push_back(', element, ');')

    def call_statement(self, depth):
        found = self.callables(lambda f: not (f.const and f.kind == 'method') or self.chance(0.2))
        if not found:
            return None
        f = self.rng.choice(found)
        call = self.call(f, 2)
        if call is None:
            return None
        if f.reference:
            return stmt(*call, ' = ', self.number().node, ';') if not f.const else None
        if f.result == REAL and self.chance(0.6):
            target = self.place(is_real, writable=True)
            if target:
                return stmt(*target, self.rng.choice([' = ', ' = ', ' += 0.05 * ', ' *= 0.5 + 0.2 * ']), *call, ';')
        if f.chain:
            more = [g for g in self.callables(lambda g: g.chain and g.struct is f.struct) if all(p.mode in ('value', 'cref') for p in g.params)]
            if more and self.chance(0.5):
                g = self.rng.choice(more)
                args = [self.argument(g, p, 1) for p in g.params]
                self.cost += self.weight * g.cost
                if None not in args:
                    call += [f'.{g.name}(', Node('args', *args, tag=g.name), ')']
        return stmt(*call, ';')

    def refuse(self, depth):
        if self.in_constructor:
            return None
        a = self.real(1)
        return stmt('if (', a.node, f' > {a.hi + 1:.1f}) throw std::runtime_error("too large");')

    # -- control flow

    def branch(self, depth):
        c = self.condition(2)
        then = self.block(depth - 1, 3)
        if self.chance(0.5):
            return stmt('if (', c, ') {\n', then, '\n}')
        other = self.block(depth - 1, 3)
        return stmt('if (', c, ') {\n', then, '\n}', Node('optional', ' else {\n', other, '\n}'))

    def inner_block(self, depth):
        return stmt('{\n', self.block(depth - 1, 3), '\n}')

    @contextmanager
    def loop(self):
        self.loop_depth += 1
        try:
            yield
        finally:
            self.loop_depth -= 1

    def room_for_loop(self):
        return self.weight <= 12

    def at_most(self, n):
        """How often a loop runs."""
        if n < 1 or self.chance(0.8):
            return text(str(n))
        if self.chance(0.7):
            return text('(', self.condition(0), f' ? {n} : {n - 1})')
        return text('((', self.index(n), f' & 1) + {n - 1})')

    def for_loop(self, depth):
        if not self.room_for_loop():
            return None
        n = self.rng.choice([0, 1, 2, 3, 3, 4])
        name = self.new_name()
        i = Var(name, INT, bound=n, fixed=True)
        form = self.rng.randrange(6)
        self.hidden.add(name)
        end = self.at_most(n)
        if form == 0:
            head = text(f'for (int {name} = ', end, f' - 1; {name} >= 0; --{name})')
        elif form == 1:
            head = text(f'for (int {name} = 0; {name} < ', end, f'; {name} += 2)')
        elif form == 2:
            head = text(f'for (int {name} = ', end, f'; {name}-- > 0;)')
        elif form == 3 and [v for v in self.visible() if v.shape == INT and v.name != name]:
            head = text(f'for (int {name} = 0; {name} < ', self.index(4), f'; ++{name})')
            i.bound = 3
        else:
            kind = self.rng.choice(['int', 'int', 'std::size_t', 'auto'])
            head = text(f'for ({kind} {name} = 0; {name} < ', end, f'; ++{name})')
        i.bound = max(i.bound, 1)
        with self.loop():
            body = self.block(depth - 1, 4, max(n, 1), [i])
        mark = Node('optional', f'clad::checkpoint_loop({self.rng.choice([1, 2, 3])});\n') if self.chance(0.12) else ''
        return stmt(head, ' {\n', mark, body, '\n}')

    def while_loop(self, depth):
        if not self.room_for_loop():
            return None
        n = self.rng.choice([1, 2, 3])
        name = self.new_name()
        k = Var(name, INT, fixed=True)
        with self.scope():
            self.scopes[-1].append(k)
            self.hidden = set()
            extra = text(' && ', self.condition(0)) if self.chance(0.3) else ''
            with self.loop():
                body = self.block(depth - 1, 3, n)
        self.scopes[-1].append(k)
        form = self.rng.randrange(3)
        if form == 0:
            return stmt(f'int {name} = 0;\nwhile ({name}++ < {n}', extra, ') {\n', body, '\n}')
        if form == 1:
            return stmt(f'int {name} = 0;\ndo {{\n', body, f'\n}} while (++{name} < {n}', extra, ');')
        return stmt(f'int {name} = 0;\nfor (;; ++{name}) {{\nif ({name} >= {n}) break;\n', body, '\n}')

    def range_for(self, depth):
        if not self.room_for_loop():
            return None
        mode = self.rng.choice(['value', 'ref', 'cref'])
        chosen = self.choose_place(lambda s: s.kind in ('vector', 'array', 'stdarray'), writable=mode == 'ref')
        if not chosen:
            return None
        v, path = chosen
        shape = self.shape_at(v, path)
        elem = shape.elem
        if elem.kind == 'array':
            return None
        parts, owners = self.named(chosen, writable=mode == 'ref')
        name = self.new_name()
        spelled = 'auto' if self.chance(0.3) else elem.spell()
        with self.scope():
            for owner in owners:
                self.lock(owner)
            e = Var(name, elem, const=mode == 'cref', root=v.root if mode != 'value' else None)
            with self.loop():
                body = self.block(depth - 1, 3, max(shape.n, 4), [e])
        spelled = {'value': spelled, 'ref': spelled + '&', 'cref': f'const {spelled}&'}[mode]
        return stmt(f'for ({spelled} {name} : ', *parts, ') {\n', body, '\n}')

    def switch(self, depth):
        n = self.rng.choice([2, 3])
        selector = self.index(n + 1)
        parts = []
        for i in range(n):
            parts += ['default:' if i == n - 1 and self.chance(0.6) else f'case {i}:', ' {\n', self.block(depth - 1, 2), '\n}\n']
            if self.chance(0.65):
                parts += [Node('optional', 'break;'), '\n']
        return stmt('switch (', selector, ') {\n', *parts, '}')

    def leave_loop(self, depth):
        word = self.rng.choice(['break', 'continue'])
        return stmt('if (', self.condition(1), f') {word};')

    def early_return(self, depth):
        if self.in_constructor or self.in_chain:
            return None
        if self.weight == 1 and depth == self.depth:
            return None
        c = self.condition(1)
        if self.result is None:
            return stmt('if (', c, ') return;')
        return stmt('if (', c, ') {\nreturn ', self.value(self.result, 1), ';\n}')
