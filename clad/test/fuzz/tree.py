"""Programs as trees of text, and the edits that make them smaller."""

import copy
import itertools


_ids = itertools.count()


class Node:
    """Text and nodes in a row.

    kind: 'text', 'stmt', 'block' (a list of statements), 'items' (a list of declarations), 'expr' (of `type`), 'optional'
    (may be left out), 'params' and 'args' (of the function `tag`: each is left out together with its like in the others).
    """

    def __init__(self, kind, *parts, type=None, tag=None):
        self.kind, self.parts, self.type, self.tag = kind, list(parts), type, tag
        self.id = next(_ids)

    def __str__(self):
        between = {'block': '\n', 'items': '\n', 'params': ', ', 'args': ', '}.get(self.kind, '')
        return between.join(str(p) for p in self.parts)

    def nodes(self):
        """Itself and all below it, outer ones first."""
        yield self
        for p in self.parts:
            if isinstance(p, Node):
                yield from p.nodes()


def text(*parts):
    return Node('text', *parts)


def stmt(*parts):
    return Node('stmt', *parts)


def indented(source):
    """The text with each line indented by the braces that are open before it."""
    out, depth = [], 0
    for line in source.split('\n'):
        line = line.strip()
        if not line:
            continue
        closing = len(line) - len(line.lstrip('}'))
        out.append('  ' * max(0, depth - closing) + line)
        depth += line.count('{') - line.count('}')
    return '\n'.join(out) + '\n'


CONSTANTS = {'real': '1.5', 'int': '1', 'bool': 'true'}


def edits(root):
    """The ways to make the tree smaller, the bold ones first."""
    found = []
    for node in root.nodes():
        if node.kind in ('block', 'items'):
            size = len(node.parts)
            while size >= 1:
                for first in range(0, len(node.parts), size):
                    removed = node.parts[first:first + size]
                    found.append((sum(len(str(p)) for p in removed), ('delete', node.id, [p.id for p in removed])))
                size //= 2
        elif node.kind == 'stmt':
            for inner in _below(node):
                if inner.kind == 'block':
                    found.append((len(str(node)) - len(str(inner)), ('unwrap', node.id, inner.id)))
        elif node.kind == 'optional':
            found.append((len(str(node)), ('clear', node.id, None)))
        elif node.kind == 'params':
            for i, p in enumerate(node.parts):
                found.append((len(str(p)), ('drop', node.tag, i)))
        elif node.kind == 'expr':
            whole, constant = len(str(node)), CONSTANTS.get(node.type)
            for inner in _below(node):
                if inner.kind == 'expr' and inner.type == node.type:
                    found.append((whole - len(str(inner)), ('replace', node.id, inner.id)))
            if constant:
                found.append((whole - len(constant), ('constant', node.id, constant)))
    found = [f for f in found if f[0] > 0]
    found.sort(key=lambda f: -f[0])
    return [edit for _, edit in found]


def apply(root, edits):
    """A copy of the tree with these edits, as far as they are still possible."""
    root = copy.deepcopy(root)
    dropped = set()
    for kind, where, what in edits:
        nodes = {n.id: n for n in root.nodes()}
        if kind == 'drop':
            if where in dropped:  # the numbers of its parameters have changed
                continue
            dropped.add(where)
            for n in nodes.values():
                if n.kind in ('params', 'args') and n.tag == where and what < len(n.parts):
                    del n.parts[what]
            continue
        node = nodes.get(where)
        if node is None:
            continue
        if kind == 'delete':
            node.parts = [p for p in node.parts if p.id not in what]
        elif kind == 'clear':
            node.parts = []
        elif kind == 'constant':
            node.parts = [what]
        elif what in nodes and nodes[what] in _below(node):
            if kind == 'unwrap':
                node.parts = [nodes[what]]
            else:
                node.parts = nodes[what].parts
    return root


def _below(node):
    return list(node.nodes())[1:]
