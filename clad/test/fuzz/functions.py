"""Functions, methods, constructors and lambdas."""

from expressions import is_real
from shapes import FLOAT, INT, REAL, Function, Param, Shape, Struct, Var, vector
from tree import Node, stmt, text


class Functions:
    """Mixed into Generator."""

    def functions(self):
        return [f for f in self.known if f.name not in self.hidden]

    # -- classes

    def struct(self):
        name, around = self.numbered('S'), self.rng.choices(['', 'template', 'nested'], [8, 1, 1])[0]
        if around == 'template':
            name += '<double>'
        elif around == 'nested':
            name = f'{self.numbered("O")}::{name}'
        base = self.rng.choice(self.structs) if self.structs and self.chance(0.25) else None
        if base and base.constructor:
            base = None
        s = Struct(name, [], base)
        taken = {n for n, _ in base.all_fields()} if base else set()
        free = [n for n in ('a', 'b', 'c', 'x', 'w', 'u', 'v', 'y', 'z') if n not in taken]
        by_number = not base and self.chance(0.25)
        for field in self.rng.sample(free, min(len(free), self.rng.choice([2, 4, 4, 5] if by_number else [1, 2, 2, 3]))):
            s.fields.append((field, REAL if by_number else self.field_shape()))
        s.elements = len(s.fields) if by_number else 0
        s.constructor = not base and self.chance(0.2) and all(f.kind != 'array' for _, f in s.fields)
        number = 'T' if around == 'template' else 'double'
        fields = [text(f'{number} {field}' if shape == REAL else shape.declare(field), ';') for field, shape in s.fields]
        members = Node('items')
        friends = Node('items')
        if s.constructor:
            members.parts.append(self.constructor(s))
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            members.parts.append(self.method(s))
        if self.chance(0.12):
            members.parts.append(self.functor(s))
        if by_number:
            members.parts += self.element_access(s, number)
        visited = ''.join(f' clad::test::each_real({field}, visit_);' for field, _ in s.all_fields())
        visit = f'template <class V_> void reals(V_&& visit_) {{{visited} }}'
        heading = f'struct {s.own_name()}' + (f' : {base.name}' if base else '')
        self.structs.append(s)
        if self.chance(0.3):
            friends.parts += self.operators(s)
        before, after = {'': ('', ''), 'template': ('template <class T> ', ''), 'nested': (f'struct {name.split(":")[0]} {{\n', '\n};')}[around]
        return text(before, heading, ' {\n', *[n for f in fields for n in (f, '\n')], members, '\n', visit, '\n};', after, '\n', friends)

    def operators(self, s):
        """Binary operators of a class."""
        shape, out = Shape('struct', struct=s), []
        for sign in self.rng.sample('+-*', self.rng.choice([1, 2])):
            result = REAL if sign == '*' else shape
            f = Function(f'operator{sign}', [Param(self.numbered('p'), shape, 'cref'), Param(self.numbered('p'), shape, 'cref')], result, 'operator')
            body = self.body(f)
            out.append(text(f'{result.spell()} operator{sign}({f.params[0].spell()}, {f.params[1].spell()}) {{\n', body, '\n}'))
            self.known.append(f)
        return out

    def element_access(self, s, number):
        """operator[], which chooses among the fields."""
        def one_of(fields):
            return ''.join(f'i_ == {i} ? {field} : ' for i, field in enumerate(fields[:-1])) + fields[-1]
        fields = [field for field, _ in s.fields]
        one = one_of(fields)
        if len(fields) > 2 and self.chance(0.3):
            one = f'i_ < {len(fields) - 1} ? ({one_of(fields[:-1])}) : {fields[-1]}'
        elif self.chance(0.3):  # as if they were an array
            one = f'(&{fields[0]})[i_]'
        body = f'return {one};'
        return [text(f'{number}& operator[](int i_) {{ {body} }}'), text(f'const {number}& operator[](int i_) const {{ {body} }}')]

    def functor(self, s):
        f = Function('operator()', [Param(self.numbered('p'), REAL, 'value')], REAL, 'method', s)
        body = self.body(f, s)
        self.known.append(f)
        return self.definition(f, body, ' const')

    def field_shape(self):
        r = self.rng.random()
        if r < 0.65:
            return REAL
        if r < 0.75:
            return Shape('array', REAL, self.rng.choice([2, 3]))
        if r < 0.87:
            return vector(REAL, self.rng.choice([2, 3]))
        if r < 0.92:
            return Shape('stdarray', REAL, 3)
        if self.structs:
            return Shape('struct', struct=self.rng.choice(self.structs))
        return REAL

    def constructor(self, s):
        params = [Param(self.numbered('p'), shape, 'value') for _, shape in s.fields]
        lists = Node('text', *self.commas([text(f'{field}({p.name})') for (field, _), p in zip(s.fields, params)]))
        def body():
            self.in_constructor = True
            made = self.statements(1, 2) if self.chance(0.4) else Node('block')
            self.in_constructor = False
            return made
        body = self.within(params, None, body, fields=s, const=False)
        spelled = ', '.join(p.spell() for p in params)
        return text(f'{s.own_name()}({spelled}) : ', lists, ' {\n', body, '\n}')

    def chain(self, s):
        f = Function(self.numbered('m'), self.parameters(2), None, 'method', s, const=False, chain=True)
        self.in_chain = True
        body = self.body(f, s)
        self.in_chain = False
        body.parts.append(stmt('return *this;'))
        self.known.append(f)
        return text(f'{s.own_name()}& {f.name}(', Node('params', *[p.spell() for p in f.params], tag=f.name), ') {\n', body, '\n}')

    def method(self, s):
        if self.chance(0.12):
            return self.chain(s)
        const = self.chance(0.5)
        if not const and self.chance(0.2):
            places = [n for n, shape in s.fields if shape == REAL]
            if places:
                f = Function(self.numbered('m'), [], REAL, 'method', s, const=False, reference=True)
                self.known.append(f)
                return text(f'double& {f.name}() {{ return {self.rng.choice(places)}; }}')
        f = Function(self.numbered('m'), self.parameters(2), self.result_shape(not const), 'method', s, const=const)
        body = self.body(f, s)
        self.known.append(f)
        return self.definition(f, body, ' const' if const else '')

    # -- functions

    def parameters(self, most):
        return [self.parameter() for _ in range(self.rng.randint(0 if most < 3 else 1, most))]

    def parameter(self):
        name = self.numbered('p') if self.chance(0.4) else None
        r = self.rng.random()
        if r < 0.3:
            shape, mode = REAL, 'value'
        elif r < 0.4:
            shape, mode = REAL, 'cref'
        elif r < 0.55:
            shape, mode = REAL, 'ref'
        elif r < 0.6:
            shape, mode = Shape('int'), 'value'
        elif r < 0.63:
            shape, mode = Shape('span', REAL, self.rng.choice([2, 3])), self.rng.choice(['span', 'cspan'])
        elif r < 0.7:
            shape, mode = Shape('pointer', REAL, self.rng.choice([2, 3])), self.rng.choice(['ptr', 'cptr'])
        else:
            shape = self.random_shape(1)
            if shape.kind in ('array', 'float'):
                shape = REAL
            mode = self.rng.choice(['value', 'cref', 'ref'])
        return Param(name or self.parameter_name(), shape, mode)

    def parameter_name(self):
        from generator import NAMES
        return self.numbered(self.rng.choice(NAMES)) + '_' if self.chance(0.5) else self.numbered('q')

    def result_shape(self, may_be_void):
        r = self.rng.random()
        if may_be_void and r < 0.3:
            return None
        if r < 0.75:
            return REAL
        shape = self.random_shape(1)
        return REAL if shape.kind in ('array', 'float') else shape

    @staticmethod
    def variables(params):
        return [Var(p.name, p.shape, const=p.mode in ('cref', 'cptr', 'cspan'), locks=p.mode == 'ref', aliased=p.mode != 'value')
                for p in params]

    def within(self, params, result, make, fields=None, const=False, scopes=None):
        """What `make` makes in the scope of a function with these parameters; `scopes`: what a lambda sees."""
        saved = self.scopes, self.locked, self.loop_depth, self.result, self.inside, self.inside_const, self.hidden
        self.scopes, self.hidden, self.loop_depth, self.result = scopes or [self.scopes[0]], set(), 0, result
        self.assignable = self.steppable = None
        if not scopes:
            self.locked, self.inside, self.inside_const = [], fields, const
        if fields:
            self.scopes = self.scopes + [[Var(n, shape, const=const, locks=1) for n, shape in fields.all_fields()]]
        with self.scope():
            self.scopes[-1] += self.variables(params)
            made = make()
        self.scopes, self.locked, self.loop_depth, self.result, self.inside, self.inside_const, self.hidden = saved
        return made

    def body(self, f, fields=None):
        outer, self.cost = self.cost, 0
        weight, self.weight = self.weight, 1
        def make():
            block = self.statements(1, 4)
            if f.result is not None:
                self.begin_statement()
                block.parts.append(stmt('return ', self.value(f.result, 2), ';'))
            return block
        made = self.within(f.params, f.result, make, fields, f.const)
        f.cost = self.cost + 1
        self.cost, self.weight = outer, weight
        return made

    def definition(self, f, body, after=''):
        params = Node('params', *[p.spell() for p in f.params], tag=f.name)
        result = f.result.spell() if f.result else 'void'
        return text(f'{result} {f.name}(', params, f'){after} {{\n', body, '\n}')

    def helper(self):
        r = self.rng.random()
        if r < 0.15:
            return self.recursive()
        if r < 0.27:
            return self.generic()
        if r < 0.37:
            return self.resizer()
        if r < 0.44:
            return self.applier()
        if r < 0.5:
            return self.picker()
        if r < 0.56:
            return self.chooser()
        f = Function(self.numbered('g'), self.parameters(4), self.result_shape(True))
        body = self.body(f)
        self.known.append(f)
        return self.definition(f, body)

    def generic(self):
        f = Function(self.numbered('g'), [Param(self.numbered('p'), REAL, mode) for mode in ('value', 'cref')], REAL, 'template')
        body = self.body(f)
        self.known.append(f)
        params = Node('params', *[f'const T& {p.name}' if i else f'T {p.name}' for i, p in enumerate(f.params)], tag=f.name)
        return text(f'template <class T> T {f.name}(', params, ') {\n', body, '\n}')

    def resizer(self):
        """Changes the length of its only argument."""
        p = Param('v', vector(REAL, self.rng.choice([2, 3])), 'ref')
        f = Function(self.numbered('g'), [p, Param('k', REAL, 'value')], None, resizes=True)
        def make():
            self.scopes[-1][0].locks = 0
            return self.statements(1, 4)
        f.cost, f.const = 20, False
        body = self.within(f.params, None, make)
        self.known.append(f)
        return self.definition(f, body)

    def recursive(self):
        f = Function(self.numbered('g'), [Param('n', INT, 'value')] + self.parameters(2), REAL, 'recursive')
        f.cost = 200
        def make():
            self.scopes[-1][0].fixed = True
            last = self.value(REAL, 1)
            block = self.statements(1, 2)
            self.known.append(f)
            self.inside_recursion = True
            self.begin_statement()
            call = self.call(f, 1)
            self.inside_recursion = False
            self.known.remove(f)
            name = self.new_name()
            self.declare(name, REAL)
            rest = self.statements(1, 2)
            self.begin_statement()
            return Node('block', stmt('if (n <= 0) return ', last, ';'), *block.parts,
                        stmt(f'double {name} = ', *(call or ['1.5']), ';'), *rest.parts,
                        stmt('return ', self.value(REAL, 2), ';'))
        self.weight = 40
        body = self.within(f.params, REAL, make)
        self.weight = 1
        self.known.append(f)
        return self.definition(f, body)

    # -- lambdas

    def lambda_declaration(self, depth):
        if self.in_lambda > 1 or not self.room_for_loop():
            return None
        name = self.numbered('l')
        by_reference = self.chance(0.6)
        mutable = not by_reference and self.chance(0.3)
        params = [Param(self.numbered('p'), REAL, self.rng.choice(['value', 'value', 'cref', 'ref']))
                  for _ in range(self.rng.choice([0, 1, 1, 2]))]
        result = None if by_reference and self.chance(0.25) else REAL
        f = Function(name, params, result, 'lambda', const=not by_reference and not mutable)
        init, captured = '', []
        if self.chance(0.2):
            k = self.numbered('kept')
            init = text(f', {k} = double(', self.value(REAL, 1), ')')
            captured = [Var(k, REAL, const=not mutable)]
        outer, self.cost, weight, self.weight = self.cost, 0, self.weight, 1
        view = self.captured(by_reference, mutable) + captured
        known = self.known
        if not by_reference:
            self.known = [g for g in known if g.kind != 'lambda']
        self.in_lambda += 1
        def make():
            block = self.statements(1, 3)
            if result is not None:
                self.begin_statement()
                block.parts.append(stmt('return ', self.value(REAL, 2), ';'))
            return block
        body = self.within(params, result, make, scopes=[self.scopes[0], view])
        self.in_lambda -= 1
        self.known = known
        f.cost = self.cost + 1
        self.cost, self.weight = outer, weight
        self.known.append(f)
        capture = '&' if by_reference else '='
        after = (' mutable' if mutable else '') + (' -> double' if result is not None else '')
        spelled = 'auto'
        if self.chance(0.15):
            spelled = f'std::function<{"double" if result else "void"}({", ".join(p.spell() for p in params)})>'
        return stmt(f'{spelled} {name} = [{capture}', init, '](', Node('params', *[p.spell() for p in params], tag=name), f'){after} {{\n',
                    body, '\n};')

    def captured(self, by_reference, mutable):
        out = []
        for v in self.visible():
            if v in self.scopes[0] or v.moves or not by_reference and not v.shape.copies():
                continue
            if by_reference or v.shape.kind == 'pointer':
                self.lock(v)
            if by_reference:
                out.append(v)
            else:
                out.append(Var(v.name, v.shape, const=v.const or not mutable, bound=v.bound, fixed=v.fixed, locks=1))
        return out

    # -- the function that is differentiated

    def entry(self):
        params = []
        for _ in range(self.rng.choice([1, 2, 2, 3, 4])):
            p = self.parameter()
            if p.shape.kind == 'span' or p.shape.kind == 'vector' and p.shape.elem.kind not in ('real', 'struct'):
                continue
            params.append(p)
        if not any(is_real(p.shape) or p.shape.kind == 'pointer' for p in params):
            params.append(Param('x', REAL, 'value'))
        f = Function('f', params, REAL, const=False)
        self.depth = 3
        def make():
            block = Node('block', *[self.statement(3) for _ in range(self.rng.randint(1, 2 * self.size))])
            self.begin_statement()
            block.parts.append(stmt('return ', self.total(), ';'))
            return block
        body = self.within(params, REAL, make)
        arguments = Node('args', *[self.start(p) for p in params], tag='f')
        arguments.writes_behind_pointer = any(p.mode == 'ptr' for p in params)
        start = ''.join(f'{name} = {first};\n' for name, _, first in self.globals)
        return self.definition(f, text(start, body)), arguments

    def total(self):
        """An expression in many of the variables."""
        parts = [self.number(2).node]
        for _ in range(self.rng.choice([1, 2, 3])):
            parts += [self.rng.choice([' + ', ' * ']), *(self.place(is_real) or ['1'])]
        return Node('expr', *parts, type='real')

    def start(self, p):
        """The value of an argument; its tag tells how to pass it."""
        if p.shape.kind == 'pointer':
            mode, type_ = 'pointer', 'clad::test::buffer<double>'
        else:
            mode, type_ = p.shape.kind, p.shape.spell()
        spelled = ', '.join(self.started(REAL) for _ in range(p.shape.n)) if mode == 'pointer' else self.started(p.shape)
        return Node('text', spelled, tag=(mode, type_, p.name))

    def started(self, shape):
        if is_real(shape):
            return f'{self.rng.uniform(0.5, 2):.6f}' + ('f' if shape == FLOAT else '')
        if shape.kind == 'int':
            return str(self.rng.randrange(5))
        if shape.kind == 'struct':
            s = shape.struct
            inner = [self.started(Shape('struct', struct=s.base))] if s.base else []
            inner = ', '.join(inner + [self.started(x) for _, x in s.fields])
            return f'{s.name}({inner})' if s.constructor else f'{s.name}{{{inner}}}'
        if shape.kind == 'pair':
            return f'{shape.spell()}{{{self.started(shape.elem)}, {self.started(shape.second)}}}'
        if shape.kind == 'tuple':
            return f'{shape.spell()}{{{", ".join(self.started(x) for x in shape.parts)}}}'
        inner = ', '.join(self.started(shape.elem) for _ in range(shape.n))
        return f'{{{inner}}}' if shape.kind == 'array' else f'{shape.spell()}{{{inner}}}'
