"""What the variables of a program hold: types, and the ways to the numbers in them."""

from dataclasses import dataclass, field


@dataclass(eq=False)
class Struct:
    name: str
    fields: list  # of (name, Shape)
    base: 'Struct' = None
    constructor: bool = False
    virtual: bool = False
    elements: int = 0  # numbers that operator[] names; 0: there is none
    methods: list = field(default_factory=list)

    def own_name(self):
        """Inside it."""
        return self.name.split('::')[-1].split('<')[0]

    def is_plain(self):
        """Whether a structured binding names its fields."""
        return bool(self.fields) and not self.base and not self.virtual and not self.elements

    def all_fields(self):
        return (self.base.all_fields() if self.base else []) + self.fields


@dataclass(frozen=True)
class Shape:
    kind: str  # real, float, int, bool, array, vector, stdarray, struct, pair, tuple, pointer, span, valarray, optional, owned
    elem: 'Shape' = None
    n: int = 0  # of array and stdarray; of vector and pointer at least
    struct: Struct = None
    second: 'Shape' = None  # of pair
    parts: tuple = ()  # of tuple

    def spell(self):
        k = self.kind
        if k in ('int', 'bool', 'float'):
            return k
        if k == 'real':
            return 'double'
        if k == 'vector':
            return f'std::vector<{self.elem.spell()}>'
        if k == 'valarray':
            return 'std::valarray<double>'
        if k == 'stdarray':
            return f'std::array<{self.elem.spell()}, {self.n}>'
        if k == 'pair':
            return f'std::pair<{self.elem.spell()}, {self.second.spell()}>'
        if k == 'tuple':
            return f'std::tuple<{", ".join(p.spell() for p in self.parts)}>'
        if k == 'struct':
            return self.struct.name
        raise ValueError(k)

    def declare(self, name):
        if self.kind == 'array':
            return self.elem.declare(f'{name}[{self.n}]')
        return f'{self.spell()} {name}'

    def fits(self, wanted):
        """Whether an object of this shape may stand where one of shape `wanted` is read."""
        if self.kind == wanted.kind == 'vector':
            return self.elem == wanted.elem and self.n >= wanted.n
        return self == wanted

    def holds_vector(self):
        if self.kind == 'vector':
            return True
        if self.kind == 'struct':
            return any(s.holds_vector() for _, s in self.struct.all_fields())
        return any(s is not None and s.holds_vector() for s in (self.elem, self.second, *self.parts))

    def copies(self):
        """Whether a lambda may capture it by value."""
        return self.kind != 'owned'

    def steps(self):
        """(step, shape) for each part; a step is ('index', n), ('element', n) or ('field', name)."""
        if self.kind in ('array', 'vector', 'stdarray', 'pointer', 'span', 'valarray'):
            return [(('index', self.n), self.elem)]
        if self.kind == 'owned':
            return [(('target', 0), self.elem)]
        if self.kind == 'tuple':
            return [(('get', i), s) for i, s in enumerate(self.parts)]
        if self.kind == 'pair':
            return [(('field', 'first'), self.elem), (('field', 'second'), self.second)]
        if self.kind == 'struct':
            fields = [(('field', name), s) for name, s in self.struct.all_fields()]
            return fields + ([(('element', self.struct.elements), REAL)] if self.struct.elements else [])
        return []

    def paths(self, wanted, limit=3):
        """The ways to parts that `wanted(shape)`, as lists of (step, shape before it)."""
        if wanted(self):
            yield []
        if limit:
            for step, shape in self.steps():
                for rest in shape.paths(wanted, limit - 1):
                    yield [(step, self)] + rest


REAL, FLOAT, INT, BOOL = Shape('real'), Shape('float'), Shape('int'), Shape('bool')


def vector(elem, n):
    return Shape('vector', elem, n)


class Var:
    """A name in scope. `root` is the variable whose memory it names: itself, or another of which it is an alias."""

    def __init__(self, name, shape, const=False, root=None, bound=None, fixed=False, locks=0, aliased=False, moves=False):
        self.name, self.shape, self.const = name, shape, const
        self.root = root or self
        self.locks = int(locks)  # references into it are in use: its vectors keep their elements
        self.aliased = aliased or bool(locks)  # it may have another name
        self.bound = bound  # of an int: it is less
        self.moves = moves  # of a pointer
        self.fixed = fixed  # a loop counter: not to be assigned


@dataclass(eq=False)
class Param:
    name: str
    shape: Shape
    mode: str  # value, cref, ref, ptr, cptr, span, cspan, callable

    def spell(self):
        s = self.shape
        if self.mode == 'ptr':
            return f'{s.elem.spell()}* {self.name}'
        if self.mode == 'cptr':
            return f'const {s.elem.spell()}* {self.name}'
        if self.mode in ('span', 'cspan'):
            return f'std::span<{"const " if self.mode == "cspan" else ""}{s.elem.spell()}> {self.name}'
        if self.mode == 'cref':
            return f'const {s.spell()}& {self.name}'
        if self.mode == 'ref':
            return f'{s.spell()}& {self.name}'
        return s.declare(self.name)


@dataclass(eq=False)
class Function:
    name: str
    params: list
    result: Shape = None  # None: void
    kind: str = 'free'  # free, method, lambda, recursive, template, pointer, applier, operator
    struct: Struct = None
    const: bool = True  # of a method, or a lambda that changes nothing
    cost: int = 1
    resizes: bool = False
    reference: bool = False  # returns a reference
    chain: bool = False  # returns *this
