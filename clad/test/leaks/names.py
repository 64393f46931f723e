"""Whether the hunt knows each public name of the standard library that this compiler uses.

library.txt says of each name which mechanism takes a number through it, or why no number passes it. Its lines:

    follow vector: vector               the mechanism of boxes.h or ways.h, and names that it uses, without "std::"
    refuse rearranged: make_heap ranges::sort
    either views: ranges::views::all    is followed in one library, and may be refused in a newer one
    same in_out_result: copy_result     another name of this one, or this one for other characters
    none properties of types: is_* add_*          why, and patterns of names

A line that begins with a space belongs to the one before. A name that is written in full counts before a pattern; it may have
several mechanisms.
"""

import collections
import fnmatch
import re
import subprocess
from pathlib import Path

TABLE = Path(__file__).resolve().parent / 'library.txt'
HEADERS = '''algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable coroutine deque
exception execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator
latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex
scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view strstream
syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime
cuchar cwchar cwctype'''.split()
# Any other namespace is a name like those of classes and functions, until it is added here.
NAMESPACES = {'chrono', 'execution', 'filesystem', 'numbers', 'placeholders', 'pmr', 'ranges', 'ranges::views', 'regex_constants',
              'rel_ops', 'this_thread', 'views'}


def public_names(compiler):
    """The names of namespace std, without "std::", but for operators, members and what is reserved."""
    source = ''.join(f'#if __has_include(<{h}>)\n#include <{h}>\n#endif\n' for h in HEADERS)
    done = subprocess.run([compiler, '-std=c++20', '-w', '-fsyntax-only', '-Xclang', '-ast-list', '-x', 'c++', '-'], input=source,
                          capture_output=True, text=True, check=True)
    found = re.findall(r'^std::((?:\w+::)*)([A-Za-z]\w*)$', done.stdout, re.M)
    names = {space + name for space, name in found if '__' not in name and space[:-2] in NAMESPACES | {''}}
    return sorted(names - NAMESPACES)


def newer_library(compiler):
    """The name of a library that has names which the table was not made for; an empty string if it was."""
    done = subprocess.run([compiler, '-std=c++20', '-dM', '-E', '-include', 'version', '-x', 'c++', '/dev/null'], capture_output=True,
                          text=True, check=True)
    release = re.search(r'^#define _GLIBCXX_RELEASE (\d+)$', done.stdout, re.M)
    if not release:
        return 'this standard library'
    return f'libstdc++ {release[1]}' if int(release[1]) > 12 else ''


def lines_of_table():
    """(verdict, what, names) of each line."""
    text = re.sub(r'^#.*\n', '', TABLE.read_text(), flags=re.M)
    for line in re.sub(r'\n +', ' ', text).splitlines():
        if line.strip():
            head, _, names = line.partition(': ')
            verdict, _, what = head.partition(' ')
            yield verdict, what, names.split()


def mistakes_of_line(verdict, what, names, mechanisms):
    if verdict in ('none', 'same'):
        return []
    if verdict not in ('follow', 'refuse', 'either'):
        return [f'library.txt: a line begins with "{verdict}"; it begins with follow, refuse, either, same or none']
    of_name = [m for m in mechanisms if what in (m.name, m.family)]
    if not of_name:
        return [f'library.txt: "{verdict} {what}" names no mechanism; add it to boxes.h or ways.h, or name another']
    texts = [m.text.replace('std::views::', 'std::ranges::views::') for m in of_name if m.verdict == verdict]
    if not texts:
        return [f'library.txt: the mechanism {what} is "{of_name[0].verdict}", not "{verdict}"; correct the line']
    return [f'library.txt: the mechanism {what} ({verdict}) does not use std::{n}; name one that does'
            for n in names if not any(re.search(rf'\bstd::{re.escape(n)}\b', t) for t in texts)]


def check(mechanisms, compiler, show):
    """Prints what is missing; whether nothing is."""
    mistakes, verdicts, patterns = [], collections.defaultdict(list), []
    for verdict, what, names in lines_of_table():
        mistakes += mistakes_of_line(verdict, what, names, mechanisms)
        for name in names:
            if re.search(r'[*?[]', name):
                patterns.append((name, verdict, what))
            else:
                verdicts[name].append((verdict, what))
    for name, found in verdicts.items():
        for verdict, what in [f for f in found if f[0] == 'same']:
            found.remove((verdict, what))
            found += [(v, w) for v, w in verdicts.get(what, []) if v in ('follow', 'refuse', 'either')]
        if not found:
            mistakes.append(f'library.txt: {name} is said to be the same as {what}, which has no mechanism; give one of them a mechanism')
    counts, newer = collections.Counter(), newer_library(compiler)
    for name in public_names(compiler):
        found = verdicts.get(name) or [(v, what) for pattern, v, what in patterns if fnmatch.fnmatchcase(name, pattern)][:1]
        if not found and not newer:
            mistakes.append(f'std::{name}: library.txt does not know it; add a mechanism to boxes.h or ways.h that takes a number through '
                            'it, or a reason for which no number passes it')
        if len({v == 'none' for v, _ in found}) > 1:
            mistakes.append(f'library.txt: std::{name} has a mechanism and is said to hold no number; take one of them away')
        kinds = [k for k in ('follow', 'either', 'refuse', 'none') if any(v == k for v, _ in found)]
        counts[' and '.join(kinds) or 'unknown'] += 1
        if show:
            print(f'std::{name}: ' + ('; '.join(f'{v} {what}' for v, what in found) or 'unknown'))
    if counts['unknown'] and newer:
        print(f'{counts["unknown"]} names of {newer} are not in library.txt, which was made for libstdc++ 12')
    print('\n'.join(mistakes + [f'{sum(counts.values())} names: ' + ', '.join(f'{n} {kind}' for kind, n in counts.most_common())]))
    return not mistakes
