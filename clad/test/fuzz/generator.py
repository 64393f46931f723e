"""Random programs: structs, functions that call each other, and `f`, which is differentiated."""

import random

from compiler import harness
from expressions import Expressions
from functions import Functions
from library import Library
from shapes import INT, REAL, Shape, Var
from statements import Statements
from tree import Node, text

NAMES = ['x', 'y', 'z', 'u', 'v', 'w', 'a', 'b', 'c', 'p', 'q', 'r', 's', 't', 'd', 'e', 'k', 'i', 'd_x', 'd_y', 'd_result', 'self',
         'state', 'taken', 'result', 'd_a', 'chosen', 'bound', 'kept', 'r0', 's0', 't1', 'x_old', 'element', 'range']


class Program:
    def __init__(self, seed, root, arguments, single, hessian):
        self.seed, self.root, self.arguments = seed, root, arguments
        self.single, self.hessian = single, hessian
        self.graph = False  # whether it also runs with numbers that record

    def source(self):
        return str(self.root)

    def unit(self, number):
        """`program_NUMBER::Case`, through which the program is checked."""
        return harness(number, self)


class Generator(Expressions, Statements, Functions, Library):
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.floats = self.chance(0.08)
        self.size = self.rng.choice([2, 3, 4, 5, 7])
        self.scopes, self.locked, self.hidden = [[]], [[]], set()
        self.structs, self.known = [], []
        self.numbers = {}  # of generated names
        self.weight, self.cost, self.loop_depth, self.depth = 1, 0, 0, 2
        self.inside, self.inside_const, self.inside_recursion = None, False, False
        self.in_lambda, self.in_constructor, self.result, self.pure = 0, False, None, 0
        self.in_chain = False
        self.assignable = self.steppable = None
        self.steady = False  # indices must not be made from what can be assigned
        self.globals = []  # (name, first value) of those that the program changes
        self.choosers = []  # (name, const) of functions that return one of two references

    def chance(self, p):
        return self.rng.random() < p

    def new_name(self):
        """Perhaps that of a variable outside, never one of this scope or of the function's parameters."""
        here = {v.name for v in self.scopes[-1]} | self.hidden
        if self.chance(0.85):
            here |= {v.name for scope in self.scopes for v in scope}
        here |= {f.name for f in self.known}
        free = [n for n in NAMES if n not in here]
        if free and self.chance(0.9):
            return self.rng.choice(free[:12] if self.chance(0.6) else free)
        return self.numbered('n')

    def numbered(self, base):
        self.numbers[base] = self.numbers.get(base, -1) + 1
        return f'{base}_{self.numbers[base]}'

    def visible(self):
        seen, out = set(self.hidden), []
        for scope in reversed(self.scopes):
            for v in scope:
                if v.name not in seen:
                    out.append(v)
            seen |= {v.name for v in scope}
        return out

    def changing_global(self, shape):
        """Never takes a value that carries a derivative: a number is a constant but for the statement that changes it."""
        name = self.numbered('gCount' if shape == INT else 'gNumber')
        first = str(self.rng.randrange(4)) if shape == INT else f'{self.rng.uniform(0.5, 2):.2f}'
        self.globals.append((name, shape, first))
        self.scopes[0].append(Var(name, shape, const=shape == REAL, aliased=True))
        return text('thread_local ' if self.chance(0.2) else '', shape.declare(name), ';')

    def program(self):
        items = []
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            items.append(self.struct())
        if self.chance(0.12):
            items.append(self.hierarchy())
        if self.chance(0.15):
            name = self.numbered('kConstant')
            items.append(text(f'const double {name} = {self.rng.uniform(0.5, 2):.2f};'))
            self.scopes[0].append(Var(name, REAL, const=True))
        if self.chance(0.1):
            name = self.numbered('kTable')
            items.append(text(f'const double {name}[3] = {{{", ".join(f"{self.rng.uniform(0.5, 2):.2f}" for _ in range(3))}}};'))
            self.scopes[0].append(Var(name, Shape('array', REAL, 3), const=True))
        for shape in (INT, REAL):
            if self.chance(0.12):
                items.append(self.changing_global(shape))
        for _ in range(self.rng.choice([0, 1, 2, 3])):
            items.append(self.helper())
        function, arguments = self.entry()
        items.append(function)
        hessian = self.chance(0.2) and not arguments.writes_behind_pointer  # which no Hessian can follow
        return Program(self.seed, Node('items', *items), arguments, self.floats, hessian)
